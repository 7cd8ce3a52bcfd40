/* SPDX-License-Identifier: BSD-3-Clause
 * The entry points that build graphs of nodes without parameters or with copies of them. Kernel
 * nodes are in graph_kernel.c, those of events and memory in graph_event.c, edges in graph_edges.c.
 */
#include "tests/softgpu/driver/copy.h"
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/module.h"

#include <stdlib.h>
#include <string.h>

CUresult graph_add_checked(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                           struct node_body *body)
{
    CUresult r = node == NULL || graph == NULL || (n > 0 && deps == NULL) ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        if (deps[i] == NULL || deps[i]->graph != graph)
            r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *node = graph_add(graph, body, deps, n);
    else
        body_unref(body);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

void *copy_of(const void *arg, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (copy == NULL)
        abort();
    memcpy(copy, arg, bytes);
    return copy;
}

API CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    ENTER("cuGraphCreate");
    if (graph == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = graph_make();
    return CUDA_SUCCESS;
}

API CUresult cuGraphDestroy(CUgraph graph)
{
    ENTER("cuGraphDestroy");
    if (graph == NULL || graph->owned)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    graph_free(graph);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
    ENTER("cuGraphClone");
    if (clone == NULL || graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *clone = graph_clone(graph);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
    ENTER("cuGraphNodeFindInClone");
    if (node == NULL || original == NULL || clone == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *node = graph_find_clone(clone, original);
    pthread_mutex_unlock(&driver_lock);
    return *node != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                 size_t n)
{
    ENTER("cuGraphAddEmptyNode");
    return graph_add_checked(node, graph, deps, n,
                             body_make(NULL, NULL, 0, CU_GRAPH_NODE_TYPE_EMPTY));
}

API CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                      size_t n, CUgraph child)
{
    ENTER("cuGraphAddChildGraphNode");
    if (child == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct node_body *body = body_make(NULL, NULL, 0, CU_GRAPH_NODE_TYPE_GRAPH);
    pthread_mutex_lock(&driver_lock);
    body->child = graph_clone(child);
    body->child->owned = true;
    pthread_mutex_unlock(&driver_lock);
    return graph_add_checked(node, graph, deps, n, body);
}

API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    ENTER("cuGraphChildGraphNodeGetGraph");
    if (node == NULL || graph == NULL || node->body->child == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = node->body->child;
    return CUDA_SUCCESS;
}

static CUresult copy_body(const CUDA_MEMCPY3D *params, struct node_body **body_p)
{
    struct copy_box copy;
    if (params == NULL || !copy_from_3d(params, &copy))
        return CUDA_ERROR_INVALID_VALUE;
    *body_p = body_make(copy_op_kind(), copy_of(&copy, sizeof copy), sizeof copy,
                        CU_GRAPH_NODE_TYPE_MEMCPY);
    return CUDA_SUCCESS;
}

static CUresult fill_body(const CUDA_MEMSET_NODE_PARAMS *p, struct node_body **body_p)
{
    if (p == NULL || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
        p->width == 0 || p->height == 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct fill_box fill = {.to = (char *)(uintptr_t)p->dst,
                            .width = p->width,
                            .height = p->height,
                            .pitch = p->height > 1 ? p->pitch : 0,
                            .element = p->elementSize,
                            .value = p->value};
    *body_p = body_make(fill_op_kind(), copy_of(&fill, sizeof fill), sizeof fill,
                        CU_GRAPH_NODE_TYPE_MEMSET);
    return CUDA_SUCCESS;
}

static CUresult host_body(const CUDA_HOST_NODE_PARAMS *params, struct node_body **body_p)
{
    if (params == NULL || params->fn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct host_call call = {params->fn, params->userData};
    *body_p = body_make(&host_call_kind, copy_of(&call, sizeof call), sizeof call,
                        CU_GRAPH_NODE_TYPE_HOST);
    return CUDA_SUCCESS;
}

/* The four calls of a node type whose parameters make a body: add, set, set in an executable; what
 * follows _params are further arguments of the entry points, which do not matter here. */
#define NODE_CALLS(_add, _set, _exec_set, _type, _make, ...)                                       \
    API CUresult _add(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,         \
                      const _type *params __VA_ARGS__)                                             \
    {                                                                                              \
        ENTER(#_add);                                                                              \
        struct node_body *body;                                                                    \
        CUresult r = _make(params, &body);                                                         \
        return r == CUDA_SUCCESS ? graph_add_checked(node, graph, deps, n, body) : r;              \
    }                                                                                              \
    API CUresult _set(CUgraphNode node, const _type *params)                                       \
    {                                                                                              \
        ENTER(#_set);                                                                              \
        struct node_body *body;                                                                    \
        CUresult r = _make(params, &body);                                                         \
        return r == CUDA_SUCCESS ? node_replace(node, body) : r;                                   \
    }                                                                                              \
    API CUresult _exec_set(CUgraphExec exec, CUgraphNode node, const _type *params __VA_ARGS__)    \
    {                                                                                              \
        ENTER(#_exec_set);                                                                         \
        struct node_body *body;                                                                    \
        CUresult r = _make(params, &body);                                                         \
        return r == CUDA_SUCCESS ? exec_replace(exec, node, body) : r;                             \
    }

NODE_CALLS(cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams,
           CUDA_MEMCPY3D, copy_body, , CUcontext context)
NODE_CALLS(cuGraphAddMemsetNode, cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams,
           CUDA_MEMSET_NODE_PARAMS, fill_body, , CUcontext context)
NODE_CALLS(cuGraphAddHostNode, cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams,
           CUDA_HOST_NODE_PARAMS, host_body)

/* The argument of a node of this type; NULL: another type, or work of another kind. */
static const void *arg_of(CUgraphNode node, const void *params, const struct op_kind *kind)
{
    return node != NULL && params != NULL && node->body->kind == kind ? node->body->arg : NULL;
}

API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
    ENTER("cuGraphMemcpyNodeGetParams");
    const struct copy_box *c = arg_of(node, params, copy_op_kind());
    if (c == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    copy_to_3d(c, params);
    return CUDA_SUCCESS;
}

API CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
    ENTER("cuGraphMemsetNodeGetParams");
    const struct fill_box *f = arg_of(node, params, fill_op_kind());
    if (f == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *params = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)(uintptr_t)f->to,
                                        .pitch = f->pitch,
                                        .value = f->value,
                                        .elementSize = f->element,
                                        .width = f->width,
                                        .height = f->height};
    return CUDA_SUCCESS;
}

API CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
    ENTER("cuGraphHostNodeGetParams");
    const struct host_call *call = arg_of(node, params, &host_call_kind);
    if (call == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *params = (CUDA_HOST_NODE_PARAMS){call->function, call->data};
    return CUDA_SUCCESS;
}

API CUresult cuGraphDestroyNode(CUgraphNode node)
{
    ENTER("cuGraphDestroyNode");
    if (node == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraph graph = node->graph;
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode other = graph->nodes[i];
        for (size_t d = 0; d < other->n_deps;)
            if (other->deps[d] == node)
                other->deps[d] = other->deps[--other->n_deps];
            else
                d++;
    }
    for (size_t i = node->index; i + 1 < graph->n_nodes; i++) {
        graph->nodes[i] = graph->nodes[i + 1];
        graph->nodes[i]->index = i;
    }
    graph->n_nodes--;
    body_unref(node->body);
    free(node->deps);
    free(node);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    ENTER("cuGraphNodeGetType");
    if (node == NULL || type == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->body->type;
    return CUDA_SUCCESS;
}
