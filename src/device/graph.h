/* SPDX-License-Identifier: BSD-3-Clause
 * How many GEMMs are in each graph and each executable graph of the program, so that a launch can
 * be counted as what it replays. Only those with GEMMs take room. What is executed is looked up
 * without a lock. */
#ifndef APEXSHIM_GRAPH_H
#define APEXSHIM_GRAPH_H

#include "base/real.h"

#include <stdbool.h>
#include <stdint.h>

struct graph_work {
    uint64_t gemms;     /* calls of GEMM functions that were seen */
    uint64_t converted; /* of those */
};

struct graph_work graph_work(CUgraph graph);
/* More work is in the graph, and with it in the graphs that it is a child of. */
void graph_add_work(CUgraph graph, struct graph_work work);
/* A graph that had not been known has this work. */
void graph_set(CUgraph graph, struct graph_work work);
/* The graph embedded is the one behind a new node of parent, which grows by its work. */
void graph_embed(CUgraph parent, CUgraph embedded, struct graph_work work);
/* A child graph is taken out of its parent. */
void graph_unembed(CUgraph embedded);
/* The graph is destroyed, and its child graphs with it. Returns what graph_set can undo it with. */
struct graph_work graph_forget(CUgraph graph);

struct graph_work exec_work(CUgraphExec exec);
void exec_set(CUgraphExec exec, struct graph_work work);
struct graph_work exec_forget(CUgraphExec exec);
/* What the executable has in place of a child graph is replaced: node is the original's, which had
 * the work old unless it has been replaced before. */
void exec_set_child(CUgraphExec exec, CUgraphNode node, struct graph_work old,
                    struct graph_work fresh);

#endif
