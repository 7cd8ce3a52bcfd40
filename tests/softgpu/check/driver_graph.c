/* SPDX-License-Identifier: BSD-3-Clause
 * Graphs made node by node: nodes and edges, order, copies, lifetimes. */
#include "config.h"

#include "driver.h"

#include <stdio.h>
#include <unistd.h>

static CUgraph graph;
static CUstream stream;

static void setup(void)
{
    driver_setup();
    OK(cuGraphCreate(&graph, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

/* Destroys the test's graph. */
static void drop(void)
{
    OK(cuGraphDestroy(graph));
    graph = NULL;
}

static void teardown(void)
{
    if (graph != NULL)
        drop();
    driver_teardown();
}

/* Runs the graph once and destroys it with what was made of it. */
static void run_once(void)
{
    CUgraphExec exec;
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
}

/* A kernel node; the arguments are copied when the node is made. */
static CUgraphNode kernel_node(CUgraph g, const CUgraphNode *after, size_t n_after, CUfunction f,
                               CUdeviceptr p, CUdeviceptr from, uint32_t v, uint32_t n)
{
    CUgraphNode node;
    void *params[] = {&p, &from, &v, &n};
    CUDA_KERNEL_NODE_PARAMS k = {.func = f,
                                 .gridDimX = (n + 127) / 128,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 128,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = params};
    OK(cuGraphAddKernelNode(&node, g, after, n_after, &k));
    p = from = 0;
    v = n = 0;
    return node;
}

static size_t count_nodes(CUgraph g)
{
    size_t n;
    OK(cuGraphGetNodes(g, NULL, &n));
    return n;
}

START_TEST(nodes_run_in_the_order_of_edges)
{
    CUdeviceptr p = words(64), q = words(64);
    CUgraphNode a = kernel_node(graph, NULL, 0, fill, p, 0, 3, 64);
    CUgraphNode b = kernel_node(graph, &a, 1, copy, q, p, 0, 64);
    CUgraphNode c = kernel_node(graph, &b, 1, fill, p, 0, 9, 64);
    CUgraphNode both[] = {b, c};
    kernel_node(graph, both, 2, add, q, 0, 1, 64);
    ck_assert_uint_eq(count_nodes(graph), 4);
    for (int i = 0; i < 5; i++) {
        run_once();
        WORD(q, 63, 4);
        WORD(p, 63, 9);
    }
    drop();
}
END_TEST

START_TEST(edges_can_be_added_later)
{
    CUdeviceptr p = words(64);
    CUgraphNode late = kernel_node(graph, NULL, 0, add, p, 0, 1, 64);
    CUgraphNode early = kernel_node(graph, NULL, 0, fill, p, 0, 5, 64);
    CUgraphNode from[4], to[4];
    size_t n = 4;
    OK(cuGraphAddDependencies(graph, &early, &late, NULL, 1));
    OK(cuGraphGetEdges(graph, from, to, NULL, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_eq(from[0], early);
    ck_assert_ptr_eq(to[0], late);
    n = 4;
    OK(cuGraphGetRootNodes(graph, from, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_eq(from[0], early);
    n = 4;
    OK(cuGraphNodeGetDependencies(late, from, NULL, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_eq(from[0], early);
    n = 4;
    OK(cuGraphNodeGetDependentNodes(early, to, NULL, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_eq(to[0], late);
    for (int i = 0; i < 5; i++) {
        run_once();
        WORD(p, 0, 6);
    }
    OK(cuGraphRemoveDependencies(graph, &early, &late, NULL, 1));
    OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
    ck_assert_uint_eq(n, 0);
    drop();
}
END_TEST

START_TEST(a_cycle_is_refused)
{
    CUgraphNode a, b;
    CUgraphExec exec;
    OK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
    /* Refused when the edge is made or when the graph is instantiated. */
    if (cuGraphAddDependencies(graph, &b, &a, NULL, 1) == CUDA_SUCCESS)
        ck_assert_int_ne(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    drop();
}
END_TEST

static void CUDA_CB count_up(void *arg)
{
    ++*(int *)arg;
}

START_TEST(there_are_nodes_of_many_types)
{
    int calls = 0;
    uint32_t *pinned;
    CUdeviceptr p = words(64), q = words(64);
    CUgraphNode set, move, host, nothing;
    CUgraphNodeType type;
    CUDA_MEMSET_NODE_PARAMS fill_params = {
        .dst = p, .value = 0x51, .elementSize = 1, .width = 256, .height = 1};
    CUDA_HOST_NODE_PARAMS host_params = {count_up, &calls};
    OK(cuMemAllocHost((void **)&pinned, 256));
    CUDA_MEMCPY3D copy_params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = q,
                                 .dstMemoryType = CU_MEMORYTYPE_HOST,
                                 .dstHost = pinned,
                                 .WidthInBytes = 256,
                                 .Height = 1,
                                 .Depth = 1};
    OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &fill_params, context));
    CUgraphNode k = kernel_node(graph, &set, 1, copy, q, p, 0, 64);
    OK(cuGraphAddMemcpyNode(&move, graph, &k, 1, &copy_params, context));
    OK(cuGraphAddHostNode(&host, graph, &move, 1, &host_params));
    OK(cuGraphAddEmptyNode(&nothing, graph, &host, 1));
    const struct {
        CUgraphNode node;
        CUgraphNodeType type;
    } want[] = {{set, CU_GRAPH_NODE_TYPE_MEMSET},
                {k, CU_GRAPH_NODE_TYPE_KERNEL},
                {move, CU_GRAPH_NODE_TYPE_MEMCPY},
                {host, CU_GRAPH_NODE_TYPE_HOST},
                {nothing, CU_GRAPH_NODE_TYPE_EMPTY}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        OK(cuGraphNodeGetType(want[i].node, &type));
        ck_assert_int_eq(type, want[i].type);
    }
    for (int i = 1; i < 4; i++) {
        pinned[63] = 0;
        run_once();
        ck_assert_uint_eq(pinned[63], 0x51515151);
        ck_assert_int_eq(calls, i);
    }
    drop();
    OK(cuMemFreeHost(pinned));
}
END_TEST

START_TEST(kernel_nodes_tell_and_take_their_parameters)
{
    CUdeviceptr p = words(64), from = 0;
    uint32_t v = 40, n = 64;
    void *params[] = {&p, &from, &v, &n};
    CUDA_KERNEL_NODE_PARAMS k;
    CUgraphNode node = kernel_node(graph, NULL, 0, fill, p, 0, 30, 64);
    CUgraphExec exec;
    OK(cuGraphKernelNodeGetParams(node, &k));
    ck_assert_uint_eq(k.blockDimX, 128);
    ck_assert_uint_eq(k.gridDimX, 1);
    ck_assert_ptr_eq(k.func, fill);
    ck_assert_ptr_nonnull(k.kernelParams);
    ck_assert_uint_eq(*(uint32_t *)k.kernelParams[2], 30);
    OK(cuGraphInstantiate(&exec, graph, 0));
    k.kernelParams = params;
    k.extra = NULL;
    OK(cuGraphKernelNodeSetParams(node, &k)); /* the executable keeps its own */
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 9, 30);
    OK(cuGraphExecKernelNodeSetParams(exec, node, &k));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 9, 40);
    OK(cuGraphExecDestroy(exec));
    run_once();
    WORD(p, 9, 40);
    drop();
}
END_TEST

START_TEST(a_child_graph_is_a_copy)
{
    CUdeviceptr p = words(64);
    CUgraph child;
    CUgraphNode node, before = kernel_node(graph, NULL, 0, fill, p, 0, 1, 64);
    OK(cuGraphCreate(&child, 0));
    kernel_node(child, NULL, 0, add, p, 0, 10, 64);
    OK(cuGraphAddChildGraphNode(&node, graph, &before, 1, child));
    kernel_node(graph, &node, 1, add, p, 0, 100, 64);
    kernel_node(child, NULL, 0, add, p, 0, 1000, 64);
    OK(cuGraphDestroy(child));
    run_once();
    WORD(p, 63, 111);
    CUgraph inside;
    OK(cuGraphChildGraphNodeGetGraph(node, &inside));
    ck_assert_uint_eq(count_nodes(inside), 1);
    drop();
}
END_TEST

START_TEST(a_clone_is_independent)
{
    CUdeviceptr p = words(64);
    CUgraph clone;
    CUgraphNode node = kernel_node(graph, NULL, 0, fill, p, 0, 1, 64), same;
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&same, node, clone));
    ck_assert_ptr_ne(same, node);
    kernel_node(graph, &node, 1, add, p, 0, 5, 64);
    ck_assert_uint_eq(count_nodes(clone), 1);
    drop();
    graph = clone;
    run_once();
    WORD(p, 0, 1);
    drop();
}
END_TEST

START_TEST(user_objects_live_as_long_as_graphs_need_them)
{
    int destroyed = 0;
    CUuserObject object;
    CUgraphExec exec;
    CUgraph clone;
    OK(cuUserObjectCreate(&object, &destroyed, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphClone(&clone, graph));
    drop();
    ck_assert_int_eq(destroyed, 0);
    OK(cuGraphExecDestroy(exec));
    ck_assert_int_eq(destroyed, 0);
    OK(cuGraphDestroy(clone));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(destroyed, 1);
    OK(cuUserObjectCreate(&object, &destroyed, count_up, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectRelease(object, 1));
    ck_assert_int_eq(destroyed, 1);
    OK(cuUserObjectRelease(object, 1));
    ck_assert_int_eq(destroyed, 2);
}
END_TEST

START_TEST(nodes_can_be_switched_off_and_destroyed)
{
    CUdeviceptr p = words(64);
    CUgraphExec exec;
    unsigned enabled;
    CUgraphNode a = kernel_node(graph, NULL, 0, fill, p, 0, 1, 64);
    CUgraphNode b = kernel_node(graph, &a, 1, add, p, 0, 10, 64);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphNodeSetEnabled(exec, b, 0));
    OK(cuGraphNodeGetEnabled(exec, b, &enabled));
    ck_assert_uint_eq(enabled, 0);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 0, 1);
    OK(cuGraphNodeSetEnabled(exec, b, 1));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p, 0, 11);
    OK(cuGraphDestroyNode(b));
    ck_assert_uint_eq(count_nodes(graph), 1);
    run_once();
    WORD(p, 0, 1);
    OK(cuGraphExecDestroy(exec));
    drop();
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph other;
    size_t n;
    FAILS(cuGraphInstantiate(NULL, graph, 0), INVALID_VALUE);
    FAILS(cuGraphInstantiate(&exec, NULL, 0), INVALID_VALUE);
    FAILS(cuGraphLaunch(NULL, stream), INVALID_VALUE);
    FAILS(cuGraphGetNodes(graph, NULL, NULL), INVALID_VALUE);
    FAILS(cuGraphAddEmptyNode(NULL, graph, NULL, 0), INVALID_VALUE);
    OK(cuGraphCreate(&other, 0));
    OK(cuGraphAddEmptyNode(&node, other, NULL, 0));
    FAILS(cuGraphAddEmptyNode(&node, graph, &node, 1), INVALID_VALUE);
    OK(cuGraphGetNodes(graph, NULL, &n));
    ck_assert_uint_eq(n, 0);
    OK(cuGraphDestroy(other));
    drop();
}
END_TEST

static cuuint64_t graph_memory(CUgraphMem_attribute attribute)
{
    cuuint64_t bytes;
    OK(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
}

START_TEST(memory_of_graphs_is_counted)
{
    enum { BYTES = 40000 };
    CUgraphNode node[2];
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    cuuint64_t zero = 0, one = 1;
    const cuuint64_t before = graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = BYTES;
    OK(cuGraphAddMemAllocNode(&node[0], graph, NULL, 0, &params));
    OK(cuGraphAddMemAllocNode(&node[1], graph, NULL, 0, &params));
    ck_assert(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == before + 2 * BYTES);
    drop();
    ck_assert(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == before);
    ck_assert(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == before + 2 * BYTES);
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    ck_assert(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == before);
    FAILS(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one), INVALID_VALUE);
    FAILS(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
          INVALID_VALUE);
    FAILS(cuDeviceGetGraphMemAttribute(GPU_DEVICES, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero),
          INVALID_DEVICE);
}
END_TEST

START_TEST(a_graph_can_be_drawn)
{
    char path[] = "driver_graph_XXXXXX", text[2000];
    CUdeviceptr p = words(64);
    CUgraph inner;
    CUgraphNode child;
    OK(cuGraphCreate(&inner, 0));
    kernel_node(inner, NULL, 0, add, p, 0, 1, 64);
    CUgraphNode a = kernel_node(graph, NULL, 0, fill, p, 0, 1, 64);
    OK(cuGraphAddChildGraphNode(&child, graph, &a, 1, inner));
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    const CUresult r = cuGraphDebugDotPrint(graph, path, 0);
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    remove(path);
    OK(r);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    ck_assert_ptr_eq(strstr(text, "digraph"), text);
    ck_assert_ptr_nonnull(strstr(text, "KERNEL\\nfill"));
    ck_assert_ptr_nonnull(strstr(text, "KERNEL\\nadd"));
    ck_assert_ptr_nonnull(strstr(text, "subgraph cluster_"));
    const char *edge = strstr(text, " -> ");
    ck_assert_ptr_nonnull(edge);
    ck_assert_ptr_null(strstr(edge + 1, " -> ")); /* one edge */
    FAILS(cuGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0), OPERATING_SYSTEM);
    FAILS(cuGraphDebugDotPrint(NULL, path, 0), INVALID_VALUE);
    OK(cuGraphDestroy(inner));
}
END_TEST

/* As the manual lets a driver answer that has no such nodes. */
START_TEST(conditional_nodes_are_not_there)
{
    CUgraphConditionalHandle handle;
    CUgraphNode node;
    CUgraphNodeParams params;
    FAILS(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
          NOT_SUPPORTED);
    FAILS(cuGraphConditionalHandleCreate(&handle, graph, context, 1, 2), INVALID_VALUE);
    FAILS(cuGraphConditionalHandleCreate(&handle, NULL, context, 1, 0), INVALID_VALUE);
    FAILS(cuGraphConditionalHandleCreate(NULL, graph, context, 1, 0), INVALID_VALUE);
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    FAILS(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params), NOT_SUPPORTED);
    ck_assert_uint_eq(count_nodes(graph), 0);
}
END_TEST

START_TEST(an_empty_graph_runs)
{
    run_once();
    drop();
}
END_TEST

START_TEST(memory_nodes_give_the_same_address_each_time)
{
    CUdeviceptr p, kept = words(64);
    CUgraph g;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&p, 256, stream));
    OK(launch(fill, stream, p, 4, 64));
    OK(launch_copy(stream, kept, p, 64));
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamEndCapture(stream, &g));
    OK(cuGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 3; i++) {
        OK(cuMemsetD32(kept, 0, 64));
        OK(cuCtxSynchronize());
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        WORD(kept, 63, 4);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));
}
END_TEST

Suite *suite_graph(void)
{
    Suite *suite = suite_create("graph");
    TCase *tests = tcase_create("graphs");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nodes_run_in_the_order_of_edges);
    tcase_add_test(tests, edges_can_be_added_later);
    tcase_add_test(tests, a_cycle_is_refused);
    tcase_add_test(tests, there_are_nodes_of_many_types);
    tcase_add_test(tests, kernel_nodes_tell_and_take_their_parameters);
    tcase_add_test(tests, a_child_graph_is_a_copy);
    tcase_add_test(tests, a_clone_is_independent);
    tcase_add_test(tests, user_objects_live_as_long_as_graphs_need_them);
    tcase_add_test(tests, nodes_can_be_switched_off_and_destroyed);
    tcase_add_test(tests, bad_arguments_are_refused);
    tcase_add_test(tests, memory_of_graphs_is_counted);
    tcase_add_test(tests, a_graph_can_be_drawn);
    tcase_add_test(tests, conditional_nodes_are_not_there);
    tcase_add_test(tests, an_empty_graph_runs);
    tcase_add_test(tests, memory_nodes_give_the_same_address_each_time);
    suite_add_tcase(suite, tests);
    return suite;
}
