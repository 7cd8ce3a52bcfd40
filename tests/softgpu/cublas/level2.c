/* SPDX-License-Identifier: BSD-3-Clause
 * Level 2 of BLAS as work on the stream: products of a matrix (full, banded, packed) and a vector,
 * triangular products and solutions, rank 1 and 2 updates. Plain loops over elements. No state. */
#include "level2.h"

#include <stdlib.h>

static bool in_triangle(const struct matrix *a, int64_t i, int64_t j)
{
    return a->structure == GENERAL || (a->lower ? i >= j : i <= j);
}

char *matrix_place(const struct matrix *a, int64_t i, int64_t j)
{
    const int64_t size = (int64_t)type_bytes(a->type);
    if (!in_triangle(a, i, j))
        return NULL;
    switch (a->storage) {
    case STORED_FULL:
        return a->data + (i + j * a->ld) * size;
    case STORED_BAND:
        if (i - j > a->below || j - i > a->above)
            return NULL;
        return a->data + (a->above + i - j + j * a->ld) * size;
    default:
        if (a->lower)
            return a->data + (i + (2 * a->rows - j - 1) * j / 2) * size;
        return a->data + (i + j * (j + 1) / 2) * size;
    }
}

struct z matrix_at(const struct matrix *a, int64_t i, int64_t j)
{
    const bool mirrored =
        (a->structure == SYMMETRIC || a->structure == HERMITIAN) && !in_triangle(a, i, j);
    if (a->unit && i == j)
        return z_of(1.0, 0.0);
    const char *p = mirrored ? matrix_place(a, j, i) : matrix_place(a, i, j);
    if (p == NULL)
        return z_of(0.0, 0.0);
    struct z value = z_load(p, a->type);
    if (a->structure == HERMITIAN && i == j)
        value.im = 0.0;
    return z_conj(value, mirrored && a->structure == HERMITIAN);
}

/* The run of stored elements of column j. */
static void column(const struct matrix *a, int64_t j, int64_t *first, int64_t *end)
{
    *first = a->structure != GENERAL && a->lower ? j : 0;
    *end = a->structure != GENERAL && !a->lower ? j + 1 : a->rows;
    if (a->storage == STORED_BAND) {
        *first = j - a->above > *first ? j - a->above : *first;
        *end = j + a->below + 1 < *end ? j + a->below + 1 : *end;
    }
    *end = *end > a->rows ? a->rows : *end;
}

