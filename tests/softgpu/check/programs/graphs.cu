// SPDX-License-Identifier: BSD-3-Clause
// Graphs: captured and built by hand, launched, changed, cloned; user objects.
#include "check.h"

#include <atomic>

static const int n = 512;

__device__ int offset = 100;

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

static std::atomic<int> hosts, destroyed;

static void on_host(void *by)
{
    hosts += *(int *)by;
}

static void on_destroy(void *)
{
    destroyed++;
}

static void expect(const int *p, int value)
{
    int x[n];
    OK(cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(x[i] == value);
}

static void captured()
{
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    int *p, *q, one = 1;
    size_t nodes;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaMalloc(&p, n * sizeof *p));
    OK(cudaMalloc(&q, n * sizeof *q));
    OK(cudaMemset(p, 0, n * sizeof *p));
    OK(cudaMemset(q, 0, n * sizeof *q));

    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    add<<<1, n, 0, a>>>(p, 1);
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork));
    add<<<1, n, 0, b>>>(q, 2);
    add<<<1, n, 0, a>>>(p, 3);
    OK(cudaEventRecord(join, b));
    OK(cudaStreamWaitEvent(a, join));
    OK(cudaLaunchHostFunc(a, on_host, &one));
    OK(cudaStreamIsCapturing(a, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    unsigned long long id = 0;
    cudaGraph_t being = nullptr;
    OK(cudaStreamGetCaptureInfo(a, &status, &id, &being));
    CHECK(status == cudaStreamCaptureStatusActive && id != 0 && being != nullptr);
    OK(cudaStreamEndCapture(a, &graph));
    OK(cudaStreamIsCapturing(a, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    expect(p, 0); // nothing has run

    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 4);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, a));
    OK(cudaStreamSynchronize(a));
    expect(p, 12);
    expect(q, 6);
    CHECK(hosts == 3);

    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(p));
    OK(cudaFree(q));
}

static void by_hand()
{
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t zero, plus, store, node;
    cudaGraphNodeType type;
    int *p, value = 5, copied = 0, five = 5;
    OK(cudaMalloc(&p, n * sizeof *p));
    OK(cudaGraphCreate(&graph, 0));

    cudaMemsetParams fill = {};
    fill.dst = p;
    fill.value = 0;
    fill.elementSize = 4;
    fill.width = n;
    fill.height = 1;
    OK(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &fill));
    void *args[] = {&p, &value};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)add;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(n);
    kernel.kernelParams = args;
    OK(cudaGraphAddKernelNode(&plus, graph, &zero, 1, &kernel));
    OK(cudaGraphAddMemcpyNode1D(&store, graph, &plus, 1, &copied, p + 7, sizeof copied,
                                cudaMemcpyDeviceToHost));
    cudaHostNodeParams host = {};
    host.fn = on_host;
    host.userData = &five;
    OK(cudaGraphAddHostNode(&node, graph, &store, 1, &host));
    OK(cudaGraphAddMemcpyNodeToSymbol(&node, graph, &store, 1, offset, &five, sizeof five, 0,
                                      cudaMemcpyHostToDevice));
    OK(cudaGraphNodeGetType(plus, &type));
    CHECK(type == cudaGraphNodeTypeKernel);
    cudaKernelNodeParams got;
    OK(cudaGraphKernelNodeGetParams(plus, &got));
    CHECK(got.func == (void *)add && got.blockDim.x == n && *(int *)got.kernelParams[1] == 5);
    size_t edges;
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    CHECK(edges == 4);

    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    hosts = 0;
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaStreamSynchronize(0));
    expect(p, 5);
    CHECK(copied == 5 && hosts == 5);
    int now;
    OK(cudaMemcpyFromSymbol(&now, offset, sizeof now));
    CHECK(now == 5);

    // another argument, in the executable graph alone and then by an update
    value = 6;
    OK(cudaGraphExecKernelNodeSetParams(exec, plus, &kernel));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaStreamSynchronize(0));
    CHECK(copied == 6);
    value = 9;
    OK(cudaGraphKernelNodeSetParams(plus, &kernel));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, graph, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaStreamSynchronize(0));
    CHECK(copied == 9);
    OK(cudaGraphExecDestroy(exec));

    // a clone, one node less
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&node, plus, clone));
    OK(cudaGraphDestroyNode(node));
    size_t left;
    OK(cudaGraphGetNodes(clone, nullptr, &left));
    CHECK(left == 4);

    cudaUserObject_t object;
    OK(cudaUserObjectCreate(&object, &hosts, on_destroy, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphRetainUserObject(clone, object, 1, cudaGraphUserObjectMove));
    OK(cudaGraphDestroy(clone));
    OK(cudaDeviceSynchronize());
    CHECK(destroyed == 1);
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(p));
}

static void unsafe_call()
{
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    void *p;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaMalloc(&p, 16));
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    CHECK(graph == nullptr);
    cudaGetLastError();

    // allowed to those who ask
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaMalloc(&p, 16));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(p));
    OK(cudaStreamDestroy(stream));
}

int main()
{
    captured();
    by_hand();
    unsafe_call();
    return 0;
}
