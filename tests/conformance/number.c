/* SPDX-License-Identifier: BSD-3-Clause
 * Number formats: sizes, limits, conversion. Owns nothing. */
#include "conformance/number.h"
#include "reference/round.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const struct {
    size_t bytes;
    cudaDataType type;
    double unit, smallest, largest;
} formats[NUMBERS] = {
    [F32] = {4, CUDA_R_32F, 0x1p-24, 0x1p-149, 0x1.fffffep127},
    [F64] = {8, CUDA_R_64F, 0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023},
    [C32] = {8, CUDA_C_32F, 0x1p-24, 0x1p-149, 0x1.fffffep127},
    [C64] = {16, CUDA_C_64F, 0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023},
    [F16] = {2, CUDA_R_16F, 0x1p-11, 0x1p-24, 65504},
    [BF16] = {2, CUDA_R_16BF, 0x1p-8, 0x1p-133, 0x1.fep127},
};

size_t number_bytes(enum number number)
{
    return formats[number].bytes;
}

bool number_complex(enum number number)
{
    return number == C32 || number == C64;
}

cudaDataType number_type(enum number number)
{
    return formats[number].type;
}

double number_unit(enum number number)
{
    return formats[number].unit;
}

double number_smallest(enum number number)
{
    return formats[number].smallest;
}

double number_largest(enum number number)
{
    return formats[number].largest;
}

static double load_f16(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

static uint16_t store_f16(double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x))
        return sign | 0x7e00;
    const double rounded = fabs(ref_round_fp16(x));
    int e;
    if (isinf(rounded))
        return sign | 0x7c00;
    if (rounded < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)ldexp(rounded, 24));
    const double f = frexp(rounded, &e); /* 0.5 <= f < 1 */
    return (uint16_t)(sign | (e + 14) << 10 | ((int)ldexp(f, 11) & 1023));
}

static double load_bf16(uint16_t bits)
{
    const uint32_t word = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &word, sizeof f);
    return (double)f;
}

static uint16_t store_bf16(double x)
{
    const float f =
        (float)(fabs(x) < 0x1p-126 ? ldexp(rint(ldexp(x, 133)), -133) : ref_round_bits(x, 8));
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    return (uint16_t)(word >> 16 | (isnan(x) ? 0x40 : 0));
}

struct value number_load(enum number number, const void *from)
{
    float f[2] = {0, 0};
    double d[2] = {0, 0};
    uint16_t h;
    switch (number) {
    case F64:
    case C64:
        memcpy(d, from, number_bytes(number));
        return (struct value){d[0], d[1]};
    case F32:
    case C32:
        memcpy(f, from, number_bytes(number));
        return (struct value){(double)f[0], (double)f[1]};
    default:
        memcpy(&h, from, sizeof h);
        return (struct value){number == F16 ? load_f16(h) : load_bf16(h), 0};
    }
}

void number_store(enum number number, void *to, struct value x)
{
    const double d[2] = {x.re, x.im};
    const float f[2] = {(float)x.re, (float)x.im};
    uint16_t h;
    switch (number) {
    case F64:
    case C64:
        memcpy(to, d, number_bytes(number));
        break;
    case F32:
    case C32:
        memcpy(to, f, number_bytes(number));
        break;
    default:
        h = number == F16 ? store_f16(x.re) : store_bf16(x.re);
        memcpy(to, &h, sizeof h);
        break;
    }
}
