/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of base/env: values, defaults, what one variable means for others, and the one-line
 * complaints. */
#include "base/env.h"
#include "base/text.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const *fake_environ; /* name, value, name, value, NULL */
static char complaints[4][512];
static int complaints_n; /* of the last parse */

static const char *fake_getenv(const char *name)
{
    for (int i = 0; fake_environ[i] != NULL; i += 2)
        if (strcmp(fake_environ[i], name) == 0)
            return fake_environ[i + 1];
    return NULL;
}

static void complain(const char *line)
{
    if (complaints_n < 4)
        snprintf(complaints[complaints_n], sizeof complaints[0], "%s", line);
    complaints_n++;
}

static struct env parse(const char *const *pairs)
{
    struct env env;
    memset(&env, 0x5a, sizeof env);
    fake_environ = pairs;
    complaints_n = 0;
    env_parse(&env, fake_getenv, complain);
    return env;
}

START_TEST(defaults)
{
    static const char *const none[] = {NULL};
    struct env env = parse(none);
    ck_assert_int_eq(env.enabled, 1);
    ck_assert_int_eq(env.opt_level, OPT_O1);
    ck_assert_int_eq(env.precision, PRECISION_FP16);
    ck_assert_int_eq(env.policy, POLICY_COST);
    ck_assert_int_eq(env.scale, SCALE_DYNAMIC);
    ck_assert_int_eq(env.preset, PRESET_NONE);
    ck_assert_int_eq(env.verify, 0);
    ck_assert_uint_eq(env.scratch_budget, 0);
    ck_assert_double_eq(env.scratch_share, 0.25);
    ck_assert_double_eq(env.underflow_limit, 0.01);
    ck_assert_str_eq(env.rules, "");
    ck_assert_str_eq(env.decisions, "auto");
    ck_assert_str_eq(env.tune, "auto");
    ck_assert(env.converts);
    ck_assert_int_eq(env.log_level, 1);
    ck_assert(!env.tf32_vetoed);
    ck_assert_int_eq(complaints_n, 0);
}
END_TEST

START_TEST(each_value)
{
    static const char *const set[] = {"APEXSHIM",
                                      "0",
                                      "APEXSHIM_OPT_LEVEL",
                                      "o0",
                                      "APEXSHIM_PRECISION",
                                      "TF32",
                                      "APEXSHIM_POLICY",
                                      "always",
                                      "APEXSHIM_LOG",
                                      "debug",
                                      "NVIDIA_TF32_OVERRIDE",
                                      "0",
                                      NULL};
    struct env env = parse(set);
    ck_assert_int_eq(env.enabled, 0);
    ck_assert_int_eq(env.opt_level, OPT_O0);
    ck_assert_int_eq(env.precision, PRECISION_TF32);
    ck_assert_int_eq(env.policy, POLICY_ALWAYS);
    ck_assert_int_eq(env.log_level, 3);
    ck_assert(env.tf32_vetoed);
    ck_assert_int_eq(complaints_n, 0);
    static const char *const fp32[] = {"APEXSHIM_PRECISION", "fp32", "NVIDIA_TF32_OVERRIDE", "1",
                                       NULL};
    env = parse(fp32);
    ck_assert_int_eq(env.precision, PRECISION_FP32);
    ck_assert(!env.tf32_vetoed);
    ck_assert(!env.converts);
    static const char *const ruled[] = {"APEXSHIM_PRECISION", "fp32", "APEXSHIM_RULES", "r.ini",
                                        NULL};
    env = parse(ruled);
    ck_assert(env.converts);
    ck_assert_str_eq(env.rules, "r.ini");
}
END_TEST

/* One variable with one value. */
static struct env parse_one(const char *name, const char *value)
{
    const char *const set[] = {name, value, NULL};
    return parse(set);
}

