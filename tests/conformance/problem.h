/* SPDX-License-Identifier: BSD-3-Clause
 * One conformance case: draws a problem, runs it on the device, judges the result. */
#ifndef CONFORMANCE_PROBLEM_H
#define CONFORMANCE_PROBLEM_H

#include "reference/gemm.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

enum routine {
    R_SGEMM, R_SGEMM_64, R_STRIDED, R_STRIDED_64, R_EX, R_EX_64, R_STRIDED_EX, R_STRIDED_EX_64,
    R_SGEMM_EX, R_SGEMM_EX_64, R_LT, R_LT_ROW, R_LT_OUT, R_LT_BIAS,
    ROUTINES
};

struct judge {
    enum ref_arithmetic arithmetic; /* of a call that can be converted */
    uint64_t random;
    cublasHandle_t handle;
    cudaStream_t stream;
    float *workspace;
    long calls, convertible; /* how many calls were made, and could be converted */
};

/* A drawn problem. Data are host copies; the offset misaligns the device pointers by floats. */
struct problem {
    enum routine routine;
    cublasOperation_t transa, transb;
    int64_t m, n, k, batch;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    int offset_a, offset_b, offset_c;
    float alpha, beta;
    bool device_scalars;
    bool pedantic; /* compute type or math mode: must stay FP32 */
    int64_t elements_a, elements_b, elements_c;
    float *a, *b, *c, *c_after, *a_after, *b_after;
    float *bias; /* m elements, for R_LT_BIAS */
};

const char *routine_name(enum routine routine);
bool routine_batched(enum routine routine);
/* Makes the call; pointers are the device's. */
cublasStatus_t routine_call(const struct judge *judge, const struct problem *p, const float *alpha,
                            const float *beta, const float *a, const float *b, float *c);
bool routine_is_lt(enum routine routine);
/* cublasLtMatmul in column or row order, in place or into d (R_LT_OUT), with a bias. */
cublasStatus_t lt_call(const struct judge *judge, const struct problem *p, const float *alpha,
                       const float *beta, const float *a, const float *b, const float *c, float *d,
                       const float *bias);

void problem_draw(struct judge *judge, enum routine routine, struct problem *p);
void problem_free(struct problem *p);
/* Should this call be converted, given a policy that converts whatever it may? */
bool problem_convertible(const struct problem *p);
void problem_describe(const struct problem *p, char *text, size_t bytes);

void judge_open(struct judge *judge);
void judge_close(struct judge *judge);
/* Draws, runs and judges one case; false prints what was wrong. */
bool judge_case(struct judge *judge, enum routine routine);

uint64_t random_next(uint64_t *state);
int64_t random_below(uint64_t *state, int64_t n);
double random_normal(uint64_t *state);

#endif
