/* SPDX-License-Identifier: BSD-3-Clause
 * References for kernels/basic.cu. No state. */
#include "kernel_tests.h"

#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };

static void saxpy(struct device *dev, struct random *r)
{
    float *x = random_floats(r, N, -2, 2), *y = random_floats(r, N, -2, 2), a = 1.25f;
    float *dx = device_copy(dev, x, N * sizeof *x), *dy = device_copy(dev, y, N * sizeof *y);
    int n = N;

    device_run(dev, "saxpy", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &a, &dx, &dy));
    for (int i = 0; i < N; i++)
        y[i] = fmaf(a, x[i], y[i]);
    near_floats("y", dy, y, N, 1e-6, 1e-7);
    ck_assert_uint_eq(dev->counts.threads, BLOCKS * BLOCK);
    ck_assert_uint_eq(dev->counts.global_read_bytes, N * 8);
    ck_assert_uint_eq(dev->counts.global_write_bytes, N * 4);
    ck_assert_uint_eq(dev->counts.flop_f32, N * 2);
    free(x);
    free(y);
}

static void grid_stride(struct device *dev, struct random *r)
{
    double *x = random_doubles(r, N, -5, 5), *want = malloc(N * sizeof *want), a = -0.75, b = 3;
    double *dx = device_copy(dev, x, N * sizeof *x), *dy = device_alloc(dev, N * sizeof *x);
    int64_t n = N;

    device_run(dev, "grid_stride", DIM1(3), DIM1(96), 0, ARGS(&n, &a, &b, &dx, &dy));
    for (int i = 0; i < N; i++) {
        volatile double product = a * x[i];

        want[i] = product + b;
    }
    same_bytes("y", dy, want, N * sizeof *want);
    free(x);
    free(want);
}

static void int_division(struct device *dev, struct random *r)
{
    int *a = random_ints(r, N, INT32_MIN, INT32_MAX), *b = random_ints(r, N, -50, 50), n = N;
    int *da = device_copy(dev, a, N * sizeof *a), *db = device_copy(dev, b, N * sizeof *b);
    int *dq = device_alloc(dev, N * sizeof *a), *dr = device_alloc(dev, N * sizeof *a);
    unsigned *d7 = device_alloc(dev, N * sizeof *d7);

    device_run(dev, "int_division", DIM1(BLOCKS), DIM1(BLOCK), 0,
               ARGS(&n, &da, &db, &dq, &dr, &d7));
    for (int i = 0; i < N; i++) {
        if (!b[i])
            continue;
        ck_assert_int_eq(dq[i], a[i] / b[i]);
        ck_assert_int_eq(dr[i], a[i] % b[i]);
        ck_assert_uint_eq(d7[i], (unsigned)a[i] / 7 + (unsigned)(a[i] % 10));
    }
    free(a);
    free(b);
}

static void long_arithmetic(struct device *dev, struct random *r)
{
    int64_t *da = device_alloc(dev, N * sizeof *da), *db = device_alloc(dev, N * sizeof *db);
    int64_t *out = device_alloc(dev, 4 * N * sizeof *out);
    int n = N;

    for (int i = 0; i < N; i++) {
        da[i] = (int64_t)random_bits(r);
        db[i] = (int64_t)random_bits(r) >> random_below(r, 60);
    }
    device_run(dev, "long_arithmetic", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &da, &db, &out));
    for (int i = 0; i < N; i++) {
        uint64_t u = (uint64_t)da[i], v = (uint64_t)db[i] | 1;
        __extension__ unsigned __int128 wide = (unsigned __int128)u * v;
        __extension__ __int128 wide_signed = (__int128)da[i] * db[i];

        ck_assert_uint_eq((uint64_t)out[4 * i], u * v + (u >> 7) - (v << 3));
        ck_assert_uint_eq((uint64_t)out[4 * i + 1], (u / v) ^ (u % v));
        ck_assert_uint_eq((uint64_t)out[4 * i + 2], (uint64_t)(wide >> 64));
        ck_assert_uint_eq((uint64_t)out[4 * i + 3], (uint64_t)(wide_signed >> 64) +
                                                        (uint64_t)(da[i] < db[i] ? da[i] : db[i]));
    }
}

