// SPDX-License-Identifier: BSD-3-Clause
// A plugin with a kernel and a device variable, for plugin_host.
#include "check.h"

__device__ int calls = 0;

__global__ void count(int *out)
{
    calls++;
    *out = calls;
}

extern "C" int plugin_run(void)
{
    int value, *p;
    OK(cudaMalloc(&p, sizeof *p));
    count<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    OK(cudaFree(p));
    return value;
}
