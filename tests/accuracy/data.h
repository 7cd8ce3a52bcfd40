/* SPDX-License-Identifier: BSD-3-Clause
 * Operands whose numbers are distributed as those of programs are. */
#ifndef ACCURACY_DATA_H
#define ACCURACY_DATA_H

#include <stdint.h>

/* C = A B for each entry of a batch; all column-major and dense, entries one after the other. */
struct problem {
    int m, n, k, batch;
    float *a, *b;
};

struct distribution {
    const char *name;
    int batch; /* how many entries */
    void (*fill)(const struct problem *p, uint64_t *random);
};

extern const struct distribution distributions[];
extern const int distributions_n;

#endif
