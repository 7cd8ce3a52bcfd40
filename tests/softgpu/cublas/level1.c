/* SPDX-License-Identifier: BSD-3-Clause
 * Level 1 of BLAS as work on the stream: axpy, scal, copy, swap, dot, nrm2, asum, amax, amin, rot,
 * rotm. The entry points (level1_entries.c) fill a struct level1. No state. */
#include "level1.h"

#include <math.h>

enum { BLOCK = 256 };

/* alpha x + y as the GPU computes it: one rounding for real numbers. */
static struct z multiply_add(struct z alpha, struct z x, struct z y, bool single, bool is_complex)
{
    if (!is_complex)
        return single ? z_of((double)fmaf((float)alpha.re, (float)x.re, (float)y.re), 0.0)
                      : z_of(fma(alpha.re, x.re, y.re), 0.0);
    return z_add(z_mul(alpha, x), y);
}

static bool is_single(cudaDataType type)
{
    return type_of_part(type) != CUDA_R_64F;
}

static void update(const struct level1 *op, const struct z s[2], const double param[5])
{
    struct z x[BLOCK], y[BLOCK];
    const int64_t n = op->n;
    const bool two = op->kind != LEVEL1_SCAL;
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t count = n - i < BLOCK ? n - i : BLOCK;
        vector_load(&op->x, n, i, count, x);
        if (two && op->kind != LEVEL1_COPY)
            vector_load(&op->y, n, i, count, y);
        for (int64_t j = 0; j < count; j++) {
            const struct z a = x[j], b = y[j];
            switch (op->kind) {
            case LEVEL1_AXPY:
                y[j] = multiply_add(s[0], a, b, is_single(op->y.type), type_is_complex(op->y.type));
                break;
            case LEVEL1_SCAL:
                x[j] = z_mul(s[0], a);
                break;
            case LEVEL1_COPY:
                y[j] = a;
                break;
            case LEVEL1_SWAP:
                x[j] = b;
                y[j] = a;
                break;
            case LEVEL1_ROT: /* s[0] is c, s[1] is s */
                x[j] = z_add(z_mul(s[0], a), z_mul(s[1], b));
                y[j] = z_sub(z_mul(s[0], b), z_mul(z_conj(s[1], true), a));
                break;
            default: /* LEVEL1_ROTM */
                x[j] = z_of(param[1] * a.re + param[3] * b.re, 0.0);
                y[j] = z_of(param[2] * a.re + param[4] * b.re, 0.0);
            }
        }
        if (op->kind != LEVEL1_AXPY && op->kind != LEVEL1_COPY)
            vector_store(&op->x, n, i, count, x);
        if (two)
            vector_store(&op->y, n, i, count, y);
    }
}

/* Complex numbers count as |re| + |im|. */
static double magnitude(struct z x)
{
    return fabs(x.re) + fabs(x.im);
}

struct reduction {
    struct z sum;
    double largest, scale, square; /* nrm2: scale^2 * square */
    int64_t at;                    /* 1-based; 0: none yet */
};

static void add_square(struct reduction *r, double x)
{
    const double a = fabs(x);
    if (a == 0.0)
        return;
    if (a == r->scale) { /* infinity too */
        r->square += 1.0;
    } else if (!(a <= r->scale)) { /* NaN comes here and stays */
        r->square = 1.0 + r->square * (r->scale / a) * (r->scale / a);
        r->scale = a;
    } else {
        r->square += (a / r->scale) * (a / r->scale);
    }
}

