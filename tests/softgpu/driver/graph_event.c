/* SPDX-License-Identifier: BSD-3-Clause
 * Graph nodes that record or wait for events outside of the graph. */
#include "tests/softgpu/driver/graph.h"

#include <stdlib.h>

static CUresult run_record(void *arg, CUcontext context, struct op_result *result)
{
    CUevent event = *(CUevent *)arg;
    struct completion *completion = calloc(1, sizeof *completion);
    if (completion == NULL)
        abort();
    *completion = (struct completion){.refs = 1, .done = true, .time = result->start};
    pthread_mutex_lock(&driver_lock);
    completion_unref(event->completion);
    event->completion = completion;
    event->capture = NULL;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

static CUresult run_wait(void *arg, CUcontext context, struct op_result *result)
{
    CUevent event = *(CUevent *)arg;
    pthread_mutex_lock(&driver_lock); /* graph_run.c has seen to it that the event is done */
    if (event->completion != NULL && event->completion->time > result->start)
        result->seconds = event->completion->time - result->start;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

const struct op_kind graph_record_kind = {"event record", run_record, NULL,
                                          CU_GRAPH_NODE_TYPE_EVENT_RECORD};
const struct op_kind graph_wait_kind = {"event wait", run_wait, NULL,
                                        CU_GRAPH_NODE_TYPE_WAIT_EVENT};

static CUresult event_body(CUevent event, const struct op_kind *kind, struct node_body **body_p)
{
    if (event == NULL || event->dead)
        return CUDA_ERROR_INVALID_HANDLE;
    *body_p = body_make(kind, copy_of(&event, sizeof event), sizeof event, kind->node_type);
    return CUDA_SUCCESS;
}

static CUresult event_of(CUgraphNode node, const struct op_kind *kind, CUevent *event)
{
    if (node == NULL || event == NULL || node->body->kind != kind)
        return CUDA_ERROR_INVALID_VALUE;
    *event = *(CUevent *)node->body->arg;
    return CUDA_SUCCESS;
}

#define EVENT_CALLS(_add, _get, _set, _exec_set, _kind)                                            \
    API CUresult _add(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,         \
                      CUevent event)                                                               \
    {                                                                                              \
        ENTER(#_add);                                                                              \
        struct node_body *body;                                                                    \
        CUresult r = event_body(event, _kind, &body);                                              \
        return r == CUDA_SUCCESS ? graph_add_checked(node, graph, deps, n, body) : r;              \
    }                                                                                              \
    API CUresult _get(CUgraphNode node, CUevent *event)                                            \
    {                                                                                              \
        ENTER(#_get);                                                                              \
        return event_of(node, _kind, event);                                                       \
    }                                                                                              \
    API CUresult _set(CUgraphNode node, CUevent event)                                             \
    {                                                                                              \
        ENTER(#_set);                                                                              \
        struct node_body *body;                                                                    \
        CUresult r = event_body(event, _kind, &body);                                              \
        return r == CUDA_SUCCESS ? node_replace(node, body) : r;                                   \
    }                                                                                              \
    API CUresult _exec_set(CUgraphExec exec, CUgraphNode node, CUevent event)                      \
    {                                                                                              \
        ENTER(#_exec_set);                                                                         \
        struct node_body *body;                                                                    \
        CUresult r = event_body(event, _kind, &body);                                              \
        return r == CUDA_SUCCESS ? exec_replace(exec, node, body) : r;                             \
    }

EVENT_CALLS(cuGraphAddEventRecordNode, cuGraphEventRecordNodeGetEvent,
            cuGraphEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, &graph_record_kind)
EVENT_CALLS(cuGraphAddEventWaitNode, cuGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeSetEvent,
            cuGraphExecEventWaitNodeSetEvent, &graph_wait_kind)
