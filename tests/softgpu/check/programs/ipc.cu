// SPDX-License-Identifier: BSD-3-Clause
// Two processes work on the same device memory, ordered by events that both know. The first starts
// the second, which is this program again, and sends it the handles.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

const int N = 300000, SMALL = 100; // two small ones lie in one page

struct Handles {
    cudaIpcMemHandle_t large, small[2];
    cudaIpcEventHandle_t first, second;
};

__global__ void add(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}

static void launch(int *p, int n, int value, cudaStream_t stream)
{
    add<<<(n + 255) / 256, 256, 0, stream>>>(p, n, value);
    OK(cudaGetLastError());
}

static void all_are(const int *p, int n, int value)
{
    int *host = (int *)std::malloc(sizeof(int) * n);
    OK(cudaMemcpy(host, p, sizeof(int) * n, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(host[i] == value);
    std::free(host);
}

static void tell(int fd, const void *p, size_t bytes)
{
    CHECK(write(fd, p, bytes) == (ssize_t)bytes);
}

static void hear(int fd, void *p, size_t bytes)
{
    for (char *at = (char *)p; bytes > 0;) {
        ssize_t n = read(fd, at, bytes);
        CHECK(n > 0);
        at += n;
        bytes -= (size_t)n;
    }
}

static int *open_memory(cudaIpcMemHandle_t handle)
{
    void *p;
    OK(cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess));
    return (int *)p;
}

static void second_process()
{
    Handles handles;
    cudaEvent_t first, second;
    cudaStream_t stream;
    char turn;
    hear(STDIN_FILENO, &handles, sizeof handles);
    int *p = open_memory(handles.large), *again = open_memory(handles.large);
    CHECK(p == again);
    int *small[2] = {open_memory(handles.small[0]), open_memory(handles.small[1])};
    OK(cudaIpcOpenEventHandle(&first, handles.first));
    OK(cudaIpcOpenEventHandle(&second, handles.second));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventQuery(first));
    all_are(small[0], SMALL, 5);
    all_are(small[1], SMALL, 6);
    tell(STDOUT_FILENO, "a", 1);

    hear(STDIN_FILENO, &turn, 1); // the event has been recorded, and may not be over
    OK(cudaStreamWaitEvent(stream, first, 0));
    launch(p, N, 10, stream);
    launch(small[0], SMALL, 1, stream);
    launch(small[1], SMALL, 2, stream);
    OK(cudaEventRecord(second, stream));
    tell(STDOUT_FILENO, "b", 1);

    hear(STDIN_FILENO, &turn, 1);
    OK(cudaEventSynchronize(first));
    all_are(p, N, 1111);
    EXPECT(cudaErrorInvalidValue, cudaFree(p));
    cudaGetLastError();
    OK(cudaIpcCloseMemHandle(p));
    all_are(p, N, 1111); // opened twice
    OK(cudaIpcCloseMemHandle(again));
    EXPECT(cudaErrorInvalidValue, cudaIpcCloseMemHandle(p));
    OK(cudaIpcCloseMemHandle(small[0]));
    OK(cudaIpcCloseMemHandle(small[1]));
    OK(cudaEventDestroy(first));
    OK(cudaEventDestroy(second));
    std::exit(0);
}

static pid_t start(const char *program, int *to, int *from)
{
    int down[2], up[2];
    CHECK(pipe(down) == 0 && pipe(up) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(down[0], STDIN_FILENO);
        dup2(up[1], STDOUT_FILENO);
        close(down[1]);
        close(up[0]);
        execl(program, program, "second", nullptr);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    *to = down[1];
    *from = up[0];
    return child;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        second_process();
    int to, from, status;
    char turn;
    pid_t child = start("/proc/self/exe", &to, &from);
    Handles handles;
    int *p, *small[2];
    cudaEvent_t first, second;
    cudaStream_t stream;
    OK(cudaMalloc(&small[0], sizeof(int) * SMALL));
    OK(cudaMalloc(&p, sizeof(int) * N));
    OK(cudaMalloc(&small[1], sizeof(int) * SMALL));
    OK(cudaMemset(p, 0, sizeof(int) * N));
    OK(cudaMemset(small[0], 0, sizeof(int) * SMALL));
    OK(cudaMemset(small[1], 0, sizeof(int) * SMALL));
    launch(p, N, 1, 0);
    launch(small[0], SMALL, 5, 0);
    launch(small[1], SMALL, 6, 0);
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&first, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&second, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaDeviceSynchronize());
    OK(cudaIpcGetMemHandle(&handles.small[0], small[0]));
    OK(cudaIpcGetMemHandle(&handles.large, p));
    OK(cudaIpcGetMemHandle(&handles.small[1], small[1]));
    OK(cudaIpcGetEventHandle(&handles.first, first));
    OK(cudaIpcGetEventHandle(&handles.second, second));
    tell(to, &handles, sizeof handles);
    hear(from, &turn, 1);

    launch(p, N, 100, stream);
    OK(cudaEventRecord(first, stream));
    tell(to, "1", 1);
    hear(from, &turn, 1);
    OK(cudaStreamWaitEvent(stream, second, 0));
    launch(p, N, 1000, stream);
    OK(cudaEventRecord(first, stream));
    tell(to, "2", 1);
    OK(cudaStreamSynchronize(stream));
    all_are(p, N, 1111);
    all_are(small[0], SMALL, 6);
    all_are(small[1], SMALL, 8);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    all_are(p, N, 1111);
    OK(cudaFree(p));
    OK(cudaFree(small[0]));
    OK(cudaFree(small[1]));
    return 0;
}
