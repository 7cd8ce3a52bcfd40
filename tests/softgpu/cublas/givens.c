/* SPDX-License-Identifier: BSD-3-Clause
 * rotg and rotmg, which make rotations from one or two pairs of numbers, and the typed forms of
 * rotg, rotm, rotmg. With host pointers they work at once, with device pointers on the stream. */
#include "legacy.h"
#include "level1.h"

#include <math.h>

/* Addresses of the numbers: a, b, c, s of rotg; d1, d2, x1, y1, param of rotmg. */
struct givens {
    const char *who;
    bool modified; /* rotmg */
    cudaDataType type;
    void *p[5];
};

static double magnitude(struct z x)
{
    return hypot(x.re, x.im);
}

static void rotg_real(const struct givens *g)
{
    const double a = z_load(g->p[0], g->type).re, b = z_load(g->p[1], g->type).re;
    const double roe = fabs(a) > fabs(b) ? a : b;
    double c = 1.0, s = 0.0, r = 0.0, z = 0.0;
    if (a != 0.0 || b != 0.0) {
        r = copysign(hypot(a, b), roe);
        c = a / r;
        s = b / r;
        z = fabs(a) > fabs(b) ? s : c != 0.0 ? 1.0 / c : 1.0;
    }
    const double out[4] = {r, z, c, s};
    for (int i = 0; i < 4; i++)
        z_store(g->p[i], g->type, z_of(out[i], 0.0));
}

static void rotg_complex(const struct givens *g)
{
    const struct z a = z_load(g->p[0], g->type), b = z_load(g->p[1], g->type);
    const double size_a = magnitude(a), r = hypot(size_a, magnitude(b));
    struct z s = z_of(1.0, 0.0), out = b;
    double c = 0.0;
    if (size_a != 0.0) {
        const struct z phase = z_of(a.re / size_a, a.im / size_a);
        c = size_a / r;
        s = z_mul(phase, z_of(b.re / r, -b.im / r));
        out = z_of(phase.re * r, phase.im * r);
    }
    z_store(g->p[0], g->type, out);
    z_store(g->p[2], type_of_part(g->type), z_of(c, 0.0));
    z_store(g->p[3], g->type, s);
}

/* The modified rotation: makes the second component of H (sqrt(d1) x1, sqrt(d2) y1) zero and keeps
 * d1, d2 within 2^-24 .. 2^24 by scaling with 4096. param: flag, h11, h21, h12, h22. */
static void rotmg(const struct givens *g)
{
    const double far = 4096.0, far2 = far * far;
    double d1 = z_load(g->p[0], g->type).re, d2 = z_load(g->p[1], g->type).re;
    double x = z_load(g->p[2], g->type).re;
    const double y = z_load(g->p[3], g->type).re;
    double h[4] = {0.0, 0.0, 0.0, 0.0}, flag = -1.0; /* h11 h21 h12 h22 */
    const double p2 = d2 * y, p1 = d1 * x, q2 = p2 * y, q1 = p1 * x;
    if (d1 >= 0.0 && p2 == 0.0) {
        z_store(g->p[4], g->type, z_of(-2.0, 0.0));
        return;
    }
    if (d1 < 0.0 || (fabs(q1) <= fabs(q2) && q2 < 0.0)) {
        d1 = d2 = x = 0.0;
    } else if (fabs(q1) > fabs(q2)) {
        h[1] = -y / x;
        h[2] = p2 / p1;
        const double u = 1.0 - h[2] * h[1];
        flag = 0.0;
        d1 /= u;
        d2 /= u;
        x *= u;
    } else {
        h[0] = p1 / p2;
        h[3] = x / y;
        const double u = 1.0 + h[0] * h[3], old = d1;
        flag = 1.0;
        d1 = d2 / u;
        d2 = old / u;
        x = y * u;
    }
    double *const d[2] = {&d1, &d2};
    for (int i = 0; i < 2; i++)
        while (*d[i] != 0.0 && (fabs(*d[i]) <= 1.0 / far2 || fabs(*d[i]) >= far2)) {
            const bool small = fabs(*d[i]) <= 1.0 / far2;
            if (flag == 0.0)
                h[0] = h[3] = 1.0;
            if (flag == 1.0) {
                h[1] = -1.0;
                h[2] = 1.0;
            }
            flag = -1.0;
            *d[i] *= small ? far2 : 1.0 / far2;
            const double by = small ? 1.0 / far : far;
            if (i == 0) {
                x *= by;
                h[0] *= by;
                h[2] *= by;
            } else {
                h[1] *= by;
                h[3] *= by;
            }
        }
    const double out[3] = {d1, d2, x}, param[5] = {flag, h[0], h[1], h[2], h[3]};
    for (int i = 0; i < 3; i++)
        z_store(g->p[i], g->type, z_of(out[i], 0.0));
    for (int i = 0; i < 5; i++) {
        /* what the flag implies is not stored */
        const bool implied =
            (flag == 0.0 && (i == 1 || i == 4)) || (flag == 1.0 && (i == 2 || i == 3));
        if (!implied)
            z_store((char *)g->p[4] + (size_t)i * type_bytes(g->type), g->type,
                    z_of(param[i], 0.0));
    }
}

