/* SPDX-License-Identifier: BSD-3-Clause
 * The race checker: conflicting accesses are reported, synchronised ones are not. No state. */
#include "engine_tests.h"

#include <string.h>

START_TEST(test_shared_race)
{
    struct device dev;
    void *p;

    engine_open(&dev, "plain_race");
    p = device_alloc(&dev, 4096);
    dev.check_races = true;
    engine_run(&dev, DIM1(2), DIM1(64), 0, p, p, p, 1); /* with a barrier */
    ck_assert_int_eq(engine_try(&dev, DIM1(2), DIM1(64), 0, p, p, p, 0), SG_FAULT_RACE);
    ck_assert_msg(strstr(dev.fault.message, "k") && dev.fault.line > 10, "message: %s",
                  dev.fault.message);
    dev.check_races = false;
    engine_run(&dev, DIM1(2), DIM1(64), 0, p, p, p, 0);
    device_close(&dev);
}
END_TEST

static const struct {
    uint32_t n, blocks, threads;
    enum sg_fault_kind kind;
} writes[] = {
    {0, 1, 64, SG_FAULT_RACE}, {0, 4, 1, SG_FAULT_RACE}, {1, 4, 64, SG_OK},
    {2, 4, 64, SG_OK},         {0, 1, 1, SG_OK},
};

START_TEST(test_write_race)
{
    struct device dev;
    uint32_t *p;

    engine_open(&dev, "write_race");
    p = device_alloc(&dev, 4);
    dev.check_races = true;
    ck_assert_int_eq(engine_try(&dev, DIM1(writes[_i].blocks), DIM1(writes[_i].threads), 0, p, p, p,
                                writes[_i].n),
                     writes[_i].kind);
    if (writes[_i].kind == SG_FAULT_RACE)
        ck_assert_uint_eq(dev.fault.address & ~3ull, (uintptr_t)p);
    device_close(&dev);
}
END_TEST

/* Correct kernels stay silent. */
static const char *const silent[] = {"barriers",          "producers",  "half_barriers",
                                     "shared_contention", "async_copy", "contention",
                                     "branches",          "calls"};

START_TEST(test_silent)
{
    struct device dev;
    uint32_t *a, *b, *c;

    engine_open(&dev, silent[_i]);
    a = device_alloc(&dev, 65536);
    b = device_alloc(&dev, 65536);
    c = device_alloc(&dev, 65536);
    dev.check_races = true;
    engine_run(&dev, DIM1(4), DIM1(128), 0, a, b, c, 12);
    device_close(&dev);
}
END_TEST

TCase *tcase_race(void)
{
    TCase *tc = tcase_create("race");

    tcase_add_test(tc, test_shared_race);
    tcase_add_loop_test(tc, test_write_race, 0, sizeof writes / sizeof writes[0]);
    tcase_add_loop_test(tc, test_silent, 0, sizeof silent / sizeof silent[0]);
    return tc;
}
