/* SPDX-License-Identifier: BSD-3-Clause
 * Stream capture and its rules, as the CUDA documentation gives them: modes, calls that a capture
 * forbids, forks and joins by events, invalidation. Owns the list of captures in progress. */
#include "tests/softgpu/driver/graph.h"

#include <stdlib.h>
#include <string.h>

static struct capture *captures;
static uint64_t last_id;
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static void set_deps(CUstream stream, const CUgraphNode *nodes, size_t n)
{
    CUgraphNode *copy = calloc(n + 1, sizeof(CUgraphNode));
    if (copy == NULL)
        abort();
    if (n > 0)
        memcpy(copy, nodes, sizeof(CUgraphNode) * n);
    free(stream->capture_deps);
    stream->capture_deps = copy;
    stream->n_capture_deps = n;
}

/* Adds nodes that are not there yet. */
static void add_deps(CUstream stream, const CUgraphNode *nodes, size_t n)
{
    CUgraphNode *all = calloc(stream->n_capture_deps + n + 1, sizeof(CUgraphNode));
    size_t count = stream->n_capture_deps;
    if (all == NULL)
        abort();
    memcpy(all, stream->capture_deps, sizeof(CUgraphNode) * count);
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (size_t j = 0; j < count; j++)
            there = there || all[j] == nodes[i];
        if (!there)
            all[count++] = nodes[i];
    }
    free(stream->capture_deps);
    stream->capture_deps = all;
    stream->n_capture_deps = count;
}

