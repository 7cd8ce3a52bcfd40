/* SPDX-License-Identifier: BSD-3-Clause
 * How a drawn problem is passed to cublasLtMatmul: own descriptor, layouts and algorithm, as a
 * careful program does it. */
#include "conformance/problem.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(_call)                                                                                  \
    do {                                                                                           \
        cublasStatus_t s_ = (_call);                                                               \
        if (s_ != CUBLAS_STATUS_SUCCESS) {                                                         \
            fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #_call, (int)s_);        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

bool routine_is_lt(enum routine routine)
{
    return routine == R_LT || routine == R_LT_ROW || routine == R_LT_OUT || routine == R_LT_BIAS;
}

static cublasLtMatrixLayout_t layout(int64_t rows, int64_t cols, int64_t ld, int64_t stride,
                                     int64_t batch, bool row_order)
{
    cublasLtMatrixLayout_t l;
    const int32_t order = CUBLASLT_ORDER_ROW, n = (int32_t)batch;
    OK(cublasLtMatrixLayoutCreate(&l, CUDA_R_32F, (uint64_t)(row_order ? cols : rows),
                                  (uint64_t)(row_order ? rows : cols), ld));
    if (row_order)
        OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n, sizeof n));
    OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                        sizeof stride));
    return l;
}

static void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                const void *value, size_t bytes)
{
    OK(cublasLtMatmulDescSetAttribute(desc, attribute, value, bytes));
}

/* In row order the same memory holds the transposed problem: C^T = op(B)^T op(A)^T. */
cublasStatus_t lt_call(const struct judge *judge, const struct problem *p, const float *alpha,
                       const float *beta, const float *a, const float *b, const float *c, float *d,
                       const float *bias)
{
    const bool row = p->routine == R_LT_ROW;
    const bool ta = p->transa != CUBLAS_OP_N, tb = p->transb != CUBLAS_OP_N;
    const int32_t first = row ? p->transb : p->transa, second = row ? p->transa : p->transb;
    const int32_t mode =
        p->device_scalars ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
    const uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    cublasLtHandle_t handle = (cublasLtHandle_t)judge->handle;
    cublasLtMatmulDesc_t desc;
    OK(cublasLtMatmulDescCreate(
        &desc, p->pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(desc, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
    set(desc, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
    set(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, sizeof mode);
    if (p->routine == R_LT_BIAS) {
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
        set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    }
    cublasLtMatrixLayout_t la = layout(ta ? p->k : p->m, ta ? p->m : p->k, p->lda, p->stride_a,
                                       p->batch, row);
    cublasLtMatrixLayout_t lb = layout(tb ? p->n : p->k, tb ? p->k : p->n, p->ldb, p->stride_b,
                                       p->batch, row);
    cublasLtMatrixLayout_t lc = layout(p->m, p->n, p->ldc, p->stride_c, p->batch, row);
    cublasLtMatrixLayout_t l1 = row ? lb : la, l2 = row ? la : lb;
    const void *x = row ? b : a, *y = row ? a : b;
    cublasStatus_t status =
        cublasLtMatmul(handle, desc, alpha, x, l1, y, l2, beta, c, lc, d, lc, NULL, NULL, 0,
                       judge->stream);
    OK(cublasLtMatrixLayoutDestroy(la));
    OK(cublasLtMatrixLayoutDestroy(lb));
    OK(cublasLtMatrixLayoutDestroy(lc));
    OK(cublasLtMatmulDescDestroy(desc));
    return status;
}
