/* SPDX-License-Identifier: BSD-3-Clause
 * Reference GEMM: plain loops in double. */
#include "reference/gemm.h"

#include <math.h>

double ref_amax(const struct ref_matrix *matrix, int64_t rows, int64_t cols, int64_t batch)
{
    double amax = 0;
    for (int64_t i = 0; i < batch; i++)
        for (int64_t c = 0; c < cols; c++)
            for (int64_t r = 0; r < rows; r++) {
                double x = fabs((double)matrix->data[i * matrix->stride + c * matrix->ld + r]);
                if (isfinite(x) && x > amax)
                    amax = x;
            }
    return amax;
}

static double round_operand(enum ref_arithmetic arithmetic, double x, int exponent)
{
    switch (arithmetic) {
    case REF_TF32:
        return ref_round_tf32(x);
    case REF_FP16:
        return ldexp(ref_round_fp16(ldexp(x, exponent)), -exponent);
    default:
        return x;
    }
}

void ref_gemm(const struct ref_gemm *g, struct ref_result *out)
{
    const int ea = ref_exponent(ref_amax(&g->a, g->transa ? g->k : g->m, g->transa ? g->m : g->k,
                                         g->batch));
    const int eb = ref_exponent(ref_amax(&g->b, g->transb ? g->n : g->k, g->transb ? g->k : g->n,
                                         g->batch));
    const double u = ldexp(1, -24);
    for (int64_t i = 0; i < g->batch; i++)
        for (int64_t col = 0; col < g->n; col++)
            for (int64_t row = 0; row < g->m; row++) {
                double sum = 0, magnitude = 0;
                const float *a = g->a.data + i * g->a.stride, *b = g->b.data + i * g->b.stride;
                for (int64_t l = 0; l < g->k; l++) {
                    double x = a[g->transa ? row * g->a.ld + l : l * g->a.ld + row];
                    double y = b[g->transb ? l * g->b.ld + col : col * g->b.ld + l];
                    x = round_operand(g->arithmetic, x, ea);
                    y = round_operand(g->arithmetic, y, eb);
                    sum += x * y;
                    magnitude += fabs(x * y);
                }
                double value = g->alpha * sum, bound = fabs(g->alpha) * magnitude;
                if (g->beta != 0) {
                    double c = g->c.data[i * g->c.stride + col * g->c.ld + row];
                    value += g->beta * c;
                    bound += fabs(g->beta * c);
                }
                /* Any order of summation, RN: (K - 1) u, and a few roundings around it; below FP32's
                 * normal range each of them costs up to 2^-149, before alpha is applied. */
                out->value = value;
                out->bound = ((double)g->k + 8) * u * bound +
                             ((double)g->k + 8) * ldexp(1 + fabs(g->alpha), -149);
                out++;
            }
}
