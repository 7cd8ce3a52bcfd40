/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the scratch sets, in a list a context (bounded by MAX_SETS; the set of a stream or graph that
 * is gone is used for another). Memory of streams is allocated and freed in their order, so that no
 * call waits; that of captures is plain memory, since a graph's launches have no one stream. It is
 * freed many blocks at once: such a free waits for the device. */
#include "config.h"
#include "device/scratch.h"
#include "base/env.h"
#include "base/log.h"
#include "base/stats.h"
#include "device/kernels.h"

#include <stdlib.h>

enum { MAX_SETS = 1024, GARBAGE_MOST = 64 };
#define GRANULE ((size_t)2 << 20)

/* Plain memory that a graph has used, or still uses while its capture's set has outgrown it. */
struct garbage {
    CUdeviceptr memory;
    size_t bytes;
    uint64_t capture; /* 0: unused from here on */
    struct garbage *next;
};

/* stream: NULL for plain memory. */
static CUresult allocate(const struct context *context, const CUstream *stream, size_t bytes,
                         CUdeviceptr *p)
{
    const bool pooled = stream != NULL && context->gpu.memory_pools;
    CUstreamCaptureMode mode = context_relax_capture(context);
    CUresult r = pooled ? context->cuda->cuMemAllocAsync(p, bytes, *stream)
                        : context->cuda->cuMemAlloc_v2(p, bytes);
    context_restore_capture(context, mode);
    return r;
}

/* Memory of a stream. Without pools there is no free that does not wait: the memory stays, and
 * sizes double so that what is lost is bounded by what is used. */
static void release(struct context *context, CUstream stream, CUdeviceptr p, size_t bytes)
{
    if (p == 0 || !context->gpu.memory_pools)
        return;
    CUstreamCaptureMode mode = context_relax_capture(context);
    if (context->cuda->cuMemFreeAsync(p, stream) == CUDA_SUCCESS)
        atomic_fetch_sub(&context->scratch_bytes, bytes);
    context_restore_capture(context, mode);
}

static uint64_t budget(struct context *context)
{
    uint64_t bytes = atomic_load_explicit(&context->scratch_budget, memory_order_relaxed);
    if (bytes != 0)
        return bytes;
    size_t free_bytes = 0, total_bytes = 0;
    if (context->cuda->cuMemGetInfo_v2(&free_bytes, &total_bytes) != CUDA_SUCCESS)
        return 0;
    const struct env *env = env_get();
    bytes = env->scratch_budget != 0 ? env->scratch_budget
                                     : (uint64_t)(env->scratch_share * (double)free_bytes);
    uint64_t undecided = 0;
    if (!atomic_compare_exchange_strong(&context->scratch_budget, &undecided, bytes))
        return undecided;
    LOG_INFO("scratch memory: at most %llu MiB of %zu MiB free",
             (unsigned long long)(bytes >> 20), free_bytes >> 20);
    return bytes;
}

static bool allocate_in_budget(struct context *context, const CUstream *stream, size_t bytes,
                               CUdeviceptr *p)
{
    const uint64_t in_all = atomic_fetch_add(&context->scratch_bytes, bytes) + bytes;
    const uint64_t most = budget(context);
    if (in_all <= most && allocate(context, stream, bytes, p) == CUDA_SUCCESS) {
        stats_note_scratch(in_all, most);
        return true;
    }
    atomic_fetch_sub(&context->scratch_bytes, bytes);
    return false;
}

/* Puts plain memory aside until its capture is forgotten; with capture 0 that is already so. */
static void put_aside(struct context *context, CUdeviceptr p, size_t bytes, uint64_t capture)
{
    struct garbage *g = p != 0 ? malloc(sizeof *g) : NULL;
    if (g == NULL)
        return; /* lost, and stays counted */
    *g = (struct garbage){p, bytes, capture, NULL};
    pthread_mutex_lock(&context->lock);
    g->next = context->garbage;
    context->garbage = g;
    pthread_mutex_unlock(&context->lock);
}

/* Frees what is aside and unused, with the context current. Waits for the device. */
static bool sweep(struct context *context)
{
    struct garbage *unused = NULL;
    pthread_mutex_lock(&context->lock);
    for (struct garbage **at = &context->garbage; *at != NULL;) {
        struct garbage *g = *at;
        if (g->capture != 0) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        g->next = unused;
        unused = g;
    }
    pthread_mutex_unlock(&context->lock);
    const bool any = unused != NULL;
    CUstreamCaptureMode mode = context_relax_capture(context);
    while (unused != NULL) {
        struct garbage *g = unused;
        unused = g->next;
        if (context->cuda->cuMemFree_v2(g->memory) == CUDA_SUCCESS)
            atomic_fetch_sub(&context->scratch_bytes, g->bytes);
        free(g);
    }
    context_restore_capture(context, mode);
    return any;
}

