/* SPDX-License-Identifier: BSD-3-Clause
 * Writes a comparison as one page that needs nothing else: bars and curves are inline SVG, the only
 * script sorts the table of sites. Every text of a program passes through put_text. */
#include "config.h"
#include "result.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLOURS = 6, POINTS_MOST = 400 };

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
    "<title>apexshim: comparison</title>\n<style>\n"
    ":root{--back:#fff;--text:#1b1b1f;--faint:#5b5f66;--line:#d5d8dd;--s0:#5b5f66;--s1:#0063b1;"
    "--s2:#a34700;--s3:#00704f;--s4:#9a2b70;--s5:#6b5900}\n"
    "@media (prefers-color-scheme:dark){:root{--back:#15171a;--text:#e8eaed;--faint:#a4abb3;"
    "--line:#3a3f46;--s0:#a4abb3;--s1:#62b5f5;--s2:#f2a15c;--s3:#4fcfa4;--s4:#ec8fc4;"
    "--s5:#e0cf5a}}\n"
    "body{background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif;margin:0 "
    "auto;"
    "max-width:60rem;padding:1rem}\n"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}code{overflow-wrap:anywhere}\n"
    ".note{color:var(--faint)}.scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}\n"
    "th,td{border-bottom:1px solid var(--line);padding:.25rem .6rem;text-align:right;"
    "white-space:nowrap}\nth:first-child,td:first-child{text-align:left}\n"
    "th button{background:none;border:0;color:inherit;cursor:pointer;font:inherit;padding:0;"
    "text-decoration:underline dotted}\n"
    "svg{display:block;height:auto;max-width:100%;width:100%}svg text{fill:var(--text);"
    "font:14px system-ui,sans-serif}svg .axis{stroke:var(--line)}svg .whisker{stroke:var(--text);"
    "stroke-width:2}polyline{fill:none;stroke-width:2}\n"
    ".f0{fill:var(--s0)}.f1{fill:var(--s1)}.f2{fill:var(--s2)}.f3{fill:var(--s3)}.f4{fill:var(--s4)"
    "}"
    ".f5{fill:var(--s5)}\n"
    ".l0{stroke:var(--s0)}.l1{stroke:var(--s1);stroke-dasharray:9 3}.l2{stroke:var(--s2);"
    "stroke-dasharray:3 3}.l3{stroke:var(--s3);stroke-dasharray:9 3 2 3}.l4{stroke:var(--s4);"
    "stroke-dasharray:14 4}.l5{stroke:var(--s5);stroke-dasharray:2 5}\n"
    "</style>\n</head>\n<body>\n<main>\n";

/* Sorting by a click on a column's head; without it the table stays as it is. */
static const char script[] =
    "<script>\ndocument.querySelectorAll('#sites th').forEach(function(th,column){\n"
    " var "
    "b=document.createElement('button'),up=false;b.type='button';b.textContent=th.textContent;\n"
    " th.textContent='';th.appendChild(b);\n"
    " b.addEventListener('click',function(){\n"
    "  var body=th.closest('table').tBodies[0],rows=Array.from(body.rows);up=!up;\n"
    "  function key(r){var d=r.cells[column].dataset.v;return d===undefined?"
    "r.cells[column].textContent:Number(d);}\n"
    "  rows.sort(function(x,y){var a=key(x),b=key(y);\n"
    "   return (a<b?-1:a>b?1:0)*(up?1:-1);});\n"
    "  rows.forEach(function(r){body.appendChild(r);});\n"
    "  "
    "th.closest('tr').querySelectorAll('th').forEach(function(o){o.removeAttribute('aria-sort');});"
    "\n"
    "  th.setAttribute('aria-sort',up?'ascending':'descending');\n });\n});\n</script>\n";

static void put_text(FILE *f, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<')
            fputs("&lt;", f);
        else if (c == '>')
            fputs("&gt;", f);
        else if (c == '&')
            fputs("&amp;", f);
        else if (c == '"')
            fputs("&quot;", f);
        else if (c == '\'')
            fputs("&#39;", f);
        else
            fputc((c < 0x20 && c != '\n') || c == 0x7f ? '?' : c, f);
    }
}

