/* SPDX-License-Identifier: BSD-3-Clause
 * The end of a matrix product: scalars, C, bias, activation, rounding to D's type. Works on one
 * tile; keeps nothing. */
#include "gemm.h"

#include <math.h>

/* Bits of cublasLtEpilogue_t. */
enum { RELU = 2, BIAS = 4, DRELU = 8, BGRAD = 16, GELU = 32, DGELU = 64, AUX = 128 };

/* Rows [from, to) of column col of D that belong to the stored triangle. */
static void stored_rows(const struct gemm_op *op, const struct tile *t, int64_t j, int64_t *from,
                        int64_t *to)
{
    const int64_t diagonal = t->col + j - t->row; /* within the tile */
    *from = 0;
    *to = t->rows;
    if (op->uplo == 'L' && diagonal > 0)
        *from = diagonal < t->rows ? diagonal : t->rows;
    else if (op->uplo == 'U')
        *to = diagonal < 0 ? 0 : diagonal + 1 < t->rows ? diagonal + 1 : t->rows;
}

static const char *at(const struct operand *x, const char *data, int64_t row, int64_t col)
{
    return data + (row * x->rs + col * x->cs) * (int64_t)type_bytes(x->type);
}

static void load_floats(float *to, const struct operand *x, const char *from, int64_t n)
{
    const int64_t size = (int64_t)type_bytes(x->type);
    if (x->rs == 1)
        floats_of(to, from, x->type, n);
    else
        for (int64_t i = 0; i < n; i++)
            floats_of(to + i, from + i * x->rs * size, x->type, 1);
}

static void store_floats(char *to, const struct operand *x, const float *from, int64_t n)
{
    const int64_t size = (int64_t)type_bytes(x->type);
    if (x->rs == 1)
        floats_to(to, from, x->type, n);
    else
        for (int64_t i = 0; i < n; i++)
            floats_to(to + i * x->rs * size, from + i, x->type, 1);
}

static float gelu(float x)
{
    const float inner = 0.797884561f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(inner));
}

static float gelu_gradient(float x)
{
    const float inner = 0.797884561f * (x + 0.044715f * x * x * x);
    const float t = tanhf(inner);
    return 0.5f * (1.0f + t) +
           0.5f * x * (1.0f - t * t) * 0.797884561f * (1.0f + 3.0f * 0.044715f * x * x);
}

static void put_bit(uint8_t *mask, int64_t i, bool bit)
{
    const uint8_t one = (uint8_t)(1u << (i & 7));
    mask[i >> 3] = (uint8_t)(bit ? mask[i >> 3] | one : mask[i >> 3] & ~one);
}

static float larger_magnitude(double old, float x)
{
    const double a = fabs((double)x);
    return (float)(a > old || isnan(a) ? a : old);
}

/* Bias, activation and their gradients on n values that begin at row, column col. */
static void activate(const struct gemm_op *op, const struct resolved *s, const struct tile *t,
                     float *v, int64_t row, int64_t col, int64_t n)
{
    const struct epilogue *e = &op->epilogue;
    const unsigned kind = e->kind;
    if (kind & BIAS) {
        const int64_t size = (int64_t)type_bytes(e->bias_type);
        float bias[1024];
        floats_of(bias, (char *)e->bias + (t->entry * e->bias_stride + row) * size, e->bias_type,
                  n);
        for (int64_t i = 0; i < n; i++)
            v[i] += bias[i];
    }
    const bool by_bit = (kind & (RELU | DRELU)) != 0;
    char *aux = NULL;
    uint8_t *mask = NULL;
    if (e->aux != NULL && by_bit)
        mask = (uint8_t *)e->aux + (t->entry * e->aux_stride + col * e->aux_ld) / 8;
    else if (e->aux != NULL)
        aux = (char *)e->aux +
              (t->entry * e->aux_stride + col * e->aux_ld + row) * (int64_t)type_bytes(e->aux_type);
    if (kind & RELU)
        for (int64_t i = 0; i < n; i++) {
            const bool keep = !(v[i] <= 0.0f); /* NaN stays */
            if (mask != NULL)
                put_bit(mask, row + i, keep);
            v[i] = keep ? v[i] : 0.0f;
        }
    if (kind & DRELU)
        for (int64_t i = 0; i < n; i++)
            v[i] = mask[(row + i) >> 3] >> ((row + i) & 7) & 1 ? v[i] : 0.0f;
    if (kind & GELU) {
        if (aux != NULL) {
            float stored[1024];
            for (int64_t i = 0; i < n; i++) {
                *t->aux_amax = larger_magnitude(*t->aux_amax, v[i]);
                stored[i] = v[i] * s->aux_scale;
            }
            floats_to(aux, stored, e->aux_type, n);
        }
        for (int64_t i = 0; i < n; i++)
            v[i] = gelu(v[i]);
    }
    if (kind & DGELU) {
        float x[1024];
        floats_of(x, aux, e->aux_type, n);
        for (int64_t i = 0; i < n; i++)
            v[i] *= gelu_gradient(x[i]);
    }
    if (kind & BGRAD)
        for (int64_t i = 0; i < n; i++)
            t->row_sums[row + i] += (double)v[i];
}

