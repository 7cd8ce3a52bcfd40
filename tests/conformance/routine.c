/* SPDX-License-Identifier: BSD-3-Clause
 * The entry points under test and how a drawn problem is passed to each. */
#include "conformance/problem.h"

const char *routine_name(enum routine routine)
{
    static const char *const names[ROUTINES] = {
        "cublasSgemm_v2", "cublasSgemm_v2_64", "cublasSgemmStridedBatched",
        "cublasSgemmStridedBatched_64", "cublasGemmEx", "cublasGemmEx_64",
        "cublasGemmStridedBatchedEx", "cublasGemmStridedBatchedEx_64", "cublasSgemmEx",
        "cublasSgemmEx_64", "cublasLtMatmul", "cublasLtMatmul (row order)",
        "cublasLtMatmul (C != D)", "cublasLtMatmul (bias)"};
    return names[routine];
}

cublasStatus_t routine_call(const struct judge *judge, const struct problem *p, const float *alpha,
                            const float *beta, const float *a, const float *b, float *c)
{
    cublasHandle_t h = judge->handle;
    const cublasOperation_t ta = p->transa, tb = p->transb;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, batch = (int)p->batch;
    const int lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc;
    const cudaDataType f = CUDA_R_32F;
    const cublasComputeType_t compute =
        p->pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
    const cublasGemmAlgo_t algo = CUBLAS_GEMM_DEFAULT;
    switch (p->routine) {
    case R_SGEMM:
        return cublasSgemm_v2(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    case R_SGEMM_64:
        return cublasSgemm_v2_64(h, ta, tb, p->m, p->n, p->k, alpha, a, p->lda, b, p->ldb, beta, c,
                                 p->ldc);
    case R_STRIDED:
        return cublasSgemmStridedBatched(h, ta, tb, m, n, k, alpha, a, lda, p->stride_a, b, ldb,
                                         p->stride_b, beta, c, ldc, p->stride_c, batch);
    case R_STRIDED_64:
        return cublasSgemmStridedBatched_64(h, ta, tb, p->m, p->n, p->k, alpha, a, p->lda,
                                            p->stride_a, b, p->ldb, p->stride_b, beta, c, p->ldc,
                                            p->stride_c, p->batch);
    case R_EX:
        return cublasGemmEx(h, ta, tb, m, n, k, alpha, a, f, lda, b, f, ldb, beta, c, f, ldc,
                            compute, algo);
    case R_EX_64:
        return cublasGemmEx_64(h, ta, tb, p->m, p->n, p->k, alpha, a, f, p->lda, b, f, p->ldb, beta,
                               c, f, p->ldc, compute, algo);
    case R_STRIDED_EX:
        return cublasGemmStridedBatchedEx(h, ta, tb, m, n, k, alpha, a, f, lda, p->stride_a, b, f,
                                          ldb, p->stride_b, beta, c, f, ldc, p->stride_c, batch,
                                          compute, algo);
    case R_SGEMM_EX:
        return cublasSgemmEx(h, ta, tb, m, n, k, alpha, a, f, lda, b, f, ldb, beta, c, f, ldc);
    case R_SGEMM_EX_64:
        return cublasSgemmEx_64(h, ta, tb, p->m, p->n, p->k, alpha, a, f, p->lda, b, f, p->ldb, beta,
                                c, f, p->ldc);
    default:
        return cublasGemmStridedBatchedEx_64(h, ta, tb, p->m, p->n, p->k, alpha, a, f, p->lda,
                                             p->stride_a, b, f, p->ldb, p->stride_b, beta, c, f,
                                             p->ldc, p->stride_c, p->batch, compute, algo);
    }
}
