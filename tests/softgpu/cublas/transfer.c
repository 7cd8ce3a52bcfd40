/* SPDX-License-Identifier: BSD-3-Clause
 * cublasSet/GetVector and cublasSet/GetMatrix with their asynchronous forms: two-dimensional copies
 * by the driver. */
#include "handle.h"

struct copy {
    int64_t rows, cols, size; /* columns of `rows` elements */
    const void *from;
    int64_t from_ld;
    void *to;
    int64_t to_ld;
    bool to_device;
};

static cublasStatus_t copy_run(const struct copy *c, bool async, cudaStream_t stream)
{
    const struct gpu *gpu = gpu_get();
    if (c->rows < 0 || c->cols < 0 || c->size <= 0 || c->from_ld <= 0 || c->to_ld <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (gpu == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (c->rows == 0 || c->cols == 0)
        return CUBLAS_STATUS_SUCCESS;
    const bool dense = c->from_ld == c->rows && c->to_ld == c->rows; /* then it is one line */
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = c->to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstMemoryType = c->to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .srcPitch = (size_t)(c->from_ld * c->size * (dense ? c->cols : 1)),
        .dstPitch = (size_t)(c->to_ld * c->size * (dense ? c->cols : 1)),
        .WidthInBytes = (size_t)(c->rows * c->size * (dense ? c->cols : 1)),
        .Height = dense ? 1 : (size_t)c->cols,
    };
    if (c->to_device) {
        copy.srcHost = c->from;
        copy.dstDevice = (CUdeviceptr)(uintptr_t)c->to;
    } else {
        copy.srcDevice = (CUdeviceptr)(uintptr_t)c->from;
        copy.dstHost = c->to;
    }
    const CUresult result =
        async ? gpu->memcpy_2d_async(&copy, (CUstream)stream) : gpu->memcpy_2d(&copy);
    return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

/* A vector with steps is a matrix with one element a column. */
#define VECTOR(_name, _int, _to_device)                                                            \
    BLAS_API cublasStatus_t _name(_int n, _int size, const void *x, _int incx, void *y, _int incy) \
    {                                                                                              \
        ENTER("%lld", (long long)n);                                                               \
        const struct copy copy = {1, n, size, x, incx, y, incy, _to_device};                       \
        return copy_run(&copy, false, NULL);                                                       \
    }
#define VECTOR_ASYNC(_name, _int, _to_device)                                                      \
    BLAS_API cublasStatus_t _name(_int n, _int size, const void *x, _int incx, void *y, _int incy, \
                                  cudaStream_t stream)                                             \
    {                                                                                              \
        ENTER("%lld", (long long)n);                                                               \
        const struct copy copy = {1, n, size, x, incx, y, incy, _to_device};                       \
        return copy_run(&copy, true, stream);                                                      \
    }
#define MATRIX(_name, _int, _to_device)                                                            \
    BLAS_API cublasStatus_t _name(_int rows, _int cols, _int size, const void *A, _int lda,        \
                                  void *B, _int ldb)                                               \
    {                                                                                              \
        ENTER("%lldx%lld", (long long)rows, (long long)cols);                                      \
        if (lda < rows || ldb < rows)                                                              \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        const struct copy copy = {rows, cols, size, A, lda, B, ldb, _to_device};                   \
        return copy_run(&copy, false, NULL);                                                       \
    }
#define MATRIX_ASYNC(_name, _int, _to_device)                                                      \
    BLAS_API cublasStatus_t _name(_int rows, _int cols, _int size, const void *A, _int lda,        \
                                  void *B, _int ldb, cudaStream_t stream)                          \
    {                                                                                              \
        ENTER("%lldx%lld", (long long)rows, (long long)cols);                                      \
        if (lda < rows || ldb < rows)                                                              \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        const struct copy copy = {rows, cols, size, A, lda, B, ldb, _to_device};                   \
        return copy_run(&copy, true, stream);                                                      \
    }
#define ALL(_macro, _what, _async)                                                                 \
    _macro(cublasSet##_what##_async, int, true) _macro(cublasGet##_what##_async, int, false)       \
        _macro(cublasSet##_what##_async##_64, int64_t, true)                                       \
            _macro(cublasGet##_what##_async##_64, int64_t, false)
ALL(VECTOR, Vector, )
ALL(VECTOR_ASYNC, Vector, Async)
ALL(MATRIX, Matrix, )
ALL(MATRIX_ASYNC, Matrix, Async)
