/* SPDX-License-Identifier: BSD-3-Clause
 * Events: recorded as an operation of a stream, waited for by other streams and by the host.
 * Elapsed times are modelled. Owns the list of all events, dead ones too. */
#include "tests/softgpu/driver/ipc.h"
#include "tests/softgpu/driver/stream.h"

#include <stdlib.h>

static CUresult run_nothing(void *arg, CUcontext context, struct op_result *result)
{
    return CUDA_SUCCESS;
}

static const struct op_kind record_kind = {"event record", run_nothing, NULL,
                                           CU_GRAPH_NODE_TYPE_EVENT_RECORD};
static const struct op_kind wait_kind = {"event wait", run_nothing, NULL,
                                         CU_GRAPH_NODE_TYPE_WAIT_EVENT};

static CUevent all;

API CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    ENTER("cuEventCreate");
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (event == NULL || flags > 7 ||
        (flags & (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)) == CU_EVENT_INTERPROCESS)
        return CUDA_ERROR_INVALID_VALUE;
    *event = calloc(1, sizeof **event);
    if (*event == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*event)->context = context;
    (*event)->flags = flags;
    pthread_mutex_lock(&driver_lock);
    (*event)->next = all;
    all = *event;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

static CUresult check_event(CUevent event)
{
    if (event == NULL || event->dead)
        return CUDA_ERROR_INVALID_HANDLE;
    return event->context->dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED : event->context->sticky;
}

API CUresult cuEventDestroy_v2(CUevent event)
{
    ENTER("cuEventDestroy_v2");
    if (event == NULL || event->dead)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    event->dead = true;
    completion_unref(event->completion);
    event->completion = NULL;
    free(event->capture_nodes);
    event->capture_nodes = NULL;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuEventDestroy(CUevent event)
{
    return cuEventDestroy_v2(event);
}

static CUresult record(CUevent event, CUstream handle, bool per_thread, unsigned flags)
{
    CUstream stream;
    CUresult r = check_event(event);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && stream->context != event->context) {
        r = CUDA_ERROR_INVALID_HANDLE;
    } else if (r == CUDA_SUCCESS && stream->capture != NULL) {
        r = capture_event_record(stream, event, flags);
    } else if (r == CUDA_SUCCESS) {
        event->capture = NULL;
        /* Recording on the legacy stream waits for the blocking streams, like any work there. */
        pthread_mutex_unlock(&driver_lock);
        if (event->shared != NULL)
            return ipc_event_record(event, handle, per_thread);
        return stream_submit_after(handle, per_thread, &record_kind, "", 0, NULL,
                                   &event->completion);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult wait(CUstream handle, bool per_thread, CUevent event, unsigned flags)
{
    CUstream stream;
    bool done = false;
    if (event == NULL || event->dead)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS)
        r = capture_event_wait(stream, event, flags, &done);
    if (r == CUDA_SUCCESS && !done && event->shared != NULL) {
        pthread_mutex_unlock(&driver_lock);
        return ipc_event_wait(event, handle, per_thread);
    }
    if (r == CUDA_SUCCESS && !done && event->completion != NULL) {
        struct completion **waits = calloc(1, sizeof(struct completion *));
        if (waits == NULL)
            abort();
        waits[0] = completion_ref(event->completion);
        stream_put(stream, &wait_kind, NULL, false, waits, 1, NULL);
        if (mode_deferred()) {
            run_some();
        } else {
            struct completion *last = completion_ref(stream->last);
            run_put(last, stream->context);
            completion_unref(last);
        }
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    ENTER("cuEventRecord");
    return record(event, stream, false, 0);
}

API CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
API CUresult cuEventRecord_ptsz(CUevent event, CUstream stream)
{
    ENTER("cuEventRecord_ptsz");
    return record(event, stream, true, 0);
}

API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    ENTER("cuEventRecordWithFlags");
    return record(event, stream, false, flags);
}

API CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags);
API CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags)
{
    ENTER("cuEventRecordWithFlags_ptsz");
    return record(event, stream, true, flags);
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    ENTER("cuStreamWaitEvent");
    return wait(stream, false, event, flags);
}

API CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags);
API CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags)
{
    ENTER("cuStreamWaitEvent_ptsz");
    return wait(stream, true, event, flags);
}

API CUresult cuEventQuery(CUevent event)
{
    ENTER("cuEventQuery");
    CUresult r = check_event(event);
    if (r != CUDA_SUCCESS)
        return r;
    r = event->capture != NULL ? capture_event_misused(event) : capture_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    if (event->shared != NULL)
        return ipc_event_query(event);
    pthread_mutex_lock(&driver_lock);
    run_polled();
    if (event->completion != NULL && !event->completion->done)
        r = CUDA_ERROR_NOT_READY;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuEventSynchronize(CUevent event)
{
    ENTER("cuEventSynchronize");
    CUresult r = check_event(event);
    if (r != CUDA_SUCCESS)
        return r;
    r = event->capture != NULL ? capture_event_misused(event) : capture_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    if (event->shared != NULL)
        return ipc_event_synchronize(event);
    pthread_mutex_lock(&driver_lock);
    struct completion *completion = completion_ref(event->completion);
    r = run_until(completion, event->context);
    completion_unref(completion);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end)
{
    CUresult r = check_event(start);
    if (r == CUDA_SUCCESS)
        r = check_event(end);
    if (r != CUDA_SUCCESS)
        return r;
    if (milliseconds == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING || start->completion == NULL ||
        end->completion == NULL || start->context->device != end->context->device)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    if (!start->completion->done || !end->completion->done)
        r = CUDA_ERROR_NOT_READY;
    else
        *milliseconds = (float)((end->completion->time - start->completion->time) * 1e3);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    ENTER("cuEventElapsedTime");
    return elapsed(milliseconds, start, end);
}

API CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    ENTER("cuEventElapsedTime_v2");
    return elapsed(milliseconds, start, end);
}