START_TEST(precisions)
{
    static const struct {
        const char *word;
        int precision;
    } words[] = {{"fp32", PRECISION_FP32},     {"tf32", PRECISION_TF32},
                 {"fp16", PRECISION_FP16},     {"BF16", PRECISION_BF16},
                 {"fp16x2", PRECISION_FP16X2}, {"bf16x3", PRECISION_BF16X3},
                 {"bf16x6", PRECISION_BF16X6}, {"auto:1e-3", PRECISION_AUTO}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        ck_assert_int_eq(parse_one("APEXSHIM_PRECISION", words[i].word).precision,
                         words[i].precision);
        ck_assert_int_eq(complaints_n, 0);
    }
    struct env env = parse_one("APEXSHIM_PRECISION", "auto:0.0025");
    ck_assert_double_eq(env.tolerance, 0.0025);
    ck_assert_int_gt(env.verify, 0); /* a tuning run without verification finds nothing */
    static const char *const bad[] = {"fp8",         "auto",       "auto:",    "auto:0",
                                      "auto:1",      "auto:-1e-3", "auto:nan", "auto:1e-3x",
                                      "auto:0x1p-9", "fp16 ",      "fp"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(parse_one("APEXSHIM_PRECISION", bad[i]).precision, PRECISION_FP16);
        ck_assert_int_eq(complaints_n, 1);
    }
}
END_TEST

START_TEST(scales)
{
    static const struct {
        const char *text;
        int scale, exponent;
    } good[] = {{"dynamic", SCALE_DYNAMIC, 0}, {"EXACT", SCALE_EXACT, 0},
                {"1", SCALE_FIXED, 0},         {"4096", SCALE_FIXED, 12},
                {"0.25", SCALE_FIXED, -2},     {"2^-7", SCALE_FIXED, -7},
                {"2^15", SCALE_FIXED, 15},     {"2^100", SCALE_FIXED, 100}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct env env = parse_one("APEXSHIM_SCALE", good[i].text);
        ck_assert_int_eq(env.scale, good[i].scale);
        ck_assert_int_eq(env.scale_exponent, good[i].exponent);
        ck_assert_int_eq(complaints_n, 0);
    }
    static const char *const bad[] = {"3",     "0",   "-2",  "2^101", "2^-101", "2^1.5", "2^",
                                      "1e300", "nan", "inf", "1e",    "fixed",  "2^2^2", "0x10"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct env env = parse_one("APEXSHIM_SCALE", bad[i]);
        ck_assert_int_eq(env.scale, SCALE_DYNAMIC);
        ck_assert_int_eq(env.scale_exponent, 0);
        ck_assert_int_eq(complaints_n, 1);
        ck_assert_ptr_nonnull(strstr(complaints[0], "APEXSHIM_SCALE="));
        ck_assert_ptr_nonnull(strstr(complaints[0], "Using dynamic"));
        ck_assert_ptr_null(strstr(complaints[0], "mean <")); /* what varies is no suggestion */
    }
}
END_TEST

