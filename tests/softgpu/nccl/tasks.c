/* SPDX-License-Identifier: BSD-3-Clause
 * The operations, made of messages. Reductions go round in a ring: each element is summed in one
 * place and in one order, so all ranks get the same bits. The worker's thread alone runs here. */
#include "tests/softgpu/nccl/comm.h"

#include "tests/softgpu/nccl/arithmetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const task_names[TASK_KINDS] = {
    "AllReduce", "ReduceScatter", "AllGather", "Broadcast", "Reduce",
    "Send",      "Recv",          "AlltoAll",  "Gather",    "Scatter",
};

/* What the messages of a collective have in common, the same on all ranks. */
static uint32_t detail_of(ncclComm_t comm, const struct task *t)
{
    return (uint32_t)t->type | (uint32_t)t->op << 4 | (uint32_t)(comm->serial & 0xffff) << 12;
}

static void scale(const struct task *t, void *p, size_t n)
{
    if (t->scaled)
        scale_by(p, n, t->type, t->device_factor ? t->device_factor : t->factor);
}

static int before(ncclComm_t comm)
{
    return (comm->rank + comm->nranks - 1) % comm->nranks;
}

static int after(ncclComm_t comm)
{
    return (comm->rank + 1) % comm->nranks;
}

/* Sends to the next rank and receives from the one before. */
static ncclResult_t turn_ring(ncclComm_t comm, const struct task *t, char *send, size_t send_bytes,
                              char *receive, size_t receive_bytes)
{
    struct transfer two[2] = {{.peer = after(comm), .send = true, .p = send, .bytes = send_bytes},
                              {.peer = before(comm), .p = receive, .bytes = receive_bytes}};

    return transfers_run(comm, two, 2, t->kind, detail_of(comm, t));
}

/* Part k of an all-reduce. */
static char *part(ncclComm_t comm, const struct task *t, int k, size_t *n_p)
{
    size_t nranks = (size_t)comm->nranks, number = (size_t)(k + 2 * comm->nranks) % nranks;
    size_t share = t->count / nranks, extra = t->count % nranks;
    size_t begin = number * share + (number < extra ? number : extra);

    *n_p = share + (number < extra);
    return t->receive + begin * data_bytes(t->type);
}

static ncclResult_t all_reduce(ncclComm_t comm, const struct task *t, char *scratch)
{
    size_t size = data_bytes(t->type), send_n, n;
    ncclResult_t r = ncclSuccess;
    char *send, *to;

    if (t->send != t->receive)
        memmove(t->receive, t->send, t->count * size);
    scale(t, t->receive, t->count);
    for (int k = 0; k < comm->nranks - 1 && r == ncclSuccess; k++) {
        send = part(comm, t, comm->rank - k, &send_n);
        to = part(comm, t, comm->rank - k - 1, &n);
        r = turn_ring(comm, t, send, send_n * size, scratch, n * size);
        if (r == ncclSuccess)
            reduce_into(to, scratch, n, t->type, t->op);
    }
    to = part(comm, t, comm->rank + 1, &n);
    if (t->divided)
        divide_by(to, n, t->type, comm->nranks);
    for (int k = 0; k < comm->nranks - 1 && r == ncclSuccess; k++) {
        send = part(comm, t, comm->rank + 1 - k, &send_n);
        to = part(comm, t, comm->rank - k, &n);
        r = turn_ring(comm, t, send, send_n * size, to, n * size);
    }
    return r;
}

/* scratch: two parts. The partial sum of a part travels until its owner has it. */
static ncclResult_t reduce_scatter(ncclComm_t comm, const struct task *t, char *scratch)
{
    size_t bytes = t->count * data_bytes(t->type);
    char *sum = scratch, *come = scratch + bytes;
    ncclResult_t r = ncclSuccess;
    int nranks = comm->nranks;

    memcpy(sum, t->send + (size_t)before(comm) * bytes, bytes);
    scale(t, sum, t->count);
    for (int k = 0; k < nranks - 1 && r == ncclSuccess; k++) {
        int number = (comm->rank + 2 * nranks - 2 - k) % nranks;

        r = turn_ring(comm, t, sum, bytes, come, bytes);
        memcpy(sum, t->send + (size_t)number * bytes, bytes);
        scale(t, sum, t->count);
        reduce_into(sum, come, t->count, t->type, t->op);
    }
    if (t->divided)
        divide_by(sum, t->count, t->type, nranks);
    if (r == ncclSuccess)
        memcpy(t->receive, sum, bytes);
    return r;
}

