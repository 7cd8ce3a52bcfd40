/* SPDX-License-Identifier: BSD-3-Clause
 * The intercepted cuBLASLt functions. A matmul is counted and forwarded. Owns nothing. */
#include "config.h"
#include "base/caller.h"
#include "base/env.h"
#include "base/guard.h"
#include "base/real.h"
#include "base/stats.h"
#include "device/handle.h"

#define EXPORT __attribute__((visibility("default")))

#define CALLER __builtin_return_address(0)

enum { NO_LIBRARY = CUBLAS_STATUS_NOT_INITIALIZED };

static const struct real_lt *library_of(const void *handle, const void *caller)
{
    struct handle_info info;
    return handle_find(handle, &info) && info.lt != NULL ? info.lt : real_lt(caller);
}

EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    const struct real_lt *lt = real_lt(CALLER);
    if (lt == NULL || lt->cublasLtCreate == NULL)
        return (cublasStatus_t)NO_LIBRARY;
    const bool inner = guard_active() || caller_excluded(CALLER);
    guard_enter();
    cublasStatus_t status = lt->cublasLtCreate(handle);
    guard_leave();
    if (status != CUBLAS_STATUS_SUCCESS || handle == NULL || inner || !env_get()->enabled)
        return status;
    stats_engage();
    env_report();
    handle_add(*handle, (struct handle_info){.lt = lt});
    return status;
}

EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    const struct real_lt *lt = library_of(handle, CALLER);
    struct handle_info info;
    /* A cublasHandle_t may be used as a cublasLtHandle_t, but is not destroyed as one. */
    if (handle_find(handle, &info) && info.real == NULL)
        handle_remove(handle);
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
    const struct real_lt *lt = library_of(handle, CALLER);
    if (lt == NULL)
        return (cublasStatus_t)NO_LIBRARY;
    /* cuBLAS computes many of its GEMMs by this function: those have been counted there. */
    if (!guard_active() && env_get()->enabled && !caller_excluded(CALLER))
        stats_count_kind(KIND_LT);
    guard_enter();
    cublasStatus_t status = lt->cublasLtMatmul(handle, desc, alpha, A, Adesc, B, Bdesc, beta, C,
                                               Cdesc, D, Ddesc, algo, workspace,
                                               workspaceSizeInBytes, stream);
    guard_leave();
    return status;
}
