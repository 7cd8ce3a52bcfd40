/* SPDX-License-Identifier: BSD-3-Clause
 * Runs operations. Without SOFTGPU_SEED, or with 0, each runs when it is put on its stream
 * (immediate mode). With it they wait (deferred mode) until somebody synchronises or asks, and then
 * an adversary picks among those that may legally run, so that a missing dependency, scratch that
 * is reused too early or a host value that is read late shows: streams have random ranks, the
 * highest one that can runs on until its rank changes at a random point, so that one stream gets
 * far ahead of another; and one stream at a time is starved, so that it falls as far behind as is
 * legal. How much runs while work is still being put depends on the seed. When a program does
 * nothing but wait for memory to change, a background thread moves the work. In both modes an
 * operation that waits for a value in memory is passed over until the value is there. */
#include "tests/softgpu/driver/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_RUNNABLE = 1024,
    RANK_CHANGE = 8, /* an operation changes its stream's rank once in so many times */
    STARVED = 0,     /* a rank below all others */
    TICK_NS = 2000000,
    IDLE_TICKS = 10,      /* without a call of the program: then the background thread acts */
    PATIENCE_TICKS = 5000 /* of waiting for a value: then a message says so */
};

static struct {
    pthread_cond_t changed; /* an operation finished or was put */
    pthread_once_t once;
    bool deferred, background;
    unsigned burst;    /* up to so many operations run when one is put */
    uint64_t activity; /* calls that put or ask; the background thread watches it */
    uint64_t random;
    uint64_t turns; /* in which a stream was starved */
    bool values;    /* somebody may wait for a value in memory, which anybody may write */
} state = {.changed = PTHREAD_COND_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void read_mode(void)
{
    const char *seed = getenv("SOFTGPU_SEED");
    char *end = NULL;
    const uint64_t n = seed != NULL ? strtoull(seed, &end, 10) : 0;
    if (seed != NULL && *end != '\0') {
        fprintf(stderr, "softgpu: SOFTGPU_SEED=%s: a number is expected\n", seed);
        exit(1);
    }
    state.deferred = n != 0;
    state.random = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    state.burst = n % 4 == 0 ? 1 : 0;
}

bool mode_deferred(void)
{
    pthread_once(&state.once, read_mode);
    return state.deferred;
}

/* With the lock held. xorshift64*. */
uint64_t mode_random(void)
{
    pthread_once(&state.once, read_mode);
    uint64_t x = state.random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    state.random = x;
    return (x * UINT64_C(0x2545f4914f6cdd1d)) >> 11;
}

struct completion *completion_ref(struct completion *c)
{
    if (c != NULL)
        c->refs++;
    return c;
}

void completion_unref(struct completion *c)
{
    if (c != NULL && --c->refs == 0)
        free(c);
}

/* Is the memory as the operation wants it? One whose context has failed will be skipped. */
static bool finds_values(const struct op *op, CUcontext context)
{
    if (context->sticky != CUDA_SUCCESS || context->dead)
        return true;
    if (op->kind->node_type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return values_ready(op->arg, values_step(op->arg));
    return op->kind->node_type != CU_GRAPH_NODE_TYPE_GRAPH || graph_launch_ready(op->arg);
}

static bool may_run(const struct op *op, CUcontext context)
{
    for (unsigned i = 0; i < op->n_waits; i++)
        if (!op->waits[i]->done)
            return false;
    return finds_values(op, context);
}

/* The streams whose first operation may run now. */
static unsigned find_runnable(CUstream *found)
{
    unsigned n = 0;
    for (int d = 0; d < context_count(); d++)
        for (CUstream s = context_at(d)->streams; s != NULL; s = s->next)
            if (s->head != NULL && !s->running && may_run(s->head, s->context) && n < MAX_RUNNABLE)
                found[n++] = s;
    return n;
}

static void free_op(struct op *op)
{
    for (unsigned i = 0; i < op->n_waits; i++)
        completion_unref(op->waits[i]);
    free(op->waits);
    if (!op->borrowed_arg) {
        if (op->kind->release != NULL)
            op->kind->release(op->arg);
        free(op->arg);
    }
    completion_unref(op->completion);
    free(op);
}

/* With the lock held, which is given up while the operation runs. */
static void run_head(CUstream stream)
{
    struct op *op = stream->head;
    CUcontext context = stream->context;
    double start = stream->clock;
    for (unsigned i = 0; i < op->n_waits; i++)
        if (op->waits[i]->time > start)
            start = op->waits[i]->time;
    struct op_result result = {.start = start};
    stream->running = true;
    bool skip = context->sticky != CUDA_SUCCESS || context->dead;
    if (!skip && op->kind->node_type == CU_GRAPH_NODE_TYPE_KERNEL)
        skip = device_breaks_now(context->device);
    if (!skip) {
        pthread_mutex_unlock(&driver_lock);
        CUresult r = op->kind->run(op->arg, context, &result);
        pthread_mutex_lock(&driver_lock);
        if (r == RUN_BLOCKED) {
            stream->running = false;
            pthread_cond_broadcast(&state.changed);
            return;
        }
        if (r != CUDA_SUCCESS && context->sticky == CUDA_SUCCESS)
            context->sticky = r;
    }
    count_seconds(result.seconds);
    stream->running = false;
    stream->clock = start + result.seconds;
    op->completion->time = stream->clock;
    op->completion->done = true;
    stream->head = op->next;
    if (stream->head == NULL)
        stream->tail = NULL;
    free_op(op);
    pthread_cond_broadcast(&state.changed);
}

/* Sees to it that one of the streams that have work is starved: it runs when no other can, and then
 * it is the turn of the one that was spared longest. Ranks alone do not do that: a stream that runs
 * whenever it can falls behind only where a change of rank meets it just then. */
static void starve_one(void)
{
    uint64_t n = 0;
    CUstream chosen = NULL;
    for (int d = 0; d < context_count(); d++)
        for (CUstream s = context_at(d)->streams; s != NULL; s = s->next) {
            if (s->head == NULL)
                continue;
            if (s->rank == STARVED)
                return;
            if (chosen == NULL || s->turn < chosen->turn) {
                chosen = s;
                n = 1;
            } else if (s->turn == chosen->turn && mode_random() % ++n == 0) {
                chosen = s;
            }
        }
    if (chosen != NULL) {
        chosen->rank = STARVED;
        chosen->turn = ++state.turns;
    }
}

/* Runs one operation, any that may run. False: none may (or others are at it). */
static bool run_one(void)
{
    static CUstream found[MAX_RUNNABLE]; /* the lock is held */
    if (mode_deferred())
        starve_one();
    unsigned n = find_runnable(found);
    if (n == 0)
        return false;
    CUstream chosen = found[0];
    for (unsigned i = 1; i < n && mode_deferred(); i++)
        if (found[i]->rank > chosen->rank)
            chosen = found[i];
    if (mode_deferred() && (chosen->rank == STARVED || mode_random() % RANK_CHANGE == 0))
        chosen->rank = mode_random() | 1;
    run_head(chosen);
    return true;
}

static bool anything_running(void)
{
    for (int d = 0; d < context_count(); d++)
        for (CUstream s = context_at(d)->streams; s != NULL; s = s->next)
            if (s->running)
                return true;
    return false;
}

void wait_until_idle(void)
{
    while (anything_running())
        pthread_cond_wait(&state.changed, &driver_lock);
}

/* With the lock held, which is given up for a moment: somebody may write a value. */
static void wait_for_values(unsigned ticks)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&state.changed, &driver_lock, &until);
    if (ticks == PATIENCE_TICKS)
        driver_message("a stream still waits for a value in memory, and the program for it");
}

