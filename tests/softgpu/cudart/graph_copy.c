/* SPDX-License-Identifier: BSD-3-Clause
 * Graph nodes that copy and fill memory. Each kind can be added to a graph, asked for its
 * parameters, and changed in the graph or in what was instantiated from it. Owns no state. */
#include "cudart.h"

_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS), "same layout");

/* Where a node's parameters go: a new node of a graph, a node, or a node of an executable graph. */
struct target {
    enum { ADD, SET, SET_EXEC } what;
    cudaGraphNode_t *new_node;
    cudaGraph_t graph;
    const cudaGraphNode_t *dependencies;
    size_t n;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
};

static cudaError_t context_now(CUcontext *context_p)
{
    cudaError_t error = enter();
    return error != cudaSuccess ? error : error_of(driver_of(false)->cuCtxGetCurrent(context_p));
}

static cudaError_t put_copy(const struct target *t, const CUDA_MEMCPY3D *copy)
{
    const struct driver *driver = driver_of(false);
    CUcontext context;
    cudaError_t error = context_now(&context);
    if (error != cudaSuccess)
        return error;
    switch (t->what) {
    case ADD:
        return error_of(driver->cuGraphAddMemcpyNode(t->new_node, t->graph, t->dependencies, t->n,
                                                     copy, context));
    case SET:
        return error_of(driver->cuGraphMemcpyNodeSetParams(t->node, copy));
    default:
        return error_of(driver->cuGraphExecMemcpyNodeSetParams(t->exec, t->node, copy, context));
    }
}

static cudaError_t put_3d(const struct target *t, const struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = copy_3d(&copy, p);
    return record(error != cudaSuccess ? error : put_copy(t, &copy));
}

static cudaError_t put_1d(const struct target *t, void *dst, const void *src, size_t bytes,
                          enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = {
        .srcPtr = {.ptr = (void *)src, .pitch = bytes, .xsize = bytes, .ysize = 1},
        .dstPtr = {.ptr = dst, .pitch = bytes, .xsize = bytes, .ysize = 1},
        .extent = {.width = bytes, .height = 1, .depth = 1},
        .kind = kind,
    };
    return put_3d(t, &p);
}

static cudaError_t put_to_symbol(const struct target *t, const void *symbol, const void *src,
                                 size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t error = symbol_part(symbol, offset, bytes, &p);
    return error != cudaSuccess ? record(error) : put_1d(t, p, src, bytes, kind);
}

static cudaError_t put_from_symbol(const struct target *t, void *dst, const void *symbol,
                                   size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t error = symbol_part(symbol, offset, bytes, &p);
    return error != cudaSuccess ? record(error) : put_1d(t, dst, p, bytes, kind);
}

#define ADDING(_new, _graph, _dependencies, _n)                                                    \
    (&(struct target){                                                                             \
        .what = ADD, .new_node = _new, .graph = _graph, .dependencies = _dependencies, .n = _n})
#define SETTING(_node) (&(struct target){.what = SET, .node = _node})
#define SETTING_EXEC(_exec, _node)                                                                 \
    (&(struct target){.what = SET_EXEC, .exec = _exec, .node = _node})

API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, size_t n,
                                       const struct cudaMemcpy3DParms *p)
{
    return put_3d(ADDING(node, graph, dependencies, n), p);
}

API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *p)
{
    return put_3d(SETTING(node), p);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaMemcpy3DParms *p)
{
    return put_3d(SETTING_EXEC(exec, node), p);
}

API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *dependencies, size_t n, void *dst,
                                         const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    return put_1d(ADDING(node, graph, dependencies, n), dst, src, bytes, kind);
}

API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                               size_t bytes, enum cudaMemcpyKind kind)
{
    return put_1d(SETTING(node), dst, src, bytes, kind);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                   void *dst, const void *src, size_t bytes,
                                                   enum cudaMemcpyKind kind)
{
    return put_1d(SETTING_EXEC(exec, node), dst, src, bytes, kind);
}

API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies, size_t n,
                                               const void *symbol, const void *src, size_t bytes,
                                               size_t offset, enum cudaMemcpyKind kind)
{
    return put_to_symbol(ADDING(node, graph, dependencies, n), symbol, src, bytes, offset, kind);
}

API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                     const void *src, size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    return put_to_symbol(SETTING(node), symbol, src, bytes, offset, kind);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const void *symbol, const void *src,
                                                         size_t bytes, size_t offset,
                                                         enum cudaMemcpyKind kind)
{
    return put_to_symbol(SETTING_EXEC(exec, node), symbol, src, bytes, offset, kind);
}

