/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of apex_cast_fp8*: the copies byte for byte against tables of all encodings (OCP 8-bit
 * floating point specification), turned so that K is contiguous, with zeros up to a multiple of 16;
 * exponents, alpha and what was lost from the formulas in double. */
#include "kernels/call.h"
#include "kernels/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SITE = 11, CASES = 60, ALIGN = 16, TILE = 64 };

struct fp8 {
    int mantissa_bits, bias, top; /* scaled maxima lie below 2^(top + 1) */
    unsigned largest, infinity;   /* encodings; infinity 0: there is none */
};
static const struct fp8 e4m3 = {3, 7, 7, 0x7e, 0}, e5m2 = {2, 15, 14, 0x7b, 0x7c};

static double decode(const struct fp8 *f, unsigned code)
{
    const int mantissa = (int)code & ((1 << f->mantissa_bits) - 1);
    const int exponent = (int)(code & 0x7f) >> f->mantissa_bits;
    const double magnitude =
        exponent == 0 ? ldexp(mantissa, 1 - f->bias - f->mantissa_bits)
                      : ldexp(mantissa + (1 << f->mantissa_bits), exponent - f->bias - f->mantissa_bits);
    return code & 0x80 ? -magnitude : magnitude;
}

/* To nearest, ties to the even encoding, finite values never beyond the largest. */
static unsigned encode(const struct fp8 *f, double x)
{
    const unsigned sign = signbit(x) ? 0x80 : 0;
    if (isnan(x) || (isinf(x) && f->infinity == 0))
        return 0x7f; /* any NaN */
    if (isinf(x))
        return sign | f->infinity;
    unsigned best = 0;
    for (unsigned code = 1; code <= f->largest; code++) {
        const double now = fabs(decode(f, code) - fabs(x)), was = fabs(decode(f, best) - fabs(x));
        if (now < was || (now == was && code % 2 == 0))
            best = code;
    }
    return sign | best;
}

static bool same(const struct fp8 *f, unsigned got, unsigned want)
{
    const bool nan = want == 0x7f;
    return nan ? (got & 0x7f) > (f->infinity ? f->infinity : f->largest) : got == want;
}

struct side {
    const struct fp8 *f;
    int64_t rows, cols, batch, ld, stride, k, runs, copy_ld, copy_stride;
    bool along;
    size_t elements, bytes;
    float *host;
    uint8_t *before, *after;
    CUdeviceptr memory, copy;
    int exponent;
};

static void side_make(struct side *s, const struct fp8 *f)
{
    s->f = f;
    s->rows = draw_int(1, 150);
    s->cols = draw_int(1, 150);
    s->batch = draw_one_in(4) ? draw_int(2, 3) : 1;
    s->along = draw_one_in(2);
    s->ld = s->rows + (draw_one_in(2) ? 0 : draw_int(1, 9));
    s->stride = s->batch == 1 ? 0 : s->ld * s->cols + draw_int(0, 5);
    s->k = ((s->along ? s->rows : s->cols) + ALIGN - 1) / ALIGN * ALIGN;
    s->runs = s->along ? s->cols : s->rows;
    s->copy_ld = s->k + (draw_one_in(2) ? 0 : ALIGN);
    s->copy_stride = s->batch == 1 ? 0 : s->copy_ld * s->runs;
    s->elements = (size_t)((s->batch - 1) * s->stride + (s->cols - 1) * s->ld + s->rows);
    s->bytes = (size_t)((s->batch - 1) * s->copy_stride + (s->runs - 1) * s->copy_ld + s->k);
    s->host = malloc(s->elements * sizeof *s->host);
    s->before = malloc(s->bytes);
    s->after = malloc(s->bytes);
    draw_data((enum data)draw_int(0, DATA_KINDS - 1), s->host, s->elements);
    for (size_t i = 0; i < s->bytes; i++)
        s->before[i] = (uint8_t)draw_bits();
    s->memory = gpu_new(s->host, s->elements * sizeof *s->host);
    s->copy = gpu_new(s->before, s->bytes);
}

static void side_free(struct side *s)
{
    gpu_free(s->memory);
    gpu_free(s->copy);
    free(s->host);
    free(s->before);
    free(s->after);
}

/* Element (run, k) of the copy's entry; 0 past the end of K. */
static float element(const struct side *s, int64_t entry, int64_t run, int64_t k)
{
    const int64_t row = s->along ? k : run, column = s->along ? run : k;
    return row < s->rows && column < s->cols ? s->host[entry * s->stride + column * s->ld + row]
                                             : 0.0f;
}

/* The exponent that brings the largest finite magnitude into [2^top, 2^(top + 1)). Padding belongs
 * to nobody: it is not looked at. */
static int exponent_of(const struct side *s)
{
    double amax = 0;
    for (int64_t e = 0; e < s->batch; e++)
        for (int64_t run = 0; run < s->runs; run++)
            for (int64_t k = 0; k < s->k; k++) {
                const double x = fabs((double)element(s, e, run, k));
                amax = isfinite(x) && x > amax ? x : amax;
            }
    return amax > 0 ? s->f->top - ilogb(amax) : 0;
}