void run_or_wait(void)
{
    state.activity++;
    if (!run_one())
        wait_for_values(0);
}

CUresult run_until(struct completion *c, CUcontext context)
{
    CUresult r = CUDA_SUCCESS;
    state.activity++;
    for (unsigned ticks = 0; c != NULL && !c->done && r == CUDA_SUCCESS;) {
        if (run_one())
            ticks = 0;
        else if (state.values)
            wait_for_values(anything_running() ? 0 : ++ticks);
        else if (anything_running())
            pthread_cond_wait(&state.changed, &driver_lock);
        else
            r = CUDA_ERROR_UNKNOWN; /* would hang on a GPU: cannot arise from valid calls */
    }
    return context->sticky != CUDA_SUCCESS ? context->sticky : r;
}

CUresult run_put(struct completion *c, CUcontext context)
{
    if (!state.values)
        return run_until(c, context);
    state.activity++;
    for (;;) {
        if (run_one())
            continue;
        if (c->done || !anything_running())
            break;
        pthread_cond_wait(&state.changed, &driver_lock);
    }
    return context->sticky;
}

static void *keep_moving(void *arg)
{
    (void)arg;
    struct timespec tick = {0, TICK_NS};
    uint64_t seen = 0;
    for (unsigned idle = 0;; idle++) {
        nanosleep(&tick, NULL);
        pthread_mutex_lock(&driver_lock);
        if (state.activity != seen)
            idle = 0;
        seen = state.activity;
        if (idle >= IDLE_TICKS)
            run_one();
        pthread_mutex_unlock(&driver_lock);
    }
    return NULL;
}

static void start_background(void)
{
    pthread_t thread;
    if (state.background)
        return;
    state.background = true;
    if (pthread_create(&thread, NULL, keep_moving, NULL) == 0)
        pthread_detach(thread);
}

void expect_values(void)
{
    state.values = true;
    start_background();
}

void run_some(void)
{
    if (!mode_deferred())
        return;
    start_background();
    state.activity++;
    for (uint64_t n = mode_random() % (state.burst + 1); n > 0 && run_one(); n--)
        ;
}

void run_polled(void)
{
    state.activity++;
    if (mode_deferred() ? mode_random() % 2 == 0 : state.values)
        run_one();
}

