/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the plans of each context (context->plans): chains that only grow, read and extended under
 * the context's lock, which is not held while cuBLASLt is called. A cuBLAS handle serves as the
 * cuBLASLt handle (documented for cublasLtHandle_t); its state is not touched. */
#include "config.h"
#include "gemm/lt.h"
#include "base/log.h"
#include "device/context.h"

#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_MIB_HOPPER = 32, WORKSPACE_MIB = 4, FULL_ALIGNMENT = 256 };
enum { CHAINS = sizeof(((struct context *)0)->plans) / sizeof(struct plan *) };

uint32_t lt_alignment(const void *p)
{
    const uintptr_t low = (uintptr_t)p & (~(uintptr_t)p + 1);
    return low == 0 || low > FULL_ALIGNMENT ? FULL_ALIGNMENT : (uint32_t)low;
}

static size_t hash_shape(const struct lt_shape *s)
{
    const unsigned char *bytes = (const unsigned char *)s;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i + 8 <= sizeof *s; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return (size_t)(h >> 32) % CHAINS;
}

static struct plan *find(struct context *context, size_t chain, const struct lt_shape *shape,
                         const struct real_lt *real)
{
    struct plan *p = context->plans[chain];
    while (p != NULL && !(p->real == real && memcmp(&p->shape, shape, sizeof *shape) == 0))
        p = p->next;
    return p;
}

struct layout {
    cudaDataType type;
    uint64_t rows, cols;
    int64_t ld, stride;
    int32_t order, batch;
};

static bool make_layout(const struct real_lt *lt, cublasLtMatrixLayout_t *layout,
                        const struct layout *l)
{
    if (lt->cublasLtMatrixLayoutCreate(layout, l->type, l->rows, l->cols, l->ld) !=
        CUBLAS_STATUS_SUCCESS)
        return false;
    if (l->order != CUBLASLT_ORDER_COL &&
        lt->cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &l->order,
                                             sizeof l->order) != CUBLAS_STATUS_SUCCESS)
        return false;
    return l->batch == 1 ||
           (lt->cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                 &l->batch, sizeof l->batch) ==
                CUBLAS_STATUS_SUCCESS &&
            lt->cublasLtMatrixLayoutSetAttribute(*layout,
                                                 CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                 &l->stride, sizeof l->stride) ==
                CUBLAS_STATUS_SUCCESS);
}

static bool set(const struct real_lt *lt, cublasLtMatmulDesc_t desc,
                cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes)
{
    return lt->cublasLtMatmulDescSetAttribute(desc, attribute, value, bytes) ==
           CUBLAS_STATUS_SUCCESS;
}

static bool set_epilogue(const struct real_lt *lt, const struct lt_shape *s,
                         cublasLtMatmulDesc_t desc)
{
    const int32_t fp32 = CUDA_R_32F;
    return s->epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
           (set(lt, desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &s->epilogue, sizeof s->epilogue) &&
            (s->bias_alignment == 0 ||
             set(lt, desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &fp32, sizeof fp32)) &&
            (s->bias_stride == 0 || set(lt, desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE,
                                        &s->bias_stride, sizeof s->bias_stride)) &&
            (s->aux_ld == 0 || set(lt, desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &s->aux_ld,
                                   sizeof s->aux_ld)) &&
            (s->aux_stride == 0 || set(lt, desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
                                       &s->aux_stride, sizeof s->aux_stride)));
}

static bool make_desc(const struct real_lt *lt, const struct lt_shape *s, cublasLtMatmulDesc_t *desc)
{
    return lt->cublasLtMatmulDescCreate(desc, (cublasComputeType_t)s->compute, CUDA_R_32F) ==
               CUBLAS_STATUS_SUCCESS &&
           set(lt, *desc, CUBLASLT_MATMUL_DESC_TRANSA, &s->transa, sizeof s->transa) &&
           set(lt, *desc, CUBLASLT_MATMUL_DESC_TRANSB, &s->transb, sizeof s->transb) &&
           set(lt, *desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &s->pointer_mode,
               sizeof s->pointer_mode) &&
           (s->sm_count == 0 || set(lt, *desc, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, &s->sm_count,
                                    sizeof s->sm_count)) &&
           set_epilogue(lt, s, *desc);
}

static bool set_pointers(const struct real_lt *lt, cublasLtMatmulDesc_t desc,
                         const struct lt_epilogue *e)
{
    return (e->bias == NULL ||
            set(lt, desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &e->bias, sizeof e->bias)) &&
           (e->aux == NULL || set(lt, desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &e->aux,
                                  sizeof e->aux));
}

static uint32_t or_full(uint32_t alignment)
{
    return alignment != 0 ? alignment : FULL_ALIGNMENT;
}

static bool pick_algorithm(const struct lt_library *library, struct plan *plan)
{
    const struct real_lt *lt = library->real;
    const struct lt_shape *s = &plan->shape;
    cublasLtMatmulPreference_t preference = NULL;
    if (lt->cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS)
        return false;
    const uint64_t own = (uint64_t)(library->context->gpu.compute_capability >= 90
                                        ? WORKSPACE_MIB_HOPPER
                                        : WORKSPACE_MIB)
                         << 20;
    const uint64_t workspace = s->most_workspace != 0 ? s->most_workspace - 1 : own;
    const uint32_t a = or_full(s->a_alignment), b = or_full(s->b_alignment);
    const uint32_t c = or_full(s->c_alignment), d = or_full(s->d_alignment);
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        const void *value;
        size_t bytes;
    } settings[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &a, sizeof a},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &b, sizeof b},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &c, sizeof c},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &d, sizeof d},
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
         lt->cublasLtMatmulAlgoGetHeuristic(library->handle, plan->desc, plan->a, plan->b, plan->c,
                                            plan->d, preference, 1, &result, &found) ==
             CUBLAS_STATUS_SUCCESS &&
         found > 0 && result.state == CUBLAS_STATUS_SUCCESS;
    lt->cublasLtMatmulPreferenceDestroy(preference);
    plan->algo = result.algo;
    plan->workspace_bytes = result.workspaceSize;
    return ok;
}

