/* SPDX-License-Identifier: BSD-3-Clause
 * Reads what APEXSHIM_REPORT wrote (doc/report.schema.json). The processes of one run are added up.
 * A struct run_report owns the JSON that its texts point into. */
#ifndef APEXSHIM_TOOLS_RUN_REPORT_H
#define APEXSHIM_TOOLS_RUN_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct site_row {
    const char *routine, *caller, *transposes, *path, *reason; /* reason: NULL if converted */
    uint64_t offset, m, n, k, batch, calls, converted, timed, recast;
    double seconds;     /* on the GPU: the mean of the timed calls, times all calls */
    double worst_error; /* NAN: none was verified */
    double lost;        /* the larger share of an operand's elements that underflowed */
};

struct run_report {
    json_t *files; /* an array */
    uint64_t seen, converted, forwarded, replayed;
    double seconds;     /* of all sites */
    double wall;        /* from the first start to the last writing, in whole seconds */
    const char *gpu;    /* NULL: not said */
    const char *reason; /* the most frequent one for forwarding, or NULL */
    uint64_t reason_calls;
    bool modelled; /* by a software GPU: its times are no measurement */
    bool complete;
    struct site_row *sites;
    size_t sites_n;
};

/* Adds a file. False: error says why, in one line. */
bool run_report_add(struct run_report *r, const char *path, char *error, size_t error_bytes);
void run_report_free(struct run_report *r);

/* The same place, routine and sizes in another run; NULL: none. */
const struct site_row *run_report_find(const struct run_report *r, const struct site_row *site);

#endif
