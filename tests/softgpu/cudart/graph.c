/* SPDX-License-Identifier: BSD-3-Clause
 * Graphs as a whole: making, instantiating, updating, their edges, user objects. Handles are the
 * driver's. Owns no state. */
#include "cudart.h"

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "same layout");
_Static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo),
               "same layout");

API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    FORWARD(cuGraphCreate(graph, flags));
}

API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    FORWARD(cuGraphDestroy(graph));
}

API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    FORWARD(cuGraphClone(clone, graph));
}

API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                              unsigned long long flags)
{
    FORWARD(cuGraphInstantiateWithFlags(exec, graph, flags));
}

API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                     unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    FORWARD(cuGraphExecGetFlags(exec, (cuuint64_t *)flags));
}

API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    FORWARD(cuGraphExecDestroy(exec));
}

API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                    cudaGraphExecUpdateResultInfo *info)
{
    FORWARD(cuGraphExecUpdate(exec, graph, (CUgraphExecUpdateResultInfo *)info));
}

API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    FORWARD(cuGraphGetNodes(graph, nodes, n));
}

API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    FORWARD(cuGraphGetRootNodes(graph, nodes, n));
}

API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                  cudaGraphEdgeData *data, size_t *n)
{
    FORWARD(cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)data, n));
}

API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *dependencies,
                                             cudaGraphEdgeData *data, size_t *n)
{
    FORWARD(cuGraphNodeGetDependencies(node, dependencies, (CUgraphEdgeData *)data, n));
}

API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *dependents,
                                               cudaGraphEdgeData *data, size_t *n)
{
    FORWARD(cuGraphNodeGetDependentNodes(node, dependents, (CUgraphEdgeData *)data, n));
}

API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                         const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                         size_t n)
{
    FORWARD(cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)data, n));
}

API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *data, size_t n)
{
    FORWARD(cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)data, n));
}

API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    FORWARD(cuGraphDestroyNode(node));
}

API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                         cudaGraph_t clone)
{
    FORWARD(cuGraphNodeFindInClone(node, original, clone));
}

API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    FORWARD(cuGraphNodeGetType(node, (CUgraphNodeType *)type));
}

API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        unsigned *enabled)
{
    FORWARD(cuGraphNodeGetEnabled(exec, node, enabled));
}

API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        unsigned enabled)
{
    FORWARD(cuGraphNodeSetEnabled(exec, node, enabled));
}

API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    FORWARD(cuGraphDebugDotPrint(graph, path, flags));
}

API cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy,
                                     unsigned references, unsigned flags)
{
    FORWARD(cuUserObjectCreate(object, data, destroy, references, flags));
}

API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned n)
{
    FORWARD(cuUserObjectRetain(object, n));
}

API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned n)
{
    FORWARD(cuUserObjectRelease(object, n));
}

API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n,
                                          unsigned flags)
{
    FORWARD(cuGraphRetainUserObject(graph, object, n, flags));
}

API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n)
{
    FORWARD(cuGraphReleaseUserObject(graph, object, n));
}

API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle,
                                                 cudaGraph_t graph, unsigned value, unsigned flags)
{
    CUcontext context = NULL;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuCtxGetCurrent(&context));
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphConditionalHandleCreate(
            (CUgraphConditionalHandle *)handle, graph, context, value, flags));
    return record(error);
}
