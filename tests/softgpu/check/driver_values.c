/* SPDX-License-Identifier: BSD-3-Clause
 * Stream memory operations: conditions, order, what waits and what does not, batches, graph nodes,
 * errors. The values that are waited for lie in pinned memory where the test itself writes them. */
#include "config.h"

#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { POLLS = 40 };

/* In pinned memory: flag is waited for, mark says that what came behind has run. */
static volatile uint64_t *flag;
static volatile uint32_t *mark;
static CUdeviceptr flag_at, mark_at;
static CUstream stream;

static void setup(void)
{
    void *p;
    driver_setup();
    OK(cuMemHostAlloc(&p, 4096, CU_MEMHOSTALLOC_PORTABLE));
    memset(p, 0, 4096);
    flag = p;
    mark = (volatile uint32_t *)p + 64;
    OK(cuMemHostGetDevicePointer(&flag_at, p, 0));
    mark_at = flag_at + 256;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

/* The driver has every chance to go wrong. */
static bool stays_waiting(CUstream s, uint32_t old_mark)
{
    for (int i = 0; i < POLLS; i++)
        if (cuStreamQuery(s) != CUDA_ERROR_NOT_READY)
            return false;
    return *mark == old_mark;
}

static uint64_t state; /* other values in each run: a failure names them */

static uint64_t random64(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) * 0x9e3779b97f4a7c15u ^ state;
}

/* By the manual's formulas, on bits. */
static bool should_hold(unsigned condition, unsigned bits, uint64_t now, uint64_t value)
{
    const uint64_t all = bits == 64 ? ~(uint64_t)0 : 0xffffffffu;
    switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return (((now - value) & all) >> (bits - 1)) == 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return ((now ^ value) & all) == 0;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value & all) != 0;
    default:
        return ((now | value) & all) != all;
    }
}

/* For some memory: no word has a bit in common with zero, or lacks one of all. */
static bool can_hold(unsigned condition, unsigned bits, uint64_t value)
{
    const uint64_t all = bits == 64 ? ~(uint64_t)0 : 0xffffffffu;
    return (condition != CU_STREAM_WAIT_VALUE_AND || (value & all) != 0) &&
           (condition != CU_STREAM_WAIT_VALUE_NOR || (value & all) != all);
}

static void wait_once(unsigned condition, unsigned bits, uint64_t now, uint64_t value, uint32_t n)
{
    *flag = now;
    if (bits == 64)
        OK(cuStreamWaitValue64(stream, flag_at, value, condition));
    else
        OK(cuStreamWaitValue32(stream, flag_at, (uint32_t)value, condition));
    OK(launch(fill, stream, mark_at, n, 1));
    if (!should_hold(condition, bits, now, value)) {
        ck_assert_msg(stays_waiting(stream, n - 1),
                      "condition %u, %u bits: %llx does not wait for %llx", condition, bits,
                      (unsigned long long)now, (unsigned long long)value);
        *flag = condition == CU_STREAM_WAIT_VALUE_NOR ? 0 : value;
    }
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(*mark, n);
}

START_TEST(conditions_are_those_of_the_manual)
{
    const unsigned condition = (unsigned)_i % 4, bits = _i < 4 ? 32 : 64;
    state = (uint64_t)time(NULL);
    const uint64_t top = (uint64_t)1 << (bits - 1);
    const uint64_t special[] = {
        0, 1, top, top - 1, top + 1, 0xffffffff, (uint64_t)1 << 32, ~(uint64_t)0};
    enum { N = sizeof special / sizeof special[0] };
    uint32_t n = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (can_hold(condition, bits, special[j]))
                wait_once(condition, bits, special[i], special[j], ++n);
    for (int i = 0; i < 40; i++) {
        const uint64_t value = random64() & random64();
        if (can_hold(condition, bits, value))
            wait_once(condition, bits, random64() & random64(), value, ++n);
    }
}
END_TEST

