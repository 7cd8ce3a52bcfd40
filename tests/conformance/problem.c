/* SPDX-License-Identifier: BSD-3-Clause
 * Draws conformance problems. Sizes, leading dimensions, strides, scalars and data come from small
 * sets that hold the cases known to go wrong, mixed at random. */
#include "conformance/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static int64_t draw_size(uint64_t *s)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 40, 63, 64, 65};
    static const int64_t big[] = {97, 128, 129, 251};
    if (random_once_in(s, 24))
        return PICK(s, big);
    const int64_t size = PICK(s, sizes);
    /* Empty matrices are worth some cases, not a seventh of them all. */
    return size == 0 && !random_once_in(s, 3) ? 24 : size;
}

static int64_t draw_ld(uint64_t *s, int64_t rows)
{
    static const int64_t pads[] = {0, 0, 0, 1, 3, 4, 8};
    const int64_t ld = rows + PICK(s, pads);
    return ld > 0 ? ld : 1;
}

/* Batch entries behind each other, padded, or (may_share) all the same matrix. */
static int64_t draw_stride(uint64_t *s, int64_t lines, int64_t ld, bool may_share)
{
    const int64_t dense = ld * (lines > 0 ? lines : 1);
    switch (random_below(s, may_share ? 5 : 4)) {
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

int64_t matrix_at(const struct matrix *x, int64_t entry, int64_t row, int64_t col)
{
    const int64_t place = x->backwards ? x->batch - 1 - entry : entry;
    return x->first + place * x->stride + (x->row_order ? row * x->ld + col : col * x->ld + row);
}

/* Elements of the buffer up to the last one of the matrix. */
static int64_t matrix_end(const struct matrix *x)
{
    if (x->rows == 0 || x->cols == 0 || x->batch == 0)
        return x->first;
    const int64_t last = x->batch - 1;
    const int64_t end = matrix_at(x, last, x->rows - 1, x->cols - 1);
    const int64_t other = matrix_at(x, 0, x->rows - 1, x->cols - 1);
    return 1 + (end > other ? end : other);
}

static struct matrix draw_matrix(uint64_t *s, enum buffer_name buffer, enum number number,
                                 int64_t rows, int64_t cols, int64_t batch, bool row_order)
{
    struct matrix x = {.buffer = buffer,
                       .number = number,
                       .rows = rows,
                       .cols = cols,
                       .batch = batch,
                       .row_order = row_order};
    x.ld = draw_ld(s, row_order ? cols : rows);
    if (batch != 1)
        x.stride = draw_stride(s, row_order ? rows : cols, x.ld, buffer < BUFFER_C);
    return x;
}

/* --- the request: formats, scalars, modes --- */

static void draw_formats(struct drawing *d, struct problem *p)
{
    static const struct {
        enum number ab, cd;
        int compute;
    } ex[] = {{F64, F64, CUBLAS_COMPUTE_64F},  {C32, C32, CUBLAS_COMPUTE_32F},
              {C64, C64, CUBLAS_COMPUTE_64F},  {F16, F16, CUBLAS_COMPUTE_32F},
              {F16, F32, CUBLAS_COMPUTE_32F},  {F16, F16, CUBLAS_COMPUTE_16F},
              {BF16, F32, CUBLAS_COMPUTE_32F}, {BF16, BF16, CUBLAS_COMPUTE_32F}};
    static const int fast[] = {CUBLAS_COMPUTE_32F,           CUBLAS_COMPUTE_32F,
                               CUBLAS_COMPUTE_32F,           CUBLAS_COMPUTE_32F_PEDANTIC,
                               CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F,
                               CUBLAS_COMPUTE_32F_FAST_16BF};
    static const int plain[] = {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F,
                                CUBLAS_COMPUTE_32F_PEDANTIC};
    uint64_t *s = &d->random;
    const struct routine *r = p->routine;
    const bool typed = family_ex(r->family) || r->family == LT;
    p->ab = p->cd = r->number == ANY ? F32 : (enum number)r->number;
    p->compute = 0;
    if (typed && p->ab == F32)
        p->compute = d->plain ? PICK(s, plain) : PICK(s, fast);
    if (r->lt == LT_TYPES || (r->number == ANY && !d->plain && random_below(s, 2) == 0)) {
        size_t i;
        do
            i = (size_t)random_below(s, sizeof ex / sizeof ex[0]);
        while (r->family == GROUPED_EX && /* real numbers, and no FP16 sums */
               (number_complex(ex[i].ab) || ex[i].compute == CUBLAS_COMPUTE_16F));
        p->ab = ex[i].ab;
        p->cd = ex[i].cd;
        p->compute = ex[i].compute;
        if (p->compute != CUBLAS_COMPUTE_16F && random_once_in(s, 4))
            p->compute++; /* the pedantic form */
    } else if (r->family == TYPED && r->number == F32 && !d->plain && random_once_in(s, 3)) {
        p->ab = random_once_in(s, 2) ? F16 : BF16;
        p->cd = random_once_in(s, 2) ? F32 : p->ab;
    }
    /* Grouped calls take no BF16 compute type; C programs pass the old enumerators elsewhere. */
    if (r->family == GROUPED_EX && p->compute == CUBLAS_COMPUTE_32F_FAST_16BF)
        p->compute = CUBLAS_COMPUTE_32F;
    else if (family_ex(r->family) && r->family != GROUPED_EX && p->ab == F32 && !d->plain &&
             random_once_in(s, 10))
        p->compute = CUDA_R_32F;
    p->scale = p->ab;
    if (r->family == TYPED || p->compute == CUBLAS_COMPUTE_32F ||
        p->compute == CUBLAS_COMPUTE_32F_PEDANTIC)
        p->scale = p->ab == C32 ? C32 : F32;
}

static void draw_modes(struct drawing *d, struct problem *p)
{
    static const int math[] = {
        CUBLAS_DEFAULT_MATH,        CUBLAS_DEFAULT_MATH,
        CUBLAS_DEFAULT_MATH,        CUBLAS_DEFAULT_MATH,
        CUBLAS_DEFAULT_MATH,        CUBLAS_PEDANTIC_MATH,
        CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION};
    static const int algos[] = {CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_ALGO3,
                                CUBLAS_GEMM_DEFAULT_TENSOR_OP};
    uint64_t *s = &d->random;
    const enum family family = p->routine->family;
    p->math = PICK(s, math);
    if (d->plain && p->math == CUBLAS_TF32_TENSOR_OP_MATH)
        p->math = CUBLAS_DEFAULT_MATH;
    /* What a pedantic handle makes of an explicit fast type is not documented. */
    if (p->math == CUBLAS_PEDANTIC_MATH && p->compute >= CUBLAS_COMPUTE_32F_FAST_16F &&
        p->compute <= CUBLAS_COMPUTE_32F_FAST_TF32)
        p->math = CUBLAS_DEFAULT_MATH;
    /* Nor, for a grouped call with a compute type, what any math mode does. */
    if (family == LEGACY || family == LT || family == GROUPED_EX)
        p->math = CUBLAS_DEFAULT_MATH;
    p->device_scalars =
        random_once_in(s, 3) && family != LEGACY && family != GROUPED && family != GROUPED_EX;
    p->atomics = random_once_in(s, 4) ? CUBLAS_ATOMICS_ALLOWED : CUBLAS_ATOMICS_NOT_ALLOWED;
    p->sm_count = random_once_in(s, 6) ? 16 : 0;
    p->error_number = (int)random_below(s, 100);
    p->algo = PICK(s, algos);
}

static void draw_scalars(struct drawing *d, struct problem *p, struct part *part)
{
    static const double alphas[] = {1, 1, 1, -1, 0.5, 2.75, 0, 1e-3},
                        betas[] = {0, 0, 1, 1, -1, 0.3};
    uint64_t *s = &d->random;
    unsigned char stored[16];
    part->alpha = (struct value){PICK(s, alphas), 0};
    part->beta = (struct value){PICK(s, betas), 0};
    const bool product = part->m > 0 && part->n > 0 && part->k > 0 && part->batch > 0;
    if (product && !number_complex(p->scale) && p->routine->lt != LT_EPILOGUE &&
        random_once_in(s, 50))
        part->alpha.re = random_once_in(s, 2) ? (double)NAN : (double)INFINITY;
    if (number_complex(p->scale) && random_once_in(s, 2)) {
        part->alpha.im = part->alpha.re != 0 ? PICK(s, betas) : 0;
        part->beta.im = PICK(s, betas);
    }
    /* The exact value is what the format makes of it. */
    number_store(p->scale, stored, part->alpha);
    part->alpha = number_load(p->scale, stored);
    number_store(p->scale, stored, part->beta);
    part->beta = number_load(p->scale, stored);
}

/* --- the matrices --- */

static void draw_sizes(struct drawing *d, struct problem *p, struct part *part)
{
    static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    uint64_t *s = &d->random;
    const bool empty = p->routine->family != LT; /* cuBLASLt has no empty matrices */
    part->transa = PICK(s, ops);
    part->transb = PICK(s, ops);
    do {
        part->m = draw_size(s);
        part->n = draw_size(s);
        part->k = draw_size(s);
    } while (part->m * part->n * part->k > 300000);
    /* Documented: with a fast mode, pointers in arrays must be aligned to 16 bytes if k % 4 = 0. */
    const bool fast =
        p->math == CUBLAS_TF32_TENSOR_OP_MATH ||
        (p->compute >= CUBLAS_COMPUTE_32F_FAST_16F && p->compute <= CUBLAS_COMPUTE_32F_FAST_TF32);
    if (fast && family_array(p->routine->family))
        part->k += part->k % 4 == 0;
    part->batch = family_batched(p->routine->family) ? random_below(s, 5) : 1;
    if (!empty) {
        part->m += part->m == 0;
        part->n += part->n == 0;
        part->k += part->k == 0;
        part->batch += part->batch == 0;
    }
}

static enum alias draw_alias(struct drawing *d, const struct problem *p)
{
    const enum alias alias =
        random_once_in(&d->random, 3) ? (enum alias)random_below(&d->random, ALIASES) : SEPARATE;
    if (p->parts > 1 || p->routine->family == LT)
        return SEPARATE;
    return alias;
}

static void draw_matrices(struct drawing *d, struct problem *p, struct part *part)
{
    uint64_t *s = &d->random;
    const enum lt_kind lt = p->routine->lt;
    const bool rows_first = lt == LT_ROW;
    const bool mixed = lt == LT_ORDERS;
    if (p->alias == SAME_OPERANDS) { /* op(A) op(A)^T, both read from one matrix */
        part->n = part->m;
        part->transb = part->transa == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
    }
    const bool ta = part->transa != CUBLAS_OP_N, tb = part->transb != CUBLAS_OP_N;
    part->a = draw_matrix(s, BUFFER_A, p->ab, ta ? part->k : part->m, ta ? part->m : part->k,
                          part->batch, rows_first || (mixed && random_once_in(s, 2)));
    part->b = draw_matrix(s, BUFFER_B, p->ab, tb ? part->n : part->k, tb ? part->k : part->n,
                          part->batch, rows_first || (mixed && random_once_in(s, 2)));
    const bool row_order = rows_first || (mixed && random_once_in(s, 2));
    part->c = draw_matrix(s, BUFFER_C, p->cd, part->m, part->n, part->batch, row_order);
    part->d = part->c;
    const enum family family = p->routine->family;
    if (family_array(family)) {
        part->a.backwards = random_once_in(s, 2);
        part->b.backwards = random_once_in(s, 2);
        part->c.backwards = part->d.backwards = random_once_in(s, 2);
    } else if ((family == STRIDED || family == STRIDED_EX) && !d->real && random_once_in(s, 12)) {
        part->a.first = (part->batch - (part->batch > 0)) * part->a.stride; /* a negative stride */
        part->a.stride = -part->a.stride;
    }
    if (lt == LT_OUT) {
        part->d = draw_matrix(s, BUFFER_D, p->cd, part->m, part->n, part->batch, false);
        if (random_once_in(s, 4)) {
            p->lt.no_c_layout = true;
            part->c = part->d;
            part->c.buffer = BUFFER_C;
        } else if (random_once_in(s, 4)) {
            part->c.ld = 0; /* one column for all */
            part->c.stride = part->m + 3;
        }
    }
    if (p->alias == SAME_OPERANDS) {
        part->b = part->a;
    } else if (p->alias == OVERLAPPING_OPERANDS) {
        part->b.buffer = BUFFER_A;
        part->b.first = random_below(s, 6);
    } else if (p->alias == C_IN_PADDING) {
        if (part->batch != 1 || part->m == 0 || part->a.rows == 0 || p->ab != p->cd) {
            p->alias = SEPARATE;
        } else { /* the columns of C lie between those of A */
            part->c.buffer = BUFFER_A;
            part->c.first = part->a.rows + 1;
            part->a.ld = part->c.ld = part->a.rows + part->m + 2;
            part->d = part->c;
        }
    }
}

/* --- data --- */

static void fill(struct drawing *d, struct problem *p, const struct matrix *x)
{
    static const double scales[] = {1, 1, 1, 1e-6, 1e6, 1e-12, 1e12};
    static const double small_scales[] = {1, 1, 0.125};
    uint64_t *s = &d->random;
    const bool fast = p->compute == CUBLAS_COMPUTE_32F_FAST_16F ||
                      p->compute == CUBLAS_COMPUTE_32F_FAST_16BF; /* may have the range of FP16 */
    const bool narrow = x->number == F16 || p->cd == F16 || fast;
    const double scale = narrow ? PICK(s, small_scales) : PICK(s, scales);
    /* Now and then over so many binades that small elements lose bits in FP16. */
    const int spread = random_once_in(s, 6) && !narrow ? 40 : 1;
    unsigned char *data = p->buffer[x->buffer].before;
    const size_t size = number_bytes(x->number);
    const bool imaginary = number_complex(x->number);
    for (int64_t i = 0; i < x->batch; i++)
        for (int64_t col = 0; col < x->cols; col++)
            for (int64_t row = 0; row < x->rows; row++) {
                const struct value v = {
                    ldexp(scale * random_normal(s), (int)-random_below(s, spread)),
                    imaginary ? scale * random_normal(s) : 0};
                number_store(x->number, data + (size_t)matrix_at(x, i, row, col) * size, v);
            }
}

static void plant(struct drawing *d, struct problem *p, const struct matrix *x, double value)
{
    if (x->rows == 0 || x->cols == 0 || x->batch == 0)
        return;
    uint64_t *s = &d->random;
    const int64_t entry = random_below(s, x->batch), row = random_below(s, x->rows);
    const int64_t at = matrix_at(x, entry, row, random_below(s, x->cols));
    const struct value v = {value, 0};
    number_store(x->number, p->buffer[x->buffer].before + (size_t)at * number_bytes(x->number), v);
}

static void fill_with(struct problem *p, const struct matrix *x, double value)
{
    const struct value v = {value, 0};
    const size_t size = number_bytes(x->number);
    unsigned char *data = p->buffer[x->buffer].before;
    for (int64_t i = 0; i < x->batch; i++)
        for (int64_t col = 0; col < x->cols; col++)
            for (int64_t row = 0; row < x->rows; row++)
                number_store(x->number, data + (size_t)matrix_at(x, i, row, col) * size, v);
}

static void draw_specials(struct drawing *d, struct problem *p)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 0x1p-149, 0x1p-126};
    uint64_t *s = &d->random;
    const int64_t which = random_below(s, 14);
    const struct part *part = &p->part[random_below(s, p->parts)];
    /* cuBLAS itself may multiply by an alpha of 0 that it finds on the device; what an activation
     * makes of a NaN is not documented, nor what a zero in a vector of scalars does to one. */
    const bool no_ab = (part->alpha.re == 0 && p->device_scalars) ||
                       p->routine->lt == LT_EPILOGUE || p->routine->lt == LT_VECTOR;
    if (which == 0 && !no_ab) {
        p->special = IN_A;
        plant(d, p, &part->a, PICK(s, values));
    } else if (which == 1 && !no_ab) {
        p->special = IN_B;
        plant(d, p, &part->b, PICK(s, values));
    } else if (which == 2 && p->routine->lt != LT_EPILOGUE && p->routine->lt != LT_VECTOR) {
        p->special = IN_C;
        plant(d, p, &part->c, PICK(s, values));
    } else if (which == 3) {
        p->special = ZERO_A;
        for (int i = 0; i < p->parts; i++)
            fill_with(p, &p->part[i].a, 0);
    } else if (which < 8 && p->routine->lt != LT_VECTOR) {
        for (int i = 0; i < p->parts; i++) /* C must not be read */
            if (p->part[i].beta.re == 0 && p->part[i].beta.im == 0) {
                p->special = NAN_C;
                fill_with(p, &p->part[i].c, NAN);
            }
    }
}

