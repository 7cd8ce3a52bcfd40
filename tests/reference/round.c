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

double ref_round_bf16(double x)
{
    if (x == 0 || !isfinite(x))
        return x;
    int e;
    frexp(x, &e);
    /* Numbers below 2^-126 have steps of 2^-133. */
    double y = e - 1 < -126 ? ldexp(rint(ldexp(x, 133)), -133) : ref_round_bits(x, 8);
    return fabs(y) >= ldexp(1, 128) ? copysign(INFINITY, x) : y;
}

/* A format with one sign bit, then an exponent, then `fraction` bits; min: of normal numbers. */
static uint16_t encode(double x, int fraction, int min, int max)
{
    const unsigned sign = signbit(x) ? 0x8000u : 0;
    const unsigned infinity = (unsigned)(max - min + 2) << fraction;
    if (isnan(x))
        return (uint16_t)(infinity | 1u << (fraction - 1));
    if (isinf(x))
        return (uint16_t)(sign | infinity);
    if (x == 0)
        return (uint16_t)sign;
    int e;
    frexp(x, &e);
    e = e - 1 < min ? min : e - 1;
    /* With the leading bit of a normal number in place of an exponent of 1. */
    const unsigned steps = (unsigned)ldexp(fabs(x), fraction - e);
    return (uint16_t)(sign | (((unsigned)(e - min) << fraction) + steps));
}

uint16_t ref_encode_fp16(double x)
{
    return encode(x, 10, -14, 15);
}

uint16_t ref_encode_bf16(double x)
{
    return encode(x, 7, -126, 127);
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
