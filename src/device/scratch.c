/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the scratch sets, in a list a context (bounded by MAX_SETS; the set of a destroyed stream is
 * used for another); their memory is allocated and freed in stream order, so that no call waits. */
#include "config.h"
#include "device/scratch.h"
#include "base/log.h"
#include "kernels/kernels.h"

#include <stdlib.h>

enum { MAX_SETS = 1024, BUDGET_SHARE = 8 };
#define GRANULE ((size_t)2 << 20)

static CUresult allocate(const struct context *context, CUstream stream, size_t bytes,
                         CUdeviceptr *p)
{
    CUstreamCaptureMode mode = context_relax_capture(context);
    CUresult r = context->gpu.memory_pools
                     ? context->cuda->cuMemAllocAsync(p, bytes, stream)
                     : context->cuda->cuMemAlloc_v2(p, bytes);
    context_restore_capture(context, mode);
    return r;
}

/* Without pools there is no free that does not wait: the memory stays, and sizes double so that
 * what is lost is bounded by what is used. */
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
    bytes = free_bytes / BUDGET_SHARE;
    uint64_t undecided = 0;
    if (!atomic_compare_exchange_strong(&context->scratch_budget, &undecided, bytes))
        return undecided;
    LOG_INFO("scratch memory: at most %llu MiB of %zu MiB free",
             (unsigned long long)(bytes >> 20), free_bytes >> 20);
    return bytes;
}

static bool reserve(struct context *context, size_t bytes)
{
    if (atomic_fetch_add(&context->scratch_bytes, bytes) + bytes <= budget(context))
        return true;
    atomic_fetch_sub(&context->scratch_bytes, bytes);
    return false;
}

static bool allocate_reserved(struct context *context, CUstream stream, size_t bytes,
                              CUdeviceptr *p)
{
    if (!reserve(context, bytes))
        return false;
    if (allocate(context, stream, bytes, p) == CUDA_SUCCESS)
        return true;
    atomic_fetch_sub(&context->scratch_bytes, bytes);
    return false;
}

static bool grow(struct context *context, CUstream stream, struct scratch *s, size_t bytes)
{
    if (!context->gpu.memory_pools && bytes < 2 * s->data_bytes)
        bytes = 2 * s->data_bytes;
    bytes = (bytes + GRANULE - 1) & ~(GRANULE - 1);
    CUdeviceptr fresh;
    if (!allocate_reserved(context, stream, bytes, &fresh))
        return false;
    release(context, stream, s->data, s->data_bytes);
    s->data = fresh;
    s->data_bytes = bytes;
    return true;
}

/* The record exists and its maxima are zero, or become so before this call's work. */
static bool prepare_record(struct context *context, CUstream stream, struct scratch *s)
{
    if (s->record == 0) {
        if (!allocate_reserved(context, stream, sizeof(struct apex_record), &s->record))
            return false;
        s->dirty = true;
    }
    if (s->dirty && context->cuda->cuMemsetD8Async(s->record, 0, sizeof(struct apex_record),
                                                   stream) != CUDA_SUCCESS)
        return false;
    s->dirty = false;
    return true;
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
static struct scratch *take_set(struct context *context, uint64_t id)
{
    size_t n = 0;
    struct scratch *orphan = NULL;
    pthread_mutex_lock(&context->lock);
    struct scratch *s = context->scratch;
    for (; s != NULL && (s->taken || s->orphan || s->stream_id != id); s = s->next) {
        n++;
        if (s->orphan)
            orphan = s;
    }
    if (s == NULL && orphan != NULL) {
        s = orphan;
        s->orphan = false;
        s->stream_id = id;
    }
    if (s == NULL && n < MAX_SETS && (s = calloc(1, sizeof *s)) != NULL) {
        s->stream_id = id;
        s->next = context->scratch;
        context->scratch = s;
    }
    if (s != NULL)
        s->taken = true;
    pthread_mutex_unlock(&context->lock);
    return s;
}

struct scratch *scratch_take(struct context *context, CUstream stream, size_t bytes)
{
    uint64_t id;
    if (!stream_identity(context, stream, &id))
        return NULL;
    struct scratch *s = take_set(context, id);
    if (s == NULL)
        return NULL;
    if (prepare_record(context, stream, s) &&
        (s->data_bytes >= bytes || grow(context, stream, s, bytes)))
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

void scratch_forget_stream(CUstream stream)
{
    uint64_t id;
    struct context *context = context_known();
    /* Without pools there is no free that does not wait; the sets stay. */
    if (context == NULL || !context->gpu.memory_pools || !stream_identity(context, stream, &id))
        return;
    for (;;) {
        pthread_mutex_lock(&context->lock);
        struct scratch *s = context->scratch;
        while (s != NULL && (s->taken || s->orphan || s->stream_id != id))
            s = s->next;
        if (s != NULL)
            s->taken = true;
        pthread_mutex_unlock(&context->lock);
        if (s == NULL)
            return;
        release(context, stream, s->data, s->data_bytes);
        release(context, stream, s->record, sizeof(struct apex_record));
        s->data = s->record = 0;
        s->data_bytes = 0;
        pthread_mutex_lock(&context->lock);
        s->orphan = true;
        s->taken = false;
        pthread_mutex_unlock(&context->lock);
    }
}
