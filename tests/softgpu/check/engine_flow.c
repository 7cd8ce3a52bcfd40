/* SPDX-License-Identifier: BSD-3-Clause
 * Divergence, loops, locks, barriers and calls. No state. */
#include "engine_tests.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { N = 512, BLOCK = 128 };

/* N random numbers below limit in device memory. */
static uint32_t *numbers(struct device *dev, uint32_t limit)
{
    struct random r = {random_seed()};
    uint32_t *p = device_alloc(dev, N * sizeof *p);

    for (int i = 0; i < N; i++)
        p[i] = random_below(&r, limit);
    return p;
}

START_TEST(test_branches)
{
    struct device dev;
    uint32_t *x, *y, *z;

    engine_open(&dev, "branches");
    x = numbers(&dev, 20);
    y = device_alloc(&dev, N * 4);
    z = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, z, N);
    for (int i = 0; i < N; i++) {
        ck_assert_uint_eq(y[i], x[i] >= 10 ? x[i] - 5 : x[i] % 2 ? x[i] * 3 : x[i] + 100);
        ck_assert_uint_eq(z[i], 0xffffffff);
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_loops)
{
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "loops");
    x = numbers(&dev, 100);
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, y, N);
    for (int i = 0; i < N; i++) {
        uint32_t r = 1;

        for (uint32_t k = 1; k <= x[i]; k++)
            if (k % 5)
                r = 2 * r + x[i];
        ck_assert_uint_eq(y[i], x[i] == 7 ? 0 : r);
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_jump_table)
{
    static const uint32_t want[] = {111, 110, 100, 110};
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "jump_table");
    x = numbers(&dev, 4);
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, y, N);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(y[i], want[x[i]]);
    device_close(&dev);
}
END_TEST

START_TEST(test_spin_lock)
{
    struct device dev;
    uint32_t *lock, *count;

    engine_open(&dev, "spin_lock");
    lock = device_alloc(&dev, 4);
    count = device_alloc(&dev, 4);
    dev.workers = (unsigned)_i;
    engine_run(&dev, DIM1(6), DIM1(64), 0, lock, count, count, 0);
    ck_assert_uint_eq(*lock, 0);
    ck_assert_uint_eq(*count, 6 * 64);
    device_close(&dev);
}
END_TEST

START_TEST(test_lane_waits)
{
    struct device dev;
    uint32_t *flag, *seen;

    engine_open(&dev, "lane_waits");
    flag = device_alloc(&dev, 4);
    seen = device_alloc(&dev, 4);
    engine_run(&dev, DIM1(1), DIM1(32), 0, flag, seen, seen, 0);
    ck_assert_uint_eq(*seen, 77);
    device_close(&dev);
}
END_TEST

START_TEST(test_barriers)
{
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "barriers");
    x = numbers(&dev, 1000);
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, y, N);
    for (int i = 0; i < N; i++) /* three neighbours on, in the block's circle */
        ck_assert_uint_eq(y[i], x[i / BLOCK * BLOCK + (i + 3) % BLOCK] + 2);
    device_close(&dev);
}
END_TEST

START_TEST(test_producers)
{
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "producers");
    x = numbers(&dev, 1000);
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, y, N);
    for (int i = 0; i < N; i++) {
        uint32_t sum = 0;

        for (int k = 0; k < BLOCK - 32; k++)
            sum += x[i / BLOCK * BLOCK + k];
        ck_assert_uint_eq(y[i], i % BLOCK >= BLOCK - 32 ? sum : 0);
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_half_barriers)
{
    struct device dev;
    uint32_t *y;

    engine_open(&dev, "half_barriers");
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, y, y, y, N);
    for (uint32_t i = 0; i < N; i++)
        ck_assert_uint_eq(y[i], (i ^ 32) + (i % BLOCK >= BLOCK / 2 ? 1000 : 0));
    device_close(&dev);
}
END_TEST

START_TEST(test_barrier_reductions)
{
    struct device dev;
    uint32_t *x, *y, limit = (uint32_t)_i;

    engine_open(&dev, "barrier_reductions");
    x = numbers(&dev, 100);
    y = device_alloc(&dev, N * 4);
    for (int i = 0; i < BLOCK; i++) /* one block of equal votes */
        x[i] = 50;
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, y, limit);
    for (int b = 0; b < N / BLOCK; b++) {
        uint32_t count = 0, want;

        for (int i = 0; i < BLOCK; i++)
            count += x[b * BLOCK + i] > limit;
        want = (BLOCK - count) * 1000000 + count * 1000 + (count == BLOCK ? 1 : 0) +
               (count ? 2 : 0) + (count < BLOCK ? 4 : 0);
        for (int i = 0; i < BLOCK; i++)
            ck_assert_uint_eq(y[b * BLOCK + i], want);
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_exit_then_barrier)
{
    struct device dev;
    uint32_t *y;

    engine_open(&dev, "exit_then_barrier");
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, y, y, y, (uint32_t)_i);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(y[i], i % BLOCK < _i);
    device_close(&dev);
}
END_TEST

/* A barrier of 64 threads in a block of 32: nobody can go on. */
START_TEST(test_missing_threads)
{
    struct device dev;
    void *p;

    engine_open(&dev, "missing_threads");
    p = device_alloc(&dev, 4);
    ck_assert_int_eq(engine_try(&dev, DIM1(1), DIM1(32), 0, p, p, p, 0), SG_FAULT_DEADLOCK);
    ck_assert_msg(strstr(dev.fault.message, "k") != NULL, "message: %s", dev.fault.message);
    engine_run(&dev, DIM1(1), DIM1(64), 0, p, p, p, 0);
    device_close(&dev);
}
END_TEST

