/* SPDX-License-Identifier: BSD-3-Clause
 * Graph nodes but those that copy: kernels, host functions, events, child graphs, memory, and the
 * entry points for any kind. Owns no state. */
#include "cudart.h"

#include <string.h>

_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "same layout");
_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
               "same layout");
_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "same size");

API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                      const cudaGraphNode_t *dependencies, size_t n)
{
    FORWARD(cuGraphAddEmptyNode(node, graph, dependencies, n));
}

/* ---- kernels */

static cudaError_t kernel_params(CUDA_KERNEL_NODE_PARAMS *to, const struct cudaKernelNodeParams *p)
{
    memset(to, 0, sizeof *to);
    cudaError_t error = p != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = function_of(p->func, &to->func);
    if (error != cudaSuccess)
        return error;
    to->gridDimX = p->gridDim.x;
    to->gridDimY = p->gridDim.y;
    to->gridDimZ = p->gridDim.z;
    to->blockDimX = p->blockDim.x;
    to->blockDimY = p->blockDim.y;
    to->blockDimZ = p->blockDim.z;
    to->sharedMemBytes = p->sharedMemBytes;
    to->kernelParams = p->kernelParams;
    to->extra = p->extra;
    return cudaSuccess;
}

API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, size_t n,
                                       const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t error = kernel_params(&params, p);
    if (error == cudaSuccess)
        error =
            error_of(driver_of(false)->cuGraphAddKernelNode(node, graph, dependencies, n, &params));
    return record(error);
}

API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t error = kernel_params(&params, p);
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphKernelNodeSetParams(node, &params));
    return record(error);
}

API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t error = kernel_params(&params, p);
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphExecKernelNodeSetParams(exec, node, &params));
    return record(error);
}

API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t error = p != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphKernelNodeGetParams(node, &params));
    if (error != cudaSuccess)
        return record(error);
    *p = (struct cudaKernelNodeParams){
        .func = host_function_of(params.func),
        .gridDim = {.x = params.gridDimX, .y = params.gridDimY, .z = params.gridDimZ},
        .blockDim = {.x = params.blockDimX, .y = params.blockDimY, .z = params.blockDimZ},
        .sharedMemBytes = params.sharedMemBytes,
        .kernelParams = params.kernelParams,
        .extra = params.extra,
    };
    return cudaSuccess;
}

API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t dst, cudaGraphNode_t src)
{
    FORWARD(cuGraphKernelNodeCopyAttributes(dst, src));
}

API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                cudaLaunchAttributeID attribute,
                                                cudaLaunchAttributeValue *value)
{
    FORWARD(cuGraphKernelNodeGetAttribute(node, (CUlaunchAttributeID)attribute,
                                          (CUlaunchAttributeValue *)value));
}

API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                                cudaLaunchAttributeID attribute,
                                                const cudaLaunchAttributeValue *value)
{
    FORWARD(cuGraphKernelNodeSetAttribute(node, (CUlaunchAttributeID)attribute,
                                          (const CUlaunchAttributeValue *)value));
}

/* ---- host functions */

API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *dependencies, size_t n,
                                     const struct cudaHostNodeParams *p)
{
    FORWARD(cuGraphAddHostNode(node, graph, dependencies, n, (const CUDA_HOST_NODE_PARAMS *)p));
}

API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p)
{
    FORWARD(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)p));
}

API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p)
{
    FORWARD(cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)p));
}

API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               const struct cudaHostNodeParams *p)
{
    FORWARD(cuGraphExecHostNodeSetParams(exec, node, (const CUDA_HOST_NODE_PARAMS *)p));
}

/* ---- child graphs */

API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t n,
                                           cudaGraph_t child)
{
    FORWARD(cuGraphAddChildGraphNode(node, graph, dependencies, n, child));
}

API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    FORWARD(cuGraphChildGraphNodeGetGraph(node, graph));
}

API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     cudaGraph_t child)
{
    FORWARD(cuGraphExecChildGraphNodeSetParams(exec, node, child));
}

