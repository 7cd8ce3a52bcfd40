/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the list of context records, which only grows. */
#include "config.h"
#include "device/context.h"
#include "base/log.h"

#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    struct context *first;
} state = {PTHREAD_MUTEX_INITIALIZER, NULL};

static bool read_gpu(const struct real_cuda *cuda, struct gpu *gpu)
{
    CUdevice device;
    int major, minor, pools = 0;
    if (cuda->cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        cuda->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
            CUDA_SUCCESS ||
        cuda->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) !=
            CUDA_SUCCESS ||
        cuda->cuDeviceGetAttribute(&gpu->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                   device) != CUDA_SUCCESS)
        return false;
    /* An older driver does not know this attribute: then there are no pools. */
    if (cuda->cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device) !=
        CUDA_SUCCESS)
        pools = 0;
    gpu->compute_capability = 10 * major + minor;
    gpu->memory_pools = pools != 0 && cuda->cuMemAllocAsync != NULL && cuda->cuMemFreeAsync != NULL;
    return true;
}

static struct context *find(CUcontext handle)
{
    struct context *c = state.first;
    while (c != NULL && c->handle != handle)
        c = c->next;
    return c;
}

struct context *context_current(void)
{
    const struct real_cuda *cuda = real_cuda();
    CUcontext handle = NULL;
    if (cuda == NULL || cuda->cuCtxGetCurrent(&handle) != CUDA_SUCCESS || handle == NULL)
        return NULL;
    pthread_mutex_lock(&state.lock);
    struct context *context = find(handle);
    pthread_mutex_unlock(&state.lock);
    if (context != NULL)
        return context;
    struct context *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return NULL;
    fresh->handle = handle;
    fresh->cuda = cuda;
    if (!read_gpu(cuda, &fresh->gpu) || pthread_mutex_init(&fresh->lock, NULL) != 0) {
        free(fresh);
        return NULL;
    }
    pthread_mutex_lock(&state.lock);
    context = find(handle);
    if (context == NULL) {
        fresh->next = state.first;
        state.first = fresh;
        context = fresh;
    }
    pthread_mutex_unlock(&state.lock);
    if (context != fresh) {
        pthread_mutex_destroy(&fresh->lock);
        free(fresh);
    } else {
        LOG_INFO("GPU with compute capability %d.%d, %d multiprocessors",
                 context->gpu.compute_capability / 10, context->gpu.compute_capability % 10,
                 context->gpu.multiprocessors);
    }
    return context;
}

bool context_is_current(const struct context *context)
{
    CUcontext handle = NULL;
    return context->cuda->cuCtxGetCurrent(&handle) == CUDA_SUCCESS && handle == context->handle;
}

CUstreamCaptureMode context_relax_capture(const struct context *context)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (context->cuda->cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        mode = CU_STREAM_CAPTURE_MODE_GLOBAL; /* the default of every thread */
    return mode;
}

void context_restore_capture(const struct context *context, CUstreamCaptureMode mode)
{
    context->cuda->cuThreadExchangeStreamCaptureMode(&mode);
}
