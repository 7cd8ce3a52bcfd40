/* SPDX-License-Identifier: BSD-3-Clause
 * What the rules share: a square problem in small integers, and how to say what is wrong. Owned by
 * rules.c. */
#ifndef CONFORMANCE_RULES_H
#define CONFORMANCE_RULES_H

#include "conformance/judge.h"

enum { N = 24, ELEMENTS = N * N, BYTES = ELEMENTS * (int)sizeof(float) };

struct rules_memory {
    cublasHandle_t handle;
    cudaStream_t stream;
    uint64_t random;
    float *a, *b, *c, *scalars; /* of the device */
    float *pinned;              /* of the host, seen by the device too */
    float host_a[ELEMENTS], host_b[ELEMENTS], host_c[ELEMENTS], got[ELEMENTS];
};
extern struct rules_memory t;

void rules_fresh(void); /* new numbers on both sides, host pointer mode, the test's stream */
void rules_fetch(void); /* waits; C into t.got */
/* C = alpha A B + beta C of the host's copies? 0 times anything is 0. */
const char *rules_judge(float alpha, float beta);

/* A rule returns NULL, or what is wrong. */
struct rule {
    const char *name;
    const char *(*run)(void);
};
#define RULE(_name) {#_name, _name}
extern const struct rule lt_rules[];
extern const int lt_rule_count;

#define MUST(_condition)                                                                           \
    do {                                                                                           \
        if (!(_condition))                                                                         \
            return "not true: " #_condition;                                                       \
    } while (0)
#define WORKS(_call) MUST((_call) == CUBLAS_STATUS_SUCCESS)

#endif
