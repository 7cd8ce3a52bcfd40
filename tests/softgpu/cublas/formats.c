/* SPDX-License-Identifier: BSD-3-Clause
 * Conversions of arrays between the types that cuBLAS knows, and FP8. No state. */
#include "formats.h"

#include <math.h>

/* A format with `mantissa` stored bits, whose exponents start at 2^min_exponent (normal numbers).
 */
static uint8_t small_of_float(float f, int mantissa, int min_exponent, float largest)
{
    const uint8_t sign = signbit(f) ? 0x80 : 0;
    const double a = fabs((double)f);
    if (isnan(f))
        return 0x7f;
    int exponent = min_exponent;
    if (a >= ldexp(1.0, min_exponent)) {
        frexp(a, &exponent);
        exponent--;
    }
    /* in units of the last place: nearbyint rounds ties to even */
    double units = isinf(a) ? HUGE_VAL : nearbyint(ldexp(a, mantissa - exponent));
    if (isinf(units) || ldexp(units, exponent - mantissa) > (double)largest) {
        frexpf(largest, &exponent);
        exponent--;
        units = ldexp((double)largest, mantissa - exponent);
    }
    /* the carry into the next exponent, and subnormals (no hidden bit), come out of the sum */
    return (uint8_t)(sign | (unsigned)(((exponent - min_exponent) << mantissa) + (int)units));
}

uint8_t e4m3_of_float(float f)
{
    return small_of_float(f, 3, -6, 448.0f);
}

uint8_t e5m2_of_float(float f)
{
    return small_of_float(f, 2, -14, 57344.0f);
}

float float_of_e4m3(uint8_t x)
{
    const int exponent = x >> 3 & 15, fraction = x & 7;
    if ((x & 0x7f) == 0x7f)
        return NAN;
    const float a =
        exponent == 0 ? ldexpf((float)fraction, -9) : ldexpf((float)(8 + fraction), exponent - 10);
    return x & 0x80 ? -a : a;
}

float float_of_e5m2(uint8_t x)
{
    return float_of_f16((uint16_t)(x << 8)); /* it is the upper half of FP16 */
}

size_t type_bytes(cudaDataType type)
{
    switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_C_8I:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_C_16F:
    case CUDA_C_16BF:
        return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
        return 8;
    case CUDA_C_64F:
        return 16;
    default:
        return 0;
    }
}

bool type_is_complex(cudaDataType type)
{
    return type == CUDA_C_8I || type == CUDA_C_16F || type == CUDA_C_16BF || type == CUDA_C_32F ||
           type == CUDA_C_64F;
}

cudaDataType type_of_part(cudaDataType type)
{
    switch (type) {
    case CUDA_C_8I:
        return CUDA_R_8I;
    case CUDA_C_16F:
        return CUDA_R_16F;
    case CUDA_C_16BF:
        return CUDA_R_16BF;
    case CUDA_C_32F:
        return CUDA_R_32F;
    case CUDA_C_64F:
        return CUDA_R_64F;
    default:
        return type;
    }
}

#define EACH(_from, _expression)                                                                   \
    {                                                                                              \
        const _from *x = from;                                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = _expression;                                                                   \
        return true;                                                                               \
    }
bool floats_of(float *restrict to, const void *restrict from, cudaDataType type, int64_t n)
{
    switch (type) {
    case CUDA_R_32F:
        memcpy(to, from, (size_t)n * sizeof *to);
        return true;
    case CUDA_R_16F:
        EACH(uint16_t, float_of_f16(x[i]))
    case CUDA_R_16BF:
        EACH(uint16_t, float_of_bf16(x[i]))
    case CUDA_R_8F_E4M3:
        EACH(uint8_t, float_of_e4m3(x[i]))
    case CUDA_R_8F_E5M2:
        EACH(uint8_t, float_of_e5m2(x[i]))
    case CUDA_R_8I:
        EACH(int8_t, (float)x[i])
    case CUDA_R_8U:
        EACH(uint8_t, (float)x[i])
    case CUDA_R_32I:
        EACH(int32_t, (float)x[i])
    case CUDA_R_64F:
        EACH(double, (float)x[i])
    default:
        return false;
    }
}

bool doubles_of(double *restrict to, const void *restrict from, cudaDataType type, int64_t n)
{
    switch (type) {
    case CUDA_R_64F:
        memcpy(to, from, (size_t)n * sizeof *to);
        return true;
    case CUDA_R_32F:
        EACH(float, (double)x[i])
    case CUDA_R_16F:
        EACH(uint16_t, (double)float_of_f16(x[i]))
    case CUDA_R_16BF:
        EACH(uint16_t, (double)float_of_bf16(x[i]))
    case CUDA_R_32I:
        EACH(int32_t, (double)x[i])
    default:
        return false;
    }
}
#undef EACH

static int32_t saturated(double x, double least, double most)
{
    if (isnan(x))
        return 0;
    return (int32_t)nearbyint(x < least ? least : x > most ? most : x);
}

#define EACH(_to, _expression)                                                                     \
    {                                                                                              \
        _to *y = to;                                                                               \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = _expression;                                                                    \
        return true;                                                                               \
    }
bool floats_to(void *restrict to, const float *restrict from, cudaDataType type, int64_t n)
{
    switch (type) {
    case CUDA_R_32F:
        memcpy(to, from, (size_t)n * sizeof *from);
        return true;
    case CUDA_R_16F:
        EACH(uint16_t, f16_of_float(from[i]))
    case CUDA_R_16BF:
        EACH(uint16_t, bf16_of_float(from[i]))
    case CUDA_R_8F_E4M3:
        EACH(uint8_t, e4m3_of_float(from[i]))
    case CUDA_R_8F_E5M2:
        EACH(uint8_t, e5m2_of_float(from[i]))
    case CUDA_R_8I:
        EACH(int8_t, (int8_t)saturated((double)from[i], -128, 127))
    case CUDA_R_32I:
        EACH(int32_t, saturated((double)from[i], INT32_MIN, INT32_MAX))
    case CUDA_R_64F:
        EACH(double, (double)from[i])
    default:
        return false;
    }
}

bool doubles_to(void *restrict to, const double *restrict from, cudaDataType type, int64_t n)
{
    switch (type) {
    case CUDA_R_64F:
        memcpy(to, from, (size_t)n * sizeof *from);
        return true;
    case CUDA_R_32F:
        EACH(float, (float)from[i])
    case CUDA_R_16F:
        EACH(uint16_t, f16_of_float((float)from[i]))
    case CUDA_R_16BF:
        EACH(uint16_t, bf16_of_float((float)from[i]))
    default:
        return false;
    }
}
#undef EACH

void round_for_unit(float *x, enum unit unit, int64_t n)
{
    if (unit == UNIT_TF32)
        for (int64_t i = 0; i < n; i++)
            x[i] = round_to_tf32(x[i]);
    else if (unit == UNIT_F16)
        for (int64_t i = 0; i < n; i++)
            x[i] = round_to_f16(x[i]);
    else if (unit == UNIT_BF16)
        for (int64_t i = 0; i < n; i++)
            x[i] = round_to_bf16(x[i]);
}
