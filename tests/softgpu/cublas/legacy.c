/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the hidden handle and the last error of the interface without handles. */
#include "legacy.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cublasHandle_t hidden;
static cublasStatus_t last;

cublasHandle_t legacy_handle(void)
{
    pthread_mutex_lock(&lock);
    cublasHandle_t handle = hidden;
    pthread_mutex_unlock(&lock);
    return handle;
}

void legacy_status(cublasStatus_t status)
{
    pthread_mutex_lock(&lock);
    if (status != CUBLAS_STATUS_SUCCESS)
        last = status;
    pthread_mutex_unlock(&lock);
}

cublasOperation_t legacy_op(char letter)
{
    switch (letter) {
    case 'n':
    case 'N':
        return CUBLAS_OP_N;
    case 't':
    case 'T':
        return CUBLAS_OP_T;
    case 'c':
    case 'C':
        return CUBLAS_OP_C;
    default:
        return (cublasOperation_t)-1;
    }
}

cublasFillMode_t legacy_uplo(char letter)
{
    return letter == 'l' || letter == 'L'   ? CUBLAS_FILL_MODE_LOWER
           : letter == 'u' || letter == 'U' ? CUBLAS_FILL_MODE_UPPER
                                            : (cublasFillMode_t)-1;
}

cublasDiagType_t legacy_diag(char letter)
{
    return letter == 'n' || letter == 'N'   ? CUBLAS_DIAG_NON_UNIT
           : letter == 'u' || letter == 'U' ? CUBLAS_DIAG_UNIT
                                            : (cublasDiagType_t)-1;
}

cublasSideMode_t legacy_side(char letter)
{
    return letter == 'l' || letter == 'L'   ? CUBLAS_SIDE_LEFT
           : letter == 'r' || letter == 'R' ? CUBLAS_SIDE_RIGHT
                                            : (cublasSideMode_t)-1;
}

LEGACY(cublasStatus_t, cublasInit, (void))
{
    ENTER("%s", "");
    if (legacy_handle() != NULL)
        return CUBLAS_STATUS_SUCCESS;
    cublasHandle_t handle = NULL;
    const cublasStatus_t status = cublasCreate_v2(&handle);
    pthread_mutex_lock(&lock);
    hidden = handle;
    pthread_mutex_unlock(&lock);
    return status;
}

LEGACY(cublasStatus_t, cublasShutdown, (void))
{
    ENTER("%s", "");
    pthread_mutex_lock(&lock);
    cublasHandle_t handle = hidden;
    hidden = NULL;
    pthread_mutex_unlock(&lock);
    return handle == NULL ? CUBLAS_STATUS_NOT_INITIALIZED : cublasDestroy_v2(handle);
}

LEGACY(cublasStatus_t, cublasGetError, (void))
{
    pthread_mutex_lock(&lock);
    const cublasStatus_t status = last;
    last = CUBLAS_STATUS_SUCCESS;
    pthread_mutex_unlock(&lock);
    return status;
}

LEGACY(cublasStatus_t, cublasGetVersion, (int *version))
{
    return cublasGetVersion_v2(legacy_handle(), version);
}

LEGACY(cublasStatus_t, cublasSetKernelStream, (cudaStream_t stream))
{
    ENTER("%s", "");
    return cublasSetStream_v2(legacy_handle(), stream);
}

LEGACY(cublasStatus_t, cublasAlloc, (int n, int size, void **p))
{
    ENTER("%d %d", n, size);
    CUdeviceptr address = 0;
    if (legacy_handle() == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0 || size <= 0 || p == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (gpu_get()->mem_alloc(&address, (size_t)n * (size_t)size) != CUDA_SUCCESS)
        return CUBLAS_STATUS_ALLOC_FAILED;
    *p = (void *)(uintptr_t)address;
    return CUBLAS_STATUS_SUCCESS;
}

LEGACY(cublasStatus_t, cublasFree, (void *p))
{
    ENTER("%s", "");
    if (legacy_handle() == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return gpu_status(gpu_get()->mem_free((CUdeviceptr)(uintptr_t)p));
}

BLAS_API void cublasXerbla(const char *routine, int info)
{
    fprintf(stderr, "softgpu: %s: parameter %d is wrong\n", routine, info);
}
