/* SPDX-License-Identifier: BSD-3-Clause
 * How a drawn problem is passed to cublasLtMatmul: own descriptor, layouts and algorithm, as a
 * careful program does it. Owns nothing between calls. */
#include "conformance/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cublasLtMatrixLayout_t layout(const struct matrix *x)
{
    cublasLtMatrixLayout_t l;
    const int32_t order = x->row_order ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    const int32_t batch = (int32_t)x->batch;
    const int64_t stride = x->stride;
    /* A leading dimension of 0 is set afterwards, so that every version takes it. */
    BLAS_OK(cublasLtMatrixLayoutCreate(&l, number_type(x->number), (uint64_t)x->rows,
                                       (uint64_t)x->cols, x->ld > 0 ? x->ld : x->rows));
    if (x->ld == 0)
        BLAS_OK(
            cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_LD, &x->ld, sizeof x->ld));
    if (x->row_order)
        BLAS_OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                                 sizeof order));
    BLAS_OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                             sizeof batch));
    BLAS_OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &stride, sizeof stride));
    return l;
}

static void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                const void *value, size_t bytes)
{
    BLAS_OK(cublasLtMatmulDescSetAttribute(desc, attribute, value, bytes));
}

static cublasLtMatmulDesc_t descriptor(const struct problem *p, const struct device_pointers *at)
{
    const struct part *q = &p->part[0];
    const int32_t transa = q->transa, transb = q->transb;
    cublasLtMatmulDesc_t desc;
    BLAS_OK(
        cublasLtMatmulDescCreate(&desc, (cublasComputeType_t)p->compute, number_type(p->scale)));
    set(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transa, sizeof transa);
    set(desc, CUBLASLT_MATMUL_DESC_TRANSB, &transb, sizeof transb);
    set(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &p->lt.pointers, sizeof p->lt.pointers);
    if (p->lt.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &p->lt.epilogue, sizeof p->lt.epilogue);
    if (at->bias != NULL) {
        set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at->bias, sizeof at->bias);
        set(desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &p->lt.bias_stride,
            sizeof p->lt.bias_stride);
    }
    if (at->aux != NULL) {
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &at->aux, sizeof at->aux);
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &p->lt.aux_ld, sizeof p->lt.aux_ld);
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, &p->lt.aux_stride,
            sizeof p->lt.aux_stride);
    }
    return desc;
}

/* The largest power of two, up to 256, that divides an address. */
static uint32_t alignment(const void *address)
{
    uint32_t a = 256;
    while ((uintptr_t)address % a != 0)
        a /= 2;
    return a;
}

/* One of the algorithms that the library proposes for these pointers and this workspace. */
static bool choose(const struct judge *judge, const struct problem *p, cublasLtMatmulDesc_t desc,
                   const cublasLtMatrixLayout_t layouts[4], const struct device_pointers *at,
                   cublasLtMatmulAlgo_t *algo)
{
    enum { MOST = 8 };
    static const cublasLtMatmulPreferenceAttributes_t attribute[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const void *const address[] = {at->a, at->b, at->c, at->d};
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found[MOST];
    const uint64_t most = p->lt.workspace;
    int n = 0;
    BLAS_OK(cublasLtMatmulPreferenceCreate(&preference));
    BLAS_OK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
    for (int i = 0; i < 4; i++) {
        const uint32_t a = alignment(address[i]);
        BLAS_OK(cublasLtMatmulPreferenceSetAttribute(preference, attribute[i], &a, sizeof a));
    }
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        (cublasLtHandle_t)judge->handle, desc, layouts[0], layouts[1], layouts[2], layouts[3],
        preference, MOST, found, &n);
    BLAS_OK(cublasLtMatmulPreferenceDestroy(preference));
    if (status != CUBLAS_STATUS_SUCCESS || n == 0)
        return false;
    *algo = found[(p->algo + 1) % n].algo; /* algo is at least -1 */
    return true;
}

cublasStatus_t lt_call(const struct judge *judge, const struct problem *p,
                       const struct device_pointers *at)
{
    const struct part *q = &p->part[0];
    const cublasLtMatmulDesc_t desc = descriptor(p, at);
    const cublasLtMatrixLayout_t layouts[] = {layout(&q->a), layout(&q->b), layout(&q->c),
                                              layout(&q->d)};
    cublasLtMatmulAlgo_t algo;
    cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
    const bool own = p->routine->lt == LT_ALGO;
    if (!own || choose(judge, p, desc, layouts, at, &algo))
        status = cublasLtMatmul((cublasLtHandle_t)judge->handle, desc, at->alpha, at->a, layouts[0],
                                at->b, layouts[1], at->beta, at->c,
                                p->lt.no_c_layout ? NULL : layouts[2], at->d, layouts[3],
                                own ? &algo : NULL, p->lt.workspace != 0 ? judge->workspace : NULL,
                                p->lt.workspace, judge->stream);
    for (int i = 0; i < 4; i++)
        BLAS_OK(cublasLtMatrixLayoutDestroy(layouts[i]));
    BLAS_OK(cublasLtMatmulDescDestroy(desc));
    return status;
}
