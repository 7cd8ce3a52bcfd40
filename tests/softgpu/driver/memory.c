/* SPDX-License-Identifier: BSD-3-Clause
 * Allocation: device, pinned, managed and stream-ordered memory, pools, registered host memory and
 * pointer attributes. Owns the list of allocations (driver_lock guards it) and reports what is left
 * at exit when SOFTGPU_LEAKS=1. */
#include "tests/softgpu/driver/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Buffer ids of module variables lie apart from those of allocations. */
#define VARIABLE_IDS ((uint64_t)1 << 48)

static struct allocation *allocations;
static uint64_t live_bytes, last_buffer_id;

struct allocation *memory_find(const void *p)
{
    for (struct allocation *a = allocations; a != NULL; a = a->next)
        if ((uintptr_t)p >= (uintptr_t)a->base && (uintptr_t)p - (uintptr_t)a->base < a->bytes)
            return a;
    return NULL;
}

bool memory_is_host(const void *p)
{
    for (int i = 0; i < device_count; i++)
        if (sg_arena_owns(devices[i].memory, (uintptr_t)p))
            return false;
    return !virtual_owns(p);
}

bool memory_is_pageable(const void *p)
{
    return memory_is_host(p) && memory_find(p) == NULL;
}

bool memory_device_range(const void *p, size_t bytes)
{
    struct sg_range range;
    for (int i = 0; i < device_count; i++)
        if (sg_arena_owns(devices[i].memory, (uintptr_t)p))
            return bytes == 0 || (sg_arena_find(devices[i].memory, (uintptr_t)p, &range) &&
                                  (uintptr_t)p - range.base + bytes <= range.bytes);
    return bytes == 0 || !virtual_owns(p); /* host memory is the host's matter */
}

uint64_t memory_new_id(void)
{
    return ++last_buffer_id;
}

void memory_count(size_t bytes)
{
    live_bytes += bytes;
    count_add("alloc.calls", 1);
    count_add("alloc.bytes", bytes);
    count_max("alloc.peak", live_bytes);
    softgpuLog("cuda", "allocate %zu bytes", bytes);
}

void memory_uncount(size_t bytes)
{
    live_bytes -= bytes;
}

static void link_allocation(struct allocation *a)
{
    a->buffer_id = memory_new_id();
    a->next = allocations;
    allocations = a;
    if (a->kind == MEMORY_REGISTERED || a->kind == MEMORY_IMPORTED)
        return;
    memory_count(a->bytes);
}

/* Fresh memory is poisoned (engine/mem.h). SOFTGPU_POISON=0 clears it instead, for programs that
 * count on the zeros which a GPU's driver happens to hand out. */
bool memory_wants_zeros(void)
{
    const char *poison = getenv("SOFTGPU_POISON");
    return poison != NULL && strcmp(poison, "0") == 0;
}

