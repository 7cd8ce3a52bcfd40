/* SPDX-License-Identifier: BSD-3-Clause
 * The preloaded object's own life. Its constructor only notes which process it was loaded into; at
 * exit that process gets one line where a handle was created, and warnings about calls that could
 * not be intercepted. No CUDA call is made here; CUDA objects are left to the driver. Owns the
 * process id. */
#include "config.h"
#include "base/bypass.h"
#include "base/env.h"
#include "base/stats.h"
#include "gemm/report.h"
#include "gemm/site_summary.h"
#include "gemm/tuning.h"

#include <unistd.h>

static pid_t loaded_into;

static void __attribute__((constructor)) at_start(void)
{
    loaded_into = getpid();
}

static void __attribute__((destructor)) at_exit(void)
{
    stats_at_exit();
    report_at_exit();
    /* What a forked child has loaded, its parent has reported, or will. */
    if (getpid() == loaded_into) {
        if (stats_engaged()) { /* else nothing is read, not even the variables */
            site_at_exit();
            tuning_write(env_get());
        }
        bypass_report(stats_engaged());
    }
}
