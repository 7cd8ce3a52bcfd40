/* SPDX-License-Identifier: BSD-3-Clause
 * References for kernels/language.cu. No state. */
#include "kernel_tests.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };

static void templates(struct device *dev, struct random *r)
{
    int *a = random_ints(r, N, -2000, 2000), *da = device_copy(dev, a, N * sizeof *a), n = N;
    int *oa = device_alloc(dev, N * sizeof *a);
    double *b = random_doubles(r, N, -3, 3), *db = device_copy(dev, b, N * sizeof *b);
    double *ob = device_alloc(dev, N * sizeof *b);
    unsigned char *dc = device_alloc(dev, N), *oc = device_alloc(dev, N);

    for (int i = 0; i < N; i++)
        dc[i] = (unsigned char)i;
    device_run(dev, "powerIiLi3E", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &da, &oa));
    device_run(dev, "powerIdLi4E", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &db, &ob));
    device_run(dev, "powerIhLi2E", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &dc, &oc));
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(oa[i], (int)((unsigned)a[i] * (unsigned)a[i] * (unsigned)a[i]));
        ck_assert_double_eq(ob[i], b[i] * b[i] * b[i] * b[i]);
        ck_assert_int_eq(oc[i], (unsigned char)(i * i));
    }
    free(a);
    free(b);
}

static void function_pointers(struct device *dev, struct random *r)
{
    int *which = random_ints(r, N, 0, 3), *d = device_copy(dev, which, N * sizeof *d), n = N;
    int *out = device_alloc(dev, N * sizeof *out);

    device_run(dev, "function_pointers", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(out[i], which[i] == 0 ? i + 7 : which[i] == 1 ? i - 7 : (i * 3 ^ 7));
    free(which);
}

static void virtual_calls(struct device *dev, struct random *r)
{
    int n = N;
    float *out = device_alloc(dev, N * sizeof *out);

    (void)r;
    device_run(dev, "virtual_calls", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &out));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(out[i], (i % 3 ? 1.0f : 3.0f) * (float)i * (float)i);
}

static int64_t fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static void recursion(struct device *dev, struct random *r)
{
    int n = 100;
    int64_t *out = device_alloc(dev, 100 * sizeof *out);

    (void)r;
    device_run(dev, "recursion", DIM1(2), DIM1(64), 0, ARGS(&n, &out));
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(out[i], fibonacci(i % 15) * 1000 + ackermann(i % 3, i % 4));
}

static void local_arrays(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, 0, INT32_MAX), *d = device_copy(dev, in, N * sizeof *in), n = N;
    int *out = device_alloc(dev, N * sizeof *out);

    device_run(dev, "local_arrays", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < N; i++) {
        int stack[24], top = 0;
        unsigned v = 0;

        for (int w = in[i]; w > 0 && top < 24; w /= 3)
            stack[top++] = w % 3;
        for (int k = 0; k < top; k++)
            v = v * 3 + (unsigned)stack[(k * 7 + i) % top];
        ck_assert_int_eq(out[i], (int)v);
    }
    free(in);
}

static void module_variables(struct device *dev, struct random *r)
{
    static const short lookup[16] = {3, -1, 4, 1, -5, 9, 2, 6, 5, -3, 5, 8, 9, -7, 9, 32000};
    int n = N, *out = device_alloc(dev, N * sizeof *out);
    double *total = device_alloc(dev, sizeof *total);
    int *counter = device_variable(dev, "counter");

    (void)r;
    ck_assert_int_eq(*counter, 5);
    *(float *)device_variable(dev, "scale") = 0.5f;
    device_run(dev, "module_variables", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &out, &total));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(out[i], lookup[i % 16] + (int)(0.5f * (float)i) + (i % 2 ? 'd' : 'v'));
    ck_assert_int_eq(*counter, 5 + N);
    ck_assert_double_eq(*total, 0.5 - 1.25 + 3 + 1);
}

static void print_lines(struct device *dev, struct random *r)
{
    char want[4096], *at = want;
    int n = 4;

    (void)r;
    device_run(dev, "print_lines", DIM1(1), DIM1(8), 0, ARGS(&n));
    for (int i = 0; i < n; i++)
        at += sprintf(at, "thread %d of %u: %5.2f %s %c %lld %%\n", i, (unsigned)n, i * 0.25,
                      i % 2 ? "odd" : "even", 'a' + i, 1ll << (i * 13));
    ck_assert_str_eq(dev->printed, want);
}