CUresult memory_allocate(CUcontext context, enum memory_kind kind, size_t bytes, void **p)
{
    if (bytes == 0 || p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sg_arena *arena =
        kind == MEMORY_DEVICE || kind == MEMORY_ASYNC ? context->device->memory : host_memory;
    struct allocation *a = calloc(1, sizeof *a);
    void *base = a != NULL ? sg_arena_alloc(arena, bytes) : NULL;
    if (base == NULL) {
        free(a);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (memory_wants_zeros())
        memset(base, 0, bytes);
    *a = (struct allocation){.base = base, .bytes = bytes, .kind = kind, .context = context,
                             .device = context->device, .arena = arena};
    link_allocation(a);
    *p = base;
    return CUDA_SUCCESS;
}

CUresult memory_free(void *p)
{
    for (struct allocation **link = &allocations; *link != NULL; link = &(*link)->next) {
        struct allocation *a = *link;
        if (a->base != p)
            continue;
        *link = a->next;
        if (a->kind == MEMORY_REGISTERED) {
            sg_arena_disown(host_memory, p);
        } else if (a->kind == MEMORY_IMPORTED) {
            sg_arena_disown(a->arena, p);
            ipc_unmap(p, a->bytes);
        } else {
            memory_uncount(a->bytes);
            if (a->of_graph)
                graph_memory_count(a->device, -(int64_t)a->bytes);
            if (a->pool != NULL)
                pool_count(a->pool, -(int64_t)a->bytes);
            sg_arena_free(a->arena, p);
        }
        free(a);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

bool memory_in_shared_page(uintptr_t page)
{
    const uintptr_t end = page + (uintptr_t)sysconf(_SC_PAGESIZE);
    for (const struct allocation *a = allocations; a != NULL; a = a->next)
        if (a->shared && (uintptr_t)a->base < end && page < (uintptr_t)a->base + a->bytes)
            return true;
    return false;
}

CUresult memory_import(CUcontext context, struct device *device, void *p, size_t bytes, int process,
                       uint64_t id)
{
    struct allocation *a = calloc(1, sizeof *a);
    if (a == NULL || sg_arena_adopt(device->memory, p, bytes) != 0) {
        free(a);
        return CUDA_ERROR_MAP_FAILED;
    }
    *a = (struct allocation){.base = p,
                             .bytes = bytes,
                             .kind = MEMORY_IMPORTED,
                             .context = context,
                             .device = device,
                             .arena = device->memory,
                             .process = process,
                             .remote_id = id,
                             .opened = 1};
    link_allocation(a);
    return CUDA_SUCCESS;
}

struct allocation *memory_imported(CUcontext context, int process, uint64_t id)
{
    for (struct allocation *a = allocations; a != NULL; a = a->next)
        if (a->kind == MEMORY_IMPORTED && a->context == context && a->process == process &&
            a->remote_id == id)
            return a;
    return NULL;
}

void memory_release_context(CUcontext context)
{
    pthread_mutex_lock(&driver_lock);
    for (struct allocation *a = allocations, *next; a != NULL; a = next) {
        next = a->next;
        if (a->context == context)
            memory_free(a->base);
    }
    pthread_mutex_unlock(&driver_lock);
}

static CUresult allocate_now(enum memory_kind kind, size_t bytes, void **p)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS)
        r = capture_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    r = memory_allocate(context, kind, bytes, p);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* Frees after all work of the context is done, as cuMemFree and cuMemFreeHost do. */
static CUresult free_now(void *p, bool host)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS || p == NULL)
        return r;
    if ((r = capture_unsafe()) != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find(p);
    bool ok = a != NULL && a->base == p && a->kind != MEMORY_REGISTERED &&
              a->kind != MEMORY_IMPORTED &&
              host == (a->kind == MEMORY_PINNED);
    CUcontext owner = ok ? a->context : NULL;
    pthread_mutex_unlock(&driver_lock);
    if (!ok)
        return CUDA_ERROR_INVALID_VALUE;
    r = context_drain(owner);
    pthread_mutex_lock(&driver_lock);
    memory_free(p);
    pthread_mutex_unlock(&driver_lock);
    softgpuLog("cuda", "free");
    return r;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
    ENTER("cuMemAlloc_v2");
    return allocate_now(MEMORY_DEVICE, bytes, (void **)p);
}

API CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height,
                                unsigned element_bytes)
{
    ENTER("cuMemAllocPitch_v2");
    if (pitch == NULL || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    *pitch = (width + 511) / 512 * 512;
    return allocate_now(MEMORY_DEVICE, *pitch * height, (void **)p);
}

API CUresult cuMemFree_v2(CUdeviceptr p)
{
    ENTER("cuMemFree_v2");
    return free_now((void *)(uintptr_t)p, false);
}

API CUresult cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned flags)
{
    ENTER("cuMemAllocManaged");
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate_now(MEMORY_MANAGED, bytes, (void **)p);
}

API CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
    ENTER("cuMemHostAlloc");
    return flags > 7 ? CUDA_ERROR_INVALID_VALUE : allocate_now(MEMORY_PINNED, bytes, p);
}

API CUresult cuMemAllocHost_v2(void **p, size_t bytes)
{
    ENTER("cuMemAllocHost_v2");
    return allocate_now(MEMORY_PINNED, bytes, p);
}