static void destroy_plan(struct plan *plan)
{
    const struct real_lt *lt = plan->real;
    cublasLtMatrixLayout_t layouts[] = {plan->a, plan->b, plan->c, plan->d};
    if (plan->desc != NULL)
        lt->cublasLtMatmulDescDestroy(plan->desc);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (layouts[i] != NULL)
            lt->cublasLtMatrixLayoutDestroy(layouts[i]);
    free(plan);
}

/* pointers: those of the first call; the heuristic looks at the alignment of the bias. */
static struct plan *make_plan(const struct lt_library *library, const struct lt_shape *s)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    const struct real_lt *lt = library->real;
    const bool ta = s->transa != CUBLAS_OP_N, tb = s->transb != CUBLAS_OP_N;
    const uint64_t m = (uint64_t)s->m, n = (uint64_t)s->n, k = (uint64_t)s->k;
    const int32_t batch = (int32_t)s->batch;
    const cudaDataType ta_type = (cudaDataType)s->a_type, tb_type = (cudaDataType)s->b_type;
    const struct layout a = {ta_type, ta ? k : m, ta ? m : k, s->lda, s->stride_a, s->order_a, batch};
    const struct layout b = {tb_type, tb ? n : k, tb ? k : n, s->ldb, s->stride_b, s->order_b, batch};
    const struct layout c = {CUDA_R_32F, m, n, s->ldc, s->stride_c, s->order_c, batch};
    const struct layout d = {CUDA_R_32F, m, n, s->ldd, s->stride_d, s->order_d, batch};
    /* An address of the alignment that all calls of this shape have; it is not read. */
    const struct lt_epilogue sample = {(const void *)(uintptr_t)s->bias_alignment,
                                       (void *)(uintptr_t)(s->aux_ld != 0 ? FULL_ALIGNMENT : 0)};
    plan->shape = *s;
    plan->real = lt;
    plan->usable = s->batch <= INT32_MAX && make_desc(lt, s, &plan->desc) &&
                   set_pointers(lt, plan->desc, &sample) && make_layout(lt, &plan->a, &a) &&
                   make_layout(lt, &plan->b, &b) && make_layout(lt, &plan->c, &c) &&
                   make_layout(lt, &plan->d, &d) && pick_algorithm(library, plan);
    return plan;
}

const struct plan *lt_plan(const struct lt_library *library, const struct lt_shape *shape)
{
    struct context *context = library->context;
    size_t chain = hash_shape(shape);
    pthread_mutex_lock(&context->lock);
    struct plan *plan = find(context, chain, shape, library->real);
    pthread_mutex_unlock(&context->lock);
    if (plan != NULL)
        return plan;
    struct plan *fresh = make_plan(library, shape);
    if (fresh == NULL)
        return NULL;
    pthread_mutex_lock(&context->lock);
    plan = find(context, chain, shape, library->real);
    if (plan == NULL) {
        fresh->next = context->plans[chain];
        context->plans[chain] = fresh;
        plan = fresh;
    }
    pthread_mutex_unlock(&context->lock);
    if (plan != fresh)
        destroy_plan(fresh);
    else if (!plan->usable)
        LOG_DEBUG("cuBLASLt has no algorithm for m=%lld n=%lld k=%lld batch=%lld",
                  (long long)shape->m, (long long)shape->n, (long long)shape->k,
                  (long long)shape->batch);
    return plan;
}

bool lt_has_run(const struct plan *plan)
{
    return atomic_load_explicit(&plan->has_run, memory_order_relaxed);
}

cublasStatus_t lt_matmul(const struct lt_library *library, const struct plan *plan,
                         const struct lt_epilogue *epilogue, const void *alpha, const void *a,
                         const void *b, const void *beta, const void *c, void *d, void *workspace,
                         CUstream stream)
{
    const struct real_lt *lt = library->real;
    cublasLtMatmulDesc_t own = NULL;
    cublasStatus_t status = CUBLAS_STATUS_INTERNAL_ERROR;
    /* A descriptor with pointers in it cannot be shared by two threads. */
    if (epilogue != NULL &&
        !(make_desc(lt, &plan->shape, &own) && set_pointers(lt, own, epilogue)))
        goto out;
    status = lt->cublasLtMatmul(library->handle, own != NULL ? own : plan->desc, alpha, a, plan->a, b,
                                plan->b, beta, c, plan->c, d, plan->d, &plan->algo, workspace,
                                plan->workspace_bytes, stream);
    if (status == CUBLAS_STATUS_SUCCESS && !lt_has_run(plan))
        atomic_store_explicit(&((struct plan *)(uintptr_t)plan)->has_run, true,
                              memory_order_relaxed);
out:
    if (own != NULL)
        lt->cublasLtMatmulDescDestroy(own);
    return status;
}
