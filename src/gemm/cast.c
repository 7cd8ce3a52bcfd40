/* SPDX-License-Identifier: BSD-3-Clause
 * Plans and launches the casts. Owns nothing; memory comes from device/scratch. */
#include "config.h"
#include "gemm/cast.h"
#include "device/scratch.h"
#include "gemm/site.h"

/* What a format stores for each element, and how many elements of K (a power of two) one GEMM may
 * sum over before the result is added up in FP32: tensor cores truncate their sums, an error that
 * grows with K (Fasi et al. 2021), while FP32 additions between parts round to nearest. */
static const struct {
    enum path path;
    int bytes, pieces;
    bool scaled, turns;
    uint32_t part_log2;
} formats[APEX_FORMATS] = {
    [APEX_FP16] = {PATH_FP16, 2, 1, true, false, 0},
    [APEX_FP16X2] = {PATH_FP16X2, 2, 3, true, false, 9},
    [APEX_BF16] = {PATH_BF16, 2, 1, false, false, 0},
    [APEX_BF16X3] = {PATH_BF16X3, 2, 3, false, false, 11},
    [APEX_BF16X6] = {PATH_BF16X6, 2, 6, false, false, 9},
    [APEX_FP8] = {PATH_FP8, 1, 1, true, true, 0},
    [APEX_FP8_E5M2_A] = {PATH_FP8_E5M2_A, 1, 1, true, true, 0},
    [APEX_FP8_E5M2_B] = {PATH_FP8_E5M2_B, 1, 1, true, true, 0},
};

/* Of FP8: dimensions and leading dimensions are multiples of FP8_ALIGN; its kernel's tiles. */
enum { FP8_ALIGN = 16, FP8_TILE = 64, FP8_BLOCKS_PER_MULTIPROCESSOR = 4 };

