/* SPDX-License-Identifier: BSD-3-Clause
 * Pseudo-random numbers for tests (xorshift64*). Owns nothing. */
#include "conformance/random.h"

#include <math.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)((random_next(state) >> 11) % (uint64_t)n);
}

double random_normal(uint64_t *state)
{
    double u = ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
    double v = ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

bool random_once_in(uint64_t *state, int64_t n)
{
    return random_below(state, n) == 0;
}
