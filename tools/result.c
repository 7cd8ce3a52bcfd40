/* SPDX-License-Identifier: BSD-3-Clause
 * What follows from the runs: medians, gains over the first variant, a verdict in words. */
#include "config.h"
#include "result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *seconds_text(double seconds, char text[32])
{
    if (isnan(seconds))
        return "-";
    if (seconds >= 1 || seconds == 0)
        snprintf(text, 32, "%.3f s", seconds);
    else if (seconds >= 1e-3)
        snprintf(text, 32, "%.3f ms", 1e3 * seconds);
    else
        snprintf(text, 32, "%.2f us", 1e6 * seconds);
    return text;
}

const char *gain_text(double gain, char text[32])
{
    if (isnan(gain))
        return "-";
    snprintf(text, 32, "%.2fx", gain);
    return text;
}

double site_seconds(const struct variant *v, const struct site_row *site)
{
    double *values = malloc((v->runs_n + 1) * sizeof *values);
    if (values == NULL)
        return NAN;
    for (size_t i = 0; i < v->runs_n; i++) {
        const struct site_row *s = run_report_find(&v->runs[i].report, site);
        values[i] = s != NULL && s->timed != 0 ? s->seconds : NAN;
    }
    const double median = spread_of(values, v->runs_n).median;
    free(values);
    return median;
}

