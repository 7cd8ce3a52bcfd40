/* SPDX-License-Identifier: BSD-3-Clause
 * Adds up the totals that the kernels have shown in host memory (device/kernels.h) and names the
 * sites that a user should know of. Owns nothing. */
#include "config.h"
#include "gemm/site_summary.h"
#include "base/caller.h"
#include "base/log.h"
#include "base/stats.h"
#include "gemm/site.h"
#include "gemm/verify.h"

#include <inttypes.h>
#include <stdio.h>

enum { WARNINGS_MAX = 5 };

struct sum {
    double underflow_limit;
    uint64_t operands, misses, verified;
    float worst_error;
    const struct site *worst;
    unsigned warnings;
};

/* "cublasSgemm_v2 TN m=4 n=5 k=6 at libfoo.so+0x12" */
static void name_site(const struct site *site, char *text, size_t bytes)
{
    char object[128];
    uint64_t offset = 0;
    const char *place = caller_place(site->caller, object, sizeof object, &offset);
    snprintf(text, bytes, "%s %c%c m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " batch=%" PRId64
             " at %s+0x%" PRIx64, site->routine, site->form & 1 ? 'T' : 'N',
             site->form & 2 ? 'T' : 'N', site->m, site->n, site->k, site->batch,
             place != NULL ? place : "?", offset);
}

static void warn_of_loss(struct sum *sum, const struct site *site,
                         const struct apex_site *shown)
{
    for (int i = 0; i < 2; i++) {
        const uint64_t lost = shown->lost[i], elements = shown->elements[i];
        if (elements == 0 || (double)lost <= sum->underflow_limit * (double)elements)
            continue;
        char name[256];
        if (sum->warnings++ >= WARNINGS_MAX)
            return;
        name_site(site, name, sizeof name);
        LOG_WARN("WARNING: %.1f %% of the elements of %c lay so far below its largest one that fp16 "
                 "lost digits of them: %s. APEXSHIM_PRECISION=tf32, or a rule for this site, keeps them",
                 100 * (double)lost / (double)elements, "AB"[i], name);
    }
}

static void add_site(struct site *site, void *arg)
{
    struct sum *sum = arg;
    struct apex_site shown;
    if (!site_shown(site, &shown))
        return;
    verify_hand_on(site, site->path);
    const float error = site_error_of(shown.worst_error_bits);
    sum->operands += 2 * shown.calls;
    sum->misses += shown.misses;
    sum->verified += shown.verified;
    if (shown.verified != 0 && (sum->worst == NULL || error > sum->worst_error)) {
        sum->worst = site;
        sum->worst_error = error;
    }
    warn_of_loss(sum, site, &shown);
}

void site_at_exit(void)
{
    const struct env *env = env_get();
    if (!env->enabled || !stats_engaged())
        return;
    struct sum sum = {.underflow_limit = env->underflow_limit};
    site_each(add_site, &sum);
    if (sum.warnings > WARNINGS_MAX)
        LOG_WARN("WARNING: and so at %u more operands", sum.warnings - WARNINGS_MAX);
    if (sum.operands != 0)
        LOG_INFO("scaled operands=%" PRIu64 " re-cast=%" PRIu64, sum.operands, sum.misses);
    if (sum.worst != NULL) {
        char name[256];
        name_site(sum.worst, name, sizeof name);
        LOG_WARN("verified calls=%" PRIu64 ", worst error ||C - C0||/||C0|| = %.2e: %s", sum.verified,
                 (double)sum.worst_error, name);
    }
}
