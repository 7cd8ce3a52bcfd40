/* SPDX-License-Identifier: BSD-3-Clause
 * The decision file: what a tuning run found for each site of one program on one kind of GPU. Other
 * runs only read it, so that their bits never depend on what they measure. */
#ifndef APEXSHIM_DECISION_H
#define APEXSHIM_DECISION_H

#include "base/env.h"
#include "device/context.h"
#include "gemm/policy.h"
#include "gemm/rules.h"

#include <stddef.h>
#include <stdint.h>

struct decisions;

/* One site as it is written. */
struct decided {
    struct place place;
    enum path path;
    double error; /* the largest that was measured by that path; negative: none was needed */
    uint64_t calls;
    const char *why;
};

/* NULL: the file is bad or of another GPU, and complaint says so. */
struct decisions *decisions_read(const char *path, const char *gpu, char *complaint, size_t bytes);
void decisions_free(struct decisions *decisions);
size_t decisions_count(const struct decisions *decisions);
/* PATHS: the file does not know the place. */
enum path decisions_find(const struct decisions *decisions, const struct place *place);

/* The file of the variables, read once for each kind of GPU; NULL: none. */
const struct decisions *decisions_get(const struct env *env, const struct gpu *gpu);

/* What a tuning run's text begins with and ends with, and one site of it. */
struct decision_text;
struct decision_text *decision_text_new(const char *gpu, const char *program, double tolerance);
void decision_text_add(struct decision_text *text, const struct decided *site);
/* Writes the file of the variables and frees the text; says on the log what was done. left_out:
 * sites without a measurement. */
void decision_text_write(struct decision_text *text, const struct env *env, const char *gpu,
                         size_t left_out);

#endif
