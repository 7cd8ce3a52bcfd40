/* SPDX-License-Identifier: BSD-3-Clause
 * Reference rounding. Uses only frexp, ldexp, rint and round. */
#include "reference/round.h"

#include <math.h>

double ref_round_bits(double x, int bits)
{
    int e;
    if (x == 0 || !isfinite(x))
        return x;
    double f = frexp(x, &e); /* 0.5 <= |f| < 1 */
    return ldexp(rint(ldexp(f, bits)), e - bits);
}

double ref_round_fp16(double x)
{
    if (x == 0 || !isfinite(x))
        return x;
    int e;
    frexp(x, &e);
    /* Numbers below 2^-14 have steps of 2^-24. */
    double y = e - 1 < -14 ? ldexp(rint(ldexp(x, 24)), -24) : ref_round_bits(x, 11);
    return fabs(y) > 65504 ? copysign(INFINITY, x) : y;
}

double ref_round_tf32(double x)
{
    int e;
    if (x == 0 || !isfinite(x))
        return x;
    double f = frexp(x, &e);
    int bits = 11;
    if (e - 1 < -126) /* FP32 denormals have steps of 2^-149, TF32 keeps 13 bits fewer */
        return ldexp(round(ldexp(x, 136)), -136);
    return ldexp(round(ldexp(f, bits)), e - bits);
}

int ref_exponent(double amax)
{
    int e = 0;
    if (amax == 0)
        return 0;
    while (ldexp(amax, e) >= 32768.0)
        e -= 4;
    while (ldexp(amax, e) < 2048.0)
        e += 4;
    return e;
}
