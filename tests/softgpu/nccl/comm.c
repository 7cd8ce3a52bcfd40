/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators and their workers. A worker takes batches in the order in which they were launched,
 * each when all of its streams have come to it. The last one to let go of a closed communicator,
 * its worker, frees it. */
#include "tests/softgpu/nccl/comm.h"

#include "tests/softgpu/nccl/arithmetic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x6e63636c636f6d6d)

ncclComm_t comm_make(int nranks, int rank)
{
    const struct gpu *gpu = gpu_get();
    ncclComm_t comm = calloc(1, sizeof *comm);

    if (comm == NULL || gpu == NULL || gpu->init(0) != CUDA_SUCCESS ||
        gpu->current(&comm->context) != CUDA_SUCCESS ||
        (comm->context == NULL && (gpu->primary_retain(&comm->context, 0) != CUDA_SUCCESS ||
                                   gpu->set_current(comm->context) != CUDA_SUCCESS)) ||
        gpu->context_device(&comm->device) != CUDA_SUCCESS) {
        free(comm);
        return NULL;
    }
    comm->magic = MAGIC;
    comm->nranks = nranks;
    comm->rank = rank;
    comm->blocking = true;
    comm->result = ncclInProgress;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_cond_init(&comm->changed, NULL);
    /* the memory must be there before a stream captures */
    flag_give(flag_take(true));
    return comm;
}

bool comm_valid(ncclComm_t comm)
{
    return comm != NULL && comm->magic == MAGIC;
}

static void comm_free(ncclComm_t comm)
{
    if (comm->link != NULL)
        comm->link->ops->close(comm->link);
    pthread_mutex_destroy(&comm->lock);
    pthread_cond_destroy(&comm->changed);
    comm->magic = 0;
    free(comm->op);
    free(comm);
}

ncclResult_t comm_fail(ncclComm_t comm, ncclResult_t result, const char *format, ...)
{
    va_list args;

    if (comm->result != ncclSuccess && comm->result != ncclInProgress)
        return (ncclResult_t)comm->result;
    va_start(args, format);
    vsnprintf(comm->error, sizeof comm->error, format, args);
    va_end(args);
    comm->result = result;
    if (!comm->aborted)
        fprintf(stderr, "softgpu: nccl: rank %d of %d: %s\n", comm->rank, comm->nranks,
                comm->error);
    return result;
}

/* With the lock held. */
static void take_head(ncclComm_t comm)
{
    struct batch *b = comm->head;

    comm->head = b->next;
    if (comm->head == NULL)
        comm->tail = NULL;
    b->next = NULL;
    /* whoever waits may free it from here on */
    __atomic_store_n(b->flag, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&comm->changed);
}

/* With the lock held: can the worker do something about the first batch? */
static bool head_ready(ncclComm_t comm)
{
    if (comm->head == NULL)
        return false;
    if (comm->aborted)
        return true;
    return comm->result == ncclSuccess && comm->head->started == comm->head->nstreams;
}

static void *work(void *arg)
{
    ncclComm_t comm = arg;

    pthread_mutex_lock(&comm->lock);
    for (;;) {
        struct batch *b;

        while (!head_ready(comm) && !(comm->closing && comm->head == NULL && comm->live == 0))
            pthread_cond_wait(&comm->changed, &comm->lock);
        b = comm->head;
        if (b == NULL)
            break;
        if (!comm->aborted) {
            comm->working = true;
            pthread_mutex_unlock(&comm->lock);
            tasks_run(comm, b->task, b->ntasks);
            pthread_mutex_lock(&comm->lock);
            comm->working = false;
        }
        /* after a failure the streams wait until the program aborts, as kernels do */
        if (comm->result == ncclSuccess || comm->aborted)
            take_head(comm);
        pthread_cond_broadcast(&comm->changed);
    }
    pthread_mutex_unlock(&comm->lock);
    comm_free(comm);
    return NULL;
}

ncclResult_t comm_start(ncclComm_t comm, struct link *link, const char *transport)
{
    pthread_t thread;

    gpu_get()->log("nccl", "rank %d of %d over %s", comm->rank, comm->nranks, transport);
    pthread_mutex_lock(&comm->lock);
    if (pthread_create(&thread, NULL, work, comm) == 0) {
        pthread_detach(thread);
        comm->link = link;
        comm->result = ncclSuccess;
    }
    pthread_mutex_unlock(&comm->lock);
    if (comm->link != NULL)
        return ncclSuccess;
    link->ops->close(link);
    return comm_fail(comm, ncclSystemError, "no thread");
}

