/* SPDX-License-Identifier: BSD-3-Clause
 * References for kernels/collect.cu. No state. */
#include "kernel_tests.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000, BLOCK = 256, BLOCKS = (N + BLOCK - 1) / BLOCK };

static void reduce_shared(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, -1000, 1000), *d = device_copy(dev, in, N * sizeof *in), n = N;
    int *out = device_alloc(dev, BLOCKS * sizeof *out), want[BLOCKS] = {0};

    dev->workers = 2;
    device_run(dev, "reduce_shared", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < N; i++)
        want[i / BLOCK] += in[i];
    same_ints("out", out, want, BLOCKS);
    free(in);
}

static void reduce_dynamic(struct device *dev, struct random *r)
{
    int *whole = random_ints(r, N, -1000, 1000), n = N, sum = 0;
    double *in = device_alloc(dev, N * sizeof *in), *out = device_alloc(dev, sizeof *out);

    for (int i = 0; i < N; i++) {
        in[i] = whole[i]; /* any order of addition is exact */
        sum += whole[i];
    }
    device_run(dev, "reduce_dynamic", DIM1(1), DIM1(512), 512 * sizeof(double),
               ARGS(&n, &in, &out));
    ck_assert_double_eq(*out, sum);
    free(whole);
}

static void reduce_max(struct device *dev, struct random *r)
{
    float *in = random_floats(r, N, -1e6f, 1e6f), *d = device_copy(dev, in, N * sizeof *in),
          want[BLOCKS];
    float *out = device_alloc(dev, BLOCKS * sizeof *out);
    int n = N;

    device_run(dev, "reduce_max", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int b = 0; b < BLOCKS; b++) {
        want[b] = -INFINITY;
        for (int i = b * BLOCK; i < N && i < (b + 1) * BLOCK; i++)
            want[b] = fmaxf(want[b], in[i]);
    }
    same_bytes("out", out, want, sizeof want);
    free(in);
}

static void reduce_atomic(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, INT32_MIN, INT32_MAX), *d = device_copy(dev, in, N * sizeof *in),
        n = N;
    uint64_t *sum = device_alloc(dev, sizeof *sum), want_sum = 0;
    int *low = device_alloc(dev, sizeof *low), *high = device_alloc(dev, sizeof *high), min = 0,
        max = 0;
    unsigned *bits = device_alloc(dev, sizeof *bits), want_bits = 0;

    dev->workers = 4;
    device_run(dev, "reduce_atomic", DIM1(BLOCKS), DIM1(BLOCK), 0,
               ARGS(&n, &d, &sum, &low, &high, &bits));
    for (int i = 0; i < N; i++) {
        want_sum += (uint64_t)(int64_t)in[i];
        want_bits ^= (unsigned)in[i];
        min = in[i] < min ? in[i] : min;
        max = in[i] > max ? in[i] : max;
    }
    ck_assert_uint_eq(*sum, want_sum);
    ck_assert_int_eq(*low, min);
    ck_assert_int_eq(*high, max);
    ck_assert_uint_eq(*bits, want_bits);
    free(in);
}

static void argmax(struct device *dev, struct random *r)
{
    float *in = random_floats(r, N, -10, 10), *d;
    uint64_t *best = device_alloc(dev, sizeof *best);
    int n = N, want = 0;

    in[1234] = in[4321] = 11;
    d = device_copy(dev, in, N * sizeof *in);
    dev->order_seed = 99;
    device_run(dev, "argmax", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &best));
    for (int i = 0; i < N; i++)
        want = in[i] > in[want] ? i : want;
    ck_assert_int_eq(N - (int)(uint32_t)*best, want);
    free(in);
}

static void scan(struct device *dev, struct random *r, const char *kernel, int width)
{
    int *in = random_ints(r, N, -100, 100), *d = device_copy(dev, in, N * sizeof *in), n = N,
        sum = 0;
    int *out = device_alloc(dev, N * sizeof *out);

    device_run(dev, kernel, DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < N; i++) {
        sum = (i % width ? sum : 0) + in[i];
        ck_assert_int_eq(out[i], sum);
    }
    free(in);
}

