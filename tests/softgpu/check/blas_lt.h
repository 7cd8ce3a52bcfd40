/* SPDX-License-Identifier: BSD-3-Clause
 * One cublasLtMatmul of the checks: its matrices, descriptors, execution and reference. */
#ifndef CHECK_BLAS_LT_H
#define CHECK_BLAS_LT_H

#include "blas.h"

extern cublasLtHandle_t lt; /* made for each test by lt_setup */
void lt_setup(void);
void lt_teardown(void);

/* One matmul: matrices with their own order, ld and batch stride. */
struct side {
    cudaDataType type;
    bool row;
    int64_t rows, cols, ld, stride;
    struct array data;
};

struct matmul {
    cublasComputeType_t compute;
    cudaDataType scale;
    cublasOperation_t transa, transb;
    int64_t m, n, k;
    int batch;
    struct side a, b, c, d;
    bool in_place;
    double alpha, beta;
    int pointer_mode;
    int epilogue;
    struct array bias, aux, alphas, betas;
    int64_t aux_ld;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout[4];
};

int64_t lt_place(const struct side *s, int64_t r, int64_t c);
void lt_set(struct matmul *t, cublasLtMatmulDescAttributes_t attr, const void *value, size_t bytes);
void lt_set_int(struct matmul *t, cublasLtMatmulDescAttributes_t attr, int32_t value);
/* Types and sizes are set: makes matrices and descriptors. */
void lt_make(struct matmul *t, cudaDataType ab, cudaDataType c, const bool row[4], int64_t pad);
void lt_drop(struct matmul *t);
cublasStatus_t lt_run(struct matmul *t, const cublasLtMatmulAlgo_t *algo, void *workspace,
                      size_t bytes);
/* alpha op(A) op(B) + beta C in float64; *size_p: the sum of magnitudes. */
number lt_reference(const struct matmul *t, const struct array *old, int64_t e, int64_t i,
                    int64_t j, double *size_p);
double lt_unit(cudaDataType type);
/* Runs and compares without an epilogue. */
void lt_compare(struct matmul *t, const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes,
                const char *what);

#endif
