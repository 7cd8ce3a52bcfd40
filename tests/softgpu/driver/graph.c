/* SPDX-License-Identifier: BSD-3-Clause
 * Graph objects: made, cloned, freed; instantiated, launched, updated. A launch is one operation of
 * its stream which runs the nodes in a legal order (a random one in deferred mode); it does not
 * pass through the entry points. */
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/memory.h"

#include <stdlib.h>
#include <string.h>

struct node_body *body_make(const struct op_kind *kind, void *arg, size_t arg_bytes,
                            CUgraphNodeType type)
{
    struct node_body *body = calloc(1, sizeof *body);
    if (body == NULL)
        abort();
    *body = (struct node_body){.refs = 1, .kind = kind, .arg = arg, .arg_bytes = arg_bytes,
                               .type = type};
    return body;
}

struct node_body *body_ref(struct node_body *body)
{
    body->refs++;
    return body;
}

void body_unref(struct node_body *body)
{
    if (--body->refs > 0)
        return;
    if (body->kind != NULL && body->kind->release != NULL)
        body->kind->release(body->arg);
    free(body->arg);
    if (body->child != NULL)
        graph_free(body->child);
    free(body);
}

CUgraph graph_make(void)
{
    CUgraph graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        abort();
    return graph;
}

void graph_free(CUgraph graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        body_unref(graph->nodes[i]->body);
        free(graph->nodes[i]->deps);
        free(graph->nodes[i]);
    }
    for (struct user_reference *u = graph->users, *next; u != NULL; u = next) {
        next = u->next;
        user_object_release(u->object, u->n);
        free(u);
    }
    free(graph->nodes);
    free(graph);
}

CUgraphNode graph_add(CUgraph graph, struct node_body *body, const CUgraphNode *deps, size_t n)
{
    CUgraphNode node = calloc(1, sizeof *node);
    CUgraphNode *nodes = realloc(graph->nodes, sizeof(CUgraphNode) * (graph->n_nodes + 1));
    CUgraphNode *copy = calloc(n + 1, sizeof(CUgraphNode));
    if (node == NULL || nodes == NULL || copy == NULL)
        abort();
    memcpy(copy, deps, sizeof(CUgraphNode) * n);
    *node = (struct CUgraphNode_st){.graph = graph, .body = body, .deps = copy, .n_deps = n,
                                    .index = graph->n_nodes};
    nodes[graph->n_nodes++] = node;
    graph->nodes = nodes;
    return node;
}

CUgraph graph_clone(CUgraph graph)
{
    CUgraph clone = graph_make();
    for (size_t i = 0; i < graph->n_nodes; i++) {
        graph_add(clone, body_ref(graph->nodes[i]->body), NULL, 0);
        clone->nodes[i]->disabled = graph->nodes[i]->disabled;
    }
    /* Positions are the same in the clone; a dependency may lie behind the node. */
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode from = graph->nodes[i], to = clone->nodes[i];
        to->deps = realloc(to->deps, sizeof(CUgraphNode) * (from->n_deps + 1));
        if (to->deps == NULL)
            abort();
        for (size_t d = 0; d < from->n_deps; d++)
            to->deps[d] = clone->nodes[from->deps[d]->index];
        to->n_deps = from->n_deps;
    }
    for (struct user_reference *u = graph->users; u != NULL; u = u->next) {
        struct user_reference *copy = calloc(1, sizeof *copy);
        if (copy == NULL)
            abort();
        user_object_retain(u->object, 1);
        *copy = (struct user_reference){u->object, 1, clone->users};
        clone->users = copy;
    }
    return clone;
}

bool graph_reaches(CUgraphNode from, CUgraphNode ancestor)
{
    if (from == ancestor)
        return true;
    for (size_t i = 0; i < from->n_deps; i++)
        if (graph_reaches(from->deps[i], ancestor))
            return true;
    return false;
}

/* ---- running */

struct launch_arg {
    CUgraphExec exec;
};

static CUresult run_graph(CUgraph graph, CUcontext context, double *seconds_p);

