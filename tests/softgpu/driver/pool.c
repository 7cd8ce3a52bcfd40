/* SPDX-License-Identifier: BSD-3-Clause
 * Stream-ordered allocation and memory pools. Memory is found at once and given back when the
 * stream gets there; pools only keep their attributes. */
#include "tests/softgpu/driver/memory.h"

#include <stdlib.h>

struct CUmemPoolHandle_st {
    struct device *device;
    cuuint64_t threshold;
    int reuse[3];
    cuuint64_t used, used_high;
    bool dead; /* destroyed by the program, kept for what is still allocated from it */
};

static struct CUmemPoolHandle_st default_pools[MAX_DEVICES];
static CUmemoryPool current_pools[MAX_DEVICES];

static CUmemoryPool default_pool(struct device *device)
{
    default_pools[device->ordinal].device = device;
    return &default_pools[device->ordinal];
}

/* The one that cuMemAllocAsync takes from. */
static CUmemoryPool pool_of(struct device *device)
{
    CUmemoryPool pool = current_pools[device->ordinal];
    return pool != NULL ? pool : default_pool(device);
}

void pool_count(CUmemoryPool pool, int64_t bytes)
{
    pool->used += (cuuint64_t)bytes;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    if (pool->dead && pool->used == 0)
        free(pool);
}

struct release {
    void *p;
};

static CUresult run_free(void *arg, CUcontext context, struct op_result *result)
{
    struct release *f = arg;
    pthread_mutex_lock(&driver_lock);
    memory_free(f->p);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

static CUresult run_alloc(void *arg, CUcontext context, struct op_result *result)
{
    return CUDA_SUCCESS;
}

static const struct op_kind free_kind = {"free", run_free, NULL, CU_GRAPH_NODE_TYPE_MEM_FREE};
/* Ordered for its own sake: in a capture it becomes a node. */
static const struct op_kind alloc_kind = {"allocate", run_alloc, NULL, CU_GRAPH_NODE_TYPE_MEM_ALLOC};

static CUresult alloc_async(CUdeviceptr *p, size_t bytes, CUmemoryPool pool, CUstream stream,
                            bool per_thread)
{
    CUcontext context;
    CUstream s;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    r = stream_resolve(stream, per_thread, &s);
    if (r == CUDA_SUCCESS && pool == NULL)
        pool = pool_of(s->context->device);
    if (r == CUDA_SUCCESS && pool->device != s->context->device)
        r = CUDA_ERROR_NOT_SUPPORTED; /* memory of another device: only by a stream of that one */
    if (r == CUDA_SUCCESS)
        r = memory_allocate(context, MEMORY_ASYNC, bytes, (void **)p);
    if (r == CUDA_SUCCESS) {
        memory_find((void *)(uintptr_t)*p)->pool = pool;
        pool_count(pool, (int64_t)bytes);
    }
    pthread_mutex_unlock(&driver_lock);
    if (r == CUDA_SUCCESS)
        r = stream_submit(stream, per_thread, &alloc_kind, p, sizeof *p);
    return r;
}

static CUresult free_async(CUdeviceptr p, CUstream handle, bool per_thread)
{
    struct release f = {(void *)(uintptr_t)p};
    CUstream stream;
    if (p == 0)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    struct allocation *a = memory_find(f.p);
    if (r == CUDA_SUCCESS && (a == NULL || a->base != f.p || a->ending ||
                              (a->kind != MEMORY_ASYNC && a->kind != MEMORY_DEVICE)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        a->ending = stream->capture == NULL;
    pthread_mutex_unlock(&driver_lock);
    if (r != CUDA_SUCCESS)
        return r;
    softgpuLog("cuda", "free");
    return stream_submit(handle, per_thread, &free_kind, &f, sizeof f);
}

API CUresult cuMemAllocAsync(CUdeviceptr *p, size_t bytes, CUstream stream)
{
    ENTER("cuMemAllocAsync");
    return alloc_async(p, bytes, NULL, stream, false);
}

API CUresult cuMemAllocAsync_ptsz(CUdeviceptr *p, size_t bytes, CUstream stream);
API CUresult cuMemAllocAsync_ptsz(CUdeviceptr *p, size_t bytes, CUstream stream)
{
    ENTER("cuMemAllocAsync_ptsz");
    return alloc_async(p, bytes, NULL, stream, true);
}

API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    ENTER("cuMemAllocFromPoolAsync");
    return alloc_async(p, bytes, pool, stream, false);
}

API CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *p, size_t bytes, CUmemoryPool pool,
                                          CUstream stream);
API CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *p, size_t bytes, CUmemoryPool pool,
                                          CUstream stream)
{
    ENTER("cuMemAllocFromPoolAsync_ptsz");
    return alloc_async(p, bytes, pool, stream, true);
}

