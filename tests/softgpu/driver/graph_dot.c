/* SPDX-License-Identifier: BSD-3-Clause
 * Writes a graph in the language of Graphviz, child graphs as clusters. Owns nothing. */
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/module.h"

#include <inttypes.h>
#include <stdio.h>

static const char *type_name(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST:
        return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return "GRAPH";
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return "EMPTY";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return "EVENT_WAIT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return "BATCH_MEM_OP";
    default:
        return "NODE";
    }
}

static void write_graph(FILE *file, CUgraph graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode node = graph->nodes[i];
        const struct node_body *body = node->body;
        fprintf(file, "n%" PRIu64 " [label=\"%zu %s", node->id, i, type_name(body->type));
        if (body->kind == &kernel_launch_kind) {
            const struct launch *l = body->arg;
            fprintf(file, "\\n%s", l->function->code != NULL ? l->function->code->name : "?");
        }
        fprintf(file, "\"];\n");
        for (size_t d = 0; d < node->n_deps; d++)
            fprintf(file, "n%" PRIu64 " -> n%" PRIu64 ";\n", node->deps[d]->id, node->id);
        if (body->child != NULL) {
            fprintf(file, "subgraph cluster_%" PRIu64 " {\n", node->id);
            write_graph(file, body->child);
            fprintf(file, "}\n");
        }
    }
}

API CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
    ENTER("cuGraphDebugDotPrint");
    if (graph == NULL || path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return CUDA_ERROR_OPERATING_SYSTEM;
    pthread_mutex_lock(&driver_lock);
    fprintf(file, "digraph dot {\n");
    write_graph(file, graph);
    fprintf(file, "}\n");
    pthread_mutex_unlock(&driver_lock);
    const bool failed = ferror(file) != 0;
    return fclose(file) != 0 || failed ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
