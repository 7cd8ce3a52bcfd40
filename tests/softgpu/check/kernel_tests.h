/* SPDX-License-Identifier: BSD-3-Clause
 * The tests of compiled kernels: one group a source file of kernels/. Each test runs for every
 * compiler output there is. */
#ifndef SOFTGPU_CHECK_KERNEL_TESTS_H
#define SOFTGPU_CHECK_KERNEL_TESTS_H

#include "device.h"
#include "random.h"

struct kernel_test {
    const char *name;
    void (*run)(struct device *dev, struct random *random);
};

struct kernel_group {
    const char *file; /* of kernels/ */
    const struct kernel_test *test;
    int n;
};

extern const struct kernel_group group_basic, group_collect, group_groups, group_linear, group_math,
    group_language;

/* Host arrays of n random values. */
float *random_floats(struct random *r, int n, float low, float high);
double *random_doubles(struct random *r, int n, double low, double high);
int *random_ints(struct random *r, int n, int low, int high);

/* Fail the test with the first difference. */
void same_ints(const char *what, const int *got, const int *want, int n);
void same_bytes(const char *what, const void *got, const void *want, size_t n);
/* |got - want| <= relative * |want| + absolute, element by element; NaN equals NaN, Inf Inf. */
void near_floats(const char *what, const float *got, const float *want, int n, double relative,
                 double absolute);
void near_doubles(const char *what, const double *got, const double *want, int n, double relative,
                  double absolute);

#define GROUP(_name, _file, _tests)                                                                \
    const struct kernel_group _name = {_file, _tests, sizeof _tests / sizeof _tests[0]}

#endif
