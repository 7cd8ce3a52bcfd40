/* SPDX-License-Identifier: BSD-3-Clause
 * Random numbers for the tests of the kernels: one stream for a process, seeded by KERNELS_SEED or
 * the clock; main prints the seed. */
#ifndef KERNELS_DRAW_H
#define KERNELS_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t draw_start(void); /* returns the seed */
uint64_t draw_bits(void);
int64_t draw_int(int64_t low, int64_t high); /* both included */
bool draw_one_in(int n);
double draw_normal(void);

/* Contents of an operand. */
enum data {
    DATA_NORMAL, /* of one random scale */
    DATA_WIDE,   /* magnitudes over 70 binades */
    DATA_ZERO,
    DATA_DENORMAL,
    DATA_OUTLIER, /* normal, and one element 2^30 times larger */
    DATA_SPECIAL, /* normal, with Inf, NaN, zeros of both signs */
    DATA_BITS,    /* any encoding */
    DATA_TIES,    /* halfway between neighbours in FP16 or BF16, or next to it */
    DATA_NOT_FINITE,
    DATA_BORDER, /* the largest is a power of two or the number below one */
    DATA_KINDS
};
/* n elements; the scale and what is special differ from call to call. */
void draw_data(enum data kind, float *x, size_t n);

#endif
