/* SPDX-License-Identifier: BSD-3-Clause
 * Number formats of the software GPU's BLAS: FP16, BF16, TF32, FP8 and back, bit by bit. The
 * one-number functions are inline so that the array functions of formats.c become vector code. */
#ifndef BLAS_FORMATS_H
#define BLAS_FORMATS_H

#include <library_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of(float f)
{
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    return x;
}

static inline float float_of(uint32_t x)
{
    float f;
    memcpy(&f, &x, sizeof f);
    return f;
}

/* To nearest, ties to even; from 65520 on: infinity; NaN: 0x7fff as the GPU's cvt gives. */
static inline uint16_t f16_of_float(float f)
{
    const uint32_t x = bits_of(f), sign = x >> 16 & 0x8000, mag = x & 0x7fffffff;
    const uint32_t rounded = mag + 0xfff + (mag >> 13 & 1);
    /* below 2^-14: adding 1/2 leaves multiples of 2^-24, rounded by the addition itself */
    const uint32_t small = bits_of(float_of(mag) + 0.5f) - 0x3f000000;
    uint32_t h = mag < 0x38800000 ? small : (rounded - 0x38000000) >> 13;
    h = mag >= 0x477ff000 ? 0x7c00 : h;
    h |= sign;
    return (uint16_t)(mag > 0x7f800000 ? 0x7fff : h);
}

static inline float float_of_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, mag = (uint32_t)(h & 0x7fff) << 13;
    const uint32_t finite = bits_of(float_of(mag) * 0x1p112f);
    return float_of(sign | (mag >= 0x0f800000 ? mag | 0x7f800000 : finite));
}

static inline uint16_t bf16_of_float(float f)
{
    const uint32_t x = bits_of(f), mag = x & 0x7fffffff;
    return (uint16_t)(mag > 0x7f800000 ? 0x7fff : (x + 0x7fff + (x >> 16 & 1)) >> 16);
}

static inline float float_of_bf16(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

/* To nearest, ties away from zero, as cvt.rna.tf32.f32 */
static inline float round_to_tf32(float f)
{
    const uint32_t x = bits_of(f), mag = x & 0x7fffffff;
    return float_of(mag > 0x7f800000 ? 0x7fffe000 : (x + 0x1000) & 0xffffe000);
}

static inline float round_to_f16(float f)
{
    return float_of_f16(f16_of_float(f));
}

static inline float round_to_bf16(float f)
{
    return float_of_bf16(bf16_of_float(f));
}

/* FP8: to nearest, ties to even, saturating to the largest finite value (infinity too). */
uint8_t e4m3_of_float(float f);
uint8_t e5m2_of_float(float f);
float float_of_e4m3(uint8_t x);
float float_of_e5m2(uint8_t x);

/* Bytes of one element, real and imaginary part together; 0: a type that is not known here. */
size_t type_bytes(cudaDataType type);
bool type_is_complex(cudaDataType type);
/* CUDA_C_32F -> CUDA_R_32F; a real type stays. */
cudaDataType type_of_part(cudaDataType type);

/* n consecutive numbers of a real type to and from FP32, FP64. False: no such conversion. */
bool floats_of(float *restrict to, const void *restrict from, cudaDataType type, int64_t n);
bool floats_to(void *restrict to, const float *restrict from, cudaDataType type, int64_t n);
bool doubles_of(double *restrict to, const void *restrict from, cudaDataType type, int64_t n);
bool doubles_to(void *restrict to, const double *restrict from, cudaDataType type, int64_t n);

/* What an arithmetic unit makes of FP32 operands. */
enum unit { UNIT_F32, UNIT_TF32, UNIT_F16, UNIT_BF16, UNIT_F64, UNIT_FP8, UNIT_I8, UNITS };
void round_for_unit(float *x, enum unit unit, int64_t n);

#endif