static void put_head(FILE *f, const struct result *r)
{
    fputs(head, f);
    fputs("<h1>apexshim: comparison</h1>\n", f);
    if (r->command != NULL && r->command[0] != NULL) {
        fputs("<p><code>", f);
        for (size_t i = 0; r->command[i] != NULL; i++) {
            fputs(i == 0 ? "" : " ", f);
            put_text(f, r->command[i]);
        }
        fputs("</code></p>\n", f);
    }
    if (r->gpu != NULL) {
        fputs("<p>GPU: ", f);
        put_text(f, r->gpu);
        fputs("</p>\n", f);
    }
    if (r->modelled)
        fputs("<p class=\"note\">GPU times are modelled: they come from a model of that GPU, not "
              "from "
              "a measurement. Wall times are those of the simulation and say nothing about a "
              "GPU.</p>\n",
              f);
    if (r->per_gemm)
        fputs("<p class=\"note\">Runs were stopped before their end: times are those of one "
              "GEMM.</p>\n",
              f);
    if (r->interrupted)
        fputs("<p class=\"note\">Interrupted: what had been measured until then.</p>\n", f);
    fputs("<h2>Verdict</h2>\n<ul>\n", f);
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        fputs("<li><strong>", f);
        put_text(f, v->name);
        fputs("</strong>: ", f);
        put_text(f, r->variants_n > 1 || v->failure == NULL ? v->verdict : v->failure);
        if (r->variants_n > 1 && v->failure != NULL) {
            fputs(". Note: ", f);
            put_text(f, v->failure);
        }
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

/* One bar for each variant, from 0; a line from the lower to the upper quartile. */
static void put_bars(FILE *f, const struct result *r, bool wall)
{
    enum { LEFT = 80, WIDTH = 430, ROW = 30 };
    double most = 0;
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct spread *s = wall ? &r->variants[i].wall : &r->variants[i].gpu;
        most = s->n != 0 ? fmax(most, s->high) : most;
    }
    fprintf(f, "<svg viewBox=\"0 0 640 %zu\" role=\"img\" aria-label=\"%s\">\n",
            ROW * r->variants_n + 4,
            wall ? "Bars of wall times; the table below has the figures"
                 : "Bars of GPU times; the table below has the figures");
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        const struct spread *s = wall ? &v->wall : &v->gpu;
        const double scale = most > 0 ? WIDTH / most : 0, y = (double)(ROW * i);
        char text[32];
        fprintf(f, "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">", LEFT - 8, y + 19);
        put_text(f, v->name);
        fputs("</text>\n", f);
        if (s->n == 0)
            continue;
        fprintf(f, "<rect class=\"f%zu\" x=\"%d\" y=\"%g\" width=\"%.2f\" height=\"20\"/>\n",
                i % COLOURS, LEFT, y + 4, s->median * scale);
        fprintf(f, "<path class=\"whisker\" d=\"M%.2f %gH%.2fM%.2f %gv8M%.2f %gv8\"/>\n",
                LEFT + s->low * scale, y + 14, LEFT + s->high * scale, LEFT + s->low * scale,
                y + 10, LEFT + s->high * scale, y + 10);
        fprintf(f, "<text x=\"%.2f\" y=\"%g\">%s</text>\n", LEFT + 8 + s->high * scale, y + 19,
                seconds_text(s->median, text));
    }
    fputs("</svg>\n", f);
}

static void put_seconds(FILE *f, double seconds)
{
    char text[32];
    if (isnan(seconds))
        fputs("<td data-v=\"-1\">-</td>", f);
    else
        fprintf(f, "<td data-v=\"%.17g\">%s</td>", seconds, seconds_text(seconds, text));
}

static void put_times(FILE *f, const struct result *r, bool wall)
{
    bool any = false;
    for (size_t i = 0; i < r->variants_n; i++)
        any = any || (wall ? r->variants[i].wall.n : r->variants[i].gpu.n) != 0;
    if (!any)
        return;
    fprintf(f, "<h2>%s%s</h2>\n", wall ? "Wall time" : "GEMMs on the GPU",
            r->modelled ? (wall ? " of the simulation" : " (modelled)") : "");
    put_bars(f, r, wall);
    fprintf(f,
            "<div class=\"scroll\" tabindex=\"0\"><table id=\"%s\"><thead><tr><th scope=\"col\">"
            "variant</th><th scope=\"col\">runs</th><th scope=\"col\">median</th><th scope=\"col\">"
            "lower quartile</th><th scope=\"col\">upper quartile</th><th scope=\"col\">gain</th>"
            "<th scope=\"col\">%s</th></tr></thead><tbody>\n",
            wall ? "wall" : "gpu", wall ? "sign test, p" : "converted");
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        const struct spread *s = wall ? &v->wall : &v->gpu;
        char text[32];
        fputs("<tr><td>", f);
        put_text(f, v->name);
        fprintf(f, "</td><td>%zu</td>", s->n);
        put_seconds(f, s->median);
        put_seconds(f, s->low);
        put_seconds(f, s->high);
        fprintf(f, "<td>%s</td>", i == 0 ? "" : gain_text(wall ? v->wall_gain : v->gpu_gain, text));
        const struct run_report *report = v->runs_n != 0 ? &v->runs[0].report : NULL;
        if (wall && i != 0 && s->n != 0)
            fprintf(f, "<td>%.2g</td>", v->wall_signs.p);
        else if (!wall && report != NULL && report->seen != 0)
            fprintf(f, "<td>%.1f %%</td>", 100 * (double)report->converted / (double)report->seen);
        else
            fputs("<td></td>", f);
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
}

