/* SPDX-License-Identifier: BSD-3-Clause
 * Names of error codes, and a description made from the name. */
#include "tests/softgpu/driver/internal.h"

#include <ctype.h>
#include <string.h>

enum { TEXT_BYTES = 96 };

#define ERRORS(_)                                                                                  \
    _(CUDA_SUCCESS)                                                                                \
    _(CUDA_ERROR_INVALID_VALUE)                                                                    \
    _(CUDA_ERROR_OUT_OF_MEMORY)                                                                    \
    _(CUDA_ERROR_NOT_INITIALIZED)                                                                  \
    _(CUDA_ERROR_DEINITIALIZED)                                                                    \
    _(CUDA_ERROR_PROFILER_DISABLED)                                                                \
    _(CUDA_ERROR_PROFILER_NOT_INITIALIZED)                                                         \
    _(CUDA_ERROR_PROFILER_ALREADY_STARTED)                                                         \
    _(CUDA_ERROR_PROFILER_ALREADY_STOPPED)                                                         \
    _(CUDA_ERROR_STUB_LIBRARY)                                                                     \
    _(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER)                                                       \
    _(CUDA_ERROR_DEVICE_UNAVAILABLE)                                                               \
    _(CUDA_ERROR_NO_DEVICE)                                                                        \
    _(CUDA_ERROR_INVALID_DEVICE)                                                                   \
    _(CUDA_ERROR_DEVICE_NOT_LICENSED)                                                              \
    _(CUDA_ERROR_INVALID_IMAGE)                                                                    \
    _(CUDA_ERROR_INVALID_CONTEXT)                                                                  \
    _(CUDA_ERROR_CONTEXT_ALREADY_CURRENT)                                                          \
    _(CUDA_ERROR_MAP_FAILED)                                                                       \
    _(CUDA_ERROR_UNMAP_FAILED)                                                                     \
    _(CUDA_ERROR_ARRAY_IS_MAPPED)                                                                  \
    _(CUDA_ERROR_ALREADY_MAPPED)                                                                   \
    _(CUDA_ERROR_NO_BINARY_FOR_GPU)                                                                \
    _(CUDA_ERROR_ALREADY_ACQUIRED)                                                                 \
    _(CUDA_ERROR_NOT_MAPPED)                                                                       \
    _(CUDA_ERROR_NOT_MAPPED_AS_ARRAY)                                                              \
    _(CUDA_ERROR_NOT_MAPPED_AS_POINTER)                                                            \
    _(CUDA_ERROR_ECC_UNCORRECTABLE)                                                                \
    _(CUDA_ERROR_UNSUPPORTED_LIMIT)                                                                \
    _(CUDA_ERROR_CONTEXT_ALREADY_IN_USE)                                                           \
    _(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)                                                          \
    _(CUDA_ERROR_INVALID_PTX)                                                                      \
    _(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT)                                                         \
    _(CUDA_ERROR_NVLINK_UNCORRECTABLE)                                                             \
    _(CUDA_ERROR_JIT_COMPILER_NOT_FOUND)                                                           \
    _(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)                                                          \
    _(CUDA_ERROR_JIT_COMPILATION_DISABLED)                                                         \
    _(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)                                                        \
    _(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC)                                                         \
    _(CUDA_ERROR_CONTAINED)                                                                        \
    _(CUDA_ERROR_INVALID_SOURCE)                                                                   \
    _(CUDA_ERROR_FILE_NOT_FOUND)                                                                   \
    _(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND)                                                   \
    _(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED)                                                        \
    _(CUDA_ERROR_OPERATING_SYSTEM)                                                                 \
    _(CUDA_ERROR_INVALID_HANDLE)                                                                   \
    _(CUDA_ERROR_ILLEGAL_STATE)                                                                    \
    _(CUDA_ERROR_LOSSY_QUERY)                                                                      \
    _(CUDA_ERROR_NOT_FOUND)                                                                        \
    _(CUDA_ERROR_NOT_READY)                                                                        \
    _(CUDA_ERROR_ILLEGAL_ADDRESS)                                                                  \
    _(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)                                                          \
    _(CUDA_ERROR_LAUNCH_TIMEOUT)                                                                   \
    _(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING)                                                    \
    _(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)                                                      \
    _(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)                                                          \
    _(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE)                                                           \
    _(CUDA_ERROR_CONTEXT_IS_DESTROYED)                                                             \
    _(CUDA_ERROR_ASSERT)                                                                           \
    _(CUDA_ERROR_TOO_MANY_PEERS)                                                                   \
    _(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)                                                   \
    _(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)                                                       \
    _(CUDA_ERROR_HARDWARE_STACK_ERROR)                                                             \
    _(CUDA_ERROR_ILLEGAL_INSTRUCTION)                                                              \
    _(CUDA_ERROR_MISALIGNED_ADDRESS)                                                               \
    _(CUDA_ERROR_INVALID_ADDRESS_SPACE)                                                            \
    _(CUDA_ERROR_INVALID_PC)                                                                       \
    _(CUDA_ERROR_LAUNCH_FAILED)                                                                    \
    _(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)                                                     \
    _(CUDA_ERROR_TENSOR_MEMORY_LEAK)                                                               \
    _(CUDA_ERROR_NOT_PERMITTED)                                                                    \
    _(CUDA_ERROR_NOT_SUPPORTED)                                                                    \
    _(CUDA_ERROR_SYSTEM_NOT_READY)                                                                 \
    _(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)                                                           \
    _(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)                                                   \
    _(CUDA_ERROR_MPS_CONNECTION_FAILED)                                                            \
    _(CUDA_ERROR_MPS_RPC_FAILURE)                                                                  \
    _(CUDA_ERROR_MPS_SERVER_NOT_READY)                                                             \
    _(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED)                                                          \
    _(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED)                                                      \
    _(CUDA_ERROR_MPS_CLIENT_TERMINATED)                                                            \
    _(CUDA_ERROR_CDP_NOT_SUPPORTED)                                                                \
    _(CUDA_ERROR_CDP_VERSION_MISMATCH)                                                             \
    _(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)                                                       \
    _(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)                                                       \
    _(CUDA_ERROR_STREAM_CAPTURE_MERGE)                                                             \
    _(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)                                                         \
    _(CUDA_ERROR_STREAM_CAPTURE_UNJOINED)                                                          \
    _(CUDA_ERROR_STREAM_CAPTURE_ISOLATION)                                                         \
    _(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)                                                          \
    _(CUDA_ERROR_CAPTURED_EVENT)                                                                   \
    _(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)                                                      \
    _(CUDA_ERROR_TIMEOUT)                                                                          \
    _(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)                                                        \
    _(CUDA_ERROR_EXTERNAL_DEVICE)                                                                  \
    _(CUDA_ERROR_INVALID_CLUSTER_SIZE)                                                             \
    _(CUDA_ERROR_FUNCTION_NOT_LOADED)                                                              \
    _(CUDA_ERROR_INVALID_RESOURCE_TYPE)                                                            \
    _(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)                                                   \
    _(CUDA_ERROR_KEY_ROTATION)                                                                     \
    _(CUDA_ERROR_UNKNOWN)                                                                          