/* A replay finds the memory of an allocation node as fresh as the first run did. */
static void refresh_memory(const struct node_body *body)
{
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find((void *)(uintptr_t) * (const CUdeviceptr *)body->arg);
    if (a != NULL)
        memset(a->base, 0xff, a->bytes);
    pthread_mutex_unlock(&driver_lock);
}

static CUresult run_node(CUgraphNode node, CUcontext context, double *seconds_p)
{
    const struct node_body *body = node->body;
    struct op_result result = {0};
    CUresult r = CUDA_SUCCESS;
    if (node->disabled)
        return CUDA_SUCCESS;
    if (body->child != NULL)
        r = run_graph(body->child, context, &result.seconds);
    else if (body->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        refresh_memory(body);
    else if (body->type != CU_GRAPH_NODE_TYPE_MEM_FREE && body->kind != NULL)
        r = body->kind->run(body->arg, context, &result);
    *seconds_p = result.seconds;
    return r;
}

static CUresult run_graph(CUgraph graph, CUcontext context, double *seconds_p)
{
    const size_t n = graph->n_nodes;
    double *end = calloc(n + 1, sizeof(double));
    bool *done = calloc(n + 1, sizeof(bool));
    size_t *ready = calloc(n + 1, sizeof(size_t));
    CUresult r = CUDA_SUCCESS;
    if (end == NULL || done == NULL || ready == NULL)
        abort();
    for (size_t left = n; left > 0 && r == CUDA_SUCCESS; left--) {
        size_t n_ready = 0;
        for (size_t i = 0; i < n; i++) {
            bool ok = !done[i];
            for (size_t d = 0; ok && d < graph->nodes[i]->n_deps; d++)
                ok = done[graph->nodes[i]->deps[d]->index];
            if (ok)
                ready[n_ready++] = i;
        }
        if (n_ready == 0) {
            r = CUDA_ERROR_UNKNOWN; /* instantiation refuses cycles */
            break;
        }
        pthread_mutex_lock(&driver_lock);
        size_t pick = ready[mode_deferred() ? mode_random() % n_ready : 0];
        pthread_mutex_unlock(&driver_lock);
        double start = 0, seconds = 0;
        for (size_t d = 0; d < graph->nodes[pick]->n_deps; d++)
            if (end[graph->nodes[pick]->deps[d]->index] > start)
                start = end[graph->nodes[pick]->deps[d]->index];
        r = run_node(graph->nodes[pick], context, &seconds);
        end[pick] = start + seconds;
        done[pick] = true;
        if (end[pick] > *seconds_p)
            *seconds_p = end[pick];
    }
    free(end);
    free(done);
    free(ready);
    return r;
}

static void free_exec(CUgraphExec exec)
{
    graph_free(exec->graph);
    completion_unref(exec->last);
    free(exec);
}

static CUresult run_launch(void *arg, CUcontext context, struct op_result *result)
{
    struct launch_arg *l = arg;
    count_add("graph.launches", 1);
    return run_graph(l->exec->graph, context, &result->seconds);
}

static void release_launch(void *arg)
{
    CUgraphExec exec = ((struct launch_arg *)arg)->exec;
    if (--exec->running == 0 && exec->dead)
        free_exec(exec);
}

static const struct op_kind launch_kind = {"graph launch", run_launch, release_launch,
                                           CU_GRAPH_NODE_TYPE_GRAPH};

static CUresult launch(CUgraphExec exec, CUstream handle, bool per_thread)
{
    CUstream stream;
    if (exec == NULL || exec->dead)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS && stream->capture != NULL) {
        /* becomes a child graph of the capture */
        struct node_body *body = body_make(NULL, NULL, 0, CU_GRAPH_NODE_TYPE_GRAPH);
        body->child = graph_clone(exec->graph);
        r = capture_add_body(stream, body);
        pthread_mutex_unlock(&driver_lock);
        return r;
    }
    exec->running++;
    struct completion *before = completion_ref(exec->last);
    pthread_mutex_unlock(&driver_lock);
    if (r == CUDA_SUCCESS) {
        struct launch_arg l = {exec};
        r = stream_submit_after(handle, per_thread, &launch_kind, &l, sizeof l, before, &exec->last);
    } else {
        pthread_mutex_lock(&driver_lock);
        exec->running--;
        completion_unref(before);
        pthread_mutex_unlock(&driver_lock);
    }
    return r;
}