CUresult matrix_check(const struct gpu *gpu, void *space, const struct matrix *a, int write,
                      const char *who)
{
    const size_t size = type_bytes(a->type);
    const size_t align = type_is_complex(a->type) ? size / 2 : size;
    if ((uintptr_t)a->data % align != 0)
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    for (int64_t j = 0; j < a->cols; j++) {
        int64_t first, end;
        column(a, j, &first, &end);
        if (a->unit) { /* the diagonal isn't touched */
            first += first == j;
            end -= end == j + 1;
        }
        if (first >= end)
            continue;
        CUresult result =
            gpu->check(space, matrix_place(a, first, j), (size_t)(end - first) * size, write, who);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

static struct z op_at(const struct level2 *op, const struct matrix *a, int64_t i, int64_t j)
{
    if (op->op == CUBLAS_OP_N)
        return matrix_at(a, i, j);
    return z_conj(matrix_at(a, j, i), op->op == CUBLAS_OP_C);
}

static void multiply(const struct level2 *op, const struct matrix *a, const struct vector *x,
                     const struct vector *y, struct z alpha, struct z beta)
{
    const int64_t m = op->op == CUBLAS_OP_N ? a->rows : a->cols;
    const int64_t n = op->op == CUBLAS_OP_N ? a->cols : a->rows;
    for (int64_t i = 0; i < m; i++) {
        struct z sum = z_of(0.0, 0.0);
        for (int64_t j = 0; j < n && !z_zero(alpha); j++)
            sum = z_add(sum, z_mul(op_at(op, a, i, j), z_load(vector_at(x, n, j), x->type)));
        struct z value = z_zero(alpha) ? sum : z_mul(alpha, sum);
        char *to = vector_at(y, m, i);
        if (!z_zero(beta))
            value = z_add(value, z_mul(beta, z_load(to, y->type)));
        z_store(to, y->type, value);
    }
}

static bool runs_down(const struct level2 *op, const struct matrix *a)
{
    return a->lower == (op->op == CUBLAS_OP_N); /* op(A) is lower: row i needs x[0 .. i] */
}

static void triangular(const struct level2 *op, const struct matrix *a, const struct vector *x)
{
    const int64_t n = a->rows;
    const bool lower = runs_down(op, a);
    for (int64_t s = 0; s < n; s++) {
        const int64_t i = lower ? n - 1 - s : s;
        struct z sum = z_of(0.0, 0.0);
        for (int64_t j = lower ? 0 : i; j < (lower ? i + 1 : n); j++)
            sum = z_add(sum, z_mul(op_at(op, a, i, j), z_load(vector_at(x, n, j), x->type)));
        z_store(vector_at(x, n, i), x->type, sum);
    }
}

static void solve(const struct level2 *op, const struct matrix *a, const struct vector *x)
{
    const int64_t n = a->rows;
    const bool lower = runs_down(op, a);
    for (int64_t s = 0; s < n; s++) {
        const int64_t i = lower ? s : n - 1 - s;
        struct z sum = z_load(vector_at(x, n, i), x->type);
        for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); j++)
            sum = z_sub(sum, z_mul(op_at(op, a, i, j), z_load(vector_at(x, n, j), x->type)));
        if (!a->unit)
            sum = z_div(sum, op_at(op, a, i, i));
        z_store(vector_at(x, n, i), x->type, sum);
    }
}

/* A += alpha x y' (+ alpha' y x'), on what is stored of A */
static void rank(const struct level2 *op, const struct matrix *a, const struct vector *x,
                 const struct vector *y, struct z alpha)
{
    const bool hermitian = a->structure == HERMITIAN;
    for (int64_t j = 0; j < a->cols; j++)
        for (int64_t i = 0; i < a->rows; i++) {
            char *p = matrix_place(a, i, j);
            if (p == NULL)
                continue;
            const struct z xi = z_load(vector_at(x, a->rows, i), x->type);
            const struct z yj = z_conj(z_load(vector_at(y, a->cols, j), y->type), op->conjugate_y);
            struct z value = z_add(z_load(p, a->type), z_mul(alpha, z_mul(xi, yj)));
            if (op->kind == LEVEL2_RANK2) {
                const struct z yi = z_load(vector_at(y, a->rows, i), y->type);
                const struct z xj = z_conj(z_load(vector_at(x, a->cols, j), x->type), hermitian);
                value = z_add(value, z_mul(z_conj(alpha, hermitian), z_mul(yi, xj)));
            }
            if (hermitian && i == j)
                value.im = 0.0;
            z_store(p, a->type, value);
        }
}

static CUresult run_one(const struct level2 *op, const struct gpu *gpu, void *space,
                        const struct matrix *a, const struct vector *x, const struct vector *y,
                        struct z alpha, struct z beta)
{
    const bool plain = op->op == CUBLAS_OP_N;
    const bool multiplies = op->kind == LEVEL2_MULTIPLY;
    const bool ranks = op->kind == LEVEL2_RANK1 || op->kind == LEVEL2_RANK2;
    const int64_t n_x = ranks ? a->rows : multiplies && !plain ? a->rows : a->cols;
    const int64_t n_y = ranks ? a->cols : plain ? a->rows : a->cols;
    CUresult result = CUDA_SUCCESS;
    if (ranks && z_zero(alpha))
        return CUDA_SUCCESS;
    if (!multiplies || !z_zero(alpha)) {
        result = matrix_check(gpu, space, a, ranks, op->who);
        if (result == CUDA_SUCCESS)
            result = vector_check(gpu, space, x, n_x, !multiplies && !ranks, op->who);
    }
    if (result == CUDA_SUCCESS && y->data != NULL)
        result = vector_check(gpu, space, y, n_y, multiplies, op->who);
    if (result != CUDA_SUCCESS)
        return result;
    switch (op->kind) {
    case LEVEL2_MULTIPLY:
        multiply(op, a, x, y, alpha, beta);
        break;
    case LEVEL2_TRIANGULAR:
        triangular(op, a, x);
        break;
    case LEVEL2_SOLVE:
        solve(op, a, x);
        break;
    default:
        rank(op, a, x, y, alpha);
    }
    return CUDA_SUCCESS;
}

