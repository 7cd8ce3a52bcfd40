/* SPDX-License-Identifier: BSD-3-Clause
 * apex_amax_f32: the largest magnitude over the finite elements of A and of B, in one launch.
 * |x| as an unsigned integer orders like |x|; a maximum of integers does not depend on the order
 * of the blocks. Non-finite elements are left out: one Inf must not decide the scale of the rest. */
#include "reduce.cuh"
#include "walk.cuh"

extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS)
    apex_amax_f32(const __grid_constant__ apex_amax_params params)
{
    uint32_t operand = blockIdx.x >= params.blocks_of_a;
    const apex_source &source = params.source[operand];
    apex_position p = apex_start(source.walk, blockIdx.x - (operand ? params.blocks_of_a : 0));
    uint32_t max_bits = 0;
    for (; p.column < p.columns; p.column += p.column_step) {
        apex_column c = apex_locate(source.walk, p.column);
        if (c.column >= source.cols)
            continue;
        const float *column = source.data + c.entry * source.stride + c.column * source.ld;
        for (int64_t row = p.row; row < p.row_end; row += p.row_step) {
            float x[APEX_VECTOR];
            apex_load(column + row, min(p.row_end - row, (int64_t)APEX_VECTOR),
                      source.walk.vector != 0, x);
#pragma unroll
            for (int i = 0; i < APEX_VECTOR; i++)
                max_bits = max(max_bits, apex_finite_magnitude(x[i]));
        }
    }
    max_bits = apex_block_max(max_bits);
    if (threadIdx.x == 0)
        atomicMax(&params.record->amax_bits[operand], max_bits);
}
