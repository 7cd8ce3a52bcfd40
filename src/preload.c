/* SPDX-License-Identifier: BSD-3-Clause
 * The preloaded object's own life: there is no constructor (a process that never calls cuBLAS is
 * not touched), and at exit one line is written where a handle was created. No CUDA call is made
 * here; CUDA objects are left to the driver. */
#include "config.h"
#include "base/stats.h"

static void __attribute__((destructor)) at_exit(void)
{
    stats_at_exit();
}
