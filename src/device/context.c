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

static bool read_gpu(const struct real_cuda *cuda, struct gpu *gpu, CUdevice *device_p)
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
    *device_p = device;
    if (cuda->cuDeviceGetName(gpu->name, sizeof gpu->name, device) != CUDA_SUCCESS)
        return false;
    gpu->compute_capability = 10 * major + minor;
    gpu->memory_pools = pools != 0 && cuda->cuMemAllocAsync != NULL && cuda->cuMemFreeAsync != NULL;
    return true;
}

/* The current context and the driver's id of it (0 where the driver has none). */
static const struct real_cuda *read_current(CUcontext *handle, unsigned long long *id)
{
    const struct real_cuda *cuda = real_cuda();
    *handle = NULL;
    *id = 0;
    if (cuda == NULL || cuda->cuCtxGetCurrent(handle) != CUDA_SUCCESS || *handle == NULL)
        return NULL;
    if (cuda->cuCtxGetId != NULL && cuda->cuCtxGetId(*handle, id) != CUDA_SUCCESS)
        return NULL;
    return cuda;
}

static struct context *find(CUcontext handle, unsigned long long id)
{
    struct context *c = state.first;
    while (c != NULL && (c->handle != handle || c->id != id || atomic_load(&c->dead)))
        c = c->next;
    return c;
}

static struct context *find_locked(CUcontext handle, unsigned long long id)
{
    pthread_mutex_lock(&state.lock);
    struct context *context = find(handle, id);
    pthread_mutex_unlock(&state.lock);
    return context;
}

struct context *context_known(void)
{
    CUcontext handle;
    unsigned long long id;
    pthread_mutex_lock(&state.lock);
    const bool any = state.first != NULL;
    pthread_mutex_unlock(&state.lock);
    /* Where nothing is converted there are no records, and no call is made. */
    return any && read_current(&handle, &id) != NULL ? find_locked(handle, id) : NULL;
}

struct context *context_current(void)
{
    CUcontext handle;
    unsigned long long id;
    const struct real_cuda *cuda = read_current(&handle, &id);
    if (cuda == NULL)
        return NULL;
    struct context *context = find_locked(handle, id);
    if (context != NULL)
        return context;
    struct context *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return NULL;
    fresh->handle = handle;
    fresh->id = id;
    fresh->cuda = cuda;
    if (!read_gpu(cuda, &fresh->gpu, &fresh->device) ||
        pthread_mutex_init(&fresh->lock, NULL) != 0) {
        free(fresh);
        return NULL;
    }
    pthread_mutex_lock(&state.lock);
    context = find(handle, id);
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
        LOG_INFO("%s with compute capability %d.%d, %d multiprocessors", context->gpu.name,
                 context->gpu.compute_capability / 10, context->gpu.compute_capability % 10,
                 context->gpu.multiprocessors);
    }
    return context;
}

void context_each(void (*visit)(struct context *context, void *arg), void *arg)
{
    pthread_mutex_lock(&state.lock);
    struct context *c = state.first;
    pthread_mutex_unlock(&state.lock);
    for (; c != NULL; c = c->next) /* records are put in front and stay */
        if (!atomic_load(&c->dead))
            visit(c, arg);
}

void context_forget(CUcontext handle)
{
    pthread_mutex_lock(&state.lock);
    for (struct context *c = state.first; c != NULL; c = c->next)
        if (c->handle == handle)
            atomic_store(&c->dead, true);
    pthread_mutex_unlock(&state.lock);
}

bool context_on_device(CUdevice device)
{
    pthread_mutex_lock(&state.lock);
    const struct context *c = state.first;
    while (c != NULL && (c->device != device || atomic_load(&c->dead)))
        c = c->next;
    pthread_mutex_unlock(&state.lock);
    return c != NULL;
}

enum context_entry context_enter(const struct context *context)
{
    CUcontext handle = NULL;
    if (atomic_load_explicit(&context->dead, memory_order_relaxed) ||
        context->cuda->cuCtxGetCurrent(&handle) != CUDA_SUCCESS)
        return CONTEXT_OTHER;
    if (handle == context->handle)
        return CONTEXT_CURRENT;
    if (handle != NULL || context->cuda->cuCtxPushCurrent_v2(context->handle) != CUDA_SUCCESS)
        return CONTEXT_OTHER;
    return CONTEXT_PUSHED;
}

void context_leave(const struct context *context, enum context_entry entry)
{
    CUcontext popped;
    if (entry == CONTEXT_PUSHED)
        context->cuda->cuCtxPopCurrent_v2(&popped);
}

uint64_t context_capture_id(const struct context *context, CUstream stream)
{
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    if (context->cuda->cuStreamGetCaptureInfo(stream, &status, &id) != CUDA_SUCCESS)
        return CAPTURE_UNKNOWN;
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        return 0;
    return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? (uint64_t)id : CAPTURE_UNKNOWN;
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
