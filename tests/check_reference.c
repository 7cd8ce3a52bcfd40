/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of the references themselves, against the compiler's _Float16 where there is one, public
 * constants of the formats, and closed forms. */
#include "reference/gemm.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

START_TEST(fp16_constants)
{
    ck_assert(ref_round_fp16(65504) == 65504);
    ck_assert(ref_round_fp16(65519.99) == 65504);
    ck_assert(isinf(ref_round_fp16(65520)));
    ck_assert(ref_round_fp16(-65520) == -INFINITY);
    ck_assert(ref_round_fp16(0x1p-24) == 0x1p-24);
    ck_assert(ref_round_fp16(0x1p-25) == 0); /* tie to even */
    ck_assert(ref_round_fp16(0x1.01p-25) == 0x1p-24);
    ck_assert(ref_round_fp16(1 + 0x1p-11) == 1);             /* tie to even */
    ck_assert(ref_round_fp16(1 + 0x1.8p-10) == 1 + 0x1p-9);  /* tie to even, upwards */
    ck_assert(ref_round_fp16(1 + 0x1.01p-11) == 1 + 0x1p-10);
    ck_assert(isnan(ref_round_fp16(NAN)));
    ck_assert(ref_round_fp16(-INFINITY) == -INFINITY);
}
END_TEST

START_TEST(tf32_constants)
{
    ck_assert(ref_round_tf32(1 + 0x1p-11) == 1 + 0x1p-10); /* tie away from zero */
    ck_assert(ref_round_tf32(-1 - 0x1p-11) == -1 - 0x1p-10);
    ck_assert(ref_round_tf32(1 + 0x1.ffp-12) == 1);
    ck_assert(ref_round_tf32(0x1p-126) == 0x1p-126);
    ck_assert(ref_round_tf32(3e38) != INFINITY);
}
END_TEST

START_TEST(exponents)
{
    for (int e = -149; e <= 127; e++) {
        int got = ref_exponent(ldexp(1.5, e));
        ck_assert_int_eq(got % 4, 0);
        ck_assert(ldexp(1.5, e + got) >= 2048 && ldexp(1.5, e + got) < 32768);
    }
    ck_assert_int_eq(ref_exponent(0), 0);
    ck_assert_int_eq(ref_exponent(2048), 0);
    ck_assert_int_eq(ref_exponent(32767), 0);
    ck_assert_int_eq(ref_exponent(32768), -4);
}
END_TEST

START_TEST(small_product)
{
    const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 1, 1, 1};
    struct ref_result out[4];
    struct ref_gemm g = {.m = 2, .n = 2, .k = 2, .batch = 1, .alpha = 2, .beta = 3,
                         .a = {a, 2, 0}, .b = {b, 2, 0}, .c = {c, 2, 0}};
    ref_gemm(&g, out); /* [1 3; 2 4] [5 7; 6 8] = [23 31; 34 46] */
    const double nn[] = {49, 71, 65, 95};
    for (int i = 0; i < 4; i++)
        ck_assert(out[i].value == nn[i]);
    g.transa = g.transb = true; /* [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50] */
    ref_gemm(&g, out);
    const double tt[] = {41, 89, 47, 103};
    for (int i = 0; i < 4; i++)
        ck_assert(out[i].value == tt[i]);
}
END_TEST

#ifdef __FLT16_MAX__
START_TEST(fp16_against_the_compiler)
{
    for (int i = 0; i < 200000; i++) {
        double x = ldexp((double)rand() / RAND_MAX - 0.5, rand() % 50 - 28);
        double want = (double)(_Float16)x, got = ref_round_fp16(x);
        ck_assert_msg(want == got, "%a: %a, the compiler says %a", x, got, want);
    }
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("reference");
    TCase *tcase = tcase_create("reference");
    tcase_add_test(tcase, fp16_constants);
    tcase_add_test(tcase, tf32_constants);
    tcase_add_test(tcase, exponents);
    tcase_add_test(tcase, small_product);
#ifdef __FLT16_MAX__
    tcase_add_test(tcase, fp16_against_the_compiler);
#endif
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
