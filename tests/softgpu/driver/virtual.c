/* SPDX-License-Identifier: BSD-3-Clause
 * Reserved addresses, what is mapped to them and which devices may access it. Neighbouring mappings
 * that a device may access are one range for the checks of the engine, so that an array may reach
 * over several. Nothing is changed while an operation runs; work that is still queued when its
 * memory goes faults, as on a GPU. Owns the list of reservations, whose entries stay, so that it
 * can be read without the lock. */
#include "tests/softgpu/driver/virtual.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct mapping {
    uintptr_t base;
    size_t bytes;
    struct physical *memory;
    uint64_t buffer_id;
    bool access[MAX_DEVICES];
    struct mapping *next; /* in order of addresses */
};

/* Addresses that a device may access, as its arena knows them. */
struct open_range {
    uintptr_t base;
    int device;
    struct open_range *next;
};

struct reservation {
    uintptr_t base;
    _Atomic size_t bytes; /* 0: freed */
    struct mapping *mappings;
    struct open_range *open;
    struct reservation *next;
};

static _Atomic(struct reservation *) all;

static struct reservation *find(uintptr_t p)
{
    for (struct reservation *r = atomic_load(&all); r != NULL; r = r->next)
        if (p - r->base < r->bytes)
            return r;
    return NULL;
}

bool virtual_owns(const void *p)
{
    return find((uintptr_t)p) != NULL;
}

static struct mapping *find_mapping(uintptr_t p)
{
    const struct reservation *r = find(p);
    for (struct mapping *m = r != NULL ? r->mappings : NULL; m != NULL; m = m->next)
        if (p - m->base < m->bytes)
            return m;
    return NULL;
}

bool virtual_find(const void *p, struct allocation *found)
{
    const struct mapping *m = find_mapping((uintptr_t)p);
    if (m == NULL)
        return false;
    *found = (struct allocation){.base = (void *)m->base,
                                 .bytes = m->bytes,
                                 .kind = MEMORY_DEVICE,
                                 .device = m->memory->device,
                                 .arena = m->memory->device->memory,
                                 .buffer_id = m->buffer_id};
    return true;
}

