/* SPDX-License-Identifier: BSD-3-Clause
 * apex_amax_f32: the largest magnitude over the finite elements of A and of B, in one launch.
 * |x| as an unsigned integer orders like |x|; a maximum of integers does not depend on the order
 * of the blocks. Non-finite elements are left out: one Inf must not decide the scale of the rest. */
#include "walk.cuh"

static __device__ __forceinline__ uint32_t finite_magnitude(float x)
{
    uint32_t bits = __float_as_uint(x) & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0u;
}

extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS)
    apex_amax_f32(const __grid_constant__ apex_amax_params params)
{
    __shared__ uint32_t warp_max[APEX_BLOCK_THREADS / 32];
    uint32_t operand = blockIdx.x >= params.blocks_of_a;
    const apex_source &source = params.source[operand];
    apex_position p = apex_start(source.walk, blockIdx.x - (operand ? params.blocks_of_a : 0));
    uint32_t max_bits = 0;
    for (; p.column < p.columns; p.column += p.column_step) {
        const float *column =
            source.data + apex_column_offset(source.walk, p.column, source.ld, source.stride);
        for (int64_t row = p.row; row < p.row_end; row += p.row_step) {
            float x[APEX_VECTOR];
            apex_load(column + row, min(p.row_end - row, (int64_t)APEX_VECTOR),
                      source.walk.vector != 0, x);
#pragma unroll
            for (int i = 0; i < APEX_VECTOR; i++)
                max_bits = max(max_bits, finite_magnitude(x[i]));
        }
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        max_bits = max(max_bits, __shfl_xor_sync(0xffffffffu, max_bits, offset));
    if ((threadIdx.x & 31) == 0)
        warp_max[threadIdx.x >> 5] = max_bits;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < APEX_BLOCK_THREADS / 32; i++)
            max_bits = max(max_bits, warp_max[i]);
        atomicMax(&params.record->amax_bits[params.slot][operand], max_bits);
    }
}
