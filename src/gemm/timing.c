/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the pairs of events: a ring that calls take from in turn; the pair that is taken next has had
 * the longest time to complete. One that has not is left alone, and the call is not timed. */
#include "config.h"
#include "gemm/timing.h"
#include "device/context.h"
#include "gemm/site.h"

#include <stdatomic.h>
#include <stddef.h>

enum { PAIRS = 1024 };

enum state { PAIR_FREE, PAIR_TAKEN, PAIR_RECORDED };

struct pair {
    _Atomic int state;
    struct context *context; /* that the events belong to; they end with it */
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
static bool settle(struct pair *p)
{
    float ms;
    const struct context *context = p->context;
    if (atomic_load(&context->dead))
        return true; /* so are the events */
    CUstreamCaptureMode mode = context_relax_capture(context);
    const CUresult r = context->cuda->cuEventQuery(p->end);
    if (r == CUDA_SUCCESS && p->site != NULL &&
        context->cuda->cuEventElapsedTime(&ms, p->start, p->end) == CUDA_SUCCESS) {
        atomic_fetch_add_explicit(&p->site->timed, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&p->site->nanoseconds, (uint64_t)(1e6 * (double)ms),
                                  memory_order_relaxed);
    }
    context_restore_capture(context, mode);
    return r != CUDA_ERROR_NOT_READY;
}

/* A pair for this thread, or NULL; what the pair was used for last is settled. */
static struct pair *take(void)
{
    struct pair *p = &pairs[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % PAIRS];
    int state = PAIR_RECORDED;
    if (atomic_compare_exchange_strong(&p->state, &state, PAIR_TAKEN)) {
        if (settle(p))
            return p;
        atomic_store(&p->state, PAIR_RECORDED);
        return NULL;
    }
    state = PAIR_FREE;
    return atomic_compare_exchange_strong(&p->state, &state, PAIR_TAKEN) ? p : NULL;
}

/* Events of another context stay with it. */
static bool make_events(struct pair *p, struct context *context)
{
    if (p->context == context)
        return true;
    p->context = NULL;
    CUstreamCaptureMode mode = context_relax_capture(context);
    if (context->cuda->cuEventCreate(&p->start, CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
        context->cuda->cuEventCreate(&p->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS)
        p->context = context;
    context_restore_capture(context, mode);
    return p->context != NULL;
}

static void begin(struct context *context, CUstream stream)
{
    struct pair *p = context_capture_id(context, stream) == 0 ? take() : NULL;
    if (p == NULL)
        return;
    if (make_events(p, context) &&
        context->cuda->cuEventRecord(p->start, stream) == CUDA_SUCCESS) {
        mine.pair = p;
        mine.stream = stream;
    } else {
        atomic_store(&p->state, PAIR_FREE);
    }
}

void timing_begin(struct context *context, CUstream stream)
{
    mine.pair = NULL;
    mine.site = NULL;
    const enum context_entry entry = context != NULL ? context_enter(context) : CONTEXT_OTHER;
    if (entry == CONTEXT_OTHER)
        return;
    begin(context, stream);
    context_leave(context, entry);
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
    const bool recorded = p->context->cuda->cuEventRecord(p->end, mine.stream) == CUDA_SUCCESS;
    atomic_store(&p->state, recorded ? PAIR_RECORDED : PAIR_FREE);
}

void timing_collect(void)
{
    for (int i = 0; i < PAIRS; i++) {
        int state = PAIR_RECORDED;
        if (atomic_compare_exchange_strong(&pairs[i].state, &state, PAIR_TAKEN))
            atomic_store(&pairs[i].state, settle(&pairs[i]) ? PAIR_FREE : PAIR_RECORDED);
    }
}