API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
    ENTER("cuMemFreeAsync");
    return free_async(p, stream, false);
}

API CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream stream);
API CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream stream)
{
    ENTER("cuMemFreeAsync_ptsz");
    return free_async(p, stream, true);
}

API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    ENTER("cuDeviceGetDefaultMemPool");
    if (pool == NULL || device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = default_pool(&devices[device]);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    ENTER("cuDeviceGetMemPool");
    if (pool == NULL || device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = pool_of(&devices[device]);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    ENTER("cuDeviceSetMemPool");
    if (pool == NULL || device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_VALUE;
    current_pools[device] = pool;
    return CUDA_SUCCESS;
}

/* Pools exist for pinned memory of devices, as cuMemPoolCreate makes them. */
static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type,
                               const void *pool)
{
    if (location == NULL || pool == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return location->id < 0 || location->id >= device_count ? CUDA_ERROR_INVALID_DEVICE
                                                            : CUDA_SUCCESS;
}

API CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                    CUmemAllocationType type)
{
    ENTER("cuMemGetDefaultMemPool");
    CUresult r = check_location(location, type, pool);
    if (r == CUDA_SUCCESS)
        *pool = default_pool(&devices[location->id]);
    return r;
}

API CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    ENTER("cuMemGetMemPool");
    CUresult r = check_location(location, type, pool);
    if (r == CUDA_SUCCESS)
        *pool = pool_of(&devices[location->id]);
    return r;
}

API CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    ENTER("cuMemSetMemPool");
    CUresult r = check_location(location, type, pool);
    if (r == CUDA_SUCCESS && pool->device != &devices[location->id])
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        current_pools[location->id] = pool;
    return r;
}

API CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    ENTER("cuMemPoolCreate");
    if (pool == NULL || props == NULL || props->location.id < 0 ||
        props->location.id >= device_count)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = calloc(1, sizeof **pool);
    if (*pool == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*pool)->device = &devices[props->location.id];
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    ENTER("cuMemPoolDestroy");
    if (pool == NULL || pool == default_pool(pool->device))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (current_pools[pool->device->ordinal] == pool)
        current_pools[pool->device->ordinal] = NULL;
    pool->dead = true;
    pool_count(pool, 0);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
    ENTER("cuMemPoolTrimTo");
    return pool != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    ENTER("cuMemPoolSetAttribute");
    if (pool == NULL || value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = *(cuuint64_t *)value;
    else if ((int)attribute >= 1 && (int)attribute <= 3)
        pool->reuse[attribute - 1] = *(int *)value;
    else if ((attribute != CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH &&
              attribute != CU_MEMPOOL_ATTR_USED_MEM_HIGH) ||
             *(cuuint64_t *)value != 0)
        return CUDA_ERROR_INVALID_VALUE;
    else
        pool->used_high = pool->used;
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    ENTER("cuMemPoolGetAttribute");
    if (pool == NULL || value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((int)attribute >= 1 && (int)attribute <= 3)
        *(int *)value = pool->reuse[attribute - 1];
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        *(cuuint64_t *)value = pool->threshold;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ||
             attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        *(cuuint64_t *)value = pool->used;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH ||
             attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        *(cuuint64_t *)value = pool->used_high;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t n)
{
    ENTER("cuMemPoolSetAccess");
    return pool != NULL && map != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    ENTER("cuMemPoolGetAccess");
    if (pool == NULL || flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

/* Managed memory is plain memory here: hints have nothing to do. */
API CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation location,
                                   unsigned flags, CUstream stream)
{
    ENTER("cuMemPrefetchAsync_v2");
    return CUDA_SUCCESS;
}

API CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr p, size_t bytes, CUmemLocation location,
                                        unsigned flags, CUstream stream);
API CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr p, size_t bytes, CUmemLocation location,
                                        unsigned flags, CUstream stream)
{
    ENTER("cuMemPrefetchAsync_v2_ptsz");
    return CUDA_SUCCESS;
}

API CUresult cuMemAdvise_v2(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    ENTER("cuMemAdvise_v2");
    return CUDA_SUCCESS;
}