static void scan_block(struct device *dev, struct random *r)
{
    scan(dev, r, "scan_block", BLOCK);
}

static void scan_warp(struct device *dev, struct random *r)
{
    scan(dev, r, "scan_warp", 32);
}

static void compact_warp(struct device *dev, struct random *r)
{
    int *in = random_ints(r, BLOCKS * BLOCK, 0, 1000), warps = BLOCKS * BLOCK / 32;
    int *d = device_copy(dev, in, BLOCKS * BLOCK * sizeof *in),
        *out = device_alloc(dev, BLOCKS * BLOCK * sizeof *in);
    int *counts = device_alloc(dev, (size_t)warps * sizeof *counts);

    device_run(dev, "compact_warp", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&d, &out, &counts));
    for (int w = 0; w < warps; w++) {
        int k = 0;

        for (int i = 32 * w; i < 32 * w + 32; i++)
            if (in[i] % 2 == 0)
                ck_assert_int_eq(out[32 * w + k++], in[i]);
        ck_assert_int_eq(counts[w], k);
    }
    free(in);
}

static void histogram(struct device *dev, struct random *r)
{
    unsigned char *in = device_alloc(dev, N);
    unsigned *bins = device_alloc(dev, 256 * sizeof *bins), want[256] = {0};
    int n = N;

    for (int i = 0; i < N; i++) {
        in[i] = (unsigned char)(random_below(r, 256) & random_below(r, 256));
        want[in[i]]++;
    }
    dev->workers = 2;
    device_run(dev, "histogram", DIM1(4), DIM1(192), 0, ARGS(&n, &in, &bins));
    same_bytes("bins", bins, want, sizeof want);
}

static int order(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static void bitonic_sort(struct device *dev, struct random *r)
{
    enum { ROWS = 6 };
    unsigned want[ROWS * 512], *d = device_alloc(dev, sizeof want);

    for (int i = 0; i < ROWS * 512; i++)
        want[i] = d[i] = (unsigned)random_bits(r) >> (i % 31);
    device_run(dev, "bitonic_sort", DIM1(ROWS), DIM1(512), 0, ARGS(&d));
    for (int row = 0; row < ROWS; row++)
        qsort(want + row * 512, 512, sizeof *want, order);
    same_bytes("sorted", d, want, sizeof want);
}

static void transpose(struct device *dev, struct random *r)
{
    int rows = 75, columns = 101;
    float *in = random_floats(r, rows * columns, 0, 1),
          *d = device_copy(dev, in, (size_t)(rows * columns) * 4);
    float *out = device_alloc(dev, (size_t)(rows * columns) * 4);

    device_run(dev, "transpose", DIM2((columns + 15) / 16, (rows + 15) / 16), DIM2(16, 16), 0,
               ARGS(&rows, &columns, &d, &out));
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            ck_assert_float_eq(out[x * rows + y], in[y * columns + x]);
    free(in);
}

static void cas_add(struct device *dev, struct random *r)
{
    int *whole = random_ints(r, N, -1000, 1000), n = N, sum = 0;
    double *in = device_alloc(dev, N * sizeof *in), *out = device_alloc(dev, sizeof *out);

    for (int i = 0; i < N; i++) {
        in[i] = whole[i];
        sum += whole[i];
    }
    dev->workers = 4;
    device_run(dev, "cas_add", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &in, &out));
    ck_assert_double_eq(*out, sum);
    free(whole);
}

static void spin_lock(struct device *dev, struct random *r)
{
    int buckets = 5, *locks = device_alloc(dev, 5 * sizeof *locks),
        *counts = device_alloc(dev, 5 * sizeof *counts);

    (void)r;
    dev->workers = 2;
    device_run(dev, "spin_lock", DIM1(4), DIM1(100), 0, ARGS(&buckets, &locks, &counts));
    for (int b = 0; b < buckets; b++) {
        ck_assert_int_eq(locks[b], 0);
        ck_assert_int_eq(counts[b], 80);
    }
}

