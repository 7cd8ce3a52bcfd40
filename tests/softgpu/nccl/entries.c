/* SPDX-License-Identifier: BSD-3-Clause
 * Entry points of operations and groups. No state. */
#include "tests/softgpu/nccl/arithmetic.h"
#include "tests/softgpu/nccl/entry.h"
#include "tests/softgpu/nccl/group.h"

#include <string.h>

ncclResult_t entry_begin(const char *name, void *caller)
{
    const struct gpu *gpu = gpu_get();
    char key[64] = "calls.";

    if (gpu == NULL)
        return ncclUnhandledCudaError;
    strncat(key, name, sizeof key - sizeof "calls.");
    gpu->count(key, 1);
    gpu->log("nccl", "%s", name);
    return (ncclResult_t)gpu->fail(name, caller);
}

ncclResult_t entry_comm(ncclComm_t comm)
{
    if (!comm_valid(comm))
        return ncclInvalidArgument;
    return comm->result == ncclInProgress ? ncclInvalidUsage : (ncclResult_t)comm->result;
}

static bool reduces(enum task_kind kind)
{
    return kind == TASK_ALL_REDUCE || kind == TASK_REDUCE_SCATTER || kind == TASK_REDUCE;
}

/* What the operation means for the arithmetic. */
static ncclResult_t resolve_op(ncclComm_t comm, struct task *t)
{
    int op = (int)t->op;

    if (op < 0)
        return ncclInvalidArgument;
    if (op < ncclAvg)
        return ncclSuccess;
    t->op = ncclSum;
    if (op == ncclAvg) {
        t->scaled = data_is_float(t->type);
        t->divided = !t->scaled;
        reciprocal(t->factor, t->type, comm->nranks);
        return ncclSuccess;
    }
    op -= ncclNumOps;
    if ((unsigned)op >= comm->nops || !comm->op[op].used || comm->op[op].type != t->type)
        return ncclInvalidArgument;
    t->scaled = true;
    t->device_factor = comm->op[op].device_factor;
    memcpy(t->factor, comm->op[op].factor, sizeof t->factor);
    return ncclSuccess;
}

static ncclResult_t add(ncclComm_t comm, struct task t)
{
    ncclResult_t r = entry_comm(comm);
    bool needs_send = t.kind != TASK_RECEIVE, needs_receive = t.kind != TASK_SEND;

    if (r == ncclSuccess && data_bytes(t.type) == 0)
        r = ncclInvalidArgument;
    if (r == ncclSuccess && reduces(t.kind))
        r = resolve_op(comm, &t);
    if (r == ncclSuccess && (t.peer < 0 || t.peer >= comm->nranks))
        r = ncclInvalidArgument;
    /* only the root has these */
    if (r == ncclSuccess && comm->rank != t.peer) {
        needs_send &= t.kind != TASK_BROADCAST && t.kind != TASK_SCATTER;
        needs_receive &= t.kind != TASK_REDUCE && t.kind != TASK_GATHER;
    }
    if (r == ncclSuccess && t.count > 0 &&
        ((needs_send && t.send == NULL) || (needs_receive && t.receive == NULL)))
        r = ncclInvalidArgument;
    if (r != ncclSuccess)
        return group_failed(r);
    return t.count > 0 ? group_add_task(comm, &t) : ncclSuccess;
}

/* One operation; outside of a group it is a group of its own. */
static ncclResult_t submit(ncclComm_t comm, struct task t)
{
    ncclResult_t added, ended;

    group_begin();
    added = add(comm, t);
    ended = group_end();
    return added != ncclSuccess ? added : ended;
}

#define TASK(_kind, _send, _receive, _count, _type, ...)                                           \
    ((struct task){.kind = TASK_##_kind,                                                           \
                   .send = (_send),                                                                \
                   .receive = (_receive),                                                          \
                   .count = (_count),                                                              \
                   .type = (_type),                                                                \
                   .stream = (CUstream)stream,                                                     \
                   __VA_ARGS__})

API ncclResult_t pncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                                ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclAllReduce");
    return submit(comm, TASK(ALL_REDUCE, send, receive, count, type, .op = op));
}

API ncclResult_t pncclReduceScatter(const void *send, void *receive, size_t count,
                                    ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                    cudaStream_t stream)
{
    BEGIN("ncclReduceScatter");
    return submit(comm, TASK(REDUCE_SCATTER, send, receive, count, type, .op = op));
}

API ncclResult_t pncclReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                             ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclReduce");
    return submit(comm, TASK(REDUCE, send, receive, count, type, .op = op, .peer = root));
}

API ncclResult_t pncclAllGather(const void *send, void *receive, size_t count, ncclDataType_t type,
                                ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclAllGather");
    return submit(comm, TASK(ALL_GATHER, send, receive, count, type, .peer = 0));
}

API ncclResult_t pncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type,
                                int root, ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclBroadcast");
    return submit(comm, TASK(BROADCAST, send, receive, count, type, .peer = root));
}

API ncclResult_t pncclBcast(void *data, size_t count, ncclDataType_t type, int root,
                            ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclBcast");
    return submit(comm, TASK(BROADCAST, data, data, count, type, .peer = root));
}

API ncclResult_t pncclAlltoAll(const void *send, void *receive, size_t count, ncclDataType_t type,
                               ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclAlltoAll");
    return submit(comm, TASK(ALL_TO_ALL, send, receive, count, type, .peer = 0));
}

API ncclResult_t pncclGather(const void *send, void *receive, size_t count, ncclDataType_t type,
                             int root, ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclGather");
    return submit(comm, TASK(GATHER, send, receive, count, type, .peer = root));
}

API ncclResult_t pncclScatter(const void *send, void *receive, size_t count, ncclDataType_t type,
                              int root, ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclScatter");
    return submit(comm, TASK(SCATTER, send, receive, count, type, .peer = root));
}

API ncclResult_t pncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                           ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclSend");
    return submit(comm, TASK(SEND, send, NULL, count, type, .peer = peer));
}

API ncclResult_t pncclRecv(void *receive, size_t count, ncclDataType_t type, int peer,
                           ncclComm_t comm, cudaStream_t stream)
{
    BEGIN("ncclRecv");
    return submit(comm, TASK(RECEIVE, NULL, receive, count, type, .peer = peer));
}

API ncclResult_t pncclGroupStart(void)
{
    BEGIN("ncclGroupStart");
    group_begin();
    return ncclSuccess;
}

API ncclResult_t pncclGroupEnd(void)
{
    BEGIN("ncclGroupEnd");
    return group_end();
}

TWIN(AllReduce);
TWIN(ReduceScatter);
TWIN(Reduce);
TWIN(AllGather);
TWIN(Broadcast);
TWIN(Bcast);
TWIN(AlltoAll);
TWIN(Gather);
TWIN(Scatter);
TWIN(Send);
TWIN(Recv);
TWIN(GroupStart);
TWIN(GroupEnd);
