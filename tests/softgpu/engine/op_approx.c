/* SPDX-License-Identifier: BSD-3-Clause
 * The approximate functions. PTX bounds their error; here they are computed in double by short
 * series, so that the FP32 result is nearly always the correctly rounded one, the same on every
 * machine, and the loops vectorise. Halves go through the same functions. */
#include "fp.h"
#include "lanes.h"

#include <math.h>

/* Rounds to an integer: its low bits are then those of the sum. Good below 2^51. */
#define ROUNDER 0x1.8p52

static inline double exp2_series(double r)
{
    /* ln(2)^k / k! */
    double p = 0x1.e4cf5158b8ecap-28;

    p = p * r + 0x1.b5253d395e7c4p-24;
    p = p * r + 0x1.62c0223a5c824p-20;
    p = p * r + 0x1.ffcbfc588b0c7p-17;
    p = p * r + 0x1.430912f86c787p-13;
    p = p * r + 0x1.5d87fe78a6731p-10;
    p = p * r + 0x1.3b2ab6fba4e77p-7;
    p = p * r + 0x1.c6b08d704a0cp-5;
    p = p * r + 0x1.ebfbdff82c58fp-3;
    p = p * r + 0x1.62e42fefa39efp-1;
    return p * r + 1.0;
}

static inline double exp2_wide(double x)
{
    double c = x < -1000.0 ? -1000.0 : x > 1000.0 ? 1000.0 : x, t = c + ROUNDER;
    uint64_t n = f64_bits(t) << 52;

    return f64_from(f64_bits(exp2_series(c - (t - ROUNDER))) + n);
}

static inline float exp2_f32(float x)
{
    float r = (float)exp2_wide((double)x);

    return x != x ? x : r;
}

static inline float log2_f32(float x)
{
    uint64_t u = f64_bits((double)x);
    /* mantissa in [sqrt(1/2), sqrt(2)) */
    uint64_t high = (u & 0xfffffffffffffu) >= 0x6a09e667f3bcdu;
    int32_t e = (int32_t)(u >> 52) - 1023 + (int32_t)high;
    double m = f64_from((u & 0xfffffffffffffu) | (uint64_t)(1023 - high) << 52);
    double s = (m - 1.0) / (m + 1.0), q = s * s, p = 1.0 / 19;
    float r;

    p = p * q + 1.0 / 17;
    p = p * q + 1.0 / 15;
    p = p * q + 1.0 / 13;
    p = p * q + 1.0 / 11;
    p = p * q + 1.0 / 9;
    p = p * q + 1.0 / 7;
    p = p * q + 1.0 / 5;
    p = p * q + 1.0 / 3;
    p = p * q + 1.0;
    r = (float)((double)e + p * s * 0x1.71547652b82fep+1);
    r = x == 0.0f ? -INFINITY : r;
    r = x == INFINITY ? INFINITY : r;
    return x < 0.0f || x != x ? f32_from(F32_NAN) : r;
}

/* quadrant 0: sin, 1: cos */
static inline float sincos_f32(float x, uint64_t quadrant)
{
    double d = (double)x, t = d * 0x1.45f306dc9c883p-1 + ROUNDER, q = t - ROUNDER;
    double r = __builtin_fma(-q, 0x1.921fb54442d18p0, d), z, s, c;
    uint64_t n;
    float out;

    r = __builtin_fma(-q, 0x1.1a62633145c07p-54, r);
    n = f64_bits(t) + quadrant;
    z = r * r;
    s = -1.0 / 1307674368000 * z + 1.0 / 6227020800;
    s = s * z - 1.0 / 39916800;
    s = s * z + 1.0 / 362880;
    s = s * z - 1.0 / 5040;
    s = s * z + 1.0 / 120;
    s = s * z - 1.0 / 6;
    s = s * z * r + r;
    c = 1.0 / 20922789888000 * z - 1.0 / 87178291200;
    c = c * z + 1.0 / 479001600;
    c = c * z - 1.0 / 3628800;
    c = c * z + 1.0 / 40320;
    c = c * z - 1.0 / 720;
    c = c * z + 1.0 / 24;
    c = c * z - 0.5;
    c = c * z + 1.0;
    c = n & 1 ? c : s;
    out = (float)(n & 2 ? -c : c);
    return x - x != 0.0f ? f32_from(F32_NAN) : out;
}

/* beyond this the reduction above is not exact enough */
#define REDUCIBLE 1e8f

static inline float sin_f32(float x)
{
    return fabsf(x) < REDUCIBLE || x - x != 0.0f ? sincos_f32(x, 0) : (float)sin((double)x);
}

static inline float cos_f32(float x)
{
    return fabsf(x) < REDUCIBLE || x - x != 0.0f ? sincos_f32(x, 1) : (float)cos((double)x);
}

static inline float tanh_f32(float x)
{
    double a = fabs((double)x), z = a * a, e, t, small;

    a = a > 20.0 ? 20.0 : a;
    e = exp2_wide(a * 0x1.71547652b82fep+1);
    t = 1.0 - 2.0 / (e + 1.0);
    small = a - a * z * (1.0 / 3 - z * (2.0 / 15 - z * (17.0 / 315)));
    t = a < 0.03125 ? small : t;
    return x != x ? x : copysignf((float)t, x);
}

static inline float rsqrt_f32(float x)
{
    return (float)(1.0 / __builtin_sqrt((double)x));
}

/* PTX: with 2^126 < |y| < 2^128 the quotient is 0, or NaN when x is infinite */
static inline float divide_approx(float x, float y)
{
    float a = fabsf(y), r = x / y;
    bool far = a > 0x1p126f && a < INFINITY;
    float zero = x * 0.0f;

    zero = (f32_bits(x) ^ f32_bits(y)) >> 31 ? -fabsf(zero) : fabsf(zero);
    return far ? zero : r;
}

