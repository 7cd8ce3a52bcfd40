/* SPDX-License-Identifier: BSD-3-Clause
 * What the epilogues of cublasLtMatmul make of a product, in double. Owns nothing. */
#include "conformance/expect.h"

#include <math.h>
#include <string.h>

static float float_at(const struct problem *p, enum buffer_name buffer, int64_t index)
{
    float f;
    memcpy(&f, p->buffer[buffer].before + (size_t)index * sizeof f, sizeof f);
    return f;
}

static const double two_over_root_pi = 0.7978845608028654, cubic = 0.044715;

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(two_over_root_pi * (x + cubic * x * x * x)));
}

static double gelu_slope(double x)
{
    const double t = tanh(two_over_root_pi * (x + cubic * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * two_over_root_pi * (1 + 3 * cubic * x * x);
}

static bool mask_bit(const struct problem *p, int64_t entry, int64_t row, int64_t col)
{
    const int64_t at = entry * p->lt.aux_stride + col * p->lt.aux_ld + row;
    return p->buffer[BUFFER_AUX].before[at / 8] >> (at % 8) & 1;
}

/* The function values; FP32 arithmetic may add a few roundings, the slope of GELU is below 1.13. */
static struct want activate(const struct problem *p, int64_t entry, int64_t row, int64_t col,
                            struct want w)
{
    const uint32_t e = p->lt.epilogue;
    if (e == CUBLASLT_EPILOGUE_RELU || e == CUBLASLT_EPILOGUE_RELU_BIAS ||
        e == CUBLASLT_EPILOGUE_RELU_AUX || e == CUBLASLT_EPILOGUE_RELU_AUX_BIAS) {
        w.re = fmax(w.re, 0);
    } else if (e == CUBLASLT_EPILOGUE_GELU || e == CUBLASLT_EPILOGUE_GELU_BIAS ||
               e == CUBLASLT_EPILOGUE_GELU_AUX || e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) {
        w.bound = 1.13 * w.bound + 4e-6 * fabs(w.re);
        w.re = gelu(w.re);
    } else if (e == CUBLASLT_EPILOGUE_DRELU || e == CUBLASLT_EPILOGUE_DRELU_BGRAD) {
        if (!mask_bit(p, entry, row, col))
            w = (struct want){0, 0, 0, false};
    } else if (e == CUBLASLT_EPILOGUE_DGELU || e == CUBLASLT_EPILOGUE_DGELU_BGRAD) {
        const double x =
            (double)float_at(p, BUFFER_AUX, entry * p->lt.aux_stride + col * p->lt.aux_ld + row);
        w.bound = 1.13 * w.bound + 1e-5 * fabs(w.re);
        w.re *= gelu_slope(x);
    }
    return w;
}

static void add(struct want *to, struct want x)
{
    to->re += x.re;
    to->bound += x.bound + 0x1p-16 * fabs(x.re); /* FP32 sums of up to 2^8 of them */
}

/* Sums of op(A) or op(B) over k, as they are. */
static void operand_sums(const struct problem *p, int64_t entry, struct want *bias)
{
    const struct part *q = &p->part[0];
    const bool of_a = p->lt.epilogue == CUBLASLT_EPILOGUE_BGRADA;
    const struct matrix *x = of_a ? &q->a : &q->b;
    const bool rows = (of_a ? q->transa : q->transb) == CUBLAS_OP_N ? of_a : !of_a;
    for (int64_t i = 0; i < (of_a ? q->m : q->n); i++) {
        bias[i] = (struct want){0, 0, 0, false};
        for (int64_t l = 0; l < q->k; l++) {
            const int64_t at = rows ? matrix_at(x, entry, i, l) : matrix_at(x, entry, l, i);
            add(&bias[i], (struct want){problem_before(p, x, at).re, 0, 0, false});
        }
    }
}

void expect_epilogue(const struct problem *p, int64_t entry, struct want *want, struct want *aux,
                     struct want *bias)
{
    const uint32_t e = p->lt.epilogue;
    const struct part *q = &p->part[0];
    const bool gradient = epilogue_makes_bias(e);
    if (e == CUBLASLT_EPILOGUE_BGRADA || e == CUBLASLT_EPILOGUE_BGRADB) {
        operand_sums(p, entry, bias);
        return;
    }
    for (int64_t row = 0; gradient && row < q->m; row++)
        bias[row] = (struct want){0, 0, 0, false};
    for (int64_t col = 0; col < q->n; col++)
        for (int64_t row = 0; row < q->m; row++, want++) {
            if (epilogue_has_bias(e)) {
                const double b = (double)float_at(p, BUFFER_BIAS, entry * p->lt.bias_stride + row);
                want->re += b;
                want->bound += (fabs(b) + fabs(want->re)) * 0x1p-23;
            }
            if (epilogue_has_aux(e) && !epilogue_reads_aux(e)) {
                *aux = *want;
                if (epilogue_has_mask(e)) /* a value this near to 0 may be of either sign */
                    *aux = (struct want){want->re > 0, 0, fabs(want->re) <= want->bound, false};
                aux++;
            }
            *want = activate(p, entry, row, col, *want);
            if (gradient)
                add(&bias[row], *want);
        }
}
