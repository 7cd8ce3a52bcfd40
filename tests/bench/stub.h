/* SPDX-License-Identifier: BSD-3-Clause
 * What the stub libraries of the benchmark count, for each thread. */
#ifndef BENCH_STUB_H
#define BENCH_STUB_H

#define STUB_API __attribute__((visibility("default")))

struct stub_calls {
    unsigned long launches; /* cuLaunchKernel */
    unsigned long other;    /* other functions of the driver */
};

/* Of the stub libcuda, and the calls of cublasLtMatmul. */
STUB_API struct stub_calls stub_cuda_calls(void);
STUB_API unsigned long stub_lt_matmuls(void);

#endif
