/* SPDX-License-Identifier: BSD-3-Clause
 * The distributions of the accuracy table. Owns nothing but their list. */
#include "accuracy/data.h"
#include "conformance/random.h"

#include <math.h>
#include <stddef.h>

static double uniform(uint64_t *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static size_t size_of_a(const struct problem *p)
{
    return (size_t)p->m * (size_t)p->k * (size_t)p->batch;
}

static size_t size_of_b(const struct problem *p)
{
    return (size_t)p->k * (size_t)p->n * (size_t)p->batch;
}

static void normal_numbers(float *x, size_t n, double scale, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(scale * random_normal(random));
}

static void normal(const struct problem *p, uint64_t *random)
{
    normal_numbers(p->a, size_of_a(p), 1, random);
    normal_numbers(p->b, size_of_b(p), 1, random);
}

/* A gradient times an activation. */
static void gradient(const struct problem *p, uint64_t *random)
{
    normal_numbers(p->a, size_of_a(p), 1e-6, random);
    normal_numbers(p->b, size_of_b(p), 1, random);
}

static void wide_numbers(float *x, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(exp(4 * random_normal(random)) * (random_once_in(random, 2) ? 1 : -1));
}

static void log_normal(const struct problem *p, uint64_t *random)
{
    wide_numbers(p->a, size_of_a(p), random);
    wide_numbers(p->b, size_of_b(p), random);
}

static void uniform_numbers(const struct problem *p, uint64_t *random)
{
    for (size_t i = 0; i < size_of_a(p); i++)
        p->a[i] = (float)uniform(random);
    for (size_t i = 0; i < size_of_b(p); i++)
        p->b[i] = (float)uniform(random);
}

static void outliers(const struct problem *p, uint64_t *random)
{
    normal(p, random);
    p->a[random_below(random, (int64_t)size_of_a(p))] = 1e4f;
    p->b[random_below(random, (int64_t)size_of_b(p))] = -1e4f;
}

static void scaled_rows(const struct problem *p, uint64_t *random)
{
    normal(p, random);
    for (int i = 0; i < p->m; i++) {
        const double scale = exp2(-40 * uniform(random));
        for (int k = 0; k < p->k; k++)
            p->a[(size_t)k * (size_t)p->m + (size_t)i] *= (float)scale;
    }
}

static void scaled_entries(const struct problem *p, uint64_t *random)
{
    normal(p, random);
    const size_t entry = (size_t)p->m * (size_t)p->k;
    for (int e = 0; e < p->batch; e++) {
        const double scale = exp2(-40.0 * e / (p->batch - 1));
        for (size_t i = 0; i < entry; i++)
            p->a[(size_t)e * entry + i] *= (float)scale;
    }
}

static void one_infinity(const struct problem *p, uint64_t *random)
{
    normal(p, random);
    p->a[random_below(random, (int64_t)size_of_a(p))] = INFINITY;
}

const struct distribution distributions[] = {
    {"normal", 1, normal},
    {"gradients, 1e-6", 1, gradient},
    {"log-normal, sigma 4", 1, log_normal},
    {"uniform in [0, 1)", 1, uniform_numbers},
    {"normal, an outlier of 1e4 in A and B", 1, outliers},
    {"normal, rows of A times 2^[-40, 0]", 1, scaled_rows},
    {"normal, batch entries of A times 2^[-40, 0]", 8, scaled_entries},
    {"normal, one Inf in A", 1, one_infinity},
};
const int distributions_n = sizeof distributions / sizeof distributions[0];
