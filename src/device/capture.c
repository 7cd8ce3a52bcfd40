/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the list of captures in progress (bounded; the lock is never held across a CUDA call), and
 * the list of those that are free. That a capture is free the driver says by a user object, which
 * its graph holds and which goes along into every clone, child graph and executable. */
#include "config.h"
#include "device/capture.h"
#include "device/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum { MOST_CAPTURES = 1024 };

struct capture {
    uint64_t id;
    CUstream origin;  /* an invalid capture has no id any more, but it ends on the same stream */
    pthread_t thread; /* for the one handle that means another stream on each thread */
    bool kept; /* its graph holds a user object */
    struct graph_work work;
    struct capture *next;
};

/* The argument of a user object: made once a capture, in the list of the free at its end. */
struct ticket {
    uint64_t id;
    struct ticket *next;
};

_Atomic unsigned captures_in_progress;

static struct {
    pthread_mutex_t lock;
    struct capture *first;
    _Atomic(struct ticket *) free;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The id is 0 unless a valid capture is in progress; *status_p is NONE in doubt. */
static uint64_t query(CUstream stream, CUstreamCaptureStatus *status_p, CUgraph *graph)
{
    const struct real_cuda *cuda = real_cuda();
    cuuint64_t id = 0;
    *status_p = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cuda == NULL || cuda->cuStreamGetCaptureInfo_v2 == NULL ||
        cuda->cuStreamGetCaptureInfo_v2(stream, status_p, &id, graph, NULL, NULL) != CUDA_SUCCESS)
        *status_p = CU_STREAM_CAPTURE_STATUS_NONE;
    return *status_p == CU_STREAM_CAPTURE_STATUS_ACTIVE ? id : 0;
}

uint64_t capture_id(CUstream stream)
{
    CUstreamCaptureStatus status;
    CUgraph graph;
    return query(stream, &status, &graph);
}

static struct capture *find(uint64_t id)
{
    struct capture *c = state.first;
    while (c != NULL && c->id != id)
        c = c->next;
    return c;
}

/* With the lock held. The capture that began on the stream, out of the list; NULL: none. */
static struct capture *take(CUstream origin)
{
    for (struct capture **at = &state.first; *at != NULL; at = &(*at)->next) {
        struct capture *c = *at;
        if (c->origin != origin ||
            (origin == CU_STREAM_PER_THREAD && !pthread_equal(c->thread, pthread_self())))
            continue;
        *at = c->next;
        atomic_fetch_sub(&captures_in_progress, 1);
        return c;
    }
    return NULL;
}

void capture_begun(CUstream stream)
{
    const uint64_t id = capture_id(stream);
    struct capture *fresh = id != 0 ? calloc(1, sizeof *fresh) : NULL;
    if (fresh == NULL)
        return;
    fresh->id = id;
    fresh->origin = stream;
    fresh->thread = pthread_self();
    pthread_mutex_lock(&state.lock);
    /* One whose end was not seen, as its stream was destroyed. */
    struct capture *stale = take(stream);
    if (atomic_load(&captures_in_progress) < MOST_CAPTURES) {
        fresh->next = state.first;
        state.first = fresh;
        atomic_fetch_add(&captures_in_progress, 1);
        fresh = NULL;
    }
    pthread_mutex_unlock(&state.lock);
    free(stale);
    free(fresh);
}

struct graph_work capture_ended(CUstream stream)
{
    CUstreamCaptureStatus status;
    CUgraph graph;
    struct graph_work work = {0, 0};
    (void)query(stream, &status, &graph);
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return work; /* it is another's to end */
    pthread_mutex_lock(&state.lock);
    struct capture *capture = take(stream);
    pthread_mutex_unlock(&state.lock);
    if (capture != NULL)
        work = capture->work;
    free(capture);
    return work;
}

/* The driver calls this, perhaps with locks of its own held. */
static void CUDA_CB note_free(void *arg)
{
    struct ticket *ticket = arg;
    ticket->next = atomic_load(&state.free);
    while (!atomic_compare_exchange_weak(&state.free, &ticket->next, ticket))
        ;
}

static void keep(CUstream stream, uint64_t id)
{
    const struct real_cuda *cuda = real_cuda();
    CUstreamCaptureStatus status;
    CUgraph graph;
    CUuserObject object;
    if (cuda->cuUserObjectCreate == NULL || cuda->cuUserObjectRelease == NULL ||
        cuda->cuGraphRetainUserObject == NULL || query(stream, &status, &graph) != id)
        return;
    struct ticket *ticket = calloc(1, sizeof *ticket);
    if (ticket == NULL)
        return;
    ticket->id = id;
    if (cuda->cuUserObjectCreate(&object, ticket, note_free, 1,
                                 CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS)
        free(ticket);
    else if (cuda->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) !=
             CUDA_SUCCESS)
        cuda->cuUserObjectRelease(object, 1);
}

void capture_add(CUstream stream, struct graph_work work)
{
    const uint64_t id = work.gemms != 0 ? capture_id(stream) : 0;
    bool keep_it = false;
    if (id == 0)
        return;
    pthread_mutex_lock(&state.lock);
    struct capture *capture = find(id);
    if (capture != NULL) {
        capture->work.gemms += work.gemms;
        capture->work.converted += work.converted;
        keep_it = capture->work.converted != 0 && !capture->kept;
        capture->kept = capture->kept || keep_it;
    }
    pthread_mutex_unlock(&state.lock);
    if (keep_it)
        keep(stream, id);
}

void capture_add_gemm(const struct real_blas *real, cublasHandle_t handle, bool converted)
{
    const int saved = errno;
    cudaStream_t stream;
    if (real->cublasGetStream_v2 != NULL &&
        real->cublasGetStream_v2(handle, &stream) == CUBLAS_STATUS_SUCCESS)
        capture_add(stream, (struct graph_work){1, converted});
    errno = saved;
}

void capture_collect(void)
{
    if (atomic_load_explicit(&state.free, memory_order_relaxed) == NULL)
        return;
    struct ticket *ticket = atomic_exchange(&state.free, NULL);
    while (ticket != NULL) {
        struct ticket *next = ticket->next;
        scratch_forget_capture(ticket->id);
        free(ticket);
        ticket = next;
    }
}
