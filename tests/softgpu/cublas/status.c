/* SPDX-License-Identifier: BSD-3-Clause
 * Names of statuses and version properties. No state. */
#include "status.h"

#define STATUSES(X)                                                                                \
    X(SUCCESS, "no error")                                                                         \
    X(NOT_INITIALIZED, "there is no valid handle")                                                 \
    X(ALLOC_FAILED, "out of memory")                                                               \
    X(INVALID_VALUE, "an argument is wrong")                                                       \
    X(ARCH_MISMATCH, "this GPU cannot do that")                                                    \
    X(MAPPING_ERROR, "GPU memory could not be reached")                                            \
    X(EXECUTION_FAILED, "the GPU work could not be run")                                           \
    X(INTERNAL_ERROR, "a fault inside the library")                                                \
    X(NOT_SUPPORTED, "this combination of arguments does not exist")                               \
    X(LICENSE_ERROR, "a licence is missing")

const char *status_name(cublasStatus_t status)
{
    switch (status) {
#define CASE(_name, _text)                                                                         \
    case CUBLAS_STATUS_##_name:                                                                    \
        return "CUBLAS_STATUS_" #_name;
        STATUSES(CASE)
#undef CASE
    }
    return "CUBLAS_STATUS_UNKNOWN";
}

const char *status_text(cublasStatus_t status)
{
    switch (status) {
#define CASE(_name, _text)                                                                         \
    case CUBLAS_STATUS_##_name:                                                                    \
        return _text;
        STATUSES(CASE)
#undef CASE
    }
    return "unknown status";
}

cublasStatus_t status_property(libraryPropertyType type, int *value)
{
    if (value == NULL || type < MAJOR_VERSION || type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = blas_version[type - MAJOR_VERSION];
    return CUBLAS_STATUS_SUCCESS;
}

int status_version(void)
{
    return 10000 * blas_version[0] + 100 * blas_version[1] + blas_version[2];
}