bool cast_turns(enum apex_format format)
{
    return formats[format].turns;
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* The error of a part does not depend on K, that of FP32 grows with its square root. Three times the
 * latter is the limit from K = 4096 on: sums of one sign need shorter parts there (doc/accuracy.md). */
static uint32_t part_log2_of(const struct cast *cast)
{
    const bool shorter = cast->format == APEX_FP16X2 && cast->k >= 4096 && cast->k < 8192;
    return formats[cast->format].part_log2 - shorter;
}

bool cast_choose(struct cast *cast, enum path path, const struct site *site)
{
    int format = 0;
    while (format < APEX_FORMATS && formats[format].path != path)
        format++;
    if (format == APEX_FORMATS)
        return false;
    cast->format = (enum apex_format)format;
    cast->mode = APEX_FIXED;
    cast->fixed_exponent = 0;
    if (formats[cast->format].scaled) {
        cast->mode = site->scale == SCALE_DYNAMIC ? APEX_DYNAMIC
                     : site->scale == SCALE_EXACT ? APEX_EXACT
                                                  : APEX_FIXED;
        if (formats[format].turns && cast->mode == APEX_DYNAMIC)
            cast->mode = APEX_EXACT; /* the same bits; FP8 has no check of its own */
        cast->fixed_exponent = site->scale_exponent;
    }
    return true;
}

static void plan_operand(const struct gpu *gpu, enum apex_format format, struct cast_operand *o)
{
    const int pieces = formats[format].pieces;
    const int64_t batch = o->stride == 0 ? 1 : o->batch;
    const int64_t along = pieces > 1 && o->k_along_rows ? pieces : 1;
    const int64_t across = pieces > 1 && !o->k_along_rows ? pieces : 1;
    /* Pieces of K along the columns: K is filled up with columns of zeros. */
    const int64_t cols = across > 1 ? round_up(o->cols, APEX_VECTOR) : o->cols;
    o->copy_ld = round_up(o->rows, APEX_VECTOR) * along;
    o->copy_stride = batch == 1 ? 0 : o->copy_ld * cols * across;
    o->copy_bytes =
        (size_t)round_up(formats[format].bytes * o->copy_ld * cols * across * batch, SCRATCH_ALIGN);
    o->source = (struct apex_source){.data = o->data, .ld = o->ld, .cols = o->cols,
                                     .stride = batch == 1 ? 0 : o->stride};
    const bool flat = o->rows % APEX_VECTOR == 0 && pieces == 1;
    o->blocks = kernels_plan_walk(gpu, &o->source, o->rows, cols, batch, flat);
}

/* Both copies have K along their rows. */
static void plan_turned(const struct gpu *gpu, struct cast_operand *o)
{
    const int64_t batch = o->stride == 0 ? 1 : o->batch;
    const int64_t k = o->k_along_rows ? o->rows : o->cols;
    const int64_t runs = o->k_along_rows ? o->cols : o->rows;
    o->copy_ld = round_up(k, FP8_ALIGN);
    o->copy_stride = batch == 1 ? 0 : o->copy_ld * runs;
    o->copy_bytes = (size_t)round_up(o->copy_ld * runs * batch, SCRATCH_ALIGN);
    o->source = (struct apex_source){.data = o->data, .ld = o->ld, .cols = o->cols,
                                     .stride = batch == 1 ? 0 : o->stride};
    o->blocks = kernels_plan_walk(gpu, &o->source, o->rows, o->cols, batch, false);
    o->tiles = (uint32_t)(round_up(o->rows, FP8_TILE) / FP8_TILE *
                          (round_up(o->cols, FP8_TILE) / FP8_TILE) * batch);
}

void cast_plan(struct cast *cast)
{
    const struct gpu *gpu = &cast->context->gpu;
    const int pieces = formats[cast->format].pieces;
    if (formats[cast->format].turns) {
        plan_turned(gpu, &cast->operand[0]);
        plan_turned(gpu, &cast->operand[1]);
        cast->parts = 1;
        cast->part_k = cast->total_k = round_up(cast->k, FP8_ALIGN);
        return;
    }
    plan_operand(gpu, cast->format, &cast->operand[0]);
    plan_operand(gpu, cast->format, &cast->operand[1]);
    const int64_t k = pieces > 1 ? round_up(cast->k, APEX_VECTOR) : cast->k;
    const int64_t part = pieces > 1 ? (int64_t)1 << part_log2_of(cast) : k;
    cast->parts = (int)((k + part - 1) / part);
    cast->part_k = part * pieces;
    cast->total_k = k * pieces;
}

int64_t cast_part_k(const struct cast *cast, int i)
{
    return i + 1 < cast->parts ? cast->part_k : cast->total_k - cast->part_k * i;
}

const void *cast_part(const struct cast *cast, int operand, int i)
{
    const struct cast_operand *o = &cast->operand[operand];
    const int64_t elements = cast->part_k * i * (o->k_along_rows ? 1 : o->copy_ld);
    return (const char *)o->copy + formats[cast->format].bytes * elements;
}

/* Any value serves, as long as calls that repeat find theirs: a wrong prediction costs time only. */
static int32_t *prediction_of(struct scratch_state *state, const struct cast_operand *o, int index)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = ((uint64_t)(uintptr_t)o->data >> 4) * odd + (uint64_t)index;
    h = (h ^ (h >> 29)) * odd + (uint64_t)o->rows;
    h = (h ^ (h >> 29)) * odd + (uint64_t)o->cols;
    h = (h ^ (h >> 29)) * odd;
    return &state->predictions[h >> 54]; /* 10 bits: APEX_PREDICTIONS */
}

static struct apex_target target_of(const struct cast *cast, const struct cast_operand *o)
{
    return (struct apex_target){.data = o->copy, .ld = o->copy_ld, .stride = o->copy_stride,
                                .k = round_up(cast->k, formats[cast->format].turns ? FP8_ALIGN
                                                                                   : APEX_VECTOR),
                                .part_log2 = part_log2_of(cast),
                                .k_along_rows = o->k_along_rows};
}

static uint64_t elements_of(const struct cast_operand *o)
{
    return (uint64_t)o->rows * (uint64_t)o->cols * (uint64_t)(o->stride == 0 ? 1 : o->batch);
}

