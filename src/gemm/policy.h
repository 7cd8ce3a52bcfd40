/* SPDX-License-Identifier: BSD-3-Clause
 * Which path a GEMM takes that nothing speaks against: class first, then cost. Pure functions. */
#ifndef APEXSHIM_POLICY_H
#define APEXSHIM_POLICY_H

#include "base/env.h"
#include "gemm/gemm.h"

struct cost_model;
struct gpu;

enum path {
    PATH_FORWARD,
#define PATH(_enum, _word) PATH_##_enum,
#include "gemm/path.def"
#undef PATH
    PATHS
};

/* Of a path other than PATH_FORWARD. */
static inline enum stats_path path_stats(enum path path)
{
    return (enum stats_path)(path - 1);
}

/* "forward" or the word of path.def. */
const char *path_word(enum path path);
/* The path of a word, "off" being PATH_FORWARD; PATHS: none. */
enum path path_of_word(const char *word);

/* What the variables or a rule ask for. */
struct wish {
    int precision; /* enum env_precision: the class */
    int policy;    /* enum env_policy */
    int scale, scale_exponent;
    enum path path; /* asked for by name; PATHS: none */
};
struct wish policy_wish(const struct env *env);

/* The class itself, or the next more exact one that the GPU has the arithmetic for. */
int policy_class(const struct gpu *gpu, int precision);
/* Has the GPU the arithmetic of the path? */
bool policy_has(const struct gpu *gpu, enum path path);
/* Can this call take the path at all, as a question of form? */
bool policy_fits(const struct gemm *g, enum path path);
/* Is a result by the path within the class? */
bool policy_within(int precision, enum path path);
const char *precision_word(int precision);
/* The class of a word, fp8 included; -1: none. */
int precision_of_word(const char *word);

/* PATH_FORWARD comes with the reason. */
enum path policy_choose(const struct wish *wish, const struct cost_model *model,
                        const struct gpu *gpu, const struct gemm *g, enum reason *reason_p);

/* The paths that g can take on the GPU, from the quickest to the slowest and each more exact than
 * the one before; PATH_FORWARD is the last. What a tuning run tries. Returns how many. */
int policy_ladder(const struct wish *wish, const struct cost_model *model, const struct gpu *gpu,
                  const struct gemm *g, enum path ladder[PATHS]);

#endif