void stream_put(CUstream stream, const struct op_kind *kind, void *arg, bool borrowed_arg,
                struct completion **waits, unsigned n_waits, struct completion **completion_p)
{
    struct op *op = calloc(1, sizeof *op);
    struct completion *completion = calloc(1, sizeof *completion);
    if (op == NULL || completion == NULL)
        abort();
    op->kind = kind;
    op->arg = arg;
    op->borrowed_arg = borrowed_arg;
    op->waits = waits;
    op->n_waits = n_waits;
    op->completion = completion;
    completion->refs = 2; /* the operation's and the stream's */
    if (stream->tail != NULL)
        stream->tail->next = op;
    else
        stream->head = op;
    stream->tail = op;
    completion_unref(stream->last);
    stream->last = completion;
    if (completion_p != NULL)
        *completion_p = completion_ref(completion);
    pthread_cond_broadcast(&state.changed);
}

/* What an operation on this stream has to wait for by the rules of the legacy stream. */
static struct completion **implicit_waits(CUstream stream, unsigned *n_p)
{
    unsigned n = 0;
    struct completion **waits = NULL;
    CUcontext context = stream->context;
    if (stream->flags & CU_STREAM_NON_BLOCKING)
        stream = NULL;
    else if (!stream->legacy)
        n = 1;
    else
        for (CUstream s = context->streams; s != NULL; s = s->next)
            n++;
    if (n > 0 && (waits = calloc(n, sizeof(struct completion *))) == NULL)
        abort();
    n = 0;
    if (stream != NULL && !stream->legacy && context->legacy->last != NULL)
        waits[n++] = completion_ref(context->legacy->last);
    else if (stream != NULL && stream->legacy)
        for (CUstream s = context->streams; s != NULL; s = s->next)
            if (s != stream && !(s->flags & CU_STREAM_NON_BLOCKING) && s->last != NULL)
                waits[n++] = completion_ref(s->last);
    *n_p = n;
    return waits;
}

CUresult stream_submit(CUstream handle, bool per_thread_default, const struct op_kind *kind,
                       const void *arg, size_t arg_bytes)
{
    return stream_submit_after(handle, per_thread_default, kind, arg, arg_bytes, NULL, NULL);
}

CUresult stream_submit_after(CUstream handle, bool per_thread_default, const struct op_kind *kind,
                             const void *arg, size_t arg_bytes, struct completion *before,
                             struct completion **last_p)
{
    CUstream stream;
    void *copy = malloc(arg_bytes + 1);
    if (copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, arg, arg_bytes);
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread_default, &stream);
    if (r == CUDA_SUCCESS && stream->capture != NULL) {
        r = capture_add(stream, kind, copy, arg_bytes);
    } else if (r == CUDA_SUCCESS && (!stream->legacy || (r = capture_legacy_conflict(
                                                             stream->context)) == CUDA_SUCCESS)) {
        unsigned n;
        struct completion **waits = implicit_waits(stream, &n);
        struct completion *completion = NULL;
        if (before != NULL) {
            waits = realloc(waits, sizeof(struct completion *) * (n + 1));
            if (waits == NULL)
                abort();
            waits[n++] = completion_ref(before);
        }
        stream_put(stream, kind, copy, false, waits, n, &completion);
        if (last_p != NULL) {
            completion_unref(*last_p);
            *last_p = completion_ref(completion);
        }
        if (mode_deferred())
            run_some();
        else
            r = run_put(completion, stream->context);
        completion_unref(completion);
        /* A fault of a kernel is reported by a later call. */
        if (kind->node_type == CU_GRAPH_NODE_TYPE_KERNEL)
            r = CUDA_SUCCESS;
    } else {
        if (kind->release != NULL)
            kind->release(copy);
        free(copy);
    }
    completion_unref(before);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

CUresult stream_drain(CUstream handle, bool per_thread_default)
{
    CUstream stream;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread_default, &stream);
    if (r == CUDA_SUCCESS) {
        /* To wait for the legacy stream is to wait for all blocking streams too. */
        unsigned n = 0;
        struct completion **waits = stream->legacy ? implicit_waits(stream, &n) : NULL;
        for (unsigned i = 0; i < n; i++) {
            if (r == CUDA_SUCCESS)
                r = run_until(waits[i], stream->context);
            completion_unref(waits[i]);
        }
        free(waits);
        struct completion *last = completion_ref(stream->last);
        CUresult own = run_until(last, stream->context);
        completion_unref(last);
        if (r == CUDA_SUCCESS)
            r = own;
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

CUresult context_drain(CUcontext context)
{
    pthread_mutex_lock(&driver_lock);
    for (CUstream s = context->streams; s != NULL; s = s->next) {
        struct completion *last = completion_ref(s->last);
        run_until(last, context);
        completion_unref(last);
    }
    CUresult r = context->sticky;
    pthread_mutex_unlock(&driver_lock);
    return r;
}
