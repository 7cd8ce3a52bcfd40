/* SPDX-License-Identifier: BSD-3-Clause
 * Makes, runs and judges one cublasLtMatmul of the checks. Owns their cuBLASLt handle. */
#include "blas_lt.h"

#include <math.h>

cublasLtHandle_t lt;

void lt_setup(void)
{
    blas_setup();
    OK(cublasLtCreate(&lt));
}

void lt_teardown(void)
{
    OK(cublasLtDestroy(lt));
    blas_teardown();
}

int64_t lt_place(const struct side *s, int64_t r, int64_t c)
{
    return s->row ? r * s->ld + c : r + c * s->ld;
}

static void side_make(struct matmul *t, struct side *s, cudaDataType type, int64_t rows,
                      int64_t cols, bool row, int64_t pad, bool poison)
{
    s->type = type;
    s->row = row;
    s->rows = rows;
    s->cols = cols;
    s->ld = (row ? cols : rows) + pad;
    const int64_t lines = row ? rows : cols;
    s->stride = t->batch > 1 ? s->ld * lines + pad : 0;
    const int64_t n = (t->batch - 1) * s->stride + s->ld * (lines - 1) + (row ? cols : rows);
    s->data = poison ? array_poison(type, n) : array_new(type, n);
}

void lt_set(struct matmul *t, cublasLtMatmulDescAttributes_t attr, const void *value, size_t bytes)
{
    OK(cublasLtMatmulDescSetAttribute(t->desc, attr, value, bytes));
}

void lt_set_int(struct matmul *t, cublasLtMatmulDescAttributes_t attr, int32_t value)
{
    lt_set(t, attr, &value, sizeof value);
}

static cublasLtMatrixLayout_t layout_of(const struct matmul *t, const struct side *s)
{
    cublasLtMatrixLayout_t layout;
    const int32_t order = s->row ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL, batch = t->batch;
    OK(cublasLtMatrixLayoutCreate(&layout, s->type, (uint64_t)s->rows, (uint64_t)s->cols, s->ld));
    OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                        sizeof order));
    OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                        sizeof batch));
    OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                        &s->stride, sizeof s->stride));
    return layout;
}

/* Types and sizes are set: makes matrices and descriptors. */
void lt_make(struct matmul *t, cudaDataType ab, cudaDataType c, const bool row[4], int64_t pad)
{
    const bool ta = t->transa != CUBLAS_OP_N, tb = t->transb != CUBLAS_OP_N;
    side_make(t, &t->a, ab, ta ? t->k : t->m, ta ? t->m : t->k, row[0], pad, false);
    side_make(t, &t->b, ab, tb ? t->n : t->k, tb ? t->k : t->n, row[1], pad, false);
    side_make(t, &t->c, c, t->m, t->n, row[2], pad, t->beta == 0.0);
    if (t->in_place)
        t->d = t->c;
    else
        side_make(t, &t->d, c, t->m, t->n, row[3], pad, true);
    OK(cublasLtMatmulDescCreate(&t->desc, t->compute, t->scale));
    lt_set_int(t, CUBLASLT_MATMUL_DESC_TRANSA, (int32_t)t->transa);
    lt_set_int(t, CUBLASLT_MATMUL_DESC_TRANSB, (int32_t)t->transb);
    lt_set_int(t, CUBLASLT_MATMUL_DESC_POINTER_MODE, t->pointer_mode);
    t->layout[0] = layout_of(t, &t->a);
    t->layout[1] = layout_of(t, &t->b);
    t->layout[2] = layout_of(t, &t->c);
    t->layout[3] = layout_of(t, &t->d);
    t->alphas = array_new(t->scale, t->m);
    t->betas = array_new(t->scale, t->m);
    if (t->beta == 0.0) {
        for (int64_t i = 0; i < t->m; i++)
            array_set(&t->betas, i, 0.0);
        array_put(&t->betas);
    }
}

void lt_drop(struct matmul *t)
{
    array_free(&t->a.data);
    array_free(&t->b.data);
    array_free(&t->c.data);
    if (!t->in_place)
        array_free(&t->d.data);
    array_free(&t->alphas);
    array_free(&t->betas);
    OK(cublasLtMatmulDescDestroy(t->desc));
    for (int i = 0; i < 4; i++)
        OK(cublasLtMatrixLayoutDestroy(t->layout[i]));
}

