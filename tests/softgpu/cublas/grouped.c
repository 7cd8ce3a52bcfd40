/* SPDX-License-Identifier: BSD-3-Clause
 * Grouped GEMM: sizes and scalars on the host, one per group; pointers on the device, one per
 * product. All groups are one operation of the stream. */
#include "handle.h"

#include <stdlib.h>

/* The arguments with sizes already widened; alphas and betas are of the scale type. */
struct groups {
    const char *who;
    cublasHandle_t handle;
    int64_t n;
    cudaDataType a_type, b_type, c_type;
    cublasComputeType_t compute;
    const cublasOperation_t *transa, *transb;
    const char *alpha, *beta;
    const void *a, *b, *c;
};

struct group {
    int64_t m, n, k, lda, ldb, ldc, size;
};

static cublasStatus_t run(const struct groups *all, const struct group *group)
{
    const cudaDataType scale = scale_type_of(all->compute, all->c_type);
    const size_t step = type_bytes(scale);
    struct gemm_op *ops = calloc((size_t)all->n + 1, sizeof *ops);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    int64_t first = 0, used = 0;
    if (ops == NULL)
        return CUBLAS_STATUS_ALLOC_FAILED;
    for (int64_t i = 0; i < all->n && status == CUBLAS_STATUS_SUCCESS; i++) {
        const struct group *g = &group[i];
        const struct gemm_call call = {.who = all->who,
                                       .handle = all->handle,
                                       .transa = all->transa[i],
                                       .transb = all->transb[i],
                                       .m = g->m,
                                       .n = g->n,
                                       .k = g->k,
                                       .batch = g->size,
                                       .alpha = all->alpha + (size_t)i * step,
                                       .beta = all->beta + (size_t)i * step,
                                       .a = {(void *const *)all->a + first, all->a_type, g->lda, 0},
                                       .b = {(void *const *)all->b + first, all->b_type, g->ldb, 0},
                                       .c = {(void *const *)all->c + first, all->c_type, g->ldc, 0},
                                       .batching = BATCH_ARRAY,
                                       .compute = all->compute};
        status = gemm_call_check(&call);
        first += g->size;
        if (status != CUBLAS_STATUS_SUCCESS || g->m == 0 || g->n == 0 || g->size == 0)
            continue;
        if (!gemm_call_op(&call, &ops[used++]))
            status = CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (status == CUBLAS_STATUS_SUCCESS && used > 0)
        status = gemm_enqueue(all->handle->stream, ops, (int)used);
    free(ops);
    return status;
}

static bool supported(const struct groups *all)
{
    const cudaDataType a = all->a_type, c = all->c_type;
    if (all->handle->pointer_mode != CUBLAS_POINTER_MODE_HOST || all->b_type != a)
        return false;
    switch (all->compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        return (a == CUDA_R_32F && c == a) ||
               ((a == CUDA_R_16F || a == CUDA_R_16BF) && (c == a || c == CUDA_R_32F));
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
        return a == CUDA_R_32F && c == a;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        return a == CUDA_R_64F && c == a;
    default:
        return false;
    }
}

#define RUN(_int)                                                                                  \
    if (groups < 0)                                                                                \
        return CUBLAS_STATUS_INVALID_VALUE;                                                        \
    if (!supported(&all))                                                                          \
        return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, all.who, "types or pointer mode");          \
    struct group *group = calloc((size_t)groups + 1, sizeof *group);                               \
    if (group == NULL)                                                                             \
        return CUBLAS_STATUS_ALLOC_FAILED;                                                         \
    for (_int i = 0; i < groups; i++)                                                              \
        group[i] = (struct group){m[i], n[i], k[i], lda[i], ldb[i], ldc[i], size[i]};              \
    const cublasStatus_t status = run(&all, group);                                                \
    free(group);                                                                                   \
    return status;

#define CLASSIC(_name, _int, _t, _type)                                                            \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[], \
        const _int m[], const _int n[], const _int k[], const _t alpha[], const _t *const A[],     \
        const _int lda[], const _t *const B[], const _int ldb[], const _t beta[], _t *const C[],   \
        const _int ldc[], _int groups, const _int size[])                                          \
    {                                                                                              \
        ENTER_WITH(handle, "groups=%lld", (long long)groups);                                      \
        const struct groups all = {.who = __func__,                                                \
                                   .handle = handle,                                               \
                                   .n = groups,                                                    \
                                   .a_type = _type,                                                \
                                   .b_type = _type,                                                \
                                   .c_type = _type,                                                \
                                   .compute = handle_compute(handle, _type),                       \
                                   .transa = transa,                                               \
                                   .transb = transb,                                               \
                                   .alpha = (const char *)alpha,                                   \
                                   .beta = (const char *)beta,                                     \
                                   .a = A,                                                         \
                                   .b = B,                                                         \
                                   .c = C};                                                        \
        RUN(_int)                                                                                  \
    }
CLASSIC(cublasSgemmGroupedBatched, int, float, CUDA_R_32F)
CLASSIC(cublasSgemmGroupedBatched_64, int64_t, float, CUDA_R_32F)
CLASSIC(cublasDgemmGroupedBatched, int, double, CUDA_R_64F)
CLASSIC(cublasDgemmGroupedBatched_64, int64_t, double, CUDA_R_64F)

#define TYPED(_name, _int)                                                                         \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[], \
        const _int m[], const _int n[], const _int k[], const void *alpha, const void *const A[],  \
        cudaDataType_t Atype, const _int lda[], const void *const B[], cudaDataType_t Btype,       \
        const _int ldb[], const void *beta, void *const C[], cudaDataType_t Ctype,                 \
        const _int ldc[], _int groups, const _int size[], cublasComputeType_t compute)             \
    {                                                                                              \
        ENTER_WITH(handle, "groups=%lld types %d %d %d", (long long)groups, (int)Atype,            \
                   (int)Btype, (int)Ctype);                                                        \
        const struct groups all = {.who = __func__,                                                \
                                   .handle = handle,                                               \
                                   .n = groups,                                                    \
                                   .a_type = Atype,                                                \
                                   .b_type = Btype,                                                \
                                   .c_type = Ctype,                                                \
                                   .compute = compute,                                             \
                                   .transa = transa,                                               \
                                   .transb = transb,                                               \
                                   .alpha = alpha,                                                 \
                                   .beta = beta,                                                   \
                                   .a = A,                                                         \
                                   .b = B,                                                         \
                                   .c = C};                                                        \
        RUN(_int)                                                                                  \
    }
TYPED(cublasGemmGroupedBatchedEx, int)
TYPED(cublasGemmGroupedBatchedEx_64, int64_t)
