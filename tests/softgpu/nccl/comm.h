/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators. One rank's communicator owns its link, a worker thread that does its work in
 * launch order, and what is waiting for that. A batch is what one group launches on one
 * communicator: each of its streams says when it gets there, and then waits for a word in memory
 * that the worker sets. */
#ifndef SOFTGPU_NCCL_COMM_H
#define SOFTGPU_NCCL_COMM_H

#include "tests/softgpu/nccl/gpu.h"
#include "tests/softgpu/nccl/link.h"

#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>

enum task_kind {
    TASK_ALL_REDUCE,
    TASK_REDUCE_SCATTER,
    TASK_ALL_GATHER,
    TASK_BROADCAST,
    TASK_REDUCE,
    TASK_SEND,
    TASK_RECEIVE,
    TASK_ALL_TO_ALL,
    TASK_GATHER,
    TASK_SCATTER,
    TASK_KINDS
};
extern const char *const task_names[TASK_KINDS]; /* "AllReduce", ... */

struct task {
    enum task_kind kind;
    const char *send;
    char *receive;
    size_t count; /* elements: as the call's argument */
    ncclDataType_t type;
    ncclRedOp_t op; /* built in, never ncclAvg */
    int peer;       /* or root */
    CUstream stream;
    /* what becomes of the data around a reduction */
    bool scaled, divided;
    char factor[8];
    const void *device_factor; /* read when the task runs; NULL: factor */
};

struct batch {
    ncclComm_t comm;
    struct task *task;
    unsigned ntasks;
    CUstream *stream;
    unsigned nstreams;
    _Atomic unsigned started, released;
    uint32_t *flag;      /* 1: done. In memory that streams can wait for */
    bool captured, host; /* host: no streams; somebody waits on the communicator's condition */
    struct batch *next;
};

struct user_op {
    bool used;
    ncclDataType_t type;
    char factor[8];
    const void *device_factor;
};

struct ncclComm {
    uint64_t magic;
    CUcontext context;
    CUdevice device;
    int rank, nranks;
    bool blocking;
    struct link *link;    /* NULL until the ranks have met */
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    struct batch *head, *tail;
    unsigned live; /* batches that are not done with */
    bool working, closing, meeting;
    _Atomic bool aborted;
    _Atomic int result; /* ncclInProgress while the ranks meet */
    char error[256];
    struct user_op *op;
    unsigned nops;
    unsigned tickets, serving; /* of splits: one after the other, in the order of the calls */
    uint64_t serial;           /* of collectives, the worker's */
};

/* NULL: no memory, no device. The current context becomes the communicator's. */
ncclComm_t comm_make(int nranks, int rank);
bool comm_valid(ncclComm_t comm);
/* Starts the worker on a link; the communicator is ready then. */
ncclResult_t comm_start(ncclComm_t comm, struct link *link, const char *transport);
/* Records the first failure, and says it on stderr. Returns it. */
ncclResult_t comm_fail(ncclComm_t comm, ncclResult_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends it when its work is done; frees it then. */
void comm_close(ncclComm_t comm);
/* The meeting that had set comm->meeting has ended; if it failed and was closed meanwhile, frees
 * it. */
void comm_met(ncclComm_t comm);
void comm_abort(ncclComm_t comm);
/* Until nothing is left to do (or it failed). */
void comm_drain(ncclComm_t comm);

/* Enqueues a group's tasks of this communicator. Takes over task. */
ncclResult_t comm_launch(ncclComm_t comm, struct task *task, unsigned ntasks);
/* Takes a place in the order of what makes communicators of this one; waits for it; goes on. */
unsigned comm_ticket(ncclComm_t comm);
void comm_wait_turn(ncclComm_t comm, unsigned ticket);
void comm_end_turn(ncclComm_t comm);
/* Runs tasks on host memory, in launch order, and waits for them. */
ncclResult_t comm_run_now(ncclComm_t comm, struct task *task, unsigned ntasks);

/* tasks.c: called by the worker */
ncclResult_t tasks_run(ncclComm_t comm, const struct task *task, unsigned ntasks);

/* transfer.c: one message to or from a peer; those with the same peer and direction stay in order
 */
struct transfer {
    int peer;
    bool send;
    char *p;
    size_t bytes;
    /* filled in while it runs */
    size_t done, header_done;
    struct header {
        uint32_t kind, detail;
        uint64_t bytes;
    } header;
};
ncclResult_t transfers_run(ncclComm_t comm, struct transfer *t, unsigned n, enum task_kind kind,
                           uint32_t detail);

/* flags.c: words that streams can wait for. NULL: none to be had now. */
uint32_t *flag_take(bool may_allocate);
void flag_give(uint32_t *flag);

#endif
