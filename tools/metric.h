/* SPDX-License-Identifier: BSD-3-Clause
 * Numbers that a program prints, found by regular expressions. */
#ifndef APEXSHIM_TOOLS_METRIC_H
#define APEXSHIM_TOOLS_METRIC_H

#include "result.h"

/* NAME=REGEX: extended, with one group (the value) or two (the step, the value). NULL, or what is
 * wrong with it. The text is kept. */
const char *metric_parse(struct metric *m, char *text);

/* Adds what a file holds to the curves of a run. False: out of memory. */
bool metric_scan(const struct metric *metrics, size_t n, const char *path, struct run *run);

#endif
