/* SPDX-License-Identifier: BSD-3-Clause
 * Writes a comparison to the terminal in 80 columns. Texts of programs are shown without their
 * control characters. */
#include "config.h"
#include "result.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, SITES_SHOWN = 10, SITE_VARIANTS = 5 };

static const char *bold, *faint, *plain;

/* What is printable of a text, cut to width and filled up to it. */
static const char *clean(const char *text, size_t width, char *buffer)
{
    size_t n = 0;
    for (; text[n] != '\0' && n < width; n++)
        buffer[n] = isprint((unsigned char)text[n]) ? text[n] : '?';
    if (text[n] != '\0' && width > 1)
        buffer[n - 1] = '~';
    buffer[n] = '\0';
    return buffer;
}

/* A text in lines of at most COLUMNS, broken at blanks; the later ones are indented. */
static void wrap(const char *text, size_t indent)
{
    size_t column = 0;
    while (*text != '\0') {
        const size_t word = strcspn(text, " "), blank = strspn(text + word, " ");
        if (column > indent && column + 1 + word > COLUMNS) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        for (size_t i = 0; i < word; i++)
            putchar(isprint((unsigned char)text[i]) ? text[i] : '?');
        column += word;
        text += word + blank;
    }
    putchar('\n');
}

static void put_head(const struct result *r)
{
    char line[COLUMNS + 1], command[1024] = "";
    for (size_t i = 0; r->command != NULL && r->command[i] != NULL; i++) {
        const size_t used = strlen(command);
        snprintf(command + used, sizeof command - used, "%s%s", i == 0 ? "" : " ", r->command[i]);
    }
    if (command[0] != '\0')
        printf("%s%s%s\n", bold, clean(command, COLUMNS, line), plain);
    if (r->gpu != NULL)
        printf("GPU: %s\n", clean(r->gpu, COLUMNS - 5, line));
    if (r->modelled)
        wrap("GPU times are modelled: they come from a model of that GPU, not from a measurement. "
             "Wall times are those of the simulation and say nothing about a GPU.",
             0);
    if (r->per_gemm)
        wrap("Runs were stopped before their end: times are those of one GEMM.", 0);
    if (r->interrupted)
        wrap("Interrupted: what had been measured until then.", 0);
    putchar('\n');
}

static void put_range(const struct spread *s)
{
    char low[32], high[32], range[72] = "";
    if (s->n > 1)
        snprintf(range, sizeof range, "%s .. %s", seconds_text(s->low, low),
                 seconds_text(s->high, high));
    printf("%26s", range);
}

static void put_times(const struct result *r, bool wall)
{
    char a[32], b[32], name[32];
    bool any = false;
    for (size_t i = 0; i < r->variants_n; i++)
        any = any || (wall ? r->variants[i].wall.n : r->variants[i].gpu.n) != 0;
    if (!any)
        return;
    printf("%s%-13s%12s%26s%8s%6s%11s%s\n", bold, wall ? "wall time" : "GEMMs on GPU", "median",
           "quartiles", "gain", "runs", wall ? "sign test" : "converted", plain);
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        const struct spread *s = wall ? &v->wall : &v->gpu;
        const struct run_report *report = v->runs_n != 0 ? &v->runs[0].report : NULL;
        printf("  %-11s%12s", clean(v->name, 11, name), seconds_text(s->median, a));
        put_range(s);
        printf("%8s%6zu", i == 0 ? "" : gain_text(wall ? v->wall_gain : v->gpu_gain, b), s->n);
        if (wall && i != 0)
            printf("%11.2g", v->wall_signs.p);
        if (!wall && report != NULL && report->seen != 0)
            printf("%10.1f%%", 100 * (double)report->converted / (double)report->seen);
        putchar('\n');
    }
    putchar('\n');
}

static void put_metric(const struct result *r, size_t i)
{
    char name[32];
    printf("%s%-13s%14s%24s%14s%s\n", bold, clean(r->metrics[i].name, 12, name), "last, median",
           "quartiles", "difference", plain);
    for (size_t j = 0; j < r->variants_n; j++) {
        const struct variant *v = &r->variants[j];
        const struct spread *s = &v->last[i];
        char range[72] = "";
        if (s->n > 1)
            snprintf(range, sizeof range, "%.6g .. %.6g", s->low, s->high);
        printf("  %-11s", clean(v->name, 11, name));
        if (s->n == 0)
            printf("%14s", "not found");
        else
            printf("%14.6g%24s", s->median, range);
        if (j != 0 && !isnan(v->difference[i]))
            printf("%+12.3g %%", 100 * v->difference[i]);
        putchar('\n');
    }
    putchar('\n');
}

static void put_sites(const struct result *r)
{
    size_t n;
    const struct site_row **sites = result_sites(r, &n);
    char name[32], a[32];
    if (n != 0) {
        printf("%s%-27s%8s", bold, "site (op m x n x k)", "calls");
        for (size_t v = 0; v < r->variants_n && v < SITE_VARIANTS; v++)
            printf("%*s", r->variants_n <= 2 ? 20 : 9, clean(r->variants[v].name, 8, name));
        printf("%s\n", plain);
    }
    for (size_t i = 0; i < n && i < SITES_SHOWN; i++) {
        const struct site_row *s = sites[i];
        char shape[128], transposes[4];
        int used =
            snprintf(shape, sizeof shape, "%s %ju x %ju x %ju", clean(s->transposes, 2, transposes),
                     (uintmax_t)s->m, (uintmax_t)s->n, (uintmax_t)s->k);
        if (s->batch > 1)
            snprintf(shape + used, sizeof shape - (size_t)used, " *%ju", (uintmax_t)s->batch);
        printf("%-27.27s%8ju", shape, (uintmax_t)s->calls);
        for (size_t v = 0; v < r->variants_n && v < SITE_VARIANTS; v++) {
            const double seconds = site_seconds(&r->variants[v], s);
            if (isnan(seconds))
                printf("%*s", r->variants_n <= 2 ? 20 : 9, "-");
            else if (r->variants_n <= 2)
                printf("%20s", seconds_text(seconds, a));
            else
                printf("%9.3g", 1e3 * seconds);
        }
        putchar('\n');
    }
    if (n > SITES_SHOWN)
        printf("%s  and %zu more (--json and --html show all)%s\n", faint, n - SITES_SHOWN, plain);
    if (n != 0)
        printf("%s\n", r->variants_n > 2 ? "  in ms on the GPU, of all calls of a run\n" : "");
    free(sites);
}

bool table_write(const struct result *r, bool colour)
{
    bold = colour ? "\033[1m" : "";
    faint = colour ? "\033[2m" : "";
    plain = colour ? "\033[0m" : "";
    put_head(r);
    put_times(r, true);
    put_times(r, false);
    for (size_t i = 0; i < r->metrics_n; i++)
        put_metric(r, i);
    put_sites(r);
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        char line[VERDICT_BYTES + 128];
        snprintf(line, sizeof line, "%.64s: %s", v->name, v->verdict);
        wrap(line, 2);
        if (v->failure != NULL) {
            snprintf(line, sizeof line, "%.64s: %.400s", v->name, v->failure);
            wrap(line, 2);
        }
    }
    return fflush(stdout) == 0;
}
