/* SPDX-License-Identifier: BSD-3-Clause
 * apex_cast_f16: writes fp16(A * 2^ea) and fp16(B * 2^eb) in one launch, and alpha' = alpha *
 * 2^-(ea + eb), beta' = beta for the GEMM that follows. The exponents are a pure function of the
 * maxima in the call record and of alpha (scale.cuh). Rounding is to nearest even; a finite
 * element cannot overflow, since every |x| <= amax; Inf and NaN stay what they are. */
#include <cuda_fp16.h>

#include "scale.cuh"
#include "walk.cuh"

static __device__ __forceinline__ void store(__half *p, int64_t count,
                                             const float (&x)[APEX_VECTOR])
{
    if (count == APEX_VECTOR) {
        union {
            __half2 pair[APEX_VECTOR / 2];
            uint4 all;
        } out;
#pragma unroll
        for (int i = 0; i < APEX_VECTOR / 2; i++)
            out.pair[i] = __floats2half2_rn(x[2 * i], x[2 * i + 1]);
        *reinterpret_cast<uint4 *>(p) = out.all;
        return;
    }
#pragma unroll
    for (int i = 0; i < APEX_VECTOR; i++)
        if (i < count)
            p[i] = __float2half_rn(x[i]);
}

extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS)
    apex_cast_f16(const __grid_constant__ apex_cast_params params)
{
    apex_record *record = params.record;
    float alpha = params.alpha_device != nullptr ? *params.alpha_device : params.alpha;
    apex_exponents e = apex_choose_exponents(record->amax_bits[params.slot][0],
                                             record->amax_bits[params.slot][1], alpha);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        record->alpha = apex_scaled_alpha(e, alpha);
        record->beta = params.beta_device != nullptr ? *params.beta_device : params.beta;
        record->exponent[0] = e.a;
        record->exponent[1] = e.b;
        record->amax_bits[params.slot ^ 1][0] = 0;
        record->amax_bits[params.slot ^ 1][1] = 0;
    }
    uint32_t operand = blockIdx.x >= params.blocks_of_a;
    const apex_source &source = params.source[operand];
    const apex_target &target = params.target[operand];
    apex_factors factors = apex_ldexp_factors(operand ? e.b : e.a);
    apex_position p = apex_start(source.walk, blockIdx.x - (operand ? params.blocks_of_a : 0));
    for (; p.column < p.columns; p.column += p.column_step) {
        const float *from =
            source.data + apex_column_offset(source.walk, p.column, source.ld, source.stride);
        __half *to = static_cast<__half *>(target.data) +
                     apex_column_offset(source.walk, p.column, target.ld, target.stride);
        for (int64_t row = p.row; row < p.row_end; row += p.row_step) {
            int64_t count = min(p.row_end - row, (int64_t)APEX_VECTOR);
            float x[APEX_VECTOR];
            apex_load(from + row, count, source.walk.vector != 0, x);
#pragma unroll
            for (int i = 0; i < APEX_VECTOR; i++)
                x[i] = apex_ldexp(factors, x[i]);
            store(to + row, count, x);
        }
    }
}