static unsigned count_bits(uint64_t v)
{
    unsigned n = 0;

    for (; v; v &= v - 1)
        n++;
    return n;
}

static unsigned leading_zeros(uint64_t v, int bits)
{
    unsigned n = 0;

    for (int i = bits - 1; i >= 0 && !(v >> i & 1); i--)
        n++;
    return n;
}

static unsigned first_set(uint64_t v)
{
    for (unsigned i = 0; i < 64; i++)
        if (v >> i & 1)
            return i + 1;
    return 0;
}

static void bit_tricks(struct device *dev, struct random *r)
{
    unsigned *x = device_alloc(dev, N * sizeof *x), *out = device_alloc(dev, 8 * N * sizeof *out);
    int n = N;

    for (int i = 0; i < N; i++)
        x[i] = (unsigned)(random_bits(r) >> random_below(r, 64));
    device_run(dev, "bit_tricks", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &x, &out));
    for (int i = 0; i < N; i++) {
        unsigned v = x[i], reversed = 0, sad = (unsigned)llabs((int64_t)(int)v - i) + 7;
        uint64_t pair = (uint64_t)(v * 3) << 32 | v;

        for (int k = 0; k < 32; k++)
            reversed |= (v >> k & 1) << (31 - k);
        ck_assert_uint_eq(out[8 * i], count_bits(v));
        ck_assert_uint_eq(out[8 * i + 1], leading_zeros(v, 32));
        ck_assert_uint_eq(out[8 * i + 2], reversed);
        ck_assert_uint_eq(out[8 * i + 3], first_set(v));
        ck_assert_uint_eq(out[8 * i + 4], (v & 0xff) | (~v & 0xff) << 8 | (v >> 8 & 0xff) << 16 |
                                              (~v >> 8 & 0xff) << 24);
        ck_assert_uint_eq(out[8 * i + 5], (unsigned)(pair << (i & 31) >> 32));
        ck_assert_uint_eq(out[8 * i + 6], (v >> (i & 31)) & ((1u << (i & 15)) - 1));
        ck_assert_uint_eq(out[8 * i + 7], count_bits((uint64_t)v * 0x100000001ull) +
                                              leading_zeros(v, 64) + first_set(v) + sad);
    }
}

static void xorshift(struct device *dev, struct random *r)
{
    int n = N, rounds = 100;
    unsigned *state = (unsigned *)random_ints(r, N, 1, INT32_MAX),
             *d = device_copy(dev, state, N * sizeof *d);

    device_run(dev, "xorshift", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &rounds, &d));
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < rounds; k++) {
            state[i] ^= state[i] << 13;
            state[i] ^= state[i] >> 17;
            state[i] ^= state[i] << 5;
        }
        ck_assert_uint_eq(d[i], state[i]);
    }
    free(state);
}

static void mandelbrot(struct device *dev, struct random *r)
{
    int width = 70, height = 50, limit = 200,
        *out = device_alloc(dev, (size_t)(width * height) * sizeof *out);

    (void)r;
    device_run(dev, "mandelbrot", DIM2(5, 4), DIM2(16, 16), 0, ARGS(&width, &height, &limit, &out));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            volatile float t = (float)x / (float)width, cr, ci, zr = 0, zi = 0, r2, i2;
            int k;

            t = t * 3.0f;
            cr = t - 2.0f;
            t = (float)y / (float)height;
            t = t * 2.0f;
            ci = t - 1.0f;
            for (k = 0; k < limit; k++) {
                r2 = zr * zr;
                i2 = zi * zi;
                t = r2 + i2;
                if (t > 4.0f)
                    break;
                t = 2.0f * zr;
                t = t * zi;
                zi = t + ci;
                t = r2 - i2;
                zr = t + cr;
            }
            ck_assert_int_eq(out[y * width + x], k);
        }
}