static CUresult entry(const struct level2 *op, const struct gpu *gpu, void *space, int64_t i,
                      void **data, int64_t stride, cudaDataType type)
{
    if (!op->arrays) {
        *data = (char *)*data + i * stride * (int64_t)type_bytes(type);
        return CUDA_SUCCESS;
    }
    void *const *pointers = *data;
    CUresult result = gpu->check(space, pointers + i, sizeof *pointers, 0, op->who);
    if (result == CUDA_SUCCESS)
        *data = pointers[i];
    return result;
}

static CUresult run(void *arg, void *space)
{
    const struct level2 *op = arg;
    const struct gpu *gpu = gpu_get();
    struct z alpha = z_of(1.0, 0.0), beta = z_of(0.0, 0.0);
    CUresult result = CUDA_SUCCESS;
    if (op->kind != LEVEL2_TRIANGULAR && op->kind != LEVEL2_SOLVE)
        result = scalar_read(gpu, space, &op->alpha, op->who, &alpha);
    if (result == CUDA_SUCCESS && op->kind == LEVEL2_MULTIPLY)
        result = scalar_read(gpu, space, &op->beta, op->who, &beta);
    const int64_t batch = op->batch == 0 ? 1 : op->batch;
    for (int64_t i = 0; i < batch && result == CUDA_SUCCESS; i++) {
        struct matrix a = op->a;
        struct vector x = op->x, y = op->y;
        void *data = a.data;
        result = entry(op, gpu, space, i, &data, op->stride_a, a.type);
        a.data = data;
        if (result == CUDA_SUCCESS)
            result = entry(op, gpu, space, i, &x.data, op->stride_x, x.type);
        if (result == CUDA_SUCCESS && y.data != NULL)
            result = entry(op, gpu, space, i, &y.data, op->stride_y, y.type);
        if (result == CUDA_SUCCESS)
            result = run_one(op, gpu, space, &a, &x, &y, alpha, beta);
    }
    return result;
}

static bool sizes_ok(const struct level2 *op)
{
    const struct matrix *a = &op->a;
    if (a->rows < 0 || a->cols < 0 || op->batch < 0 || op->x.inc == 0 ||
        (op->y.data != NULL && op->y.inc == 0) || !op_valid(op->op))
        return false;
    if (a->storage == STORED_BAND)
        return a->below >= 0 && a->above >= 0 && a->ld >= a->below + a->above + 1;
    return a->storage == STORED_PACKED || a->ld >= (a->rows > 1 ? a->rows : 1);
}

cublasStatus_t level2_run(cublasHandle_t handle, struct level2 *op, const void *alpha,
                          const void *beta)
{
    const bool scaled = op->kind != LEVEL2_TRIANGULAR && op->kind != LEVEL2_SOLVE;
    if (!sizes_ok(op))
        return CUBLAS_STATUS_INVALID_VALUE;
    if ((scaled && alpha == NULL) || (op->kind == LEVEL2_MULTIPLY && beta == NULL))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (op->a.rows == 0 || op->a.cols == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (scaled)
        handle_scalar(handle, &op->alpha, alpha, op->scalar_type);
    if (op->kind == LEVEL2_MULTIPLY)
        handle_scalar(handle, &op->beta, beta, op->scalar_type);
    const uint64_t elements =
        (uint64_t)op->a.rows * (uint64_t)op->a.cols * (uint64_t)(op->batch == 0 ? 1 : op->batch);
    return work_enqueue(handle, op->who, run, op, sizeof *op, elements * type_bytes(op->a.type),
                        2 * elements, op->a.type);
}
