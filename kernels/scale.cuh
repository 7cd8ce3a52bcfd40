/* SPDX-License-Identifier: BSD-3-Clause
 * The exponents of a scaled FP16 GEMM, as a pure function of the call's data.
 * FP16 has FP32's relative precision loss of TF32 (11 bits) while |x| >= 2^-14; scaling the largest
 * element to [2^11, 2^15) leaves 25 to 29 binades below it with full precision, and a factor of 2
 * to the largest finite FP16 (65504). */
#ifndef APEXSHIM_SCALE_CUH
#define APEXSHIM_SCALE_CUH

#include <stdint.h>

enum {
    APEX_TOP_EXPONENT = 14, /* scaled maxima are below 2^(14 + 1) */
    APEX_EXPONENT_STEP = 4, /* and at least 2^(14 + 1 - 4): exponents change seldom */
    APEX_MIN_NORMAL = -126, /* FP32 */
    APEX_MAX_SUM = 252      /* of two exponents: 2^-252 still has two normal factors */
};

/* 2^-14, FP16's least normal number: below it precision is lost. */
#define APEX_LEAST_NORMAL 6.103515625e-5f

struct apex_exponents {
    int a, b;
};

/* 2^e as two normal FP32 factors, for -252 <= e <= 254. */
struct apex_factors {
    float first, second;
};

static __device__ __forceinline__ float apex_exp2i(int e) /* -126 <= e <= 127 */
{
    return __uint_as_float((uint32_t)(e + 127) << 23);
}

static __device__ __forceinline__ apex_factors apex_ldexp_factors(int e)
{
    apex_factors f;
    int half = e / 2;
    f.first = apex_exp2i(half);
    f.second = apex_exp2i(e - half);
    return f;
}

/* x * 2^e. The first product can only leave the normal range if the result does. */
static __device__ __forceinline__ float apex_ldexp(apex_factors f, float x)
{
    return __fmul_rn(__fmul_rn(x, f.first), f.second);
}

/* floor(log2 |x|) of a finite nonzero |x|, from its bits. */
static __device__ __forceinline__ int apex_floor_log2(uint32_t bits)
{
    return bits >= 0x00800000u ? (int)(bits >> 23) - 127 : 31 - __clz(bits) - 149;
}

/* The multiple of step (a power of two) that brings the maximum into [2^(top + 1 - step),
 * 2^(top + 1)); 0 for no data. */
static __device__ __forceinline__ int apex_exponent(uint32_t amax_bits, int top = APEX_TOP_EXPONENT,
                                                    int step = APEX_EXPONENT_STEP)
{
    if (amax_bits == 0)
        return 0;
    return (top - apex_floor_log2(amax_bits)) & ~(step - 1);
}

/* Both exponents, lowered together where alpha * 2^-(a + b) would not be a normal number: such
 * products lie below FP32's range, so FP32 has lost them too. */
static __device__ __forceinline__ apex_exponents apex_clamp_exponents(apex_exponents e, float alpha)
{
    uint32_t bits = __float_as_uint(alpha) & 0x7fffffffu;
    int excess = e.a + e.b - APEX_MAX_SUM;
    if (bits != 0 && bits < 0x7f800000u)
        excess = max(excess, APEX_MIN_NORMAL - (apex_floor_log2(bits) - (e.a + e.b)));
    if (excess > 0) {
        int from_a = excess / 2;
        e.a -= from_a;
        e.b -= excess - from_a;
    }
    return e;
}

/* Of FP16 copies. */
static __device__ __forceinline__ apex_exponents apex_choose_exponents(uint32_t amax_a,
                                                                       uint32_t amax_b, float alpha)
{
    apex_exponents e = {apex_exponent(amax_a), apex_exponent(amax_b)};
    return apex_clamp_exponents(e, alpha);
}

/* alpha * 2^-(a + b). Where a finite alpha would become Inf the largest finite number is taken: the
 * true result is out of FP32's range too, but a zero in it must stay a zero. */
static __device__ __forceinline__ float apex_scaled_alpha(apex_exponents e, float alpha)
{
    float scaled = apex_ldexp(apex_ldexp_factors(-(e.a + e.b)), alpha);
    return isinf(scaled) && !isinf(alpha) ? copysignf(3.402823466e38f, alpha) : scaled;
}

#endif
