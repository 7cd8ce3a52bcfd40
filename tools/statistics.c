/* SPDX-License-Identifier: BSD-3-Clause
 * Medians with quartiles, and the sign test of pairs. No state. */
#include "config.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* At a share of the way through n sorted values; between two of them, in proportion. */
static double quantile(const double *sorted, size_t n, double share)
{
    const double at = share * (double)(n - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct spread spread_of(const double *values, size_t n)
{
    struct spread s = {.median = NAN, .low = NAN, .high = NAN, .least = NAN, .most = NAN};
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL)
        return s;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            sorted[s.n++] = values[i];
    if (s.n != 0) {
        qsort(sorted, s.n, sizeof *sorted, compare);
        s.median = quantile(sorted, s.n, 0.5);
        s.low = quantile(sorted, s.n, 0.25);
        s.high = quantile(sorted, s.n, 0.75);
        s.least = sorted[0];
        s.most = sorted[s.n - 1];
    }
    free(sorted);
    return s;
}

struct signs sign_test(const double *a, const double *b, size_t n)
{
    struct signs s = {.p = 1};
    for (size_t i = 0; i < n; i++) {
        s.less += b[i] < a[i];
        s.more += b[i] > a[i];
        s.equal += b[i] == a[i];
    }
    const size_t pairs = s.less + s.more, rarer = s.less < s.more ? s.less : s.more;
    double term = pow(0.5, (double)pairs), sum = 0;
    for (size_t i = 0; i <= rarer; i++) {
        sum += term;
        term *= (double)(pairs - i) / (double)(i + 1);
    }
    s.p = 2 * sum < 1 ? 2 * sum : 1;
    return s;
}
