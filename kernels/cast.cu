/* SPDX-License-Identifier: BSD-3-Clause
 * apex_cast_*: the copies of A and B in one launch. A scaled format uses predicted exponents and
 * notes the maxima, for the check that follows (check.cu), or fixed ones. Without a check it also
 * leaves the scalars of the GEMM. */
#include "convert.cuh"

static __device__ __forceinline__ int apex_predicted(const int32_t *slot)
{
    int32_t stored = *slot;
    return stored != 0 ? stored - APEX_PREDICTED : APEX_FIRST_GUESS;
}

static __device__ __forceinline__ float apex_scalar(const float *device, float value)
{
    return device != nullptr ? *device : value;
}

template <class Format> static __device__ __forceinline__ void apex_cast(const apex_cast_params &params)
{
    apex_record *record = params.record;
    const bool fixed = !Format::scaled || params.mode == APEX_FIXED;
    apex_exponents e = {0, 0};
    if (Format::scaled) {
        e.a = fixed ? params.fixed[0] : apex_predicted(params.prediction[0]);
        e.b = fixed ? params.fixed[1] : apex_predicted(params.prediction[1]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        record->used[0] = e.a;
        record->used[1] = e.b;
        if (fixed) {
            float alpha = apex_scalar(params.alpha_device, params.alpha);
            record->exponent[0] = e.a;
            record->exponent[1] = e.b;
            record->alpha = apex_scaled_alpha(e, alpha);
            record->beta = apex_scalar(params.beta_device, params.beta);
            record->one = 1.0f;
        }
    }
    uint32_t operand = blockIdx.x >= params.blocks_of_a;
    apex_met met = apex_convert<Format>(params.source[operand], params.target[operand],
                                        blockIdx.x - (operand ? params.blocks_of_a : 0), operand,
                                        operand ? e.b : e.a);
    if (fixed)
        return;
    uint32_t max_bits = apex_block_max(met.max_bits);
    unsigned long long lost = apex_block_sum((unsigned long long)met.lost);
    if (threadIdx.x == 0) {
        atomicMax(&record->amax_bits[operand], max_bits);
        if (lost != 0)
            atomicAdd((unsigned long long *)&record->lost[0][operand], lost);
    }
}

/* Blocks that shall fit a multiprocessor at once: 4 x 256 threads x 32 bytes cover the latency of
 * HBM3e; more pieces need more registers. */
#define APEX_CAST(_format, _blocks)                                                                \
    extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS, _blocks)                      \
        apex_cast_##_format(const __grid_constant__ apex_cast_params params)                       \
    {                                                                                              \
        apex_cast<apex_##_format>(params);                                                         \
    }

APEX_CAST(fp16, 4)
APEX_CAST(fp16x2, 3)
APEX_CAST(bf16, 4)
APEX_CAST(bf16x3, 4)
APEX_CAST(bf16x6, 3)