static int more_time(const void *a, const void *b)
{
    const struct site_row *x = *(const struct site_row *const *)a,
                          *y = *(const struct site_row *const *)b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

const struct site_row **result_sites(const struct result *r, size_t *n_p)
{
    const struct site_row **sites = NULL;
    size_t n = 0, space = 0;
    for (size_t v = 0; v < r->variants_n; v++) {
        const struct run_report *report = &r->variants[v].runs[0].report;
        if (r->variants[v].runs_n == 0)
            continue;
        for (size_t i = 0; i < report->sites_n; i++) {
            bool known = false;
            for (size_t before = 0; before < v && !known; before++)
                known = r->variants[before].runs_n != 0 &&
                        run_report_find(&r->variants[before].runs[0].report, &report->sites[i]);
            if (known)
                continue;
            if (n == space) {
                space = 2 * space + 16;
                const struct site_row **grown = realloc(sites, space * sizeof *sites);
                if (grown == NULL)
                    break;
                sites = grown;
            }
            sites[n++] = &report->sites[i];
        }
    }
    if (n != 0)
        qsort(sites, n, sizeof *sites, more_time);
    *n_p = n;
    return sites;
}

static double cost(const struct result *r, const struct run *run, double seconds)
{
    return r->per_gemm ? seconds / (double)run->report.seen : seconds;
}

/* Of one variant; into arrays of runs_n. */
static void costs(const struct result *r, const struct variant *v, double *wall, double *gpu)
{
    for (size_t i = 0; i < v->runs_n; i++) {
        const struct run *run = &v->runs[i];
        wall[i] = cost(r, run, run->wall);
        gpu[i] = run->report.seconds > 0 ? cost(r, run, run->report.seconds) : NAN;
    }
}

/* Runs with the same number are pairs. */
static struct signs signs_of(const struct result *r, const struct variant *a,
                             const struct variant *b, bool wall)
{
    const size_t n = a->runs_n < b->runs_n ? a->runs_n : b->runs_n;
    double *of_a = calloc(2 * a->runs_n + 1, sizeof *of_a),
           *of_b = calloc(2 * b->runs_n + 1, sizeof *of_b);
    struct signs s = {.p = 1};
    if (of_a != NULL && of_b != NULL) {
        costs(r, a, of_a, of_a + a->runs_n);
        costs(r, b, of_b, of_b + b->runs_n);
        s = wall ? sign_test(of_a, of_b, n) : sign_test(of_a + a->runs_n, of_b + b->runs_n, n);
    }
    free(of_a);
    free(of_b);
    return s;
}

static void last_values(const struct variant *v, size_t metric, double *values)
{
    for (size_t i = 0; i < v->runs_n; i++) {
        const struct curve *c = &v->runs[i].curves[metric];
        values[i] = c->n != 0 ? c->values[c->n - 1] : NAN;
    }
}

__attribute__((format(printf, 2, 3))) static void say(char *verdict, const char *form, ...)
{
    const size_t used = strlen(verdict);
    va_list arguments;
    if (used == 0 && form[0] == ';') /* nothing to set it apart from */
        form += 2;
    va_start(arguments, form);
    vsnprintf(verdict + used, VERDICT_BYTES - used, form, arguments);
    va_end(arguments);
}

/* Do the middle halves of the runs lie apart? */
static bool apart(const struct spread *a, const struct spread *b)
{
    return a->low > b->high || b->low > a->high;
}

static void say_gain(char *verdict, const char *what, double gain, const struct spread *base,
                     const struct spread *own)
{
    if (isnan(gain))
        return;
    if (!apart(base, own))
        say(verdict, "%s no clear difference (%.2fx)", what, gain);
    else if (gain >= 1)
        say(verdict, "%s %.2fx faster", what, gain);
    else
        say(verdict, "%s %.2fx slower", what, 1 / gain);
}

static void say_metric(const struct result *r, struct variant *v, size_t i)
{
    const struct variant *base = &r->variants[0];
    const struct spread *a = &base->last[i], *b = &v->last[i];
    const char *name = r->metrics[i].name;
    if (a->n == 0 || b->n == 0) {
        say(v->verdict, "; %s not found", name);
        return;
    }
    if (!isfinite(b->median) || !isfinite(a->median)) {
        say(v->verdict, "; %s is %g (%s: %g)", name, b->median, base->name, a->median);
        return;
    }
    if (a->median == b->median) {
        say(v->verdict, "; %s is equal", name);
        return;
    }
    say(v->verdict, "; %s differs by %.2g %%", name, 100 * fabs(v->difference[i]));
    if (a->n < 2)
        return;
    if (b->median >= a->least && b->median <= a->most)
        say(v->verdict, ", within the spread between runs of %s", base->name);
    else if (a->least == a->most)
        say(v->verdict, " (runs of %s are equal)", base->name);
    else
        say(v->verdict, ", more than runs of %s differ", base->name);
}

/* GPU times are compared with the first variant that has them: plain has none. */
static const struct variant *gpu_base(const struct result *r)
{
    for (size_t i = 0; i < r->variants_n; i++)
        if (r->variants[i].runs_n != 0 && r->variants[i].runs[0].report.seconds > 0)
            return &r->variants[i];
    return &r->variants[0];
}

static void judge(const struct result *r, struct variant *v)
{
    const struct variant *base = &r->variants[0];
    v->verdict[0] = '\0';
    if (v->runs_n == 0) {
        say(v->verdict, "no run was completed");
        return;
    }
    const struct run_report *report = &v->runs[0].report;
    if (v == base) {
        if (r->variants_n > 1)
            say(v->verdict, "the others are compared with this one");
        else
            say(v->verdict, "%ju GEMMs, %ju converted, %ju forwarded", (uintmax_t)report->seen,
                (uintmax_t)report->converted, (uintmax_t)report->forwarded);
        return;
    }
    if (!r->modelled && !isnan(v->wall_gain)) {
        say_gain(v->verdict, "whole program", v->wall_gain, &base->wall, &v->wall);
        if (v->wall.n > 1)
            say(v->verdict, " (%zu of %zu runs, p = %.2g)", v->wall_signs.less,
                v->wall_signs.less + v->wall_signs.more + v->wall_signs.equal, v->wall_signs.p);
        if (!isnan(v->gpu_gain))
            say(v->verdict, ", ");
    }
    say_gain(v->verdict, r->modelled ? "GEMMs (modelled)" : "GEMMs", v->gpu_gain, &gpu_base(r)->gpu,
             &v->gpu);
    if (report->seen != 0 && report->converted == 0)
        say(v->verdict, "; nothing was converted%s%s%s", report->reason != NULL ? " (" : "",
            report->reason != NULL ? report->reason : "", report->reason != NULL ? ")" : "");
    for (size_t i = 0; i < r->metrics_n; i++)
        say_metric(r, v, i);
}

static void summarise(struct result *r, struct variant *v)
{
    const struct variant *base = &r->variants[0];
    const size_t n = v->runs_n;
    double *wall = calloc(2 * n + 1, sizeof *wall), *gpu = wall + n;
    if (wall == NULL)
        return;
    costs(r, v, wall, gpu);
    v->wall = spread_of(wall, n);
    v->gpu = spread_of(gpu, n);
    v->wall_gain = base->wall.median / v->wall.median;
    v->gpu_gain = gpu_base(r)->gpu.median / v->gpu.median;
    v->wall_signs = signs_of(r, base, v, true);
    v->gpu_signs = signs_of(r, gpu_base(r), v, false);
    for (size_t i = 0; i < r->metrics_n; i++) {
        last_values(v, i, wall);
        v->last[i] = spread_of(wall, n);
        v->difference[i] = (v->last[i].median - base->last[i].median) / fabs(base->last[i].median);
    }
    free(wall);
}

void result_summarise(struct result *r)
{
    for (size_t v = 0; v < r->variants_n; v++) {
        for (size_t i = 0; i < r->variants[v].runs_n; i++) {
            const struct run *run = &r->variants[v].runs[i];
            r->modelled = r->modelled || run->report.modelled;
            r->per_gemm = r->per_gemm || run->stopped;
            if (r->gpu == NULL)
                r->gpu = run->report.gpu;
        }
    }
    for (size_t v = 0; v < r->variants_n; v++) {
        summarise(r, &r->variants[v]);
        judge(r, &r->variants[v]);
    }
}
