/* SPDX-License-Identifier: BSD-3-Clause
 * Scaled FP16 for the cuBLAS entry points. On the program's stream: (1) the maxima of A and B, (2)
 * their FP16 copies times powers of two, alpha' and beta', (3) one cublasLtMatmul that reads alpha'
 * and beta' from the device and writes the program's C. Owns nothing. */
#include "config.h"
#include "gemm/engine.h"
#include "gemm/cast.h"
#include "gemm/lt.h"

static struct cast_operand operand(const struct gemm *g, const struct gemm_matrix *matrix,
                                   int64_t rows, int64_t cols)
{
    return (struct cast_operand){.data = matrix->data, .rows = rows, .cols = cols, .ld = matrix->ld,
                                 .stride = matrix->stride, .batch = g->batch};
}

enum reason engine_cast16(const struct gemm *g, cublasStatus_t *status_p)
{
    const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
    struct cast cast = {
        .context = g->context,
        .stream = g->stream,
        .operand = {operand(g, &g->a, ta ? g->k : g->m, ta ? g->m : g->k),
                    operand(g, &g->b, tb ? g->n : g->k, tb ? g->k : g->n)},
        .alpha = g->alpha,
        .beta = g->beta,
        .device_scalars = g->device_scalars,
    };
    cast_plan(&cast);
    const struct lt_shape shape = {
        .m = g->m,
        .n = g->n,
        .k = g->k,
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
        .ab_type = CUDA_R_16F,
        .compute = CUBLAS_COMPUTE_32F,
        .pointer_mode = CUBLASLT_POINTER_MODE_DEVICE,
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .transa = ta ? CUBLAS_OP_T : CUBLAS_OP_N, /* of real matrices OP_C is OP_T */
        .transb = tb ? CUBLAS_OP_T : CUBLAS_OP_N,
    };
    const struct lt_library library = {(cublasLtHandle_t)g->handle, g->real->lt, g->context};
    const struct plan *plan = lt_plan(&library, &shape);
    if (plan == NULL || !plan->usable)
        return REASON_ALGORITHM;
    const enum reason reason = cast_begin(&cast, plan->workspace_bytes);
    if (reason != REASONS)
        return reason;
    void *c = (void *)(uintptr_t)g->c.data;
    *status_p = lt_matmul(&library, plan, NULL, cast.scaled_alpha, cast.operand[0].copy,
                          cast.operand[1].copy, cast.scaled_beta, c, c, cast.workspace, g->stream);
    cast_end(&cast);
    return *status_p == CUBLAS_STATUS_SUCCESS ? REASONS : REASON_FAILURE;
}
