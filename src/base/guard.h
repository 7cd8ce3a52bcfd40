/* SPDX-License-Identifier: BSD-3-Clause
 * The one guard against re-entry: while a hook works or forwards, calls that the vendor's library
 * makes to another intercepted function pass through uncounted. */
#ifndef APEXSHIM_GUARD_H
#define APEXSHIM_GUARD_H

#include <stdbool.h>

extern _Thread_local unsigned guard_depth __attribute__((tls_model("initial-exec")));

static inline bool guard_active(void)
{
    return guard_depth != 0;
}

static inline void guard_enter(void)
{
    guard_depth++;
}

static inline void guard_leave(void)
{
    guard_depth--;
}

#endif
