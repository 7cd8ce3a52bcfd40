/* SPDX-License-Identifier: BSD-3-Clause
 * References for kernels/math.cu: the host's long double functions within the errors that the CUDA
 * documentation states, and exact rounding for the small formats. No state. */
#include "kernel_tests.h"
#include "num.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1500, ROWS = 16, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };

static long double reference(int row, long double v)
{
    switch (row) {
    case 0:
        return expl(v);
    case 1:
        return logl(fabsl(v));
    case 2:
        return sinl(v);
    case 3:
        return cosl(v);
    case 4:
        return tanl(v);
    case 5:
        return erfl(v);
    case 6:
        return tanhl(v);
    case 7:
        return cbrtl(v);
    case 8:
        return powl(fabsl(v), 1.7L);
    case 9:
        return atan2l(v, 2);
    case 10:
        return sqrtl(fabsl(v));
    case 11:
        return 1 / v;
    case 12:
        return fmodl(v, 0.7L);
    case 13:
        return lgammal(fabsl(v) + 0.5L);
    case 14:
        return floorl(v) + ceill(v) * 2 + rintl(v) * 4 + truncl(v) * 8;
    default:
        return asinl(v / 1000);
    }
}

static void double_functions(struct device *dev, struct random *r)
{
    double *x = random_doubles(r, N, -700, 700), *dx,
           *dy = device_alloc(dev, ROWS * N * sizeof *dy);
    static const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-310, 1e-20, 0.5};
    double want[N];
    int n = N;

    for (int i = 0; i < N; i += 2)
        x[i] /= 200;
    memcpy(x, special, sizeof special);
    dx = device_copy(dev, x, N * sizeof *x);
    device_run(dev, "double_functions", DIM2(BLOCKS, ROWS), DIM1(BLOCK), 0, ARGS(&n, &dx, &dy));
    for (int row = 0; row < ROWS; row++) {
        char what[32];

        for (int i = 0; i < N; i++) {
            want[i] = row == 12  ? fmod(x[i], 0.7)
                      : row == 8 ? pow(fabs(x[i]), 1.7)
                                 : (double)reference(row, x[i]);
        }
        snprintf(what, sizeof what, "double function %d", row);
        /* two units and a little; lgamma near its zeros is good to an absolute error */
        near_doubles(what, dy + row * N, want, N, 1e-15, row == 13 ? 1e-15 : 1e-320);
    }
    free(x);
}

static void float_functions(struct device *dev, struct random *r)
{
    float *x = random_floats(r, N, -80, 80), *dx, *dy = device_alloc(dev, ROWS * N * sizeof *dy),
          want[N];
    static const float special[] = {0.0f,      -0.0f, 1,      -1,     INFINITY,
                                    -INFINITY, NAN,   1e-40f, 1e-20f, 0.5f};
    int n = N;

    for (int i = 0; i < N; i += 2)
        x[i] /= 20;
    memcpy(x, special, sizeof special);
    dx = device_copy(dev, x, N * sizeof *x);
    device_run(dev, "float_functions", DIM2(BLOCKS, ROWS), DIM1(BLOCK), 0, ARGS(&n, &dx, &dy));
    for (int row = 0; row < ROWS; row++) {
        char what[32];

        for (int i = 0; i < N; i++) {
            double v = x[i];

            want[i] = row == 12   ? fmodf(x[i], 0.7f)
                      : row == 8  ? (float)pow(fabs(v), (double)1.7f)
                      : row == 13 ? (float)log1p(fabs(v))
                      : row == 15 ? (float)(exp2(v) + 1 / sqrt(fabs(v)) + log10(fabs(v)))
                                  : (float)reference(row, x[i]);
        }
        snprintf(what, sizeof what, "float function %d", row);
        near_floats(what, dy + row * N, want, N, row == 8 ? 5e-7 : 4e-7, row == 15 ? 4e-7 : 1e-44);
    }
    free(x);
}

static void fast_functions(struct device *dev, struct random *r)
{
    float *x = random_floats(r, N, 0.5f, 90), *dx = device_copy(dev, x, N * sizeof *x);
    float *dy = device_alloc(dev, N * sizeof *dy), want[N];
    int n = N;

    device_run(dev, "fast_functions", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &dx, &dy));
    for (int i = 0; i < N; i++) {
        double v = x[i];

        want[i] = (float)(exp(v * 0.01) + sin(v * 0.01) + 2 / v + log(v) + sqrt(v) + fmin(v, 1));
    }
    near_floats("fast", dy, want, N, 4e-6, 4e-6);
    free(x);
}

