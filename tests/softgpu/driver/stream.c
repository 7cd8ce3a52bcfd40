/* SPDX-License-Identifier: BSD-3-Clause
 * Stream objects: created, found by handle, destroyed. A destroyed stream finishes its work and
 * its object stays, so that a stale handle is answered with an error. */
#include "tests/softgpu/driver/stream.h"

#include <stdlib.h>

static uint64_t last_id;

CUstream stream_make(CUcontext context, unsigned flags, int priority, bool legacy)
{
    CUstream stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->context = context;
    stream->id = ++last_id;
    stream->flags = flags;
    stream->priority = priority;
    stream->legacy = legacy;
    stream->rank = mode_random();
    stream->next = context->streams;
    context->streams = stream;
    return stream;
}

void stream_kill_all(CUcontext context)
{
    for (CUstream s = context->streams; s != NULL; s = s->next)
        s->dead = true;
}

static CUstream per_thread_stream(CUcontext context)
{
    for (CUstream s = context->streams; s != NULL; s = s->next)
        if (s->per_thread && pthread_equal(s->owner, pthread_self()))
            return s;
    CUstream s = stream_make(context, CU_STREAM_DEFAULT, 0, false);
    if (s != NULL) {
        s->per_thread = true;
        s->owner = pthread_self();
    }
    return s;
}

static bool known(CUstream handle)
{
    for (int d = 0; d < context_count(); d++)
        for (CUstream s = context_at(d)->streams; s != NULL; s = s->next)
            if (s == handle)
                return true;
    return false;
}

CUresult stream_resolve(CUstream handle, bool per_thread_default, CUstream *stream_p)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (handle == CU_STREAM_PER_THREAD || (handle == NULL && per_thread_default))
        *stream_p = per_thread_stream(context);
    else if (handle == NULL || handle == CU_STREAM_LEGACY)
        *stream_p = context->legacy;
    else if (!known(handle))
        return CUDA_ERROR_INVALID_HANDLE;
    else
        *stream_p = handle;
    if (*stream_p == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if ((*stream_p)->dead)
        return (*stream_p)->context->dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                          : CUDA_ERROR_INVALID_HANDLE;
    return (*stream_p)->context->sticky;
}

static CUresult create(CUstream *stream, unsigned flags, int priority)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (stream == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *stream = stream_make(context, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority, false);
    pthread_mutex_unlock(&driver_lock);
    return *stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    ENTER("cuStreamCreate");
    return create(stream, flags, 0);
}

API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    ENTER("cuStreamCreateWithPriority");
    return create(stream, flags, priority);
}

API CUresult cuStreamDestroy_v2(CUstream handle)
{
    ENTER("cuStreamDestroy_v2");
    CUstream stream;
    if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, false, &stream);
    if (r == CUDA_SUCCESS)
        stream->dead = true;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuStreamDestroy(CUstream handle)
{
    return cuStreamDestroy_v2(handle);
}

static CUresult synchronize(CUstream handle, bool per_thread)
{
    CUstream stream;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && stream->capture != NULL) {
        capture_invalidate(stream);
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&driver_lock);
    if (r == CUDA_SUCCESS)
        r = capture_unsafe();
    return r == CUDA_SUCCESS ? stream_drain(handle, per_thread) : r;
}

static CUresult query(CUstream handle, bool per_thread)
{
    CUstream stream;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && stream->capture != NULL) {
        capture_invalidate(stream);
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else if (r == CUDA_SUCCESS) {
        run_polled();
        r = stream->last == NULL || stream->last->done ? stream->context->sticky
                                                       : CUDA_ERROR_NOT_READY;
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult identity(CUstream handle, bool per_thread, unsigned long long *id)
{
    CUstream stream;
    if (id == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS)
        *id = stream->id;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult properties(CUstream handle, bool per_thread, unsigned *flags, int *priority,
                           CUcontext *context)
{
    CUstream stream;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && flags != NULL)
        *flags = stream->flags;
    if (r == CUDA_SUCCESS && priority != NULL)
        *priority = stream->priority;
    if (r == CUDA_SUCCESS && context != NULL)
        *context = stream->context;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* Each call exists for the legacy default stream and for the per-thread one. */
#define BOTH(_name, _parameters, _legacy_call, _per_thread_call)                                   \
    API CUresult _name _parameters                                                                 \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return _legacy_call;                                                                       \
    }                                                                                              \
    API CUresult _name##_ptsz _parameters;                                                         \
    API CUresult _name##_ptsz _parameters                                                          \
    {                                                                                              \
        ENTER(#_name "_ptsz");                                                                     \
        return _per_thread_call;                                                                   \
    }

BOTH(cuStreamSynchronize, (CUstream hStream), synchronize(hStream, false),
     synchronize(hStream, true))
BOTH(cuStreamQuery, (CUstream hStream), query(hStream, false), query(hStream, true))
BOTH(cuStreamGetId, (CUstream hStream, unsigned long long *id), identity(hStream, false, id),
     identity(hStream, true, id))
BOTH(cuStreamGetFlags, (CUstream hStream, unsigned *flags),
     properties(hStream, false, flags, NULL, NULL), properties(hStream, true, flags, NULL, NULL))
BOTH(cuStreamGetPriority, (CUstream hStream, int *priority),
     properties(hStream, false, NULL, priority, NULL),
     properties(hStream, true, NULL, priority, NULL))
BOTH(cuStreamGetCtx, (CUstream hStream, CUcontext *context),
     properties(hStream, false, NULL, NULL, context), properties(hStream, true, NULL, NULL, context))

/* A callback is an operation of its own. */
struct callback {
    CUstreamCallback function;
    CUstream stream;
    void *data;
};

static CUresult run_callback(void *arg, CUcontext context, struct op_result *result)
{
    struct callback *c = arg;
    c->function(c->stream, context->sticky, c->data);
    return CUDA_SUCCESS;
}

static const struct op_kind callback_kind = {"callback", run_callback, NULL, CU_GRAPH_NODE_TYPE_HOST};

static CUresult add_callback(CUstream stream, bool per_thread, CUstreamCallback function, void *data)
{
    struct callback c = {function, stream, data};
    return function != NULL ? stream_submit(stream, per_thread, &callback_kind, &c, sizeof c)
                            : CUDA_ERROR_INVALID_VALUE;
}

BOTH(cuStreamAddCallback,
     (CUstream hStream, CUstreamCallback callback, void *userData, unsigned flags),
     add_callback(hStream, false, callback, userData),
     add_callback(hStream, true, callback, userData))