void comm_close(ncclComm_t comm)
{
    bool alone;

    pthread_mutex_lock(&comm->lock);
    comm->closing = true;
    alone = comm->link == NULL && !comm->meeting;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
    if (alone)
        comm_free(comm);
}

void comm_met(ncclComm_t comm)
{
    bool alone;

    pthread_mutex_lock(&comm->lock);
    comm->meeting = false;
    alone = comm->link == NULL && comm->closing;
    pthread_mutex_unlock(&comm->lock);
    if (alone)
        comm_free(comm);
}

void comm_abort(ncclComm_t comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->aborted = true;
    if (comm->link != NULL)
        comm->link->ops->poke(comm->link);
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

void comm_drain(ncclComm_t comm)
{
    pthread_mutex_lock(&comm->lock);
    while ((comm->head != NULL || comm->working) && comm->result == ncclSuccess)
        pthread_cond_wait(&comm->changed, &comm->lock);
    pthread_mutex_unlock(&comm->lock);
}

static void append(ncclComm_t comm, struct batch *b)
{
    if (comm->tail != NULL)
        comm->tail->next = b;
    else
        comm->head = b;
    comm->tail = b;
}

/* What a task reads and writes on this rank: for the check of addresses, and the modelled time. */
static void extent(const struct task *t, const struct ncclComm *comm, size_t *read_p,
                   size_t *write_p)
{
    size_t bytes = t->count * data_bytes(t->type), all = bytes * (size_t)comm->nranks;
    bool root = comm->rank == t->peer;

    *read_p = t->kind == TASK_REDUCE_SCATTER || t->kind == TASK_ALL_TO_ALL ? all
              : t->kind == TASK_SCATTER                                    ? (root ? all : 0)
              : t->kind == TASK_BROADCAST                                  ? (root ? bytes : 0)
              : t->kind == TASK_RECEIVE                                    ? 0
                                                                           : bytes;
    *write_p = t->kind == TASK_ALL_GATHER || t->kind == TASK_ALL_TO_ALL ? all
               : t->kind == TASK_GATHER                                 ? (root ? all : 0)
               : t->kind == TASK_REDUCE                                 ? (root ? bytes : 0)
               : t->kind == TASK_SEND                                   ? 0
                                                                        : bytes;
}

struct step {
    struct batch *batch;
    CUstream stream;
};

/* A stream has come to the batch. */
static CUresult start(void *arg, void *space)
{
    const struct step *step = arg;
    struct batch *b = step->batch;
    ncclComm_t comm = b->comm;
    CUresult r = CUDA_SUCCESS;

    for (unsigned k = 0; k < b->ntasks && r == CUDA_SUCCESS; k++) {
        const struct task *t = &b->task[k];
        size_t read, write;

        if (t->stream != step->stream)
            continue;
        extent(t, comm, &read, &write);
        r = gpu_get()->check(space, t->send, read, 0, task_names[t->kind]);
        if (r == CUDA_SUCCESS)
            r = gpu_get()->check(space, t->receive, write, 1, task_names[t->kind]);
    }
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&comm->lock);
    if (++b->started == b->nstreams) {
        if (b->captured)
            append(comm, b);
        pthread_cond_broadcast(&comm->changed);
    }
    pthread_mutex_unlock(&comm->lock);
    return CUDA_SUCCESS;
}

static void batch_free(struct batch *b)
{
    flag_give(b->flag);
    free(b->task);
    free(b->stream);
    free(b);
}

/* A stream has seen that the batch is done. */
static CUresult release(void *arg, void *space)
{
    struct batch *b = ((const struct step *)arg)->batch;
    ncclComm_t comm = b->comm;

    (void)space;
    pthread_mutex_lock(&comm->lock);
    if (++b->released == b->nstreams) {
        if (b->captured) {
            /* for the next launch of the graph */
            b->started = b->released = 0;
            __atomic_store_n(b->flag, 0, __ATOMIC_RELEASE);
        } else {
            batch_free(b);
            comm->live--;
            pthread_cond_broadcast(&comm->changed);
        }
    }
    pthread_mutex_unlock(&comm->lock);
    return CUDA_SUCCESS;
}

static bool add_stream(struct batch *b, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

    for (unsigned k = 0; k < b->nstreams; k++)
        if (b->stream[k] == stream)
            return true;
    b->stream[b->nstreams++] = stream;
    if (gpu_get()->is_capturing(stream, &status) != CUDA_SUCCESS)
        return false;
    b->captured |= status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return true;
}

static struct batch *batch_make(ncclComm_t comm, struct task *task, unsigned ntasks)
{
    struct batch *b = calloc(1, sizeof *b);
    bool ok = b != NULL;