API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *dependencies, size_t n,
                                                 void *dst, const void *symbol, size_t bytes,
                                                 size_t offset, enum cudaMemcpyKind kind)
{
    return put_from_symbol(ADDING(node, graph, dependencies, n), dst, symbol, bytes, offset, kind);
}

API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                       const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    return put_from_symbol(SETTING(node), dst, symbol, bytes, offset, kind);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node, void *dst,
                                                           const void *symbol, size_t bytes,
                                                           size_t offset, enum cudaMemcpyKind kind)
{
    return put_from_symbol(SETTING_EXEC(exec, node), dst, symbol, bytes, offset, kind);
}

API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D c;
    cudaError_t error = p != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuGraphMemcpyNodeGetParams(node, &c));
    if (error != cudaSuccess)
        return record(error);
    bool from_host = c.srcMemoryType == CU_MEMORYTYPE_HOST,
         to_host = c.dstMemoryType == CU_MEMORYTYPE_HOST;
    const bool from_array = c.srcMemoryType == CU_MEMORYTYPE_ARRAY,
               to_array = c.dstMemoryType == CU_MEMORYTYPE_ARRAY;
    struct array_shape shape = {0, 1};
    if (from_array || to_array)
        error = array_shape((cudaArray_t)(from_array ? c.srcArray : c.dstArray), &shape);
    if (error != cudaSuccess)
        return record(error);
    c.WidthInBytes /= shape.element;
    if (from_array) {
        c.srcXInBytes /= shape.element;
        c.srcPitch = c.srcHeight = 0;
    }
    if (to_array) {
        c.dstXInBytes /= shape.element;
        c.dstPitch = c.dstHeight = 0;
    }
    *p = (struct cudaMemcpy3DParms){
        .srcArray = (cudaArray_t)c.srcArray,
        .dstArray = (cudaArray_t)c.dstArray,
        .srcPos = {.x = c.srcXInBytes, .y = c.srcY, .z = c.srcZ},
        .srcPtr = {.ptr = from_host ? (void *)c.srcHost : (void *)c.srcDevice,
                   .pitch = c.srcPitch,
                   .xsize = from_array ? 0 : c.WidthInBytes * shape.element,
                   .ysize = c.srcHeight},
        .dstPos = {.x = c.dstXInBytes, .y = c.dstY, .z = c.dstZ},
        .dstPtr = {.ptr = to_host ? c.dstHost : (void *)c.dstDevice,
                   .pitch = c.dstPitch,
                   .xsize = to_array ? 0 : c.WidthInBytes * shape.element,
                   .ysize = c.dstHeight},
        .extent = {.width = c.WidthInBytes, .height = c.Height, .depth = c.Depth},
        .kind = c.srcMemoryType == CU_MEMORYTYPE_UNIFIED ? cudaMemcpyDefault
                : from_host && to_host                   ? cudaMemcpyHostToHost
                : from_host                              ? cudaMemcpyHostToDevice
                : to_host                                ? cudaMemcpyDeviceToHost
                                                         : cudaMemcpyDeviceToDevice,
    };
    return cudaSuccess;
}

static cudaError_t put_memset(const struct target *t, const struct cudaMemsetParams *p)
{
    const struct driver *driver = driver_of(false);
    const CUDA_MEMSET_NODE_PARAMS *params = (const CUDA_MEMSET_NODE_PARAMS *)p;
    CUcontext context;
    cudaError_t error = context_now(&context);
    if (error != cudaSuccess)
        return record(error);
    switch (t->what) {
    case ADD:
        return record(error_of(driver->cuGraphAddMemsetNode(t->new_node, t->graph, t->dependencies,
                                                            t->n, params, context)));
    case SET:
        return record(error_of(driver->cuGraphMemsetNodeSetParams(t->node, params)));
    default:
        return record(
            error_of(driver->cuGraphExecMemsetNodeSetParams(t->exec, t->node, params, context)));
    }
}

API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, size_t n,
                                       const struct cudaMemsetParams *p)
{
    return put_memset(ADDING(node, graph, dependencies, n), p);
}

API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
    return put_memset(SETTING(node), p);
}

API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaMemsetParams *p)
{
    return put_memset(SETTING_EXEC(exec, node), p);
}

API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
    FORWARD(cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)p));
}