struct frame {
    double left, right, low, high;
};

static struct frame frame_of(const struct result *r, size_t metric)
{
    struct frame w = {.left = DBL_MAX, .right = -DBL_MAX, .low = DBL_MAX, .high = -DBL_MAX};
    for (size_t i = 0; i < r->variants_n; i++) {
        if (r->variants[i].runs_n == 0)
            continue;
        const struct curve *c = &r->variants[i].runs[0].curves[metric];
        for (size_t j = 0; j < c->n; j++) {
            if (!isfinite(c->values[j]) || !isfinite(c->steps[j]))
                continue;
            w.left = fmin(w.left, c->steps[j]);
            w.right = fmax(w.right, c->steps[j]);
            w.low = fmin(w.low, c->values[j]);
            w.high = fmax(w.high, c->values[j]);
        }
    }
    if (!(w.high > w.low))
        w.high = w.low + fmax(fabs(w.low), 1);
    return w;
}

/* Values that are no numbers leave a gap. */
static void put_curve(FILE *f, const struct curve *c, const struct frame *w, size_t colour)
{
    const size_t stride = c->n / POINTS_MOST + 1;
    bool open = false;
    for (size_t j = 0; j < c->n; j++) {
        if (j % stride != 0 && j + 1 != c->n)
            continue;
        const bool ok = isfinite(c->values[j]) && isfinite(c->steps[j]);
        if (open && !ok)
            fputs("\"/>\n", f);
        else if (!open && ok)
            fprintf(f, "<polyline class=\"l%zu\" points=\"", colour % COLOURS);
        if (ok)
            fprintf(f, "%.1f,%.1f ", 70 + 560 * (c->steps[j] - w->left) / (w->right - w->left),
                    10 + 230 * (w->high - c->values[j]) / (w->high - w->low));
        open = ok;
    }
    if (open)
        fputs("\"/>\n", f);
}

static void put_curves(FILE *f, const struct result *r, size_t metric)
{
    const struct frame w = frame_of(r, metric);
    if (!(w.right > w.left))
        return;
    fputs("<svg viewBox=\"0 0 640 290\" role=\"img\" aria-label=\"Curves of ", f);
    put_text(f, r->metrics[metric].name);
    fprintf(f,
            " by step, the first run of each variant\">\n<path class=\"axis\" d=\"M70 10V240H630\" "
            "fill=\"none\"/>\n<text x=\"64\" y=\"20\" text-anchor=\"end\">%.4g</text>\n"
            "<text x=\"64\" y=\"240\" text-anchor=\"end\">%.4g</text>\n"
            "<text x=\"70\" y=\"258\">%.6g</text>\n"
            "<text x=\"630\" y=\"258\" text-anchor=\"end\">step %.6g</text>\n",
            w.high, w.low, w.left, w.right);
    for (size_t i = 0; i < r->variants_n; i++) {
        const double x = 70 + 560 * (double)i / (double)r->variants_n;
        if (r->variants[i].runs_n != 0)
            put_curve(f, &r->variants[i].runs[0].curves[metric], &w, i);
        fprintf(f,
                "<polyline class=\"l%zu\" points=\"%.1f,277 %.1f,277\"/>"
                "<text x=\"%.1f\" y=\"282\">",
                i % COLOURS, x, x + 26, x + 30);
        put_text(f, r->variants[i].name);
        fputs("</text>\n", f);
    }
    fputs("</svg>\n", f);
}