START_TEST(amounts)
{
    struct env env = parse_one("APEXSHIM_SCRATCH", "64");
    ck_assert_uint_eq(env.scratch_budget, UINT64_C(64) << 20);
    ck_assert_double_eq(env.scratch_share, 0);
    env = parse_one("APEXSHIM_SCRATCH", "12.5%");
    ck_assert_uint_eq(env.scratch_budget, 0);
    ck_assert_double_eq(env.scratch_share, 0.125);
    ck_assert_int_eq(parse_one("APEXSHIM_VERIFY", "100").verify, 100);
    ck_assert_double_eq(parse_one("APEXSHIM_UNDERFLOW", "5%").underflow_limit, 0.05);
    ck_assert(isinf(parse_one("APEXSHIM_UNDERFLOW", "off").underflow_limit));
    ck_assert_int_eq(complaints_n, 0);
    static const char *const bad[][2] = {
        {"APEXSHIM_SCRATCH", "0"},     {"APEXSHIM_SCRATCH", "-1"},
        {"APEXSHIM_SCRATCH", "101%"},  {"APEXSHIM_SCRATCH", "%"},
        {"APEXSHIM_SCRATCH", "1e99"},  {"APEXSHIM_SCRATCH", "64MiB"},
        {"APEXSHIM_VERIFY", "-1"},     {"APEXSHIM_VERIFY", "1.5"},
        {"APEXSHIM_VERIFY", "1e10"},   {"APEXSHIM_UNDERFLOW", "0.01"},
        {"APEXSHIM_UNDERFLOW", "200%"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        env = parse_one(bad[i][0], bad[i][1]);
        ck_assert_int_eq(complaints_n, 1);
        ck_assert_ptr_nonnull(strstr(complaints[0], bad[i][0]));
        ck_assert_uint_eq(env.scratch_budget, 0);
        ck_assert_double_eq(env.scratch_share, 0.25);
        ck_assert_int_eq(env.verify, 0);
        ck_assert_double_eq(env.underflow_limit, 0.01);
    }
}
END_TEST

START_TEST(presets)
{
    struct env env = parse_one("APEXSHIM_PRESET", "safe");
    ck_assert_int_eq(env.precision, PRECISION_TF32);
    ck_assert_int_eq(env.verify, 1000);
    env = parse_one("APEXSHIM_PRESET", "fast");
    ck_assert_int_eq(env.opt_level, OPT_O2);
    ck_assert_double_eq(env.scratch_share, 0.5);
    env = parse_one("APEXSHIM_PRESET", "ACCURATE");
    ck_assert_int_eq(env.precision, PRECISION_FP16X2);
    ck_assert_int_eq(env.scale, SCALE_EXACT);
    env = parse_one("APEXSHIM_PRESET", "reproducible");
    ck_assert_str_eq(env.decisions, "off");
    ck_assert_str_eq(env.tune, "off");
    ck_assert_int_eq(env.precision, PRECISION_FP16);
    env = parse_one("APEXSHIM_OPT_LEVEL", "o3");
    ck_assert_int_eq(env.opt_level, OPT_O3);
    ck_assert_int_eq(env.policy, POLICY_ALWAYS);
    ck_assert_int_eq(env.scale, SCALE_FIXED);
    ck_assert_int_eq(env.scale_exponent, 0);
    ck_assert(isinf(env.underflow_limit));
    ck_assert_int_eq(complaints_n, 0);
}
END_TEST

/* What is set explicitly wins over the level, the level over the preset. */
START_TEST(precedence)
{
    static const char *const set[] = {"APEXSHIM_PRESET",
                                      "accurate",
                                      "APEXSHIM_OPT_LEVEL",
                                      "O3",
                                      "APEXSHIM_PRECISION",
                                      "bf16",
                                      NULL};
    struct env env = parse(set);
    ck_assert_int_eq(env.precision, PRECISION_BF16);
    ck_assert_int_eq(env.scale, SCALE_FIXED);
    static const char *const more[] = {"APEXSHIM_PRESET",
                                       "accurate",
                                       "APEXSHIM_OPT_LEVEL",
                                       "O3",
                                       "APEXSHIM_SCALE",
                                       "dynamic",
                                       "APEXSHIM_POLICY",
                                       "cost",
                                       NULL};
    env = parse(more);
    ck_assert_int_eq(env.precision, PRECISION_FP16X2);
    ck_assert_int_eq(env.scale, SCALE_DYNAMIC);
    ck_assert_int_eq(env.policy, POLICY_COST);
    /* A bad value falls back to the preset's default, and the line says so. */
    static const char *const bad[] = {"APEXSHIM_PRESET", "accurate", "APEXSHIM_PRECISION", "fp64",
                                      NULL};
    env = parse(bad);
    ck_assert_int_eq(env.precision, PRECISION_FP16X2);
    ck_assert_int_eq(complaints_n, 1);
    ck_assert_ptr_nonnull(strstr(complaints[0], "Using fp16x2"));
}
END_TEST

/* Whatever the bytes: one complaint or none, and every field has a value that its enum has. */
START_TEST(random_values)
{
    static const char alphabet[] = "0123456789.^%-+eExfpbOoauto:dynamicxnan ";
    srand(20);
    for (int round = 0; round < 20000; round++) {
        char value[12];
        size_t n = 1 + (size_t)rand() % (sizeof value - 1);
        for (size_t i = 0; i < n; i++)
            value[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        value[n < sizeof value ? n : n - 1] = '\0';
        const char *name = env_variables[(size_t)rand() % env_variables_n].name;
        struct env env = parse_one(name, value);
        ck_assert_int_le(complaints_n, 1);
        ck_assert(env.precision >= 0 && env.precision <= PRECISION_AUTO);
        ck_assert(env.scale >= 0 && env.scale <= SCALE_FIXED && abs(env.scale_exponent) <= 100);
        ck_assert(env.verify >= 0 && env.scratch_share >= 0 && env.scratch_share <= 1);
        ck_assert(env.underflow_limit >= 0);
        ck_assert(env.opt_level >= 0 && env.opt_level <= OPT_O3);
    }
}
END_TEST

START_TEST(numbers)
{
    double x = 7;
    ck_assert(text_number("1.5", "", &x) && x == 1.5);
    ck_assert(text_number("25%", "%", &x) && x == 25);
    ck_assert(!text_number("25", "%", &x) && !text_number("", "", &x) &&
              !text_number("%", "%", &x));
    ck_assert(!text_number("1,5", "", &x) && !text_number("1.5.", "", &x));
    ck_assert(!text_number("1e999", "", &x));
}
END_TEST

START_TEST(empty_is_default)
{
    static const char *const set[] = {"APEXSHIM_PRECISION", "", NULL};
    ck_assert_int_eq(parse(set).precision, PRECISION_FP16);
    ck_assert_int_eq(complaints_n, 0);
}
END_TEST

START_TEST(bad_value_names_the_nearest)
{
    static const char *const set[] = {"APEXSHIM_PRECISION", "fp23", "APEXSHIM_OPT_LEVEL", "2",
                                      NULL};
    struct env env = parse(set);
    ck_assert_int_eq(env.precision, PRECISION_FP16);
    ck_assert_int_eq(env.opt_level, OPT_O1);
    ck_assert_int_eq(complaints_n, 2);
    ck_assert_ptr_nonnull(strstr(complaints[0], "APEXSHIM_OPT_LEVEL=2"));
    ck_assert_ptr_nonnull(strstr(complaints[1], "APEXSHIM_PRECISION=fp23"));
    ck_assert_ptr_nonnull(strstr(complaints[1], "did you mean fp32?"));
    ck_assert_ptr_nonnull(strstr(complaints[1], "Using fp16"));
}
END_TEST

/* A value is not a format, and a long one is cut. */
START_TEST(hostile_values)
{
    char value[5000];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    const char *const set[] = {"APEXSHIM_PRECISION", value, "APEXSHIM_LOG", "%n%s%n", NULL};
    struct env env = parse(set);
    ck_assert_int_eq(env.precision, PRECISION_FP16);
    ck_assert_int_eq(complaints_n, 2);
    ck_assert_uint_lt(strlen(complaints[0]), 400);
    ck_assert_ptr_nonnull(strstr(complaints[1], "%n%s%n"));
}
END_TEST

START_TEST(unknown_names)
{
    static const char *const names[] = {
        "PATH=/bin",  "APEXSHIM_PRECISON=fp16", "APEXSHIM_PRECISION=x",
        "APEXSHIM=1", "APEXSHIM_LOGS",          "APEX=1",
        NULL};
    complaints_n = 0;
    env_check_names(names, complain);
    ck_assert_int_eq(complaints_n, 2);
    ck_assert_ptr_nonnull(strstr(complaints[0], "APEXSHIM_PRECISON is not a variable"));
    ck_assert_ptr_nonnull(strstr(complaints[0], "did you mean APEXSHIM_PRECISION?"));
    ck_assert_ptr_nonnull(strstr(complaints[1], "did you mean APEXSHIM_LOG?"));
    env_check_names(NULL, complain);
    ck_assert_int_eq(complaints_n, 2);
}
END_TEST

START_TEST(table_is_complete)
{
    for (size_t i = 0; i < env_variables_n; i++) {
        ck_assert_ptr_nonnull(strstr(env_variables[i].name, "APEXSHIM"));
        ck_assert_uint_gt(strlen(env_variables[i].doc), 20);
        /* The default, written as text, is a value that draws no complaint. */
        const char *set[] = {env_variables[i].name, env_variables[i].fallback, NULL};
        parse(set);
        ck_assert_int_eq(complaints_n, 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("env");
    TCase *tcase = tcase_create("env");
    tcase_add_test(tcase, defaults);
    tcase_add_test(tcase, each_value);
    tcase_add_test(tcase, precisions);
    tcase_add_test(tcase, scales);
    tcase_add_test(tcase, amounts);
    tcase_add_test(tcase, presets);
    tcase_add_test(tcase, precedence);
    tcase_add_test(tcase, random_values);
    tcase_add_test(tcase, numbers);
    tcase_add_test(tcase, empty_is_default);
    tcase_add_test(tcase, bad_value_names_the_nearest);
    tcase_add_test(tcase, hostile_values);
    tcase_add_test(tcase, unknown_names);
    tcase_add_test(tcase, table_is_complete);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
