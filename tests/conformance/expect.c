/* SPDX-License-Identifier: BSD-3-Clause
 * Expected products, in long double sums of doubles, and which arithmetics are right for a call.
 * Owns its packed operands for the time of one product. */
#include "conformance/expect.h"
#include "reference/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_zero(struct value x)
{
    return x.re == 0 && x.im == 0;
}

/* --- which arithmetic --- */

/* What the program asked for, without any preload. */
static enum arithmetic asked(const struct problem *p)
{
    if (p->ab != F32 && p->ab != C32)
        return EXACT;
    switch (p->compute) {
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        return TF32;
    case CUBLAS_COMPUTE_32F_FAST_16F:
        return ELEVEN_BITS;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
        return EIGHT_BITS;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        return EXACT;
    default:
        return p->math == CUBLAS_TF32_TENSOR_OP_MATH ? TF32 : EXACT;
    }
}

/* Can nothing be said against converting it? */
static bool convertible(const struct problem *p)
{
    const struct part *q = &p->part[0];
    return p->ab == F32 && p->cd == F32 && p->compute != CUBLAS_COMPUTE_32F_PEDANTIC &&
           p->math != CUBLAS_PEDANTIC_MATH && q->m > 0 && q->n > 0 && q->k > 0 && q->batch > 0 &&
           (q->alpha.re != 0 || p->device_scalars);
}

/* The table's word, unless this form of the call is one that the preload need not know. */
static enum coverage coverage_of(const struct problem *p)
{
    const struct part *q = &p->part[0];
    const enum coverage coverage = p->routine->coverage;
    const bool old_compute = family_ex(p->routine->family) && p->compute == CUDA_R_32F;
    const bool unusual = q->a.stride < 0 || q->c.ld == 0 || old_compute ||
                         p->lt.epilogue == CUBLASLT_EPILOGUE_BGRADA ||
                         p->lt.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    /* Fast arithmetic wants pointers that are aligned to 16 bytes there; nobody can see them. */
    if ((p->routine->family == ARRAY || p->routine->family == ARRAY_EX) && coverage == FAST && q->k % 4 == 0)
        return NEVER;
    return coverage != NEVER && unusual ? MAY : coverage;
}

static unsigned bit(enum arithmetic arithmetic)
{
    return 1u << arithmetic;
}

static const struct {
    const char *name;
    enum arithmetic own; /* of operands on this path */
    bool tf32_serves;    /* it is as exact, and may stand in */
} paths[] = {
    [PATH_FP32] = {"fp32", EXACT, false},          [PATH_TF32] = {"tf32", TF32, true},
    [PATH_FP16] = {"fp16", SCALED_FP16, true},     [PATH_BF16] = {"bf16", NEAREST_BF16, true},
    [PATH_FP16X2] = {"fp16x2", TWO_FP16, false},   [PATH_BF16X3] = {"bf16x3", TWO_BF16, false},
    [PATH_BF16X6] = {"bf16x6", THREE_BF16, false},
};

int path_named(const char *name)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strcmp(paths[i].name, name) == 0)
            return (int)i;
    return -1;
}

unsigned expect_arithmetics(const struct problem *p, enum path path, bool loose)
{
    const enum arithmetic plain = asked(p);
    const enum coverage coverage = coverage_of(p);
    unsigned set = bit(plain);
    if (path != PATH_FP32 && coverage != NEVER && (p->parts > 1 || convertible(p))) {
        const unsigned own = bit(paths[path].own);
        const unsigned tf32 = paths[path].tf32_serves ? bit(TF32) : 0;
        if (coverage == MAY || p->parts > 1)
            set |= own | tf32;
        else if (coverage == FAST && tf32 == 0)
            set |= own;
        else if (coverage == FAST) /* a call that is fast by itself may stay as it is */
            set = plain == EXACT ? own | tf32 : set | own | tf32;
        else
            set = plain == EXACT || path == PATH_FP16 ? own : set | own;
    }
    if (loose && (set & bit(TF32)) != 0)
        set |= bit(ELEVEN_BITS);
    return set;
}

bool expect_converted(const struct problem *p, enum path path)
{
    return coverage_of(p) == ALWAYS && convertible(p) && (path == PATH_FP16 || asked(p) == EXACT);
}

/* --- operands --- */

/* op(A) by rows or op(B) by columns, so that sums run along memory; error: how far each element may
 * be from what was multiplied, beyond the rounding that value holds. */
struct packed {
    double *re, *im, *error;
};

static double largest_finite(const struct problem *p, const struct matrix *x)
{
    double most = 0;
    for (int64_t i = 0; i < x->batch; i++)
        for (int64_t col = 0; col < x->cols; col++)
            for (int64_t row = 0; row < x->rows; row++) {
                const double v = fabs(problem_before(p, x, matrix_at(x, i, row, col)).re);
                most = isfinite(v) && v > most ? v : most;
            }
    return most;
}