static void finish_f32(const struct gemm_op *op, const struct resolved *s, const struct tile *t,
                       const char *c, char *d)
{
    float v[1024], old[1024], alphas[1024], betas[1024];
    const bool fp8 = op->unit == UNIT_FP8;
    const int64_t scalar_size = (int64_t)type_bytes(op->scale_type);
    const float alpha = (float)s->alpha[0], beta = (float)s->beta[0];
    for (int64_t j = 0; j < t->cols; j++) {
        int64_t from, to;
        stored_rows(op, t, j, &from, &to);
        const int64_t n = to - from, row = t->row + from, col = t->col + j;
        if (n <= 0)
            continue;
        const float col_scale = s->col_scale == NULL ? s->scale : s->scale * s->col_scale[col];
        for (int64_t i = 0; i < n; i++)
            alphas[i] = alpha;
        if (s->alpha_vector != NULL)
            floats_of(alphas, (const char *)s->alpha_vector + row * scalar_size, op->scale_type, n);
        if (s->product && op->domain == DOMAIN_I32) {
            const int32_t *sum = (const int32_t *)t->sum + from + j * t->rows;
            for (int64_t i = 0; i < n; i++)
                v[i] = alphas[i] * (float)sum[i];
        } else if (s->product) {
            const float *sum = (const float *)t->sum + from + j * t->rows;
            for (int64_t i = 0; i < n; i++)
                v[i] = alphas[i] * sum[i];
        } else {
            memset(v, 0, (size_t)n * sizeof *v);
        }
        if (fp8)
            for (int64_t i = 0; i < n; i++)
                v[i] *= s->row_scale == NULL ? col_scale : col_scale * s->row_scale[row + i];
        if (s->reads_c) {
            load_floats(old, &op->c, at(&op->c, c, row, col), n);
            for (int64_t i = 0; i < n; i++)
                betas[i] = beta * s->c_scale;
            if (s->beta_vector != NULL)
                floats_of(betas, (const char *)s->beta_vector + row * scalar_size, op->scale_type,
                          n);
            for (int64_t i = 0; i < n; i++)
                v[i] += betas[i] * old[i];
        }
        if (op->epilogue.kind > 1)
            activate(op, s, t, v, row, col, n);
        if (fp8)
            for (int64_t i = 0; i < n; i++) {
                *t->d_amax = larger_magnitude(*t->d_amax, v[i]);
                v[i] *= s->d_scale;
            }
        store_floats((char *)(uintptr_t)at(&op->d, d, row, col), &op->d, v, n);
    }
}