START_TEST(test_calls)
{
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "calls");
    x = numbers(&dev, 100000);
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, y, N);
    for (int i = 0; i < N; i++) {
        uint32_t low = x[i] & 15;

        ck_assert_uint_eq(y[i], x[i] * 1000 + 2 * x[i] - 3 + (x[i] % 2 ? low * (low + 1) / 2 : 0));
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_param_stores)
{
    static const unsigned char first[128] = {
        0x11, 0x11, 0x11, 0x33, 0x11, 0x22, 0x33, 0x44, 0x11, 0x22, 0x34, 0x12, 0x33, 0x44, 0x55,
        0x66, 0x33, 0x44, 0x55, 0x66, 0xfb, 0xff, 0xff, 0xff, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00,
        0x00, 0x40, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xef, 0xcd, 0xab, 0x89, 0x67,
        0x45, 0x23, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0xcd, 0xab, 0x89,
        0x67, 0x45, 0x23, 0x01, 0x11, 0x33, 0x33, 0x11, 0x11, 0x33, 0x11, 0x33, 0x11, 0x22, 0x33,
        0x44, 0x33, 0x44, 0x11, 0x22, 0x11, 0x22, 0x33, 0x44, 0x33, 0x44, 0x11, 0x22, 0x33, 0x44,
        0x55, 0x66, 0x00, 0x00, 0x80, 0x3f, 0x33, 0x44, 0x55, 0x66, 0x00, 0x00, 0x80, 0x3f, 0x00,
        0x00, 0x80, 0x3f, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
        0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
    static const uint32_t a = 0x66554433, b = 0x3f800000;
    const uint32_t second[32] = {
        a,          b,          b,          a,          b,          a,          b,
        a,          a,          a,          b,          b,          0x89abcdef, 0x01234567,
        0xaa998877, 0xeeddccbb, 0x89abcdef, 0x01234567, 0x89abcdef, 0x01234567, b,
        b,          0,          0,          b,          b,          a,          a,
        0x44334433, 0x22112211, 0x11113333, 0};
    struct device dev;
    unsigned char *out;

    engine_open(&dev, "param_stores");
    out = device_alloc(&dev, 2 * 65536);
    engine_run(&dev, DIM1(4), DIM1(100), 0, out, out, out, 0);
    for (int i = 0; i < 400; i++) {
        for (int k = 0; k < 128; k++)
            ck_assert_msg(out[128 * i + k] == first[k], "thread %d, byte %d: %02x, expected %02x",
                          i, k, out[128 * i + k], first[k]);
        ck_assert_int_eq(memcmp(out + 65536 + 128 * i, second, 128), 0);
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_trap)
{
    struct device dev;
    void *p;

    engine_open(&dev, "trap");
    p = device_alloc(&dev, 4);
    engine_run(&dev, DIM1(4), DIM1(64), 0, p, p, p, 1000);
    ck_assert_int_eq(engine_try(&dev, DIM1(4), DIM1(64), 0, p, p, p, 200), SG_FAULT_TRAP);
    ck_assert_uint_eq(dev.fault.block[0], 3);
    ck_assert_uint_eq(dev.fault.thread[0], 8);
    device_close(&dev);
}
END_TEST

START_TEST(test_indirect_calls)
{
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "indirect_calls");
    x = numbers(&dev, 1000);
    y = device_alloc(&dev, N * 4);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, y, N);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(y[i], x[i] % 2 ? x[i] * x[i] : 0u - x[i]);
    device_close(&dev);
}
END_TEST

/* Blocks run in the order that the seed says, each once. */
START_TEST(test_order)
{
    struct device dev;
    uint32_t *ticket, *order[3];
    int moved = 0;

    engine_open(&dev, "tickets");
    for (int s = 0; s < 3; s++) {
        uint32_t seen[100] = {0};

        ticket = device_alloc(&dev, 4);
        order[s] = device_alloc(&dev, 100 * 4);
        dev.order_seed = (uint64_t)s;
        engine_run(&dev, DIM1(100), DIM1(32), 0, ticket, order[s], order[s], 0);
        for (uint32_t b = 0; b < 100; b++) {
            ck_assert_uint_lt(order[s][b], 100);
            seen[order[s][b]]++;
        }
        for (uint32_t b = 0; b < 100; b++) {
            ck_assert_uint_eq(seen[b], 1);
            if (s == 0)
                ck_assert_uint_eq(order[s][b], b);
            moved += s == 1 && order[1][b] != b;
        }
    }
    ck_assert_int_gt(moved, 50);
    ck_assert_int_ne(memcmp(order[1], order[2], 400), 0);
    device_close(&dev);
}
END_TEST

TCase *tcase_flow(void)
{
    TCase *tc = tcase_create("flow");

    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, test_branches);
    tcase_add_test(tc, test_loops);
    tcase_add_test(tc, test_jump_table);
    tcase_add_loop_test(tc, test_spin_lock, 1, 4);
    tcase_add_test(tc, test_lane_waits);
    tcase_add_test(tc, test_barriers);
    tcase_add_test(tc, test_producers);
    tcase_add_test(tc, test_half_barriers);
    tcase_add_loop_test(tc, test_barrier_reductions, 49, 52);
    tcase_add_loop_test(tc, test_exit_then_barrier, 30, 35);
    tcase_add_test(tc, test_missing_threads);
    tcase_add_test(tc, test_calls);
    tcase_add_test(tc, test_param_stores);
    tcase_add_test(tc, test_trap);
    tcase_add_test(tc, test_indirect_calls);
    tcase_add_test(tc, test_order);
    return tc;
}