/* Does this capture forbid an unsafe call on this thread, which has the given mode? */
static bool forbids(const struct capture *c, CUstreamCaptureMode mode)
{
    const bool mine = pthread_equal(c->owner, pthread_self());
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (mine)
        return c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_unsafe(void)
{
    CUresult r = CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    for (struct capture *c = captures; c != NULL; c = c->next)
        if (forbids(c, thread_mode)) {
            c->invalid = true;
            r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

void capture_invalidate(CUstream stream)
{
    if (stream->capture != NULL)
        stream->capture->invalid = true;
}

/* A capture on a blocking stream of the context. */
static struct capture *blocking_capture(CUcontext context)
{
    for (CUstream s = context->streams; s != NULL; s = s->next)
        if (s->capture != NULL && !(s->flags & CU_STREAM_NON_BLOCKING))
            return s->capture;
    return NULL;
}

CUresult capture_legacy_conflict(CUcontext context)
{
    struct capture *c = blocking_capture(context);
    if (c == NULL)
        return CUDA_SUCCESS;
    c->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult capture_add_body(CUstream stream, struct node_body *body)
{
    if (stream->capture->invalid) {
        body_unref(body);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    CUgraphNode node =
        graph_add(stream->capture->graph, body, stream->capture_deps, stream->n_capture_deps);
    set_deps(stream, &node, 1);
    return CUDA_SUCCESS;
}

CUresult capture_add(CUstream stream, const struct op_kind *kind, void *arg, size_t arg_bytes)
{
    struct node_body *body = body_make(kind, arg, arg_bytes, kind->node_type);
    body->context = stream->context;
    return capture_add_body(stream, body);
}

static bool in_progress(const struct capture *capture)
{
    for (struct capture *c = captures; c != NULL; c = c->next)
        if (c == capture)
            return true;
    return false;
}

/* A node that means the event outside of the capture, not the order inside of it. */
static CUresult add_event_node(CUstream stream, CUevent event, const struct op_kind *kind)
{
    return capture_add(stream, kind, copy_of(&event, sizeof event), sizeof event);
}

CUresult capture_event_misused(struct CUevent_st *event)
{
    pthread_mutex_lock(&driver_lock);
    if (in_progress(event->capture) && event->capture->id == event->capture_id)
        event->capture->invalid = true;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult capture_event_record(CUstream stream, struct CUevent_st *event, unsigned flags)
{
    if (stream->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (flags == CU_EVENT_RECORD_EXTERNAL)
        return add_event_node(stream, event, &graph_record_kind);
    free(event->capture_nodes);
    event->capture_nodes = calloc(stream->n_capture_deps + 1, sizeof(CUgraphNode));
    if (event->capture_nodes == NULL)
        abort();
    memcpy(event->capture_nodes, stream->capture_deps,
           sizeof(CUgraphNode) * stream->n_capture_deps);
    event->n_capture_nodes = stream->n_capture_deps;
    event->capture = stream->capture;
    event->capture_id = stream->capture->id;
    return CUDA_SUCCESS;
}

CUresult capture_event_wait(CUstream stream, struct CUevent_st *event, unsigned flags, bool *done_p)
{
    const bool captured = event->capture != NULL;
    *done_p = captured || stream->capture != NULL;
    if (!*done_p)
        return CUDA_SUCCESS;
    if (flags == CU_EVENT_WAIT_EXTERNAL && stream->capture != NULL)
        return stream->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                        : add_event_node(stream, event, &graph_wait_kind);
    if (!captured) { /* would make the graph depend on work outside of it */
        stream->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (!in_progress(event->capture) || event->capture->id != event->capture_id)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (stream->capture != NULL && stream->capture != event->capture) {
        stream->capture->invalid = event->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (event->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture == NULL) {
        stream->capture = event->capture;
        set_deps(stream, NULL, 0);
    }
    add_deps(stream, event->capture_nodes, event->n_capture_nodes);
    return CUDA_SUCCESS;
}

static CUresult begin(CUstream handle, bool per_thread, CUstreamCaptureMode mode, CUgraph graph,
                      const CUgraphNode *deps, size_t n)
{
    CUstream stream;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && stream->legacy) {
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else if (r == CUDA_SUCCESS && stream->capture != NULL) {
        r = CUDA_ERROR_ILLEGAL_STATE;
    } else if (r == CUDA_SUCCESS) {
        struct capture *c = calloc(1, sizeof *c);
        if (c == NULL)
            abort();
        *c = (struct capture){.id = ++last_id, .mode = mode, .owner = pthread_self(),
                              .origin = stream, .graph = graph != NULL ? graph : graph_make(),
                              .graph_given = graph != NULL, .next = captures};
        captures = c;
        stream->capture = c;
        set_deps(stream, deps, n);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* Has every stream that joined been merged back into the origin? */
static bool all_joined(const struct capture *c)
{
    for (CUstream s = c->origin->context->streams; s != NULL; s = s->next)
        for (size_t i = 0; s != c->origin && s->capture == c && i < s->n_capture_deps; i++) {
            bool reached = false;
            for (size_t j = 0; j < c->origin->n_capture_deps; j++)
                reached = reached || graph_reaches(c->origin->capture_deps[j], s->capture_deps[i]);
            if (!reached)
                return false;
        }
    return true;
}

static void finish(struct capture *c)
{
    for (int d = 0; d < context_count(); d++)
        for (CUstream s = context_at(d)->streams; s != NULL; s = s->next)
            if (s->capture == c) {
                s->capture = NULL;
                set_deps(s, NULL, 0);
            }
    for (struct capture **link = &captures; *link != NULL; link = &(*link)->next)
        if (*link == c) {
            *link = c->next;
            break;
        }
    free(c);
}

static CUresult end(CUstream handle, bool per_thread, CUgraph *graph)
{
    CUstream stream;
    if (graph != NULL)
        *graph = NULL;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    struct capture *c = r == CUDA_SUCCESS ? stream->capture : NULL;
    if (r == CUDA_SUCCESS && c == NULL) {
        r = CUDA_ERROR_ILLEGAL_STATE;
    } else if (r == CUDA_SUCCESS && c->origin != stream) {
        c->invalid = true;
        r = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    } else if (r == CUDA_SUCCESS && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
               !pthread_equal(c->owner, pthread_self())) {
        r = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    } else if (r == CUDA_SUCCESS) {
        if (c->invalid)
            r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        else if (!all_joined(c))
            r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        if (r == CUDA_SUCCESS && graph != NULL)
            *graph = c->graph;
        else if (!c->graph_given)
            graph_free(c->graph);
        finish(c);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    if (stream->capture == NULL)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* The legacy stream cannot capture, but asking it during a capture that it would wait for fails. */
static CUresult info(CUstream handle, bool per_thread, CUstreamCaptureStatus *status,
                     cuuint64_t *id, CUgraph *graph, const CUgraphNode **deps,
                     const CUgraphEdgeData **edges, size_t *n)
{
    CUstream stream;
    if (status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && stream->legacy && blocking_capture(stream->context) != NULL)
        r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (r == CUDA_SUCCESS) {
        *status = status_of(stream);
        const bool active = *status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
        if (active && id != NULL)
            *id = stream->capture->id;
        if (active && graph != NULL)
            *graph = stream->capture->graph;
        if (active && deps != NULL)
            *deps = stream->capture_deps;
        if (active && edges != NULL)
            *edges = NULL;
        if (active && n != NULL)
            *n = stream->n_capture_deps;
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult update(CUstream handle, bool per_thread, const CUgraphNode *deps, size_t n,
                       unsigned flags)
{
    CUstream stream;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && stream->capture == NULL)
        r = CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        if (deps[i]->graph != stream->capture->graph)
            r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        set_deps(stream, deps, n);
    else if (r == CUDA_SUCCESS)
        add_deps(stream, deps, n);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* Each call in the form for the legacy default stream and in that for the per-thread one. */
#define BOTH(_name, _parameters, _legacy_call, _per_thread_call)                                   \
    API CUresult _name _parameters;                                                                \
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

BOTH(cuStreamBeginCapture_v2, (CUstream s, CUstreamCaptureMode mode),
     begin(s, false, mode, NULL, NULL, 0), begin(s, true, mode, NULL, NULL, 0))
BOTH(cuStreamBeginCaptureToGraph,
     (CUstream s, CUgraph graph, const CUgraphNode *deps, const CUgraphEdgeData *edges, size_t n,
      CUstreamCaptureMode mode),
     begin(s, false, mode, graph, deps, n), begin(s, true, mode, graph, deps, n))
BOTH(cuStreamEndCapture, (CUstream s, CUgraph *graph), end(s, false, graph), end(s, true, graph))
BOTH(cuStreamIsCapturing, (CUstream s, CUstreamCaptureStatus *status),
     info(s, false, status, NULL, NULL, NULL, NULL, NULL),
     info(s, true, status, NULL, NULL, NULL, NULL, NULL))
BOTH(cuStreamGetCaptureInfo_v2,
     (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
      const CUgraphNode **deps, size_t *n),
     info(s, false, status, id, graph, deps, NULL, n), info(s, true, status, id, graph, deps, NULL, n))
BOTH(cuStreamGetCaptureInfo_v3,
     (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
      const CUgraphNode **deps, const CUgraphEdgeData **edges, size_t *n),
     info(s, false, status, id, graph, deps, edges, n),
     info(s, true, status, id, graph, deps, edges, n))
BOTH(cuStreamUpdateCaptureDependencies, (CUstream s, CUgraphNode *deps, size_t n, unsigned flags),
     update(s, false, deps, n, flags), update(s, true, deps, n, flags))
BOTH(cuStreamUpdateCaptureDependencies_v2,
     (CUstream s, CUgraphNode *deps, const CUgraphEdgeData *edges, size_t n, unsigned flags),
     update(s, false, deps, n, flags), update(s, true, deps, n, flags))

API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    ENTER("cuThreadExchangeStreamCaptureMode");
    if (mode == NULL || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