static void put_metric(FILE *f, const struct result *r, size_t metric)
{
    fputs("<h2>", f);
    put_text(f, r->metrics[metric].name);
    fputs("</h2>\n", f);
    put_curves(f, r, metric);
    fprintf(f,
            "<div class=\"scroll\" tabindex=\"0\"><table id=\"metric%zu\"><thead><tr>"
            "<th scope=\"col\">variant</th><th scope=\"col\">last, median</th><th scope=\"col\">"
            "lower quartile</th><th scope=\"col\">upper quartile</th><th scope=\"col\">difference"
            "</th></tr></thead><tbody>\n",
            metric);
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        const struct spread *s = &v->last[metric];
        fputs("<tr><td>", f);
        put_text(f, v->name);
        if (s->n == 0)
            fputs("</td><td>not found</td><td></td><td></td>", f);
        else
            fprintf(f, "</td><td>%.9g</td><td>%.9g</td><td>%.9g</td>", s->median, s->low, s->high);
        if (i != 0 && isfinite(v->difference[metric]))
            fprintf(f, "<td>%+.3g %%</td></tr>\n", 100 * v->difference[metric]);
        else
            fputs("<td></td></tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
}

static void put_site(FILE *f, const struct result *r, const struct site_row *s)
{
    fputs("<tr><td>", f);
    put_text(f, s->routine);
    fputs(" in ", f);
    put_text(f, s->caller);
    fprintf(f, "+0x%jx</td><td>", (uintmax_t)s->offset);
    put_text(f, s->transposes);
    fprintf(f, "</td><td data-v=\"%.17g\">%ju x %ju x %ju",
            (double)s->m * (double)s->n * (double)s->k, (uintmax_t)s->m, (uintmax_t)s->n,
            (uintmax_t)s->k);
    if (s->batch > 1)
        fprintf(f, " * %ju", (uintmax_t)s->batch);
    fprintf(f, "</td><td data-v=\"%ju\">%ju</td>", (uintmax_t)s->calls, (uintmax_t)s->calls);
    for (size_t i = 0; i < r->variants_n; i++) {
        const struct variant *v = &r->variants[i];
        const struct site_row *own = v->runs_n != 0 ? run_report_find(&v->runs[0].report, s) : NULL;
        put_seconds(f, site_seconds(v, s));
        fputs("<td>", f);
        put_text(f, own == NULL ? "-" : own->path);
        if (own != NULL && own->reason != NULL) {
            fputs(" (", f);
            put_text(f, own->reason);
            fputs(")", f);
        }
        if (own != NULL && !isnan(own->worst_error))
            fprintf(f, ", error %.2g", own->worst_error);
        if (own != NULL && own->lost > 0)
            fprintf(f, ", lost %.2g %%", 100 * own->lost);
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

static void put_sites(FILE *f, const struct result *r)
{
    size_t n;
    const struct site_row **sites = result_sites(r, &n);
    if (n != 0) {
        fputs(
            "<h2>Call sites</h2>\n<p class=\"note\">GPU time of all calls of a run, median of the "
            "runs.</p>\n<div class=\"scroll\" tabindex=\"0\"><table id=\"sites\"><thead><tr>"
            "<th scope=\"col\">site</th><th scope=\"col\">op</th><th scope=\"col\">m x n x k</th>"
            "<th scope=\"col\">calls</th>",
            f);
        for (size_t i = 0; i < r->variants_n; i++) {
            fputs("<th scope=\"col\">", f);
            put_text(f, r->variants[i].name);
            fputs("</th><th scope=\"col\">path</th>", f);
        }
        fputs("</tr></thead><tbody>\n", f);
        for (size_t i = 0; i < n; i++)
            put_site(f, r, sites[i]);
        fputs("</tbody></table></div>\n", f);
        fputs(script, f);
    }
    free(sites);
}

bool html_write(const struct result *r, const char *path)
{
    FILE *f = fopen(path, "w");
    bool ok = f != NULL;
    if (ok) {
        put_head(f, r);
        put_times(f, r, false);
        put_times(f, r, true);
        for (size_t i = 0; i < r->metrics_n; i++)
            put_metric(f, r, i);
        put_sites(f, r);
        fputs("</main>\n</body>\n</html>\n", f);
        ok = !ferror(f);
        ok = fclose(f) == 0 && ok;
    }
    if (!ok)
        fprintf(stderr, "apexshim: %s: %s\n", path, strerror(errno));
    return ok;
}
