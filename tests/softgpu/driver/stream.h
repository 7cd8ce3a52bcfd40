/* SPDX-License-Identifier: BSD-3-Clause
 * Streams, what has been put on them, and capture. driver_lock guards all of it. */
#ifndef SOFTGPU_DRIVER_STREAM_H
#define SOFTGPU_DRIVER_STREAM_H

#include "tests/softgpu/driver/internal.h"

/* Set when an operation has run; shared by those who wait for it. */
struct completion {
    unsigned refs;
    bool done;
    double time; /* modelled, on the device's clock */
};
struct completion *completion_ref(struct completion *c);
void completion_unref(struct completion *c);

struct op {
    const struct op_kind *kind;
    void *arg;
    struct completion *completion;
    struct completion **waits; /* what must be done first, beside what is ahead on the stream */
    unsigned n_waits;
    bool borrowed_arg; /* arg belongs to a graph */
    struct op *next;
};

struct capture;

struct CUstream_st {
    CUcontext context;
    uint64_t id;
    unsigned flags;
    int priority;
    bool dead, legacy, running;
    uint64_t rank;   /* in deferred mode: the runnable stream of the highest rank runs */
    uint64_t turn;   /* when this stream was starved last, 0: never */
    pthread_t owner; /* of a per-thread default stream */
    bool per_thread;
    struct op *head, *tail;
    struct completion *last; /* of the operation that was put here last; NULL: none ever */
    double clock;            /* modelled time at which the last finished operation ended */
    struct capture *capture; /* NULL: not capturing */
    CUstreamAttrValue attributes[CU_LAUNCH_ATTRIBUTE_MAX];
    CUgraphNode *capture_deps; /* what the next captured node depends on */
    size_t n_capture_deps;
    struct CUstream_st *next;
};

CUstream stream_make(CUcontext context, unsigned flags, int priority, bool legacy);
void stream_kill_all(CUcontext context);
/* The stream object that a handle means in the current context. */
CUresult stream_resolve(CUstream handle, bool per_thread_default, CUstream *stream_p);
/* With the lock held: puts an operation on a stream that is not captured. Takes over arg. */
void stream_put(CUstream stream, const struct op_kind *kind, void *arg, bool borrowed_arg,
                struct completion **waits, unsigned n_waits, struct completion **completion_p);
/* Like stream_submit, but waits for `before` too (taken over, may be NULL), and replaces
 * *last_p by the completion of the new operation. */
CUresult stream_submit_after(CUstream handle, bool per_thread_default, const struct op_kind *kind,
                             const void *arg, size_t arg_bytes, struct completion *before,
                             struct completion **last_p);
/* Runs operations (any that may run) until c is done; then the context's error. */
CUresult run_until(struct completion *c, CUcontext context);
/* In deferred mode, when something was put: leaves it, or runs a little. */
void run_some(void);
/* In deferred mode, when the program asks whether something is done: makes progress sometimes. */
void run_polled(void);
/* In immediate mode, when something was put: runs it, and whatever may run once a value is written;
 * what has to wait for a value stays. */
CUresult run_put(struct completion *c, CUcontext context);
/* From now on streams or graphs may wait for values in memory, which anybody may write. */
void expect_values(void);
/* values.c and graph_exec.c: may an operation with this argument go on? The lock is held. */
bool values_ready(const void *arg, unsigned step);
unsigned values_step(const void *arg);
CUresult values_run(const void *arg, unsigned *step, CUcontext context);
bool graph_launch_ready(const void *arg);
CUresult value_write(CUstream stream, bool per_thread, CUdeviceptr p, uint64_t value);
CUresult value_wait(CUstream stream, bool per_thread, CUdeviceptr p, uint64_t value); /* or more */
/* Runs one operation, or waits a moment for somebody to write a value. */
void run_or_wait(void);
/* With the lock held: returns when no operation runs, and then none can begin. */
void wait_until_idle(void);
bool mode_deferred(void); /* SOFTGPU_SEED is not 0: operations run late, in adversarial order */
uint64_t mode_random(void);

/* Capture (graph.c). Is a call that could break some capture in progress forbidden now? Then the
 * captures concerned are invalidated and the error is returned. */
CUresult capture_unsafe(void);
void capture_invalidate(CUstream stream);
/* Legacy-stream use during a capture that it would have to wait for. */
CUresult capture_legacy_conflict(CUcontext context);
/* Adds a node for an operation to the stream's capture. Takes over arg. */
CUresult capture_add(CUstream stream, const struct op_kind *kind, void *arg, size_t arg_bytes);
struct node_body;
CUresult capture_add_body(CUstream stream, struct node_body *body);
struct CUevent_st;
CUresult capture_event_record(CUstream stream, struct CUevent_st *event, unsigned flags);
CUresult capture_event_wait(CUstream stream, struct CUevent_st *event, unsigned flags,
                            bool *done_p);
/* The host asked for an event of a capture: invalidates it and gives the error. Takes the lock. */
CUresult capture_event_misused(struct CUevent_st *event);

struct CUevent_st {
    CUcontext context;
    unsigned flags;
    bool dead;
    struct completion *completion; /* of the last record; NULL: never recorded */
    struct capture *capture;       /* recorded inside a capture: which, and after what */
    uint64_t capture_id;
    struct ipc_event *shared; /* NULL: of this process alone (ipc_event.c) */
    int shared_file;
    CUgraphNode *capture_nodes;
    size_t n_capture_nodes;
    struct CUevent_st *next; /* of all */
};

/* Is this operation the one at which the device is to fail (failure.c)? It has then failed. */
bool device_breaks_now(struct device *device);

/* Memory of a context that ends (memory.c). */
void memory_release_context(CUcontext context);

#endif
