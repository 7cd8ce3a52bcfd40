/* SPDX-License-Identifier: BSD-3-Clause
 * apex_check_*: the exponents as a pure function of the call's data (scale.cuh), from the maxima
 * that the cast or apex_amax_f32 has left. A copy made with another exponent is made again; one
 * that is right costs nothing. The last block to end leaves alpha * 2^-(ea + eb) and beta for the
 * GEMM, the prediction for the next call, the site's counts, and a clean record. */
#include "convert.cuh"
#include "site.cuh"

static __device__ void apex_finish(const apex_cast_params &params, apex_exponents e, float alpha,
                                   bool again_a, bool again_b)
{
    apex_record *record = params.record;
    record->exponent[0] = e.a;
    record->exponent[1] = e.b;
    record->alpha = apex_scaled_alpha(e, alpha);
    record->beta = params.beta_device != nullptr ? *params.beta_device : params.beta;
    record->one = 1.0f;
    *params.prediction[0] = e.a + APEX_PREDICTED;
    *params.prediction[1] = e.b + APEX_PREDICTED;
    if (params.site != nullptr) {
        apex_site_add(&params.site->calls, &params.mirror->calls, 1);
        if (params.mode == APEX_DYNAMIC && (again_a || again_b))
            apex_site_add(&params.site->misses, &params.mirror->misses, again_a + again_b);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint64_t lost =
                __ldcg((unsigned long long *)&record->lost[i == 0 ? again_a : again_b][i]);
            if (lost != 0)
                apex_site_add(&params.site->lost[i], &params.mirror->lost[i], lost);
            apex_site_add(&params.site->elements[i], &params.mirror->elements[i],
                          params.elements[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        record->amax_bits[i] = 0;
        record->lost[0][i] = record->lost[1][i] = 0;
    }
    record->ticket = 0;
}

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
    /* Every thread has read the record; what the block has written is seen before its ticket. */
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&record->ticket, 1u) == gridDim.x - 1) {
            __threadfence();
            apex_finish(params, e, alpha, again_a, again_b);
        }
    }
}

#define APEX_CHECK(_format)                                         \
    extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS)                               \
        apex_check_##_format(const __grid_constant__ apex_cast_params params)                      \
    {                                                               \
        apex_check<apex_##_format>(params);                         \
    }

APEX_CHECK(fp16)
APEX_CHECK(fp16x2)