API CUresult cuMemFreeHost(void *p)
{
    ENTER("cuMemFreeHost");
    return free_now(p, true);
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *p, unsigned flags)
{
    ENTER("cuMemHostGetDevicePointer_v2");
    pthread_mutex_lock(&driver_lock);
    bool ok = device != NULL && flags == 0 && memory_find(p) != NULL;
    pthread_mutex_unlock(&driver_lock);
    if (!ok)
        return CUDA_ERROR_INVALID_VALUE;
    *device = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

API CUresult cuMemHostGetFlags(unsigned *flags, void *p)
{
    ENTER("cuMemHostGetFlags");
    pthread_mutex_lock(&driver_lock);
    bool ok = flags != NULL && memory_find(p) != NULL;
    pthread_mutex_unlock(&driver_lock);
    if (ok)
        *flags = CU_MEMHOSTALLOC_DEVICEMAP;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags)
{
    ENTER("cuMemHostRegister_v2");
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (p == NULL || bytes == 0 || flags > 15)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (!memory_is_host(p) || memory_find(p) != NULL || sg_arena_adopt(host_memory, p, bytes) != 0) {
        r = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    } else {
        struct allocation *a = calloc(1, sizeof *a);
        if (a == NULL)
            abort();
        *a = (struct allocation){.base = p, .bytes = bytes, .kind = MEMORY_REGISTERED,
                                 .context = context};
        link_allocation(a);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuMemHostUnregister(void *p)
{
    ENTER("cuMemHostUnregister");
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find(p);
    CUresult r = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (a != NULL && a->kind == MEMORY_REGISTERED && a->base == p)
        r = memory_free(p);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    ENTER("cuMemGetInfo_v2");
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (free_bytes == NULL || total == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    /* What cuMemCreate took lies outside of the arena, whose capacity is less by that much. */
    const struct sg_arena *arena = context->device->memory;
    *total = (size_t)context->device->model.memory_bytes;
    *free_bytes = (size_t)(sg_arena_capacity(arena) - sg_arena_used(arena));
    return CUDA_SUCCESS;
}

/* As memory_find, but finds mappings and variables of modules too, which are described in *room. */
static struct allocation *find_any(const void *p, struct allocation *room)
{
    struct allocation *a = memory_find(p);
    struct sg_range range;
    if (a == NULL && virtual_find(p, room))
        return room;
    for (int i = 0; i < device_count && a == NULL; i++) {
        if (!sg_arena_find(devices[i].memory, (uintptr_t)p, &range))
            continue;
        *room = (struct allocation){.base = (void *)range.base,
                                    .bytes = range.bytes,
                                    .kind = MEMORY_DEVICE,
                                    .context = module_context(&devices[i]),
                                    .device = &devices[i],
                                    .arena = devices[i].memory,
                                    .buffer_id = VARIABLE_IDS + range.serial};
        if (room->context != NULL)
            a = room;
    }
    return a;
}

API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
    struct allocation variable;
    ENTER("cuMemGetAddressRange_v2");
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = find_any((void *)(uintptr_t)p, &variable);
    if (a != NULL && base != NULL)
        *base = (CUdeviceptr)(uintptr_t)a->base;
    if (a != NULL && bytes != NULL)
        *bytes = a->bytes;
    pthread_mutex_unlock(&driver_lock);
    return a != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult attribute_of(CUpointer_attribute attribute, void *data, const void *p)
{
    struct allocation variable, *a = find_any(p, &variable);
    if (a == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    bool device =
        a->kind == MEMORY_DEVICE || a->kind == MEMORY_ASYNC || a->kind == MEMORY_IMPORTED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = a->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data =
            device || a->kind == MEMORY_MANAGED ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = (CUdeviceptr)(uintptr_t)p;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (device)
            return CUDA_ERROR_INVALID_VALUE;
        *(const void **)data = p;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = a->buffer_id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = a->kind == MEMORY_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = (a->device != NULL ? a->device : a->context->device)->ordinal;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = (CUdeviceptr)(uintptr_t)a->base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = a->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)data = a->kind == MEMORY_DEVICE && memory_find(p) != NULL;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(unsigned *)data = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

API CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr p)
{
    ENTER("cuPointerGetAttribute");
    if (data == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = attribute_of(attribute, data, (void *)(uintptr_t)p);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* Unlike the single form this answers an unknown pointer with zeros. */
API CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *attributes, void **data,
                                    CUdeviceptr p)
{
    ENTER("cuPointerGetAttributes");
    pthread_mutex_lock(&driver_lock);
    for (unsigned i = 0; i < n; i++) {
        if (attribute_of(attributes[i], data[i], (void *)(uintptr_t)p) == CUDA_SUCCESS)
            continue;
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            *(uint64_t *)data[i] = 0;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *(int *)data[i] = -2;
            break;
        default:
            *(unsigned *)data[i] = 0;
            break;
        }
    }
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr p)
{
    ENTER("cuPointerSetAttribute");
    return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void __attribute__((destructor)) report_leaks(void)
{
    const char *wanted = getenv("SOFTGPU_LEAKS");
    if (wanted == NULL || wanted[0] != '1')
        return;
    size_t n = 0, bytes = 0;
    physical_leaks(&n, &bytes);
    for (struct allocation *a = allocations; a != NULL; a = a->next)
        if (a->arena != NULL && a->kind != MEMORY_IMPORTED) {
            n++;
            bytes += a->bytes;
        }
    if (n > 0)
        driver_message("%zu allocation%s of %zu bytes %s not freed", n, n == 1 ? "" : "s", bytes,
                       n == 1 ? "was" : "were");
    else
        driver_message("no leaks: every allocation was freed");
}