/* The scale puts the maximum of an operand at 2^11 or above: whatever lies less than 25 binades
 * below it is a normal number of FP16, the rest has steps of at most 2^-35 of the maximum. */
static double round_scaled(double x, double most, double *error)
{
    if (!isfinite(x) || fabs(x) >= most * 0x1p-25)
        return ref_round_bits(x, 11);
    *error = most * 0x1p-36;
    return x;
}

/* The error of what is left out, and of products of pieces that are not computed. The second piece
 * of an infinity is 0, and their product NaN. */
static double split_error(double x, double relative, double smallest)
{
    if (!isfinite(x))
        return isinf(x) ? (double)INFINITY : 0;
    return x != 0 ? fabs(x) * relative + smallest : 0;
}

static double round_one(enum arithmetic arithmetic, double x, double most, double *error)
{
    *error = 0;
    switch (arithmetic) {
    case TF32:
        return ref_round_tf32(x);
    case SCALED_FP16:
        return round_scaled(x, most, error);
    case NEAREST_BF16:
        *error = isfinite(x) && fabs(x) < 0x1p-126 ? 0x1p-134 : 0;
        return isfinite(x) ? fmax(fmin(ref_round_bits(x, 8), 0x1.fep127), -0x1.fep127) : x;
    case TWO_FP16:
        *error = split_error(x, 0x1p-21, most * 0x1p-36);
        return x;
    case TWO_BF16:
        *error = split_error(x, 0x1p-16, 0x1p-133);
        return x;
    case THREE_BF16:
        *error = split_error(x, 0x1p-22, 0x1p-133);
        return x;
    case ELEVEN_BITS:
        *error = isfinite(x) ? fabs(x) * 0x1p-10 + 0x1p-24 : 0;
        return x;
    case EIGHT_BITS:
        *error = isfinite(x) ? fabs(x) * 0x1p-7 : 0;
        return x;
    default:
        return x;
    }
}

static void pack(const struct problem *p, const struct matrix *x, cublasOperation_t op,
                 int64_t entry, bool by_rows, enum arithmetic arithmetic, struct packed *to)
{
    const bool transposed = op != CUBLAS_OP_N;
    const int64_t rows = transposed ? x->cols : x->rows, cols = transposed ? x->rows : x->cols;
    const size_t bytes = sizeof(double) * (size_t)(rows * cols + 1);
    const double most =
        arithmetic == SCALED_FP16 || arithmetic == TWO_FP16 ? largest_finite(p, x) : 0;
    *to = (struct packed){malloc(bytes), malloc(bytes), malloc(bytes)};
    if (to->re == NULL || to->im == NULL || to->error == NULL)
        abort();
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++) {
            const int64_t at =
                transposed ? matrix_at(x, entry, col, row) : matrix_at(x, entry, row, col);
            const int64_t i = by_rows ? row * cols + col : col * rows + row;
            const struct value v = problem_before(p, x, at);
            double error_im;
            to->re[i] = round_one(arithmetic, v.re, most, &to->error[i]);
            to->im[i] = round_one(arithmetic, op == CUBLAS_OP_C ? -v.im : v.im, most, &error_im);
            to->error[i] += number_complex(x->number) ? error_im : 0;
        }
}

static void unpack(struct packed *x)
{
    free(x->re);
    free(x->im);
    free(x->error);
}

/* --- products --- */

struct sum {
    long double re, im, magnitude, error;
};

static struct sum dot(const struct packed *a, const struct packed *b, int64_t at_a, int64_t at_b,
                      int64_t k, bool is_complex, bool errors)
{
    struct sum s = {0, 0, 0, 0};
    for (int64_t l = 0; l < k; l++) {
        const long double x = a->re[at_a + l], y = b->re[at_b + l];
        s.re += x * y;
        s.magnitude += fabsl(x * y);
        if (is_complex) {
            const long double xi = a->im[at_a + l], yi = b->im[at_b + l];
            s.re -= xi * yi;
            s.im += x * yi + xi * y;
            s.magnitude += fabsl(x * yi) + fabsl(xi * y) + fabsl(xi * yi);
        }
        if (errors) {
            const long double ea = a->error[at_a + l], eb = b->error[at_b + l];
            s.error += (ea > 0 ? ea * (fabsl(y) + eb) : 0) + (eb > 0 ? eb * fabsl(x) : 0);
        }
    }
    return s;
}

struct precision {
    double sum, sum_step; /* of the accumulator */
    double factor;        /* complex numbers have four sums, or three of larger numbers */
};