static void collatz(struct device *dev, struct random *r)
{
    int n = 700, *out = device_alloc(dev, (size_t)n * sizeof *out);

    (void)r;
    device_run(dev, "collatz", DIM1(6), DIM1(BLOCK), 0, ARGS(&n, &out));
    for (int i = 0; i < n; i++) {
        int k = 0;

        for (long v = i + 1; v != 1; k++)
            v = v & 1 ? 3 * v + 1 : v / 2;
        ck_assert_int_eq(out[i], k);
    }
}

struct particle {
    double mass;
    char tag;
    float position[3];
    short charge;
    unsigned long long id;
};

static void struct_parameter(struct device *dev, struct random *r)
{
    struct particle p = {1.5, 'p', {1, 2, -3}, 77, 0x123456789abcdef0},
                    *out = device_alloc(dev, N * sizeof *out);
    int n = N;

    (void)r;
    device_run(dev, "struct_parameter", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &p, &out));
    for (int i = 0; i < N; i++) {
        ck_assert_double_eq(out[i].mass, 1.5 + i);
        ck_assert_int_eq(out[i].tag, 'p' + i % 5);
        for (int k = 0; k < 3; k++)
            ck_assert_float_eq(out[i].position[k], p.position[k] * (float)(i + k));
        ck_assert_int_eq(out[i].charge, (short)(77 - i));
        ck_assert_uint_eq(out[i].id, p.id ^ (uint64_t)i << 40);
    }
}

static void vector_types(struct device *dev, struct random *r)
{
    float *a = random_floats(r, 4 * N, -9, 9), *da = device_copy(dev, a, 4 * N * sizeof *a);
    int *b = random_ints(r, 2 * N, -70000, 70000), *db = device_copy(dev, b, 2 * N * sizeof *b),
        n = N;
    float *out = device_alloc(dev, 4 * N * sizeof *out);
    unsigned char *bytes = device_alloc(dev, 4 * N);

    device_run(dev, "vector_types", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &da, &db, &out, &bytes));
    for (int i = 0; i < N; i++) {
        const float *v = a + 4 * i;
        const int *w = b + 2 * i;

        ck_assert_float_eq(out[4 * i], v[3]);
        ck_assert_float_eq(out[4 * i + 1], v[0] + (float)w[0]);
        ck_assert_float_eq(out[4 * i + 2], v[1] * 2.0f);
        ck_assert_float_eq(out[4 * i + 3], v[2] - (float)w[1]);
        ck_assert_int_eq(bytes[4 * i], (unsigned char)w[0]);
        ck_assert_int_eq(bytes[4 * i + 1], (unsigned char)w[1]);
        ck_assert_int_eq(bytes[4 * i + 2], (unsigned char)(w[0] >> 8));
        ck_assert_int_eq(bytes[4 * i + 3], 255);
    }
    free(a);
    free(b);
}

static void narrow_types(struct device *dev, struct random *r)
{
    signed char *a = device_alloc(dev, N), *e = device_alloc(dev, N);
    unsigned char *b = device_alloc(dev, N);
    short *c = device_alloc(dev, 2 * N), c0[N];
    unsigned short *d = device_alloc(dev, 2 * N), d0[N];
    int n = N;

    for (int i = 0; i < N; i++) {
        a[i] = (signed char)random_bits(r);
        b[i] = (unsigned char)random_bits(r);
        c0[i] = c[i] = (short)random_bits(r);
        d0[i] = d[i] = (unsigned short)random_bits(r);
    }
    device_run(dev, "narrow_types", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &a, &b, &c, &d, &e));
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(c[i], (short)(a[i] * b[i] - c0[i]));
        ck_assert_int_eq(d[i], (unsigned short)(d0[i] * 257u + b[i]));
        ck_assert_int_eq(e[i], (signed char)((a[i] * 2 | b[i] >> 7) / 3));
    }
}

