/* SPDX-License-Identifier: BSD-3-Clause
 * Calls of cuBLAS that cannot be intercepted: said at exit, since a program that is not covered
 * looks like one that does not gain. */
#ifndef APEXSHIM_BYPASS_H
#define APEXSHIM_BYPASS_H

#include <stdbool.h>

/* Writes one warning for each object that reaches cuBLAS past this library, and one where cuBLAS
 * seems to be linked in statically. handles: one was created through this library. Looks at loaded
 * objects only: makes no CUDA call. Where neither cuBLAS nor the driver is loaded, does nothing. */
void bypass_report(bool handles);

#endif