/* ---- events */

API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *dependencies, size_t n,
                                            cudaEvent_t event)
{
    FORWARD(cuGraphAddEventRecordNode(node, graph, dependencies, n, event));
}

API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    FORWARD(cuGraphEventRecordNodeGetEvent(node, event));
}

API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    FORWARD(cuGraphEventRecordNodeSetEvent(node, event));
}

API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     cudaEvent_t event)
{
    FORWARD(cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies, size_t n,
                                          cudaEvent_t event)
{
    FORWARD(cuGraphAddEventWaitNode(node, graph, dependencies, n, event));
}

API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    FORWARD(cuGraphEventWaitNodeGetEvent(node, event));
}

API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    FORWARD(cuGraphEventWaitNodeSetEvent(node, event));
}

API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                   cudaEvent_t event)
{
    FORWARD(cuGraphExecEventWaitNodeSetEvent(exec, node, event));
}

/* ---- memory */

API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *dependencies, size_t n,
                                         struct cudaMemAllocNodeParams *p)
{
    FORWARD(cuGraphAddMemAllocNode(node, graph, dependencies, n, (CUDA_MEM_ALLOC_NODE_PARAMS *)p));
}

API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                               struct cudaMemAllocNodeParams *p)
{
    FORWARD(cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)p));
}

API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *dependencies, size_t n, void *p)
{
    FORWARD(cuGraphAddMemFreeNode(node, graph, dependencies, n, (CUdeviceptr)p));
}

API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *p)
{
    FORWARD(cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)p));
}

/* ---- any kind */

/* The driver's form. Most kinds have the same layout in both; kernels, copies and conditions don't.
 */
static cudaError_t any_params(CUgraphNodeParams *to, const struct cudaGraphNodeParams *p)
{
    CUcontext context = NULL;
    cudaError_t error = p != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuCtxGetCurrent(&context));
    if (error != cudaSuccess)
        return error;
    memcpy(to, p, sizeof *to);
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        memset(&to->kernel, 0, sizeof to->kernel);
        to->kernel.gridDimX = p->kernel.gridDim.x;
        to->kernel.gridDimY = p->kernel.gridDim.y;
        to->kernel.gridDimZ = p->kernel.gridDim.z;
        to->kernel.blockDimX = p->kernel.blockDim.x;
        to->kernel.blockDimY = p->kernel.blockDim.y;
        to->kernel.blockDimZ = p->kernel.blockDim.z;
        to->kernel.sharedMemBytes = p->kernel.sharedMemBytes;
        to->kernel.kernelParams = p->kernel.kernelParams;
        to->kernel.extra = p->kernel.extra;
        return function_of(p->kernel.func, &to->kernel.func);
    case cudaGraphNodeTypeMemcpy:
        memset(&to->memcpy, 0, sizeof to->memcpy);
        to->memcpy.flags = p->memcpy.flags;
        to->memcpy.copyCtx = context;
        return copy_3d(&to->memcpy.copyParams, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        to->memset.ctx = context;
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        to->conditional.ctx = context;
        return cudaSuccess;
    default:
        return cudaSuccess;
    }
}

API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *dependencies,
                                 const cudaGraphEdgeData *edges, size_t n,
                                 struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams params;
    cudaError_t error = any_params(&params, p);
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphAddNode(
            node, graph, dependencies, (const CUgraphEdgeData *)edges, n, &params));
    if (error == cudaSuccess && p->type == cudaGraphNodeTypeMemAlloc)
        p->alloc.dptr = (void *)params.alloc.dptr;
    if (error == cudaSuccess && p->type == cudaGraphNodeTypeConditional)
        p->conditional.phGraph_out = params.conditional.phGraph_out;
    return record(error);
}

API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams params;
    cudaError_t error = any_params(&params, p);
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphNodeSetParams(node, &params));
    return record(error);
}

API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams params;
    cudaError_t error = any_params(&params, p);
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphExecNodeSetParams(exec, node, &params));
    return record(error);
}
