/* SPDX-License-Identifier: BSD-3-Clause
 * Reads what APEXSHIM_REPORT wrote. The processes of one run are added up site by site. */
#include "config.h"
#include "run_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t count_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) > 0
               ? (uint64_t)json_integer_value(value)
               : 0;
}

static double number_of(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

static bool same_site(const struct site_row *a, const struct site_row *b)
{
    return a->offset == b->offset && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->batch == b->batch && strcmp(a->routine, b->routine) == 0 &&
           strcmp(a->caller, b->caller) == 0 && strcmp(a->transposes, b->transposes) == 0;
}

const struct site_row *run_report_find(const struct run_report *r, const struct site_row *site)
{
    for (size_t i = 0; i < r->sites_n; i++)
        if (same_site(&r->sites[i], site))
            return &r->sites[i];
    return NULL;
}

static struct site_row read_site(const json_t *object)
{
    const json_t *lost = json_object_get(object, "lost_share");
    struct site_row s = {.routine = text_of(object, "routine"),
                         .caller = text_of(object, "caller"),
                         .transposes = text_of(object, "transposes"),
                         .path = text_of(object, "path"),
                         .reason = json_string_value(json_object_get(object, "reason")),
                         .offset = count_of(object, "offset"),
                         .m = count_of(object, "m"),
                         .n = count_of(object, "n"),
                         .k = count_of(object, "k"),
                         .batch = count_of(object, "batch"),
                         .calls = count_of(object, "calls"),
                         .converted = count_of(object, "converted"),
                         .timed = count_of(object, "timed"),
                         .recast = count_of(object, "recast_operands"),
                         .worst_error = number_of(object, "worst_error", NAN)};
    /* Calls whose events had not completed in time are taken to be like the others. */
    if (s.timed != 0)
        s.seconds = number_of(object, "gpu_seconds", 0) / (double)s.timed * (double)s.calls;
    for (size_t i = 0; i < json_array_size(lost); i++)
        s.lost = fmax(s.lost, json_number_value(json_array_get(lost, i)));
    return s;
}

static bool add_site(struct run_report *r, const struct site_row *s)
{
    struct site_row *old = (struct site_row *)run_report_find(r, s);
    r->seconds += s->seconds;
    if (old != NULL) {
        old->calls += s->calls;
        old->converted += s->converted;
        old->timed += s->timed;
        old->recast += s->recast;
        old->seconds += s->seconds;
        old->lost = fmax(old->lost, s->lost);
        old->worst_error = fmax(old->worst_error, s->worst_error);
        return true;
    }
    struct site_row *grown = realloc(r->sites, (r->sites_n + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    r->sites = grown;
    r->sites[r->sites_n++] = *s;
    return true;
}

static void add_counts(struct run_report *r, json_t *root)
{
    json_t *gemms = json_object_get(root, "gemms"), *value;
    const char *key;
    r->seen += count_of(gemms, "seen");
    r->replayed += count_of(gemms, "replayed");
    json_object_foreach(json_object_get(gemms, "converted"), key, value) r->converted +=
        (uint64_t)json_integer_value(value);
    json_object_foreach(json_object_get(gemms, "forwarded"), key, value)
    {
        const uint64_t calls = (uint64_t)json_integer_value(value);
        r->forwarded += calls;
        if (calls > r->reason_calls) {
            r->reason = key;
            r->reason_calls = calls;
        }
    }
    json_t *gpus = json_object_get(root, "gpus");
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(gpus, i), "name"));
        if (name == NULL)
            continue;
        r->gpu = name;
        r->modelled = r->modelled || strstr(name, "software GPU") != NULL;
    }
}

bool run_report_add(struct run_report *r, const char *path, char *error, size_t error_bytes)
{
    json_error_t at;
    json_t *root = json_load_file(path, 0, &at);
    if (root == NULL) {
        if (at.line > 0)
            snprintf(error, error_bytes, "%s, line %d: %s", path, at.line, at.text);
        else
            snprintf(error, error_bytes, "%s", at.text);
        return false;
    }
    if (strcmp(text_of(root, "schema"), "apexshim-report-1") != 0 ||
        !json_is_object(json_object_get(root, "gemms")) ||
        !json_is_array(json_object_get(root, "sites"))) {
        snprintf(error, error_bytes, "%s: not a report of APEXSHIM_REPORT", path);
        json_decref(root);
        return false;
    }
    const bool first = r->files == NULL;
    if (first)
        r->files = json_array();
    if (r->files == NULL || json_array_append_new(r->files, root) != 0) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    add_counts(r, root);
    r->complete = (first || r->complete) && json_is_true(json_object_get(root, "complete"));
    const double wall = number_of(root, "written", NAN) - number_of(root, "started", NAN);
    r->wall = first ? wall : fmax(r->wall, wall);
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(root, "sites"), i, value)
    {
        const struct site_row s = read_site(value);
        if (!add_site(r, &s)) {
            snprintf(error, error_bytes, "out of memory");
            return false;
        }
    }
    return true;
}

void run_report_free(struct run_report *r)
{
    json_decref(r->files);
    free(r->sites);
    *r = (struct run_report){.files = NULL};
}
