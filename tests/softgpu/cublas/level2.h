/* SPDX-License-Identifier: BSD-3-Clause
 * One level 2 operation: a matrix in any of the storages of BLAS and one or two vectors. */
#ifndef BLAS_LEVEL2_H
#define BLAS_LEVEL2_H

#include "vector.h"

enum storage { STORED_FULL, STORED_BAND, STORED_PACKED };
enum structure { GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR };

struct matrix {
    char *data;
    cudaDataType type;
    enum storage storage;
    enum structure structure;
    int64_t rows, cols, ld, below, above; /* band: diagonals below and above the main one */
    bool lower, unit;
};

/* Element (i, j) of the matrix that is meant: mirrored, zero outside, one on a unit diagonal. */
struct z matrix_at(const struct matrix *a, int64_t i, int64_t j);
/* NULL: (i, j) is not stored. */
char *matrix_place(const struct matrix *a, int64_t i, int64_t j);
CUresult matrix_check(const struct gpu *gpu, void *space, const struct matrix *a, int write,
                      const char *who);

enum level2_kind { LEVEL2_MULTIPLY, LEVEL2_TRIANGULAR, LEVEL2_SOLVE, LEVEL2_RANK1, LEVEL2_RANK2 };

struct level2 {
    const char *who;
    enum level2_kind kind;
    cublasOperation_t op;
    bool conjugate_y; /* rank updates */
    struct matrix a;
    struct vector x, y;
    cudaDataType scalar_type;
    struct scalar alpha, beta;
    int64_t batch; /* 0: not batched */
    bool arrays;   /* pointers are device addresses of arrays of pointers */
    int64_t stride_a, stride_x, stride_y;
};

cublasStatus_t level2_run(cublasHandle_t handle, struct level2 *op, const void *alpha,
                          const void *beta);

#endif
