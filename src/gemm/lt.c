/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the plans of each context (context->plans): chains that only grow, read and extended under
 * the context's lock, which is not held while cuBLASLt is called. The program's cuBLAS handle
 * serves as the cuBLASLt handle (documented for cublasLtHandle_t); its state is not touched. */
#include "config.h"
#include "gemm/lt.h"
#include "base/log.h"
#include "device/context.h"

#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_MIB_HOPPER = 32, WORKSPACE_MIB = 4, SCRATCH_ALIGNMENT = 256 };
enum { CHAINS = sizeof(((struct context *)0)->plans) / sizeof(struct plan *) };

static size_t hash_shape(const struct lt_shape *s)
{
    const uint64_t words[] = {(uint64_t)s->m, (uint64_t)s->n, (uint64_t)s->k, (uint64_t)s->batch,
                              (uint64_t)s->ldc, s->c_alignment,
                              (uint64_t)(s->transa * 4 + s->transb)};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) % CHAINS;
}

static bool same_shape(const struct lt_shape *x, const struct lt_shape *y)
{
    return x->m == y->m && x->n == y->n && x->k == y->k && x->batch == y->batch &&
           x->lda == y->lda && x->ldb == y->ldb && x->ldc == y->ldc &&
           x->stride_a == y->stride_a && x->stride_b == y->stride_b &&
           x->stride_c == y->stride_c && x->c_alignment == y->c_alignment &&
           x->transa == y->transa && x->transb == y->transb;
}

static struct plan *find(struct context *context, size_t chain, const struct lt_shape *shape,
                         const struct real_blas *real)
{
    struct plan *p = context->plans[chain];
    while (p != NULL && !(p->real == real && same_shape(&p->shape, shape)))
        p = p->next;
    return p;
}

static bool make_layout(const struct real_lt *lt, cublasLtMatrixLayout_t *layout, cudaDataType type,
                        uint64_t rows, uint64_t cols, int64_t ld, int32_t batch, int64_t stride)
{
    return lt->cublasLtMatrixLayoutCreate(layout, type, rows, cols, ld) == CUBLAS_STATUS_SUCCESS &&
           (batch == 1 ||
            (lt->cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                  &batch, sizeof batch) == CUBLAS_STATUS_SUCCESS &&
             lt->cublasLtMatrixLayoutSetAttribute(
                 *layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride) ==
                 CUBLAS_STATUS_SUCCESS));
}

static bool make_desc(const struct real_lt *lt, const struct lt_shape *s, cublasLtMatmulDesc_t *desc)
{
    const int32_t transa = s->transa, transb = s->transb;
    const int32_t mode = CUBLASLT_POINTER_MODE_DEVICE;
    return lt->cublasLtMatmulDescCreate(desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) ==
               CUBLAS_STATUS_SUCCESS &&
           lt->cublasLtMatmulDescSetAttribute(*desc, CUBLASLT_MATMUL_DESC_TRANSA, &transa,
                                              sizeof transa) == CUBLAS_STATUS_SUCCESS &&
           lt->cublasLtMatmulDescSetAttribute(*desc, CUBLASLT_MATMUL_DESC_TRANSB, &transb,
                                              sizeof transb) == CUBLAS_STATUS_SUCCESS &&
           lt->cublasLtMatmulDescSetAttribute(*desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode,
                                              sizeof mode) == CUBLAS_STATUS_SUCCESS;
}