/* A chain that ends at the root. scratch: two buffers. */
static ncclResult_t reduce(ncclComm_t comm, const struct task *t, char *scratch)
{
    size_t bytes = t->count * data_bytes(t->type);
    int place = (comm->rank - t->peer - 1 + comm->nranks) % comm->nranks;
    struct transfer from = {.peer = before(comm), .p = scratch + bytes, .bytes = bytes};
    struct transfer on = {.peer = after(comm), .send = true, .p = scratch, .bytes = bytes};
    ncclResult_t r = ncclSuccess;

    memcpy(scratch, t->send, bytes);
    scale(t, scratch, t->count);
    if (place > 0) {
        r = transfers_run(comm, &from, 1, t->kind, detail_of(comm, t));
        if (r == ncclSuccess)
            reduce_into(scratch, scratch + bytes, t->count, t->type, t->op);
    }
    if (r == ncclSuccess && place < comm->nranks - 1)
        return transfers_run(comm, &on, 1, t->kind, detail_of(comm, t));
    if (t->divided)
        divide_by(scratch, t->count, t->type, comm->nranks);
    if (r == ncclSuccess)
        memcpy(t->receive, scratch, bytes);
    return r;
}

/* Collectives without arithmetic are messages, all at once. */
static ncclResult_t exchange(ncclComm_t comm, const struct task *t)
{
    size_t bytes = t->count * data_bytes(t->type);
    struct transfer all[2 * MAX_RANKS];
    bool root = comm->rank == t->peer,
         spread = t->kind == TASK_BROADCAST || t->kind == TASK_ALL_GATHER;
    bool sends = root || t->kind == TASK_ALL_GATHER || t->kind == TASK_ALL_TO_ALL;
    bool each_receives = t->kind != TASK_GATHER || root;
    unsigned n = 0;

    if (t->kind == TASK_GATHER)
        all[n++] = (struct transfer){
            .peer = t->peer, .send = true, .p = (char *)(uintptr_t)t->send, .bytes = bytes};
    for (int k = 0; k < comm->nranks && t->kind != TASK_GATHER && sends; k++)
        all[n++] =
            (struct transfer){.peer = k,
                              .send = true,
                              .bytes = bytes,
                              .p = (char *)(uintptr_t)t->send + (spread ? 0 : (size_t)k * bytes)};
    if (t->kind == TASK_BROADCAST || t->kind == TASK_SCATTER)
        all[n++] = (struct transfer){.peer = t->peer, .p = t->receive, .bytes = bytes};
    else
        for (int k = 0; k < comm->nranks && each_receives; k++)
            all[n++] =
                (struct transfer){.peer = k, .p = t->receive + (size_t)k * bytes, .bytes = bytes};
    return transfers_run(comm, all, n, t->kind, detail_of(comm, t));
}

static ncclResult_t collective(ncclComm_t comm, const struct task *t)
{
    size_t bytes = t->count * data_bytes(t->type);
    char *scratch;
    ncclResult_t r;

    comm->serial++;
    if (t->kind != TASK_ALL_REDUCE && t->kind != TASK_REDUCE_SCATTER && t->kind != TASK_REDUCE)
        return exchange(comm, t);
    scratch = malloc(2 * bytes + 1);
    if (scratch == NULL)
        return comm_fail(comm, ncclSystemError, "no memory for %zu bytes", 2 * bytes);
    r = t->kind == TASK_ALL_REDUCE       ? all_reduce(comm, t, scratch)
        : t->kind == TASK_REDUCE_SCATTER ? reduce_scatter(comm, t, scratch)
                                         : reduce(comm, t, scratch);
    free(scratch);
    return r;
}

static ncclResult_t point_to_point(ncclComm_t comm, const struct task *task, unsigned ntasks)
{
    struct transfer *all = calloc(ntasks + 1, sizeof *all);
    unsigned n = 0;
    ncclResult_t r;

    if (all == NULL)
        return comm_fail(comm, ncclSystemError, "no memory");
    for (unsigned k = 0; k < ntasks; k++) {
        const struct task *t = &task[k];

        if (t->kind == TASK_SEND || t->kind == TASK_RECEIVE)
            all[n++] = (struct transfer){.peer = t->peer,
                                         .send = t->kind == TASK_SEND,
                                         .bytes = t->count * data_bytes(t->type),
                                         .p = t->kind == TASK_SEND ? (char *)(uintptr_t)t->send
                                                                   : t->receive};
    }
    r = n > 0 ? transfers_run(comm, all, n, TASK_SEND, 0) : ncclSuccess;
    free(all);
    return r;
}

static void count(const struct task *t)
{
    static const char *const types[] = {"int8",    "uint8",    "int32",   "uint32",
                                        "int64",   "uint64",   "float16", "float32",
                                        "float64", "bfloat16", "fp8e4m3", "fp8e5m2"};
    char key[80];
    int n = snprintf(key, sizeof key, "nccl.%s.%s", task_names[t->kind], types[t->type]);

    gpu_get()->count(key, 1);
    snprintf(key + n, sizeof key - (size_t)n, ".elements");
    gpu_get()->count(key, t->count);
}

ncclResult_t tasks_run(ncclComm_t comm, const struct task *task, unsigned ntasks)
{
    ncclResult_t r = ncclSuccess;

    for (unsigned k = 0; k < ntasks && r == ncclSuccess; k++) {
        count(&task[k]);
        if (task[k].kind != TASK_SEND && task[k].kind != TASK_RECEIVE)
            r = collective(comm, &task[k]);
    }
    return r == ncclSuccess ? point_to_point(comm, task, ntasks) : r;
}
