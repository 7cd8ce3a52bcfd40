/* SPDX-License-Identifier: BSD-3-Clause
 * A tuning run (APEXSHIM_PRECISION=auto:<tolerance>): each site begins with the quickest path; one
 * whose measured error is over the tolerance gives way to the next more exact one. At exit what was
 * found becomes the decision file. */
#ifndef APEXSHIM_TUNING_H
#define APEXSHIM_TUNING_H

#include "device/context.h"
#include "gemm/policy.h"
#include "gemm/rules.h"

struct site;
struct tuned;

/* For a site that is about to be; NULL: no memory. ladder as of policy_ladder. */
struct tuned *tuning_new(const struct env *env, const struct gpu *gpu, const struct place *place,
                         const enum path ladder[PATHS], int n);
/* The site exists now and owns it. */
void tuning_adopt(struct site *site, struct tuned *tuned);
/* There was such a site already. */
void tuning_free(struct tuned *tuned);

/* A call of the site that went by that path differed so much (relative, norm-wise) from the
 * original. Moves the site on where that is over the tolerance. */
void tuning_error(struct site *site, enum path path, double error);

/* At exit. Does nothing in a run that does not tune, and in a forked child. */
void tuning_write(const struct env *env);

#endif
