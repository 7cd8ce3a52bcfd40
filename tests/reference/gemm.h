/* SPDX-License-Identifier: BSD-3-Clause
 * Reference GEMM in double precision: C = alpha op(A) op(B) + beta C, column-major, with the
 * operands rounded as one arithmetic demands, and a bound for what FP32 accumulation may add. */
#ifndef REFERENCE_GEMM_H
#define REFERENCE_GEMM_H

#include "reference/round.h"

#include <stdbool.h>
#include <stdint.h>

struct ref_matrix {
    const float *data;
    int64_t ld, stride;
};

struct ref_gemm {
    bool transa, transb;
    int64_t m, n, k, batch;
    double alpha, beta;
    struct ref_matrix a, b, c; /* c: before the call */
    enum ref_arithmetic arithmetic;
};

struct ref_result {
    double value;
    double bound; /* |FP32-accumulated result - value| is at most this */
};

/* Fills batch * m * n results, tight: entry i, column j, row r at (i * n + j) * m + r. */
void ref_gemm(const struct ref_gemm *g, struct ref_result *out);

/* Largest finite |x| over a rows x cols matrix (batch of them). */
double ref_amax(const struct ref_matrix *matrix, int64_t rows, int64_t cols, int64_t batch);

#endif