static uint64_t check_copy(struct side *s)
{
    uint64_t lost = 0;
    const double least = decode(s->f, 1u << s->f->mantissa_bits);
    gpu_read(s->after, s->copy, s->bytes);
    for (int64_t e = 0; e < s->batch; e++)
        for (int64_t run = 0; run < s->runs; run++)
            for (int64_t k = 0; k < s->copy_ld; k++) {
                const size_t at = (size_t)(e * s->copy_stride + run * s->copy_ld + k);
                if (at >= s->bytes)
                    continue;
                if (k >= s->k) { /* between the runs nothing is written */
                    ck_assert_uint_eq(s->after[at], s->before[at]);
                    continue;
                }
                const float x = element(s, e, run, k);
                const double scaled = ldexp((double)x, s->exponent);
                lost += x != 0 && fabs(scaled) < least;
                ck_assert_msg(same(s->f, s->after[at], encode(s->f, scaled)),
                              "run %lld k %lld: %a -> %02x, expected %02x", (long long)run,
                              (long long)k, scaled, s->after[at], encode(s->f, scaled));
            }
    return lost;
}

static struct apex_source source_of(const struct side *s)
{
    struct apex_source source = {.data = (const float *)(uintptr_t)s->memory, .ld = s->ld,
                                 .stride = s->stride, .cols = s->cols};
    source.walk = (struct apex_walk){.rows = s->rows, .cols = s->cols, .batch = s->batch,
                                     .segment_rows = (s->rows + 2047) / 2048 * 2048, .segments = 1,
                                     .groups = 2, .tx_log2 = 8,
                                     .vector = s->ld % 4 == 0 && s->stride % 4 == 0};
    return source;
}

static uint32_t tiles_of(const struct side *s)
{
    return (uint32_t)((s->rows + TILE - 1) / TILE * ((s->cols + TILE - 1) / TILE) * s->batch);
}

START_TEST(fp8)
{
    static const struct {
        const char *name;
        const struct fp8 *a, *b;
    } kernels[] = {{"apex_cast_fp8", &e4m3, &e4m3},
                   {"apex_cast_fp8_e5m2_a", &e5m2, &e4m3},
                   {"apex_cast_fp8_e5m2_b", &e4m3, &e5m2}};
    const CUdeviceptr predictions = gpu_new((const int32_t[2]){0, 0}, 2 * sizeof(int32_t));
    const CUdeviceptr record_at = calls_record();
    for (int i = 0; i < CASES / 3; i++) {
        struct side side[2];
        side_make(&side[0], kernels[_i].a);
        side_make(&side[1], kernels[_i].b);
        struct apex_record *record = (struct apex_record *)(uintptr_t)record_at;
        const struct apex_amax_params amax = {
            .source = {source_of(&side[0]), source_of(&side[1])}, .blocks_of_a = 2,
            .record = record};
        const uint32_t tiles[2] = {tiles_of(&side[0]), tiles_of(&side[1])};
        struct apex_cast_params params = {
            .source = {amax.source[0], amax.source[1]},
            .blocks_of_a = tiles[0],
            .blocks = tiles[0] + tiles[1],
            .mode = APEX_EXACT,
            .prediction = {(int32_t *)(uintptr_t)predictions, (int32_t *)(uintptr_t)predictions + 1},
            .record = record,
            .site = calls_site(SITE),
            .mirror = calls_mirror(SITE),
            .elements = {7, 9},
            .alpha = 0.37f,
            .beta = -2,
        };
        for (int j = 0; j < 2; j++)
            params.target[j] = (struct apex_target){.data = (void *)(uintptr_t)side[j].copy,
                                                    .ld = side[j].copy_ld,
                                                    .stride = side[j].copy_stride,
                                                    .k = side[j].k,
                                                    .k_along_rows = side[j].along};
        const struct apex_site before = calls_read_site(SITE);
        gpu_launch("apex_amax_f32", &amax, 4);
        gpu_launch(kernels[_i].name, &params, (uint32_t)draw_int(1, params.blocks + 2));
        /* Lowered together where alpha * 2^-(ea + eb) would not be normal. */
        int excess = 0, sum = 0;
        for (int j = 0; j < 2; j++) {
            side[j].exponent = exponent_of(&side[j]);
            sum += side[j].exponent;
        }
        while (ilogb(0.37f) - (sum - excess) < -126 || sum - excess > 252)
            excess++;
        side[0].exponent -= excess / 2;
        side[1].exponent -= excess - excess / 2;
        struct apex_record got;
        gpu_read(&got, record_at, sizeof got);
        for (int j = 0; j < 2; j++) {
            ck_assert_int_eq(got.exponent[j], side[j].exponent);
            ck_assert_uint_eq(got.amax_bits[j], 0);
            ck_assert_uint_eq(got.lost[1][j], 0);
        }
        ck_assert_uint_eq(got.ticket, 0);
        ck_assert(got.alpha == (float)fmin(ldexp(0.37f, excess - sum), 3.402823466e38));
        ck_assert(got.beta == -2 && got.one == 1);
        const struct apex_site after = calls_read_site(SITE);
        for (int j = 0; j < 2; j++)
            ck_assert_uint_eq(after.lost[j] - before.lost[j], check_copy(&side[j]));
        ck_assert_uint_eq(after.calls, before.calls + 1);
        ck_assert_uint_eq(after.misses, before.misses);
        ck_assert_uint_eq(after.elements[1], before.elements[1] + 9);
        side_free(&side[0]);
        side_free(&side[1]);
    }
    gpu_free(predictions);
}
END_TEST

Suite *suite_fp8(void)
{
    Suite *suite = suite_create("fp8");
    TCase *tcase = tcase_create("fp8");
    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, calls_start, calls_stop);
    tcase_add_loop_test(tcase, fp8, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}
