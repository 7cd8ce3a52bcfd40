/* SPDX-License-Identifier: BSD-3-Clause
 * Draws conformance problems. Sizes, leading dimensions, strides, scalars and data come from small
 * sets that hold the cases known to go wrong, mixed at random. */
#include "conformance/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *state)
{
    /* xorshift64* */
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)((random_next(state) >> 11) % (uint64_t)n);
}

double random_normal(uint64_t *state)
{
    double u = ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
    double v = ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

#define PICK(_state, _array)                                                                       \
    (_array)[random_below(_state, (int64_t)(sizeof(_array) / sizeof((_array)[0])))]

static int64_t draw_size(uint64_t *state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 40, 63, 64, 65, 97};
    int64_t size = PICK(state, sizes);
    /* Empty matrices are worth some cases, not a seventh of them all. */
    return size == 0 && random_below(state, 4) != 0 ? 24 : size;
}

static int64_t pad_ld(uint64_t *state, int64_t rows)
{
    static const int64_t pads[] = {0, 0, 0, 1, 3, 4, 8};
    int64_t ld = rows + PICK(state, pads);
    return ld > 0 ? ld : 1;
}

/* Elements from the first to past the last one of a strided batch. */
static int64_t span(int64_t rows, int64_t cols, int64_t ld, int64_t stride, int64_t batch)
{
    if (rows == 0 || cols == 0 || batch == 0)
        return 0;
    return (batch - 1) * stride + (cols - 1) * ld + rows;
}

/* Batch entries behind each other, padded, or (may_share) all the same matrix. */
static int64_t draw_stride(uint64_t *state, int64_t cols, int64_t ld, bool may_share)
{
    int64_t dense = ld * (cols > 0 ? cols : 1);
    switch (random_below(state, may_share ? 5 : 4)) {
    case 0:
        return dense + 5;
    case 1:
        return dense + 8;
    case 4:
        return 0;
    default:
        return dense;
    }
}

/* Everything is NaN but the matrix itself, so that a read of padding shows. Now and then the
 * elements are spread over so many binades that small ones lose bits in FP16. */
static float *draw_matrix(uint64_t *state, int64_t rows, int64_t cols, int64_t ld, int64_t stride,
                          int64_t batch, int64_t elements, double scale)
{
    float *data = malloc(sizeof(float) * (size_t)(elements + 1));
    for (int64_t i = 0; i <= elements; i++)
        data[i] = NAN;
    const int spread = random_below(state, 6) == 0 ? 40 : 1;
    for (int64_t i = 0; i < batch; i++)
        for (int64_t c = 0; c < cols; c++)
            for (int64_t r = 0; r < rows; r++)
                data[i * stride + c * ld + r] =
                    (float)ldexp(scale * random_normal(state), (int)-random_below(state, spread));
    return data;
}

static void plant(uint64_t *state, float *data, int64_t rows, int64_t cols, int64_t ld, float value)
{
    if (rows > 0 && cols > 0)
        data[random_below(state, cols) * ld + random_below(state, rows)] = value;
}

static void draw_specials(uint64_t *state, struct problem *p, int64_t rows_a, int64_t cols_a,
                          int64_t rows_b, int64_t cols_b)
{
    static const float specials[] = {NAN, INFINITY, -INFINITY, 0x1p-149f, 0x1p-126f};
    /* cuBLAS itself may multiply by an alpha of 0 that it finds on the device. */
    if (p->batch == 0 || (p->alpha == 0 && p->device_scalars))
        return;
    switch (random_below(state, 12)) {
    case 0:
        plant(state, p->a, rows_a, cols_a, p->lda, PICK(state, specials));
        break;
    case 1:
        plant(state, p->b, rows_b, cols_b, p->ldb, PICK(state, specials));
        break;
    case 2:
        plant(state, p->c, p->m, p->n, p->ldc, PICK(state, specials));
        break;
    case 3:
        for (int64_t i = 0; i < p->elements_a; i++)
            p->a[i] = isnan(p->a[i]) ? p->a[i] : 0.0f;
        break;
    default:
        break;
    }
}

bool routine_batched(enum routine routine)
{
    return routine == R_STRIDED || routine == R_STRIDED_64 || routine == R_STRIDED_EX ||
           routine == R_STRIDED_EX_64 || routine == R_LT || routine == R_LT_ROW ||
           routine == R_LT_OUT;
}

