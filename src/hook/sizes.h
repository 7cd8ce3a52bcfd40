/* SPDX-License-Identifier: BSD-3-Clause
 * The arguments of a SEEN function as its thunk found them, and the arithmetic they ask for. */
#ifndef APEXSHIM_SIZES_H
#define APEXSHIM_SIZES_H

#include "base/real.h"

#include <stdint.h>

#ifdef __aarch64__
enum { REGISTER_ARGUMENTS = 8 };
#else
enum { REGISTER_ARGUMENTS = 6 };
#endif

/* Integers and pointers alone: floating-point arguments are passed elsewhere. */
struct arguments {
    const uintptr_t *registers; /* the first REGISTER_ARGUMENTS */
    const uintptr_t *stack;     /* the others */
};

static inline uintptr_t argument(const struct arguments *a, unsigned i)
{
    return i < REGISTER_ARGUMENTS ? a->registers[i] : a->stack[i - REGISTER_ARGUMENTS];
}

/* Floating-point operations (2 m n k for a product); 0 where the sizes are no plain arguments. */
double sizes_flop(enum real_seen index, const struct arguments *arguments);

#endif