static bool grow(struct context *context, struct scratch *s, size_t bytes)
{
    const bool plain = s->capture != 0 || !context->gpu.memory_pools;
    if (plain && bytes < 2 * s->data_bytes)
        bytes = 2 * s->data_bytes;
    bytes = (bytes + GRANULE - 1) & ~(GRANULE - 1);
    CUdeviceptr fresh;
    if (!allocate_in_budget(context, s->capture != 0 ? NULL : &s->stream, bytes, &fresh))
        return false;
    if (s->capture != 0)
        put_aside(context, s->data, s->data_bytes, s->capture);
    else
        release(context, s->stream, s->data, s->data_bytes);
    s->data = fresh;
    s->data_bytes = bytes;
    return true;
}

/* In a capture the memset would become a node and run at each replay: it goes elsewhere, at once. */
static bool clear_state(struct context *context, struct scratch *s)
{
    const struct real_cuda *cuda = context->cuda;
    const struct kernels *kernels = kernels_of(context);
    if (s->capture == 0)
        return cuda->cuMemsetD8Async(s->state, 0, sizeof(struct scratch_state), s->stream) ==
               CUDA_SUCCESS;
    CUstreamCaptureMode mode = context_relax_capture(context);
    const bool ok = cuda->cuMemsetD8Async(s->state, 0, sizeof(struct scratch_state),
                                          kernels->stream) == CUDA_SUCCESS &&
                    cuda->cuStreamSynchronize(kernels->stream) == CUDA_SUCCESS;
    context_restore_capture(context, mode);
    return ok;
}

static bool prepare_state(struct context *context, struct scratch *s)
{
    if (s->state != 0 && !s->dirty)
        return true;
    if (s->state != 0 && s->capture != 0)
        return false; /* a kernel of this capture is missing: the graph is as broken as the call */
    if (s->state == 0 &&
        !allocate_in_budget(context, s->capture != 0 ? NULL : &s->stream,
                            sizeof(struct scratch_state), &s->state))
        return false;
    s->dirty = !clear_state(context, s);
    return !s->dirty;
}

static bool stream_identity(const struct context *context, CUstream stream, uint64_t *id)
{
    unsigned long long value;
    if (context->cuda->cuStreamGetId == NULL) {
        *id = (uint64_t)(uintptr_t)stream;
        return true;
    }
    if (context->cuda->cuStreamGetId(stream, &value) != CUDA_SUCCESS)
        return false;
    *id = value;
    return true;
}

/* A free set of the stream, an empty one that no stream has, or a new one. */
static struct scratch *take_set(struct context *context, CUstream stream, uint64_t id,
                                uint64_t capture)
{
    size_t n = 0;
    struct scratch *orphan = NULL;
    pthread_mutex_lock(&context->lock);
    struct scratch *s = context->scratch;
    for (; s != NULL &&
           (s->taken || s->orphan || s->stream_id != id || s->capture != capture);
         s = s->next) {
        n++;
        if (s->orphan)
            orphan = s;
    }
    if (s == NULL && orphan != NULL)
        s = orphan;
    if (s == NULL && n < MAX_SETS && (s = calloc(1, sizeof *s)) != NULL) {
        s->next = context->scratch;
        context->scratch = s;
    }
    if (s != NULL) {
        s->stream = stream;
        s->stream_id = id;
        s->capture = capture;
        s->orphan = false;
        s->taken = true;
    }
    pthread_mutex_unlock(&context->lock);
    return s;
}

struct scratch *scratch_take(struct context *context, CUstream stream, uint64_t capture,
                             size_t bytes)
{
    uint64_t id;
    if (!stream_identity(context, stream, &id))
        return NULL;
    struct scratch *s = take_set(context, stream, id, capture);
    if (s == NULL)
        return NULL;
    if (prepare_state(context, s) && (s->data_bytes >= bytes || grow(context, s, bytes)))
        return s;
    scratch_give_back(context, s);
    return NULL;
}

void scratch_give_back(struct context *context, struct scratch *scratch)
{
    pthread_mutex_lock(&context->lock);
    scratch->taken = false;
    pthread_mutex_unlock(&context->lock);
}

