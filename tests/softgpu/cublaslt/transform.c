/* SPDX-License-Identifier: BSD-3-Clause
 * cublasLtMatrixTransform: C = alpha op(A) + beta op(B) with changes of type and of order (column,
 * row). The interleaved orders of older GPUs are refused. */
#include "objects.h"

struct transform {
    int64_t rows, cols, batch;
    struct operand a, b, c;
    struct scalar alpha, beta;
    cudaDataType scale;
    bool has_b;
};

static const char NAME_OF_CALL[] = "cublasLtMatrixTransform";

static double scalar_value(const struct scalar *s, cudaDataType type)
{
    double d = 0.0;
    float f;
    const void *from = s->place == PLACE_DEVICE ? s->device : s->host;
    if (doubles_of(&d, from, type, 1))
        return d;
    return floats_of(&f, from, type, 1) ? (double)f : 0.0;
}

static double element(const struct operand *x, const char *data, int64_t r, int64_t c)
{
    double d = 0.0;
    float f;
    const void *from = data + (r * x->rs + c * x->cs) * (int64_t)type_bytes(x->type);
    if (doubles_of(&d, from, x->type, 1))
        return d;
    return floats_of(&f, from, x->type, 1) ? (double)f : 0.0;
}

static CUresult check_scalar(const struct gpu *gpu, void *space, const struct scalar *s,
                             cudaDataType type)
{
    return s->place == PLACE_DEVICE
               ? gpu->check(space, s->device, type_bytes(type), 0, NAME_OF_CALL)
               : CUDA_SUCCESS;
}

static CUresult run(void *arg, void *space)
{
    const struct transform *t = arg;
    const struct gpu *gpu = gpu_get();
    CUresult result = check_scalar(gpu, space, &t->alpha, t->scale);
    if (result == CUDA_SUCCESS && t->has_b)
        result = check_scalar(gpu, space, &t->beta, t->scale);
    if (result != CUDA_SUCCESS)
        return result;
    const double alpha = scalar_value(&t->alpha, t->scale);
    const double beta = t->has_b ? scalar_value(&t->beta, t->scale) : 0.0;
    for (int64_t e = 0; e < t->batch; e++) {
        char *a = NULL, *b = NULL, *c = NULL;
        if (alpha != 0.0)
            result = entry_data(gpu, space, &t->a, e, NAME_OF_CALL, &a);
        if (result == CUDA_SUCCESS && alpha != 0.0)
            result = view_check(gpu, space, &t->a, a, t->rows, t->cols, 0, 0, NAME_OF_CALL);
        if (result == CUDA_SUCCESS && beta != 0.0)
            result = entry_data(gpu, space, &t->b, e, NAME_OF_CALL, &b);
        if (result == CUDA_SUCCESS && beta != 0.0)
            result = view_check(gpu, space, &t->b, b, t->rows, t->cols, 0, 0, NAME_OF_CALL);
        if (result == CUDA_SUCCESS)
            result = entry_data(gpu, space, &t->c, e, NAME_OF_CALL, &c);
        if (result == CUDA_SUCCESS)
            result = view_check(gpu, space, &t->c, c, t->rows, t->cols, 1, 0, NAME_OF_CALL);
        if (result != CUDA_SUCCESS)
            return result;
        for (int64_t j = 0; j < t->cols; j++)
            for (int64_t i = 0; i < t->rows; i++) {
                double value = alpha == 0.0 ? 0.0 : alpha * element(&t->a, a, i, j);
                if (beta != 0.0)
                    value += beta * element(&t->b, b, i, j);
                char *to = c + (i * t->c.rs + j * t->c.cs) * (int64_t)type_bytes(t->c.type);
                const float narrow = (float)value;
                if (!doubles_to(to, &value, t->c.type, 1))
                    floats_to(to, &narrow, t->c.type, 1);
            }
    }
    return CUDA_SUCCESS;
}

static bool known(const struct lt_layout *x)
{
    return (x->order == CUBLASLT_ORDER_COL || x->order == CUBLASLT_ORDER_ROW) &&
           type_bytes((cudaDataType)x->type) != 0 && !type_is_complex((cudaDataType)x->type);
}

static struct operand view(const struct lt_layout *x, int op, const void *data)
{
    const bool swapped = (x->order == CUBLASLT_ORDER_ROW) != (op != CUBLAS_OP_N);
    return operand_of(data, (cudaDataType)x->type, x->ld, x->batch > 1 ? x->stride : 0,
                      swapped ? CUBLAS_OP_T : CUBLAS_OP_N);
}

static bool shape_fits(const struct lt_layout *x, int op, const struct lt_layout *c)
{
    const uint64_t rows = op == CUBLAS_OP_N ? x->rows : x->cols;
    const uint64_t cols = op == CUBLAS_OP_N ? x->cols : x->rows;
    return rows == c->rows && cols == c->cols && x->batch == c->batch;
}

BLAS_API cublasStatus_t cublasLtMatrixTransform(
    cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t opaque, const void *alpha, const void *A,
    cublasLtMatrixLayout_t a_layout, const void *beta, const void *B,
    cublasLtMatrixLayout_t b_layout, void *C, cublasLtMatrixLayout_t c_layout, cudaStream_t stream)
{
    ENTER(NAME_OF_CALL, "%s", "");
    const struct lt_transform *desc = (const struct lt_transform *)opaque;
    const struct lt_layout *a = (const struct lt_layout *)a_layout;
    const struct lt_layout *b = (const struct lt_layout *)b_layout;
    const struct lt_layout *c = (const struct lt_layout *)c_layout;
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (desc == NULL || a == NULL || c == NULL || alpha == NULL || A == NULL || C == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct transform t = {.rows = (int64_t)c->rows,
                          .cols = (int64_t)c->cols,
                          .batch = c->batch,
                          .scale = (cudaDataType)desc->scale_type,
                          .has_b = B != NULL && b != NULL && beta != NULL};
    if (!known(a) || !known(c) || (t.has_b && !known(b)) || type_bytes(t.scale) == 0)
        return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, NAME_OF_CALL, "order or type");
    if (!shape_fits(a, desc->transa, c) || (t.has_b && !shape_fits(b, desc->transb, c)))
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, NAME_OF_CALL, "shapes don't match");
    t.a = view(a, desc->transa, A);
    t.c = view(c, CUBLAS_OP_N, C);
    if (t.has_b)
        t.b = view(b, desc->transb, B);
    if (desc->pointer_mode == CUBLASLT_POINTER_MODE_HOST) {
        scalar_host(&t.alpha, alpha, t.scale);
        if (t.has_b)
            scalar_host(&t.beta, beta, t.scale);
    } else if (desc->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE) {
        t.alpha = (struct scalar){.place = PLACE_DEVICE, .type = t.scale, .device = alpha};
        t.beta = (struct scalar){.place = PLACE_DEVICE, .type = t.scale, .device = beta};
    } else {
        return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, NAME_OF_CALL, "pointer mode");
    }
    const cublasStatus_t status = gpu_use(&handle->base);
    if (status != CUBLAS_STATUS_SUCCESS || t.rows == 0 || t.cols == 0)
        return status;
    const uint64_t elements = (uint64_t)t.rows * (uint64_t)t.cols * (uint64_t)t.batch;
    const struct softgpu_cost cost = {
        .bytes = elements * (type_bytes(t.a.type) + type_bytes(t.c.type)), .type = SOFTGPU_F32};
    return gpu_status(gpu_get()->enqueue((CUstream)stream, NAME_OF_CALL, run, &t, sizeof t, &cost));
}
