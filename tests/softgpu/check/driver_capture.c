/* SPDX-License-Identifier: BSD-3-Clause
 * The rules of stream capture: what may be called, by whom, in which mode; forks and joins; what
 * ends a capture and what spoils it. */
#include "config.h"

#include "driver.h"

static CUstream stream; /* the one that is captured */

static void setup(void)
{
    driver_setup();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void check_status(CUstream s, CUstreamCaptureStatus want)
{
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(s, &status));
    ck_assert_int_eq(status, want);
}

/* Ends a spoilt capture. */
static void end_invalid(CUstream s)
{
    CUgraph graph = (CUgraph)&stream;
    check_status(s, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    FAILS(cuStreamEndCapture(s, &graph), STREAM_CAPTURE_INVALIDATED);
    ck_assert_ptr_null(graph);
    check_status(s, CU_STREAM_CAPTURE_STATUS_NONE);
}

static void end_valid(CUstream s, size_t want_nodes)
{
    CUgraph graph;
    size_t nodes;
    check_status(s, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamEndCapture(s, &graph));
    check_status(s, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    ck_assert_uint_eq(nodes, want_nodes);
    OK(cuGraphDestroy(graph));
}

START_TEST(captured_work_waits_for_its_launch)
{
    CUdeviceptr p = words(64);
    CUgraph graph;
    CUgraphExec exec;
    check_status(stream, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    check_status(stream, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(launch(add, stream, p, 5, 64));
    OK(launch(add, stream, p, 2, 64));
    OK(cuStreamEndCapture(stream, &graph));
    check_status(stream, CU_STREAM_CAPTURE_STATUS_NONE);
    WORD(p, 63, 0);
    OK(cuGraphInstantiate(&exec, graph, 0));
    WORD(p, 63, 0);
    for (uint32_t i = 1; i < 4; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        WORD(p, 63, 7 * i);
    }
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 0, 28);
    OK(cuGraphExecDestroy(exec));
}
END_TEST

START_TEST(begin_and_end_have_their_places)
{
    CUgraph graph;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    FAILS(cuStreamBeginCapture(NULL, mode), STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cuStreamBeginCapture(CU_STREAM_LEGACY, mode), STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cuStreamBeginCapture(stream, (CUstreamCaptureMode)7), INVALID_VALUE);
    FAILS(cuStreamEndCapture(stream, &graph), ILLEGAL_STATE);
    OK(cuStreamBeginCapture(stream, mode));
    FAILS(cuStreamBeginCapture(stream, mode), ILLEGAL_STATE);
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(stream, &status));
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        end_valid(stream, 0);
    else
        end_invalid(stream);
    OK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, mode));
    end_valid(CU_STREAM_PER_THREAD, 0);
}
END_TEST

static CUresult end_elsewhere(void *arg)
{
    CUgraph graph;
    CUresult r = cuStreamEndCapture(arg, &graph);
    return r == CUDA_SUCCESS ? cuGraphDestroy(graph) : r;
}

START_TEST(a_capture_is_ended_by_its_thread)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    ck_assert_int_eq(elsewhere(end_elsewhere, stream), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    end_valid(stream, 0);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ck_assert_int_eq(elsewhere(end_elsewhere, stream), CUDA_SUCCESS);
}
END_TEST

/* Calls that may block or break a capture, as every allocation does. */
static CUresult unsafe_call(void *arg)
{
    CUdeviceptr p;
    (void)arg;
    CUresult r = cuMemAlloc(&p, 4);
    return r;
}

static CUresult relaxed_call(void *arg)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult r = cuThreadExchangeStreamCaptureMode(&mode);
    if (r == CUDA_SUCCESS && mode != CU_STREAM_CAPTURE_MODE_GLOBAL)
        return CUDA_ERROR_UNKNOWN;
    r = unsafe_call(arg);
    cuThreadExchangeStreamCaptureMode(&mode);
    return r == CUDA_SUCCESS && mode != CU_STREAM_CAPTURE_MODE_RELAXED ? CUDA_ERROR_UNKNOWN : r;
}

static CUresult thread_local_call(void *arg)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    CUresult r = cuThreadExchangeStreamCaptureMode(&mode);
    return r == CUDA_SUCCESS ? unsafe_call(arg) : r;
}

START_TEST(global_mode_forbids_unsafe_calls_to_all)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(unsafe_call(NULL), STREAM_CAPTURE_UNSUPPORTED);
    end_invalid(stream);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_assert_int_eq(elsewhere(unsafe_call, NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_invalid(stream);
    OK(unsafe_call(NULL));
}
END_TEST

START_TEST(thread_local_mode_forbids_them_to_its_thread)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    ck_assert_int_eq(elsewhere(unsafe_call, NULL), CUDA_SUCCESS);
    check_status(stream, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    FAILS(unsafe_call(NULL), STREAM_CAPTURE_UNSUPPORTED);
    end_invalid(stream);
}
END_TEST

START_TEST(relaxed_mode_forbids_nothing)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(unsafe_call(NULL));
    ck_assert_int_eq(elsewhere(unsafe_call, NULL), CUDA_SUCCESS);
    end_valid(stream, 0);
}
END_TEST

