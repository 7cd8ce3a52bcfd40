/* SPDX-License-Identifier: BSD-3-Clause
 * The program's own call on its own handle, with another compute type (TF32 tensor cores) or another
 * C. No memory, no state. */
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

static enum reason small_call(const struct gemm *g, int compute, const struct gemm_matrix *to,
                              cublasStatus_t *status_p)
{
    const struct real_blas *real = g->real;
    const cublasComputeType_t type = (cublasComputeType_t)compute;
    void *c = (void *)(uintptr_t)to->data;
    const cublasGemmAlgo_t algo = CUBLAS_GEMM_DEFAULT;
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k, batch = (int)g->batch;
    const int lda = (int)g->a.ld, ldb = (int)g->b.ld, ldc = (int)to->ld;
    if (g->pointer_array) {
        if (real->cublasGemmBatchedEx == NULL)
            return REASON_FAILURE;
        *status_p = real->cublasGemmBatchedEx(
            g->handle, g->transa, g->transb, m, n, k, g->alpha, (const void *const *)g->a.data,
            CUDA_R_32F, lda, (const void *const *)g->b.data, CUDA_R_32F, ldb, g->beta,
            (void *const *)c, CUDA_R_32F, ldc, batch, type, algo);
    } else if (g->batched) {
        if (real->cublasGemmStridedBatchedEx == NULL)
            return REASON_FAILURE;
        *status_p = real->cublasGemmStridedBatchedEx(
            g->handle, g->transa, g->transb, m, n, k, g->alpha, g->a.data, CUDA_R_32F, lda,
            g->a.stride, g->b.data, CUDA_R_32F, ldb, g->b.stride, g->beta, c, CUDA_R_32F, ldc,
            to->stride, batch, type, algo);
    } else {
        if (real->cublasGemmEx == NULL)
            return REASON_FAILURE;
        *status_p = real->cublasGemmEx(g->handle, g->transa, g->transb, m, n, k, g->alpha,
                                       g->a.data, CUDA_R_32F, lda, g->b.data, CUDA_R_32F, ldb,
                                       g->beta, c, CUDA_R_32F, ldc, type, algo);
    }
    return REASONS;
}

/* The 64-bit forms; they came with cuBLAS 12. */
static enum reason large_call(const struct gemm *g, int compute, const struct gemm_matrix *to,
                              cublasStatus_t *status_p)
{
    const struct real_blas *real = g->real;
    const cublasComputeType_t type = (cublasComputeType_t)compute;
    void *c = (void *)(uintptr_t)to->data;
    const cublasGemmAlgo_t algo = CUBLAS_GEMM_DEFAULT;
    if (g->pointer_array) {
        if (real->cublasGemmBatchedEx_64 == NULL)
            return REASON_FAILURE;
        *status_p = real->cublasGemmBatchedEx_64(
            g->handle, g->transa, g->transb, g->m, g->n, g->k, g->alpha,
            (const void *const *)g->a.data, CUDA_R_32F, g->a.ld, (const void *const *)g->b.data,
            CUDA_R_32F, g->b.ld, g->beta, (void *const *)c, CUDA_R_32F, to->ld, g->batch, type,
            algo);
    } else if (g->batched) {
        if (real->cublasGemmStridedBatchedEx_64 == NULL)
            return REASON_FAILURE;
        *status_p = real->cublasGemmStridedBatchedEx_64(
            g->handle, g->transa, g->transb, g->m, g->n, g->k, g->alpha, g->a.data, CUDA_R_32F,
            g->a.ld, g->a.stride, g->b.data, CUDA_R_32F, g->b.ld, g->b.stride, g->beta, c,
            CUDA_R_32F, to->ld, to->stride, g->batch, type, algo);
    } else {
        if (real->cublasGemmEx_64 == NULL)
            return REASON_FAILURE;
        *status_p = real->cublasGemmEx_64(g->handle, g->transa, g->transb, g->m, g->n, g->k,
                                          g->alpha, g->a.data, CUDA_R_32F, g->a.ld, g->b.data,
                                          CUDA_R_32F, g->b.ld, g->beta, c, CUDA_R_32F, to->ld,
                                          type, algo);
    }
    return REASONS;
}

enum reason engine_call(const struct gemm *g, int compute, const struct gemm_matrix *c,
                        cublasStatus_t *status_p)
{
    return fits_int(g) ? small_call(g, compute, c, status_p)
                       : large_call(g, compute, c, status_p);
}

enum reason engine_tf32(const struct gemm *g, cublasStatus_t *status_p)
{
    return engine_call(g, CUBLAS_COMPUTE_32F_FAST_TF32, &g->c, status_p);
}
