// SPDX-License-Identifier: BSD-3-Clause
// The other object of linked.
__device__ int base = 10;

__device__ int twice(int x)
{
    return 2 * x;
}

__global__ void bump()
{
    base++;
}
