/* SPDX-License-Identifier: BSD-3-Clause
 * apex_check_*: the exponents as a pure function of the call's data (scale.cuh), from the maxima
 * that the cast or apex_amax_f32 has left. A copy made with another exponent is made again; one
 * that is right costs nothing. The last block to end leaves alpha * 2^-(ea + eb) and beta for the
 * GEMM, the prediction for the next call, the site's counts, and a clean record. */
#include "convert.cuh"
#include "finish.cuh"

template <class Format>
static __device__ __forceinline__ void apex_check(const apex_cast_params &params)
{
    apex_record *record = params.record;
    float alpha = params.alpha_device != nullptr ? *params.alpha_device : params.alpha;
    apex_exponents e =
        apex_choose_exponents(record->amax_bits[0], record->amax_bits[1], alpha);
    const bool exact = params.mode == APEX_EXACT;
    const bool again_a = exact || record->used[0] != e.a;
    const bool again_b = exact || record->used[1] != e.b;
    for (uint32_t block = blockIdx.x; block < params.blocks; block += gridDim.x) {
        uint32_t operand = block >= params.blocks_of_a;
        if (!(operand ? again_b : again_a))
            continue;
        apex_met met = apex_convert<Format>(params.source[operand], params.target[operand],
                                            block - (operand ? params.blocks_of_a : 0), operand,
                                            operand ? e.b : e.a);
        unsigned long long lost = apex_block_sum((unsigned long long)met.lost);
        if (threadIdx.x == 0 && lost != 0)
            atomicAdd((unsigned long long *)&record->lost[1][operand], lost);
    }
    apex_end_block(params, e, alpha, again_a, again_b);
}

/* Blocks that fit a multiprocessor at once: where nothing was predicted this is the cast. */
#define APEX_CHECK(_format, _blocks)                                                               \
    extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS, _blocks)                      \
        apex_check_##_format(const __grid_constant__ apex_cast_params params)                      \
    {                                                                                              \
        apex_check<apex_##_format>(params);                                                        \
    }

APEX_CHECK(fp16, 3)
APEX_CHECK(fp16x2, 2)
