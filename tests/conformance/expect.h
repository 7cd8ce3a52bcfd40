/* SPDX-License-Identifier: BSD-3-Clause
 * What a call must give: float64 on the host (more where the call itself is float64), operands
 * rounded as one arithmetic does, and a bound for what the order of summation may change. */
#ifndef CONFORMANCE_EXPECT_H
#define CONFORMANCE_EXPECT_H

#include "conformance/problem.h"

/* What becomes of the operands before they are multiplied. */
enum arithmetic {
    EXACT,       /* nothing */
    TF32,        /* 11 bits, nearest, ties away from zero */
    SCALED_FP16, /* 11 bits, nearest even; steps of 2^-35 or less of the operand's maximum */
    NEAREST_BF16, /* 8 bits, nearest even */
    TWO_FP16,     /* the sum of two scaled FP16: 22 bits */
    TWO_BF16,     /* 16 bits */
    THREE_BF16,   /* 24 bits, short of the smallest products of pieces */
    ELEVEN_BITS, /* 11 bits in any rounding, range of FP16 */
    EIGHT_BITS,  /* 8 bits in any rounding */
    ARITHMETICS
};

/* What the preload is told to do with what it may convert. */
enum path { PATH_FP32, PATH_TF32, PATH_FP16, PATH_BF16, PATH_FP16X2, PATH_BF16X3, PATH_BF16X6 };
/* The path of a name, or -1. */
int path_named(const char *name);

struct want {
    double re, im, bound; /* of each part */
    bool not_finite;      /* no more than that is known */
};

/* The arithmetics that are right for a call: a set of bits 1 << enum arithmetic. loose: the library
 * rounds operands in a way that is not documented, and sums as tensor cores do. */
unsigned expect_arithmetics(const struct problem *p, enum path path, bool loose);
/* Must the preload convert this call? On the path FP32: must it on the others? */
bool expect_converted(const struct problem *p, enum path path);

/* One entry of one part, before any epilogue: m x n elements, column by column. */
void expect_product(const struct problem *p, const struct part *part, int64_t entry,
                    enum arithmetic arithmetic, bool loose, struct want *want);

/* Turns products into what the epilogue makes of them. aux: the auxiliary output, like want, or a
 * mask of 0 and 1; bias: the gradient, m or n elements. Those that it does not make stay. */
void expect_epilogue(const struct problem *p, int64_t entry, struct want *want, struct want *aux,
                     struct want *bias);

/* Is this number what is wanted, in its format? */
bool expect_met(enum number number, struct want want, struct value got);

#endif
