/* SPDX-License-Identifier: BSD-3-Clause
 * What a comparison has measured: variants, their runs, and what follows from them. Filled by
 * bench.c or show_report.c, read by the table, the JSON file and the page. */
#ifndef APEXSHIM_TOOLS_RESULT_H
#define APEXSHIM_TOOLS_RESULT_H

#include "run_report.h"
#include "statistics.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum { VERDICT_BYTES = 512, VARIANTS_MOST = 12, METRICS_MOST = 16 };

/* The values of a metric in the order printed. */
struct curve {
    double *steps, *values;
    size_t n;
};

struct metric {
    const char *name;
    regex_t pattern;
};

struct run {
    double wall;  /* seconds; NAN: not known */
    bool stopped; /* by --until */
    struct run_report report;
    struct curve curves[METRICS_MOST];
};

struct variant {
    const char *name;
    struct run *runs; /* without warm-ups, in order */
    size_t runs_n;
    const char *failure; /* NULL, or why it has no further runs */
    /* Of all runs, by result_summarise: */
    struct spread wall, gpu, last[METRICS_MOST];
    struct signs wall_signs, gpu_signs;
    double wall_gain, gpu_gain, difference[METRICS_MOST]; /* against the first; NAN: not known */
    char verdict[VERDICT_BYTES];
};

struct result {
    char **command; /* NULL-terminated; NULL: stored reports are shown */
    struct variant variants[VARIANTS_MOST];
    size_t variants_n;
    struct metric metrics[METRICS_MOST];
    size_t metrics_n;
    bool interrupted, warm_up;
    /* By result_summarise: */
    const char *gpu;
    bool modelled; /* times of the GPU are, and wall times are those of a simulation */
    bool per_gemm; /* runs were stopped: times are those of one GEMM */
};

void result_summarise(struct result *r);

/* Median seconds of a site in a variant's runs; NAN: it has none. */
double site_seconds(const struct variant *v, const struct site_row *site);
/* All sites of the first run of each variant, each once, those with most GPU time first. The array
 * is the caller's; *n_p: its length. */
const struct site_row **result_sites(const struct result *r, size_t *n_p);

/* "12.3 ms" */
const char *seconds_text(double seconds, char text[32]);
/* "2.10x" */
const char *gain_text(double gain, char text[32]);

bool table_write(const struct result *r, bool colour);
bool result_json_write(const struct result *r, const char *path);
bool html_write(const struct result *r, const char *path);

#endif