static struct precision precision_of(const struct problem *p, enum arithmetic arithmetic,
                                     bool loose)
{
    const bool is_double = p->ab == F64 || p->ab == C64;
    struct precision q = {is_double ? 0x1p-53 : 0x1p-24, is_double ? 0x1p-1074 : 0x1p-149,
                          number_complex(p->ab) ? 8 : 1};
    if (arithmetic == TWO_FP16 || arithmetic == TWO_BF16 || arithmetic == THREE_BF16)
        q.sum *= 6; /* so many sums, one after the other */
    if (loose && arithmetic != EXACT)
        q.sum = 0x1p-22; /* aligned and truncated */
    const bool half_sums = p->compute == CUBLAS_COMPUTE_16F ||
                           p->compute == CUBLAS_COMPUTE_16F_PEDANTIC ||
                           (p->compute == 0 && p->ab == F16 && p->scale == F16);
    if (loose && half_sums)
        q.sum = 0x1p-11;
    return q;
}

static struct value scalar_at(const struct problem *p, int64_t index)
{
    return number_load(p->scale,
                       p->buffer[BUFFER_SCALARS].before + (size_t)index * number_bytes(p->scale));
}

/* The scalars of a row: vectors of cublasLtMatmul have one for each. */
static void scalars_of(const struct problem *p, const struct part *part, int64_t row,
                       struct value *alpha, struct value *beta)
{
    *alpha = part->alpha;
    *beta = part->beta;
    if (p->routine->lt != LT_VECTOR || p->routine->family != LT)
        return;
    *alpha = scalar_at(p, row);
    if (p->lt.pointers == CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
        *beta = scalar_at(p, part->m + row);
    else if (p->lt.pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
        *beta = (struct value){0, 0};
}

static double size_of(struct value x)
{
    return fabs(x.re) + fabs(x.im);
}

static struct want finish(const struct problem *p, const struct part *part, int64_t entry,
                          int64_t row, int64_t col, struct sum s, struct precision q)
{
    struct value alpha, beta;
    scalars_of(p, part, row, &alpha, &beta);
    long double re = 0, im = 0, magnitude = 0;
    if (!is_zero(alpha)) {
        re = alpha.re * s.re - (alpha.im != 0 ? alpha.im * s.im : 0);
        im = alpha.re * s.im + (alpha.im != 0 ? alpha.im * s.re : 0);
        magnitude = size_of(alpha) * s.magnitude;
    }
    if (!is_zero(beta)) {
        const struct value c = problem_before(p, &part->c, matrix_at(&part->c, entry, row, col));
        re += (long double)beta.re * c.re - (beta.im != 0 ? (long double)beta.im * c.im : 0);
        im += (long double)beta.re * c.im + (beta.im != 0 ? (long double)beta.im * c.re : 0);
        magnitude += (long double)size_of(beta) * size_of(c);
    }
    /* Any order of summation, and a few roundings around it; below the normal range each of them
     * costs a whole step, before alpha is applied. */
    const double steps = (double)part->k + 8;
    /* Infinity times what may have become 0: NaN, or not. */
    struct want want = {(double)re, (double)im, 0, isinf(s.error) || !isfinite(alpha.re)};
    want.bound =
        q.factor * steps * (q.sum * (double)magnitude + q.sum_step * (1 + size_of(alpha))) +
        size_of(alpha) * (double)s.error;
    if (p->cd == F16 || p->cd == BF16) /* the sum is rounded once more */
        want.bound += number_unit(p->cd) * fabs(want.re) * 1.01 + number_smallest(p->cd);
    return want;
}

void expect_product(const struct problem *p, const struct part *part, int64_t entry,
                    enum arithmetic arithmetic, bool loose, struct want *want)
{
    struct packed a, b;
    const bool vectors = p->routine->family == LT && p->routine->lt == LT_VECTOR;
    /* alpha = 0: A and B are not read */
    const int64_t k = is_zero(part->alpha) && !vectors ? 0 : part->k;
    const struct precision q = precision_of(p, arithmetic, loose);
    pack(p, &part->a, part->transa, entry, true, arithmetic, &a);
    pack(p, &part->b, part->transb, entry, false, arithmetic, &b);
    for (int64_t col = 0; col < part->n; col++)
        for (int64_t row = 0; row < part->m; row++) {
            const struct sum s = dot(&a, &b, row * part->k, col * part->k, k, number_complex(p->ab),
                                     arithmetic > TF32);
            *want++ = finish(p, part, entry, row, col, s, q);
        }
    unpack(&a);
    unpack(&b);
}

bool expect_met(enum number number, struct want want, struct value got)
{
    const double limit = number_largest(number);
    if (number_complex(number)) {
        /* Which part of a complex product becomes NaN depends on how it is computed. */
        if (!isfinite(want.re) || !isfinite(want.im))
            return !isfinite(got.re) || !isfinite(got.im);
        return fabs(got.re - want.re) <= want.bound && fabs(got.im - want.im) <= want.bound;
    }
    if (want.not_finite)
        return !isfinite(got.re);
    if (isnan(want.re))
        return isnan(got.re);
    if (isinf(want.re))
        return got.re == want.re;
    if (!isfinite(want.bound))
        return true;
    if (fabs(want.re) + want.bound > limit && isinf(got.re))
        return signbit(got.re) == signbit(want.re);
    return fabs(got.re - want.re) <= want.bound;
}
