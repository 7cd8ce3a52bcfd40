/* SPDX-License-Identifier: BSD-3-Clause
 * Which path a GEMM takes that nothing speaks against: class first, then cost. */
#ifndef APEXSHIM_POLICY_H
#define APEXSHIM_POLICY_H

#include "base/env.h"
#include "gemm/gemm.h"

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

/* PATH_FORWARD comes with the reason. A pure function of its arguments. */
enum path policy_choose(const struct env *env, const struct gpu *gpu, const struct gemm *g,
                        enum reason *reason_p);

#endif
