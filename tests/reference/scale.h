/* SPDX-License-Identifier: BSD-3-Clause
 * Reference of the scale of a scaled FP16 GEMM: its exponents as a function of the largest finite
 * magnitudes of A and B and of alpha, and what undoes them. In double, where every step is exact.
 */
#ifndef REFERENCE_SCALE_H
#define REFERENCE_SCALE_H

#include <stdbool.h>

/* Of A and of B: those of ref_exponent, taken back together, half each (A the smaller half), by as
 * little as keeps their sum at 252 or below and, for a finite alpha that is not 0, the magnitude of
 * alpha * 2^-(a + b) at 2^-126 or above. */
struct ref_exponents {
    int a, b;
};
struct ref_exponents ref_exponents(double amax_a, double amax_b, double alpha);

/* alpha * 2^-(a + b) in FP32; a finite one that is out of range becomes the largest number. */
float ref_scaled_alpha(struct ref_exponents e, float alpha);

/* x != 0 and |x * 2^exponent| is below FP16's least normal number. */
bool ref_is_lost(float x, int exponent);

#endif