/* ---- reservations */
static void *reserve(void *hint, size_t bytes)
{
    void *p = mmap(hint, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

/* Aligned addresses; at the hint if they are free. 0: none. */
static uintptr_t reserve_aligned(uintptr_t hint, size_t bytes, size_t alignment)
{
    char *p = hint % alignment == 0 ? reserve((void *)hint, bytes) : NULL;
    if (p != NULL && (uintptr_t)p % alignment == 0)
        return (uintptr_t)p;
    if (p != NULL)
        munmap(p, bytes);
    p = reserve(NULL, bytes + alignment);
    if (p == NULL)
        return 0;
    const size_t before = (alignment - (uintptr_t)p % alignment) % alignment;
    if (before > 0)
        munmap(p, before);
    if (before < alignment)
        munmap(p + before + bytes, alignment - before);
    return (uintptr_t)p + before;
}

API CUresult cuMemAddressReserve(CUdeviceptr *p, size_t bytes, size_t alignment, CUdeviceptr hint,
                                 unsigned long long flags)
{
    ENTER("cuMemAddressReserve");
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (p == NULL || bytes == 0 || bytes % page != 0 || hint % page != 0 ||
        (alignment & (alignment - 1)) != 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation *r = calloc(1, sizeof *r);
    uintptr_t base =
        reserve_aligned(hint, bytes, alignment > GRANULARITY ? alignment : GRANULARITY);
    if (r == NULL || base == 0) {
        free(r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r->base = base;
    r->bytes = bytes;
    pthread_mutex_lock(&driver_lock);
    r->next = atomic_load(&all);
    atomic_store(&all, r);
    pthread_mutex_unlock(&driver_lock);
    *p = base;
    return CUDA_SUCCESS;
}

API CUresult cuMemAddressFree(CUdeviceptr p, size_t bytes)
{
    ENTER("cuMemAddressFree");
    pthread_mutex_lock(&driver_lock);
    struct reservation *r = find(p);
    const bool ok = r != NULL && r->base == p && r->bytes == bytes && r->mappings == NULL;
    if (ok) {
        r->bytes = 0;
        munmap((void *)r->base, bytes);
    }
    pthread_mutex_unlock(&driver_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- access */

/* Tells the devices' arenas anew what they may access in a reservation. Nothing runs meanwhile. */
static void open_ranges(struct reservation *r)
{
    for (struct open_range *o = r->open, *next; o != NULL; o = next) {
        next = o->next;
        sg_arena_disown(devices[o->device].memory, (void *)o->base);
        free(o);
    }
    r->open = NULL;
    for (int d = 0; d < device_count; d++)
        for (const struct mapping *m = r->mappings, *end; m != NULL; m = end) {
            size_t bytes = 0;
            for (end = m; end != NULL && end->access[d] && end->base == m->base + bytes;
                 end = end->next)
                bytes += end->bytes;
            if (bytes == 0) {
                end = m->next;
                continue;
            }
            struct open_range *o = calloc(1, sizeof *o);
            if (o == NULL || sg_arena_adopt(devices[d].memory, (void *)m->base, bytes) != 0)
                abort();
            *o = (struct open_range){m->base, d, r->open};
            r->open = o;
        }
}

/* The first mapping of a range that begins with one, ends with one and has no gap; NULL. */
static struct mapping *mapped_range(struct reservation *r, uintptr_t p, size_t bytes)
{
    struct mapping *first = r != NULL ? r->mappings : NULL;
    while (first != NULL && first->base != p)
        first = first->next;
    size_t covered = 0;
    for (const struct mapping *m = first; m != NULL && covered < bytes && m->base == p + covered;
         m = m->next)
        covered += m->bytes;
    return bytes > 0 && covered == bytes ? first : NULL;
}

static CUresult check_access(const CUmemAccessDesc *desc)
{
    if (desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (desc->location.id < 0 || desc->location.id >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    if (desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return CUDA_ERROR_NOT_SUPPORTED; /* the engine's checks do not know it */
    return desc->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                   desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemSetAccess(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *desc, size_t n)
{
    ENTER("cuMemSetAccess");
    CUresult r = desc == NULL || n == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = check_access(&desc[i]);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    wait_until_idle();
    struct reservation *reservation = find(p);
    struct mapping *first = mapped_range(reservation, p, bytes);
    for (struct mapping *m = first; m != NULL && m->base - p < bytes; m = m->next)
        for (size_t i = 0; i < n; i++)
            m->access[desc[i].location.id] = desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (first != NULL)
        open_ranges(reservation);
    pthread_mutex_unlock(&driver_lock);
    return first != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr p)
{
    ENTER("cuMemGetAccess");
    if (flags == NULL || location == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (location->id < 0 || location->id >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&driver_lock);
    const struct mapping *m = find_mapping(p);
    if (m != NULL)
        *flags = m->access[location->id] ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                         : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    pthread_mutex_unlock(&driver_lock);
    return m != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- mappings */
static bool is_free(const struct reservation *r, uintptr_t p, size_t bytes)
{
    if (r == NULL || bytes > r->bytes - (p - r->base))
        return false;
    for (const struct mapping *m = r->mappings; m != NULL; m = m->next)
        if (m->base < p + bytes && p < m->base + m->bytes)
            return false;
    return true;
}

API CUresult cuMemMap(CUdeviceptr p, size_t bytes, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    ENTER("cuMemMap");
    if (offset != 0 || flags != 0 || bytes == 0 || bytes % GRANULARITY != 0 || p % GRANULARITY != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    struct reservation *r = find(p);
    struct physical *memory = physical_find(handle);
    struct mapping *m = calloc(1, sizeof *m);
    if (memory == NULL || bytes > memory->bytes || !is_free(r, p, bytes))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (m == NULL || mmap((void *)p, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                               memory->fd, 0) == MAP_FAILED)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        struct mapping **link = &r->mappings;
        while (*link != NULL && (*link)->base < p)
            link = &(*link)->next;
        *m = (struct mapping){.base = p,
                              .bytes = bytes,
                              .memory = memory,
                              .buffer_id = memory_new_id(),
                              .next = *link};
        *link = m;
        memory->mappings++;
    } else {
        free(m);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

API CUresult cuMemUnmap(CUdeviceptr p, size_t bytes)
{
    ENTER("cuMemUnmap");
    pthread_mutex_lock(&driver_lock);
    wait_until_idle();
    struct reservation *r = find(p);
    struct mapping *first = mapped_range(r, p, bytes), *gone = first;
    if (first != NULL) {
        struct mapping **link = &r->mappings;
        while (*link != first)
            link = &(*link)->next;
        struct mapping *last = first;
        while (last->base + last->bytes != p + bytes)
            last = last->next;
        *link = last->next;
        last->next = NULL;
        open_ranges(r);
        mmap((void *)p, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0);
    }
    while (gone != NULL) {
        struct mapping *next = gone->next;
        gone->memory->mappings--;
        physical_settle(gone->memory);
        free(gone);
        gone = next;
    }
    pthread_mutex_unlock(&driver_lock);
    return first != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    ENTER("cuMemRetainAllocationHandle");
    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    const struct mapping *m = find_mapping((uintptr_t)address);
    if (m != NULL) {
        m->memory->refs++;
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)m->memory;
    }
    pthread_mutex_unlock(&driver_lock);
    return m != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
