/* SPDX-License-Identifier: BSD-3-Clause
 * The intercepted cuBLAS functions: vendor signature to struct gemm, and the untouched call where
 * gemm_run declines. Each family is one macro that makes the 32-bit and the 64-bit form. Owns
 * nothing. */
#include "config.h"
#include "base/guard.h"
#include "base/real.h"
#include "device/handle.h"
#include "gemm/gemm.h"


#define EXPORT __attribute__((visibility("default")))

#define CALLER __builtin_return_address(0)

/* What a function returns when there is no real library to ask. */
enum { NO_LIBRARY = CUBLAS_STATUS_NOT_INITIALIZED };

EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    struct handle_info info = {NULL, NULL, NULL};
    gemm_handle_ends();
    if (handle_find(handle, &info))
        handle_remove(handle);
    else
        info.real = real_blas(CALLER);
    return info.real != NULL ? info.real->cublasDestroy_v2(handle) : (cublasStatus_t)NO_LIBRARY;
}

#define GEMM_COMMON(_name)                                                                         \
    .routine = #_name, .caller = CALLER, .handle = handle, .transa = transa, .transb = transb,     \
    .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta

#define RUN_OR_FORWARD(_g, _name, ...)                                                             \
    cublasStatus_t status = (cublasStatus_t)NO_LIBRARY;                                            \
    if (gemm_run(&_g, &status) || _g.real == NULL || _g.real->_name == NULL)                       \
        return status;                                                                             \
    guard_enter();                                                                                 \
    status = _g.real->_name(__VA_ARGS__);                                                          \
    guard_leave();                                                                                 \
    gemm_forwarded();                                                                              \
    return status

#define SGEMM(_name, _int)                                                                         \
    EXPORT cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                   \
                                cublasOperation_t transb, _int m, _int n, _int k,                  \
                                const float *alpha, const float *A, _int lda, const float *B,      \
                                _int ldb, const float *beta, float *C, _int ldc)                   \
    {                                                                                              \
        struct gemm g = {GEMM_COMMON(_name), .batch = 1, .compute = CUBLAS_COMPUTE_32F,            \
                         .a = {A, CUDA_R_32F, lda, 0}, .b = {B, CUDA_R_32F, ldb, 0},               \
                         .c = {C, CUDA_R_32F, ldc, 0}};                                            \
        RUN_OR_FORWARD(g, _name, handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C,  \
                       ldc);                                                                       \
    }

SGEMM(cublasSgemm_v2, int)
SGEMM(cublasSgemm_v2_64, int64_t)

#define SGEMM_STRIDED_BATCHED(_name, _int)                                                         \
    EXPORT cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                   \
                                cublasOperation_t transb, _int m, _int n, _int k,                  \
                                const float *alpha, const float *A, _int lda, long long strideA,   \
                                const float *B, _int ldb, long long strideB, const float *beta,    \
                                float *C, _int ldc, long long strideC, _int batchCount)            \
    {                                                                                              \
        struct gemm g = {GEMM_COMMON(_name), .batch = batchCount, .batched = true,                 \
                         .compute = CUBLAS_COMPUTE_32F, .a = {A, CUDA_R_32F, lda, strideA},        \
                         .b = {B, CUDA_R_32F, ldb, strideB}, .c = {C, CUDA_R_32F, ldc, strideC}};  \
        RUN_OR_FORWARD(g, _name, handle, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb,  \
                       strideB, beta, C, ldc, strideC, batchCount);                                \
    }

SGEMM_STRIDED_BATCHED(cublasSgemmStridedBatched, int)
SGEMM_STRIDED_BATCHED(cublasSgemmStridedBatched_64, int64_t)

#define GEMM_EX(_name, _int)                                                                       \
    EXPORT cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                   \
                                cublasOperation_t transb, _int m, _int n, _int k,                  \
                                const void *alpha, const void *A, cudaDataType Atype, _int lda,    \
                                const void *B, cudaDataType Btype, _int ldb, const void *beta,     \
                                void *C, cudaDataType Ctype, _int ldc,                             \
                                cublasComputeType_t computeType, cublasGemmAlgo_t algo)            \
    {                                                                                              \
        struct gemm g = {GEMM_COMMON(_name), .batch = 1, .algo = (int)algo,                        \
                         .compute = (int)computeType,                                              \
                         .a = {A, Atype, lda, 0}, .b = {B, Btype, ldb, 0},                         \
                         .c = {C, Ctype, ldc, 0}};                                                 \
        RUN_OR_FORWARD(g, _name, handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype,  \
                       ldb, beta, C, Ctype, ldc, computeType, algo);                               \
    }

GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)

