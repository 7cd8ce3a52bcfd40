/* SPDX-License-Identifier: BSD-3-Clause
 * Contexts: primary and explicit ones, the stack of each thread, limits, peer access, faults. Owns
 * the contexts (kept for the life of the process, so that a stale handle is recognised) and the
 * thread-local stacks. */
#include "tests/softgpu/driver/internal.h"
#include "tests/softgpu/driver/stream.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STACK = 64 };

static _Thread_local struct {
    CUcontext at[MAX_STACK];
    unsigned depth;
} stack;

static uint64_t last_id;
static CUcontext *all;
static int all_n;

int context_count(void)
{
    return all_n;
}

CUcontext context_at(int i)
{
    return all[i];
}

CUcontext context_now(void)
{
    return stack.depth > 0 ? stack.at[stack.depth - 1] : NULL;
}

void context_set_now(CUcontext context)
{
    if (stack.depth == 0)
        stack.depth = 1;
    stack.at[stack.depth - 1] = context;
    if (context == NULL)
        stack.depth--;
}

static CUresult check(CUcontext context)
{
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->dead)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context->device->broken != CUDA_SUCCESS)
        return context->device->broken;
    return context->sticky;
}

CUresult context_check(CUcontext *context_p)
{
    *context_p = context_now();
    return check(*context_p);
}

struct sg_space context_space(CUcontext context)
{
    struct sg_space space = {.n = 0};
    space.arena[space.n++] = context->device->memory;
    space.arena[space.n++] = host_memory;
    for (int i = 0; i < device_count; i++)
        if (context->device->peer[i])
            space.arena[space.n++] = devices[i].memory;
    return space;
}

CUresult context_fault(CUcontext context, CUresult error, const char *message)
{
    pthread_mutex_lock(&driver_lock);
    bool first = context->sticky == CUDA_SUCCESS;
    if (first)
        context->sticky = error;
    pthread_mutex_unlock(&driver_lock);
    if (first && message != NULL)
        driver_message("%s", message);
    return error;
}

static CUcontext make_context(struct device *device, unsigned flags)
{
    CUcontext context = calloc(1, sizeof *context);
    CUcontext *grown = realloc(all, sizeof(CUcontext) * (size_t)(all_n + 1));
    if (grown != NULL)
        all = grown;
    if (context == NULL || grown == NULL) {
        free(context);
        return NULL;
    }
    all[all_n++] = context;
    context->device = device;
    context->flags = flags;
    context->id = ++last_id;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->legacy = stream_make(context, CU_STREAM_DEFAULT, 0, true);
    return context;
}

static void kill_context(CUcontext context)
{
    context->dead = true;
    stream_kill_all(context);
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER("cuDevicePrimaryCtxRetain");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct device *d = &devices[device];
    if (d->broken != CUDA_SUCCESS)
        return d->broken;
    pthread_mutex_lock(&driver_lock);
    if (d->primary == NULL)
        d->primary = make_context(d, d->primary_flags);
    if (d->primary != NULL)
        d->primary_refs++;
    *context = d->primary;
    pthread_mutex_unlock(&driver_lock);
    return *context != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void reset_primary(struct device *d)
{
    CUcontext context = d->primary;
    if (context == NULL)
        return;
    context_drain(context);
    pthread_mutex_lock(&driver_lock);
    kill_context(context);
    d->primary = NULL;
    d->primary_refs = 0;
    memset(d->peer, 0, sizeof d->peer);
    pthread_mutex_unlock(&driver_lock);
    module_release_context(context);
    memory_release_context(context);
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    ENTER("cuDevicePrimaryCtxRelease_v2");
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    struct device *d = &devices[device];
    if (d->primary_refs == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--d->primary_refs == 0)
        reset_primary(d);
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return cuDevicePrimaryCtxRelease_v2(device);
}

API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    ENTER("cuDevicePrimaryCtxReset_v2");
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    reset_primary(&devices[device]);
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return cuDevicePrimaryCtxReset_v2(device);
}

API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    ENTER("cuDevicePrimaryCtxSetFlags_v2");
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    devices[device].primary_flags = flags;
    if (devices[device].primary != NULL)
        devices[device].primary->flags = flags;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    ENTER("cuDevicePrimaryCtxGetState");
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    if (flags != NULL)
        *flags = devices[device].primary_flags;
    if (active != NULL)
        *active = devices[device].primary != NULL;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *context, unsigned flags, CUdevice device)
{
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    if (context == NULL || stack.depth == MAX_STACK)
        return CUDA_ERROR_INVALID_VALUE;
    if (devices[device].broken != CUDA_SUCCESS)
        return devices[device].broken;
    pthread_mutex_lock(&driver_lock);
    *context = make_context(&devices[device], flags);
    pthread_mutex_unlock(&driver_lock);
    if (*context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack.at[stack.depth++] = *context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    ENTER("cuCtxCreate_v2");
    return create(context, flags, device);
}

API CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *params, int n, unsigned flags,
                            CUdevice device)
{
    ENTER("cuCtxCreate_v3");
    return n == 0 ? create(context, flags, device) : CUDA_ERROR_NOT_SUPPORTED;
}

API CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags,
                            CUdevice device)
{
    ENTER("cuCtxCreate_v4");
    /* parameters that ask for nothing are as good as none */
    if (params != NULL && (params->numExecAffinityParams != 0 || params->cigParams != NULL))
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(context, flags, device);
}

API CUresult cuCtxDestroy_v2(CUcontext context)
{
    ENTER("cuCtxDestroy_v2");
    if (context == NULL || context->dead || context == context->device->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    context_drain(context);
    pthread_mutex_lock(&driver_lock);
    kill_context(context);
    pthread_mutex_unlock(&driver_lock);
    module_release_context(context);
    memory_release_context(context);
    if (context_now() == context)
        stack.depth--;
    return CUDA_SUCCESS;
}

API CUresult cuCtxDestroy(CUcontext context)
{
    return cuCtxDestroy_v2(context);
}

API CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER("cuCtxPushCurrent_v2");
    if (context == NULL || stack.depth == MAX_STACK)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack.at[stack.depth++] = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent(CUcontext context)
{
    return cuCtxPushCurrent_v2(context);
}

API CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    ENTER("cuCtxPopCurrent_v2");
    if (stack.depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack.depth--;
    if (context != NULL)
        *context = stack.at[stack.depth];
    return CUDA_SUCCESS;
}

API CUresult cuCtxPopCurrent(CUcontext *context)
{
    return cuCtxPopCurrent_v2(context);
}

API CUresult cuCtxSetCurrent(CUcontext context)
{
    ENTER("cuCtxSetCurrent");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (context == NULL && stack.depth == 0)
        return CUDA_SUCCESS;
    context_set_now(context);
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context)
{
    ENTER("cuCtxGetCurrent");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *context = context_now();
    return CUDA_SUCCESS;
}

/* Queries of the current context or of the one given. */
#define CURRENT(_context)                                                                          \
    CUcontext _context = context_now();                                                            \
    do {                                                                                           \
        if (!driver_ready)                                                                         \
            return CUDA_ERROR_NOT_INITIALIZED;                                                     \
        if (_context == NULL)                                                                      \
            return CUDA_ERROR_INVALID_CONTEXT;                                                     \
    } while (0)

API CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER("cuCtxGetDevice");
    CURRENT(context);
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
    ENTER("cuCtxGetDevice_v2");
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetFlags(unsigned *flags)
{
    ENTER("cuCtxGetFlags");
    CURRENT(context);
    *flags = context->flags;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetFlags(unsigned flags)
{
    ENTER("cuCtxSetFlags");
    CURRENT(context);
    context->flags = flags;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    ENTER("cuCtxGetId");
    if (context == NULL)
        context = context_now();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *id = context->id;
    return context->dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    ENTER("cuCtxGetApiVersion");
    *version = 3020;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
    ENTER("cuCtxSynchronize");
    CUcontext context;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS)
        r = capture_unsafe();
    return r == CUDA_SUCCESS ? context_drain(context) : r;
}

API CUresult cuCtxSynchronize_v2(CUcontext context)
{
    ENTER("cuCtxSynchronize_v2");
    if (context == NULL)
        context = context_now();
    CUresult r = check(context);
    if (r == CUDA_SUCCESS)
        r = capture_unsafe();
    return r == CUDA_SUCCESS ? context_drain(context) : r;
}

API CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    ENTER("cuCtxGetLimit");
    CURRENT(context);
    if (value == NULL || (unsigned)limit >= sizeof context->limits / sizeof context->limits[0])
        return CUDA_ERROR_INVALID_VALUE;
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    ENTER("cuCtxSetLimit");
    CURRENT(context);
    if ((unsigned)limit >= sizeof context->limits / sizeof context->limits[0])
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    ENTER("cuCtxGetCacheConfig");
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    ENTER("cuCtxSetCacheConfig");
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    ENTER("cuCtxGetSharedMemConfig");
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    ENTER("cuCtxSetSharedMemConfig");
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER("cuCtxGetStreamPriorityRange");
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return CUDA_SUCCESS;
}

API CUresult cuCtxResetPersistingL2Cache(void)
{
    ENTER("cuCtxResetPersistingL2Cache");
    return CUDA_SUCCESS;
}

API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    ENTER("cuCtxEnablePeerAccess");
    CURRENT(context);
    if (peer == NULL || peer->dead || flags != 0 || peer->device == context->device)
        return CUDA_ERROR_INVALID_VALUE;
    if (context->device->peer[peer->device->ordinal])
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    context->device->peer[peer->device->ordinal] = true;
    return CUDA_SUCCESS;
}

API CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    ENTER("cuCtxDisablePeerAccess");
    CURRENT(context);
    if (peer == NULL || !context->device->peer[peer->device->ordinal])
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    context->device->peer[peer->device->ordinal] = false;
    return CUDA_SUCCESS;
}
