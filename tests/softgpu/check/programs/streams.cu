// SPDX-License-Identifier: BSD-3-Clause
// Streams, events and host functions. Built twice: with the legacy and with the per-thread default
// stream.
#include "check.h"

#include <atomic>
#include <thread>

static const int n = 1 << 14;

__global__ void add(int *p, int value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

static std::atomic<int> called;

static void count_call(void *by)
{
    called += *(int *)by;
}

static void stream_done(cudaStream_t stream, cudaError_t status, void *data)
{
    if (status == cudaSuccess && data == &called)
        called += 100;
}

static void expect(const int *p, int value)
{
    static int x[n];
    OK(cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(x[i] == value);
}

static void two_streams()
{
    cudaStream_t a, b;
    cudaEvent_t filled, added;
    int *p, *host;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));
    OK(cudaMallocHost(&host, n * sizeof *host));
    OK(cudaMalloc(&p, n * sizeof *p));
    for (int i = 0; i < n; i++)
        host[i] = 10;
    OK(cudaMemcpyAsync(p, host, n * sizeof *p, cudaMemcpyHostToDevice, a));
    OK(cudaEventRecord(filled, a));
    OK(cudaStreamWaitEvent(b, filled, 0));
    add<<<n / 256, 256, 0, b>>>(p, 5);
    OK(cudaEventRecord(added, b));
    OK(cudaStreamWaitEvent(a, added));
    add<<<n / 256, 256, 0, a>>>(p, 7);
    OK(cudaMemcpyAsync(host, p, n * sizeof *p, cudaMemcpyDeviceToHost, a));
    OK(cudaStreamSynchronize(a));
    for (int i = 0; i < n; i++)
        CHECK(host[i] == 22);
    OK(cudaStreamQuery(a));
    OK(cudaEventQuery(added));
    OK(cudaMemsetAsync(p, 0, n * sizeof *p, b));
    OK(cudaStreamSynchronize(b));
    expect(p, 0);
    OK(cudaEventDestroy(filled));
    OK(cudaEventDestroy(added));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFreeHost(host));
    OK(cudaFree(p));
}

static void default_stream()
{
    int *p;
    OK(cudaMalloc(&p, n * sizeof *p));
    OK(cudaMemset(p, 0, n * sizeof *p));
    add<<<n / 256, 256>>>(p, 1);
    add<<<n / 256, 256, 0, cudaStreamPerThread>>>(p, 1);
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaStreamSynchronize(0));
    expect(p, 2);

    // the default stream of another thread
    std::thread([p] {
        add<<<n / 256, 256>>>(p, 3);
        OK(cudaStreamSynchronize(0));
    }).join();
    expect(p, 5);

    unsigned long long mine, legacy, per_thread;
    OK(cudaStreamGetId(0, &mine));
    OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
    OK(cudaStreamGetId(cudaStreamPerThread, &per_thread));
    CHECK(legacy != per_thread);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    CHECK(mine == per_thread);
#else
    CHECK(mine == legacy);
#endif
    OK(cudaFree(p));
}

static void host_functions()
{
    cudaStream_t stream;
    int one = 1, ten = 10;
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, count_call, &one));
    OK(cudaLaunchHostFunc(stream, count_call, &ten));
    OK(cudaStreamAddCallback(stream, stream_done, &called, 0));
    OK(cudaStreamSynchronize(stream));
    CHECK(called == 111);
    OK(cudaStreamDestroy(stream));
}

static void times()
{
    cudaEvent_t start, stop, untimed;
    float ms = -1;
    int *p;
    OK(cudaMalloc(&p, n * sizeof *p));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventRecord(start));
    for (int i = 0; i < 4; i++)
        add<<<n / 256, 256>>>(p, 1);
    OK(cudaEventRecord(stop));
    OK(cudaEventRecord(untimed));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(ms > 0 && ms < 1000);
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));
    cudaGetLastError();
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    OK(cudaEventDestroy(untimed));
    OK(cudaFree(p));
}

static void properties()
{
    cudaStream_t stream;
    int least, greatest, priority, device = -1;
    unsigned flags;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest <= least);
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetPriority(stream, &priority));
    OK(cudaStreamGetFlags(stream, &flags));
    OK(cudaStreamGetDevice(stream, &device));
    CHECK(priority == greatest && flags == cudaStreamNonBlocking && device == 0);
    OK(cudaStreamDestroy(stream));
}

int main()
{
    two_streams();
    default_stream();
    host_functions();
    times();
    properties();
    return 0;
}
