/* SPDX-License-Identifier: BSD-3-Clause
 * Pseudo-random numbers for tests: a state of one word that the caller owns. */
#ifndef CONFORMANCE_RANDOM_H
#define CONFORMANCE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

uint64_t random_next(uint64_t *state);
int64_t random_below(uint64_t *state, int64_t n); /* 0 ... n - 1 */
double random_normal(uint64_t *state);
/* True once in n calls. */
bool random_once_in(uint64_t *state, int64_t n);

/* An element of an array, each as likely as the others: a value that occurs twice is twice as
 * likely. */
#define PICK(_state, _array)                                                                       \
    (_array)[random_below(_state, (int64_t)(sizeof(_array) / sizeof((_array)[0])))]

#endif
