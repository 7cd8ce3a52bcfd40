/* SPDX-License-Identifier: BSD-3-Clause
 * One GEMM by whatever functions the caller has found, checked against a sum on the host. */
#ifndef WAYS_GEMM_H
#define WAYS_GEMM_H

#include <cublas_v2.h>

struct ways_blas {
    __typeof__(&cublasCreate_v2) create;
    __typeof__(&cublasDestroy_v2) destroy;
    __typeof__(&cublasSgemm_v2) sgemm;
    __typeof__(&cublasSetStream_v2) set_stream; /* not intercepted: it must know the handle */
};

/* 0: the result is right to the precision of FP16 or TF32. */
int ways_gemm(const struct ways_blas *blas);

#endif
