/* SPDX-License-Identifier: BSD-3-Clause
 * GPU time of the GEMMs of each site, where a report is asked for (APEXSHIM_REPORT): events around
 * a call, read late, so that nothing waits. Calls in captures and a call whose events can't be had
 * are not timed; a site knows how many were. */
#ifndef APEXSHIM_TIMING_H
#define APEXSHIM_TIMING_H

#include "base/real.h"

#include <stdbool.h>

struct context;
struct site;

/* The call of this thread begins on a stream of the context (NULL: unknown, it is not timed). */
void timing_begin(struct context *context, CUstream stream);
/* It belongs to this site, which must outlive the thread; NULL: to none that has a place. */
void timing_note(struct site *site);
/* Everything of it has been enqueued, by the shim or by the forwarded call. */
void timing_end(void);
/* Settles what has ended by now. Not at exit: it asks the driver. */
void timing_collect(void);

#endif
