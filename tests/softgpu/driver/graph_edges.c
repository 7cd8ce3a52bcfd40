/* SPDX-License-Identifier: BSD-3-Clause
 * Lists of nodes and edges, asked for and changed. Edges carry no data: all are full dependencies.
 */
#include "tests/softgpu/driver/graph.h"

#include <stdlib.h>
#include <string.h>

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

static size_t find_dep(CUgraphNode node, CUgraphNode dep)
{
    size_t i = 0;
    while (i < node->n_deps && node->deps[i] != dep)
        i++;
    return i;
}

static CUresult change_edge(CUgraph graph, CUgraphNode from, CUgraphNode to, bool add)
{
    if (from == NULL || to == NULL || from->graph != graph || to->graph != graph || from == to)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t at = find_dep(to, from);
    if ((at < to->n_deps) == add)
        return CUDA_ERROR_INVALID_VALUE;
    if (!add) {
        to->deps[at] = to->deps[--to->n_deps];
        return CUDA_SUCCESS;
    }
    CUgraphNode *deps = realloc(to->deps, sizeof(CUgraphNode) * (to->n_deps + 1));
    if (deps == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    to->deps = deps;
    to->deps[to->n_deps++] = from;
    return CUDA_SUCCESS;
}

static CUresult change_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                             size_t n, bool add)
{
    CUresult r = graph == NULL || (n > 0 && (from == NULL || to == NULL)) ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = change_edge(graph, from[i], to[i], add);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t n);
API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t n)
{
    ENTER("cuGraphAddDependencies");
    return change_edges(graph, from, to, n, true);
}

API CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, const CUgraphEdgeData *edges,
                                       size_t n)
{
    ENTER("cuGraphAddDependencies_v2");
    return change_edges(graph, from, to, n, true);
}

API CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t n);
API CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t n)
{
    ENTER("cuGraphRemoveDependencies");
    return change_edges(graph, from, to, n, false);
}

API CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                          const CUgraphNode *to, const CUgraphEdgeData *edges,
                                          size_t n)
{
    ENTER("cuGraphRemoveDependencies_v2");
    return change_edges(graph, from, to, n, false);
}

static CUresult dependents(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *n)
{
    if (node == NULL || n == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraph graph = node->graph;
    CUgraphNode *found = calloc(graph->n_nodes + 1, sizeof(CUgraphNode));
    if (found == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (find_dep(graph->nodes[i], node) < graph->nodes[i]->n_deps)
            found[count++] = graph->nodes[i];
    if (edges != NULL && nodes != NULL)
        memset(edges, 0, sizeof *edges * *n);
    CUresult r = give(found, count, nodes, n);
    free(found);
    return r;
}

API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n);
API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
    ENTER("cuGraphNodeGetDependentNodes");
    return dependents(node, nodes, NULL, n);
}

API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                             CUgraphEdgeData *edges, size_t *n)
{
    ENTER("cuGraphNodeGetDependentNodes_v2");
    return dependents(node, nodes, edges, n);
}
