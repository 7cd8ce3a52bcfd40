/* SPDX-License-Identifier: BSD-3-Clause
 * Reductions over a block of APEX_BLOCK_THREADS; the result is thread 0's. */
#ifndef APEXSHIM_REDUCE_CUH
#define APEXSHIM_REDUCE_CUH

#include "kernels.h"

static __device__ __forceinline__ uint32_t apex_finite_magnitude(float x)
{
    uint32_t bits = __float_as_uint(x) & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0u;
}

static __device__ __forceinline__ uint32_t apex_block_max(uint32_t x)
{
    __shared__ uint32_t warp_max[APEX_BLOCK_THREADS / 32];
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        x = max(x, __shfl_xor_sync(0xffffffffu, x, offset));
    if ((threadIdx.x & 31) == 0)
        warp_max[threadIdx.x >> 5] = x;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < APEX_BLOCK_THREADS / 32; i++)
            x = max(x, warp_max[i]);
    return x;
}

template <class T> static __device__ __forceinline__ T apex_block_sum(T x)
{
    __shared__ T warp_sum[APEX_BLOCK_THREADS / 32];
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        x += __shfl_xor_sync(0xffffffffu, x, offset);
    __syncthreads(); /* a second sum in the same kernel */
    if ((threadIdx.x & 31) == 0)
        warp_sum[threadIdx.x >> 5] = x;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < APEX_BLOCK_THREADS / 32; i++)
            x += warp_sum[i];
    return x;
}

#endif
