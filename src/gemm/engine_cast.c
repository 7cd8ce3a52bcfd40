/* SPDX-License-Identifier: BSD-3-Clause
 * GEMMs on 16-bit copies. On the program's stream: the casts of gemm/cast.c, then cublasLtMatmul
 * once for each part of K; it reads its scalars from the device and writes the program's C. Owns
 * nothing. */
#include "config.h"
#include "gemm/engine.h"
#include "device/context.h"
#include "gemm/cast.h"
#include "gemm/site.h"

/* CUDA_R_8F_E4M3 and E5M2, which CUDA 11.8's headers have only just. */
#define TYPE_E4M3 ((cudaDataType)28)
#define TYPE_E5M2 ((cudaDataType)29)

static const struct {
    cudaDataType a, b;
} types[APEX_FORMATS] = {
    [APEX_FP16] = {CUDA_R_16F, CUDA_R_16F},       [APEX_FP16X2] = {CUDA_R_16F, CUDA_R_16F},
    [APEX_BF16] = {CUDA_R_16BF, CUDA_R_16BF},     [APEX_BF16X3] = {CUDA_R_16BF, CUDA_R_16BF},
    [APEX_BF16X6] = {CUDA_R_16BF, CUDA_R_16BF},   [APEX_FP8] = {TYPE_E4M3, TYPE_E4M3},
    [APEX_FP8_E5M2_A] = {TYPE_E5M2, TYPE_E4M3},   [APEX_FP8_E5M2_B] = {TYPE_E4M3, TYPE_E5M2},
};

/* Plans of the parts: all but the last are alike, and leave the epilogue to the last. */
struct part_plans {
    const struct plan *first, *last;
};

static bool usable(const struct plan *plan, const struct cast *cast)
{
    return plan != NULL && plan->usable && (cast->capture == 0 || lt_has_run(plan));
}

static enum reason find_plans(const struct lt_library *library, struct lt_shape *shape,
                              const struct cast *cast, struct part_plans *plans)
{
    shape->a_type = types[cast->format].a;
    shape->b_type = types[cast->format].b;
    if (cast_turns(cast->format)) {
        shape->transa = CUBLAS_OP_T;
        shape->transb = CUBLAS_OP_N;
        shape->order_a = shape->order_b = CUBLASLT_ORDER_COL;
    }
    shape->compute = CUBLAS_COMPUTE_32F;
    shape->pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
    shape->k = cast_part_k(cast, cast->parts - 1);
    plans->last = lt_plan(library, shape);
    plans->first = plans->last;
    if (cast->parts > 1) {
        struct lt_shape first = *shape;
        first.k = cast->part_k;
        first.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
        first.bias_alignment = 0;
        first.bias_stride = first.aux_ld = first.aux_stride = 0;
        plans->first = lt_plan(library, &first);
    }
    if (usable(plans->first, cast) && usable(plans->last, cast))
        return REASONS;
    return plans->first != NULL && plans->first->usable && plans->last != NULL &&
                   plans->last->usable
               ? REASON_CAPTURE
               : REASON_ALGORITHM;
}

enum reason engine_multiply(const struct lt_library *library, struct lt_shape *shape,
                            struct cast *cast, const struct engine_output *output,
                            cublasStatus_t *status_p)
{
    struct part_plans plans;
    enum reason reason = find_plans(library, shape, cast, &plans);
    if (reason != REASONS)
        return reason;
    const size_t workspace = plans.first->workspace_bytes > plans.last->workspace_bytes
                                 ? plans.first->workspace_bytes
                                 : plans.last->workspace_bytes;
    reason = cast_begin(cast, workspace);
    if (reason != REASONS)
        return reason;
    CUstreamCaptureMode mode = context_relax_capture(library->context);
    for (int i = 0; i < cast->parts; i++) {
        const bool last = i + 1 == cast->parts;
        *status_p = lt_matmul(library, last ? plans.last : plans.first,
                              last ? output->epilogue : NULL, cast->scaled_alpha,
                              cast_part(cast, 0, i), cast_part(cast, 1, i),
                              i == 0 ? cast->scaled_beta : cast->one,
                              i == 0 ? output->c : output->d, output->d, cast->workspace,
                              cast->stream);
        if (*status_p == CUBLAS_STATUS_SUCCESS)
            continue;
        /* After the first part D is no longer what it was: the failure is the program's to see. */
        reason = i == 0 ? REASON_FAILURE : REASONS;
        break;
    }
    context_restore_capture(library->context, mode);
    cast_end(cast);
    return reason;
}

static struct cast_operand operand(const struct gemm *g, const struct gemm_matrix *matrix,
                                   int64_t rows, int64_t cols, bool k_along_rows)
{
    return (struct cast_operand){.data = matrix->data, .rows = rows, .cols = cols,
                                 .ld = matrix->ld, .stride = matrix->stride, .batch = g->batch,
                                 .k_along_rows = k_along_rows};
}

enum reason engine_cast(const struct gemm *g, enum path path, cublasStatus_t *status_p)
{
    const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
    struct cast cast = {
        .context = g->context,
        .stream = g->stream,
        .capture = context_capture_id(g->context, g->stream),
        .site = g->site->index,
        .k = g->k,
        .operand = {operand(g, &g->a, ta ? g->k : g->m, ta ? g->m : g->k, ta),
                    operand(g, &g->b, tb ? g->n : g->k, tb ? g->k : g->n, !tb)},
        .alpha = g->alpha,
        .beta = g->beta,
        .device_scalars = g->device_scalars,
    };
    if (cast.capture == CAPTURE_UNKNOWN)
        return REASON_CAPTURE;
    if (!cast_choose(&cast, path, g->site))
        return REASON_ENGINE;
    cast_plan(&cast);
    struct lt_shape shape = {
        .m = g->m,
        .n = g->n,
        .batch = g->batch,
        .lda = cast.operand[0].copy_ld,
        .ldb = cast.operand[1].copy_ld,
        .ldc = g->c.ld,
        .ldd = g->c.ld,
        .stride_a = cast.operand[0].copy_stride,
        .stride_b = cast.operand[1].copy_stride,
        .stride_c = g->batch == 1 ? 0 : g->c.stride,
        .stride_d = g->batch == 1 ? 0 : g->c.stride,
        .c_alignment = lt_alignment(g->c.data),
        .d_alignment = lt_alignment(g->c.data),
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .transa = ta ? CUBLAS_OP_T : CUBLAS_OP_N, /* of real matrices OP_C is OP_T */
        .transb = tb ? CUBLAS_OP_T : CUBLAS_OP_N,
    };
    const struct lt_library library = {(cublasLtHandle_t)g->handle, g->real->lt, g->context};
    void *c = (void *)(uintptr_t)g->c.data;
    const struct engine_output output = {c, c, NULL};
    return engine_multiply(&library, &shape, &cast, &output, status_p);
}