/* Takes one set that wanted accepts; NULL: there is none (more). */
static struct scratch *take_if(struct context *context,
                               bool (*wanted)(const struct scratch *s, uint64_t key), uint64_t key)
{
    pthread_mutex_lock(&context->lock);
    struct scratch *s = context->scratch;
    while (s != NULL && (s->taken || s->orphan || !wanted(s, key)))
        s = s->next;
    if (s != NULL)
        s->taken = true;
    pthread_mutex_unlock(&context->lock);
    return s;
}

static void make_orphan(struct context *context, struct scratch *s)
{
    s->data = s->state = 0;
    s->data_bytes = 0;
    s->dirty = false;
    pthread_mutex_lock(&context->lock);
    s->orphan = true;
    s->taken = false;
    pthread_mutex_unlock(&context->lock);
}

static bool of_stream(const struct scratch *s, uint64_t stream_id)
{
    return s->capture == 0 && s->stream_id == stream_id;
}

static bool of_capture(const struct scratch *s, uint64_t capture)
{
    return s->capture == capture;
}

static bool of_any_stream(const struct scratch *s, uint64_t unused)
{
    (void)unused;
    return s->capture == 0 && s->data != 0;
}

void scratch_forget_stream(CUstream stream)
{
    uint64_t id;
    struct scratch *s;
    struct context *context = context_known();
    /* Without pools there is no free that does not wait; the sets stay. */
    if (context == NULL || !context->gpu.memory_pools || !stream_identity(context, stream, &id))
        return;
    while ((s = take_if(context, of_stream, id)) != NULL) {
        release(context, stream, s->data, s->data_bytes);
        release(context, stream, s->state, sizeof(struct scratch_state));
        make_orphan(context, s);
    }
}

/* A set whose next user would not come after its last one is not used again. */
#define STREAM_CLOSED UINT64_MAX

static void close_sets(struct context *context, void *arg)
{
    const uint64_t *id = arg;
    pthread_mutex_lock(&context->lock);
    for (struct scratch *s = context->scratch; s != NULL; s = s->next)
        if (s->capture != 0 && (*id == STREAM_CLOSED || s->stream_id == *id))
            s->stream_id = STREAM_CLOSED;
    pthread_mutex_unlock(&context->lock);
}

void scratch_reorder(CUstream stream)
{
    uint64_t id = STREAM_CLOSED;
    struct context *context = context_known();
    if (context == NULL)
        return;
    if (stream == NULL || !stream_identity(context, stream, &id))
        id = STREAM_CLOSED;
    context_each(close_sets, &id);
}

static void forget_capture(struct context *context, void *arg)
{
    const uint64_t capture = *(const uint64_t *)arg;
    struct scratch *s;
    size_t unused = 0, unused_bytes = 0;
    while ((s = take_if(context, of_capture, capture)) != NULL) {
        put_aside(context, s->data, s->data_bytes, 0);
        put_aside(context, s->state, sizeof(struct scratch_state), 0);
        make_orphan(context, s);
    }
    pthread_mutex_lock(&context->lock);
    for (struct garbage *g = context->garbage; g != NULL; g = g->next) {
        if (g->capture == capture)
            g->capture = 0;
        unused += g->capture == 0;
        unused_bytes += g->capture == 0 ? g->bytes : 0;
    }
    pthread_mutex_unlock(&context->lock);
    if (unused < GARBAGE_MOST &&
        unused_bytes <= atomic_load(&context->scratch_budget) / 2)
        return;
    CUcontext popped;
    if (context->cuda->cuCtxPushCurrent_v2(context->handle) != CUDA_SUCCESS)
        return;
    sweep(context);
    context->cuda->cuCtxPopCurrent_v2(&popped);
}

void scratch_forget_capture(uint64_t capture)
{
    context_each(forget_capture, &capture);
}

bool scratch_relieve(void)
{
    struct context *context = context_known();
    struct scratch *s;
    if (context == NULL)
        return false;
    bool any = sweep(context);
    /* A stream that captures now can't free; the others wait, so that the pool can give back. */
    while (context->gpu.memory_pools && (s = take_if(context, of_any_stream, 0)) != NULL) {
        const bool idle = context_capture_id(context, s->stream) == 0;
        if (idle) {
            release(context, s->stream, s->data, s->data_bytes);
            CUstreamCaptureMode mode = context_relax_capture(context);
            context->cuda->cuStreamSynchronize(s->stream);
            context_restore_capture(context, mode);
            any = true;
        }
        s->data = idle ? 0 : s->data;
        s->data_bytes = idle ? 0 : s->data_bytes;
        scratch_give_back(context, s);
        if (!idle)
            break;
    }
    return any;
}