static void upper_case(struct device *dev, struct random *r)
{
    char *text = device_alloc(dev, N), before[N];
    int n = N, *vowels = device_alloc(dev, sizeof *vowels), want = 0;

    for (int i = 0; i < N; i++)
        before[i] = text[i] = (char)(32 + random_below(r, 95));
    device_run(dev, "upper_case", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &text, &vowels));
    for (int i = 0; i < N; i++) {
        int c = toupper((unsigned char)before[i]);

        ck_assert_int_eq(text[i], c);
        want += strchr("AEIOU", c) != NULL;
    }
    ck_assert_int_eq(*vowels, want);
    ck_assert_uint_eq(dev->counts.atomics, (unsigned)want);
}

static void indices(struct device *dev, struct random *r)
{
    int w = 3 * 5, h = 2 * 6, d = 4 * 3,
        *out = device_alloc(dev, (size_t)(w * h * d) * sizeof *out);
    int *dimensions = device_alloc(dev, 3 * sizeof *dimensions);

    (void)r;
    dev->order_seed = 7;
    device_run(dev, "indices", DIM3(3, 2, 4), DIM3(5, 6, 3), 0, ARGS(&out, &dimensions));
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                ck_assert_int_eq(out[(z * h + y) * w + x], (x << 20) + (y << 10) + z);
    ck_assert_int_eq(dimensions[0], 3002004);
    ck_assert_int_eq(dimensions[1], 5006003);
    ck_assert_int_eq(dimensions[2], 32);
}

static void big_grid(struct device *dev, struct random *r)
{
    unsigned n = 100000, *marks = device_alloc(dev, n * sizeof *marks);

    (void)r;
    dev->workers = 0;
    device_run(dev, "big_grid", DIM1(n), DIM1(32), 0, ARGS(&marks));
    for (unsigned i = 0; i < n; i++)
        ck_assert_uint_eq(marks[i], i * 2654435761u);
}

static void conversions(struct device *dev, struct random *r)
{
    float *x = random_floats(r, N, -1000, 1000), *dx = device_copy(dev, x, N * sizeof *x);
    double *d = random_doubles(r, N, -1e12, 1e12), *dd = device_copy(dev, d, N * sizeof *d);
    int n = N, *i32 = device_alloc(dev, N * sizeof *i32);
    unsigned *u32 = device_alloc(dev, N * sizeof *u32);
    int64_t *i64 = device_alloc(dev, N * sizeof *i64);
    float *f = device_alloc(dev, N * sizeof *f);
    unsigned char *u8 = device_alloc(dev, N);

    device_run(dev, "conversions", DIM1(BLOCKS), DIM1(BLOCK), 0,
               ARGS(&n, &dx, &dd, &i32, &u32, &i64, &f, &u8));
    for (int i = 0; i < N; i++) {
        float v = x[i], low = fminf(fmaxf(v, 0.0f), 255.0f), sum = (float)d[i] + rintf(v);

        ck_assert_int_eq(i32[i],
                         (int)v + (int)rintf(v) * 3 + (int)ceilf(v) * 5 + (int)floorf(v) * 7);
        ck_assert_uint_eq(u32[i], (unsigned)fabsf(v));
        ck_assert_int_eq(i64[i], (int64_t)d[i] + llrint(d[i]));
        sum = sum + floorf(v);
        sum = sum + truncf(v);
        ck_assert_float_eq(f[i], sum);
        ck_assert_int_eq(u8[i], (unsigned char)low);
    }
    free(x);
    free(d);
}

static const struct kernel_test tests[] = {
    {"saxpy", saxpy},
    {"grid_stride", grid_stride},
    {"int_division", int_division},
    {"long_arithmetic", long_arithmetic},
    {"bit_tricks", bit_tricks},
    {"xorshift", xorshift},
    {"mandelbrot", mandelbrot},
    {"collatz", collatz},
    {"struct_parameter", struct_parameter},
    {"vector_types", vector_types},
    {"narrow_types", narrow_types},
    {"upper_case", upper_case},
    {"indices", indices},
    {"big_grid", big_grid},
    {"conversions", conversions},
};

GROUP(group_basic, "basic", tests);
