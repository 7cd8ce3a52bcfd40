// SPDX-License-Identifier: BSD-3-Clause
// Device code in two objects (-rdc=true): a function, a variable and a kernel of linked_part.
#include "check.h"

extern __device__ int base;
extern __device__ int twice(int x);
__global__ void bump();

__global__ void use(int *out)
{
    *out = twice(base) + 1;
}

int main()
{
    int value = 0, *p, from = 20;
    OK(cudaMalloc(&p, sizeof *p));
    use<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 2 * 10 + 1);
    OK(cudaMemcpyToSymbol(base, &from, sizeof from));
    bump<<<1, 1>>>();
    use<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 2 * 21 + 1);
    OK(cudaFree(p));
    return 0;
}