START_TEST(a_thread_may_relax_its_own_rule)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(relaxed_call(NULL));
    ck_assert_int_eq(elsewhere(relaxed_call, NULL), CUDA_SUCCESS);
    ck_assert_int_eq(elsewhere(thread_local_call, NULL), CUDA_SUCCESS);
    check_status(stream, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    FAILS(unsafe_call(NULL), STREAM_CAPTURE_UNSUPPORTED);
    end_invalid(stream);
}
END_TEST

START_TEST(many_calls_are_unsafe)
{
    CUdeviceptr p = words(64);
    CUevent event;
    void *host;
    uint32_t value = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
#define SPOILS(_call)                                                                              \
    OK(cuStreamBeginCapture(stream, mode));                                                        \
    ck_assert_msg((_call) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s is let pass", #_call);     \
    end_invalid(stream)
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, NULL));
    SPOILS(cuMemFree(p));
    SPOILS(cuMemHostAlloc(&host, 64, 0));
    SPOILS(cuCtxSynchronize());
    SPOILS(cuStreamSynchronize(stream));
    SPOILS(cuStreamQuery(stream));
    SPOILS(cuEventQuery(event));
    SPOILS(cuEventSynchronize(event));
    SPOILS(cuMemcpyHtoD(p, &value, 4));
    OK(cuEventDestroy(event));
}
END_TEST

START_TEST(harmless_calls_are_allowed)
{
    CUdeviceptr p = words(64);
    CUstream other;
    CUevent event;
    unsigned long long id;
    size_t a, b;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamGetId(stream, &id));
    OK(cuMemGetInfo(&a, &b));
    OK(cuEventCreate(&event, 0));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(launch(fill, other, p, 3, 64));
    end_valid(stream, 0);
    WORD(p, 5, 3);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
}
END_TEST

START_TEST(the_legacy_stream_may_not_be_used_beside_a_blocking_capture)
{
    CUstream blocking;
    CUdeviceptr p = words(64);
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(launch(fill, NULL, p, 3, 64), STREAM_CAPTURE_IMPLICIT);
    end_invalid(blocking);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(launch(fill, NULL, p, 4, 64));
    end_valid(stream, 0);
    WORD(p, 0, 4);
    OK(cuStreamDestroy(blocking));
}
END_TEST

START_TEST(a_fork_is_joined_by_events)
{
    CUstream other;
    CUevent fork, join;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode from[8], to[8];
    size_t nodes, edges = 8;
    CUdeviceptr p = words(64), q = words(64);
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(launch(fill, stream, p, 1, 64));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(other, fork, 0));
    check_status(other, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(launch_copy(other, q, p, 64));
    OK(cuEventRecord(join, other));
    OK(cuStreamWaitEvent(stream, join, 0));
    OK(launch(add, stream, q, 10, 64));
    OK(cuStreamEndCapture(stream, &graph));
    check_status(other, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    ck_assert_uint_eq(nodes, 3);
    OK(cuGraphGetEdges(graph, from, to, NULL, &edges));
    ck_assert_uint_ge(edges, 2);
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 10; i++) {
        OK(cuMemsetD32(p, 99, 64));
        OK(cuCtxSynchronize());
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        WORD(q, 63, 11);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
    OK(cuStreamDestroy(other));
}
END_TEST

/* Forks other from stream by an event. */
static CUevent fork_to(CUstream other)
{
    CUevent event;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(other, event, 0));
    return event;
}

START_TEST(a_fork_that_is_not_joined_spoils_the_capture)
{
    CUstream other;
    CUgraph graph = (CUgraph)&stream;
    CUdeviceptr p = words(64);
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventDestroy(fork_to(other)));
    OK(launch(fill, other, p, 1, 64));
    FAILS(cuStreamEndCapture(stream, &graph), STREAM_CAPTURE_UNJOINED);
    ck_assert_ptr_null(graph);
    check_status(stream, CU_STREAM_CAPTURE_STATUS_NONE);
    check_status(other, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(launch(fill, other, p, 5, 64));
    WORD(p, 0, 5);
    OK(cuStreamDestroy(other));
}
END_TEST

START_TEST(a_capture_ends_on_the_stream_where_it_began)
{
    CUstream other;
    CUgraph graph;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventDestroy(fork_to(other)));
    FAILS(cuStreamEndCapture(other, &graph), STREAM_CAPTURE_UNMATCHED);
    cuStreamEndCapture(stream, &graph);
    check_status(stream, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamDestroy(other));
}
END_TEST

START_TEST(a_capture_does_not_wait_for_work_outside)
{
    CUstream other;
    CUevent event;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(event, other));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(cuStreamWaitEvent(stream, event, 0), STREAM_CAPTURE_ISOLATION);
    end_invalid(stream);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
}
END_TEST