static const struct {
    CUresult code;
    const char *name;
} errors[] = {
#define ENTRY(_code) {_code, #_code},
    ERRORS(ENTRY)
#undef ENTRY
};

enum { ERRORS_N = sizeof errors / sizeof errors[0] };

static int find(CUresult code)
{
    for (int i = 0; i < ERRORS_N; i++)
        if (errors[i].code == code)
            return i;
    return -1;
}

API CUresult cuGetErrorName(CUresult code, const char **text)
{
    int i = find(code);
    if (text == NULL || i < 0) {
        if (text != NULL)
            *text = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
    *text = errors[i].name;
    return CUDA_SUCCESS;
}

/* "CUDA_ERROR_ILLEGAL_ADDRESS" is "illegal address". */
API CUresult cuGetErrorString(CUresult code, const char **text)
{
    static char texts[ERRORS_N][TEXT_BYTES];
    int i = find(code);
    if (text == NULL || i < 0) {
        if (text != NULL)
            *text = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&driver_lock);
    if (texts[i][0] == '\0') {
        const char *name = errors[i].name + (code == CUDA_SUCCESS ? 5 : 11);
        for (size_t c = 0; name[c] != '\0' && c < TEXT_BYTES - 1; c++)
            texts[i][c] = name[c] == '_' ? ' ' : (char)tolower((unsigned char)name[c]);
    }
    pthread_mutex_unlock(&driver_lock);
    *text = texts[i];
    return CUDA_SUCCESS;
}
