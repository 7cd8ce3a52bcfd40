/* SPDX-License-Identifier: BSD-3-Clause
 * The GEMM entry points of libcublas: {S,D,C,Z,H}gemm, strided, pointer-array and typed forms, each
 * with 32-bit and 64-bit sizes. Arguments to struct gemm_call; nothing else. */
#include "handle.h"

#define ENTER_GEMM(_batch)                                                                         \
    ENTER_WITH(handle, "%c%c %lldx%lldx%lld batch=%lld", op_letter(transa), op_letter(transb),     \
               (long long)m, (long long)n, (long long)k, (long long)(_batch))

#define PLAIN_HEAD(_name, _int, _t)                                                                \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                 \
                                  cublasOperation_t transb, _int m, _int n, _int k,                \
                                  const _t *alpha, const _t *A, _int lda, const _t *B, _int ldb,   \
                                  const _t *beta, _t *C, _int ldc)
#define PLAIN(_name, _int, _t, _type)                                                              \
    PLAIN_HEAD(_name, _int, _t)                                                                    \
    {                                                                                              \
        ENTER_GEMM(1);                                                                             \
        const struct gemm_call call = {.who = __func__,                                            \
                                       .handle = handle,                                           \
                                       .transa = transa,                                           \
                                       .transb = transb,                                           \
                                       .m = m,                                                     \
                                       .n = n,                                                     \
                                       .k = k,                                                     \
                                       .batch = 1,                                                 \
                                       .alpha = alpha,                                             \
                                       .beta = beta,                                               \
                                       .a = {A, _type, lda, 0},                                    \
                                       .b = {B, _type, ldb, 0},                                    \
                                       .c = {C, _type, ldc, 0},                                    \
                                       .compute = handle_compute(handle, _type)};                  \
        return gemm_call_run(&call);                                                               \
    }
#define STRIDED_HEAD(_name, _int, _t)                                                              \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, _int m, _int n, \
        _int k, const _t *alpha, const _t *A, _int lda, long long strideA, const _t *B, _int ldb,  \
        long long strideB, const _t *beta, _t *C, _int ldc, long long strideC, _int batch)
#define STRIDED(_name, _int, _t, _type)                                                            \
    STRIDED_HEAD(_name, _int, _t)                                                                  \
    {                                                                                              \
        ENTER_GEMM(batch);                                                                         \
        const struct gemm_call call = {.who = __func__,                                            \
                                       .handle = handle,                                           \
                                       .transa = transa,                                           \
                                       .transb = transb,                                           \
                                       .m = m,                                                     \
                                       .n = n,                                                     \
                                       .k = k,                                                     \
                                       .batch = batch,                                             \
                                       .alpha = alpha,                                             \
                                       .beta = beta,                                               \
                                       .a = {A, _type, lda, strideA},                              \
                                       .b = {B, _type, ldb, strideB},                              \
                                       .c = {C, _type, ldc, strideC},                              \
                                       .batching = BATCH_STRIDED,                                  \
                                       .compute = handle_compute(handle, _type)};                  \
        return gemm_call_run(&call);                                                               \
    }
#define ARRAY_HEAD(_name, _int, _t)                                                                \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, _int m, _int n, \
        _int k, const _t *alpha, const _t *const A[], _int lda, const _t *const B[], _int ldb,     \
        const _t *beta, _t *const C[], _int ldc, _int batch)
#define ARRAY(_name, _int, _t, _type)                                                              \
    ARRAY_HEAD(_name, _int, _t)                                                                    \
    {                                                                                              \
        ENTER_GEMM(batch);                                                                         \
        const struct gemm_call call = {.who = __func__,                                            \
                                       .handle = handle,                                           \
                                       .transa = transa,                                           \
                                       .transb = transb,                                           \
                                       .m = m,                                                     \
                                       .n = n,                                                     \
                                       .k = k,                                                     \
                                       .batch = batch,                                             \
                                       .alpha = alpha,                                             \
                                       .beta = beta,                                               \
                                       .a = {A, _type, lda, 0},                                    \
                                       .b = {B, _type, ldb, 0},                                    \
                                       .c = {C, _type, ldc, 0},                                    \
                                       .batching = BATCH_ARRAY,                                    \
                                       .compute = handle_compute(handle, _type)};                  \
        return gemm_call_run(&call);                                                               \
    }

