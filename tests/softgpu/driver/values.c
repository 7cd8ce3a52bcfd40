/* SPDX-License-Identifier: BSD-3-Clause
 * Stream memory operations: a stream writes a value, or waits until memory has one. Waiting takes
 * no thread: the scheduler passes over a stream, and a graph over a node, whose value is not there
 * yet. The first version of these calls (before CUDA 11.7) needed an option of the kernel module
 * and stays unsupported. Owns nothing. */
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPS = 255, CONDITION = 3 /* the bits of the flags that say what is waited for */ };

/* Parameters of one batch, checked. */
struct value_ops {
    unsigned n, step; /* step: of an operation on a stream, where it is; not used by nodes */
    CUstreamBatchMemOpParams op[];
};

static bool is_wide(const CUstreamBatchMemOpParams *p)
{
    return p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
           p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool is_wait(const CUstreamBatchMemOpParams *p)
{
    return p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static bool is_write(const CUstreamBatchMemOpParams *p)
{
    return p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
           p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

/* The address lies at the same place in both kinds of parameters. */
static void *place(const CUstreamBatchMemOpParams *p)
{
    return (void *)(uintptr_t)p->waitValue.address;
}

static bool in_memory(const CUstreamBatchMemOpParams *p)
{
    const struct sg_space space = memory_everywhere();
    return sg_space_check(&space, (uintptr_t)place(p), is_wide(p) ? 8 : 4);
}

static bool condition_holds(const CUstreamBatchMemOpParams *p)
{
    if (is_wide(p)) {
        const uint64_t now = __atomic_load_n((uint64_t *)place(p), __ATOMIC_ACQUIRE);
        const uint64_t value = p->waitValue.value64;
        switch (p->waitValue.flags & CONDITION) {
        case CU_STREAM_WAIT_VALUE_GEQ:
            return (int64_t)(now - value) >= 0;
        case CU_STREAM_WAIT_VALUE_EQ:
            return now == value;
        case CU_STREAM_WAIT_VALUE_AND:
            return (now & value) != 0;
        default:
            return ~(now | value) != 0;
        }
    }
    const uint32_t now = __atomic_load_n((uint32_t *)place(p), __ATOMIC_ACQUIRE);
    const uint32_t value = p->waitValue.value;
    switch (p->waitValue.flags & CONDITION) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return (int32_t)(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
    default:
        return ~(now | value) != 0;
    }
}

bool values_ready(const void *arg, unsigned step)
{
    const struct value_ops *v = arg;
    /* Memory that is gone is found out by running. */
    return step >= v->n || !is_wait(&v->op[step]) || !in_memory(&v->op[step]) ||
           condition_holds(&v->op[step]);
}

unsigned values_step(const void *arg)
{
    return ((const struct value_ops *)arg)->step;
}

CUresult values_run(const void *arg, unsigned *step, CUcontext context)
{
    const struct value_ops *v = arg;
    for (; *step < v->n; ++*step) {
        const CUstreamBatchMemOpParams *p = &v->op[*step];
        if ((is_wait(p) || is_write(p)) && !in_memory(p)) {
            char message[128];
            snprintf(message, sizeof message,
                     "a value is %s at %p, which is outside of every allocation",
                     is_wait(p) ? "waited for" : "written", place(p));
            return context_fault(context, CUDA_ERROR_ILLEGAL_ADDRESS, message);
        }
        if (is_wait(p) && !condition_holds(p))
            return RUN_BLOCKED;
        if (p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
            __atomic_store_n((uint32_t *)place(p), p->writeValue.value, __ATOMIC_RELEASE);
        else if (p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
            __atomic_store_n((uint64_t *)place(p), p->writeValue.value64, __ATOMIC_RELEASE);
    }
    return CUDA_SUCCESS;
}

static CUresult run_on_stream(void *arg, CUcontext context, struct op_result *result)
{
    return values_run(arg, &((struct value_ops *)arg)->step, context);
}

static const struct op_kind values_kind = {"memory operations", run_on_stream, NULL,
                                           CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};

/* With the lock held: may these operations use the address? Managed memory is excluded. */
static bool address_ok(const CUstreamBatchMemOpParams *p)
{
    const size_t bytes = is_wide(p) ? 8 : 4;
    const struct allocation *a = memory_find(place(p));
    return p->waitValue.address % bytes == 0 && in_memory(p) &&
           (a == NULL || a->kind != MEMORY_MANAGED);
}

static CUresult check(const CUstreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        if ((p->waitValue.flags & ~(unsigned)(CONDITION | CU_STREAM_WAIT_VALUE_FLUSH)) != 0)
            return CUDA_ERROR_INVALID_VALUE;
        if (p->waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH)
            return CUDA_ERROR_NOT_SUPPORTED; /* as CAN_FLUSH_REMOTE_WRITES says */
        return address_ok(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return p->writeValue.flags <= CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER && address_ok(p)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_BARRIER:
        return p->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* *values_p is malloc'ed, of *bytes_p bytes. */
static CUresult make(const CUstreamBatchMemOpParams *op, unsigned n, unsigned flags,
                     struct value_ops **values_p, size_t *bytes_p)
{
    CUresult r = flags != 0 || n > MAX_OPS || (op == NULL && n > 0) ? CUDA_ERROR_INVALID_VALUE
                                                                    : CUDA_SUCCESS;
    pthread_mutex_lock(&driver_lock);
    for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = check(&op[i]);
    if (r == CUDA_SUCCESS)
        expect_values();
    pthread_mutex_unlock(&driver_lock);
    if (r != CUDA_SUCCESS)
        return r;
    *bytes_p = sizeof **values_p + n * sizeof *op;
    *values_p = calloc(1, *bytes_p);
    if (*values_p == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*values_p)->n = n;
    if (n > 0)
        memcpy((*values_p)->op, op, n * sizeof *op);
    return CUDA_SUCCESS;
}

static CUresult submit(CUstream stream, bool per_thread, const CUstreamBatchMemOpParams *op,
                       unsigned n, unsigned flags)
{
    CUcontext context;
    struct value_ops *values;
    size_t bytes;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS)
        r = make(op, n, flags, &values, &bytes);
    if (r != CUDA_SUCCESS)
        return r;
    r = stream_submit(stream, per_thread, &values_kind, values, bytes);
    free(values);
    return r;
}

static CUresult submit_one(CUstream stream, bool per_thread, CUstreamBatchMemOpType operation,
                           CUdeviceptr address, uint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams p;
    memset(&p, 0, sizeof p);
    p.operation = operation;
    if (is_wait(&p)) {
        p.waitValue.address = address;
        p.waitValue.value64 = value;
        p.waitValue.flags = flags;
    } else {
        p.writeValue.address = address;
        p.writeValue.value64 = value;
        p.writeValue.flags = flags;
    }
    return submit(stream, per_thread, &p, 1, 0);
}

CUresult value_write(CUstream stream, bool per_thread, CUdeviceptr p, uint64_t value)
{
    return submit_one(stream, per_thread, CU_STREAM_MEM_OP_WRITE_VALUE_64, p, value, 0);
}

CUresult value_wait(CUstream stream, bool per_thread, CUdeviceptr p, uint64_t value)
{
    return submit_one(stream, per_thread, CU_STREAM_MEM_OP_WAIT_VALUE_64, p, value,
                      CU_STREAM_WAIT_VALUE_GEQ);
}

/* Each call in the form for the legacy default stream and in that for the per-thread one. */
#define BOTH(_name, _parameters, _legacy_call, _per_thread_call)                                   \
    API CUresult _name _parameters                                                                 \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return _legacy_call;                                                                       \
    }                                                                                              \
    API CUresult _name##_ptsz _parameters;                                                         \
    API CUresult _name##_ptsz _parameters                                                          \
    {                                                                                              \
        ENTER(#_name "_ptsz");                                                                     \
        return _per_thread_call;                                                                   \
    }
#define ONE(_name, _type, _operation)                                                              \
    BOTH(_name, (CUstream s, CUdeviceptr p, _type v, unsigned flags),                              \
         submit_one(s, false, _operation, p, v, flags),                                            \
         submit_one(s, true, _operation, p, v, flags))

ONE(cuStreamWaitValue32_v2, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
ONE(cuStreamWaitValue64_v2, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
ONE(cuStreamWriteValue32_v2, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
ONE(cuStreamWriteValue64_v2, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)
BOTH(cuStreamBatchMemOp_v2, (CUstream s, unsigned n, CUstreamBatchMemOpParams *op, unsigned flags),
     submit(s, false, op, n, flags), submit(s, true, op, n, flags))

/* ---- graph nodes */
static CUresult make_body(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct node_body **body_p)
{
    struct value_ops *values;
    size_t bytes;
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = make(params->paramArray, params->count, params->flags, &values, &bytes);
    if (r != CUDA_SUCCESS)
        return r;
    *body_p = body_make(&values_kind, values, bytes, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    (*body_p)->context = params->ctx;
    return CUDA_SUCCESS;
}

API CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                      size_t n, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    ENTER("cuGraphAddBatchMemOpNode");
    struct node_body *body;
    CUresult r = make_body(params, &body);
    return r == CUDA_SUCCESS ? graph_add_checked(node, graph, deps, n, body) : r;
}

/* The array lives as long as the node keeps these parameters. */
API CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    ENTER("cuGraphBatchMemOpNodeGetParams");
    if (node == NULL || params == NULL || node->body->type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return CUDA_ERROR_INVALID_VALUE;
    struct value_ops *values = node->body->arg;
    *params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = node->body->context, .count = values->n, .paramArray = values->op};
    return CUDA_SUCCESS;
}

API CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    ENTER("cuGraphBatchMemOpNodeSetParams");
    struct node_body *body;
    CUresult r = make_body(params, &body);
    return r == CUDA_SUCCESS ? node_replace(node, body) : r;
}

API CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    ENTER("cuGraphExecBatchMemOpNodeSetParams");
    struct node_body *body;
    CUresult r = make_body(params, &body);
    return r == CUDA_SUCCESS ? exec_replace(exec, node, body) : r;
}
