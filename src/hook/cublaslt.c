/* SPDX-License-Identifier: BSD-3-Clause
 * The intercepted cuBLASLt functions: vendor signature to struct lt_call, and the untouched call
 * where lt_call_run declines. Owns nothing. */
#include "config.h"
#include "base/guard.h"
#include "base/real.h"
#include "device/handle.h"
#include "gemm/gemm.h"
#include "gemm/lt_call.h"


#define EXPORT __attribute__((visibility("default")))

#define CALLER __builtin_return_address(0)

enum { NO_LIBRARY = CUBLAS_STATUS_NOT_INITIALIZED };

/* What is known of a cuBLASLt handle, which may be a cuBLAS handle. */
static struct handle_info look_up(const void *handle, const void *caller)
{
    struct handle_info info = {NULL, NULL, NULL};
    if (!handle_find(handle, &info) || info.lt == NULL)
        info.lt = real_lt(caller);
    return info;
}

EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    const struct real_lt *lt = look_up(handle, CALLER).lt;
    struct handle_info info;
    /* A cublasHandle_t may be used as a cublasLtHandle_t, but is not destroyed as one. */
    if (handle_find(handle, &info) && info.real == NULL) {
        gemm_handle_ends();
        handle_remove(handle);
    }
    return lt != NULL && lt->cublasLtDestroy != NULL ? lt->cublasLtDestroy(handle)
                                                     : (cublasStatus_t)NO_LIBRARY;
}

EXPORT cublasStatus_t
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *A,
               cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc,
               const void *beta, const void *C, cublasLtMatrixLayout_t Cdesc, void *D,
               cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t *algo, void *workspace,
               size_t workspaceSizeInBytes, cudaStream_t stream)
{
    const struct handle_info info = look_up(handle, CALLER);
    cublasStatus_t status = (cublasStatus_t)NO_LIBRARY;
    if (info.lt == NULL)
        return status;
    const struct lt_call call = {CALLER, info.lt, info.context, handle,  desc,
                                 alpha,  A,       B,            beta,    C,
                                 D,      Adesc,   Bdesc,        Cdesc,   Ddesc,
                                 workspace, workspaceSizeInBytes, stream};
    if (lt_call_run(&call, &status))
        return status;
    guard_enter();
    status = info.lt->cublasLtMatmul(handle, desc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D,
                                     Ddesc, algo, workspace, workspaceSizeInBytes, stream);
    guard_leave();
    gemm_forwarded();
    return status;
}
