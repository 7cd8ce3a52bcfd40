/* SPDX-License-Identifier: BSD-3-Clause
 * Initialised variables, asynchronous copies, atomics under contention, shared memory of every
 * kind, the device's heap, and what is counted. No state. */
#include "engine_tests.h"

#include <stdlib.h>
#include <string.h>

START_TEST(test_initialisers)
{
    struct device dev;
    uint32_t *out;
    double half;
    float weight;

    engine_open(&dev, "initialisers");
    out = device_alloc(&dev, 32);
    engine_run(&dev, DIM1(1), DIM1(1), 0, out, out, out, 0);
    memcpy(&half, out + 2, sizeof half);
    memcpy(&weight, out + 5, sizeof weight);
    ck_assert_uint_eq(out[0], 3);
    ck_assert_uint_eq(out[1], 0x20);
    ck_assert_double_eq(half, 2.5);
    ck_assert_uint_eq(out[4], 'e');
    ck_assert_float_eq(weight, -0.5f);
    ck_assert_uint_eq(out[6], 0);
    ck_assert_uint_eq(out[7], 0);
    device_close(&dev);
}
END_TEST

START_TEST(test_async_copy)
{
    enum { THREADS = 128 };
    struct device dev;
    unsigned char *a, *b;

    engine_open(&dev, "async_copy");
    a = device_alloc(&dev, THREADS * 64);
    b = device_alloc(&dev, THREADS * 64);
    for (int i = 0; i < THREADS * 64; i++)
        a[i] = (unsigned char)(i * 31 + i / 256);
    engine_run(&dev, DIM1(2), DIM1(THREADS / 2), 0, a, b, b, 12);
    for (int i = 0; i < THREADS * 64; i++) {
        int at = i % 64;
        bool zero = (at >= 44 && at < 48) || at >= 60;

        ck_assert_int_eq(b[i], zero ? 0 : a[i]);
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_contention)
{
    enum { BLOCKS = 20, BLOCK = 96, ALL = BLOCKS * BLOCK };
    struct device dev;
    uint32_t *a, *b, *c, bits = 0;
    uint64_t sum = 0;
    float f;
    double d;

    engine_open(&dev, "contention");
    dev.workers = (unsigned)_i;
    a = device_alloc(&dev, 64);
    b = device_alloc(&dev, ALL * 4);
    c = device_alloc(&dev, 4);
    a[1] = 1u << 30;
    a[14] = 0xffffffff;
    engine_run(&dev, DIM1(BLOCKS), DIM1(BLOCK), 0, a, b, c, 0);
    for (uint32_t i = 0; i < ALL; i++) {
        sum += i;
        bits ^= i;
    }
    memcpy(&f, a + 7, sizeof f);
    memcpy(&d, a + 10, sizeof d);
    ck_assert_uint_eq(a[0], 3 * ALL);
    ck_assert_uint_eq(a[1], 0);
    ck_assert_uint_eq(a[2], ALL - 1);
    ck_assert_uint_eq(a[3], ALL % 100);
    ck_assert_uint_eq(a[4], (100 - ALL % 100) % 100);
    ck_assert_uint_eq(a[5], 0xffffffff);
    ck_assert_uint_eq(a[6], bits);
    ck_assert_float_eq(f, ALL);
    ck_assert_uint_eq(((uint64_t *)a)[4], sum);
    ck_assert_double_eq(d, ALL / 2.0);
    ck_assert_uint_eq(a[12], 0x67806780); /* 1920 as f16, twice */
    ck_assert_uint_eq(a[13], ALL);
    ck_assert_uint_eq(a[14], 0);
    ck_assert_uint_eq(*c, 0); /* no old value was seen twice */
    device_close(&dev);
}
END_TEST

START_TEST(test_mbarriers)
{
    enum { BLOCKS = 4, BLOCK = 128 };
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "mbarriers");
    x = device_alloc(&dev, BLOCKS * BLOCK * 4);
    y = device_alloc(&dev, BLOCKS * BLOCK * 4);
    for (uint32_t i = 0; i < BLOCKS * BLOCK; i++)
        x[i] = i * i;
    engine_run(&dev, DIM1(BLOCKS), DIM1(BLOCK), 0, x, y, y, 50);
    for (uint32_t i = 0; i < BLOCKS * BLOCK; i++) /* three exchanges with the same partner */
        ck_assert_uint_eq(y[i], x[i ^ 33] + 3 + (i % BLOCK < 50 ? 1000 : 0));
    device_close(&dev);
}
END_TEST

START_TEST(test_shared_contention)
{
    enum { BLOCKS = 7, BLOCK = 200 };
    struct device dev;
    uint32_t *y;

    engine_open(&dev, "shared_contention");
    dev.workers = 2;
    y = device_alloc(&dev, BLOCKS * BLOCK * 4);
    engine_run(&dev, DIM1(BLOCKS), DIM1(BLOCK), 0, y, y, y, 0);
    for (int i = 0; i < BLOCKS * BLOCK; i++)
        ck_assert_uint_eq(y[i], BLOCK * 0x10000 + BLOCK * (BLOCK - 1) / 2);
    device_close(&dev);
}
END_TEST