void problem_draw(struct judge *judge, enum routine routine, struct problem *p)
{
    static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    static const float alphas[] = {1, 1, 1, -1, 0.5f, 2.75f, 0, 1e-3f};
    static const float betas[] = {0, 0, 1, 1, -1, 0.3f};
    static const double scales[] = {1, 1, 1, 1e-6, 1e6, 1e-12, 1e12};
    static const int offsets[] = {0, 0, 0, 1, 2, 3};
    uint64_t *s = &judge->random;
    memset(p, 0, sizeof *p);
    p->routine = routine;
    p->transa = PICK(s, ops);
    p->transb = PICK(s, ops);
    p->m = draw_size(s);
    p->n = draw_size(s);
    p->k = draw_size(s);
    p->batch = routine_batched(routine) ? random_below(s, 5) : 1;
    if (routine_is_lt(routine)) { /* cuBLASLt has no empty matrices */
        p->m += p->m == 0;
        p->n += p->n == 0;
        p->k += p->k == 0;
        p->batch += p->batch == 0;
    }
    const bool ta = p->transa != CUBLAS_OP_N, tb = p->transb != CUBLAS_OP_N;
    const int64_t rows_a = ta ? p->k : p->m, cols_a = ta ? p->m : p->k;
    const int64_t rows_b = tb ? p->n : p->k, cols_b = tb ? p->k : p->n;
    p->lda = pad_ld(s, rows_a);
    p->ldb = pad_ld(s, rows_b);
    p->ldc = pad_ld(s, p->m);
    if (routine_batched(routine)) {
        p->stride_a = draw_stride(s, cols_a, p->lda, true);
        p->stride_b = draw_stride(s, cols_b, p->ldb, true);
        p->stride_c = draw_stride(s, p->n, p->ldc, false);
    }
    p->offset_a = PICK(s, offsets);
    p->offset_b = PICK(s, offsets);
    p->offset_c = PICK(s, offsets);
    p->alpha = PICK(s, alphas);
    p->beta = PICK(s, betas);
    p->device_scalars = random_below(s, 3) == 0;
    p->pedantic = random_below(s, 12) == 0;
    p->elements_a = span(rows_a, cols_a, p->lda, p->stride_a, p->batch);
    p->elements_b = span(rows_b, cols_b, p->ldb, p->stride_b, p->batch);
    p->elements_c = span(p->m, p->n, p->ldc, p->stride_c, p->batch);
    p->a = draw_matrix(s, rows_a, cols_a, p->lda, p->stride_a, p->batch, p->elements_a,
                       PICK(s, scales));
    p->b = draw_matrix(s, rows_b, cols_b, p->ldb, p->stride_b, p->batch, p->elements_b,
                       PICK(s, scales));
    p->c = draw_matrix(s, p->m, p->n, p->ldc, p->stride_c, p->batch, p->elements_c,
                       PICK(s, scales));
    if (p->beta == 0 && random_below(s, 2) == 0) /* C must not be read */
        for (int64_t i = 0; i < p->elements_c; i++)
            p->c[i] = NAN;
    draw_specials(s, p, rows_a, cols_a, rows_b, cols_b);
    p->bias = draw_matrix(s, p->m, 1, p->m, 0, 1, p->m, 1);
    p->a_after = malloc(sizeof(float) * (size_t)(p->elements_a + 1));
    p->b_after = malloc(sizeof(float) * (size_t)(p->elements_b + 1));
    p->c_after = malloc(sizeof(float) * (size_t)(p->elements_c + 1));
}

void problem_free(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->a_after);
    free(p->b_after);
    free(p->c_after);
    free(p->bias);
}

bool problem_convertible(const struct problem *p)
{
    return p->m > 0 && p->n > 0 && p->k > 0 && p->batch > 0 && !p->pedantic &&
           (p->alpha != 0 || p->device_scalars);
}

void problem_describe(const struct problem *p, char *text, size_t bytes)
{
    static const char ops[] = "NTC";
    snprintf(text, bytes,
             "%s %c%c m=%lld n=%lld k=%lld batch=%lld ld=%lld,%lld,%lld stride=%lld,%lld,%lld "
             "offset=%d,%d,%d alpha=%g beta=%g%s%s",
             routine_name(p->routine), ops[p->transa], ops[p->transb], (long long)p->m,
             (long long)p->n, (long long)p->k, (long long)p->batch, (long long)p->lda,
             (long long)p->ldb, (long long)p->ldc, (long long)p->stride_a, (long long)p->stride_b,
             (long long)p->stride_c, p->offset_a, p->offset_b, p->offset_c, (double)p->alpha,
             (double)p->beta, p->device_scalars ? " device scalars" : "",
             p->pedantic ? " pedantic" : "");
}
