/* SPDX-License-Identifier: BSD-3-Clause
 * Writes a comparison as JSON. What was not measured is null. */
#include "config.h"
#include "result.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Bytes that are not UTF-8 can't be in JSON: those outside of ASCII are then shown as '?'. */
static json_t *text(const char *value)
{
    json_t *string = json_string(value);
    if (string != NULL)
        return string;
    char copy[1024];
    size_t n = 0;
    for (; value[n] != '\0' && n + 1 < sizeof copy; n++)
        copy[n] = (unsigned char)value[n] < 0x80 ? value[n] : '?';
    copy[n] = '\0';
    return json_string(copy);
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *spread(const struct spread *s)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "runs", (int)s->n, "median",
                     number(s->median), "low", number(s->low), "high", number(s->high), "least",
                     number(s->least), "most", number(s->most));
}

static json_t *signs(const struct signs *s)
{
    return json_pack("{s:i, s:i, s:i, s:f}", "faster", (int)s->less, "slower", (int)s->more,
                     "equal", (int)s->equal, "p", s->p);
}

static json_t *numbers(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, number(values[i]));
    return array;
}

static json_t *run(const struct result *r, const struct run *run)
{
    json_t *curves = json_object();
    for (size_t i = 0; i < r->metrics_n; i++) {
        const struct curve *c = &run->curves[i];
        json_object_set_new(curves, r->metrics[i].name,
                            json_pack("{s:o, s:o}", "steps", numbers(c->steps, c->n), "values",
                                      numbers(c->values, c->n)));
    }
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "wall_seconds", number(run->wall),
                     "gpu_seconds", number(run->report.seconds > 0 ? run->report.seconds : NAN),
                     "stopped", run->stopped, "seen", count(run->report.seen), "converted",
                     count(run->report.converted), "forwarded", count(run->report.forwarded),
                     "replayed", count(run->report.replayed), "metrics", curves);
}

static json_t *variant(const struct result *r, const struct variant *v)
{
    json_t *runs = json_array(), *metrics = json_object();
    for (size_t i = 0; i < v->runs_n; i++)
        json_array_append_new(runs, run(r, &v->runs[i]));
    for (size_t i = 0; i < r->metrics_n; i++)
        json_object_set_new(metrics, r->metrics[i].name,
                            json_pack("{s:o, s:o}", "last", spread(&v->last[i]), "difference",
                                      number(v->difference[i])));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                     text(v->name), "wall", spread(&v->wall), "gpu", spread(&v->gpu), "wall_gain",
                     number(v->wall_gain), "gpu_gain", number(v->gpu_gain), "wall_signs",
                     signs(&v->wall_signs), "gpu_signs", signs(&v->gpu_signs), "metrics", metrics,
                     "verdict", text(v->verdict), "failure",
                     v->failure != NULL ? text(v->failure) : json_null(), "runs", runs);
}

static json_t *site(const struct result *r, const struct site_row *s)
{
    json_t *by = json_object();
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        const struct site_row *own = v->runs_n != 0 ? run_report_find(&v->runs[0].report, s) : NULL;
        if (own == NULL)
            continue;
        json_object_set_new(
            by, v->name,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", text(own->path), "reason",
                      own->reason != NULL ? text(own->reason) : json_null(), "calls",
                      count(own->calls), "converted", count(own->converted), "gpu_seconds",
                      number(site_seconds(v, s)), "worst_error", number(own->worst_error),
                      "lost_share", number(own->lost), "recast_operands", count(own->recast)));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "routine", text(s->routine),
                     "caller", text(s->caller), "offset", count(s->offset), "transposes",
                     text(s->transposes), "m", count(s->m), "n", count(s->n), "k", count(s->k),
                     "batch", count(s->batch), "variants", by);
}

bool result_json_write(const struct result *r, const char *path)
{
    json_t *command = json_array(), *variants = json_array(), *sites = json_array();
    size_t n;
    const struct site_row **rows = result_sites(r, &n);
    for (size_t i = 0; r->command != NULL && r->command[i] != NULL; i++)
        json_array_append_new(command, text(r->command[i]));
    for (size_t i = 0; i < r->variants_n; i++)
        json_array_append_new(variants, variant(r, &r->variants[i]));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(sites, site(r, rows[i]));
    free(rows);
    json_t *root =
        json_pack("{s:s, s:s, s:o, s:o, s:b, s:s, s:b, s:b, s:o, s:o}", "schema",
                  "apexshim-bench-1", "version", PACKAGE_VERSION, "command", command, "gpu",
                  r->gpu != NULL ? text(r->gpu) : json_null(), "gpu_times_modelled", r->modelled,
                  "times_of", r->per_gemm ? "gemm" : "run", "interrupted", r->interrupted,
                  "warm_up_dropped", r->warm_up, "variants", variants, "sites", sites);
    const bool ok = root != NULL && json_dump_file(root, path, JSON_INDENT(1)) == 0;
    if (!ok)
        fprintf(stderr, "apexshim: %s can't be written\n", path);
    json_decref(root);
    return ok;
}
