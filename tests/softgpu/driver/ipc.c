/* SPDX-License-Identifier: BSD-3-Clause
 * Memory of one process in another. When an allocation is exported, the pages that it lies in
 * become pages of a file in memory, at their own addresses and with their contents; the other
 * process opens that file by this one's file descriptor. Owns the file. */
#include "tests/softgpu/driver/ipc.h"
#include "tests/softgpu/driver/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A page has its address as its place in the file. */
#define FILE_BYTES ((off_t)1 << 47)

/* What a CUipcMemHandle holds. */
struct memory_handle {
    struct ipc_origin origin;
    int32_t device;
    uint64_t base, bytes, id;
};

static int file = -1;

/* ---- for both kinds of handles */
struct ipc_origin ipc_origin(uint32_t magic, int fd)
{
    return (struct ipc_origin){.magic = magic, .process = (int32_t)getpid(), .fd = fd};
}

CUresult ipc_open(const struct ipc_origin *origin, uint32_t magic, int *fd_p)
{
    char path[64];
    if (origin->magic != magic)
        return CUDA_ERROR_INVALID_HANDLE;
    if (origin->process == (int32_t)getpid())
        return CUDA_ERROR_INVALID_CONTEXT; /* only for other processes */
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)origin->process, (int)origin->fd);
    *fd_p = open(path, O_RDWR | O_CLOEXEC);
    return *fd_p >= 0 ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
}

/* ---- memory */
static uintptr_t page_bytes(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

static uintptr_t page_begin(uintptr_t p)
{
    return p & ~(page_bytes() - 1);
}

static uintptr_t page_end(uintptr_t p)
{
    return page_begin(p + page_bytes() - 1);
}

static bool have_file(void)
{
    if (file >= 0)
        return true;
    file = memfd_create("softgpu-shared", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, FILE_BYTES) != 0) {
        close(file);
        file = -1;
    }
    return file >= 0;
}

/* Moves pages into the file. Nothing runs meanwhile. */
static bool share_pages(uintptr_t begin, uintptr_t end)
{
    for (uintptr_t p = begin; p < end;) {
        ssize_t n = pwrite(file, (void *)p, end - p, (off_t)p);
        if (n <= 0 && errno != EINTR)
            return false;
        p += n > 0 ? (uintptr_t)n : 0;
    }
    return begin == end || mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED, file, (off_t)begin) != MAP_FAILED;
}

/* All but the first and the last page belong to this allocation alone; those two may be in the file
 * already, and another process may be writing there. */
static bool share(const struct allocation *a)
{
    uintptr_t begin = page_begin((uintptr_t)a->base), end = page_end((uintptr_t)a->base + a->bytes);
    if (memory_in_shared_page(begin))
        begin += page_bytes();
    if (end > begin && memory_in_shared_page(end - page_bytes()))
        end -= page_bytes();
    return share_pages(begin, end);
}

API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr p)
{
    ENTER("cuIpcGetMemHandle");
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find((void *)(uintptr_t)p);
    if (a == NULL || a->kind != MEMORY_DEVICE || (uintptr_t)a->base != p) {
        r = CUDA_ERROR_INVALID_VALUE;
    } else if (!a->shared) {
        wait_until_idle();
        a->shared = have_file() && share(a);
        r = a->shared ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
    }
    if (r == CUDA_SUCCESS) {
        const struct memory_handle h = {.origin = ipc_origin(IPC_MEMORY, file),
                                        .device = a->device->ordinal,
                                        .base = p,
                                        .bytes = a->bytes,
                                        .id = a->buffer_id};
        memset(handle, 0, sizeof *handle);
        memcpy(handle, &h, sizeof h);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* With the lock held: maps the pages of the other process. */
static CUresult import(const struct memory_handle *h, CUcontext context, CUdeviceptr *p)
{
    int fd;
    CUresult r = ipc_open(&h->origin, IPC_MEMORY, &fd);
    if (r != CUDA_SUCCESS)
        return r;
    const uintptr_t begin = page_begin(h->base), end = page_end(h->base + h->bytes);
    char *pages = mmap(NULL, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)begin);
    close(fd);
    if (pages == MAP_FAILED)
        return CUDA_ERROR_MAP_FAILED;
    char *base = pages + (h->base - begin);
    r = memory_import(context, &devices[h->device], base, h->bytes, h->origin.process, h->id);
    if (r == CUDA_SUCCESS)
        *p = (CUdeviceptr)(uintptr_t)base;
    else
        munmap(pages, end - begin);
    return r;
}

void ipc_unmap(void *base, size_t bytes)
{
    const uintptr_t begin = page_begin((uintptr_t)base);
    munmap((void *)begin, page_end((uintptr_t)base + bytes) - begin);
}

API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *p, CUipcMemHandle handle, unsigned flags)
{
    ENTER("cuIpcOpenMemHandle_v2");
    CUcontext context;
    struct memory_handle h;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    memcpy(&h, &handle, sizeof h);
    if (p == NULL || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (h.origin.magic != IPC_MEMORY)
        return CUDA_ERROR_INVALID_HANDLE;
    if (h.device < 0 || h.device >= device_count)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    struct allocation *known = memory_imported(context, h.origin.process, h.id);
    if (known != NULL) {
        known->opened++;
        *p = (CUdeviceptr)(uintptr_t)known->base;
    } else {
        r = import(&h, context, p);
    }
    if (r == CUDA_SUCCESS && h.device != context->device->ordinal)
        context->device->peer[h.device] = true;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuIpcOpenMemHandle(CUdeviceptr *p, CUipcMemHandle handle, unsigned flags);
API CUresult cuIpcOpenMemHandle(CUdeviceptr *p, CUipcMemHandle handle, unsigned flags)
{
    return cuIpcOpenMemHandle_v2(p, handle, flags);
}

/* As cuMemFree this waits for the work that may use the memory. */
API CUresult cuIpcCloseMemHandle(CUdeviceptr p)
{
    ENTER("cuIpcCloseMemHandle");
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find((void *)(uintptr_t)p);
    if (a == NULL || a->kind != MEMORY_IMPORTED || (uintptr_t)a->base != p)
        r = CUDA_ERROR_INVALID_VALUE;
    const bool last = r == CUDA_SUCCESS && --a->opened == 0;
    pthread_mutex_unlock(&driver_lock);
    if (!last)
        return r;
    r = context_drain(context);
    pthread_mutex_lock(&driver_lock);
    wait_until_idle();
    memory_free((void *)(uintptr_t)p);
    pthread_mutex_unlock(&driver_lock);
    return r;
}