API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    ENTER("cuGraphLaunch");
    return launch(exec, stream, false);
}

API CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
API CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    ENTER("cuGraphLaunch_ptsz");
    return launch(exec, stream, true);
}

/* ---- instantiation */

static bool has_cycle(CUgraph graph)
{
    const size_t n = graph->n_nodes;
    bool *done = calloc(n + 1, sizeof(bool));
    size_t left = n;
    if (done == NULL)
        abort();
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < n; i++) {
            bool ok = !done[i];
            for (size_t d = 0; ok && d < graph->nodes[i]->n_deps; d++)
                ok = done[graph->nodes[i]->deps[d]->index];
            if (ok) {
                done[i] = progress = true;
                left--;
            }
        }
    }
    free(done);
    return left > 0;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (exec == NULL || graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (has_cycle(graph)) {
        r = CUDA_ERROR_INVALID_VALUE;
    } else {
        *exec = calloc(1, sizeof **exec);
        if (*exec == NULL)
            abort();
        (*exec)->graph = graph_clone(graph);
        (*exec)->graph->owned = true;
        (*exec)->flags = flags;
        count_add("graph.instantiated", 1);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    ENTER("cuGraphInstantiateWithFlags");
    return instantiate(exec, graph, flags);
}

API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node,
                                   char *log, size_t log_bytes);
API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node,
                                   char *log, size_t log_bytes)
{
    ENTER("cuGraphInstantiate_v2");
    if (log != NULL && log_bytes > 0)
        log[0] = '\0';
    return instantiate(exec, graph, 0);
}

static CUresult instantiate_params(CUgraphExec *exec, CUgraph graph,
                                   CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = instantiate(exec, graph, params->flags);
    params->result_out = r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                                           : CUDA_GRAPH_INSTANTIATE_ERROR;
    params->hErrNode_out = NULL;
    return r;
}

API CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    ENTER("cuGraphInstantiateWithParams");
    return instantiate_params(exec, graph, params);
}

API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                               CUDA_GRAPH_INSTANTIATE_PARAMS *params);
API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                               CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    ENTER("cuGraphInstantiateWithParams_ptsz");
    return instantiate_params(exec, graph, params);
}

API CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    ENTER("cuGraphExecDestroy");
    if (exec == NULL || exec->dead)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    exec->dead = true;
    if (exec->running == 0)
        free_exec(exec);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    ENTER("cuGraphExecGetFlags");
    if (exec == NULL || flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

API CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    ENTER("cuGraphUpload");
    return exec != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The same nodes of the same types with the same edges: then the bodies are taken over. */
static CUgraphExecUpdateResult compare(CUgraph old, CUgraph fresh)
{
    if (old->n_nodes != fresh->n_nodes)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < old->n_nodes; i++) {
        CUgraphNode a = old->nodes[i], b = fresh->nodes[i];
        if (a->body->type != b->body->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (a->n_deps != b->n_deps)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (size_t d = 0; d < a->n_deps; d++)
            if (a->deps[d]->index != b->deps[d]->index)
                return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                  CUgraphExecUpdateResultInfo *info)
{
    ENTER("cuGraphExecUpdate_v2");
    if (exec == NULL || exec->dead || graph == NULL || info == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(info, 0, sizeof *info);
    pthread_mutex_lock(&driver_lock);
    info->result = compare(exec->graph, graph);
    if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        /* Launches that are under way keep what they were launched with. */
        while (exec->running > 0 && exec->last != NULL && !exec->last->done)
            if (run_until(exec->last, context_now()) != CUDA_SUCCESS)
                break;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            body_unref(exec->graph->nodes[i]->body);
            exec->graph->nodes[i]->body = body_ref(graph->nodes[i]->body);
        }
    }
    pthread_mutex_unlock(&driver_lock);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                        : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}
