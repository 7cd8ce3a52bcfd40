/* SPDX-License-Identifier: BSD-3-Clause
 * Memory of a device that has no address yet: a file in memory that can be mapped at several
 * addresses, and in other processes by its file descriptor. It counts as used memory of the device.
 * Owns the list of handles. */
#include "tests/softgpu/driver/virtual.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names the file, so that an imported one can be told from any other file, and its device. */
#define FILE_NAME "softgpu-memory-of-device-"

static struct physical *all;

struct physical *physical_find(CUmemGenericAllocationHandle handle)
{
    for (struct physical *p = all; p != NULL; p = p->next)
        if ((uintptr_t)p == handle && p->refs > 0)
            return p;
    return NULL;
}

void physical_settle(struct physical *memory)
{
    if (memory->refs > 0 || memory->mappings > 0)
        return;
    for (struct physical **link = &all; *link != NULL; link = &(*link)->next)
        if (*link == memory) {
            *link = memory->next;
            break;
        }
    if (!memory->imported) {
        struct sg_arena *arena = memory->device->memory;
        sg_arena_set_capacity(arena, sg_arena_capacity(arena) + memory->bytes);
        memory_uncount(memory->bytes);
    }
    close(memory->fd);
    free(memory);
}

void physical_leaks(size_t *n_p, size_t *bytes_p)
{
    for (const struct physical *p = all; p != NULL; p = p->next)
        if (!p->imported) {
            ++*n_p;
            *bytes_p += p->bytes;
        }
}

static CUresult check_prop(const CUmemAllocationProp *prop)
{
    if (prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED; /* as the device's attributes say */
    if (prop->location.id < 0 || prop->location.id >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    if (prop->requestedHandleTypes != 0 &&
        prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
}

/* A file of fresh memory, which is poisoned like all other. -1: none. */
static int make_file(const struct device *device, size_t bytes)
{
    static char poison[1 << 16];
    char name[64];
    snprintf(name, sizeof name, FILE_NAME "%d", device->ordinal);
    memset(poison, memory_wants_zeros() ? 0 : 0xff, sizeof poison);
    int fd = memfd_create(name, MFD_CLOEXEC);
    for (size_t done = 0; fd >= 0 && done < bytes;) {
        ssize_t n = write(fd, poison, sizeof poison);
        if (n > 0) {
            done += (size_t)n;
        } else {
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

/* With the lock held; takes over fd. */
static CUresult add(struct device *device, const CUmemAllocationProp *prop, size_t bytes, int fd,
                    bool imported, CUmemGenericAllocationHandle *handle)
{
    struct physical *memory = calloc(1, sizeof *memory);
    if (memory == NULL) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *memory = (struct physical){.device = device,
                                .prop = *prop,
                                .bytes = bytes,
                                .fd = fd,
                                .imported = imported,
                                .refs = 1,
                                .next = all};
    all = memory;
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                         const CUmemAllocationProp *prop, unsigned long long flags)
{
    ENTER("cuMemCreate");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult r = check_prop(prop);
    if (r != CUDA_SUCCESS)
        return r;
    if (handle == NULL || flags != 0 || bytes == 0 || bytes % GRANULARITY != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct device *device = &devices[prop->location.id];
    struct sg_arena *arena = device->memory;
    pthread_mutex_lock(&driver_lock);
    int fd = -1;
    if (bytes <= sg_arena_capacity(arena) - sg_arena_used(arena))
        fd = make_file(device, bytes);
    r = fd >= 0 ? add(device, prop, bytes, fd, false, handle) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        sg_arena_set_capacity(arena, sg_arena_capacity(arena) - bytes);
        memory_count(bytes);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    ENTER("cuMemRelease");
    pthread_mutex_lock(&driver_lock);
    struct physical *memory = physical_find(handle);
    if (memory != NULL) {
        memory->refs--;
        physical_settle(memory);
    }
    pthread_mutex_unlock(&driver_lock);
    return memory != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                           CUmemAllocationGranularity_flags option)
{
    ENTER("cuMemGetAllocationGranularity");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (granularity == NULL || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                                option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = check_prop(prop);
    if (r == CUDA_SUCCESS)
        *granularity = GRANULARITY;
    return r;
}

API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                    CUmemGenericAllocationHandle handle)
{
    ENTER("cuMemGetAllocationPropertiesFromHandle");
    pthread_mutex_lock(&driver_lock);
    const struct physical *memory = prop != NULL ? physical_find(handle) : NULL;
    if (memory != NULL)
        *prop = memory->prop;
    pthread_mutex_unlock(&driver_lock);
    return memory != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    ENTER("cuMemExportToShareableHandle");
    if (shareable == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    int fd = -1;
    pthread_mutex_lock(&driver_lock);
    const struct physical *memory = physical_find(handle);
    if (memory != NULL && memory->prop.requestedHandleTypes == type)
        fd = fcntl(memory->fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&driver_lock);
    if (fd < 0)
        return CUDA_ERROR_INVALID_VALUE;
    *(int *)shareable = fd;
    return CUDA_SUCCESS;
}

/* The device that the file of some process was made for; NULL: it is another file. */
static struct device *device_of_file(int fd)
{
    static const char begin[] = "/memfd:" FILE_NAME;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return NULL;
    path[n] = '\0';
    if (strncmp(path, begin, sizeof begin - 1) != 0)
        return NULL;
    int ordinal = atoi(path + sizeof begin - 1);
    return ordinal < device_count ? &devices[ordinal] : NULL;
}

API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                            CUmemAllocationHandleType type)
{
    ENTER("cuMemImportFromShareableHandle");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct stat file;
    int fd = fcntl((int)(intptr_t)shareable, F_DUPFD_CLOEXEC, 0);
    struct device *device = fd >= 0 ? device_of_file(fd) : NULL;
    if (device == NULL || fstat(fd, &file) != 0) {
        if (fd >= 0)
            close(fd);
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = type;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device->ordinal;
    pthread_mutex_lock(&driver_lock);
    CUresult r = add(device, &prop, (size_t)file.st_size, fd, true, handle);
    pthread_mutex_unlock(&driver_lock);
    return r;
}
