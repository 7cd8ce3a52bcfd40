/* SPDX-License-Identifier: BSD-3-Clause
 * One launch of an executable graph: runs the nodes in a legal order (a random one in deferred
 * mode). Where all nodes that are left have to wait for a value in memory or for an event, the
 * launch is put aside and goes on later from where it was. Owns the state of launches under way. */
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/memory.h"

#include <stdlib.h>
#include <string.h>

struct node_run {
    bool done;
    unsigned step;           /* of a batch of memory operations */
    double end;              /* modelled, from the beginning of the graph */
    struct graph_run *child; /* NULL: not begun, or not a child graph */
};

struct graph_run {
    CUgraph graph;
    size_t left;
    double seconds; /* of the longest path up to now */
    struct node_run *node;
    size_t *ready;
};

struct graph_run *graph_run_make(CUgraph graph)
{
    struct graph_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        abort();
    *run = (struct graph_run){.graph = graph,
                              .left = graph->n_nodes,
                              .node = calloc(graph->n_nodes + 1, sizeof *run->node),
                              .ready = calloc(graph->n_nodes + 1, sizeof *run->ready)};
    if (run->node == NULL || run->ready == NULL)
        abort();
    return run;
}

void graph_run_free(struct graph_run *run)
{
    if (run == NULL)
        return;
    for (size_t i = 0; i < run->graph->n_nodes; i++)
        graph_run_free(run->node[i].child);
    free(run->node);
    free(run->ready);
    free(run);
}

/* With the lock held: may the node run, or go on, now? */
static bool may_run(const struct graph_run *run, size_t i)
{
    const struct CUgraphNode_st *node = run->graph->nodes[i];
    const struct node_body *body = node->body;
    if (run->node[i].done)
        return false;
    for (size_t d = 0; d < node->n_deps; d++)
        if (!run->node[node->deps[d]->index].done)
            return false;
    if (node->disabled)
        return true;
    if (run->node[i].child != NULL)
        return graph_run_ready(run->node[i].child);
    if (body->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return values_ready(body->arg, run->node[i].step);
    if (body->kind == &graph_wait_kind) {
        const struct completion *completion = (*(CUevent *)body->arg)->completion;
        return completion == NULL || completion->done;
    }
    return true;
}

bool graph_run_ready(const struct graph_run *run)
{
    bool ready = run->left == 0;
    for (size_t i = 0; !ready && i < run->graph->n_nodes; i++)
        ready = may_run(run, i);
    return ready;
}

/* A replay finds the memory of an allocation node as fresh as the first run did. */
static void refresh_memory(const struct node_body *body)
{
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find((void *)(uintptr_t) * (const CUdeviceptr *)body->arg);
    if (a != NULL)
        memset(a->base, 0xff, a->bytes);
    pthread_mutex_unlock(&driver_lock);
}

static CUresult run_node(CUgraphNode node, struct node_run *run, CUcontext context, double start,
                         double *seconds_p)
{
    const struct node_body *body = node->body;
    struct op_result result = {.start = start};
    CUresult r = CUDA_SUCCESS;
    if (node->disabled)
        return CUDA_SUCCESS;
    if (body->context != NULL)
        context = body->context;
    if (body->child != NULL) {
        if (run->child == NULL)
            run->child = graph_run_make(body->child);
        r = graph_run_on(run->child, context, start, &result.seconds);
    } else if (body->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        r = values_run(body->arg, &run->step, context);
    } else if (body->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        refresh_memory(body);
    } else if (body->type != CU_GRAPH_NODE_TYPE_MEM_FREE && body->kind != NULL) {
        r = body->kind->run(body->arg, context, &result);
    }
    *seconds_p = result.seconds;
    return r;
}

/* One of those that may run; false: none. */
static bool pick(struct graph_run *run, size_t *picked_p)
{
    size_t n = 0;
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; i < run->graph->n_nodes; i++)
        if (may_run(run, i))
            run->ready[n++] = i;
    if (n > 0)
        *picked_p = run->ready[mode_deferred() ? mode_random() % n : 0];
    pthread_mutex_unlock(&driver_lock);
    return n > 0;
}

CUresult graph_run_on(struct graph_run *run, CUcontext context, double start, double *seconds_p)
{
    size_t i;
    while (run->left > 0 && pick(run, &i)) {
        const CUgraphNode node = run->graph->nodes[i];
        double begin = 0, seconds = 0;
        for (size_t d = 0; d < node->n_deps; d++)
            if (run->node[node->deps[d]->index].end > begin)
                begin = run->node[node->deps[d]->index].end;
        const CUresult r = run_node(node, &run->node[i], context, start + begin, &seconds);
        if (r == RUN_BLOCKED)
            continue;
        if (r != CUDA_SUCCESS)
            return r;
        run->node[i].end = begin + seconds;
        run->node[i].done = true;
        run->left--;
        if (run->node[i].end > run->seconds)
            run->seconds = run->node[i].end;
    }
    *seconds_p = run->seconds;
    return run->left == 0 ? CUDA_SUCCESS : RUN_BLOCKED;
}