static uint64_t sum_of(const struct num_format *f, uint64_t a, uint64_t b)
{
    return num_encode(f, num_add(num_decode(f, a), num_decode(f, b), NUM_RN), NUM_RN, NULL);
}

static uint64_t fused_of(const struct num_format *f, uint64_t a, uint64_t b, struct num c)
{
    return num_encode(f, num_add(num_mul(num_decode(f, a), num_decode(f, b)), c, NUM_RN), NUM_RN,
                      NULL);
}

static void half_arithmetic(struct device *dev, struct random *r)
{
    uint16_t *in[2], *out[3];
    uint32_t *pair = device_alloc(dev, N * sizeof *pair);
    int n = N, *compare = device_alloc(dev, N * sizeof *compare);

    for (int k = 0; k < 2; k++) {
        in[k] = device_alloc(dev, N * sizeof *in[k]);
        for (int i = 0; i < N; i++)
            in[k][i] = (uint16_t)random_value(r, "f16", k ? in[0][i] : 0);
    }
    for (int k = 0; k < 3; k++)
        out[k] = device_alloc(dev, N * sizeof *out[k]);
    device_run(dev, "half_arithmetic", DIM1(BLOCKS), DIM1(BLOCK), 0,
               ARGS(&n, &in[0], &in[1], &out[0], &out[1], &out[2], &pair, &compare));
    for (int i = 0; i < N; i++) {
        uint16_t a = in[0][i], b = in[1][i];
        struct num x = num_decode(&num_f16, a), y = num_decode(&num_f16, b), half = num_from_int(1);
        bool nan = x.kind == NUM_NAN || y.kind == NUM_NAN;
        int order = nan ? 0 : num_compare(x, y);
        uint64_t product = num_encode(&num_f16, num_mul(x, y), NUM_RN, NULL);

        half.exp = -1;
        ck_assert_uint_eq(out[0][i], sum_of(&num_f16, a, b));
        ck_assert_uint_eq(out[1][i], product);
        ck_assert_uint_eq(out[2][i], fused_of(&num_f16, a, b, x));
        ck_assert_uint_eq(pair[i], fused_of(&num_f16, a, b, half) * 0x10001);
        ck_assert_int_eq(compare[i], (!nan && order < 0) + 2 * (!nan && order == 0) +
                                         4 * (x.kind == NUM_NAN) + 8 * (nan || order > 0));
    }
}

static void half_conversions(struct device *dev, struct random *r)
{
    float *x = random_floats(r, N, -3000, 3000), *dx;
    uint16_t *h = device_alloc(dev, N * sizeof *h), *root = device_alloc(dev, N * sizeof *root);
    float *back = device_alloc(dev, N * sizeof *back);
    int n = N, *whole = device_alloc(dev, N * sizeof *whole);

    for (int i = 0; i < N; i += 3)
        x[i] = ldexpf(x[i], -(i % 40)); /* down to subnormal halves */
    dx = device_copy(dev, x, N * sizeof *x);
    device_run(dev, "half_conversions", DIM1(BLOCKS), DIM1(BLOCK), 0,
               ARGS(&n, &dx, &h, &back, &whole, &root));
    for (int i = 0; i < N; i++) {
        uint32_t bits, back_bits;
        struct num v, whole_number = num_from_int(i);
        bool huge;
        uint64_t want, integer, truncated;

        memcpy(&bits, &x[i], 4);
        memcpy(&back_bits, &back[i], 4);
        v = num_decode(&num_f32, bits);
        want = num_encode(&num_f16, v, NUM_RN, NULL);
        integer = num_encode(&num_f16, whole_number, NUM_RN, NULL);
        truncated = num_encode(&num_f16, v, NUM_RZ, NULL);
        ck_assert_uint_eq(h[i], want);
        v = num_decode(&num_f16, want);
        ck_assert_uint_eq(back_bits, num_encode(&num_f32, v, NUM_RN, NULL));
        ck_assert_int_eq(whole[i],
                         (int)num_to_int(v, NUM_RN, &huge) + (int)num_to_int(v, NUM_RZ, &huge));
        ck_assert_uint_eq(root[i], sum_of(&num_f16, integer, truncated));
    }
    free(x);
}

