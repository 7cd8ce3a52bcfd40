/* SPDX-License-Identifier: BSD-3-Clause
 * The handle of cuBLASLt, versions, names of statuses, the logger and the heuristics cache. */
#include "objects.h"
#include "../cublas/status.h"

#include <stdlib.h>

static size_t cache_capacity = 8192;

BLAS_API cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle_p)
{
    ENTER("cublasLtCreate", "%s", "");
    if (handle_p == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct cublasLtContext *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        return CUBLAS_STATUS_ALLOC_FAILED;
    const cublasStatus_t status = gpu_open(&handle->base);
    if (status != CUBLAS_STATUS_SUCCESS) {
        free(handle);
        return status;
    }
    *handle_p = handle;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    ENTER("cublasLtDestroy", "%s", "");
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->base.magic = 0;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API const char *cublasLtGetStatusName(cublasStatus_t status)
{
    return status_name(status);
}

BLAS_API const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status_text(status);
}

BLAS_API size_t cublasLtGetVersion(void)
{
    return (size_t)status_version();
}

BLAS_API size_t cublasLtGetCudartVersion(void)
{
    return (size_t)blas_version[0] * 1000;
}

BLAS_API cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value)
{
    ENTER("cublasLtGetProperty", "%d", (int)type);
    return status_property(type, value);
}

BLAS_API cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t *capacity)
{
    ENTER("cublasLtHeuristicsCacheGetCapacity", "%s", "");
    if (capacity == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *capacity = cache_capacity;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity)
{
    ENTER("cublasLtHeuristicsCacheSetCapacity", "%zu", capacity);
    cache_capacity = capacity;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback)
{
    ENTER("cublasLtLoggerSetCallback", "%s", callback == NULL ? "off" : "on");
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtLoggerSetFile(FILE *file)
{
    ENTER("cublasLtLoggerSetFile", "%s", file == NULL ? "off" : "on");
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtLoggerOpenFile(const char *path)
{
    ENTER("cublasLtLoggerOpenFile", "%s", path == NULL ? "" : path);
    return path == NULL ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtLoggerSetLevel(int level)
{
    ENTER("cublasLtLoggerSetLevel", "%d", level);
    return level < 0 || level > 5 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtLoggerSetMask(int mask)
{
    ENTER("cublasLtLoggerSetMask", "%d", mask);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtLoggerForceDisable(void); /* the header's is no prototype */

BLAS_API cublasStatus_t cublasLtLoggerForceDisable(void)
{
    ENTER("cublasLtLoggerForceDisable", "%s", "");
    return CUBLAS_STATUS_SUCCESS;
}