cublasStatus_t lt_run(struct matmul *t, const cublasLtMatmulAlgo_t *algo, void *workspace,
                      size_t bytes)
{
    char host_alpha[16], host_beta[16];
    encode(t->scale, t->alpha, host_alpha);
    encode(t->scale, t->beta, host_beta);
    struct array one = array_poison(t->scale, 2);
    array_set(&one, 0, t->alpha);
    array_set(&one, 1, t->beta);
    array_put(&one);
    const void *alpha = host_alpha, *beta = host_beta;
    switch (t->pointer_mode) {
    case CUBLASLT_POINTER_MODE_DEVICE:
        alpha = PTR(one);
        beta = (char *)PTR(one) + size_of(t->scale);
        break;
    case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
        alpha = PTR(t->alphas);
        beta = PTR(t->betas);
        break;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO:
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST:
        alpha = PTR(t->alphas);
        break;
    default:
        break;
    }
    const cublasStatus_t status = cublasLtMatmul(
        lt, t->desc, alpha, PTR(t->a.data), t->layout[0], PTR(t->b.data), t->layout[1], beta,
        PTR(t->c.data), t->layout[2], PTR(t->d.data), t->layout[3], algo, workspace, bytes, NULL);
    OK(cuCtxSynchronize());
    array_free(&one);
    return status;
}

static double alpha_at(const struct matmul *t, int64_t i)
{
    return t->pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? creal(array_at(&t->alphas, i))
                                                                  : t->alpha;
}

static double beta_at(const struct matmul *t, int64_t i)
{
    if (t->pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
        return 0.0;
    return t->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? creal(array_at(&t->betas, i))
                                                                  : t->beta;
}

/* alpha op(A) op(B) + beta C in float64; *size_p: the sum of magnitudes. */
number lt_reference(const struct matmul *t, const struct array *old, int64_t e, int64_t i,
                    int64_t j, double *size_p)
{
    number sum = 0.0;
    double size = 0.0;
    for (int64_t q = 0; q < t->k; q++) {
        const int64_t pa = t->transa == CUBLAS_OP_N ? lt_place(&t->a, i, q) : lt_place(&t->a, q, i);
        const int64_t pb = t->transb == CUBLAS_OP_N ? lt_place(&t->b, q, j) : lt_place(&t->b, j, q);
        number x = array_at(&t->a.data, e * t->a.stride + pa);
        number y = array_at(&t->b.data, e * t->b.stride + pb);
        if (t->compute == CUBLAS_COMPUTE_32F_FAST_TF32) {
            x = complex_of(round_tf32(creal(x)), round_tf32(cimag(x)));
            y = complex_of(round_tf32(creal(y)), round_tf32(cimag(y)));
        }
        x = conj_op(t->transa, x);
        y = conj_op(t->transb, y);
        sum += x * y;
        size += cabs(x) * cabs(y);
    }
    number value = alpha_at(t, i) * sum;
    *size_p = fabs(alpha_at(t, i)) * size;
    if (beta_at(t, i) != 0.0) {
        const number c = beta_at(t, i) * array_at(old, e * t->c.stride + lt_place(&t->c, i, j));
        value += c;
        *size_p += cabs(c);
    }
    return value;
}

double lt_unit(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
        return 0x1p-11;
    case CUDA_R_16BF:
        return 0x1p-8;
    case CUDA_R_64F:
    case CUDA_C_64F:
        return 0x1p-53;
    case CUDA_R_8F_E4M3:
        return 0x1p-4;
    case CUDA_R_8F_E5M2:
        return 0x1p-3;
    default:
        return 0x1p-24;
    }
}

static double accumulation(const struct matmul *t)
{
    return t->scale == CUDA_R_64F || t->scale == CUDA_C_64F ? 0x1p-53 : 0x1p-24;
}

/* Runs and compares without an epilogue. */
void lt_compare(struct matmul *t, const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes,
                const char *what)
{
    struct array old = array_poison(t->c.type, t->c.data.n);
    memcpy(old.host, t->c.data.host, (size_t)old.n * size_of(t->c.type));
    OK(lt_run(t, algo, workspace, bytes));
    array_get(&t->d.data);
    for (int64_t e = 0; e < t->batch; e++)
        for (int64_t j = 0; j < t->n; j++)
            for (int64_t i = 0; i < t->m; i++) {
                double size;
                const number want = lt_reference(t, &old, e, i, j, &size);
                const double bound = 2.0 * ((double)t->k + 6.0) * accumulation(t) * size +
                                     1.01 * lt_unit(t->d.type) * cabs(want) +
                                     (t->d.type == CUDA_R_16F ? 0x1p-25 : 0.0);
                close_to(array_at(&t->d.data, e * t->d.stride + lt_place(&t->d, i, j)), want, bound,
                         what, i, j);
            }
    array_free(&old);
}
