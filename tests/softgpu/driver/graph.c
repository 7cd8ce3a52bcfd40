/* SPDX-License-Identifier: BSD-3-Clause
 * Graph objects: nodes and their bodies, made, cloned, replaced, freed. */
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
    *body = (struct node_body){
        .refs = 1, .kind = kind, .arg = arg, .arg_bytes = arg_bytes, .type = type};
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
    if (body->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) /* unless the program has freed it itself */
        memory_free((void *)(uintptr_t) * (const CUdeviceptr *)body->arg);
    if (body->kind != NULL && body->kind->release != NULL)
        body->kind->release(body->arg);
    free(body->arg);
    free(body->view);
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

static void release_users(struct user_reference *users)
{
    for (struct user_reference *u = users, *next; u != NULL; u = next) {
        next = u->next;
        user_object_release(u->object, u->n);
        free(u);
    }
}

static void clone_users(CUgraph to, CUgraph from)
{
    for (struct user_reference *u = from->users; u != NULL; u = u->next) {
        struct user_reference *copy = calloc(1, sizeof *copy);
        if (copy == NULL)
            abort();
        user_object_retain(u->object, 1);
        *copy = (struct user_reference){u->object, 1, to->users};
        to->users = copy;
    }
}

void graph_take_users(CUgraph to, CUgraph from)
{
    struct user_reference *old = to->users;
    to->users = NULL;
    clone_users(to, from);
    release_users(old);
}

void graph_free(CUgraph graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        body_unref(graph->nodes[i]->body);
        free(graph->nodes[i]->deps);
        free(graph->nodes[i]);
    }
    release_users(graph->users);
    free(graph->nodes);
    free(graph);
}

static uint64_t last_node_id;

CUgraphNode graph_add(CUgraph graph, struct node_body *body, const CUgraphNode *deps, size_t n)
{
    CUgraphNode node = calloc(1, sizeof *node);
    CUgraphNode *nodes = realloc(graph->nodes, sizeof(CUgraphNode) * (graph->n_nodes + 1));
    CUgraphNode *copy = calloc(n + 1, sizeof(CUgraphNode));
    if (node == NULL || nodes == NULL || copy == NULL)
        abort();
    if (n > 0)
        if (n > 0)
        memcpy(copy, deps, sizeof(CUgraphNode) * n);
    *node = (struct CUgraphNode_st){.graph = graph,
                                    .body = body,
                                    .deps = copy,
                                    .n_deps = n,
                                    .index = graph->n_nodes,
                                    .id = ++last_node_id};
    nodes[graph->n_nodes++] = node;
    graph->nodes = nodes;
    return node;
}

/* Bodies never change, but the nodes of a child graph do: it is cloned too. */
static struct node_body *clone_body(struct node_body *body)
{
    if (body->child == NULL)
        return body_ref(body);
    struct node_body *clone = body_make(NULL, NULL, 0, body->type);
    clone->context = body->context;
    clone->child = graph_clone(body->child);
    clone->child->owned = true;
    return clone;
}

CUgraph graph_clone(CUgraph graph)
{
    CUgraph clone = graph_make();
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode copy = graph_add(clone, clone_body(graph->nodes[i]->body), NULL, 0);
        copy->origin = graph->nodes[i]->id;
        copy->disabled = graph->nodes[i]->disabled;
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
    clone_users(clone, graph);
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

CUgraphNode graph_find_clone(CUgraph clone, CUgraphNode original)
{
    CUgraphNode found = NULL;
    for (size_t i = 0; found == NULL && i < clone->n_nodes; i++) {
        CUgraphNode node = clone->nodes[i];
        if (node->origin == original->id)
            found = node;
        else if (node->body->child != NULL)
            found = graph_find_clone(node->body->child, original);
    }
    return found;
}

CUresult node_replace(CUgraphNode node, struct node_body *body)
{
    CUresult r = CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    if (node != NULL && node->body->type == body->type) {
        body_unref(node->body);
        node->body = body;
    } else {
        body_unref(body);
        r = CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}