static struct z reduce(const struct level1 *op)
{
    struct z x[BLOCK], y[BLOCK];
    struct reduction r = {.square = 0.0};
    const bool dot = op->kind == LEVEL1_DOT || op->kind == LEVEL1_DOTC;
    for (int64_t i = 0; i < op->n; i += BLOCK) {
        const int64_t count = op->n - i < BLOCK ? op->n - i : BLOCK;
        vector_load(&op->x, op->n, i, count, x);
        if (dot)
            vector_load(&op->y, op->n, i, count, y);
        for (int64_t j = 0; j < count; j++) {
            const double size = magnitude(x[j]);
            if (dot)
                r.sum = z_add(r.sum, z_mul(z_conj(x[j], op->kind == LEVEL1_DOTC), y[j]));
            else if (op->kind == LEVEL1_ASUM)
                r.sum.re += size;
            else if (op->kind == LEVEL1_NRM2) {
                add_square(&r, x[j].re);
                add_square(&r, x[j].im);
            } else if (r.at == 0 ||
                       (op->kind == LEVEL1_AMAX ? size > r.largest : size < r.largest)) {
                r.largest = size;
                r.at = i + j + 1;
            }
        }
    }
    if (op->kind == LEVEL1_NRM2)
        return z_of(r.scale * sqrt(r.square), 0.0);
    if (op->kind == LEVEL1_AMAX || op->kind == LEVEL1_AMIN)
        return z_of((double)r.at, 0.0);
    return r.sum;
}

static bool reduces(enum level1_kind kind)
{
    return kind >= LEVEL1_DOT;
}

/* The five numbers of rotm, with what its flag leaves out filled in. */
static void expand_param(double p[5])
{
    const double flag = p[0];
    if (flag == -2.0) {
        p[1] = p[4] = 1.0;
        p[2] = p[3] = 0.0;
    } else if (flag == 0.0) {
        p[1] = p[4] = 1.0;
    } else if (flag == 1.0) {
        p[2] = -1.0;
        p[3] = 1.0;
    }
}

static CUresult run(void *arg, void *space)
{
    const struct level1 *op = arg;
    const struct gpu *gpu = gpu_get();
    const bool writes_x = op->kind == LEVEL1_SCAL || op->kind == LEVEL1_SWAP ||
                          op->kind == LEVEL1_ROT || op->kind == LEVEL1_ROTM;
    struct z s[2] = {{0, 0}, {0, 0}};
    double param[5] = {0};
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < op->scalars && result == CUDA_SUCCESS; i++)
        result = scalar_read(gpu, space, &op->scalar[i], op->who, &s[i]);
    if (op->kind == LEVEL1_ROTM) {
        const size_t size = type_bytes(op->x.type);
        const char *from =
            op->param.place == PLACE_DEVICE ? op->param.device : (void *)op->param_host;
        if (op->param.place == PLACE_DEVICE)
            result = gpu->check(space, from, 5 * size, 0, op->who);
        for (size_t i = 0; i < 5 && result == CUDA_SUCCESS; i++)
            param[i] = z_load(from + i * size, op->x.type).re;
        expand_param(param);
    }
    if (result == CUDA_SUCCESS)
        result = vector_check(gpu, space, &op->x, op->n, writes_x, op->who);
    if (result == CUDA_SUCCESS && op->y.data != NULL)
        result = vector_check(gpu, space, &op->y, op->n, !reduces(op->kind), op->who);
    if (result != CUDA_SUCCESS)
        return result;
    if (reduces(op->kind))
        return result_write(gpu, space, &op->result, reduce(op), op->who);
    if (!(op->kind == LEVEL1_AXPY && z_zero(s[0])))
        update(op, s, param);
    return CUDA_SUCCESS;
}

cublasStatus_t level1_run(cublasHandle_t handle, struct level1 *op)
{
    const uint64_t touched = (uint64_t)(op->n > 0 ? op->n : 0) * type_bytes(op->x.type) * 2;
    if (reduces(op->kind)) {
        if (op->result.to == NULL)
            return CUBLAS_STATUS_INVALID_VALUE;
        op->result.device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
        if (op->n < 0)
            op->n = 0; /* the result of nothing is zero */
    } else if (op->n <= 0) {
        return CUBLAS_STATUS_SUCCESS;
    }
    if (type_bytes(op->x.type) == 0 || (op->y.data != NULL && type_bytes(op->y.type) == 0))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const cublasStatus_t status = work_enqueue(handle, op->who, run, op, sizeof *op, touched,
                                               2 * (uint64_t)op->n, op->x.type);
    return reduces(op->kind) ? work_wait(handle, status) : status;
}
