/* SPDX-License-Identifier: BSD-3-Clause
 * Executable graphs: instantiated, launched, updated. A launch is one operation of its stream
 * (graph_run.c); it does not pass through the entry points. */
#include "tests/softgpu/driver/graph.h"

#include <stdlib.h>
#include <string.h>

struct launch_arg {
    CUgraphExec exec;
    struct graph_run *run; /* NULL: not begun */
};

static void free_exec(CUgraphExec exec)
{
    graph_free(exec->graph);
    completion_unref(exec->last);
    free(exec);
}

static CUresult run_launch(void *arg, CUcontext context, struct op_result *result)
{
    struct launch_arg *l = arg;
    if (l->run == NULL) {
        count_add("graph.launches", 1);
        l->run = graph_run_make(l->exec->graph);
    }
    return graph_run_on(l->run, context, result->start, &result->seconds);
}

bool graph_launch_ready(const void *arg)
{
    const struct launch_arg *l = arg;
    return l->run == NULL || graph_run_ready(l->run);
}

static void release_launch(void *arg)
{
    struct launch_arg *l = arg;
    CUgraphExec exec = l->exec;
    graph_run_free(l->run);
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
        struct launch_arg l = {exec, NULL};
        r = stream_submit_after(handle, per_thread, &launch_kind, &l, sizeof l, before,
                                &exec->last);
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
    params->result_out =
        r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
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

API CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream);
API CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
    ENTER("cuGraphUpload_ptsz");
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
        if (a->body->child != NULL) {
            CUgraphExecUpdateResult r = compare(a->body->child, b->body->child);
            if (r != CU_GRAPH_EXEC_UPDATE_SUCCESS)
                return r;
        }
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* With the lock held. Launches that are under way keep what they were launched with. */
static CUresult wait_for_launches(CUgraphExec exec)
{
    CUcontext context = context_now();
    CUresult r = context != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    while (r == CUDA_SUCCESS && exec->running > 0 && exec->last != NULL && !exec->last->done) {
        struct completion *last = completion_ref(exec->last);
        r = run_until(last, context);
        completion_unref(last);
    }
    return r;
}

CUresult exec_replace(CUgraphExec exec, CUgraphNode original, struct node_body *body)
{
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUgraphNode node = exec != NULL && !exec->dead && original != NULL
                           ? graph_find_clone(exec->graph, original)
                           : NULL;
    if (node != NULL && node->body->type == body->type)
        r = wait_for_launches(exec);
    struct node_body *unused = r == CUDA_SUCCESS ? node->body : body;
    if (r == CUDA_SUCCESS)
        node->body = body;
    body_unref(unused);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* Takes over bodies; the nodes of child graphs too, which keep their identity for later updates. */
static void take_bodies(CUgraph old, CUgraph fresh)
{
    graph_take_users(old, fresh);
    for (size_t i = 0; i < fresh->n_nodes; i++) {
        CUgraphNode to = old->nodes[i], from = fresh->nodes[i];
        if (from->body->child != NULL) {
            take_bodies(to->body->child, from->body->child);
            continue;
        }
        struct node_body *body = body_ref(from->body);
        body_unref(to->body);
        to->body = body;
    }
}

API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                  CUgraphExecUpdateResultInfo *info)
{
    ENTER("cuGraphExecUpdate_v2");
    if (exec == NULL || exec->dead || graph == NULL || info == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(info, 0, sizeof *info);
    pthread_mutex_lock(&driver_lock);
    CUresult r = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    info->result = compare(exec->graph, graph);
    if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        r = wait_for_launches(exec);
        if (r == CUDA_SUCCESS)
            take_bodies(exec->graph, graph);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    ENTER("cuGraphExecChildGraphNodeSetParams");
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (exec == NULL || exec->dead || node == NULL || child == NULL)
        return r;
    pthread_mutex_lock(&driver_lock);
    CUgraphNode mine = graph_find_clone(exec->graph, node);
    if (mine != NULL && mine->body->child != NULL &&
        compare(mine->body->child, child) == CU_GRAPH_EXEC_UPDATE_SUCCESS &&
        (r = wait_for_launches(exec)) == CUDA_SUCCESS)
        take_bodies(mine->body->child, child);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult set_enabled(CUgraphExec exec, CUgraphNode original, unsigned *enabled, bool set)
{
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (exec == NULL || exec->dead || original == NULL || enabled == NULL)
        return r;
    pthread_mutex_lock(&driver_lock);
    CUgraphNode node = graph_find_clone(exec->graph, original);
    CUgraphNodeType type = node != NULL ? node->body->type : CU_GRAPH_NODE_TYPE_EMPTY;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
        type == CU_GRAPH_NODE_TYPE_MEMSET) {
        r = set ? wait_for_launches(exec) : CUDA_SUCCESS;
        if (set && r == CUDA_SUCCESS)
            node->disabled = *enabled == 0;
        *enabled = !node->disabled;
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    ENTER("cuGraphNodeSetEnabled");
    return set_enabled(exec, node, &enabled, true);
}

API CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    ENTER("cuGraphNodeGetEnabled");
    return set_enabled(exec, node, enabled, false);
}
