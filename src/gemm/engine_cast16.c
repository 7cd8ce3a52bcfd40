/* SPDX-License-Identifier: BSD-3-Clause
 * Scaled FP16. On the program's stream: (1) the maxima of A and B, (2) their FP16 copies times
 * powers of two, alpha' and beta', (3) one cublasLtMatmul that reads alpha' and beta' from the
 * device and writes the program's C. Owns nothing; memory comes from device/scratch. */
#include "config.h"
#include "gemm/engine.h"
#include "device/kernels.h"
#include "device/scratch.h"
#include "gemm/lt.h"

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* The FP16 copy of one operand: rows x cols as stored, ld padded so that columns are aligned.
 * A batch with stride 0 (broadcast) is copied once. */
struct copy {
    int64_t rows, cols, batch;
    struct apex_source source;
    struct apex_target target;
    int64_t bytes;
    uint32_t blocks;
};

static void plan_copy(const struct gemm *g, const struct gemm_matrix *matrix, int64_t rows,
                      int64_t cols, struct copy *copy)
{
    copy->rows = rows;
    copy->cols = cols;
    copy->batch = matrix->stride == 0 ? 1 : g->batch;
    copy->source.data = matrix->data;
    copy->source.ld = matrix->ld;
    copy->source.stride = copy->batch == 1 ? 0 : matrix->stride;
    copy->target.ld = round_up(rows, APEX_VECTOR);
    copy->target.stride = copy->batch == 1 ? 0 : copy->target.ld * cols;
    copy->blocks = kernels_plan_walk(&g->context->gpu, &copy->source, rows, cols, copy->batch,
                                     &copy->target);
    copy->bytes = round_up(2 * copy->target.ld * cols * copy->batch, SCRATCH_ALIGN);
}

static uint32_t alignment_of(const void *p)
{
    uintptr_t low = (uintptr_t)p & (~(uintptr_t)p + 1);
    return low == 0 || low > 256 ? 256 : (uint32_t)low;
}

static enum reason enqueue(const struct gemm *g, const struct plan *plan, struct scratch *scratch,
                           struct copy copy[2], cublasStatus_t *status_p)
{
    struct apex_record *record = (struct apex_record *)(uintptr_t)scratch->record;
    char *data = (char *)(uintptr_t)scratch->data;
    copy[0].target.data = data;
    copy[1].target.data = data + copy[0].bytes;
    void *workspace = data + copy[0].bytes + copy[1].bytes;
    const struct apex_amax_params amax = {
        .source = {copy[0].source, copy[1].source},
        .blocks_of_a = copy[0].blocks,
        .slot = scratch->slot,
        .record = record,
    };
    const struct apex_cast_params cast = {
        .source = {copy[0].source, copy[1].source},
        .target = {copy[0].target, copy[1].target},
        .blocks_of_a = copy[0].blocks,
        .slot = scratch->slot,
        .record = record,
        .alpha_device = g->device_scalars ? g->alpha : NULL,
        .beta_device = g->device_scalars ? g->beta : NULL,
        .alpha = g->device_scalars ? 0.0f : *(const float *)g->alpha,
        .beta = g->device_scalars ? 0.0f : *(const float *)g->beta,
    };
    const uint32_t blocks = copy[0].blocks + copy[1].blocks;
    scratch->dirty = true; /* until the cast kernel that clears the other slot is on its way */
    if (kernels_launch_amax(g->context, g->stream, &amax, blocks) != CUDA_SUCCESS ||
        kernels_launch_cast(g->context, g->stream, &cast, blocks) != CUDA_SUCCESS)
        return REASON_FAILURE;
    scratch->dirty = false;
    scratch->slot ^= 1;
    *status_p = lt_matmul(g, plan, &record->alpha, copy[0].target.data, copy[1].target.data,
                          &record->beta, (void *)(uintptr_t)g->c.data, workspace);
    return *status_p == CUBLAS_STATUS_SUCCESS ? REASONS : REASON_FAILURE;
}

enum reason engine_cast16(const struct gemm *g, cublasStatus_t *status_p)
{
    const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
    struct copy copy[2];
    plan_copy(g, &g->a, ta ? g->k : g->m, ta ? g->m : g->k, &copy[0]);
    plan_copy(g, &g->b, tb ? g->n : g->k, tb ? g->k : g->n, &copy[1]);
    const struct lt_shape shape = {
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .batch = g->batch,
        .lda = copy[0].target.ld,
        .ldb = copy[1].target.ld,
        .ldc = g->c.ld,
        .stride_a = copy[0].target.stride,
        .stride_b = copy[1].target.stride,
        .stride_c = g->batch == 1 ? 0 : g->c.stride,
        .c_alignment = alignment_of(g->c.data),
        .transa = ta ? CUBLAS_OP_T : CUBLAS_OP_N, /* of real matrices OP_C is OP_T */
        .transb = tb ? CUBLAS_OP_T : CUBLAS_OP_N,
    };
    const struct plan *plan = lt_plan(g, &shape);
    if (plan == NULL || !plan->usable)
        return REASON_ALGORITHM;
    struct scratch *scratch =
        scratch_take(g->context, g->stream,
                     (size_t)(copy[0].bytes + copy[1].bytes) + plan->workspace_bytes);
    if (scratch == NULL)
        return REASON_SCRATCH;
    enum reason reason = enqueue(g, plan, scratch, copy, status_p);
    scratch_give_back(g->context, scratch);
    return reason;
}
