/* SPDX-License-Identifier: BSD-3-Clause
 * Medians with quartiles, and the sign test of pairs. Numbers that are NAN (not measured) are left
 * out. No state. */
#ifndef APEXSHIM_TOOLS_STATISTICS_H
#define APEXSHIM_TOOLS_STATISTICS_H

#include <stddef.h>

struct spread {
    size_t n;                 /* 0: nothing was measured, and the rest is NAN */
    double median, low, high; /* the quartiles, interpolated */
    double least, most;
};

struct signs {
    size_t less, more, equal; /* pairs in which b was below, above, equal to a */
    double p;                 /* two-sided: how often chance does as much; 1 without pairs */
};

struct spread spread_of(const double *values, size_t n);
struct signs sign_test(const double *a, const double *b, size_t n);

#endif
