/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels compiled by nvcc (for compute_75 and compute_90) and by clang where it can, each compared
 * with a reference in C. */
#include "kernel_tests.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kernel_group *const groups[] = {&group_basic,  &group_collect, &group_groups,
                                                    &group_linear, &group_math,    &group_language};

enum { GROUPS = sizeof groups / sizeof groups[0] };

static const int arches[] = {75, 90, 0}; /* 0: clang */

enum { ARCHES = sizeof arches / sizeof arches[0] };

float *random_floats(struct random *r, int n, float low, float high)
{
    float *p = malloc((size_t)n * sizeof *p);

    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < n; i++)
        p[i] = low + (high - low) * ((float)random_below(r, 1 << 24) / (1 << 24));
    return p;
}

double *random_doubles(struct random *r, int n, double low, double high)
{
    double *p = malloc((size_t)n * sizeof *p);

    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < n; i++)
        p[i] = low + (high - low) * ldexp((double)(random_bits(r) >> 11), -53);
    return p;
}

int *random_ints(struct random *r, int n, int low, int high)
{
    int *p = malloc((size_t)n * sizeof *p);

    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < n; i++)
        p[i] = (int)(low + (int64_t)random_below(r, (uint32_t)((int64_t)high - low)));
    return p;
}

void same_ints(const char *what, const int *got, const int *want, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i], "%s[%d]: %d, expected %d", what, i, got[i], want[i]);
}

void same_bytes(const char *what, const void *got, const void *want, size_t n)
{
    const unsigned char *a = got, *b = want;

    for (size_t i = 0; i < n; i++)
        ck_assert_msg(a[i] == b[i], "%s, byte %zu: %02x, expected %02x", what, i, a[i], b[i]);
}

static bool near_value(double got, double want, double relative, double absolute)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got))
        return got == want;
    return fabs(got - want) <= relative * fabs(want) + absolute;
}

void near_floats(const char *what, const float *got, const float *want, int n, double relative,
                 double absolute)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(near_value(got[i], want[i], relative, absolute),
                      "%s[%d]: %.9g, expected %.9g", what, i, got[i], want[i]);
}

void near_doubles(const char *what, const double *got, const double *want, int n, double relative,
                  double absolute)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(near_value(got[i], want[i], relative, absolute),
                      "%s[%d]: %.17g, expected %.17g", what, i, got[i], want[i]);
}

static void run(const struct kernel_group *group, int loop)
{
    const struct kernel_test *test = &group->test[loop / ARCHES];
    int arch = arches[loop % ARCHES];
    struct device dev;
    struct random random = {random_seed()};

    if (arch == 0 && !device_has_file(group->file, arch))
        return; /* no clang at hand */
    device_open_file(&dev, group->file, arch);
    test->run(&dev, &random);
    device_close(&dev);
}

#define GROUP_TEST(_group)                                                                         \
    START_TEST(test_##_group)                                                                      \
    {                                                                                              \
        run(&group_##_group, _i);                                                                  \
    }                                                                                              \
    END_TEST

GROUP_TEST(basic)
GROUP_TEST(collect)
GROUP_TEST(groups)
GROUP_TEST(linear)
GROUP_TEST(math)
GROUP_TEST(language)

int main(void)
{
    const TTest *const tests[GROUPS] = {test_basic,  test_collect, test_groups,
                                        test_linear, test_math,    test_language};
    Suite *suite = suite_create("kernels");
    SRunner *runner;
    int failed, n = 0;

    for (int g = 0; g < GROUPS; g++) {
        TCase *tc = tcase_create(groups[g]->file);

        n += groups[g]->n;
        tcase_set_timeout(tc, 60);
        tcase_add_loop_test(tc, tests[g], 0, groups[g]->n * ARCHES);
        suite_add_tcase(suite, tc);
    }
    printf("kernels tested: %d\nseed: %llu\n", n, (unsigned long long)random_seed());
    fflush(stdout);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