START_TEST(a_written_value_has_its_width)
{
    *flag = 0x1111111122222222;
    OK(cuStreamWriteValue32(stream, flag_at, 0xabcdef01, 0));
    OK(cuStreamSynchronize(stream));
    ck_assert(*flag == 0x11111111abcdef01);
    OK(cuStreamWriteValue32(stream, flag_at + 4, 7, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    OK(cuStreamSynchronize(stream));
    ck_assert(*flag == 0x00000007abcdef01);
    OK(cuStreamWriteValue64(stream, flag_at, 0x123456789abcdef0, 0));
    OK(cuStreamSynchronize(stream));
    ck_assert(*flag == 0x123456789abcdef0);
    CUdeviceptr p = words(4);
    OK(cuStreamWriteValue32(stream, p + 4, 99, 0));
    WORD(p, 0, 0);
    WORD(p, 1, 99);
    WORD(p, 2, 0);
}
END_TEST

START_TEST(one_stream_waits_for_another)
{
    enum { N = 1000, ROUNDS = 10 };
    CUstream other;
    CUdeviceptr p = words(N), q = words(N), turn = words(1);
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        /* First the one that waits: its work must not run before that of the other. */
        OK(cuStreamWaitValue32(stream, turn, 2 * i - 1, CU_STREAM_WAIT_VALUE_EQ));
        OK(launch_copy(stream, q, p, N));
        OK(cuStreamWriteValue32(stream, turn, 2 * i, 0));
        OK(launch(fill, other, p, i, N));
        OK(cuStreamWriteValue32(other, turn, 2 * i - 1, 0));
        OK(cuStreamWaitValue32(other, turn, 2 * i, CU_STREAM_WAIT_VALUE_GEQ));
        OK(launch(fill, other, p, 1000 + i, N));
    }
    OK(cuStreamSynchronize(other));
    OK(cuStreamSynchronize(stream));
    WORD(q, 0, ROUNDS);
    WORD(q, N - 1, ROUNDS);
    WORD(p, 0, 1000 + ROUNDS);
}
END_TEST

static void *write_later(void *arg)
{
    const struct timespec moment = {0, 20000000};
    nanosleep(&moment, NULL);
    *flag = *(uint64_t *)arg;
    return NULL;
}

START_TEST(the_host_may_write_while_it_synchronises)
{
    pthread_t thread;
    uint64_t value = 5;
    OK(cuStreamWaitValue64(stream, flag_at, 5, CU_STREAM_WAIT_VALUE_EQ));
    OK(launch(fill, stream, mark_at, 1, 1));
    ck_assert_int_eq(pthread_create(&thread, NULL, write_later, &value), 0);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(*mark, 1);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(the_host_may_only_watch)
{
    const struct timespec moment = {0, 1000000};
    OK(cuStreamWaitValue32(stream, flag_at, 5, CU_STREAM_WAIT_VALUE_EQ));
    OK(launch(fill, stream, mark_at, 1, 1));
    *flag = 5;
    for (int i = 0; i < 2000 && *mark == 0; i++)
        nanosleep(&moment, NULL);
    ck_assert_uint_eq(*mark, 1);
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(other_streams_go_on)
{
    CUstream other;
    CUevent event;
    CUdeviceptr p = words(1);
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    OK(cuStreamWaitValue32(stream, flag_at, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuEventRecord(event, stream));
    OK(launch(fill, other, p, 3, 1));
    OK(cuStreamSynchronize(other));
    FAILS(cuEventQuery(event), NOT_READY);
    OK(cuStreamWaitEvent(other, event, 0));
    OK(launch(fill, other, mark_at, 8, 1));
    ck_assert(stays_waiting(other, 0));
    *flag = 1;
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(*mark, 8);
    WORD(p, 0, 3);
}
END_TEST

static CUstreamBatchMemOpParams op(CUstreamBatchMemOpType type, CUdeviceptr p, uint64_t value,
                                   unsigned flags)
{
    CUstreamBatchMemOpParams o;
    memset(&o, 0x5a, sizeof o);
    o.operation = type;
    switch (type) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        o.waitValue.address = p;
        o.waitValue.value64 = value;
        o.waitValue.flags = flags;
        break;
    case CU_STREAM_MEM_OP_BARRIER:
        o.memoryBarrier.flags = flags;
        break;
    default:
        o.writeValue.address = p;
        o.writeValue.value64 = value;
        o.writeValue.flags = flags;
        break;
    }
    return o;
}

#define WAIT(_p, _value)  op(CU_STREAM_MEM_OP_WAIT_VALUE_32, _p, _value, CU_STREAM_WAIT_VALUE_EQ)
#define WRITE(_p, _value) op(CU_STREAM_MEM_OP_WRITE_VALUE_32, _p, _value, 0)

START_TEST(batches_go_in_order)
{
    CUstreamBatchMemOpParams batch[] = {
        WRITE(mark_at, 1), op(CU_STREAM_MEM_OP_BARRIER, 0, 0, CU_STREAM_MEMORY_BARRIER_TYPE_GPU),
        WAIT(flag_at, 2), WRITE(mark_at, 3)};
    OK(cuStreamBatchMemOp(stream, 4, batch, 0));
    memset(batch, 0, sizeof batch); /* the driver has its own copy */
    for (int i = 0; i < POLLS; i++)
        FAILS(cuStreamQuery(stream), NOT_READY);
    ck_assert_uint_eq(*mark, 1);
    *flag = 2;
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(*mark, 3);
    OK(cuStreamBatchMemOp(stream, 0, NULL, 0));
}
END_TEST

START_TEST(bad_operations_are_refused)
{
    CUdeviceptr p = words(2), managed;
    CUstreamBatchMemOpParams many[256], flush;
    uint64_t pageable = 0;
    for (int i = 0; i < 256; i++)
        many[i] = WRITE(p, (uint64_t)i);
    FAILS(cuStreamBatchMemOp(stream, 256, many, 0), INVALID_VALUE);
    FAILS(cuStreamBatchMemOp(stream, 1, many, 1), INVALID_VALUE);
    FAILS(cuStreamBatchMemOp(stream, 1, NULL, 0), INVALID_VALUE);
    OK(cuStreamBatchMemOp(stream, 255, many, 0));
    WORD(p, 0, 254);
    FAILS(cuStreamWaitValue32(stream, p + 2, 0, 0), INVALID_VALUE);
    FAILS(cuStreamWaitValue64(stream, p + 4, 0, 0), INVALID_VALUE);
    FAILS(cuStreamWriteValue32(stream, p + 1, 0, 0), INVALID_VALUE);
    FAILS(cuStreamWriteValue32(stream, p + 8, 0, 0), INVALID_VALUE);
    FAILS(cuStreamWriteValue32(stream, p, 0, 2), INVALID_VALUE);
    FAILS(cuStreamWaitValue32(stream, p, 0, 4), INVALID_VALUE);
    FAILS(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)&pageable, 0, 0), INVALID_VALUE);
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    FAILS(cuStreamWaitValue32(stream, managed, 0, 0), INVALID_VALUE);
    FAILS(cuStreamWriteValue32(stream, managed, 0, 0), INVALID_VALUE);
    FAILS(cuStreamWaitValue32(stream, p, 0, CU_STREAM_WAIT_VALUE_FLUSH), NOT_SUPPORTED);
    memset(&flush, 0, sizeof flush);
    flush.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    FAILS(cuStreamBatchMemOp(stream, 1, &flush, 0), NOT_SUPPORTED);
    many[0].operation = 77;
    FAILS(cuStreamBatchMemOp(stream, 1, many, 0), INVALID_VALUE);
    int value;
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
    ck_assert_int_eq(value, 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 0));
    ck_assert_int_eq(value, 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0));
    ck_assert_int_eq(value, 0);
    /* Nothing of a refused batch is done. */
    CUstreamBatchMemOpParams half[] = {WRITE(p, 5), WRITE(p + 1, 6)};
    FAILS(cuStreamBatchMemOp(stream, 2, half, 0), INVALID_VALUE);
    WORD(p, 0, 254);
}
END_TEST

