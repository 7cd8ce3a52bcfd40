// SPDX-License-Identifier: BSD-3-Clause
// Kernels of every sort that nvcc registers, launched in every way, before and after a reset.
#include "check.h"

#include <cooperative_groups.h>
#include <cstring>
#include <thread>

struct pair {
    char tag;
    double value;
};

__global__ void fill(float *p, int n, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value;
}

template <typename T> __global__ void scale(T *p, int n, T factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= factor;
}

static __global__ void take_struct(float *p, pair q)
{
    p[threadIdx.x] = q.tag == 'x' ? (float)q.value : -1;
}

__global__ void nothing()
{
}

__global__ void reverse(int *p)
{
    extern __shared__ int part[];
    part[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

__global__ void two_phases(int *p)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    p[blockIdx.x] = blockIdx.x;
    grid.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        for (unsigned i = 1; i < gridDim.x; i++)
            p[0] += p[i];
}

static const int n = 1000;

static float first_and_last(const float *p)
{
    float x[n];
    OK(cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost));
    CHECK(x[0] == x[n - 1]);
    return x[0];
}

static void launch_all()
{
    float *p;
    OK(cudaMalloc(&p, n * sizeof *p));
    nothing<<<1, 1>>>();
    fill<<<(n + 127) / 128, 128>>>(p, n, 3.0f);
    OK(cudaGetLastError());
    CHECK(first_and_last(p) == 3);
    scale<float><<<(n + 127) / 128, 128>>>(p, n, 2.0f);
    CHECK(first_and_last(p) == 6);
    scale<int><<<(n + 127) / 128, 128>>>((int *)p, n, 1);
    CHECK(first_and_last(p) == 6);
    take_struct<<<1, n>>>(p, pair{'x', 2.5});
    CHECK(first_and_last(p) == 2.5);

    // by address
    int count = n;
    float value = 7;
    void *args[] = {&p, &count, &value};
    OK(cudaLaunchKernel((const void *)fill, dim3((n + 127) / 128), dim3(128), args, 0, 0));
    CHECK(first_and_last(p) == 7);

    // with a configuration
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + 127) / 128);
    config.blockDim = dim3(128);
    OK(cudaLaunchKernelEx(&config, fill, p, n, 8.0f));
    CHECK(first_and_last(p) == 8);

    // by handle
    cudaKernel_t kernel;
    OK(cudaGetKernel(&kernel, fill));
    value = 9;
    OK(cudaLaunchKernel((const void *)kernel, dim3((n + 127) / 128), dim3(128), args, 0, 0));
    CHECK(first_and_last(p) == 9);
    OK(cudaFree(p));
}

static void shared_memory()
{
    int x[512], *p;
    for (int i = 0; i < 512; i++)
        x[i] = i;
    OK(cudaMalloc(&p, sizeof x));
    OK(cudaMemcpy(p, x, sizeof x, cudaMemcpyHostToDevice));
    reverse<<<1, 512, sizeof x>>>(p);
    OK(cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 512; i++)
        CHECK(x[i] == 511 - i);

    // more than 48 KiB has to be asked for
    EXPECT(cudaErrorInvalidValue, (reverse<<<1, 512, 60000>>>(p), cudaGetLastError()));
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    reverse<<<1, 512, 60000>>>(p);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, reverse));
    CHECK(a.maxDynamicSharedSizeBytes == 60000);
    CHECK(a.sharedSizeBytes == 0);
    CHECK(a.maxThreadsPerBlock == 1024);
    OK(cudaFree(p));
}

static void cooperative()
{
    int *p, sum, blocks = 24;
    OK(cudaMalloc(&p, blocks * sizeof *p));
    void *args[] = {&p};
    OK(cudaLaunchCooperativeKernel((const void *)two_phases, dim3(blocks), dim3(32), args, 0, 0));
    OK(cudaMemcpy(&sum, p, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(sum == blocks * (blocks - 1) / 2);
    OK(cudaFree(p));
}

static void ask()
{
    const char *name;
    OK(cudaFuncGetName(&name, (const void *)fill));
    CHECK(std::strcmp(name, "_Z4fillPfif") == 0);
    size_t offset, bytes;
    OK(cudaFuncGetParamInfo((const void *)take_struct, 1, &offset, &bytes));
    CHECK(offset == 8 && bytes == sizeof(pair));
    EXPECT(cudaErrorInvalidValue,
           cudaFuncGetParamInfo((const void *)take_struct, 2, &offset, &bytes));
    cudaGetLastError();
    int blocks;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 1024, 0));
    CHECK(blocks >= 1 && blocks <= 2);
    int size, grid;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, fill, 0, 0));
    CHECK(size > 0 && size <= 1024 && grid > 0);
    EXPECT(cudaErrorInvalidDeviceFunction,
           cudaLaunchKernel((const void *)&n, dim3(1), dim3(1), nullptr, 0, 0));
    cudaGetLastError();
}

int main()
{
    launch_all();
    shared_memory();
    cooperative();
    ask();
    std::thread(launch_all).join();
    OK(cudaDeviceReset());
    launch_all();
    return 0;
}
