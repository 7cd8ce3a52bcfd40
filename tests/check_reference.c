/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of the references themselves, against the compiler's _Float16 where there is one, public
 * constants of the formats, and closed forms. */
#include "reference/gemm.h"
#include "reference/pieces.h"
#include "reference/scale.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

START_TEST(bf16_constants)
{
    ck_assert(ref_round_bf16(1 + 0x1p-8) == 1);            /* tie to even */
    ck_assert(ref_round_bf16(1 + 0x1.8p-7) == 1 + 0x1p-6); /* tie to even, upwards */
    ck_assert(ref_round_bf16(-1 - 0x1.01p-8) == -1 - 0x1p-7);
    ck_assert(ref_round_bf16(0x1.fep127) == 0x1.fep127);
    ck_assert(ref_round_bf16(-0x1.ffp127) == -INFINITY);
    ck_assert(ref_round_bf16(0x1p-134) == 0); /* tie to even */
    ck_assert(ref_round_bf16(0x1.8p-133) == 0x1p-132);
    ck_assert(isnan(ref_round_bf16(NAN)));
}
END_TEST

/* BF16 is the upper half of FP32: adding just below half of the lower half, and 1 for an odd upper
 * half, rounds to nearest even. */
START_TEST(bf16_against_bits)
{
    for (int i = 0; i < 200000; i++) {
        const uint32_t bits = (uint32_t)rand() << 16 ^ (uint32_t)rand();
        float x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        const uint16_t want = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        ck_assert_uint_eq(ref_encode_bf16(ref_round_bf16(x)), want);
    }
}
END_TEST

/* The values of all FP16 encodings, by the formula of IEEE 754, come back as they were. */
START_TEST(fp16_encodings)
{
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        const int e = (int)(bits >> 10), fraction = (int)(bits & 0x3ff);
        const double x = e == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, e - 25);
        ck_assert_uint_eq(ref_encode_fp16(x), bits);
        ck_assert_uint_eq(ref_encode_fp16(-x), bits | 0x8000);
    }
    ck_assert_uint_eq(ref_encode_fp16(-INFINITY), 0xfc00);
    ck_assert_uint_eq(ref_encode_fp16(NAN) & 0x7e00, 0x7e00);
}
END_TEST

/* Each wanted product of pieces once, the small ones first; nothing lies on anything else. */
START_TEST(orders_of_pieces)
{
    for (enum ref_format f = REF_1_FP16; f < REF_FORMATS; f++) {
        int seen[3][3] = {{0}}, last = 2 * ref_distinct(f);
        for (int i = 0; i < ref_stored(f); i++) {
            const int a = ref_piece_at(f, 0, i), b = ref_piece_at(f, 1, i);
            ck_assert_int_le(a + b, last);
            last = a + b;
            seen[a][b]++;
        }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                ck_assert_int_eq(seen[a][b], a + b < ref_distinct(f));
        char used[6 * 40] = {0};
        for (int64_t k = 0; k < 40; k++)
            for (int i = 0; i < ref_stored(f); i++)
                used[ref_place(f, 40, 16, k, i)]++;
        for (int i = 0; i < 40 * ref_stored(f); i++)
            ck_assert_int_eq(used[i], 1);
    }
    ck_assert_int_eq(ref_place(REF_2_FP16, 40, 16, 17, 2), 48 + 2 * 16 + 1);
    ck_assert_int_eq(ref_place(REF_2_FP16, 40, 16, 33, 2), 96 + 2 * 8 + 1);
}
END_TEST

START_TEST(pieces_add_up)
{
    uint16_t p[3];
    ref_split(REF_2_FP16, 1 + 0x1p-11, 0, p);
    ck_assert(p[0] == 0x3c00 && p[1] == 0x1000); /* 1 + 2^-11 */
    ref_split(REF_2_FP16, 70000, 0, p);
    ck_assert(p[0] == 0x7c00 && p[1] == 0); /* Inf, and no NaN after it */
    ref_split(REF_2_FP16, 70000, -4, p);
    ck_assert(p[0] == ref_encode_fp16(4376) && p[1] == ref_encode_fp16(-1));
    ref_split(REF_3_BF16, FLT_MAX, 0, p);
    ck_assert(p[0] == 0x7f7f && p[1] == ref_encode_bf16(0x1p120) && p[2] == ref_encode_bf16(-0x1p104));
    for (int i = 0; i < 10000; i++) { /* three times 8 bits are all of FP32's 24 */
        const float x = (float)ldexp(rand() / (double)RAND_MAX - 0.5, rand() % 40);
        double sum = 0;
        ref_split(REF_3_BF16, x, 0, p);
        for (int j = 0; j < 3; j++) {
            const uint32_t bits = (uint32_t)p[j] << 16;
            float y;
            memcpy(&y, &bits, sizeof y);
            sum += y;
        }
        ck_assert(sum == x);
    }
}
END_TEST

START_TEST(exponents_of_two)
{
    struct ref_exponents e = ref_exponents(1, 1e-30, 1);
    ck_assert(e.a == ref_exponent(1) && e.b == ref_exponent(1e-30));
    e = ref_exponents(0x1p-149, 0x1p-149, 1); /* 160 each; alpha' of 2^-126 allows 126 in all */
    ck_assert(e.a == 160 - 97 && e.b == 160 - 97);
    ck_assert(ref_scaled_alpha(e, 1) == 0x1p-126f);
    e = ref_exponents(0x1p-149, 0x1p-149, 0x1p127); /* the sum is the limit: 252 */
    ck_assert(e.a == 126 && e.b == 126);
    e = ref_exponents(0x1p-149, 0x1p-148, 0);
    ck_assert(e.a == 126 && e.b == 126);
    e = ref_exponents(0x1p-100, 1, -0x1p-149); /* 112 and 12; 147 too many */
    ck_assert(e.a == 112 - 73 && e.b == 12 - 74);
    ck_assert(ref_scaled_alpha(e, -0x1p-149f) == -0x1p-126f);
    e = ref_exponents(FLT_MAX, FLT_MAX, FLT_MAX);
    ck_assert(e.a == -116 && e.b == -116);
    ck_assert(ref_scaled_alpha(e, -FLT_MAX) == -FLT_MAX);
    ck_assert(isinf(ref_scaled_alpha(e, INFINITY)) && isnan(ref_scaled_alpha(e, NAN)));
    ck_assert(ref_is_lost(0x1p-15f, 0) && !ref_is_lost(0x1p-15f, 1) && !ref_is_lost(0, 0));
    ck_assert(!ref_is_lost(INFINITY, -200) && !ref_is_lost(NAN, -200));
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
    tcase_add_test(tcase, bf16_constants);
    tcase_add_test(tcase, bf16_against_bits);
    tcase_add_test(tcase, fp16_encodings);
    tcase_add_test(tcase, orders_of_pieces);
    tcase_add_test(tcase, pieces_add_up);
    tcase_add_test(tcase, exponents_of_two);
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