START_TEST(memory_that_is_freed_under_a_wait_is_a_fault)
{
    CUstream other;
    CUdeviceptr p;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&p, 4096, other));
    OK(cuMemsetD32Async(p, 0, 1, other));
    OK(cuStreamSynchronize(other));
    OK(cuStreamWaitValue32(stream, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    cuMemFreeAsync(p, other); /* may already report it */
    FAILS(cuStreamSynchronize(stream), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(a_capture_makes_one_node)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node[2];
    CUgraphNodeType type;
    size_t n = 2;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    CUstreamBatchMemOpParams batch[] = {WAIT(flag_at, 3), WRITE(flag_at, 4)};
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamBatchMemOp(stream, 2, batch, 0));
    OK(launch(add, stream, mark_at, 1, 1));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, node, &n));
    ck_assert_uint_eq(n, 2);
    OK(cuGraphNodeGetType(node[0], &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    OK(cuGraphBatchMemOpNodeGetParams(node[0], &params));
    ck_assert_uint_eq(params.count, 2);
    ck_assert_int_eq(params.paramArray[0].operation, CU_STREAM_MEM_OP_WAIT_VALUE_32);
    ck_assert(params.paramArray[0].waitValue.address == flag_at);
    ck_assert_uint_eq(params.paramArray[1].writeValue.value, 4);
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (uint32_t i = 1; i <= 3; i++) { /* every replay waits anew */
        OK(cuGraphLaunch(exec, stream));
        ck_assert(stays_waiting(stream, i - 1));
        *flag = 3;
        OK(cuStreamSynchronize(stream));
        ck_assert_uint_eq(*mark, i);
        ck_assert(*flag == 4);
    }
    batch[0].waitValue.value = 4;
    batch[1].writeValue.value = 9;
    params.paramArray = batch;
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node[0], &params));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert(*flag == 9);
    params.count = 1;
    OK(cuGraphBatchMemOpNodeSetParams(node[0], &params));
    OK(cuGraphBatchMemOpNodeGetParams(node[0], &params));
    ck_assert_uint_eq(params.count, 1);
    FAILS(cuGraphBatchMemOpNodeGetParams(node[1], &params), INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}
