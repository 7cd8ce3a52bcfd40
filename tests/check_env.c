/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of base/env: values, defaults, and the one-line complaints. */
#include "base/env.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const *fake_environ; /* name, value, name, value, NULL */
static char complaints[4][512];
static int complaints_n;

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
    ck_assert_int_eq(env.log_level, 1);
    ck_assert(!env.tf32_vetoed);
    ck_assert_int_eq(complaints_n, 0);
}
END_TEST

START_TEST(each_value)
{
    static const char *const set[] = {"APEXSHIM", "0", "APEXSHIM_OPT_LEVEL", "o0",
                                      "APEXSHIM_PRECISION", "TF32", "APEXSHIM_POLICY", "always",
                                      "APEXSHIM_LOG", "debug", "NVIDIA_TF32_OVERRIDE", "0", NULL};
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
    static const char *const set[] = {"APEXSHIM_PRECISION", "fp23", "APEXSHIM_OPT_LEVEL", "2", NULL};
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
    static const char *const names[] = {"PATH=/bin",           "APEXSHIM_PRECISON=fp16",
                                        "APEXSHIM_PRECISION=x", "APEXSHIM=1",
                                        "APEXSHIM_LOGS",        "APEX=1",
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
