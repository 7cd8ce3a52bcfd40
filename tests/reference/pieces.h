/* SPDX-License-Identifier: BSD-3-Clause
 * Reference of the 16-bit copies of an FP32 operand: the pieces that an element is split into and
 * where they lie along K. In double, where every difference is exact. */
#ifndef REFERENCE_PIECES_H
#define REFERENCE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

enum ref_format { REF_1_FP16, REF_2_FP16, REF_1_BF16, REF_2_BF16, REF_3_BF16, REF_FORMATS };

/* Pieces that differ (1..3), and that are stored (1, 3 or 6). */
int ref_distinct(enum ref_format format);
int ref_stored(enum ref_format format);
/* Which distinct piece of A (operand 0) or B (1) is the i-th that is stored. The sum over i of
 * piece(A) * piece(B) has each product of pieces p and q with p + q < distinct, once, those with
 * the largest p + q first. */
int ref_piece_at(enum ref_format format, int operand, int i);
/* K is cut into parts (the last may be shorter). In the copy a part is its elements' first stored
 * pieces, then their second ones, ...: where the i-th of element at is, in elements of the copy's
 * K. */
int64_t ref_place(enum ref_format format, int64_t k, int64_t part, int64_t at, int i);

/* The distinct pieces of x * 2^exponent, encoded: each is what the ones before leave, rounded to
 * nearest even. FP16 overflows to Inf; BF16 is cut to its largest number. After a piece that is not
 * finite come zeros. */
void ref_split(enum ref_format format, float x, int exponent, uint16_t piece[3]);
/* Are the two encodings of distinct piece p the same number, or both NaN? The sign of a zero counts
 * in the first piece only: where the rest is 0 its sign says how it came to be. */
bool ref_same(enum ref_format format, int p, uint16_t a, uint16_t b);

#endif