END_TEST

static CUgraphNode add_node(CUgraph graph, CUgraphNode *dep, CUstreamBatchMemOpParams *ops,
                            unsigned n)
{
    CUgraphNode node;
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    p.memOp.ctx = context;
    p.memOp.count = n;
    p.memOp.paramArray = ops;
    OK(cuGraphAddNode(&node, graph, dep, NULL, dep != NULL, &p));
    return node;
}

/* The graph's branches do not wait for each other, nor do two graphs; one is inside of another. */
START_TEST(only_the_branch_that_waits_stands_still)
{
    CUgraph inner, graph;
    CUgraphExec exec;
    CUgraphNode child;
    CUdeviceptr p = words(4);
    CUstreamBatchMemOpParams wait = WAIT(p, 1), then = WRITE(p + 4, 2), second = WAIT(p + 8, 3),
                             last = WRITE(mark_at, 7);
    OK(cuGraphCreate(&inner, 0));
    CUgraphNode first = add_node(inner, NULL, &wait, 1);
    add_node(inner, &first, &then, 1);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
    CUgraphNode side = add_node(graph, NULL, &second, 1);
    add_node(graph, &side, &last, 1);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    ck_assert(stays_waiting(stream, 0));
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWriteValue32(other, p + 8, 3, 0));
    OK(cuStreamSynchronize(other));
    for (int i = 0; i < POLLS; i++)
        FAILS(cuStreamQuery(stream), NOT_READY);
    ck_assert_uint_eq(*mark, 7);
    OK(cuStreamWaitValue32(other, p + 4, 2, CU_STREAM_WAIT_VALUE_EQ));
    OK(launch(fill, other, mark_at, 8, 1));
    ck_assert(stays_waiting(other, 7));
    OK(cuMemsetD32Async(p, 1, 1, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(*mark, 8);
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(inner));
}
END_TEST

START_TEST(graphs_may_wait_for_each_other)
{
    CUgraph graph[2];
    CUgraphExec exec[2];
    CUstream other;
    CUdeviceptr p = words(2);
    CUstreamBatchMemOpParams ping[] = {WAIT(p, 1), WRITE(p, 2), WAIT(p, 3), WRITE(p, 4)};
    CUstreamBatchMemOpParams pong[] = {WRITE(p, 1), WAIT(p, 2), WRITE(p, 3), WAIT(p, 4),
                                       WRITE(mark_at, 5)};
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        OK(cuGraphCreate(&graph[i], 0));
        add_node(graph[i], NULL, i == 0 ? ping : pong, i == 0 ? 4 : 5);
        OK(cuGraphInstantiate(&exec[i], graph[i], 0));
    }
    OK(cuGraphLaunch(exec[0], stream));
    OK(cuGraphLaunch(exec[1], other));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(*mark, 5);
    WORD(p, 0, 4);
    for (int i = 0; i < 2; i++) {
        OK(cuGraphExecDestroy(exec[i]));
        OK(cuGraphDestroy(graph[i]));
    }
}
END_TEST

/* A graph's external wait for an event whose stream itself waits for a value. */
START_TEST(graph_events_wait_too)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUevent event;
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
    CUstreamBatchMemOpParams after = WRITE(mark_at, 6);
    add_node(graph, &node, &after, 1);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuStreamWaitValue32(other, flag_at, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuEventRecord(event, other));
    OK(cuGraphLaunch(exec, stream));
    ck_assert(stays_waiting(stream, 0));
    *flag = 1;
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(*mark, 6);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}
END_TEST

Suite *suite_values(void)
{
    Suite *suite = suite_create("values");
    TCase *tcase = tcase_create("values");
    tcase_add_checked_fixture(tcase, setup, driver_teardown);
    tcase_add_loop_test(tcase, conditions_are_those_of_the_manual, 0, 8);
    tcase_add_test(tcase, a_written_value_has_its_width);
    tcase_add_test(tcase, one_stream_waits_for_another);
    tcase_add_test(tcase, the_host_may_write_while_it_synchronises);
    tcase_add_test(tcase, the_host_may_only_watch);
    tcase_add_test(tcase, other_streams_go_on);
    tcase_add_test(tcase, batches_go_in_order);
    tcase_add_test(tcase, bad_operations_are_refused);
    tcase_add_test(tcase, memory_that_is_freed_under_a_wait_is_a_fault);
    tcase_add_test(tcase, a_capture_makes_one_node);
    tcase_add_test(tcase, only_the_branch_that_waits_stands_still);
    tcase_add_test(tcase, graphs_may_wait_for_each_other);
    tcase_add_test(tcase, graph_events_wait_too);
    suite_add_tcase(suite, tcase);
    return suite;
}
