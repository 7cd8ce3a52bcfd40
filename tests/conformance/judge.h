/* SPDX-License-Identifier: BSD-3-Clause
 * Runs problems on the device and judges what came out. */
#ifndef CONFORMANCE_JUDGE_H
#define CONFORMANCE_JUDGE_H

#include "conformance/expect.h"

#include <cuda_runtime_api.h>

struct judge {
    enum path path; /* what the preload is said to do; PATH_FP32 without one */
    bool loose;     /* see expect_arithmetics; the library may also set errno, and lack epilogues */
    struct drawing drawing;
    cublasHandle_t handle;
    cudaStream_t stream;
    void *workspace;
    long calls, converted; /* made, and those that the preload must have converted */
    long refused;          /* that a real library does not have */
};

void judge_open(struct judge *judge);
void judge_close(struct judge *judge);
/* Runs and judges one case; false prints what was wrong. */
bool judge_case(struct judge *judge, struct problem *p);

/* Where the matrices of a problem lie. */
struct device_pointers {
    const void *alpha, *beta, *a, *b, *c;
    void *d, *bias, *aux;
};
/* Makes the call that a problem describes. a, b and d: arrays of pointers where it takes those. */
cublasStatus_t judge_call(const struct judge *judge, const struct problem *p,
                          const struct device_pointers *at);
/* CUBLAS_STATUS_NOT_SUPPORTED also where there is no algorithm. */
cublasStatus_t lt_call(const struct judge *judge, const struct problem *p,
                       const struct device_pointers *at);

/* What must succeed for anything to be judged. */
#define CUDA_OK(_call) judge_must((int)(_call), __FILE__, __LINE__, #_call)
#define BLAS_OK(_call) judge_must((int)(_call), __FILE__, __LINE__, #_call)
void judge_must(int status, const char *file, int line, const char *call);

#endif
