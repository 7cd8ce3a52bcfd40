/* SPDX-License-Identifier: BSD-3-Clause
 * The user's rules: which calls take which path. The first section that matches wins. */
#ifndef APEXSHIM_RULES_H
#define APEXSHIM_RULES_H

#include "base/env.h"
#include "gemm/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What conditions look at. */
struct place {
    const char *routine;
    int64_t m, n, k, batch;
    char transposes[3];     /* "NT": of A and B */
    const char *object;     /* file name of the one that calls */
    uint64_t offset;        /* of the return address in it */
    const char *executable; /* file name */
};

struct rules;

/* NULL: the file is bad, and complaint says where and what was expected. */
struct rules *rules_read(const char *path, char *complaint, size_t bytes);
void rules_free(struct rules *rules);
size_t rules_count(const struct rules *rules);

/* Changes the wish by the first rule that matches; its name, or NULL: none does. */
const char *rules_apply(const struct rules *rules, const struct place *place, struct wish *wish);

/* Those of APEXSHIM_RULES, read at the first call; NULL: none, or bad ones (said once). */
const struct rules *rules_get(const struct env *env);

#endif