/* --- buffers --- */

void buffer_allocate(struct buffer *b, size_t bytes)
{
    b->bytes = bytes;
    b->before = must(malloc(bytes + 1));
    b->after = must(malloc(bytes + 1));
    memset(b->before, 0xff, bytes + 1); /* NaN in every format: a read of padding shows */
}

void buffer_own(struct buffer *b, size_t from, size_t bytes)
{
    if (b->ours == NULL)
        b->ours = must(calloc(b->bytes + 1, sizeof *b->ours));
    for (size_t i = 0; i < bytes; i++)
        b->ours[from + i] = true;
}

static void make_buffers(struct drawing *d, struct problem *p)
{
    static const size_t offsets[] = {0, 0, 0, 1, 2, 3};
    int64_t end[BUFFERS] = {0};
    for (int i = 0; i < p->parts; i++) {
        struct matrix *all[] = {&p->part[i].a, &p->part[i].b, &p->part[i].c, &p->part[i].d};
        for (int j = 0; j < 4; j++) {
            struct matrix *x = all[j];
            if (p->parts > 1 && !(j == 3 && x->buffer == BUFFER_C))
                x->first += end[x->buffer]; /* groups lie behind each other */
            if (j == 3 && x->buffer == BUFFER_C)
                *x = p->part[i].c;
            const int64_t last = matrix_end(x);
            end[x->buffer] = last > end[x->buffer] ? last : end[x->buffer];
        }
    }
    for (int i = BUFFER_A; i <= BUFFER_D; i++) {
        const size_t size = number_bytes(i <= BUFFER_B ? p->ab : p->cd);
        buffer_allocate(&p->buffer[i], (size_t)end[i] * size);
        p->buffer[i].misaligned = PICK(&d->random, offsets) * size;
    }
    for (int i = 0; i < p->parts; i++) {
        const struct matrix *x = &p->part[i].d;
        struct buffer *b = &p->buffer[x->buffer];
        const size_t size = number_bytes(x->number);
        for (int64_t entry = 0; entry < x->batch; entry++)
            for (int64_t col = 0; col < x->cols; col++)
                for (int64_t row = 0; row < x->rows; row++)
                    buffer_own(b, (size_t)matrix_at(x, entry, row, col) * size, size);
    }
}