static void last_block(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, -1000, 1000), *d = device_copy(dev, in, N * sizeof *in), n = N,
        want = 0;
    int blocks = (N + 31) / 32, *parts = device_alloc(dev, (size_t)blocks * sizeof *parts);
    unsigned *arrived = device_alloc(dev, sizeof *arrived);
    int *total = device_alloc(dev, sizeof *total);

    dev->workers = 3;
    device_run(dev, "last_block", DIM1(blocks), DIM1(32), 0,
               ARGS(&n, &d, &parts, &arrived, &total));
    for (int i = 0; i < N; i++)
        want += in[i];
    ck_assert_int_eq(*total, want);
    ck_assert_uint_eq(*arrived, 0);
    free(in);
}

static void volatile_flag(struct device *dev, struct random *r)
{
    int *out = device_alloc(dev, 3 * sizeof *out);

    (void)r;
    device_run(dev, "volatile_flag", DIM1(3), DIM1(64), 0, ARGS(&out));
    for (int b = 0; b < 3; b++)
        ck_assert_int_eq(out[b], 42 + b);
}

static void barrier_votes(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, -101, 100), *d = device_copy(dev, in, N * sizeof *in), n = N;
    int *out = device_alloc(dev, 3 * BLOCKS * 4 * sizeof *out);

    device_run(dev, "barrier_votes", DIM1(BLOCKS * 4), DIM1(BLOCK / 4), 0, ARGS(&n, &d, &out));
    for (int b = 0; b < BLOCKS * 4; b++) {
        int count = 0, all = 1, any = 0;

        for (int i = b * BLOCK / 4; i < (b + 1) * BLOCK / 4; i++) {
            int v = i < N ? in[i] : 0;

            count += v > 0;
            all &= v > -100;
            any |= v > 95;
        }
        ck_assert_int_eq(out[3 * b], count);
        ck_assert_int_eq(out[3 * b + 1], all);
        ck_assert_int_eq(out[3 * b + 2], any);
    }
    free(in);
}

static void match_lanes(struct device *dev, struct random *r)
{
    enum { M = 640 };
    int *in = random_ints(r, M, 0, 8), *d;
    unsigned *any = device_alloc(dev, M * sizeof *any), *all = device_alloc(dev, M * sizeof *all);

    for (int i = 0; i < M; i++)
        in[i] += i / 32 % 3 == 0 ? 0 : 100 * (i % 2);
    d = device_copy(dev, in, M * sizeof *in);
    device_run(dev, "match_lanes", DIM1(M / 64), DIM1(64), 0, ARGS(&d, &any, &all));
    for (int i = 0; i < M; i++) {
        unsigned same = 0, every = 1;

        for (int k = 0; k < 32; k++) {
            same |= (unsigned)(in[i / 32 * 32 + k] == in[i]) << k;
            every &= in[i / 32 * 32 + k] / 100 == in[i] / 100;
        }
        ck_assert_uint_eq(any[i], same);
        ck_assert_uint_eq(all[i], every ? 0xffffffff - 2 : 0);
    }
    free(in);
}

static const struct kernel_test tests[] = {
    {"reduce_shared", reduce_shared},
    {"reduce_dynamic", reduce_dynamic},
    {"reduce_max", reduce_max},
    {"reduce_atomic", reduce_atomic},
    {"argmax", argmax},
    {"scan_block", scan_block},
    {"scan_warp", scan_warp},
    {"compact_warp", compact_warp},
    {"histogram", histogram},
    {"bitonic_sort", bitonic_sort},
    {"transpose", transpose},
    {"cas_add", cas_add},
    {"spin_lock", spin_lock},
    {"last_block", last_block},
    {"volatile_flag", volatile_flag},
    {"barrier_votes", barrier_votes},
    {"match_lanes", match_lanes},
};

GROUP(group_collect, "collect", tests);
