/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of the shim's kernels: the embedded module, run through the driver API, against
 * tests/reference. Of the shim's sources they know kernels.h alone; grids and layouts are drawn
 * among all that it allows. KERNELS_SEED repeats a run. */
#include "kernels/call.h"
#include "kernels/suites.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 120, MOST_BLOCKS = 12 };

static int64_t draw_size(void)
{
    static const int64_t sizes[] = {1, 2, 7, 8, 9, 16, 31, 63, 64, 65, 97, 128, 131, 257};
    return sizes[draw_int(0, sizeof sizes / sizeof sizes[0] - 1)];
}

static struct shape draw_shape(void)
{
    struct shape shape = {draw_size(), draw_size(), 1, draw_one_in(2), draw_one_in(3)};
    while (shape.rows * shape.cols > 5000)
        *(draw_one_in(2) ? &shape.rows : &shape.cols) = draw_size();
    if (draw_one_in(4))
        shape.batch = draw_int(2, 5);
    if (draw_one_in(10)) { /* several segments, a few columns */
        shape.rows = draw_int(2000, 6000);
        shape.cols = draw_int(1, 3);
        shape.batch = 1;
    }
    return shape;
}

static float draw_scalar(void)
{
    static const float values[] = {0, -1, 0.37f, 1e-30f, -3e38f, 0x1p-126f, 0x1.8p-140f, 0x1p-149f};
    switch (draw_int(0, 9)) {
    case 0:
        return INFINITY;
    case 1:
        return NAN;
    case 2:
    case 3:
        return 1;
    default:
        return values[draw_int(0, sizeof values / sizeof values[0] - 1)];
    }
}

static void run_one(enum ref_format format, enum apex_mode mode, enum data a, enum data b,
                    const enum guess guess[2])
{
    const struct shape shapes[2] = {draw_shape(), draw_shape()};
    struct call call = {.format = format,
                        .mode = mode,
                        .alpha = draw_scalar(),
                        .beta = draw_scalar(),
                        .device_scalars = draw_one_in(2),
                        .counted = !draw_one_in(5),
                        .site = (uint32_t)draw_int(0, 3)};
    if (mode == APEX_FIXED) { /* the exponents are the user's, and so is what they cost alpha */
        call.guess[0] = (int)draw_int(-40, 40);
        call.guess[1] = (int)draw_int(-40, 40);
        call.alpha = draw_one_in(2) ? 1 : 0.37f;
    }
    operand_make(&call.operand[0], format, 0, &shapes[0], a, MOST_BLOCKS);
    operand_make(&call.operand[1], format, 1, &shapes[1], b, MOST_BLOCKS);
    call_run(&call, guess);
    operand_free(&call.operand[0]);
    operand_free(&call.operand[1]);
}

static const enum ref_format scaled[] = {REF_1_FP16, REF_2_FP16};

START_TEST(dynamic)
{
    for (int i = 0; i < CASES; i++) {
        const enum guess guess[2] = {(enum guess)draw_int(0, 2), (enum guess)draw_int(0, 2)};
        run_one(scaled[_i], APEX_DYNAMIC, (enum data)(i % DATA_KINDS),
                (enum data)draw_int(0, DATA_KINDS - 1), guess);
    }
}
END_TEST

/* What a repeated call meets: everything was predicted. */
START_TEST(dynamic_right)
{
    const enum guess guess[2] = {GUESS_RIGHT, GUESS_RIGHT};
    for (int i = 0; i < CASES / 4; i++)
        run_one(scaled[_i], APEX_DYNAMIC, DATA_NORMAL, DATA_WIDE, guess);
}
END_TEST

START_TEST(exact)
{
    const enum guess guess[2] = {GUESS_ANY, GUESS_ANY};
    for (int i = 0; i < CASES; i++)
        run_one(scaled[_i], APEX_EXACT, (enum data)draw_int(0, DATA_KINDS - 1),
                (enum data)(i % DATA_KINDS), guess);
}
END_TEST

START_TEST(fixed)
{
    for (int i = 0; i < CASES / 2; i++)
        run_one(scaled[_i], APEX_FIXED, (enum data)(i % DATA_KINDS),
                (enum data)draw_int(0, DATA_KINDS - 1), NULL);
}
END_TEST

START_TEST(unscaled)
{
    static const enum ref_format formats[] = {REF_1_BF16, REF_2_BF16, REF_3_BF16};
    for (int i = 0; i < CASES; i++)
        run_one(formats[_i], APEX_FIXED, (enum data)(i % DATA_KINDS),
                (enum data)draw_int(0, DATA_KINDS - 1), NULL);
}
END_TEST

static Suite *suite_cast(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tcase = tcase_create("cast and check");
    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, calls_start, calls_stop);
    tcase_add_loop_test(tcase, dynamic, 0, 2);
    tcase_add_loop_test(tcase, dynamic_right, 0, 2);
    tcase_add_loop_test(tcase, exact, 0, 2);
    tcase_add_loop_test(tcase, fixed, 0, 2);
    tcase_add_loop_test(tcase, unscaled, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* One process: the driver's state does not survive a fork. */
int main(void)
{
    printf("KERNELS_SEED=%llu\n", (unsigned long long)draw_start());
    fflush(stdout);
    gpu_start();
    SRunner *runner = srunner_create(suite_cast());
    srunner_add_suite(runner, suite_compare());
    srunner_add_suite(runner, suite_fp8());
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    gpu_stop();
    return failed != 0;
}
