/* SPDX-License-Identifier: BSD-3-Clause
 * Floating-point formats and PTX's rules about them, lane by lane and without branches where that
 * lets the compiler vectorise. Results that are NaN are the canonical one, as on a GPU. */
#ifndef SOFTGPU_FP_H
#define SOFTGPU_FP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t f32_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float f32_from(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

static inline uint64_t f64_bits(double d)
{
    uint64_t u;

    memcpy(&u, &d, sizeof u);
    return u;
}

static inline double f64_from(uint64_t u)
{
    double d;

    memcpy(&d, &u, sizeof d);
    return d;
}

#define F32_NAN 0x7fffffffu
#define F16_NAN 0x7fffu

/* a result: NaN becomes the canonical one */
static inline uint32_t f32_result(float f)
{
    uint32_t u = f32_bits(f);

    return (u & 0x7fffffffu) > 0x7f800000u ? F32_NAN : u;
}

/* subnormals become zero of their sign */
static inline float f32_flush(float f)
{
    uint32_t u = f32_bits(f);

    return f32_from(u & 0x7f800000u ? u : u & 0x80000000u);
}

/* to [0, 1]; NaN becomes +0 */
static inline float f32_saturate(float f)
{
    f = f > 0.0f ? f : 0.0f;
    return f < 1.0f ? f : 1.0f;
}

static inline double f64_saturate(double f)
{
    f = f > 0.0 ? f : 0.0;
    return f < 1.0 ? f : 1.0;
}

static inline float f16_to_f32(uint32_t h)
{
    uint32_t a = h & 0x7fffu, sign = (h & 0x8000u) << 16;
    uint32_t normal = (a << 13) + 0x38000000u, special = normal + 0x38000000u;
    uint32_t small = f32_bits((float)(int32_t)a * 0x1p-24f);
    uint32_t r = a < 0x400u ? small : normal;

    return f32_from(sign | (a >= 0x7c00u ? special : r));
}

/* nearest, ties to even */
static inline uint32_t f32_to_f16(float f)
{
    uint32_t u = f32_bits(f), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    /* 0.5 has the last place of subnormal halves, so the addition rounds there */
    uint32_t small = f32_bits(f32_from(a) + 0.5f) - 0x3f000000u;
    uint32_t normal = (a + 0xfffu + (a >> 13 & 1) - 0x38000000u) >> 13;
    uint32_t r = a < 0x38800000u ? small : normal;

    r = a >= 0x477ff000u ? 0x7c00u : r;
    return a > 0x7f800000u ? F16_NAN : sign | r;
}

static inline float bf16_to_f32(uint32_t h)
{
    return f32_from(h << 16);
}

static inline uint32_t f32_to_bf16(float f)
{
    uint32_t u = f32_bits(f), r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;

    return (u & 0x7fffffffu) > 0x7f800000u ? F16_NAN : r;
}

/* Rounds to odd: the sticky bits of a wide sum survive a later rounding to fewer digits. */
static inline double f64_add_odd(double a, double b)
{
    double s = a + b, bb = s - a, err = (a - (s - bb)) + (b - bb);
    /* the error seen from the side of zero; NaN when the sum is not finite */
    double out = f64_from(f64_bits(err) ^ (f64_bits(s) & (uint64_t)1 << 63));
    uint64_t u = f64_bits(s), even = (u & 1) ^ 1;

    /* not exact and even: one step towards the true value */
    return f64_from(u + (out > 0.0 ? even : 0) - (out < 0.0 ? even : 0));
}

/* Rounds a double to a narrower format in one step: `digits` of significand with the hidden one,
 * least exponent `emin` of a normal value. For results that are finite, by mode: 'n' nearest even,
 * 'a' nearest away, 'z', 'm' down, 'p' up. The value stays a double; the range above is not cut. */
static inline double f64_round_to(double d, int digits, int emin, char mode)
{
    uint64_t u = f64_bits(d), sign = u >> 63, a = u & ~((uint64_t)1 << 63), low, half, keep;
    int e = (int)(a >> 52) - 1023, drop = 53 - digits;

    if (a >= (uint64_t)0x7ff << 52 || a == 0)
        return d;
    if (e < emin)
        drop += emin - e;
    if (drop > 54) {
        /* below half of the least subnormal */
        bool up = (mode == 'p' && !sign) || (mode == 'm' && sign);
        double least = f64_from((uint64_t)(emin - digits + 1 + 1023) << 52);

        return up ? (sign ? -least : least) : sign ? -0.0 : 0.0;
    }
    if (drop > 52) {
        /* the value itself is compared with half the least subnormal, or just below it */
        double least = f64_from((uint64_t)(emin - digits + 1 + 1023) << 52);
        double m = f64_from(a);
        bool up = mode == 'n' ? m > least / 2 : mode == 'a' ? m >= least / 2
                  : mode == 'p' ? !sign : mode == 'm' ? sign : false;

        return up ? (sign ? -least : least) : sign ? -0.0 : 0.0;
    }
    low = a & (((uint64_t)1 << drop) - 1);
    half = (uint64_t)1 << (drop - 1);
    keep = a - low;
    if (low) {
        bool up = mode == 'n'   ? low > half || (low == half && (drop == 52 || keep >> drop & 1))
                  : mode == 'a' ? low >= half
                  : mode == 'p' ? !sign
                  : mode == 'm' ? sign : false;

        if (up)
            keep += (uint64_t)1 << drop;
    }
    return f64_from(sign << 63 | keep);
}

static inline uint32_t f64_to_f16(double d, char mode)
{
    double r = f64_round_to(d, 11, -14, mode);
    uint32_t sign = (uint32_t)(f64_bits(d) >> 48 & 0x8000u);

    if (d != d)
        return F16_NAN;
    if (r > 65504.0 || r < -65504.0) {
        bool inf = d - d != 0.0 || mode == 'n' || mode == 'a' || (mode == 'p' && !sign) ||
                   (mode == 'm' && sign);

        return sign | (inf ? 0x7c00u : 0x7bffu);
    }
    return f32_to_f16((float)r);
}

static inline uint32_t f64_to_bf16(double d, char mode)
{
    double r = f64_round_to(d, 8, -126, mode), max = 0x1.fep127;
    uint32_t sign = (uint32_t)(f64_bits(d) >> 48 & 0x8000u);

    if (d != d)
        return F16_NAN;
    if (r > max || r < -max) {
        bool inf = d - d != 0.0 || mode == 'n' || mode == 'a' || (mode == 'p' && !sign) ||
                   (mode == 'm' && sign);

        return sign | (inf ? 0x7f80u : 0x7f7fu);
    }
    return f32_to_bf16((float)r);
}

#endif
