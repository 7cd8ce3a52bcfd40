/* SPDX-License-Identifier: BSD-3-Clause
 * Warps that are not together, and special registers. No state. */
#include "engine_tests.h"
#include "random.h"

#include <stdlib.h>

enum { N = 256, BLOCK = 64 };

START_TEST(test_groups)
{
    struct device dev;
    struct random r = {random_seed()};
    uint32_t *x, *y, *z;

    engine_open(&dev, "groups");
    x = device_alloc(&dev, N * 4);
    y = device_alloc(&dev, N * 4);
    z = device_alloc(&dev, N * 4);
    for (int i = 0; i < N; i++)
        x[i] = random_below(&r, 1000);
    engine_run(&dev, DIM1(N / BLOCK), DIM1(BLOCK), 0, x, y, z, N);
    for (int w = 0; w < N; w += 32) {
        uint32_t sum = 0, most = 0, votes = 0;

        for (int i = 0; i < 32; i++) {
            if (i % 4 != 1)
                sum += x[w + i];
            else
                most = x[w + i] > most ? x[w + i] : most;
        }
        /* the next lane exists for all but lane 31; the others always find lane 5 */
        votes = 0xdddddddd & ~0x80000000u;
        for (int i = 0; i < 32; i++) {
            bool alone = i % 4 == 1;

            if (alone)
                ck_assert_uint_eq(y[w + i], x[w + 5]);
            else if (i == 31)
                ck_assert_uint_eq(y[w + i], x[w + i]);
            else if (i % 4 != 0) /* from lanes of the other group: undefined */
                ck_assert_uint_eq(y[w + i], x[w + i + 1]);
            ck_assert_uint_eq(z[w + i], (alone ? 0x22222222 : votes) ^ (sum | most));
        }
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_late_lanes)
{
    struct device dev;
    uint32_t *x, *y;

    engine_open(&dev, "late_lanes");
    x = device_alloc(&dev, N * 4);
    y = device_alloc(&dev, N * 4);
    for (uint32_t i = 0; i < N; i++)
        x[i] = i * 1000;
    engine_run(&dev, DIM1(N / 32), DIM1(32), 0, x, y, y, N);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t other = i ^ 16;

        ck_assert_uint_eq(y[i], other * 1000 + (other % 32 >= 16 ? other % 32 : 0));
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_elect)
{
    struct device dev;
    uint32_t *y, n = (uint32_t)_i, leaders = 0, leader = 0;

    engine_open(&dev, "elect");
    y = device_alloc(&dev, 32 * 4);
    engine_run(&dev, DIM1(1), DIM1(32), 0, y, y, y, n);
    for (uint32_t i = 0; i < n; i++)
        if (y[i] & 256) {
            leaders++;
            leader = i;
        }
    ck_assert_uint_eq(leaders, 1);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(y[i] & 255, leader);
    device_close(&dev);
}
END_TEST

START_TEST(test_special_registers)
{
    struct device dev;
    uint32_t *out, threads = 5 * 3 * 6, blocks = 2 * 3 * 2, dynamic = 1000;

    engine_open(&dev, "special_registers");
    out = device_alloc(&dev, (size_t)threads * blocks * 64);
    engine_run(&dev, DIM3(2, 3, 2), DIM3(5, 3, 6), dynamic, out, out, out, 0);
    for (uint32_t i = 0; i < threads * blocks; i++) {
        const uint32_t *v = out + 16 * i;
        uint32_t t = i % threads, lane = t % 32;

        ck_assert_uint_eq(v[0], lane);
        ck_assert_uint_eq(v[1], t / 32);
        ck_assert_uint_ge(v[2], (threads + 31) / 32);
        ck_assert_uint_eq(v[3], 1u << lane);
        ck_assert_uint_eq(v[4], (1u << lane) - 1);
        ck_assert_uint_eq(v[5], (2u << lane) - 1);
        ck_assert_uint_eq(v[6], ~((2u << lane) - 1));
        ck_assert_uint_eq(v[7], ~((1u << lane) - 1));
        ck_assert_uint_eq(v[8], 1);
        ck_assert_uint_eq(v[9], dynamic);
        ck_assert_uint_ge(v[10], dynamic + 100);
        ck_assert_uint_eq(v[11], 1);
        ck_assert_uint_eq(v[12], 1);
        ck_assert_uint_eq(v[13], 1);
        ck_assert_uint_eq(v[14], 2);
    }
    device_close(&dev);
}
END_TEST

TCase *tcase_warp(void)
{
    TCase *tc = tcase_create("warp");

    tcase_add_test(tc, test_groups);
    tcase_add_test(tc, test_late_lanes);
    tcase_add_loop_test(tc, test_elect, 1, 33);
    tcase_add_test(tc, test_special_registers);
    return tc;
}