START_TEST(two_captures_do_not_merge)
{
    CUstream other;
    CUevent event;
    CUgraph graph;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(event, other));
    FAILS(cuStreamWaitEvent(stream, event, 0), STREAM_CAPTURE_MERGE);
    cuStreamEndCapture(stream, &graph);
    cuStreamEndCapture(other, &graph);
    check_status(stream, CU_STREAM_CAPTURE_STATUS_NONE);
    check_status(other, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
}
END_TEST

START_TEST(an_event_recorded_in_a_capture_cannot_be_waited_for)
{
    CUevent event;
    OK(cuEventCreate(&event, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(event, stream));
    FAILS(cuEventSynchronize(event), CAPTURED_EVENT);
    end_invalid(stream);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(event, stream));
    FAILS(cuEventQuery(event), CAPTURED_EVENT);
    end_invalid(stream);
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
}
END_TEST

START_TEST(a_capture_tells_about_itself)
{
    CUstreamCaptureStatus status;
    cuuint64_t first, second;
    CUgraph inside, graph;
    const CUgraphNode *last;
    CUgraphNode node;
    size_t n = 9;
    CUdeviceptr p = words(64);
    OK(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamGetCaptureInfo(stream, &status, &first, &inside, &last, NULL, &n));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_assert_uint_eq(n, 0);
    OK(launch(fill, stream, p, 1, 64));
    OK(cuStreamGetCaptureInfo(stream, &status, &second, &inside, &last, NULL, &n));
    ck_assert(first == second);
    ck_assert_uint_eq(n, 1);
    CUgraphNodeType type;
    OK(cuGraphNodeGetType(last[0], &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_KERNEL);
    /* A node that the program adds itself can become what the stream goes on from. */
    OK(cuGraphAddEmptyNode(&node, inside, last, 1));
    OK(cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(cuStreamGetCaptureInfo(stream, &status, &second, &inside, &last, NULL, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_eq(last[0], node);
    OK(launch(add, stream, p, 1, 64));
    OK(cuStreamEndCapture(stream, &graph));
    ck_assert_ptr_eq(graph, inside);
    size_t nodes;
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    ck_assert_uint_eq(nodes, 3);
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamGetCaptureInfo(stream, &status, &second, NULL, NULL, NULL, NULL));
    ck_assert(first != second);
    end_valid(stream, 0);
}
END_TEST

START_TEST(arguments_are_kept_as_they_were)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr p = words(64), q = words(64);
    uint32_t *pinned;
    OK(cuMemAllocHost((void **)&pinned, 256));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(launch(fill, stream, p, 21, 64));           /* overwrites its arguments after the call */
    OK(cuMemcpyHtoDAsync(q, pinned, 256, stream)); /* reads what is there at the launch */
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (uint32_t i = 1; i < 4; i++) {
        for (int j = 0; j < 64; j++)
            pinned[j] = i;
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        WORD(p, 63, 21);
        WORD(q, 63, i);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFreeHost(pinned));
}
END_TEST

START_TEST(destroying_a_captured_stream_or_context_is_survived)
{
    CUcontext other;
    CUstream there;
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(there, CU_STREAM_CAPTURE_MODE_RELAXED));
    cuStreamDestroy(there);
    OK(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(there, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuCtxDestroy(other));
    OK(unsafe_call(NULL));
}
END_TEST

Suite *suite_capture(void)
{
    Suite *suite = suite_create("capture");
    TCase *tests = tcase_create("rules");
    tcase_add_checked_fixture(tests, setup, driver_teardown);
    tcase_add_test(tests, captured_work_waits_for_its_launch);
    tcase_add_test(tests, begin_and_end_have_their_places);
    tcase_add_test(tests, a_capture_is_ended_by_its_thread);
    tcase_add_test(tests, global_mode_forbids_unsafe_calls_to_all);
    tcase_add_test(tests, thread_local_mode_forbids_them_to_its_thread);
    tcase_add_test(tests, relaxed_mode_forbids_nothing);
    tcase_add_test(tests, a_thread_may_relax_its_own_rule);
    tcase_add_test(tests, many_calls_are_unsafe);
    tcase_add_test(tests, harmless_calls_are_allowed);
    tcase_add_test(tests, the_legacy_stream_may_not_be_used_beside_a_blocking_capture);
    tcase_add_test(tests, a_fork_is_joined_by_events);
    tcase_add_test(tests, a_fork_that_is_not_joined_spoils_the_capture);
    tcase_add_test(tests, a_capture_ends_on_the_stream_where_it_began);
    tcase_add_test(tests, a_capture_does_not_wait_for_work_outside);
    tcase_add_test(tests, two_captures_do_not_merge);
    tcase_add_test(tests, an_event_recorded_in_a_capture_cannot_be_waited_for);
    tcase_add_test(tests, a_capture_tells_about_itself);
    tcase_add_test(tests, arguments_are_kept_as_they_were);
    tcase_add_test(tests, destroying_a_captured_stream_or_context_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
