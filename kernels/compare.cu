/* SPDX-License-Identifier: BSD-3-Clause
 * apex_compare_f32: ||D - R|| / ||R|| of a converted call's result D against the original's R,
 * into the totals of its site. Squares are summed in double; where R or D is not finite in the same
 * place, the place is left out, and one-sided it counts as an infinite error. */
#include "reduce.cuh"
#include "site.cuh"

static __device__ void apex_finish_compare(const apex_compare_params &params)
{
    apex_record *record = params.record;
    double difference = __ldcg(&record->difference), reference = __ldcg(&record->reference);
    float error = difference == 0 ? 0.0f
                                  : (float)(reference > 0 ? sqrt(difference / reference) : HUGE_VAL);
    uint32_t bits = __float_as_uint(error);
    atomicMax(&params.site->worst_error_bits, bits);
    params.site->last_error_bits = bits;
    *(volatile uint32_t *)&params.mirror->worst_error_bits =
        atomicMax(&params.site->worst_error_bits, 0u);
    *(volatile uint32_t *)&params.mirror->last_error_bits = bits;
    apex_site_add(&params.site->verified, &params.mirror->verified, 1);
    record->difference = record->reference = 0;
    record->ticket = 0;
}

extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS)
    apex_compare_f32(const __grid_constant__ apex_compare_params params)
{
    const int64_t count = params.rows * params.cols * params.batch;
    double difference = 0, reference = 0;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        int64_t column = i / params.rows, row = i - column * params.rows;
        int64_t entry = column / params.cols;
        column -= entry * params.cols;
        float d = params.result[entry * params.result_stride + column * params.result_ld + row];
        float r =
            params.original[entry * params.original_stride + column * params.original_ld + row];
        bool finite_d = isfinite(d), finite_r = isfinite(r);
        if (finite_d && finite_r) {
            difference += ((double)d - r) * ((double)d - r);
            reference += (double)r * r;
        } else if (finite_d != finite_r) {
            difference += HUGE_VAL;
        }
    }
    difference = apex_block_sum(difference);
    reference = apex_block_sum(reference);
    if (threadIdx.x == 0) {
        atomicAdd(&params.record->difference, difference);
        atomicAdd(&params.record->reference, reference);
        __threadfence();
        if (atomicAdd(&params.record->ticket, 1u) == gridDim.x - 1) {
            __threadfence();
            apex_finish_compare(params);
        }
    }
}