static void device_memory(struct device *dev, struct random *r)
{
    int n = 100, **lists = device_alloc(dev, 100 * sizeof *lists),
        *sums = device_alloc(dev, 100 * sizeof *sums);
    size_t live = 0;

    (void)r;
    device_run(dev, "device_memory", DIM1(2), DIM1(64), 0, ARGS(&n, &lists, &sums));
    for (int i = 0; i < n; i++) {
        struct sg_range range;

        ck_assert_int_eq(sums[i], i * i * (i + 1) / 2);
        ck_assert_uint_eq((uintptr_t)lists[i] % 16, 0);
        ck_assert(sg_arena_owns(dev->heap, (uintptr_t)lists[i]));
        if (i % 2)
            continue;
        ck_assert(sg_arena_find(dev->heap, (uintptr_t)lists[i], &range));
        ck_assert_uint_ge(range.bytes, (size_t)(i + 1) * sizeof(int));
        live += (size_t)(i + 1) * sizeof(int);
        for (int k = 0; k <= i; k++)
            ck_assert_int_eq(lists[i][k], k * i);
    }
    ck_assert_uint_ge(sg_arena_used(dev->heap), live);
}

static void fails_assert(struct device *dev, struct random *r)
{
    int limit = 70;

    (void)r;
    ck_assert_int_eq(device_try(dev, "fails_assert", DIM1(1), DIM1(64), 0, ARGS(&limit)), SG_OK);
    ck_assert_int_eq(device_try(dev, "fails_assert", DIM1(2), DIM1(64), 0, ARGS(&limit)),
                     SG_FAULT_ASSERT);
    ck_assert_uint_eq(dev->fault.block[0], 1);
    ck_assert_uint_eq(dev->fault.thread[0], 6);
    ck_assert_msg(strstr(dev->fault.message, "i < limit") != NULL, "message: %s",
                  dev->fault.message);
}

static void traps(struct device *dev, struct random *r)
{
    int at = 100;

    (void)r;
    ck_assert_int_eq(device_try(dev, "traps", DIM1(2), DIM1(64), 0, ARGS(&at)), SG_FAULT_TRAP);
    ck_assert_uint_eq(dev->fault.block[0], 1);
    ck_assert_uint_eq(dev->fault.thread[0], 36);
}

static int jump(int v)
{
    switch (v % 12) {
    case 0:
        return v + 17;
    case 1:
        return v * 3;
    case 2:
        return v ^ 0x55;
    case 3:
        return -v;
    case 4:
        return v << 2;
    case 5:
        return v >> 1;
    case 6:
        return v * v;
    case 7:
        return v - 1000;
    case 8:
        return v | 0x100;
    case 9:
        return v & 0xff;
    case 10:
        return ~v;
    default:
        return 1;
    }
}

static void jump_table(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, 0, 30000), *d = device_copy(dev, in, N * sizeof *in), n = N;
    int *out = device_alloc(dev, N * sizeof *out);

    device_run(dev, "jump_table", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(out[i], jump(in[i]));
    free(in);
}

static void lambdas(struct device *dev, struct random *r)
{
    int n = N, *out = device_alloc(dev, N * sizeof *out);

    (void)r;
    device_run(dev, "lambdas", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &out));
    for (int i = 0; i < N; i++) {
        int want = 0;

        for (int k = 0; k < 20; k++)
            want += k % (i + 1);
        for (int k = 0; k < i % 4; k++)
            want += k * n;
        ck_assert_int_eq(out[i], want);
    }
}

static void multiply(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c[4 * i + j] = 0;
            for (int k = 0; k < 4; k++)
                c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
        }
}

static void struct_calls(struct device *dev, struct random *r)
{
    int n = 100;
    double *a = random_doubles(r, 16 * n, -1, 1), *d = device_copy(dev, a, (size_t)n * 128);
    double *out = device_alloc(dev, (size_t)n * 128);

    device_run(dev, "struct_calls", DIM1(2), DIM1(64), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < n; i++) {
        double inner[16], want[16];

        multiply(a + 16 * i, a + 16 * ((i + 1) % n), inner);
        multiply(a + 16 * i, inner, want);
        near_doubles("matrix", out + 16 * i, want, 16, 1e-13, 1e-13);
    }
    free(a);
}

static const struct kernel_test tests[] = {
    {"templates", templates},         {"function_pointers", function_pointers},
    {"virtual_calls", virtual_calls}, {"recursion", recursion},
    {"local_arrays", local_arrays},   {"module_variables", module_variables},
    {"print_lines", print_lines},     {"device_memory", device_memory},
    {"fails_assert", fails_assert},   {"traps", traps},
    {"jump_table", jump_table},       {"lambdas", lambdas},
    {"struct_calls", struct_calls},
};

GROUP(group_language, "language", tests);
