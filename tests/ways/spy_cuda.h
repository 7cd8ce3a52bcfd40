/* SPDX-License-Identifier: BSD-3-Clause
 * What the libcuda.so.1 of the tests tells about the calls that reached it. */
#ifndef WAYS_SPY_CUDA_H
#define WAYS_SPY_CUDA_H

#include <stdint.h>

enum { SPY_WORDS = 12 };

struct spy_call {
    unsigned long n;
    uintptr_t words[SPY_WORDS]; /* of the last call */
};

/* NULL: there is no such function. */
struct spy_call *spy_find(const char *name);

#endif
