/* SPDX-License-Identifier: BSD-3-Clause
 * APEXSHIM_REPORT: what the run did, as a JSON file (doc/report.schema.json). Written anew now and
 * then and at exit, each time under another name first, so that a run that is killed leaves what
 * was known shortly before. */
#ifndef APEXSHIM_REPORT_H
#define APEXSHIM_REPORT_H

#include <stdbool.h>

/* Is a report wanted? One load. */
bool report_on(void);

/* From calls: writes when it is time. */
void report_tick(void);
/* Writes now, with what the GPU has finished: a handle is about to be destroyed. */
void report_flush(void);
/* The last one; makes no CUDA call. */
void report_at_exit(void);

#endif
