/* SPDX-License-Identifier: BSD-3-Clause
 * Random operands and special values of each PTX type. The caller owns the state. */
#ifndef SOFTGPU_CHECK_RANDOM_H
#define SOFTGPU_CHECK_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

uint64_t random_bits(struct random *r);
uint32_t random_below(struct random *r, uint32_t n);
/* From SOFTGPU_SEED, else a fixed one; printed once per process by whoever starts the tests. */
uint64_t random_seed(void);

/* How many special values the type has, and the i-th. Packed types: pairs of them. */
size_t special_count(const char *type);
uint64_t special_value(const char *type, size_t i);
/* A value that is likely to hit something: near: another operand of the same operation. */
uint64_t random_value(struct random *r, const char *type, uint64_t near);
uint64_t random_count(struct random *r); /* for shifts, positions and lengths */

#endif