static bool pick_algorithm(const struct gemm *g, struct plan *plan)
{
    const struct real_lt *lt = g->real->lt;
    cublasLtMatmulPreference_t preference = NULL;
    if (lt->cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS)
        return false;
    const uint64_t workspace = (uint64_t)(g->context->gpu.compute_capability >= 90
                                              ? WORKSPACE_MIB_HOPPER
                                              : WORKSPACE_MIB)
                               << 20;
    const uint32_t own = SCRATCH_ALIGNMENT, c = plan->shape.c_alignment;
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        const void *value;
        size_t bytes;
    } settings[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &own, sizeof own},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &own, sizeof own},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &c, sizeof c},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &c, sizeof c},
    };
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof settings / sizeof settings[0]; i++)
        ok = lt->cublasLtMatmulPreferenceSetAttribute(preference, settings[i].attribute,
                                                      settings[i].value, settings[i].bytes) ==
             CUBLAS_STATUS_SUCCESS;
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    memset(&result, 0, sizeof result);
    ok = ok &&
         lt->cublasLtMatmulAlgoGetHeuristic((cublasLtHandle_t)g->handle, plan->desc, plan->a,
                                            plan->b, plan->c, plan->c, preference, 1, &result,
                                            &found) == CUBLAS_STATUS_SUCCESS &&
         found > 0 && result.state == CUBLAS_STATUS_SUCCESS;
    lt->cublasLtMatmulPreferenceDestroy(preference);
    plan->algo = result.algo;
    plan->workspace_bytes = result.workspaceSize;
    return ok;
}

static void destroy_plan(struct plan *plan)
{
    const struct real_lt *lt = plan->real->lt;
    if (plan->desc != NULL)
        lt->cublasLtMatmulDescDestroy(plan->desc);
    if (plan->a != NULL)
        lt->cublasLtMatrixLayoutDestroy(plan->a);
    if (plan->b != NULL)
        lt->cublasLtMatrixLayoutDestroy(plan->b);
    if (plan->c != NULL)
        lt->cublasLtMatrixLayoutDestroy(plan->c);
    free(plan);
}

static struct plan *make_plan(const struct gemm *g, const struct lt_shape *s)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    const struct real_lt *lt = g->real->lt;
    const bool ta = s->transa != CUBLAS_OP_N, tb = s->transb != CUBLAS_OP_N;
    const uint64_t m = (uint64_t)s->m, n = (uint64_t)s->n, k = (uint64_t)s->k;
    const int32_t batch = (int32_t)s->batch;
    plan->shape = *s;
    plan->real = g->real;
    plan->usable =
        s->batch <= INT32_MAX && make_desc(lt, s, &plan->desc) &&
        make_layout(lt, &plan->a, CUDA_R_16F, ta ? k : m, ta ? m : k, s->lda, batch, s->stride_a) &&
        make_layout(lt, &plan->b, CUDA_R_16F, tb ? n : k, tb ? k : n, s->ldb, batch, s->stride_b) &&
        make_layout(lt, &plan->c, CUDA_R_32F, m, n, s->ldc, batch, s->stride_c) &&
        pick_algorithm(g, plan);
    return plan;
}

const struct plan *lt_plan(const struct gemm *g, const struct lt_shape *shape)
{
    struct context *context = g->context;
    size_t chain = hash_shape(shape);
    pthread_mutex_lock(&context->lock);
    struct plan *plan = find(context, chain, shape, g->real);
    pthread_mutex_unlock(&context->lock);
    if (plan != NULL)
        return plan;
    struct plan *fresh = make_plan(g, shape);
    if (fresh == NULL)
        return NULL;
    pthread_mutex_lock(&context->lock);
    plan = find(context, chain, shape, g->real);
    if (plan == NULL) {
        fresh->next = context->plans[chain];
        context->plans[chain] = fresh;
        plan = fresh;
    }
    pthread_mutex_unlock(&context->lock);
    if (plan != fresh)
        destroy_plan(fresh);
    else if (!plan->usable)
        LOG_DEBUG("cuBLASLt has no FP16 algorithm for %s m=%lld n=%lld k=%lld batch=%lld",
                  g->routine, (long long)g->m, (long long)g->n, (long long)g->k,
                  (long long)g->batch);
    return plan;
}

cublasStatus_t lt_matmul(const struct gemm *g, const struct plan *plan, const void *alpha,
                         const void *a, const void *b, const void *beta, void *c, void *workspace)
{
    return g->real->lt->cublasLtMatmul((cublasLtHandle_t)g->handle, plan->desc, alpha, a, plan->a, b,
                                       plan->b, beta, c, plan->c, c, plan->c, &plan->algo, workspace,
                                       plan->workspace_bytes, g->stream);
}
