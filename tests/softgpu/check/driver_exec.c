/* SPDX-License-Identifier: BSD-3-Clause
 * Executable graphs made of captures: updated, launched again and again, launched within a capture,
 * destroyed while they run. */
#include "config.h"

#include "driver.h"

static CUstream stream;

static void setup(void)
{
    driver_setup();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static CUgraph captured_chain(CUdeviceptr p, uint32_t first, uint32_t second, bool longer)
{
    CUgraph g;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(launch(fill, stream, p, first, 64));
    OK(launch(add, stream, p, second, 64));
    if (longer)
        OK(launch(add, stream, p, 1, 64));
    OK(cuStreamEndCapture(stream, &g));
    return g;
}

START_TEST(an_executable_is_updated_from_a_like_graph)
{
    CUdeviceptr p = words(64);
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    CUgraph first = captured_chain(p, 1, 2, false), like = captured_chain(p, 10, 20, false),
            unlike = captured_chain(p, 100, 200, true);
    OK(cuGraphInstantiate(&exec, first, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecUpdate(exec, like, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 0, 30);
    FAILS(cuGraphExecUpdate(exec, unlike, &info), GRAPH_EXEC_UPDATE_FAILURE);
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 0, 30);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(first));
    OK(cuGraphDestroy(like));
    OK(cuGraphDestroy(unlike));
}
END_TEST

/* Launches that wait are not changed by an update that comes later. */
START_TEST(an_update_does_not_reach_back)
{
    CUdeviceptr p = words(64), q = words(64);
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    CUgraph first = captured_chain(p, 1, 2, false), like = captured_chain(p, 10, 20, false);
    OK(cuGraphInstantiate(&exec, first, 0));
    for (int i = 0; i < 10; i++) {
        OK(cuGraphExecUpdate(exec, first, &info));
        OK(cuGraphLaunch(exec, stream));
        OK(launch_copy(stream, q, p, 64));
        OK(cuGraphExecUpdate(exec, like, &info));
        OK(cuStreamSynchronize(stream));
        WORD(q, 63, 3);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(first));
    OK(cuGraphDestroy(like));
}
END_TEST

START_TEST(a_destroyed_executable_finishes)
{
    CUdeviceptr p = words(64);
    CUgraphExec exec;
    for (uint32_t i = 1; i < 10; i++) {
        CUgraph g = captured_chain(p, i, i, false);
        OK(cuGraphInstantiate(&exec, g, 0));
        OK(cuGraphDestroy(g));
        OK(cuGraphLaunch(exec, stream));
        OK(cuGraphExecDestroy(exec));
        OK(cuStreamSynchronize(stream));
        WORD(p, 63, 2 * i);
    }
}
END_TEST

START_TEST(launches_of_one_executable_do_not_overlap)
{
    enum { N = 3000 };
    CUstream other;
    CUgraph g;
    CUgraphExec exec;
    CUdeviceptr p = words(N);
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(launch(add, stream, p, 1, N));
    OK(cuStreamEndCapture(stream, &g));
    OK(cuGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 10; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuGraphLaunch(exec, other));
    }
    WORD(p, 0, 20);
    WORD(p, N - 1, 20);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));
    OK(cuStreamDestroy(other));
}
END_TEST

START_TEST(a_graph_is_one_step_of_its_stream)
{
    CUdeviceptr p = words(64), q = words(64);
    CUgraphExec exec;
    CUgraph g = captured_chain(p, 5, 6, false);
    OK(cuGraphInstantiate(&exec, g, 0));
    for (uint32_t i = 0; i < 10; i++) {
        OK(launch(fill, stream, p, 1000, 64));
        OK(cuGraphLaunch(exec, stream));
        OK(launch_copy(stream, q, p, 64));
        OK(launch(fill, stream, p, i, 64));
        OK(cuStreamSynchronize(stream));
        WORD(q, 63, 11);
        WORD(p, 63, i);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));
}
END_TEST

START_TEST(a_graph_launch_is_captured_as_a_child)
{
    CUdeviceptr p = words(64);
    CUgraphExec inner, outer;
    size_t n;
    CUgraph g = captured_chain(p, 5, 6, false), all;
    OK(cuGraphInstantiate(&inner, g, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuGraphLaunch(inner, stream));
    OK(launch(add, stream, p, 100, 64));
    OK(cuStreamEndCapture(stream, &all));
    OK(cuGraphGetNodes(all, NULL, &n));
    ck_assert_uint_eq(n, 2);
    OK(cuGraphInstantiate(&outer, all, 0));
    OK(cuGraphLaunch(outer, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 63, 111);
    OK(cuGraphExecDestroy(inner));
    OK(cuGraphExecDestroy(outer));
    OK(cuGraphDestroy(g));
    OK(cuGraphDestroy(all));
}
END_TEST

Suite *suite_exec(void)
{
    Suite *suite = suite_create("exec");
    TCase *tests = tcase_create("executables");
    tcase_add_checked_fixture(tests, setup, driver_teardown);
    tcase_add_test(tests, an_executable_is_updated_from_a_like_graph);
    tcase_add_test(tests, an_update_does_not_reach_back);
    tcase_add_test(tests, a_destroyed_executable_finishes);
    tcase_add_test(tests, launches_of_one_executable_do_not_overlap);
    tcase_add_test(tests, a_graph_is_one_step_of_its_stream);
    tcase_add_test(tests, a_graph_launch_is_captured_as_a_child);
    suite_add_tcase(suite, tests);
    return suite;
}
