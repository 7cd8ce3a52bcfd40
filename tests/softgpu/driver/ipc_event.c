/* SPDX-License-Identifier: BSD-3-Clause
 * Events of one process in another: a count of records and one of those that have run, in memory
 * that both map. A record is a write of the second count by its stream, a wait one for that value.
 * Owns nothing. */
#include "tests/softgpu/driver/ipc.h"
#include "tests/softgpu/driver/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a CUipcEventHandle holds. */
struct event_handle {
    struct ipc_origin origin;
};

/* With the lock held: maps the counts, which streams then reach like pinned memory. */
static struct ipc_event *map(int fd)
{
    struct ipc_event *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        return NULL;
    if (sg_arena_adopt(host_memory, shared, sizeof *shared) != 0) {
        munmap(shared, sizeof *shared);
        return NULL;
    }
    return shared;
}

API CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    enum { NEEDED = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING };
    ENTER("cuIpcGetEventHandle");
    CUresult r = CUDA_SUCCESS;
    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (event == NULL || event->dead || (event->flags & NEEDED) != NEEDED)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    if (event->shared == NULL) {
        /* What was recorded up to now is over before anybody else can ask. */
        struct completion *completion = completion_ref(event->completion);
        r = run_until(completion, event->context);
        completion_unref(completion);
        event->shared_file = memfd_create("softgpu-event", MFD_CLOEXEC);
        if (event->shared_file < 0 ||
            ftruncate(event->shared_file, sizeof(struct ipc_event)) != 0 ||
            (event->shared = map(event->shared_file)) == NULL)
            r = CUDA_ERROR_MAP_FAILED;
    }
    if (r == CUDA_SUCCESS) {
        const struct event_handle h = {ipc_origin(IPC_EVENT, event->shared_file)};
        memset(handle, 0, sizeof *handle);
        memcpy(handle, &h, sizeof h);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    ENTER("cuIpcOpenEventHandle");
    struct event_handle h;
    int fd;
    if (event == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&h, &handle, sizeof h);
    CUresult r = ipc_open(&h.origin, IPC_EVENT, &fd);
    if (r == CUDA_SUCCESS)
        r = cuEventCreate(event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    else
        return r;
    pthread_mutex_lock(&driver_lock);
    if (r == CUDA_SUCCESS && ((*event)->shared = map(fd)) == NULL)
        r = CUDA_ERROR_MAP_FAILED;
    if (r == CUDA_SUCCESS)
        (*event)->shared_file = fd;
    else
        close(fd);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUdeviceptr done_at(const struct ipc_event *shared)
{
    return (CUdeviceptr)(uintptr_t)&shared->done;
}

static uint64_t recorded(const struct ipc_event *shared)
{
    return __atomic_load_n(&shared->recorded, __ATOMIC_ACQUIRE);
}

static bool is_done(const struct ipc_event *shared, uint64_t record)
{
    return __atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) >= record;
}

CUresult ipc_event_record(CUevent event, CUstream stream, bool per_thread)
{
    const uint64_t n = __atomic_add_fetch(&event->shared->recorded, 1, __ATOMIC_ACQ_REL);
    return value_write(stream, per_thread, done_at(event->shared), n);
}

CUresult ipc_event_wait(CUevent event, CUstream stream, bool per_thread)
{
    return value_wait(stream, per_thread, done_at(event->shared), recorded(event->shared));
}

CUresult ipc_event_query(CUevent event)
{
    pthread_mutex_lock(&driver_lock);
    run_polled();
    CUresult r = event->context->sticky;
    if (r == CUDA_SUCCESS && !is_done(event->shared, recorded(event->shared)))
        r = CUDA_ERROR_NOT_READY;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

CUresult ipc_event_synchronize(CUevent event)
{
    const uint64_t wanted = recorded(event->shared);
    pthread_mutex_lock(&driver_lock);
    expect_values();
    while (event->context->sticky == CUDA_SUCCESS && !is_done(event->shared, wanted))
        run_or_wait();
    CUresult r = event->context->sticky;
    pthread_mutex_unlock(&driver_lock);
    return r;
}
