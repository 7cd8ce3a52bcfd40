/* SPDX-License-Identifier: BSD-3-Clause
 * The policy. The class says which paths are exact enough, the GPU which of them it has, the model
 * of the GPU which is quickest, and whether it is worth while at all. */
#include "config.h"
#include "gemm/policy.h"
#include "base/text.h"
#include "device/context.h"
#include "gemm/cost.h"

#include <strings.h>

/* Below this expected gain the call is forwarded: a model may be wrong by that much, and by less
 * where its figures were measured on this GPU. */
static const double least_gain = 1.15, least_gain_measured = 1.03;

/* The compute capability that has a path's arithmetic first, and how exact the path is: a higher
 * rank has the smaller error. */
static const struct {
    const char *word;
    int first_capability, rank;
} paths[PATHS] = {
    [PATH_FORWARD] = {"forward", 0, 5},
    [PATH_TF32] = {"tf32", 80, 2},
    [PATH_FP16] = {"fp16", 70, 2},
    [PATH_BF16] = {"bf16", 80, 1},
    [PATH_FP16X2] = {"fp16x2", 70, 4},
    [PATH_BF16X3] = {"bf16x3", 80, 3},
    [PATH_BF16X6] = {"bf16x6", 80, 4},
    [PATH_FP8] = {"fp8", 89, 0},
    [PATH_FP8_E5M2_A] = {"fp8_e5m2_a", 89, -1},
    [PATH_FP8_E5M2_B] = {"fp8_e5m2_b", 89, -1},
};

/* own: the path that gives the class its name. more_exact: where the GPU lacks that. TF32 is asked
 * for because it needs no memory, so nothing on copies can stand in. */
static const struct {
    enum path own;
    int more_exact;
} classes[PRECISIONS] = {
    [PRECISION_FP32] = {PATH_FORWARD, PRECISION_FP32},
    [PRECISION_TF32] = {PATH_TF32, PRECISION_FP32},
    [PRECISION_FP16] = {PATH_FP16, PRECISION_FP32},
    [PRECISION_BF16] = {PATH_BF16, PRECISION_FP16},
    [PRECISION_FP16X2] = {PATH_FP16X2, PRECISION_FP32},
    [PRECISION_BF16X3] = {PATH_BF16X3, PRECISION_FP16X2},
    [PRECISION_BF16X6] = {PATH_BF16X6, PRECISION_FP32},
    [PRECISION_AUTO] = {PATH_FP16, PRECISION_FP32},
    [PRECISION_FP8] = {PATH_FP8, PRECISION_BF16},
};

static const char class_words[] = "fp32|tf32|fp16|bf16|fp16x2|bf16x3|bf16x6|auto|fp8";

const char *path_word(enum path path)
{
    return paths[path].word;
}

enum path path_of_word(const char *word)
{
    if (strcasecmp(word, "off") == 0)
        return PATH_FORWARD;
    int path = 0;
    while (path < PATHS && strcasecmp(word, paths[path].word) != 0)
        path++;
    return (enum path)path;
}

const char *precision_word(int precision)
{
    if (precision == PRECISION_FP32)
        return "fp32";
    return precision == PRECISION_AUTO ? "auto" : paths[classes[precision].own].word;
}

int precision_of_word(const char *word)
{
    const int i = text_choice_index(class_words, word);
    return i == PRECISION_AUTO ? -1 : i;
}

struct wish policy_wish(const struct env *env)
{
    return (struct wish){.precision = env->precision,
                         .policy = env->policy,
                         .scale = env->scale,
                         .scale_exponent = env->scale_exponent,
                         .path = PATHS};
}

bool policy_has(const struct gpu *gpu, enum path path)
{
    return gpu->compute_capability >= paths[path].first_capability;
}

int policy_class(const struct gpu *gpu, int precision)
{
    while (!policy_has(gpu, classes[precision].own))
        precision = classes[precision].more_exact;
    return precision;
}

bool policy_fits(const struct gemm *g, enum path path)
{
    /* The pointers are on the device; only the program's own routine can follow them. */
    if (g->pointer_array)
        return path == PATH_FORWARD || path == PATH_TF32;
    return true;
}

/* With fast arithmetic and k a multiple of 4 the entries of an array of pointers must be aligned to
 * 16 bytes (cuBLAS documentation, cublas<t>gemmBatched). They lie on the device: nobody has looked
 * at them, and the program may not have promised it, unless it uses TF32 itself. */
static bool unseen_alignment(const struct gemm *g)
{
    return g->pointer_array && g->k % 4 == 0 && !g->tf32;
}

bool policy_within(int precision, enum path path)
{
    if (precision == PRECISION_TF32)
        return path == PATH_FORWARD || path == PATH_TF32;
    return paths[path].rank >= paths[classes[precision].own].rank;
}

/* One exponent for a whole batch serves only if its entries are alike: nobody has promised it. */
static bool needs_like_entries(enum path path)
{
    return path == PATH_FP16 || path == PATH_FP16X2 || path >= PATH_FP8;
}