#define GEMM_STRIDED_BATCHED_EX(_name, _int)                                                       \
    EXPORT cublasStatus_t _name(                                                                   \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, _int m, _int n, \
        _int k, const void *alpha, const void *A, cudaDataType Atype, _int lda, long long strideA, \
        const void *B, cudaDataType Btype, _int ldb, long long strideB, const void *beta, void *C, \
        cudaDataType Ctype, _int ldc, long long strideC, _int batchCount,                          \
        cublasComputeType_t computeType, cublasGemmAlgo_t algo)                                    \
    {                                                                                              \
        struct gemm g = {GEMM_COMMON(_name), .batch = batchCount, .batched = true,                 \
                         .algo = (int)algo, .compute = (int)computeType,                           \
                         .a = {A, Atype, lda, strideA},                                            \
                         .b = {B, Btype, ldb, strideB}, .c = {C, Ctype, ldc, strideC}};            \
        RUN_OR_FORWARD(g, _name, handle, transa, transb, m, n, k, alpha, A, Atype, lda, strideA,   \
                       B, Btype, ldb, strideB, beta, C, Ctype, ldc, strideC, batchCount,           \
                       computeType, algo);                                                         \
    }

GEMM_STRIDED_BATCHED_EX(cublasGemmStridedBatchedEx, int)
GEMM_STRIDED_BATCHED_EX(cublasGemmStridedBatchedEx_64, int64_t)

/* cublasSgemmEx: FP32 scalars and arithmetic, typed matrices. */
#define SGEMM_EX(_name, _int)                                                                      \
    EXPORT cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                   \
                                cublasOperation_t transb, _int m, _int n, _int k,                  \
                                const float *alpha, const void *A, cudaDataType Atype, _int lda,   \
                                const void *B, cudaDataType Btype, _int ldb, const float *beta,    \
                                void *C, cudaDataType Ctype, _int ldc)                             \
    {                                                                                              \
        struct gemm g = {GEMM_COMMON(_name), .batch = 1, .compute = CUBLAS_COMPUTE_32F,            \
                         .a = {A, Atype, lda, 0}, .b = {B, Btype, ldb, 0},                         \
                         .c = {C, Ctype, ldc, 0}};                                                 \
        RUN_OR_FORWARD(g, _name, handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype,  \
                       ldb, beta, C, Ctype, ldc);                                                  \
    }

SGEMM_EX(cublasSgemmEx, int)
SGEMM_EX(cublasSgemmEx_64, int64_t)

/* Arrays of pointers lie on the device: what they point to is never looked at on the host. */
#define SGEMM_BATCHED(_name, _int)                                                                 \
    EXPORT cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                   \
                                cublasOperation_t transb, _int m, _int n, _int k,                  \
                                const float *alpha, const float *const Aarray[], _int lda,         \
                                const float *const Barray[], _int ldb, const float *beta,          \
                                float *const Carray[], _int ldc, _int batchCount)                  \
    {                                                                                              \
        struct gemm g = {GEMM_COMMON(_name), .batch = batchCount, .batched = true,                 \
                         .pointer_array = true, .compute = CUBLAS_COMPUTE_32F,                     \
                         .a = {Aarray, CUDA_R_32F, lda, 0}, .b = {Barray, CUDA_R_32F, ldb, 0},     \
                         .c = {Carray, CUDA_R_32F, ldc, 0}};                                       \
        RUN_OR_FORWARD(g, _name, handle, transa, transb, m, n, k, alpha, Aarray, lda, Barray, ldb, \
                       beta, Carray, ldc, batchCount);                                             \
    }

SGEMM_BATCHED(cublasSgemmBatched, int)
SGEMM_BATCHED(cublasSgemmBatched_64, int64_t)

#define GEMM_BATCHED_EX(_name, _int)                                                               \
    EXPORT cublasStatus_t _name(                                                                   \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, _int m, _int n, \
        _int k, const void *alpha, const void *const Aarray[], cudaDataType Atype, _int lda,       \
        const void *const Barray[], cudaDataType Btype, _int ldb, const void *beta,                \
        void *const Carray[], cudaDataType Ctype, _int ldc, _int batchCount,                       \
        cublasComputeType_t computeType, cublasGemmAlgo_t algo)                                    \
    {                                                                                              \
        struct gemm g = {GEMM_COMMON(_name), .batch = batchCount, .batched = true,                 \
                         .pointer_array = true, .algo = (int)algo, .compute = (int)computeType,    \
                         .a = {Aarray, Atype, lda, 0}, .b = {Barray, Btype, ldb, 0},               \
                         .c = {Carray, Ctype, ldc, 0}};                                            \
        RUN_OR_FORWARD(g, _name, handle, transa, transb, m, n, k, alpha, Aarray, Atype, lda,       \
                       Barray, Btype, ldb, beta, Carray, Ctype, ldc, batchCount, computeType,      \
                       algo);                                                                      \
    }

GEMM_BATCHED_EX(cublasGemmBatchedEx, int)
GEMM_BATCHED_EX(cublasGemmBatchedEx_64, int64_t)
