/* SPDX-License-Identifier: BSD-3-Clause
 * A GEMM call of libcublas: the documented checks, and the two ways to execute it. No state. */
#include "handle.h"

#include <cublasLt.h>

static cublasStatus_t refuse(cublasStatus_t status, const struct gemm_call *call, const char *why)
{
    return gpu_refuse(status, call->who, why);
}

static bool ld_ok(int64_t ld, int64_t rows)
{
    return ld >= (rows > 1 ? rows : 1);
}

cublasStatus_t gemm_call_check(const struct gemm_call *c)
{
    if (!op_valid(c->transa) || !op_valid(c->transb))
        return refuse(CUBLAS_STATUS_INVALID_VALUE, c, "transposition");
    if (c->m < 0 || c->n < 0 || c->k < 0 || c->batch < 0)
        return refuse(CUBLAS_STATUS_INVALID_VALUE, c, "negative size");
    if (!ld_ok(c->a.ld, c->transa == CUBLAS_OP_N ? c->m : c->k))
        return refuse(CUBLAS_STATUS_INVALID_VALUE, c, "lda");
    if (!ld_ok(c->b.ld, c->transb == CUBLAS_OP_N ? c->k : c->n))
        return refuse(CUBLAS_STATUS_INVALID_VALUE, c, "ldb");
    if (!ld_ok(c->c.ld, c->m))
        return refuse(CUBLAS_STATUS_INVALID_VALUE, c, "ldc");
    if (c->alpha == NULL || c->beta == NULL)
        return refuse(CUBLAS_STATUS_INVALID_VALUE, c, "alpha or beta is NULL");
    if (c->c.data == NULL && c->m > 0 && c->n > 0 && c->batch > 0)
        return refuse(CUBLAS_STATUS_INVALID_VALUE, c, "C is NULL");
    return CUBLAS_STATUS_SUCCESS;
}

static struct operand operand_from(const struct gemm_call *call, const struct call_matrix *x,
                                   cublasOperation_t op)
{
    struct operand view = operand_of(x->data, x->type, x->ld, 0, op);
    view.array = call->batching == BATCH_ARRAY;
    view.stride = call->batching == BATCH_STRIDED ? x->stride : 0;
    return view;
}

bool gemm_call_op(const struct gemm_call *call, struct gemm_op *op)
{
    memset(op, 0, sizeof *op);
    op->who = call->who;
    op->m = call->m;
    op->n = call->n;
    op->k = call->k;
    op->batch = call->batch;
    op->a = operand_from(call, &call->a, call->transa);
    op->b = operand_from(call, &call->b, call->transb);
    op->c = operand_from(call, &call->c, CUBLAS_OP_N);
    op->d = op->c;
    op->scale_type = scale_type_of(call->compute, call->c.type);
    handle_scalar(call->handle, &op->alpha, call->alpha, op->scale_type);
    handle_scalar(call->handle, &op->beta, call->beta, op->scale_type);
    return gemm_arithmetic(op, call->compute);
}

cublasStatus_t gemm_call_run(const struct gemm_call *call)
{
    const cublasStatus_t status = gemm_call_check(call);
    if (status != CUBLAS_STATUS_SUCCESS || call->m == 0 || call->n == 0 || call->batch == 0)
        return status;
    struct gemm_op op;
    if (!gemm_call_op(call, &op))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, call, "types");
    return gemm_enqueue(call->handle->stream, &op, 1);
}

static cublasStatus_t layout(cublasLtMatrixLayoutOpaque_t *x, const struct gemm_call *call,
                             const struct call_matrix *matrix, int64_t rows, int64_t cols)
{
    cublasStatus_t status =
        cublasLtMatrixLayoutInit(x, matrix->type, (uint64_t)rows, (uint64_t)cols, matrix->ld);
    if (call->batching == BATCH_NONE || status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (call->batch > INT32_MAX)
        return refuse(CUBLAS_STATUS_INVALID_VALUE, call, "batch count");
    const int32_t batch = (int32_t)call->batch, mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    status = cublasLtMatrixLayoutSetAttribute(x, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                              sizeof batch);
    if (status == CUBLAS_STATUS_SUCCESS && call->batching == BATCH_STRIDED)
        status = cublasLtMatrixLayoutSetAttribute(x, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                  &matrix->stride, sizeof matrix->stride);
    if (status == CUBLAS_STATUS_SUCCESS && call->batching == BATCH_ARRAY)
        status = cublasLtMatrixLayoutSetAttribute(x, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode,
                                                  sizeof mode);
    return status;
}

cublasStatus_t gemm_call_through_lt(const struct gemm_call *call)
{
    cublasStatus_t status = gemm_call_check(call);
    if (status != CUBLAS_STATUS_SUCCESS || call->m == 0 || call->n == 0 || call->batch == 0)
        return status;
    const bool ta = call->transa != CUBLAS_OP_N, tb = call->transb != CUBLAS_OP_N;
    const int32_t transa = (int32_t)call->transa, transb = (int32_t)call->transb;
    const int32_t mode = call->handle->pointer_mode == CUBLAS_POINTER_MODE_HOST
                             ? CUBLASLT_POINTER_MODE_HOST
                             : CUBLASLT_POINTER_MODE_DEVICE;
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c;
    status =
        cublasLtMatmulDescInit(&desc, call->compute, scale_type_of(call->compute, call->c.type));
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &transa,
                                                sizeof transa);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSB, &transb,
                                                sizeof transb);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode,
                                                sizeof mode);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = layout(&a, call, &call->a, ta ? call->k : call->m, ta ? call->m : call->k);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = layout(&b, call, &call->b, tb ? call->n : call->k, tb ? call->k : call->n);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = layout(&c, call, &call->c, call->m, call->n);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    void *out = (void *)(uintptr_t)call->c.data;
    return cublasLtMatmul((cublasLtHandle_t)call->handle, &desc, call->alpha, call->a.data, &a,
                          call->b.data, &b, call->beta, out, &c, out, &c, NULL,
                          call->handle->workspace, call->handle->workspace_bytes,
                          (cudaStream_t)call->handle->stream);
}
