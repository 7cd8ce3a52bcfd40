/* SPDX-License-Identifier: BSD-3-Clause
 * Plans and launches the casts. Owns nothing; memory comes from device/scratch. */
#include "config.h"
#include "gemm/cast.h"
#include "device/scratch.h"

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static void plan_operand(const struct gpu *gpu, struct cast_operand *o)
{
    const int64_t batch = o->stride == 0 ? 1 : o->batch;
    o->copy_ld = round_up(o->rows, APEX_VECTOR);
    o->copy_stride = batch == 1 ? 0 : o->copy_ld * o->cols;
    o->copy_bytes = (size_t)round_up(2 * o->copy_ld * o->cols * batch, SCRATCH_ALIGN);
    o->source = (struct apex_source){.data = o->data, .ld = o->ld,
                                     .stride = batch == 1 ? 0 : o->stride};
    struct apex_target target = {.ld = o->copy_ld, .stride = o->copy_stride};
    o->blocks = kernels_plan_walk(gpu, &o->source, o->rows, o->cols, batch, &target);
}

void cast_plan(struct cast *cast)
{
    plan_operand(&cast->context->gpu, &cast->operand[0]);
    plan_operand(&cast->context->gpu, &cast->operand[1]);
}

static bool launch(struct cast *cast)
{
    struct scratch *scratch = cast->scratch;
    struct apex_record *record = (struct apex_record *)(uintptr_t)scratch->record;
    const struct cast_operand *a = &cast->operand[0], *b = &cast->operand[1];
    const struct apex_amax_params amax = {
        .source = {a->source, b->source},
        .blocks_of_a = a->blocks,
        .slot = scratch->slot,
        .record = record,
    };
    const struct apex_cast_params params = {
        .source = {a->source, b->source},
        .target = {{a->copy, a->copy_ld, a->copy_stride}, {b->copy, b->copy_ld, b->copy_stride}},
        .blocks_of_a = a->blocks,
        .slot = scratch->slot,
        .record = record,
        .alpha_device = cast->device_scalars ? cast->alpha : NULL,
        .beta_device = cast->device_scalars ? cast->beta : NULL,
        .alpha = cast->device_scalars ? 0.0f : *cast->alpha,
        .beta = cast->device_scalars ? 0.0f : *cast->beta,
    };
    cast->scaled_alpha = &record->alpha;
    cast->scaled_beta = &record->beta;
    scratch->dirty = true; /* until the kernel that clears the other slot is on its way */
    if (kernels_launch_amax(cast->context, cast->stream, &amax, a->blocks + b->blocks) !=
            CUDA_SUCCESS ||
        kernels_launch_cast(cast->context, cast->stream, &params, a->blocks + b->blocks) !=
            CUDA_SUCCESS)
        return false;
    scratch->dirty = false;
    scratch->slot ^= 1;
    return true;
}

enum reason cast_begin(struct cast *cast, size_t workspace_bytes)
{
    const size_t bytes = cast->operand[0].copy_bytes + cast->operand[1].copy_bytes;
    cast->scratch = scratch_take(cast->context, cast->stream, bytes + workspace_bytes);
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
