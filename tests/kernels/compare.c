/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of apex_compare_f32: ||D - R|| / ||R|| in double, places where both are not finite left
 * out, one-sided ones an infinite error. */
#include "kernels/call.h"
#include "kernels/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SITE = 9, CASES = 60 };

struct matrix {
    int64_t ld, stride;
    size_t elements;
    float *host;
    CUdeviceptr device;
};

static void matrix_make(struct matrix *m, int64_t rows, int64_t cols, int64_t batch)
{
    m->ld = rows + draw_int(0, 5);
    m->stride = m->ld * cols + draw_int(0, 5);
    m->elements = (size_t)((batch - 1) * m->stride + (cols - 1) * m->ld + rows);
    m->host = malloc(m->elements * sizeof *m->host);
    for (size_t i = 0; i < m->elements; i++)
        m->host[i] = draw_one_in(2) ? NAN : 3e38f;
}

static void matrix_upload(struct matrix *m)
{
    m->device = gpu_new(m->host, m->elements * sizeof *m->host);
}

static void matrix_free(struct matrix *m)
{
    gpu_free(m->device);
    free(m->host);
}

enum kind { EQUAL, NEAR, ZERO_ORIGINAL, BOTH_NOT_FINITE, ONLY_RESULT, ONLY_ORIGINAL, KINDS };

/* The value at one place; special: the place that the kind is about. */
static void draw_pair(enum kind kind, bool special, int scale, float *result, float *original)
{
    static const float not_finite[] = {INFINITY, -INFINITY, NAN};
    *original = kind == ZERO_ORIGINAL ? 0.0f : (float)ldexp(draw_normal(), scale);
    *result = kind == EQUAL           ? *original
              : kind == ZERO_ORIGINAL ? (special ? 1e-20f : 0.0f)
                                      : *original * (1 + (float)draw_normal() * 1e-3f);
    if (!special)
        return;
    if (kind == BOTH_NOT_FINITE || kind == ONLY_RESULT)
        *result = not_finite[draw_int(0, 2)];
    if (kind == BOTH_NOT_FINITE || kind == ONLY_ORIGINAL)
        *original = not_finite[draw_int(0, 2)];
}

/* Fills both matrices; returns the error that must come out. */
static double fill(enum kind kind, struct matrix *result, struct matrix *original, int64_t rows,
                   int64_t cols, int64_t batch)
{
    const int scale = (int)draw_int(-120, 120);
    const int64_t special = draw_int(0, rows * cols * batch - 1);
    double difference = 0, reference = 0;
    bool one_sided = false;
    for (int64_t i = 0; i < rows * cols * batch; i++) {
        const int64_t row = i % rows, column = i / rows % cols, entry = i / rows / cols;
        float d, r;
        draw_pair(kind, i == special, scale, &d, &r);
        result->host[entry * result->stride + column * result->ld + row] = d;
        original->host[entry * original->stride + column * original->ld + row] = r;
        one_sided |= !isfinite(d) != !isfinite(r);
        if (isfinite(d) && isfinite(r)) {
            difference += ((double)d - r) * ((double)d - r);
            reference += (double)r * r;
        }
    }
    if (one_sided)
        return INFINITY;
    return difference == 0 ? 0 : reference == 0 ? INFINITY : sqrt(difference / reference);
}

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_error(double got, double want)
{
    if (want == 0 || isinf(want) ? got != want : !(fabs(got - want) <= 1e-6 * want))
        ck_abort_msg("error %g instead of %g", got, want);
}

START_TEST(compare)
{
    double worst = 0;
    uint64_t verified = 0;
    for (int i = 0; i < CASES; i++) {
        /* Infinite errors last, or the worst would be known at once. */
        const enum kind kind = i < CASES / 2 ? (enum kind[]){EQUAL, NEAR, BOTH_NOT_FINITE}[i % 3]
                                             : (enum kind)draw_int(0, KINDS - 1);
        const int64_t rows = draw_int(1, 70), cols = draw_int(1, 40), batch = draw_int(1, 3);
        struct matrix result, original;
        matrix_make(&result, rows, cols, batch);
        matrix_make(&original, rows, cols, batch);
        const double want = fill(kind, &result, &original, rows, cols, batch);
        matrix_upload(&result);
        matrix_upload(&original);
        const struct apex_compare_params params = {
            .result = (const float *)(uintptr_t)result.device,
            .original = (const float *)(uintptr_t)original.device,
            .rows = rows,
            .cols = cols,
            .batch = batch,
            .result_ld = result.ld,
            .result_stride = result.stride,
            .original_ld = original.ld,
            .original_stride = original.stride,
            .record = (struct apex_record *)(uintptr_t)calls_record(),
            .site = calls_site(SITE),
            .mirror = calls_mirror(SITE),
        };
        gpu_launch(APEX_KERNEL_COMPARE, &params, (uint32_t)draw_int(1, 9));
        const struct apex_site site = calls_read_site(SITE);
        check_error(from_bits(site.last_error_bits), want);
        worst = want > worst ? want : worst;
        check_error(from_bits(site.worst_error_bits), worst);
        ck_assert_uint_eq(site.verified, ++verified);
        struct apex_record record;
        gpu_read(&record, calls_record(), sizeof record);
        ck_assert(record.difference == 0 && record.reference == 0 && record.ticket == 0);
        matrix_free(&result);
        matrix_free(&original);
    }
}
END_TEST

Suite *suite_compare(void)
{
    Suite *suite = suite_create("compare");
    TCase *tcase = tcase_create("compare");
    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, calls_start, calls_stop);
    tcase_add_test(tcase, compare);
    suite_add_tcase(suite, tcase);
    return suite;
}