static void compute(const struct givens *g)
{
    if (g->modified)
        rotmg(g);
    else if (type_is_complex(g->type))
        rotg_complex(g);
    else
        rotg_real(g);
}

static CUresult run(void *arg, void *space)
{
    const struct givens *g = arg;
    const int n = g->modified ? 5 : 4;
    for (int i = 0; i < n; i++) {
        const bool real = !g->modified && i == 2;
        const size_t one = type_bytes(real ? type_of_part(g->type) : g->type);
        const size_t bytes = i == 4 ? 5 * one : one;
        CUresult result =
            gpu_get()->check(space, g->p[i], bytes, g->modified ? i != 3 : i != 1, g->who);
        if (result != CUDA_SUCCESS)
            return result;
    }
    compute(g);
    return CUDA_SUCCESS;
}

static cublasStatus_t make(cublasHandle_t handle, const struct givens *g)
{
    for (int i = 0; i < (g->modified ? 5 : 4); i++)
        if (g->p[i] == NULL)
            return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        return work_enqueue(handle, g->who, run, g, sizeof *g, 5 * type_bytes(g->type), 20,
                            g->type);
    compute(g);
    return CUBLAS_STATUS_SUCCESS;
}

#define ROTG(_name, _t, _type, _c)                                                                 \
    BLAS_API cublasStatus_t _name##_v2(cublasHandle_t handle, _t *a, _t *b, _c *c, _t *s)          \
    {                                                                                              \
        ENTER_WITH(handle, "%s", "");                                                              \
        const struct givens g = {.who = __func__, .type = _type, .p = {a, b, c, s, NULL}};         \
        return make(handle, &g);                                                                   \
    }
ROTG(cublasSrotg, float, CUDA_R_32F, float)
ROTG(cublasDrotg, double, CUDA_R_64F, double)
ROTG(cublasCrotg, cuComplex, CUDA_C_32F, float)
ROTG(cublasZrotg, cuDoubleComplex, CUDA_C_64F, double)

#define ROTMG(_name, _t, _type)                                                                    \
    BLAS_API cublasStatus_t _name##_v2(cublasHandle_t handle, _t *d1, _t *d2, _t *x1,              \
                                       const _t *y1, _t *param)                                    \
    {                                                                                              \
        ENTER_WITH(handle, "%s", "");                                                              \
        const struct givens g = {.who = __func__,                                                  \
                                 .modified = true,                                                 \
                                 .type = _type,                                                    \
                                 .p = {d1, d2, x1, (void *)(uintptr_t)y1, param}};                 \
        return make(handle, &g);                                                                   \
    }                                                                                              \
    LEGACY(void, _name, (_t * d1, _t * d2, _t * x1, const _t *y1, _t *param))                      \
    LEGACY_CALL(_name##_v2(legacy_handle(), d1, d2, x1, y1, param))
ROTMG(cublasSrotmg, float, CUDA_R_32F)
ROTMG(cublasDrotmg, double, CUDA_R_64F)

#define OLD_REAL(_name, _t)                                                                        \
    LEGACY(void, _name, (_t * a, _t * b, _t * c, _t * s))                                          \
    LEGACY_CALL(_name##_v2(legacy_handle(), a, b, c, s))
#define OLD_COMPLEX(_name, _t, _c)                                                                 \
    LEGACY(void, _name, (_t * a, _t b, _c * c, _t * s))                                            \
    LEGACY_CALL(_name##_v2(legacy_handle(), a, &b, c, s))
OLD_REAL(cublasSrotg, float)
OLD_REAL(cublasDrotg, double)
OLD_COMPLEX(cublasCrotg, cuComplex, float)
OLD_COMPLEX(cublasZrotg, cuDoubleComplex, double)

BLAS_API cublasStatus_t cublasRotgEx(cublasHandle_t handle, void *a, void *b, cudaDataType ab_type,
                                     void *c, void *s, cudaDataType cs_type, cudaDataType execution)
{
    ENTER_WITH(handle, "types %d %d %d", (int)ab_type, (int)cs_type, (int)execution);
    if (type_bytes(ab_type) == 0 || cs_type != ab_type)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const struct givens g = {.who = __func__, .type = ab_type, .p = {a, b, c, s, NULL}};
    return make(handle, &g);
}

BLAS_API cublasStatus_t cublasRotmgEx(cublasHandle_t handle, void *d1, cudaDataType d1_type,
                                      void *d2, cudaDataType d2_type, void *x1,
                                      cudaDataType x1_type, const void *y1, cudaDataType y1_type,
                                      void *param, cudaDataType param_type, cudaDataType execution)
{
    ENTER_WITH(handle, "type %d %d", (int)d1_type, (int)execution);
    if ((d1_type != CUDA_R_32F && d1_type != CUDA_R_64F) || d2_type != d1_type ||
        x1_type != d1_type || y1_type != d1_type || param_type != d1_type)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const struct givens g = {.who = __func__,
                             .modified = true,
                             .type = d1_type,
                             .p = {d1, d2, x1, (void *)(uintptr_t)y1, param}};
    return make(handle, &g);
}
