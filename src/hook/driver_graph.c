/* SPDX-License-Identifier: BSD-3-Clause
 * Graphs: keeps device/graph told of what the program makes of them, and counts launches as what
 * they replay. A handle is forgotten before it is destroyed, since another thread may get the same
 * one right after. Owns nothing. */
#include "config.h"
#include "base/stats.h"
#include "device/capture.h"
#include "device/graph.h"
#include "hook/driver.h"

#include <stddef.h>

/* The beginning of CUgraphNodeParams, which older headers do not have. */
struct node_params {
    int type;
    int reserved[3];
    CUgraph child;
    int ownership;
};

enum { OWNERSHIP_MOVE = 1 };

#if CUDA_VERSION >= 12020
_Static_assert(offsetof(struct node_params, child) == offsetof(CUgraphNodeParams, graph.graph),
               "the layout of node parameters");
#endif

static CUgraph child_in(const struct node_params *params)
{
    return params != NULL && params->type == CU_GRAPH_NODE_TYPE_GRAPH ? params->child : NULL;
}

/* The graph that a child graph node has made of its own; NULL: it is a node of another type. */
static CUgraph graph_behind(CUgraphNode node)
{
    const struct real_cuda *cuda = real_cuda();
    CUgraph graph = NULL;
    if (cuda == NULL || cuda->cuGraphChildGraphNodeGetGraph == NULL || node == NULL ||
        cuda->cuGraphChildGraphNodeGetGraph(node, &graph) != CUDA_SUCCESS)
        return NULL;
    return graph;
}

static void child_added(CUgraph parent, CUgraphNode node, struct graph_work work)
{
    if (work.gemms != 0)
        graph_embed(parent, graph_behind(node), work);
}

#define INSTANTIATE(_stem, _parameters, _arguments)                                                \
    WRAPPER(_stem, _parameters)                                                                    \
    {                                                                                              \
        ENTER(_stem, _parameters);                                                                 \
        const CUresult r = real _arguments;                                                        \
        if (active && r == CUDA_SUCCESS)                                                           \
            exec_set(*exec, graph_work(graph));                                                    \
        return r;                                                                                  \
    }

INSTANTIATE(GraphInstantiate,
            (CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t bytes),
            (exec, graph, node, log, bytes))
INSTANTIATE(GraphInstantiate_v2,
            (CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t bytes),
            (exec, graph, node, log, bytes))
INSTANTIATE(GraphInstantiateWithFlags,
            (CUgraphExec *exec, CUgraph graph, unsigned long long flags), (exec, graph, flags))
INSTANTIATE(GraphInstantiateWithParams, (CUgraphExec *exec, CUgraph graph, void *params),
            (exec, graph, params))
INSTANTIATE(GraphInstantiateWithParams_ptsz, (CUgraphExec *exec, CUgraph graph, void *params),
            (exec, graph, params))

/* The last parameter of the second version is a CUgraphExecUpdateResultInfo. */
#define UPDATE(_stem, _parameters, _arguments)                                                     \
    WRAPPER(_stem, _parameters)                                                                    \
    {                                                                                              \
        ENTER(_stem, _parameters);                                                                 \
        const CUresult r = real _arguments;                                                        \
        if (active && r == CUDA_SUCCESS)                                                           \
            exec_set(exec, graph_work(graph));                                                     \
        if (active)                                                                                \
            capture_collect();                                                                     \
        return r;                                                                                  \
    }

UPDATE(GraphExecUpdate,
       (CUgraphExec exec, CUgraph graph, CUgraphNode *node, CUgraphExecUpdateResult *result),
       (exec, graph, node, result))
UPDATE(GraphExecUpdate_v2, (CUgraphExec exec, CUgraph graph, void *result), (exec, graph, result))

WRAPPER(GraphClone, (CUgraph *clone, CUgraph graph))
{
    ENTER(GraphClone, (CUgraph *, CUgraph));
    const CUresult r = real(clone, graph);
    if (active && r == CUDA_SUCCESS)
        graph_set(*clone, graph_work(graph));
    return r;
}

