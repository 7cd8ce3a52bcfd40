/* SPDX-License-Identifier: BSD-3-Clause
 * The entry points that build and inspect graphs. Kernel nodes are in graph_kernel.c. */
#include "tests/softgpu/driver/copy.h"
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/memory.h"

#include <stdlib.h>
#include <string.h>

CUresult graph_add_checked(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                           struct node_body *body)
{
    CUresult r = node == NULL || graph == NULL || (n > 0 && deps == NULL)
                     ? CUDA_ERROR_INVALID_VALUE
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

static void *copy_of(const void *arg, size_t bytes)
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
    if (node == NULL || original == NULL || clone == NULL || original->index >= clone->n_nodes)
        return CUDA_ERROR_INVALID_VALUE;
    *node = clone->nodes[original->index];
    return CUDA_SUCCESS;
}

API CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n)
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

API CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t n, const CUDA_MEMCPY3D *params, CUcontext context)
{
    ENTER("cuGraphAddMemcpyNode");
    struct copy_box copy;
    if (params == NULL || !copy_from_3d(params, &copy))
        return CUDA_ERROR_INVALID_VALUE;
    return graph_add_checked(node, graph, deps, n,
                             body_make(copy_op_kind(), copy_of(&copy, sizeof copy), sizeof copy,
                                       CU_GRAPH_NODE_TYPE_MEMCPY));
}

static bool fill_from_params(const CUDA_MEMSET_NODE_PARAMS *p, struct fill_box *fill)
{
    if (p == NULL || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return false;
    *fill = (struct fill_box){.to = (char *)(uintptr_t)p->dst, .width = p->width,
                              .height = p->height, .pitch = p->pitch, .element = p->elementSize,
                              .value = p->value};
    return true;
}

API CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t n, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    ENTER("cuGraphAddMemsetNode");
    struct fill_box fill;
    if (!fill_from_params(params, &fill))
        return CUDA_ERROR_INVALID_VALUE;
    return graph_add_checked(node, graph, deps, n,
                             body_make(fill_op_kind(), copy_of(&fill, sizeof fill), sizeof fill,
                                       CU_GRAPH_NODE_TYPE_MEMSET));
}

/* Replaces the body of a node; one that an executable holds stays as it was there. */
static CUresult replace_body(CUgraphNode node, struct node_body *body)
{
    pthread_mutex_lock(&driver_lock);
    body_unref(node->body);
    node->body = body;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
    ENTER("cuGraphMemsetNodeSetParams");
    struct fill_box fill;
    if (node == NULL || node->body->type != CU_GRAPH_NODE_TYPE_MEMSET ||
        !fill_from_params(params, &fill))
        return CUDA_ERROR_INVALID_VALUE;
    return replace_body(node, body_make(fill_op_kind(), copy_of(&fill, sizeof fill), sizeof fill,
                                        CU_GRAPH_NODE_TYPE_MEMSET));
}

static CUresult run_host(void *arg, CUcontext context, struct op_result *result)
{
    const CUDA_HOST_NODE_PARAMS *p = arg;
    p->fn(p->userData);
    return CUDA_SUCCESS;
}

static const struct op_kind host_kind = {"host function", run_host, NULL, CU_GRAPH_NODE_TYPE_HOST};

API CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                                const CUDA_HOST_NODE_PARAMS *params)
{
    ENTER("cuGraphAddHostNode");
    if (params == NULL || params->fn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return graph_add_checked(node, graph, deps, n,
                             body_make(&host_kind, copy_of(params, sizeof *params), sizeof *params,
                                       CU_GRAPH_NODE_TYPE_HOST));
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

/* Lists: with NULL only the number is given; otherwise up to *n entries, the rest NULL. */
static CUresult give(const CUgraphNode *all, size_t count, CUgraphNode *nodes, size_t *n)
{
    for (size_t i = 0; nodes != NULL && i < *n; i++)
        nodes[i] = i < count ? all[i] : NULL;
    if (nodes == NULL || *n > count)
        *n = count;
    return CUDA_SUCCESS;
}

API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
    ENTER("cuGraphGetNodes");
    return graph == NULL || n == NULL ? CUDA_ERROR_INVALID_VALUE
                                      : give(graph->nodes, graph->n_nodes, nodes, n);
}

API CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
    ENTER("cuGraphGetRootNodes");
    if (graph == NULL || n == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNode *roots = calloc(graph->n_nodes + 1, sizeof(CUgraphNode));
    size_t count = 0;
    for (size_t i = 0; roots != NULL && i < graph->n_nodes; i++)
        if (graph->nodes[i]->n_deps == 0)
            roots[count++] = graph->nodes[i];
    give(roots, count, nodes, n);
    free(roots);
    return CUDA_SUCCESS;
}

API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *deps, size_t *n);
API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *deps, size_t *n)
{
    ENTER("cuGraphNodeGetDependencies");
    return node == NULL || n == NULL ? CUDA_ERROR_INVALID_VALUE
                                     : give(node->deps, node->n_deps, deps, n);
}

API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *deps,
                                           CUgraphEdgeData *edges, size_t *n)
{
    ENTER("cuGraphNodeGetDependencies_v2");
    if (node == NULL || n == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (edges != NULL)
        memset(edges, 0, sizeof *edges * *n);
    return give(node->deps, node->n_deps, deps, n);
}

API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n);
API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
    ENTER("cuGraphGetEdges");
    size_t count = 0;
    if (graph == NULL || n == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t d = 0; d < graph->nodes[i]->n_deps; d++, count++)
            if (from != NULL && to != NULL && count < *n) {
                from[count] = graph->nodes[i]->deps[d];
                to[count] = graph->nodes[i];
            }
    *n = count;
    return CUDA_SUCCESS;
}

API CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                CUgraphEdgeData *edges, size_t *n)
{
    if (edges != NULL && n != NULL)
        memset(edges, 0, sizeof *edges * *n);
    return cuGraphGetEdges(graph, from, to, n);
}

API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t n);
API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t n)
{
    ENTER("cuGraphAddDependencies");
    CUresult r = graph == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        CUgraphNode node = to[i];
        if (node->graph != graph || from[i]->graph != graph) {
            r = CUDA_ERROR_INVALID_VALUE;
            break;
        }
        node->deps = realloc(node->deps, sizeof(CUgraphNode) * (node->n_deps + 1));
        if (node->deps == NULL)
            abort();
        node->deps[node->n_deps++] = from[i];
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, const CUgraphEdgeData *edges, size_t n)
{
    return cuGraphAddDependencies(graph, from, to, n);
}

API CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    ENTER("cuGraphNodeSetEnabled");
    if (exec == NULL || node == NULL || node->index >= exec->graph->n_nodes)
        return CUDA_ERROR_INVALID_VALUE;
    exec->graph->nodes[node->index]->disabled = enabled == 0;
    return CUDA_SUCCESS;
}

API CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    ENTER("cuGraphNodeGetEnabled");
    if (exec == NULL || node == NULL || enabled == NULL || node->index >= exec->graph->n_nodes)
        return CUDA_ERROR_INVALID_VALUE;
    *enabled = !exec->graph->nodes[node->index]->disabled;
    return CUDA_SUCCESS;
}