static void finish_f64(const struct gemm_op *op, const struct resolved *s, const struct tile *t,
                       const char *c, char *d)
{
    for (int64_t j = 0; j < t->cols; j++) {
        int64_t from, to;
        stored_rows(op, t, j, &from, &to);
        for (int64_t i = from; i < to; i++) {
            const int64_t row = t->row + i, col = t->col + j;
            const double *alpha = s->alpha_vector, *beta = s->beta_vector;
            double old = 0.0, v = 0.0;
            if (s->product)
                v = (alpha == NULL ? s->alpha[0] : alpha[row]) *
                    ((const double *)t->sum)[i + j * t->rows];
            if (s->reads_c) {
                memcpy(&old, at(&op->c, c, row, col), sizeof old);
                v += (beta == NULL ? s->beta[0] : beta[row]) * old;
            }
            memcpy((char *)(uintptr_t)at(&op->d, d, row, col), &v, sizeof v);
        }
    }
}

static void finish_i32(const struct gemm_op *op, const struct resolved *s, const struct tile *t,
                       const char *c, char *d)
{
    const uint32_t alpha = (uint32_t)(int32_t)s->alpha[0], beta = (uint32_t)(int32_t)s->beta[0];
    for (int64_t j = 0; j < t->cols; j++)
        for (int64_t i = 0; i < t->rows; i++) {
            const int64_t row = t->row + i, col = t->col + j;
            uint32_t old = 0, v = 0;
            if (s->product)
                v = alpha * ((const uint32_t *)t->sum)[i + j * t->rows];
            if (s->reads_c) {
                memcpy(&old, at(&op->c, c, row, col), sizeof old);
                v += beta * old;
            }
            memcpy((char *)(uintptr_t)at(&op->d, d, row, col), &v, sizeof v);
        }
}

/* One complex element, in double for both precisions: products of FP32 numbers are exact there. */
static void finish_complex(const struct gemm_op *op, const struct resolved *s, const struct tile *t,
                           const char *c, char *d)
{
    const bool single = op->domain == DOMAIN_C32;
    const cudaDataType c_part = type_of_part(op->c.type), d_part = type_of_part(op->d.type);
    for (int64_t j = 0; j < t->cols; j++) {
        int64_t from, to;
        stored_rows(op, t, j, &from, &to);
        for (int64_t i = from; i < to; i++) {
            const int64_t row = t->row + i, col = t->col + j, e = 2 * (i + j * t->rows);
            double sum[2] = {0.0, 0.0}, old[2] = {0.0, 0.0}, v[2] = {0.0, 0.0};
            if (s->product) {
                sum[0] = single ? (double)((float *)t->sum)[e] : ((double *)t->sum)[e];
                sum[1] = single ? (double)((float *)t->sum)[e + 1] : ((double *)t->sum)[e + 1];
                v[0] = s->alpha[0] * sum[0] - s->alpha[1] * sum[1];
                v[1] = s->alpha[0] * sum[1] + s->alpha[1] * sum[0];
            }
            if (s->reads_c) {
                float f[2];
                const char *from_c = at(&op->c, c, row, col);
                if (!doubles_of(old, from_c, c_part, 2)) {
                    floats_of(f, from_c, c_part, 2);
                    old[0] = (double)f[0];
                    old[1] = (double)f[1];
                }
                v[0] += s->beta[0] * old[0] - s->beta[1] * old[1];
                v[1] += s->beta[0] * old[1] + s->beta[1] * old[0];
            }
            char *to_d = (char *)(uintptr_t)at(&op->d, d, row, col);
            if (op->hermitian && row == col)
                v[1] = 0.0;
            if (!doubles_to(to_d, v, d_part, 2)) {
                const float f[2] = {(float)v[0], (float)v[1]};
                floats_to(to_d, f, d_part, 2);
            }
        }
    }
}

void tile_finish(const struct gemm_op *op, const struct resolved *s, const struct tile *t,
                 const char *c, char *d)
{
    switch (op->domain) {
    case DOMAIN_F32:
        finish_f32(op, s, t, c, d);
        break;
    case DOMAIN_F64:
        finish_f64(op, s, t, c, d);
        break;
    case DOMAIN_I32:
        if (op->scale_type == CUDA_R_32I)
            finish_i32(op, s, t, c, d);
        else
            finish_f32(op, s, t, c, d);
        break;
    case DOMAIN_C32:
    case DOMAIN_C64:
        finish_complex(op, s, t, c, d);
        break;
    }
}