#define Z(_v) f32_flush(_v)
#define F1(_name, _f) \
    OP1(_name, uint32_t, float, f32_result(_f(x))) \
    OP1(_name##_ftz, uint32_t, float, f32_result(Z(_f(Z(x)))))
#define ONE_OVER(_v) (1.0f / (_v))
F1(ex2, exp2_f32)
F1(lg2, log2_f32)
F1(sine, sin_f32)
F1(cosine, cos_f32)
F1(rsqrt, rsqrt_f32)
F1(rcp_approx, ONE_OVER)
F1(sqrt_approx, __builtin_sqrtf)
OP1(tanh_op, uint32_t, float, f32_result(tanh_f32(x)))
OP2(div_approx, uint32_t, float, float, f32_result(divide_approx(x, y)))
OP2(div_approx_ftz, uint32_t, float, float, f32_result(Z(divide_approx(Z(x), Z(y)))))
OP2(div_full, uint32_t, float, float, f32_result(x / y))
OP2(div_full_ftz, uint32_t, float, float, f32_result(Z(Z(x) / Z(y))))

/* .f64: the upper half of the result, the lower 32 bits zero; subnormals are flushed */
static inline uint64_t gross(double d)
{
    uint64_t u = f64_bits(d) & ~(uint64_t)0xffffffffu;

    if (d != d)
        return (uint64_t)0x7fffffff << 32;
    return u >> 52 & 0x7ff ? u : u & (uint64_t)1 << 63;
}

static inline double flush64(double d)
{
    return f64_bits(d) >> 52 & 0x7ff ? d : copysign(0.0, d);
}
OP1(rcp_gross, uint64_t, double, gross(1.0 / flush64(x)))
OP1(rsqrt_gross, uint64_t, double, gross(1.0 / __builtin_sqrt(flush64(x))))
OP1(rsqrt_f64, uint64_t, double, f64_bits(1.0 / __builtin_sqrt(x)))

/* halves */
#define H(_v) f16_to_f32((_v) & 0xffff)
#define HZ(_v) ((_v) & 0x7c00 ? (_v) & 0xffff : (_v) & 0x8000)
#define B(_v) bf16_to_f32((_v) & 0xffff)
#define BZ(_v) ((_v) & 0x7f80 ? (_v) & 0xffff : (_v) & 0x8000)
#define EX2_H(_v) f32_to_f16(exp2_f32(H(_v)))
#define EX2_HZ(_v) HZ(f32_to_f16(exp2_f32(H(HZ(_v)))))
#define EX2_B(_v) BZ(f32_to_bf16(exp2_f32(B(BZ(_v)))))
#define TANH_H(_v) f32_to_f16(tanh_f32(H(_v)))
#define TANH_B(_v) f32_to_bf16(tanh_f32(B(_v)))
#define HALVES(_name, _f) \
    OP1(_name, uint32_t, uint32_t, _f(x)) \
    OP1(_name##_x2, uint32_t, uint32_t, (uint32_t)_f(x >> 16) << 16 | _f(x))
HALVES(ex2_f16, EX2_H)
HALVES(ex2_ftz_f16, EX2_HZ)
HALVES(ex2_bf16, EX2_B)
HALVES(tanh_f16, TANH_H)
HALVES(tanh_bf16, TANH_B)

#define FTZ(_name, _fn, _sig) \
    {_name ".f32", _fn, _sig, FLOP_F32, 1}, {_name ".ftz.f32", _fn##_ftz, _sig, FLOP_F32, 1}

const struct op_row ops_approx[] = {
    FTZ("ex2.approx", ex2, "ff"), FTZ("lg2.approx", lg2, "ff"), FTZ("sin.approx", sine, "ff"),
    FTZ("cos.approx", cosine, "ff"), FTZ("rsqrt.approx", rsqrt, "ff"),
    FTZ("rcp.approx", rcp_approx, "ff"), FTZ("sqrt.approx", sqrt_approx, "ff"),
    FTZ("div.approx", div_approx, "fff"), FTZ("div.full", div_full, "fff"),
    {"tanh.approx.f32", tanh_op, "ff", FLOP_F32, 1},
    {"rcp.approx.ftz.f64", rcp_gross, "dd", FLOP_F64, 1},
    {"rsqrt.approx.ftz.f64", rsqrt_gross, "dd", FLOP_F64, 1},
    {"rsqrt.approx.f64", rsqrt_f64, "dd", FLOP_F64, 1},
    {"ex2.approx.f16", ex2_f16, "hh", FLOP_F16, 1},
    {"ex2.approx.f16x2", ex2_f16_x2, "rr", FLOP_F16, 2},
    {"ex2.approx.ftz.f16", ex2_ftz_f16, "hh", FLOP_F16, 1},
    {"ex2.approx.ftz.f16x2", ex2_ftz_f16_x2, "rr", FLOP_F16, 2},
    {"ex2.approx.ftz.bf16", ex2_bf16, "hh", FLOP_BF16, 1},
    {"ex2.approx.ftz.bf16x2", ex2_bf16_x2, "rr", FLOP_BF16, 2},
    {"tanh.approx.f16", tanh_f16, "hh", FLOP_F16, 1},
    {"tanh.approx.f16x2", tanh_f16_x2, "rr", FLOP_F16, 2},
    {"tanh.approx.bf16", tanh_bf16, "hh", FLOP_BF16, 1},
    {"tanh.approx.bf16x2", tanh_bf16_x2, "rr", FLOP_BF16, 2},
    {0},
};
