/* SPDX-License-Identifier: BSD-3-Clause
 * The calls that take a node of any type: each hands over to the call of its type. */
#include "tests/softgpu/driver/graph.h"

#include <string.h>

static CUDA_KERNEL_NODE_PARAMS kernel_params(const CUgraphNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS k;
    memcpy(&k, &p->kernel, sizeof k); /* the third version equals the second */
    return k;
}

static CUDA_MEMSET_NODE_PARAMS memset_params(const CUgraphNodeParams *p)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = p->memset.dst,
                                     .pitch = p->memset.pitch,
                                     .value = p->memset.value,
                                     .elementSize = p->memset.elementSize,
                                     .width = p->memset.width,
                                     .height = p->memset.height};
}

static CUDA_BATCH_MEM_OP_NODE_PARAMS batch_params(const CUgraphNodeParams *p)
{
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = p->memOp.ctx,
                                           .count = p->memOp.count,
                                           .paramArray = p->memOp.paramArray,
                                           .flags = p->memOp.flags};
}

static CUresult add_alloc(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                          CUgraphNodeParams *p)
{
    CUDA_MEM_ALLOC_NODE_PARAMS a = {.poolProps = p->alloc.poolProps,
                                    .accessDescs = p->alloc.accessDescs,
                                    .accessDescCount = p->alloc.accessDescCount,
                                    .bytesize = p->alloc.bytesize};
    CUresult r = cuGraphAddMemAllocNode(node, graph, deps, n, &a);
    p->alloc.dptr = a.dptr;
    return r;
}

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                    CUgraphNodeParams *p)
{
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const CUDA_KERNEL_NODE_PARAMS k = kernel_params(p);
        return cuGraphAddKernelNode_v2(node, graph, deps, n, &k);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphAddMemcpyNode(node, graph, deps, n, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const CUDA_MEMSET_NODE_PARAMS m = memset_params(p);
        return cuGraphAddMemsetNode(node, graph, deps, n, &m, p->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
        const CUDA_HOST_NODE_PARAMS h = {p->host.fn, p->host.userData};
        return cuGraphAddHostNode(node, graph, deps, n, &h);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphAddChildGraphNode(node, graph, deps, n, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return cuGraphAddEmptyNode(node, graph, deps, n);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphAddEventWaitNode(node, graph, deps, n, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphAddEventRecordNode(node, graph, deps, n, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return add_alloc(node, graph, deps, n, p);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
        const CUDA_BATCH_MEM_OP_NODE_PARAMS b = batch_params(p);
        return cuGraphAddBatchMemOpNode(node, graph, deps, n, &b);
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuGraphAddMemFreeNode(node, graph, deps, n, p->free.dptr);
    default:
        driver_message("graph nodes of type %d do not exist here", (int)p->type);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* There are no conditional nodes, and so nothing that a handle could belong to. */
API CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                            CUcontext context, unsigned value, unsigned flags)
{
    ENTER("cuGraphConditionalHandleCreate");
    return handle == NULL || graph == NULL || flags > CU_GRAPH_COND_ASSIGN_DEFAULT
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_ERROR_NOT_SUPPORTED;
}

API CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                               const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *params)
{
    ENTER("cuGraphAddNode_v2");
    return add(node, graph, deps, n, params);
}

API CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                            CUgraphNodeParams *params);
API CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                            CUgraphNodeParams *params)
{
    ENTER("cuGraphAddNode");
    return add(node, graph, deps, n, params);
}

API CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
    ENTER("cuGraphNodeSetParams");
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const CUDA_KERNEL_NODE_PARAMS k = kernel_params(p);
        return cuGraphKernelNodeSetParams_v2(node, &k);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const CUDA_MEMSET_NODE_PARAMS m = memset_params(p);
        return cuGraphMemsetNodeSetParams(node, &m);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
        const CUDA_HOST_NODE_PARAMS h = {p->host.fn, p->host.userData};
        return cuGraphHostNodeSetParams(node, &h);
    }
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
        const CUDA_BATCH_MEM_OP_NODE_PARAMS b = batch_params(p);
        return cuGraphBatchMemOpNodeSetParams(node, &b);
    }
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

API CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
    ENTER("cuGraphExecNodeSetParams");
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const CUDA_KERNEL_NODE_PARAMS k = kernel_params(p);
        return cuGraphExecKernelNodeSetParams_v2(exec, node, &k);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphExecMemcpyNodeSetParams(exec, node, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const CUDA_MEMSET_NODE_PARAMS m = memset_params(p);
        return cuGraphExecMemsetNodeSetParams(exec, node, &m, p->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
        const CUDA_HOST_NODE_PARAMS h = {p->host.fn, p->host.userData};
        return cuGraphExecHostNodeSetParams(exec, node, &h);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphExecEventWaitNodeSetEvent(exec, node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphExecEventRecordNodeSetEvent(exec, node, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
        const CUDA_BATCH_MEM_OP_NODE_PARAMS b = batch_params(p);
        return cuGraphExecBatchMemOpNodeSetParams(exec, node, &b);
    }
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