static void bfloat_arithmetic(struct device *dev, struct random *r)
{
    uint16_t *a = device_alloc(dev, N * sizeof *a), *b = device_alloc(dev, N * sizeof *b);
    uint16_t *sum = device_alloc(dev, N * sizeof *sum),
             *fused = device_alloc(dev, N * sizeof *fused);
    float *wide = device_alloc(dev, N * sizeof *wide);
    int n = N;

    for (int i = 0; i < N;
         i++) { /* so few bits that older architectures' detour by float is exact */
        struct num x = num_from_int((int)random_below(r, 129) - 64),
                   y = num_from_int((int)random_below(r, 129) - 64);

        x.exp -= 3;
        y.exp -= 4;
        a[i] = (uint16_t)num_encode(&num_bf16, x, NUM_RN, NULL);
        b[i] = (uint16_t)num_encode(&num_bf16, y, NUM_RN, NULL);
    }
    device_run(dev, "bfloat_arithmetic", DIM1(BLOCKS), DIM1(BLOCK), 0,
               ARGS(&n, &a, &b, &sum, &fused, &wide));
    for (int i = 0; i < N; i++) {
        struct num x = num_decode(&num_bf16, a[i]), y = num_decode(&num_bf16, b[i]);

        ck_assert_uint_eq(sum[i], sum_of(&num_bf16, a[i], b[i]));
        ck_assert_uint_eq(fused[i], fused_of(&num_bf16, a[i], b[i], x));
        ck_assert_float_eq(wide[i], (float)num_value(num_mul(x, y)));
    }
}

static uint64_t fp8_of(const struct num_format *f, float x)
{
    uint32_t bits;
    uint64_t r;

    memcpy(&bits, &x, 4);
    r = num_encode(f, num_decode(&num_f32, bits), NUM_RN, NULL);
    if (!isnan(x) && (num_is_nan(f, r) || num_decode(f, r).kind == NUM_INF))
        r = num_largest(f, signbit(x));
    return r;
}

static void fp8_conversions(struct device *dev, struct random *r)
{
    float *x = random_floats(r, N, -600, 600), *dx;
    unsigned char *e4m3 = device_alloc(dev, N), *e5m2 = device_alloc(dev, N);
    uint16_t *back = device_alloc(dev, N * sizeof *back);
    int n = N;

    for (int i = 0; i < N; i += 2)
        x[i] = ldexpf(x[i], 10 - i % 36);
    for (int i = 1; i < N; i += 8) /* ties of subnormal E4M3 and E5M2 */
        x[i] = ldexpf((float)(i / 8 % 16) + 0.5f, i % 16 == 1 ? -9 : -16);
    x[0] = NAN;
    x[1] = INFINITY;
    x[2] = -INFINITY;
    dx = device_copy(dev, x, N * sizeof *x);
    device_run(dev, "fp8_conversions", DIM1(BLOCKS), DIM1(BLOCK), 0,
               ARGS(&n, &dx, &e4m3, &e5m2, &back));
    for (int i = 0; i < N; i++) {
        ck_assert_uint_eq(e4m3[i] & (isnan(x[i]) ? 0x7f : 0xff), fp8_of(&num_e4m3, x[i]));
        ck_assert_uint_eq(e5m2[i] & (isnan(x[i]) ? 0x7f : 0xff), fp8_of(&num_e5m2, x[i]));
        if (!isnan(x[i]))
            ck_assert_uint_eq(back[i],
                              num_encode(&num_f16, num_decode(&num_e4m3, e4m3[i]), NUM_RN, NULL));
    }
    free(x);
}

static const struct kernel_test tests[] = {
    {"double_functions", double_functions}, {"float_functions", float_functions},
    {"fast_functions", fast_functions},     {"half_arithmetic", half_arithmetic},
    {"half_conversions", half_conversions}, {"bfloat_arithmetic", bfloat_arithmetic},
    {"fp8_conversions", fp8_conversions},
};

GROUP(group_math, "math", tests);
