/* SPDX-License-Identifier: BSD-3-Clause
 * The end of the last kernel of a call: the last of its blocks leaves the scalars of the GEMM, the
 * prediction for the next call, the site's totals, and a clean record. */
#ifndef APEXSHIM_FINISH_CUH
#define APEXSHIM_FINISH_CUH

#include "scale.cuh"
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

/* By every thread of every block, when it has read the record and written its share; again: the
 * operand was cast by this kernel. */
static __device__ __forceinline__ void apex_end_block(const apex_cast_params &params,
                                                      apex_exponents e, float alpha, bool again_a,
                                                      bool again_b)
{
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    __threadfence(); /* what the block has written is seen before its ticket */
    if (atomicAdd(&params.record->ticket, 1u) == gridDim.x - 1) {
        __threadfence();
        apex_finish(params, e, alpha, again_a, again_b);
    }
}

#endif