#define BOTH(_macro, _name, _suffix, _t, _type)                                                    \
    _macro(_name##_suffix, int, _t, _type) _macro(_name##_suffix##_64, int64_t, _t, _type)

/* The header shows the half precision entries to C++ alone. */
PLAIN_HEAD(cublasHgemm, int, uint16_t);
PLAIN_HEAD(cublasHgemm_64, int64_t, uint16_t);
STRIDED_HEAD(cublasHgemmStridedBatched, int, uint16_t);
STRIDED_HEAD(cublasHgemmStridedBatched_64, int64_t, uint16_t);
ARRAY_HEAD(cublasHgemmBatched, int, uint16_t);
ARRAY_HEAD(cublasHgemmBatched_64, int64_t, uint16_t);

BOTH(PLAIN, cublasSgemm, _v2, float, CUDA_R_32F)
BOTH(PLAIN, cublasDgemm, _v2, double, CUDA_R_64F)
BOTH(PLAIN, cublasCgemm, _v2, cuComplex, CUDA_C_32F)
BOTH(PLAIN, cublasZgemm, _v2, cuDoubleComplex, CUDA_C_64F)
PLAIN(cublasHgemm, int, uint16_t, CUDA_R_16F)
PLAIN(cublasHgemm_64, int64_t, uint16_t, CUDA_R_16F)
PLAIN(cublasCgemm3m, int, cuComplex, CUDA_C_32F)
PLAIN(cublasCgemm3m_64, int64_t, cuComplex, CUDA_C_32F)
PLAIN(cublasZgemm3m, int, cuDoubleComplex, CUDA_C_64F)
PLAIN(cublasZgemm3m_64, int64_t, cuDoubleComplex, CUDA_C_64F)

BOTH(STRIDED, cublasSgemmStridedBatched, , float, CUDA_R_32F)
BOTH(STRIDED, cublasDgemmStridedBatched, , double, CUDA_R_64F)
BOTH(STRIDED, cublasCgemmStridedBatched, , cuComplex, CUDA_C_32F)
BOTH(STRIDED, cublasZgemmStridedBatched, , cuDoubleComplex, CUDA_C_64F)
BOTH(STRIDED, cublasHgemmStridedBatched, , uint16_t, CUDA_R_16F)
BOTH(STRIDED, cublasCgemm3mStridedBatched, , cuComplex, CUDA_C_32F)

BOTH(ARRAY, cublasSgemmBatched, , float, CUDA_R_32F)
BOTH(ARRAY, cublasDgemmBatched, , double, CUDA_R_64F)
BOTH(ARRAY, cublasCgemmBatched, , cuComplex, CUDA_C_32F)
BOTH(ARRAY, cublasZgemmBatched, , cuDoubleComplex, CUDA_C_64F)
BOTH(ARRAY, cublasHgemmBatched, , uint16_t, CUDA_R_16F)
BOTH(ARRAY, cublasCgemm3mBatched, , cuComplex, CUDA_C_32F)

/* C programs still pass the cudaDataType of older interfaces as the compute type. */
static cublasComputeType_t compute_of(cublasHandle_t handle, cublasComputeType_t compute,
                                      cudaDataType a)
{
    const bool pedantic = ((int)handle->math & 15) == CUBLAS_PEDANTIC_MATH;
    switch ((int)compute) {
    case CUDA_R_16F:
        return pedantic ? CUBLAS_COMPUTE_16F_PEDANTIC : CUBLAS_COMPUTE_16F;
    case CUDA_R_64F:
    case CUDA_C_64F:
        return pedantic ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_64F;
    case CUDA_R_32I:
        return pedantic ? CUBLAS_COMPUTE_32I_PEDANTIC : CUBLAS_COMPUTE_32I;
    case CUDA_R_32F:
    case CUDA_C_32F:
        if (pedantic)
            return CUBLAS_COMPUTE_32F_PEDANTIC;
        break;
    case CUBLAS_COMPUTE_32F:
        break;
    default:
        return compute;
    }
    /* the math mode speaks where the compute type leaves it open */
    const bool open = (a == CUDA_R_32F || a == CUDA_C_32F) && !pedantic;
    return open ? handle_compute(handle, a) : CUBLAS_COMPUTE_32F;
}

static bool algo_valid(cublasGemmAlgo_t algo)
{
    return (algo >= CUBLAS_GEMM_DEFAULT && algo <= CUBLAS_GEMM_ALGO23) ||
           (algo >= CUBLAS_GEMM_DEFAULT_TENSOR_OP && algo <= CUBLAS_GEMM_ALGO15_TENSOR_OP) ||
           algo == CUBLAS_GEMM_AUTOTUNE;
}

/* What cublasGemmEx takes and cuBLASLt takes too, without the types that only the latter has. */
static cublasStatus_t run_ex(struct gemm_call *call, cublasComputeType_t compute,
                             cublasGemmAlgo_t algo)
{
    if (!algo_valid(algo))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (call->a.type == CUDA_R_8F_E4M3 || call->a.type == CUDA_R_8F_E5M2)
        return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, call->who, "FP8");
    call->compute = compute_of(call->handle, compute, call->a.type);
    return gemm_call_through_lt(call);
}

#define EX(_name, _int)                                                                            \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, _int m, _int n, \
        _int k, const void *alpha, const void *A, cudaDataType Atype, _int lda, const void *B,     \
        cudaDataType Btype, _int ldb, const void *beta, void *C, cudaDataType Ctype, _int ldc,     \
        cublasComputeType_t compute, cublasGemmAlgo_t algo)                                        \
    {                                                                                              \
        ENTER_GEMM(1);                                                                             \
        struct gemm_call call = {.who = __func__,                                                  \
                                 .handle = handle,                                                 \
                                 .transa = transa,                                                 \
                                 .transb = transb,                                                 \
                                 .m = m,                                                           \
                                 .n = n,                                                           \
                                 .k = k,                                                           \
                                 .batch = 1,                                                       \
                                 .alpha = alpha,                                                   \
                                 .beta = beta,                                                     \
                                 .a = {A, Atype, lda, 0},                                          \
                                 .b = {B, Btype, ldb, 0},                                          \
                                 .c = {C, Ctype, ldc, 0}};                                         \
        return run_ex(&call, compute, algo);                                                       \
    }
