/* SPDX-License-Identifier: BSD-3-Clause
 * What the hooks of driver functions (WRAP in symbols.def) share. They have names of their own and
 * take the driver's by assembly labels: cuda.h redirects some names to newer versions and does not
 * declare others, depending on its own version. */
#ifndef APEXSHIM_HOOK_DRIVER_H
#define APEXSHIM_HOOK_DRIVER_H

#include "base/real.h"

#include <stdbool.h>

/* Defines the hook of the function named "cu" and _stem (pasted, since the whole name may be a
 * macro of cuda.h). */
#define WRAPPER(_stem, _parameters)                                                                \
    __attribute__((visibility("default"))) CUresult wrap_cu##_stem _parameters                     \
        __asm__("cu" #_stem);                                                                      \
    CUresult wrap_cu##_stem _parameters

/* First in each hook: declares real, the driver's function, and active, whether the shim is on. */
#define ENTER(_stem, _parameters)                                                                  \
    CUresult(*real) _parameters;                                                                   \
    const bool active = driver_enter(REAL_SEEN_cu##_stem, &real)

/* Stores the real function in the function pointer at real_p (one that answers "not initialized"
 * where there is none) and counts the call. False: switched off, only forward. */
bool driver_enter(enum real_seen index, void *real_p);
/* The same without counting. False: there is no real function. */
bool driver_real(enum real_seen index, void *real_p);

/* The stream that a handle means in the functions for the per-thread default stream. */
static inline CUstream driver_stream(CUstream stream, bool per_thread)
{
    return per_thread && stream == NULL ? CU_STREAM_PER_THREAD : stream;
}

#endif
