/* SPDX-License-Identifier: BSD-3-Clause
 * Graph nodes that record or wait for events outside of the graph, and those that allocate and free
 * memory: an allocation node has one address for its life, which ends with its last executable. */
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- events */
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

/* ---- memory */
API CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                    size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    ENTER("cuGraphAddMemAllocNode");
    CUcontext context;
    CUdeviceptr p;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS && (params == NULL || params->bytesize == 0))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    r = memory_allocate(context, MEMORY_ASYNC, params->bytesize, (void **)&p);
    pthread_mutex_unlock(&driver_lock);
    if (r != CUDA_SUCCESS)
        return r;
    params->dptr = p;
    return graph_add_checked(
        node, graph, deps, n,
        body_make(NULL, copy_of(&p, sizeof p), sizeof p, CU_GRAPH_NODE_TYPE_MEM_ALLOC));
}

API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    ENTER("cuGraphMemAllocNodeGetParams");
    if (node == NULL || params == NULL || node->body->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return CUDA_ERROR_INVALID_VALUE;
    memset(params, 0, sizeof *params);
    params->dptr = *(const CUdeviceptr *)node->body->arg;
    params->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find((void *)(uintptr_t)params->dptr);
    if (a != NULL) {
        params->bytesize = a->bytes;
        params->poolProps.location.id = a->context->device->ordinal;
    }
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                   size_t n, CUdeviceptr p)
{
    ENTER("cuGraphAddMemFreeNode");
    if (p == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return graph_add_checked(
        node, graph, deps, n,
        body_make(NULL, copy_of(&p, sizeof p), sizeof p, CU_GRAPH_NODE_TYPE_MEM_FREE));
}

API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *p)
{
    ENTER("cuGraphMemFreeNodeGetParams");
    if (node == NULL || p == NULL || node->body->type != CU_GRAPH_NODE_TYPE_MEM_FREE)
        return CUDA_ERROR_INVALID_VALUE;
    *p = *(const CUdeviceptr *)node->body->arg;
    return CUDA_SUCCESS;
}

/* Graph memory is ordinary device memory here; nothing is held back for later. */
API CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    ENTER("cuDeviceGraphMemTrim");
    return device < 0 || device >= device_count ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