/* The paths among which cost decides: within the class, and none that is sure to be slower. */
static bool is_candidate(int precision, const struct gemm *g, enum path path)
{
    if (!policy_fits(g, path) || (g->batch > 1 && needs_like_entries(path)) ||
        (g->tf32 && path == PATH_TF32))
        return false;
    if (path == classes[precision].own)
        return true;
    switch (precision) {
    case PRECISION_FP16:
    case PRECISION_BF16:
        return path == PATH_TF32;
    case PRECISION_FP8:
        return path == PATH_TF32 || path == PATH_BF16;
    case PRECISION_FP16X2: /* for batches */
        return path == PATH_BF16X6;
    default:
        return false;
    }
}

/* So little to compute that launching it is all that takes time, by whatever path. */
static bool launch_bound(const struct cost_model *model, const struct cost_shape *s)
{
    const double flop = 2 * (double)s->m * (double)s->n * (double)s->k * (double)s->batch;
    return flop / model->flops[COST_FP32] < model->launch / 4;
}

static enum path by_cost(const struct wish *wish, int precision, const struct cost_model *model,
                         const struct gpu *gpu, const struct gemm *g)
{
    const struct cost_shape shape = {g->m, g->n, g->k, g->batch};
    if (launch_bound(model, &shape))
        return PATH_FORWARD;
    const double plain =
        cost_seconds(model, &shape, g->tf32 ? PATH_TF32 : PATH_FORWARD, wish->scale);
    const double gain = model->measured ? least_gain_measured : least_gain;
    enum path best = PATH_FORWARD;
    double best_seconds = plain / gain;
    for (enum path path = PATH_FORWARD + 1; path < PATHS; path++) {
        if (!policy_has(gpu, path) || !is_candidate(precision, g, path))
            continue;
        const double seconds = cost_seconds(model, &shape, path, wish->scale);
        if (seconds <= best_seconds) {
            best = path;
            best_seconds = seconds;
        }
    }
    return best;
}

/* Wherever it is possible: the class's own path, or what stands in for it. */
static enum path by_class(int precision, const struct gpu *gpu, const struct gemm *g)
{
    const enum path own = classes[precision].own;
    if (policy_fits(g, own))
        return own;
    return policy_within(precision, PATH_TF32) && policy_has(gpu, PATH_TF32) ? PATH_TF32
                                                                             : PATH_FORWARD;
}

enum path policy_choose(const struct wish *wish, const struct cost_model *model,
                        const struct gpu *gpu, const struct gemm *g, enum reason *reason_p)
{
    if (wish->path != PATHS) {
        *reason_p = wish->path == PATH_FORWARD   ? REASON_RULE
                    : policy_fits(g, wish->path) ? REASON_GPU
                                                 : REASON_ENGINE;
        return policy_fits(g, wish->path) && policy_has(gpu, wish->path) ? wish->path
                                                                         : PATH_FORWARD;
    }
    if (unseen_alignment(g)) {
        *reason_p = REASON_POINTERS;
        return PATH_FORWARD;
    }
    const int precision = policy_class(gpu, wish->precision);
    *reason_p = precision == wish->precision ? REASON_OFF : REASON_GPU;
    if (precision == PRECISION_FP32)
        return PATH_FORWARD;
    /* More exact than what the program itself asks for would only be slower. */
    *reason_p = REASON_ALREADY;
    if (g->tf32 && paths[classes[precision].own].rank > paths[PATH_TF32].rank)
        return PATH_FORWARD;
    if (!g->tf32)
        *reason_p = wish->policy == POLICY_COST ? REASON_SMALL : REASON_ENGINE;
    return wish->policy == POLICY_COST ? by_cost(wish, precision, model, gpu, g)
                                       : by_class(precision, gpu, g);
}

int policy_ladder(const struct wish *wish, const struct cost_model *model, const struct gpu *gpu,
                  const struct gemm *g, enum path ladder[PATHS])
{
    const struct cost_shape shape = {g->m, g->n, g->k, g->batch};
    double seconds[PATHS];
    int n = 0;
    for (enum path path = PATH_FORWARD; path < PATHS; path++) {
        /* FP8 is for those who name it; the program's own TF32 is its plain call. */
        if (path >= PATH_FP8 || !policy_has(gpu, path) || !policy_fits(g, path) ||
            (g->tf32 && path == PATH_TF32) || (path != PATH_FORWARD && unseen_alignment(g)) ||
            (path != PATH_FORWARD && wish->policy == POLICY_COST && launch_bound(model, &shape)))
            continue;
        if (wish->policy == POLICY_COST)
            seconds[path] = cost_seconds(
                model, &shape, path == PATH_FORWARD && g->tf32 ? PATH_TF32 : path, wish->scale);
        else /* as if what is less exact were quicker, and a class's own path quickest in it */
            seconds[path] = paths[path].rank + (path == PATH_TF32 || path == PATH_BF16X6 ? 0.5 : 0);
        int i = n++;
        while (i > 0 && seconds[ladder[i - 1]] > seconds[path]) {
            ladder[i] = ladder[i - 1];
            i--;
        }
        ladder[i] = path;
    }
    /* A step that is slower than forwarding, or slower and no more exact, is never taken. */
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (kept > 0 && ladder[kept - 1] == PATH_FORWARD)
            break;
        if (kept == 0 || paths[ladder[i]].rank > paths[ladder[kept - 1]].rank)
            ladder[kept++] = ladder[i];
    }
    return kept;
}