static struct apex_cast_params params_of(const struct cast *cast, const struct kernels *kernels)
{
    const struct cast_operand *a = &cast->operand[0], *b = &cast->operand[1];
    struct scratch_state *state = (struct scratch_state *)(uintptr_t)cast->scratch->state;
    const bool device = cast->device_scalars, counted = kernels->sites != NULL;
    return (struct apex_cast_params){
        .source = {a->source, b->source},
        .target = {target_of(cast, a), target_of(cast, b)},
        .blocks_of_a = a->blocks,
        .blocks = a->blocks + b->blocks,
        .mode = cast->mode,
        .fixed = {cast->fixed_exponent, cast->fixed_exponent},
        .prediction = {prediction_of(state, a, 0), prediction_of(state, b, 1)},
        .record = &state->record,
        .site = counted ? kernels->sites + cast->site : NULL,
        .mirror = counted ? kernels->mirror + cast->site : NULL,
        .elements = {elements_of(a), elements_of(b)},
        .alpha_device = device ? cast->alpha : NULL,
        .beta_device = device ? cast->beta : NULL,
        .alpha = device ? 0.0f : *cast->alpha,
        .beta = device ? 0.0f : *cast->beta,
    };
}

static CUresult launch_amax(const struct cast *cast, const struct apex_cast_params *params)
{
    const struct apex_amax_params amax = {
        .source = {params->source[0], params->source[1]},
        .blocks_of_a = cast->operand[0].blocks,
        .record = params->record,
    };
    return kernels_launch(cast->context, kernels_of(cast->context)->amax, cast->stream, &amax,
                          cast->operand[0].blocks + cast->operand[1].blocks);
}

/* The kernel that ends a call, after one that has left the maxima. */
static CUresult launch_last(const struct cast *cast, struct apex_cast_params *params)
{
    const struct kernels *kernels = kernels_of(cast->context);
    const struct gpu *gpu = &cast->context->gpu;
    uint32_t most = kernels_wave(gpu);
    if (formats[cast->format].turns) {
        params->blocks_of_a = cast->operand[0].tiles;
        params->blocks = cast->operand[0].tiles + cast->operand[1].tiles;
        most = (uint32_t)gpu->multiprocessors * FP8_BLOCKS_PER_MULTIPROCESSOR;
    } else if (cast->mode == APEX_EXACT) {
        most = params->blocks;
    }
    return kernels_launch(cast->context,
                          formats[cast->format].turns ? kernels->cast[cast->format]
                                                      : kernels->check[cast->format],
                          cast->stream, params, params->blocks < most ? params->blocks : most);
}

static bool launch(struct cast *cast)
{
    struct apex_cast_params params = params_of(cast, kernels_of(cast->context));
    const CUfunction first = kernels_of(cast->context)->cast[cast->format];
    cast->scaled_alpha = &params.record->alpha;
    cast->scaled_beta = &params.record->beta;
    cast->one = &params.record->one;
    if (cast->mode == APEX_FIXED && !formats[cast->format].turns)
        return kernels_launch(cast->context, first, cast->stream, &params, params.blocks) ==
               CUDA_SUCCESS;
    cast->scratch->dirty = true; /* until the kernel that cleans the record is on its way */
    CUresult r = CUDA_SUCCESS;
    if (cast->mode == APEX_EXACT)
        r = launch_amax(cast, &params);
    else if (cast->mode == APEX_DYNAMIC)
        r = kernels_launch(cast->context, first, cast->stream, &params, params.blocks);
    if (r == CUDA_SUCCESS)
        r = launch_last(cast, &params);
    if (r != CUDA_SUCCESS)
        return false;
    cast->scratch->dirty = false;
    return true;
}

enum reason cast_begin(struct cast *cast, size_t workspace_bytes)
{
    const size_t bytes = cast->operand[0].copy_bytes + cast->operand[1].copy_bytes;
    cast->scratch =
        scratch_take(cast->context, cast->stream, cast->capture, bytes + workspace_bytes);
    if (cast->scratch == NULL)
        return REASON_SCRATCH;
    char *data = (char *)(uintptr_t)cast->scratch->data;
    cast->operand[0].copy = data;
    cast->operand[1].copy = data + cast->operand[0].copy_bytes;
    cast->workspace = data + bytes;
    if (launch(cast))
        return REASONS;
    cast_end(cast);
    return REASON_FAILURE;
}

void cast_end(struct cast *cast)
{
    scratch_give_back(cast->context, cast->scratch);
}