/* Up to the largest amount a block can opt in to on an H200. */
START_TEST(test_dynamic_shared)
{
    static const uint32_t threads[] = {1, 32, 100, 1024};
    struct device dev;
    uint32_t *y, n = threads[_i];

    engine_open(&dev, "dynamic_shared");
    y = device_alloc(&dev, 3 * n * 4);
    engine_run(&dev, DIM1(3), DIM1(n), n * 8, y, y, y, 0);
    for (uint32_t i = 0; i < 3 * n; i++)
        ck_assert_uint_eq(y[i], i / n * n + n - 1 - i % n);
    engine_run(&dev, DIM1(1), DIM1(1), 232448, y, y, y, 0);
    ck_assert_int_eq(engine_try(&dev, DIM1(1), DIM1(1), 300000, y, y, y, 0), SG_FAULT_RESOURCES);
    device_close(&dev);
}
END_TEST

START_TEST(test_resources)
{
    struct device dev;
    void *p;

    engine_open(&dev, "wrong_block");
    p = device_alloc(&dev, 4);
    engine_run(&dev, DIM1(1), DIM2(32, 32), 0, p, p, p, 0);
    ck_assert_int_eq(engine_try(&dev, DIM1(1), DIM1(1025), 0, p, p, p, 0), SG_FAULT_RESOURCES);
    ck_assert_int_eq(engine_try(&dev, DIM1(1), DIM3(16, 16, 5), 0, p, p, p, 0), SG_FAULT_RESOURCES);
    ck_assert_int_eq(engine_try(&dev, DIM1(1), DIM1(1), 200000, p, p, p, 0), SG_FAULT_RESOURCES);
    engine_run(&dev, DIM1(1), DIM1(1), 100000, p, p, p, 0);
    device_close(&dev);
}
END_TEST

START_TEST(test_hints)
{
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "hints");
    x = device_alloc(&dev, 64 * 4);
    y = device_alloc(&dev, 64 * 4);
    for (uint32_t i = 0; i < 64; i++)
        x[i] = i * i;
    engine_run(&dev, DIM1(2), DIM1(32), 0, x, y, y, 0);
    ck_assert_int_eq(memcmp(x, y, 64 * 4), 0);
    device_close(&dev);
}
END_TEST

/* Requested bytes and operations of the active lanes, no more and no less. */
START_TEST(test_counts)
{
    struct device dev;
    uint32_t *a, active = 37, blocks = 5, lanes = active * 5;

    engine_open(&dev, "counts");
    dev.workers = (unsigned)_i;
    a = device_alloc(&dev, 4096);
    engine_run(&dev, DIM1(blocks), DIM1(96), 0, a, a, a, active);
    ck_assert_uint_eq(dev.counts.threads, blocks * 96);
    ck_assert_uint_eq(dev.counts.global_read_bytes, lanes * 8);
    ck_assert_uint_eq(dev.counts.global_write_bytes, lanes);
    ck_assert_uint_eq(dev.counts.shared_bytes, lanes * 10);
    ck_assert_uint_eq(dev.counts.atomics, lanes);
    ck_assert_uint_eq(dev.counts.flop_f32, lanes * 3);
    ck_assert_uint_eq(dev.counts.flop_f64, lanes);
    ck_assert_uint_eq(dev.counts.flop_f16, lanes * 4);
    ck_assert_uint_eq(dev.counts.flop_bf16, lanes * 2);
    ck_assert_uint_eq(a[0], lanes);
    /* the prologue and three more by all, then 11 by the active ones */
    ck_assert_uint_eq(dev.counts.thread_instructions % blocks, 0);
    ck_assert_uint_ge(dev.counts.thread_instructions, blocks * 96 * 14 + lanes * 11);
    ck_assert_uint_ge(dev.counts.warp_instructions, blocks * (3 * 14 + 2 * 11));
    device_close(&dev);
}
END_TEST

START_TEST(test_heap)
{
    struct device dev;
    uint64_t *a;

    engine_open(&dev, "heap");
    a = device_alloc(&dev, 64 * 8);
    engine_run(&dev, DIM1(2), DIM1(32), 0, a, a, a, 100);
    for (int i = 0; i < 64; i++) {
        struct sg_range range;

        ck_assert(sg_arena_find(dev.heap, a[i], &range));
        ck_assert_uint_eq(range.base, a[i]);
        for (int k = 0; k < i; k++)
            ck_assert_uint_ne(a[i], a[k]);
    }
    engine_run(&dev, DIM1(1), DIM1(1), 0, a, a, a, 2 << 20); /* more than there is */
    ck_assert_uint_eq(a[0], 0);
    device_close(&dev);
}
END_TEST

TCase *tcase_memory(void)
{
    TCase *tc = tcase_create("memory");

    tcase_add_test(tc, test_initialisers);
    tcase_add_test(tc, test_async_copy);
    tcase_add_loop_test(tc, test_contention, 1, 5);
    tcase_add_test(tc, test_mbarriers);
    tcase_add_test(tc, test_shared_contention);
    tcase_add_loop_test(tc, test_dynamic_shared, 0, 4);
    tcase_add_test(tc, test_resources);
    tcase_add_test(tc, test_hints);
    tcase_add_loop_test(tc, test_counts, 1, 3);
    tcase_add_test(tc, test_heap);
    return tc;
}
