/* SPDX-License-Identifier: BSD-3-Clause
 * A site is what decisions are made for: one place in the program that asks for one shape on one
 * context. The decision is made once and kept, so that equal calls always take the same path. */
#ifndef APEXSHIM_SITE_H
#define APEXSHIM_SITE_H

#include "gemm/policy.h"
#include "kernels/kernels.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SITES_MAX = APEX_SITES }; /* indices for counters on the device */

struct site {
    /* The key. */
    const char *routine; /* compared as a pointer: names are literals of the hooks */
    const void *caller;
    const struct context *context;
    int64_t m, n, k, batch;
    uint32_t epoch; /* of caller_epoch, where decisions depend on the caller */
    uint32_t form;  /* bit 0: A is transposed, 1: B, 2: the program's call uses TF32 itself */

    uint32_t index;          /* 0 .. SITES_MAX - 1; sites beyond share the last one */
    _Atomic(enum path) path; /* read it once a call: only in a tuning run it changes */
    enum reason reason;      /* of PATH_FORWARD */
    int scale, scale_exponent;
    struct tuned *tuned; /* in a tuning run; gemm/tuning.c */
    _Atomic uint64_t calls, converted;
    _Atomic uint64_t verified; /* comparisons that site_error has been told of */
    _Atomic float worst_error;
    _Atomic uint64_t timed, nanoseconds; /* calls of which the GPU time is known, and their sum */
};

/* The site of a call whose context is known, with its decision; also in g->site. Counts the call.
 * Never NULL; where the table is full, a record of this thread that the next call overwrites. */
struct site *site_decide(const struct env *env, struct gemm *g);

/* A call that is forwarded whatever its site is, for that reason, which is returned. A report shows
 * it too, so that runs with and without conversion compare; without a report nothing is done. */
enum reason site_observe(struct gemm *g, enum reason reason);

/* The call was computed by that path, which is not PATH_FORWARD. */
void site_count_converted(struct site *site, enum path path);

/* A converted call of the site differed from the original by ||C - C0|| / ||C0|| = error. */
void site_error(struct site *site, enum path path, float error);

/* What the kernels have noted of the site's calls so far, from host memory. False: nothing is kept
 * (kernels not loaded, or the site shares its index with others). */
bool site_shown(const struct site *site, struct apex_site *totals);
float site_error_of(uint32_t bits); /* an error in struct apex_site */

/* Calls visit for every site that has a place in the table. */
void site_each(void (*visit)(struct site *site, void *arg), void *arg);

#endif
