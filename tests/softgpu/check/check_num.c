/* SPDX-License-Identifier: BSD-3-Clause
 * The judge judged: num.c against the processor's own float and double in all four roundings, and
 * against values of the small formats that are known by heart. */
#include "num.h"
#include "random.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum num_round mode;
    int fe;
} roundings[] = {
    {NUM_RN, FE_TONEAREST}, {NUM_RZ, FE_TOWARDZERO}, {NUM_RM, FE_DOWNWARD}, {NUM_RP, FE_UPWARD}};

enum { LOOPS = 20000 };

static uint32_t bits_of_float(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static uint64_t bits_of_double(double d)
{
    uint64_t u;

    memcpy(&u, &d, sizeof u);
    return u;
}

static float float_of(uint64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

static double double_of(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

static void same(const struct num_format *f, const char *what, struct num got, enum num_round mode,
                 uint64_t want)
{
    uint64_t bits = num_encode(f, got, mode, NULL);

    if (num_is_nan(f, want) && num_is_nan(f, bits))
        return;
    ck_assert_msg(bits == want, "%s %s mode %d: %llx, the processor %llx", f->name, what, mode,
                  (unsigned long long)bits, (unsigned long long)want);
}

START_TEST(test_float)
{
    struct random r = {random_seed()};
    enum num_round mode = roundings[_i].mode;

    for (int i = 0; i < LOOPS; i++) {
        uint64_t a = random_value(&r, "f32", random_bits(&r)), b = random_value(&r, "f32", a);
        uint64_t c = random_value(&r, "f32", b);
        struct num x = num_decode(&num_f32, a), y = num_decode(&num_f32, b),
                   z = num_decode(&num_f32, c);
        volatile float fa = float_of(a), fb = float_of(b), fc = float_of(c), sum, product, quotient,
                       root, fused;

        fesetround(roundings[_i].fe);
        sum = fa + fb;
        product = fa * fb;
        quotient = fa / fb;
        root = sqrtf(fa);
        fused = fmaf(fa, fb, fc);
        fesetround(FE_TONEAREST);
        same(&num_f32, "sum", num_add(x, y, mode), mode, bits_of_float(sum));
        same(&num_f32, "product", num_mul(x, y), mode, bits_of_float(product));
        same(&num_f32, "quotient", num_div(x, y), mode, bits_of_float(quotient));
        same(&num_f32, "root", num_sqrt(x), mode, bits_of_float(root));
        same(&num_f32, "fused", num_add(num_mul(x, y), z, mode), mode, bits_of_float(fused));
    }
}
END_TEST

START_TEST(test_double)
{
    struct random r = {random_seed() + 1};
    enum num_round mode = roundings[_i].mode;

    for (int i = 0; i < LOOPS; i++) {
        uint64_t a = random_value(&r, "f64", random_bits(&r)), b = random_value(&r, "f64", a);
        uint64_t c = random_value(&r, "f64", b);
        struct num x = num_decode(&num_f64, a), y = num_decode(&num_f64, b),
                   z = num_decode(&num_f64, c);
        volatile double fa = double_of(a), fb = double_of(b), fc = double_of(c), sum, product,
                        quotient, root, fused;
        volatile float narrow;

        fesetround(roundings[_i].fe);
        sum = fa + fb;
        product = fa * fb;
        quotient = fa / fb;
        root = sqrt(fa);
        fused = fma(fa, fb, fc);
        narrow = (float)fa;
        fesetround(FE_TONEAREST);
        same(&num_f64, "sum", num_add(x, y, mode), mode, bits_of_double(sum));
        same(&num_f64, "product", num_mul(x, y), mode, bits_of_double(product));
        same(&num_f64, "quotient", num_div(x, y), mode, bits_of_double(quotient));
        same(&num_f64, "root", num_sqrt(x), mode, bits_of_double(root));
        same(&num_f64, "fused", num_add(num_mul(x, y), z, mode), mode, bits_of_double(fused));
        same(&num_f32, "narrowed", x, mode, bits_of_float(narrow));
    }
}
END_TEST

START_TEST(test_integers)
{
    struct random r = {random_seed() + 2};

    for (int i = 0; i < LOOPS; i++) {
        int64_t v = (int64_t)(random_bits(&r) >> random_below(&r, 64));
        uint64_t bits = random_value(&r, "f64", 0);
        struct num x = num_decode(&num_f64, bits);
        bool huge;
        num_i128 got;

        v = random_bits(&r) & 1 ? -v : v;
        same(&num_f32, "integer", num_from_int(v), NUM_RN, bits_of_float((float)v));
        same(&num_f64, "integer", num_from_int(v), NUM_RN, bits_of_double((double)v));
        if (x.kind == NUM_NAN || fabs(double_of(bits)) > 1e15)
            continue;
        got = num_to_int(x, NUM_RN, &huge);
        ck_assert(!huge && got == llrint(double_of(bits)));
        ck_assert(num_to_int(x, NUM_RM, &huge) == (num_i128)floor(double_of(bits)));
        ck_assert(num_to_int(x, NUM_RP, &huge) == (num_i128)ceil(double_of(bits)));
        ck_assert(num_to_int(x, NUM_RZ, &huge) == (num_i128)trunc(double_of(bits)));
    }
}
END_TEST

/* Every value of the small formats survives, and known ones are what they should be. */
START_TEST(test_small)
{
    static const struct num_format *const formats[] = {&num_f16, &num_bf16, &num_e4m3, &num_e5m2};
    static const struct {
        const struct num_format *f;
        double value;
        uint64_t bits;
    } known[] = {
        {&num_f16, 65504, 0x7bff},
        {&num_f16, 65519, 0x7bff},
        {&num_f16, 65520, 0x7c00},
        {&num_f16, 0x1p-24, 1},
        {&num_f16, 0x1p-25, 0},
        {&num_f16, 0x1.8p-25, 1},
        {&num_f16, 2049, 0x6800},
        {&num_f16, 2051, 0x6802},
        {&num_bf16, 1, 0x3f80},
        {&num_bf16, 257, 0x4380},
        {&num_bf16, 259, 0x4382},
        {&num_e4m3, 448, 0x7e},
        {&num_e4m3, 0x1p-9, 1},
        {&num_e4m3, 1, 0x38},
        {&num_e5m2, 57344, 0x7b},
        {&num_e5m2, 1, 0x3c},
        {&num_tf32, 1 + 0x1p-10, 0x3f802000},
        {&num_tf32, 1 + 0x1p-11, 0x3f800000},
    };

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        for (uint64_t v = 0; v < 1ull << num_bits(formats[i]); v++) {
            struct num x = num_decode(formats[i], v);

            if (x.kind != NUM_NAN)
                ck_assert_uint_eq(num_encode(formats[i], x, NUM_RN, NULL), v);
        }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct num x = num_decode(&num_f64, bits_of_double(known[i].value));

        ck_assert_uint_eq(num_encode(known[i].f, x, NUM_RN, NULL), known[i].bits);
    }
    /* ties away from zero */
    ck_assert_uint_eq(
        num_encode(&num_tf32, num_decode(&num_f64, bits_of_double(1 + 0x1p-11)), NUM_RNA, NULL),
        0x3f802000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("num");
    TCase *tc = tcase_create("num");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_float, 0, 4);
    tcase_add_loop_test(tc, test_double, 0, 4);
    tcase_add_test(tc, test_integers);
    tcase_add_test(tc, test_small);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
