/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the pairs of events: a ring that calls take from in turn; the pair that is taken next has had
 * the longest time to complete. One that has not is left alone, and the call is not timed. */
#include "config.h"
#include "gemm/timing.h"
#include "gemm/site.h"

#include <stdatomic.h>
#include <stddef.h>

enum { PAIRS = 1024 };

enum state { PAIR_FREE, PAIR_TAKEN, PAIR_RECORDED };

struct pair {
    _Atomic int state;
    CUcontext context; /* that the events belong to */
    CUevent start, end;
    struct site *site;
};

static struct pair pairs[PAIRS];
static _Atomic unsigned turn;

static _Thread_local struct {
    struct pair *pair;
    CUstream stream;
    struct site *site;
} mine __attribute__((tls_model("initial-exec")));

/* Adds the time of a pair whose work has ended. False: it has not. */
static bool settle(const struct real_cuda *cuda, struct pair *p)
{
    float ms;
    CUresult r = cuda->cuEventQuery(p->end);
    if (r == CUDA_ERROR_NOT_READY)
        return false;
    if (r == CUDA_SUCCESS && cuda->cuEventElapsedTime(&ms, p->start, p->end) == CUDA_SUCCESS &&
        p->site != NULL) {
        atomic_fetch_add_explicit(&p->site->timed, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&p->site->nanoseconds, (uint64_t)(1e6 * (double)ms),
                                  memory_order_relaxed);
    }
    return true;
}

static bool make_events(const struct real_cuda *cuda, struct pair *p, CUcontext context)
{
    if (p->context == context)
        return true;
    /* Events of another context stay with it. */
    p->context = NULL;
    if (cuda->cuEventCreate(&p->start, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        cuda->cuEventCreate(&p->end, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
        return false;
    p->context = context;
    return true;
}

static bool record_start(const struct real_cuda *cuda, struct pair *p, CUstream stream)
{
    CUcontext context = NULL;
    return cuda->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != NULL &&
           make_events(cuda, p, context) &&
           cuda->cuEventRecord(p->start, stream) == CUDA_SUCCESS;
}

/* A pair for this thread, or NULL; what the pair was used for last is settled. */
static struct pair *take(const struct real_cuda *cuda)
{
    struct pair *p = &pairs[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % PAIRS];
    int state = PAIR_RECORDED;
    if (atomic_compare_exchange_strong(&p->state, &state, PAIR_TAKEN)) {
        if (settle(cuda, p))
            return p;
        atomic_store(&p->state, PAIR_RECORDED);
        return NULL;
    }
    state = PAIR_FREE;
    return atomic_compare_exchange_strong(&p->state, &state, PAIR_TAKEN) ? p : NULL;
}

/* Asking an event or making one would break a global-mode capture of another thread. */
static CUstreamCaptureMode relax(const struct real_cuda *cuda)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (cuda->cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return mode;
}

void timing_begin(CUstream stream)
{
    const struct real_cuda *cuda = real_cuda();
    CUstreamCaptureStatus status;
    cuuint64_t id;
    mine.pair = NULL;
    mine.site = NULL;
    if (cuda == NULL || cuda->cuStreamGetCaptureInfo(stream, &status, &id) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_NONE)
        return;
    CUstreamCaptureMode mode = relax(cuda);
    struct pair *p = take(cuda);
    if (p != NULL && record_start(cuda, p, stream)) {
        mine.pair = p;
        mine.stream = stream;
    } else if (p != NULL) {
        atomic_store(&p->state, PAIR_FREE);
    }
    cuda->cuThreadExchangeStreamCaptureMode(&mode);
}

void timing_note(struct site *site)
{
    mine.site = site;
}

void timing_end(void)
{
    struct pair *p = mine.pair;
    if (p == NULL)
        return;
    mine.pair = NULL;
    p->site = mine.site;
    const bool recorded = real_cuda()->cuEventRecord(p->end, mine.stream) == CUDA_SUCCESS;
    atomic_store(&p->state, recorded ? PAIR_RECORDED : PAIR_FREE);
}

void timing_collect(void)
{
    const struct real_cuda *cuda = real_cuda();
    if (cuda == NULL)
        return;
    CUstreamCaptureMode mode = relax(cuda);
    for (int i = 0; i < PAIRS; i++) {
        int state = PAIR_RECORDED;
        if (!atomic_compare_exchange_strong(&pairs[i].state, &state, PAIR_TAKEN))
            continue;
        atomic_store(&pairs[i].state, settle(cuda, &pairs[i]) ? PAIR_FREE : PAIR_RECORDED);
    }
    cuda->cuThreadExchangeStreamCaptureMode(&mode);
}
