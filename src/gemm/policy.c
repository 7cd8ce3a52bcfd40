/* SPDX-License-Identifier: BSD-3-Clause
 * The policy. APEXSHIM_PRECISION gives the class, APEXSHIM_POLICY says whether cost decides. */
#include "config.h"
#include "gemm/policy.h"
#include "device/context.h"
#include "gemm/cost.h"

/* Below this expected gain the call is forwarded: the model may be wrong by that much. */
static const double least_gain = 1.15;

enum { FIRST_TF32 = 80, FIRST_FP16 = 70 };

static enum path choose_by_cost(const struct env *env, const struct gpu *gpu, const struct gemm *g,
                                enum reason *reason_p)
{
    const struct cost_model model = cost_model_of(gpu);
    const struct cost_shape shape = {g->m, g->n, g->k, g->batch};
    const double plain = cost_seconds(&model, &shape, COST_FP32);
    double best = cost_seconds(&model, &shape, COST_TF32);
    enum path path = PATH_TF32;
    /* One exponent for a whole batch serves only if its entries are alike: batches take TF32. */
    if (env->precision == PRECISION_FP16 && g->batch == 1 && !g->pointer_array) {
        const double cast = cost_seconds(&model, &shape, COST_FP16);
        if (cast < best) {
            best = cast;
            path = PATH_FP16;
        }
    }
    *reason_p = REASON_SMALL;
    return best * least_gain <= plain ? path : PATH_FORWARD;
}

enum path policy_choose(const struct env *env, const struct gpu *gpu, const struct gemm *g,
                        enum reason *reason_p)
{
    const bool has_tf32 = gpu->compute_capability >= FIRST_TF32;
    const bool has_fp16 = gpu->compute_capability >= FIRST_FP16;
    *reason_p = REASON_GPU;
    if (env->precision == PRECISION_TF32 && !has_tf32)
        return PATH_FORWARD;
    if (env->precision == PRECISION_FP16 && !has_fp16)
        return PATH_FORWARD;
    if (env->policy == POLICY_COST)
        return choose_by_cost(env, gpu, g, reason_p);
    if (env->precision == PRECISION_FP16 && !g->pointer_array)
        return PATH_FP16;
    return has_tf32 ? PATH_TF32 : PATH_FORWARD;
}
