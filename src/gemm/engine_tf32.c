/* SPDX-License-Identifier: BSD-3-Clause
 * TF32 tensor cores: the same operands and the same handle, another compute type. No memory, no
 * state. */
#include "config.h"
#include "gemm/engine.h"

#include <limits.h>

static bool fits_int(const struct gemm *g)
{
    const int64_t sizes[] = {g->m, g->n, g->k, g->a.ld, g->b.ld, g->c.ld, g->batch};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] > INT_MAX)
            return false;
    return true;
}

enum reason engine_tf32(const struct gemm *g, cublasStatus_t *status_p)
{
    const struct real_blas *real = g->real;
    const cublasComputeType_t fast = CUBLAS_COMPUTE_32F_FAST_TF32;
    void *c = (void *)(uintptr_t)g->c.data;
    if (fits_int(g)) {
        const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
        const int lda = (int)g->a.ld, ldb = (int)g->b.ld, ldc = (int)g->c.ld;
        if (g->batched && real->cublasGemmStridedBatchedEx != NULL) {
            *status_p = real->cublasGemmStridedBatchedEx(
                g->handle, g->transa, g->transb, m, n, k, g->alpha, g->a.data, CUDA_R_32F, lda,
                g->a.stride, g->b.data, CUDA_R_32F, ldb, g->b.stride, g->beta, c, CUDA_R_32F, ldc,
                g->c.stride, (int)g->batch, fast, CUBLAS_GEMM_DEFAULT);
            return REASONS;
        }
        if (!g->batched && real->cublasGemmEx != NULL) {
            *status_p = real->cublasGemmEx(g->handle, g->transa, g->transb, m, n, k, g->alpha,
                                           g->a.data, CUDA_R_32F, lda, g->b.data, CUDA_R_32F, ldb,
                                           g->beta, c, CUDA_R_32F, ldc, fast, CUBLAS_GEMM_DEFAULT);
            return REASONS;
        }
        return REASON_FAILURE;
    }
    if (g->batched && real->cublasGemmStridedBatchedEx_64 != NULL) {
        *status_p = real->cublasGemmStridedBatchedEx_64(
            g->handle, g->transa, g->transb, g->m, g->n, g->k, g->alpha, g->a.data, CUDA_R_32F,
            g->a.ld, g->a.stride, g->b.data, CUDA_R_32F, g->b.ld, g->b.stride, g->beta, c,
            CUDA_R_32F, g->c.ld, g->c.stride, g->batch, fast, CUBLAS_GEMM_DEFAULT);
        return REASONS;
    }
    if (!g->batched && real->cublasGemmEx_64 != NULL) {
        *status_p = real->cublasGemmEx_64(g->handle, g->transa, g->transb, g->m, g->n, g->k,
                                          g->alpha, g->a.data, CUDA_R_32F, g->a.ld, g->b.data,
                                          CUDA_R_32F, g->b.ld, g->beta, c, CUDA_R_32F, g->c.ld, fast,
                                          CUBLAS_GEMM_DEFAULT);
        return REASONS;
    }
    return REASON_FAILURE;
}
