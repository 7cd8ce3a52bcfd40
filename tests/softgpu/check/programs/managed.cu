// SPDX-License-Identifier: BSD-3-Clause
// Managed memory: variables that the host touches before any call, and allocations.
#include "check.h"

__managed__ int total = 3;
__managed__ float weights[16];

__global__ void work(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = weights[i % 16] * 2;
    if (i == 0)
        total += n;
}

int main()
{
    const int n = 1000;
    CHECK(total == 3);
    total = 4;
    for (int i = 0; i < 16; i++)
        weights[i] = (float)i;
    float *p;
    OK(cudaMallocManaged(&p, n * sizeof *p));
    p[0] = -1;
    work<<<(n + 255) / 256, 256>>>(p, n);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    CHECK(total == 4 + n);
    for (int i = 0; i < n; i++)
        CHECK(p[i] == 2 * (i % 16));

    // also by the calls for variables
    int *address, value;
    OK(cudaGetSymbolAddress((void **)&address, total));
    CHECK(address == &total);
    OK(cudaMemcpyFromSymbol(&value, total, sizeof value));
    CHECK(value == 4 + n);

    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == p && a.hostPointer == p);
    cudaMemLocation here = {};
    here.type = cudaMemLocationTypeDevice;
    OK(cudaMemAdvise(p, n * sizeof *p, cudaMemAdviseSetPreferredLocation, here));
    OK(cudaMemPrefetchAsync(p, n * sizeof *p, here, 0, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    return 0;
}