/* alpha, then beta; of a group one of each for every part; in vectors one for every row. */
static void make_scalars(struct drawing *d, struct problem *p)
{
    const size_t size = number_bytes(p->scale);
    const bool vectors = p->routine->lt == LT_VECTOR;
    const size_t count = vectors ? (size_t)p->part[0].m : MOST_PARTS;
    buffer_allocate(&p->buffer[BUFFER_SCALARS], 2 * count * size);
    unsigned char *at = p->buffer[BUFFER_SCALARS].before;
    for (size_t i = 0; i < count; i++) {
        struct value alpha = p->part[vectors ? 0 : i].alpha, beta = p->part[vectors ? 0 : i].beta;
        if (vectors && i % 3 != 0) { /* different ones */
            alpha.re = (double)(float)random_normal(&d->random);
            beta.re = (double)(float)random_normal(&d->random);
        }
        number_store(p->scale, at + i * size, alpha);
        number_store(p->scale, at + (count + i) * size, beta);
    }
}

void problem_draw(struct drawing *d, const struct routine *routine, struct problem *p)
{
    memset(p, 0, sizeof *p);
    p->routine = routine;
    const bool groups = routine->family == GROUPED || routine->family == GROUPED_EX;
    p->parts = groups ? 1 + (int)random_below(&d->random, MOST_PARTS) : 1;
    draw_formats(d, p);
    draw_modes(d, p);
    p->alias = draw_alias(d, p);
    for (int i = 0; i < p->parts; i++) {
        draw_sizes(d, p, &p->part[i]);
        draw_scalars(d, p, &p->part[i]);
        draw_matrices(d, p, &p->part[i]);
    }
    if (p->alias == SAME_SCALARS)
        p->part[0].beta = p->part[0].alpha;
    make_buffers(d, p);
    for (int i = 0; i < p->parts; i++) {
        fill(d, p, &p->part[i].a);
        if (p->alias != SAME_OPERANDS)
            fill(d, p, &p->part[i].b);
        fill(d, p, &p->part[i].c);
    }
    if (routine->family == LT)
        problem_draw_lt(d, p);
    make_scalars(d, p);
    draw_specials(d, p);
    if (p->part[0].d.buffer == BUFFER_D) /* padding of D is compared */
        fill(d, p, &p->part[0].d);
}

void problem_free(struct problem *p)
{
    for (int i = 0; i < BUFFERS; i++) {
        free(p->buffer[i].before);
        free(p->buffer[i].after);
        free(p->buffer[i].ours);
    }
}

struct value problem_before(const struct problem *p, const struct matrix *x, int64_t at)
{
    return number_load(x->number,
                       p->buffer[x->buffer].before + (size_t)at * number_bytes(x->number));
}

struct value problem_after(const struct problem *p, const struct matrix *x, int64_t at)
{
    return number_load(x->number,
                       p->buffer[x->buffer].after + (size_t)at * number_bytes(x->number));
}