EX(cublasGemmEx, int)
EX(cublasGemmEx_64, int64_t)

#define STRIDED_EX(_name, _int)                                                                    \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, _int m, _int n, \
        _int k, const void *alpha, const void *A, cudaDataType Atype, _int lda, long long strideA, \
        const void *B, cudaDataType Btype, _int ldb, long long strideB, const void *beta, void *C, \
        cudaDataType Ctype, _int ldc, long long strideC, _int batch, cublasComputeType_t compute,  \
        cublasGemmAlgo_t algo)                                                                     \
    {                                                                                              \
        ENTER_GEMM(batch);                                                                         \
        struct gemm_call call = {.who = __func__,                                                  \
                                 .handle = handle,                                                 \
                                 .transa = transa,                                                 \
                                 .transb = transb,                                                 \
                                 .m = m,                                                           \
                                 .n = n,                                                           \
                                 .k = k,                                                           \
                                 .batch = batch,                                                   \
                                 .alpha = alpha,                                                   \
                                 .beta = beta,                                                     \
                                 .a = {A, Atype, lda, strideA},                                    \
                                 .b = {B, Btype, ldb, strideB},                                    \
                                 .c = {C, Ctype, ldc, strideC},                                    \
                                 .batching = BATCH_STRIDED};                                       \
        return run_ex(&call, compute, algo);                                                       \
    }
STRIDED_EX(cublasGemmStridedBatchedEx, int)
STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)

#define ARRAY_EX(_name, _int)                                                                      \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                 \
                                  cublasOperation_t transb, _int m, _int n, _int k,                \
                                  const void *alpha, const void *const A[], cudaDataType Atype,    \
                                  _int lda, const void *const B[], cudaDataType Btype, _int ldb,   \
                                  const void *beta, void *const C[], cudaDataType Ctype, _int ldc, \
                                  _int batch, cublasComputeType_t compute, cublasGemmAlgo_t algo)  \
    {                                                                                              \
        ENTER_GEMM(batch);                                                                         \
        struct gemm_call call = {.who = __func__,                                                  \
                                 .handle = handle,                                                 \
                                 .transa = transa,                                                 \
                                 .transb = transb,                                                 \
                                 .m = m,                                                           \
                                 .n = n,                                                           \
                                 .k = k,                                                           \
                                 .batch = batch,                                                   \
                                 .alpha = alpha,                                                   \
                                 .beta = beta,                                                     \
                                 .a = {A, Atype, lda, 0},                                          \
                                 .b = {B, Btype, ldb, 0},                                          \
                                 .c = {C, Ctype, ldc, 0},                                          \
                                 .batching = BATCH_ARRAY};                                         \
        return run_ex(&call, compute, algo);                                                       \
    }
ARRAY_EX(cublasGemmBatchedEx, int)
ARRAY_EX(cublasGemmBatchedEx_64, int64_t)

/* Typed operands, FP32 scalars and sums; the types of A and B are the same. */
#define TYPED(_name, _int, _t, _type)                                                              \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, _int m, _int n, \
        _int k, const _t *alpha, const void *A, cudaDataType Atype, _int lda, const void *B,       \
        cudaDataType Btype, _int ldb, const _t *beta, void *C, cudaDataType Ctype, _int ldc)       \
    {                                                                                              \
        ENTER_GEMM(1);                                                                             \
        struct gemm_call call = {.who = __func__,                                                  \
                                 .handle = handle,                                                 \
                                 .transa = transa,                                                 \
                                 .transb = transb,                                                 \
                                 .m = m,                                                           \
                                 .n = n,                                                           \
                                 .k = k,                                                           \
                                 .batch = 1,                                                       \
                                 .alpha = alpha,                                                   \
                                 .beta = beta,                                                     \
                                 .a = {A, Atype, lda, 0},                                          \
                                 .b = {B, Btype, ldb, 0},                                          \
                                 .c = {C, Ctype, ldc, 0}};                                         \
        return run_ex(&call, (cublasComputeType_t)_type, CUBLAS_GEMM_DEFAULT);                     \
    }
TYPED(cublasSgemmEx, int, float, CUDA_R_32F)
TYPED(cublasSgemmEx_64, int64_t, float, CUDA_R_32F)
TYPED(cublasCgemmEx, int, cuComplex, CUDA_C_32F)
TYPED(cublasCgemmEx_64, int64_t, cuComplex, CUDA_C_32F)
TYPED(cublasCgemm3mEx, int, cuComplex, CUDA_C_32F)
TYPED(cublasCgemm3mEx_64, int64_t, cuComplex, CUDA_C_32F)
