/* SPDX-License-Identifier: BSD-3-Clause
 * Reference rounding, in double arithmetic and independent of the code under test: what a number
 * becomes as an operand of each arithmetic. NaN and Inf come back as they are. */
#ifndef REFERENCE_ROUND_H
#define REFERENCE_ROUND_H

#include <stdint.h>

enum ref_arithmetic { REF_FP32, REF_TF32, REF_FP16 };

/* Nearest number with `bits` significant bits, ties to even (IEEE 754), no range limit. */
double ref_round_bits(double x, int bits);
/* IEEE binary16, ties to even, gradual underflow, overflow to Inf. */
double ref_round_fp16(double x);
/* bfloat16, ties to even, gradual underflow, overflow to Inf. */
double ref_round_bf16(double x);
/* NVIDIA TF32: 11 significant bits, FP32's range, ties away from zero (PTX cvt.rna.tf32.f32). */
double ref_round_tf32(double x);

/* The encodings of numbers that the format has (of rounded ones). A NaN gets the quiet bit only. */
uint16_t ref_encode_fp16(double x);
uint16_t ref_encode_bf16(double x);

/* The exponent of a scaled FP16 operand whose largest finite magnitude is amax: the multiple of
 * four with amax * 2^e in [2^11, 2^15); 0 for amax == 0. */
int ref_exponent(double amax);

#endif
