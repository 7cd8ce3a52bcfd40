/* SPDX-License-Identifier: BSD-3-Clause
 * Level 3 of BLAS beside GEMM. The rank-k updates are matrix products that store one triangle
 * (struct gemm_op); the others work on the matrices in place. */
#ifndef BLAS_LEVEL3_H
#define BLAS_LEVEL3_H

#include "level2.h"

enum level3_kind { LEVEL3_SYMM, LEVEL3_TRMM, LEVEL3_TRSM, LEVEL3_GEAM, LEVEL3_DGMM };

struct level3 {
    const char *who;
    enum level3_kind kind;
    cudaDataType type;
    bool left, hermitian;
    cublasOperation_t transa, transb;
    int64_t m, n;    /* of C, or of B where that is the result */
    struct matrix a; /* symm, trmm, trsm: what is stored; geam: as stored */
    const void *b;
    int64_t ldb;
    void *c;
    int64_t ldc;
    struct vector x; /* dgmm */
    struct scalar alpha, beta;
    int64_t batch; /* trsmBatched: a.data and b are arrays of pointers; else 0 */
};

cublasStatus_t level3_run(cublasHandle_t handle, struct level3 *op, const void *alpha,
                          const void *beta);

/* C = alpha op(A) op'(B) + beta C (and the mirrored product where both), one triangle of C. */
struct rank_k {
    const char *who;
    cublasHandle_t handle;
    cublasFillMode_t uplo;
    cublasOperation_t trans;
    int64_t n, k;
    const void *alpha, *beta;
    struct call_matrix a, b, c; /* b.data NULL: B is A */
    bool hermitian, both;
    cublasComputeType_t compute;
};

cublasStatus_t rank_k_run(const struct rank_k *call);

#endif