    if (ok) {
        *b = (struct batch){.comm = comm, .task = task, .ntasks = ntasks};
        b->stream = calloc(ntasks, sizeof *b->stream);
        ok = b->stream != NULL;
    }
    for (unsigned k = 0; ok && k < ntasks; k++)
        ok = add_stream(b, task[k].stream);
    b->flag = ok ? flag_take(!b->captured) : NULL;
    if (b->flag != NULL)
        return b;
    if (b != NULL)
        free(b->stream);
    free(b);
    free(task);
    return NULL;
}

/* For each stream: say that it is here, wait for the worker, let go. */
static CUresult enqueue(struct batch *b)
{
    const struct gpu *gpu = gpu_get();
    const unsigned nstreams = b->nstreams;
    CUresult r = CUDA_SUCCESS;

    for (unsigned k = 0; k < nstreams && r == CUDA_SUCCESS; k++) {
        struct step step = {b, b->stream[k]};
        struct softgpu_cost cost = {.type = SOFTGPU_F32};
        char name[40];

        for (unsigned n = 0; n < b->ntasks; n++) {
            size_t read, write;

            extent(&b->task[n], b->comm, &read, &write);
            if (b->task[n].stream == b->stream[k])
                cost.bytes += read + write;
        }
        snprintf(name, sizeof name, "nccl%s",
                 b->ntasks == 1 ? task_names[b->task[0].kind] : "Group");
        r = gpu->enqueue(b->stream[k], name, start, &step, sizeof step, &cost);
    }
    /* the last stream to let go frees the batch, perhaps before this returns */
    for (unsigned k = 0; k < nstreams && r == CUDA_SUCCESS; k++) {
        struct step step = {b, b->stream[k]};
        struct softgpu_cost none = {.type = SOFTGPU_F32};

        r = gpu->wait_value(b->stream[k], (CUdeviceptr)(uintptr_t)b->flag, 1,
                            CU_STREAM_WAIT_VALUE_EQ);
        if (r == CUDA_SUCCESS)
            r = gpu->enqueue(b->stream[k], "nccl end", release, &step, sizeof step, &none);
    }
    return r;
}

ncclResult_t comm_launch(ncclComm_t comm, struct task *task, unsigned ntasks)
{
    const struct gpu *gpu = gpu_get();
    CUcontext before = NULL;
    CUresult r;
    struct batch *b;

    gpu->current(&before);
    if (gpu->set_current(comm->context) != CUDA_SUCCESS)
        return ncclUnhandledCudaError;
    b = batch_make(comm, task, ntasks);
    if (b == NULL) {
        gpu->set_current(before);
        return ncclUnhandledCudaError;
    }
    if (!b->captured) {
        pthread_mutex_lock(&comm->lock);
        append(comm, b);
        comm->live++;
        pthread_mutex_unlock(&comm->lock);
    }
    /* what is on some streams already stays there: a failure here is the context's own */
    r = enqueue(b);
    gpu->set_current(before);
    return r == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}

unsigned comm_ticket(ncclComm_t comm)
{
    unsigned ticket;

    pthread_mutex_lock(&comm->lock);
    ticket = comm->tickets++;
    pthread_mutex_unlock(&comm->lock);
    return ticket;
}

void comm_wait_turn(ncclComm_t comm, unsigned ticket)
{
    pthread_mutex_lock(&comm->lock);
    while (comm->serving != ticket)
        pthread_cond_wait(&comm->changed, &comm->lock);
    pthread_mutex_unlock(&comm->lock);
}

void comm_end_turn(ncclComm_t comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->serving++;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

ncclResult_t comm_run_now(ncclComm_t comm, struct task *task, unsigned ntasks)
{
    uint32_t flag = 0;
    struct batch b = {.comm = comm, .task = task, .ntasks = ntasks, .flag = &flag, .host = true};
    ncclResult_t r;

    pthread_mutex_lock(&comm->lock);
    append(comm, &b);
    pthread_cond_broadcast(&comm->changed);
    while (flag == 0 && (comm->result == ncclSuccess || comm->head != &b))
        pthread_cond_wait(&comm->changed, &comm->lock);
    if (flag == 0) {
        comm->head = b.next;
        if (comm->head == NULL)
            comm->tail = NULL;
    }
    r = flag && !comm->aborted        ? ncclSuccess
        : comm->result != ncclSuccess ? (ncclResult_t)comm->result
                                      : ncclInternalError;
    pthread_mutex_unlock(&comm->lock);
    return r;
}
