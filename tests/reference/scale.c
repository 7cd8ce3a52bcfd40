/* SPDX-License-Identifier: BSD-3-Clause
 * Reference of the exponents: steps one by one instead of bits. */
#include "reference/scale.h"
#include "reference/round.h"

#include <float.h>
#include <math.h>

struct ref_exponents ref_exponents(double amax_a, double amax_b, double alpha)
{
    const int a = ref_exponent(amax_a), b = ref_exponent(amax_b);
    int back = 0;
    while (a + b - back > 252)
        back++;
    if (isfinite(alpha) && alpha != 0)
        while (ldexp(fabs(alpha), -(a + b - back)) < ldexp(1, -126))
            back++;
    return (struct ref_exponents){a - back / 2, b - (back - back / 2)};
}

float ref_scaled_alpha(struct ref_exponents e, float alpha)
{
    const double scaled = ldexp(alpha, -(e.a + e.b));
    if (isfinite(alpha) && fabs(scaled) > FLT_MAX)
        return copysignf(FLT_MAX, alpha);
    return (float)scaled;
}

bool ref_is_lost(float x, int exponent)
{
    return x != 0 && fabs(ldexp(x, exponent)) < ldexp(1, -14);
}