WRAPPER(GraphAddChildGraphNode,
        (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n, CUgraph child))
{
    ENTER(GraphAddChildGraphNode, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph));
    const CUresult r = real(node, graph, deps, n, child);
    if (active && r == CUDA_SUCCESS)
        child_added(graph, *node, graph_work(child));
    return r;
}

#define ADD(_stem, _parameters, _arguments)                                                        \
    WRAPPER(_stem, _parameters)                                                                    \
    {                                                                                              \
        ENTER(_stem, _parameters);                                                                 \
        const CUgraph child = active ? child_in(params) : NULL;                                    \
        const struct graph_work work = graph_work(child);                                          \
        const CUresult r = real _arguments;                                                        \
        if (!active || r != CUDA_SUCCESS || child == NULL)                                         \
            return r;                                                                              \
        if (params->ownership == OWNERSHIP_MOVE)                                                   \
            (void)graph_forget(child);                                                             \
        child_added(graph, *node, work);                                                           \
        return r;                                                                                  \
    }

ADD(GraphAddNode,
    (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
     const struct node_params *params),
    (node, graph, deps, n, params))
ADD(GraphAddNode_v2,
    (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, const void *edges, size_t n,
     const struct node_params *params),
    (node, graph, deps, edges, n, params))

WRAPPER(GraphDestroyNode, (CUgraphNode node))
{
    ENTER(GraphDestroyNode, (CUgraphNode));
    const CUgraph child = active ? graph_behind(node) : NULL;
    const CUresult r = real(node);
    if (child != NULL && r == CUDA_SUCCESS)
        graph_unembed(child);
    if (active)
        capture_collect();
    return r;
}

static void child_replaced(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    exec_set_child(exec, node, graph_work(graph_behind(node)), graph_work(child));
    capture_collect();
}

WRAPPER(GraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child))
{
    ENTER(GraphExecChildGraphNodeSetParams, (CUgraphExec, CUgraphNode, CUgraph));
    const CUresult r = real(exec, node, child);
    if (active && r == CUDA_SUCCESS)
        child_replaced(exec, node, child);
    return r;
}

WRAPPER(GraphExecNodeSetParams,
        (CUgraphExec exec, CUgraphNode node, const struct node_params *params))
{
    ENTER(GraphExecNodeSetParams, (CUgraphExec, CUgraphNode, const struct node_params *));
    const CUresult r = real(exec, node, params);
    if (active && r == CUDA_SUCCESS && child_in(params) != NULL)
        child_replaced(exec, node, child_in(params));
    return r;
}

WRAPPER(GraphDestroy, (CUgraph graph))
{
    ENTER(GraphDestroy, (CUgraph));
    if (!active)
        return real(graph);
    const struct graph_work work = graph_forget(graph);
    const CUresult r = real(graph);
    if (r != CUDA_SUCCESS)
        graph_set(graph, work);
    capture_collect();
    return r;
}

WRAPPER(GraphExecDestroy, (CUgraphExec exec))
{
    ENTER(GraphExecDestroy, (CUgraphExec));
    if (!active)
        return real(exec);
    const struct graph_work work = exec_forget(exec);
    const CUresult r = real(exec);
    if (r != CUDA_SUCCESS)
        exec_set(exec, work);
    capture_collect();
    return r;
}

static void launched(CUgraphExec exec, CUstream stream)
{
    const struct graph_work work = exec_work(exec);
    /* Into a stream that captures, it becomes a child graph and does not run. */
    if (capture_any() && capture_id(stream) != 0)
        capture_add(stream, work);
    else
        stats_count_graph_launch(work.gemms, work.converted);
}

#define LAUNCH(_stem, _per_thread)                                                                 \
    WRAPPER(_stem, (CUgraphExec exec, CUstream stream))                                            \
    {                                                                                              \
        ENTER(_stem, (CUgraphExec, CUstream));                                                     \
        const CUresult r = real(exec, stream);                                                     \
        if (active && r == CUDA_SUCCESS)                                                           \
            launched(exec, driver_stream(stream, _per_thread));                                    \
        return r;                                                                                  \
    }

LAUNCH(GraphLaunch, false)
LAUNCH(GraphLaunch_ptsz, true)
