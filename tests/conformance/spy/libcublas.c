/* SPDX-License-Identifier: BSD-3-Clause
 * The spied libcublas: what the preload sees of functions with a handle, and the few that it calls
 * to ask a handle. A handle is a structure of its own state; nobody may change it. */
#include "conformance/spy/spy.h"

#include <cublas_v2.h>
#include <errno.h>
#include <stdlib.h>

/* The vendor's header shows the half precision functions to C++ alone. */
#define ENTRY(_name, ...) cublasStatus_t _name(__VA_ARGS__);
#include "conformance/spy/entries.def"
#undef ENTRY

#define ENTRY(_name, ...) SPY(cublasStatus_t, _name, return (cublasStatus_t)spy.answer, __VA_ARGS__)
#include "conformance/spy/entries.def"
#undef ENTRY

#define EXPORT __attribute__((visibility("default")))

EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = calloc(1, 64);
    return *handle != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
    *stream = NULL;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode)
{
    *mode = CUBLAS_POINTER_MODE_DEVICE;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
    *mode = CUBLAS_DEFAULT_MATH;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t change(void)
{
    spy.state_calls++;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    return change();
}

EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    return change();
}

EXPORT cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
    return change();
}

EXPORT cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    return change();
}

EXPORT cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode)
{
    return change();
}

EXPORT cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int target)
{
    return change();
}
