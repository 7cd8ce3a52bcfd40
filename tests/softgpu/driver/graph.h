/* SPDX-License-Identifier: BSD-3-Clause
 * Graphs: nodes with shared, immutable bodies, so that clones and executables are cheap and a
 * replay never sees a later change. driver_lock guards all of it. */
#ifndef SOFTGPU_DRIVER_GRAPH_H
#define SOFTGPU_DRIVER_GRAPH_H

#include "tests/softgpu/driver/stream.h"

struct node_body {
    unsigned refs;
    const struct op_kind *kind; /* NULL: an empty node or a child graph */
    void *arg;
    size_t arg_bytes;
    CUgraphNodeType type;
    CUcontext context; /* where it runs; NULL: where the graph is launched */
    CUgraph child;     /* of a child graph node; owned */
    void *view;        /* what cuGraph*GetParams pointed the program to */
};

struct CUgraphNode_st {
    CUgraph graph;
    struct node_body *body;
    CUgraphNode *deps;
    size_t n_deps;
    size_t index;        /* position in graph->nodes */
    uint64_t id, origin; /* its own, and that of the node it was cloned from */
    bool disabled;
};

struct user_reference {
    CUuserObject object;
    unsigned n;
    struct user_reference *next;
};

struct CUgraph_st {
    CUgraphNode *nodes;
    size_t n_nodes;
    bool owned; /* by a node or an executable: not to be destroyed by the program */
    struct user_reference *users;
};

struct CUgraphExec_st {
    CUgraph graph; /* a clone of its own */
    cuuint64_t flags;
    struct completion *last; /* launches of one executable run one after the other */
    bool dead;
    unsigned running;
};

struct capture {
    uint64_t id;
    CUstreamCaptureMode mode;
    pthread_t owner;
    CUstream origin;
    CUgraph graph;
    bool invalid, graph_given;
    struct capture *next;
};

/* graph_run.c: one launch of an executable, or of a child graph in it */
struct graph_run *graph_run_make(CUgraph graph);
void graph_run_free(struct graph_run *run);
/* Runs what may run. RUN_BLOCKED: the nodes left wait for values or events. *seconds_p: how long
 * the longest path takes. */
CUresult graph_run_on(struct graph_run *run, CUcontext context, double start, double *seconds_p);
bool graph_run_ready(const struct graph_run *run); /* can it go on? The lock is held. */

/* graph_event.c: nodes whose argument is an event */
extern const struct op_kind graph_record_kind, graph_wait_kind;
/* user_object.c */
void user_object_retain(CUuserObject object, unsigned n);
void user_object_release(CUuserObject object, unsigned n);

void *copy_of(const void *arg, size_t bytes); /* malloc'ed */
struct node_body *body_make(const struct op_kind *kind, void *arg, size_t arg_bytes,
                            CUgraphNodeType type);
struct node_body *body_ref(struct node_body *body);
void body_unref(struct node_body *body);
CUgraph graph_make(void);
void graph_free(CUgraph graph);
CUgraph graph_clone(CUgraph graph);
/* In an update, references to user objects are replaced by those of the new graph. */
void graph_take_users(CUgraph to, CUgraph from);
/* Adds a node; takes over body. NULL: out of memory. */
CUgraphNode graph_add(CUgraph graph, struct node_body *body, const CUgraphNode *deps, size_t n);
/* Adds a node for an entry point, which may have been given anything; takes over body. */
CUresult graph_add_checked(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t n,
                           struct node_body *body);
bool graph_reaches(CUgraphNode from, CUgraphNode ancestor);
/* The node of a clone, or of its child graphs, that stands for this one; the lock is held. */
CUgraphNode graph_find_clone(CUgraph clone, CUgraphNode original);
/* Replace the body of a node, or of the node in an executable that stands for it; take over body,
 * which has to be of the same type. */
CUresult node_replace(CUgraphNode node, struct node_body *body);
CUresult exec_replace(CUgraphExec exec, CUgraphNode original, struct node_body *body);

#endif
