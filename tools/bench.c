/* SPDX-License-Identifier: BSD-3-Clause
 * apexshim bench: runs a program in variants by turns, drops each one's first run and compares.
 * Owns the temporary folder of what the program prints and of the reports. */
#include "config.h"
#include "bench.h"
#include "metric.h"
#include "program.h"
#include "result.h"

#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, PATH_BYTES = 512, RUNS_MOST = 10000, TAIL_BYTES = 1500 };

static const struct {
    const char *name, *setting;
} known[] = {
    {"plain", "APEXSHIM=0"},
    {"off", "APEXSHIM_PRECISION=fp32"},
    {"tf32", "APEXSHIM_PRECISION=tf32"},
    {"fp16", "APEXSHIM_PRECISION=fp16"},
    {"bf16", "APEXSHIM_PRECISION=bf16"},
    {"fp16x2", "APEXSHIM_PRECISION=fp16x2"},
    {"bf16x3", "APEXSHIM_PRECISION=bf16x3"},
    {"bf16x6", "APEXSHIM_PRECISION=bf16x6"},
    {"O0", "APEXSHIM_OPT_LEVEL=O0"},
    {"O1", "APEXSHIM_OPT_LEVEL=O1"},
    {"O2", "APEXSHIM_OPT_LEVEL=O2"},
    {"O3", "APEXSHIM_OPT_LEVEL=O3"},
};

static struct {
    struct result result;
    const char *settings[VARIANTS_MOST];
    const char *object, *json, *html;
    long runs;
    double until;
    char folder[64];
    bool keep_folder, failed, progress;
} bench = {.runs = 5};

static const char usage_text[] =
    "Usage: apexshim bench [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "Runs PROGRAM several times in several variants by turns and compares them.\n"
    "  -n N              runs of each variant (5); with more than 1 the first is dropped\n"
    "  --variants LIST   off,tf32,fp16,fp16x2,O2 or others, the first being what the others are\n"
    "                    compared with: plain (APEXSHIM=0), off (FP32, but with GPU times), tf32,\n"
    "                    fp16, bf16, fp16x2, bf16x3, bf16x6, O0, O1, O2, O3\n"
    "  --metric NAME=REGEX\n"
    "                    a number that PROGRAM prints: the group of an extended regular "
    "expression;\n"
    "                    with two groups the first is the step. May be given several times\n"
    "  --until SECONDS   stop each run then; times are compared per GEMM\n"
    "  --json FILE       write the figures there, too\n"
    "  --html FILE       write a page there, too\n"
    "PROGRAM's standard input is empty, or the file that is apexshim's.\n";

static int usage_error(const char *what, const char *detail)
{
    fprintf(stderr, "apexshim bench: %s: %s\n", what, detail);
    return EXIT_USAGE;
}

static int take_variants(char *list)
{
    struct result *r = &bench.result;
    r->variants_n = 0;
    for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
        size_t i = 0;
        while (i < sizeof known / sizeof known[0] && strcmp(known[i].name, name) != 0)
            i++;
        if (i == sizeof known / sizeof known[0])
            return usage_error("no such variant (apexshim bench --help lists them)", name);
        for (size_t j = 0; j < r->variants_n; j++)
            if (strcmp(r->variants[j].name, name) == 0)
                return usage_error("given twice", name);
        bench.settings[r->variants_n] = known[i].setting;
        r->variants[r->variants_n++].name = known[i].name;
    }
    return r->variants_n != 0 ? 0 : usage_error("no variants", "--variants");
}

static int take_metric(char *text)
{
    struct result *r = &bench.result;
    if (r->metrics_n == METRICS_MOST)
        return usage_error("too many metrics", text);
    const char *wrong = metric_parse(&r->metrics[r->metrics_n], text);
    if (wrong != NULL)
        return usage_error("--metric", wrong);
    r->metrics_n++;
    return 0;
}

static int take_number(const char *option, const char *text, double most, double *number_p)
{
    char *end;
    *number_p = strtod(text, &end);
    if (end == text || *end != '\0' || !(*number_p > 0 && *number_p <= most))
        return usage_error(option, "wants a number");
    return 0;
}

/* 0, the exit status of a wrong usage, or -1: help was asked for. */
static int take_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"runs", required_argument, NULL, 'n'},   {"variants", required_argument, NULL, 'v'},
        {"metric", required_argument, NULL, 'm'}, {"until", required_argument, NULL, 'u'},
        {"json", required_argument, NULL, 'j'},   {"html", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    static char defaults[] = "off,tf32,fp16,fp16x2,O2";
    int letter, wrong = take_variants(defaults);
    double runs = bench.runs;
    while (wrong == 0 && (letter = getopt_long(argc, argv, "+n:h", options, NULL)) != -1) {
        switch (letter) {
        case 'n':
            wrong = take_number("-n", optarg, RUNS_MOST, &runs);
            if (wrong == 0 && runs != floor(runs))
                wrong = usage_error("-n", "wants a whole number");
            break;
        case 'v':
            wrong = take_variants(optarg);
            break;
        case 'm':
            wrong = take_metric(optarg);
            break;
        case 'u':
            wrong = take_number("--until", optarg, 1e6, &bench.until);
            break;
        case 'j':
            bench.json = optarg;
            break;
        case 'w':
            bench.html = optarg;
            break;
        case 'h':
            return -1;
        default:
            wrong = EXIT_USAGE;
        }
    }
    bench.runs = (long)runs;
    if (wrong == 0 && optind >= argc)
        wrong = usage_error("a program is missing", "apexshim bench --help shows how");
    bench.result.command = argv + optind;
    return wrong;
}

/* The end of what a program wrote to standard error, so that one sees why it failed. */
static void show_tail(const char *path)
{
    FILE *file = fopen(path, "r");
    char text[TAIL_BYTES + 1];
    if (file == NULL)
        return;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fseek(file, size > TAIL_BYTES ? size - TAIL_BYTES : 0, SEEK_SET);
    const size_t n = fread(text, 1, TAIL_BYTES, file);
    text[n] = '\0';
    fclose(file);
    char *line = text;
    for (char *end; *line != '\0'; line = end) {
        end = line + strcspn(line, "\n");
        fprintf(stderr, "    %.*s\n", (int)(end - line), line);
        end += *end == '\n';
    }
}

static void variant_failed(struct variant *v, const char *why, const char *err)
{
    v->failure = strdup(why);
    bench.failed = true;
    bench.keep_folder = true;
    fprintf(stderr, "%sapexshim bench: %s: %s\n", bench.progress ? "\r\033[K" : "", v->name, why);
    show_tail(err);
}

/* Reads the reports that the processes of a run have written; false: one can't be read. */
static bool gather(const char *pattern, struct run *run, char *error, size_t error_bytes)
{
    glob_t found;
    bool ok = true;
    if (glob(pattern, 0, NULL, &found) != 0)
        return true;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        ok = ok && run_report_add(&run->report, found.gl_pathv[i], error, error_bytes);
        unlink(found.gl_pathv[i]);
    }
    globfree(&found);
    return ok;
}

/* False: why has the reason. */
static bool judge(const struct outcome *o, const struct run *run, bool plain, char why[256])
{
    const char *program = bench.result.command[0];
    if (o->error != 0)
        snprintf(why, 256, "%.150s: %s", program, strerror(o->error));
    else if (!o->stopped && WIFSIGNALED(o->status))
        snprintf(why, 256, "the program was killed by signal %d (%s)", WTERMSIG(o->status),
                 strsignal(WTERMSIG(o->status)));
    else if (!o->stopped && WEXITSTATUS(o->status) != 0)
        snprintf(why, 256, "the program ended with status %d", WEXITSTATUS(o->status));
    else if (!plain && run->report.seen == 0)
        snprintf(why, 256,
                 "the program never called a GEMM of a shared cuBLAS%s: nothing to compare",
                 run->report.files == NULL ? " (it made no cuBLAS handle)" : "");
    else
        return true;
    return false;
}

/* One run. False: no more runs of this variant. */
static bool measure(size_t index, long number, bool keep)
{
    struct variant *v = &bench.result.variants[index];
    const bool plain = strcmp(v->name, "plain") == 0;
    char out[PATH_BYTES], err[PATH_BYTES], report[PATH_BYTES], pattern[PATH_BYTES];
    char preload[2 * PATH_BYTES + 4096], why[256];
    snprintf(out, sizeof out, "%s/%s-%ld.out", bench.folder, v->name, number);
    snprintf(err, sizeof err, "%s/%s-%ld.err", bench.folder, v->name, number);
    snprintf(report, sizeof report, "APEXSHIM_REPORT=%s/%s-%ld-%%p.json", bench.folder, v->name,
             number);
    snprintf(pattern, sizeof pattern, "%s/%s-%ld-*.json", bench.folder, v->name, number);
    const char *old = getenv("LD_PRELOAD");
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s%s%s", bench.object,
             old != NULL && old[0] != '\0' ? ":" : "", old != NULL ? old : "");
    const char *settings[] = {"APEXSHIM",
                              "APEXSHIM_PRECISION",
                              "APEXSHIM_OPT_LEVEL",
                              "APEXSHIM_PRESET",
                              bench.settings[index],
                              preload,
                              report,
                              NULL};
    struct run run = {.wall = NAN};
    const struct outcome o = program_run(bench.result.command, settings, out, err, bench.until);
    bool ok = gather(pattern, &run, why, sizeof why);
    if (o.interrupted) {
        bench.result.interrupted = true;
        run_report_free(&run.report);
        return false;
    }
    run.wall = o.wall;
    run.stopped = o.stopped;
    ok = ok && judge(&o, &run, plain, why);
    if (!ok) {
        variant_failed(v, why, err);
        run_report_free(&run.report);
        return false;
    }
    if (keep) {
        struct run *grown = realloc(v->runs, (v->runs_n + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        v->runs = grown;
        if (!metric_scan(bench.result.metrics, bench.result.metrics_n, out, &run) ||
            !metric_scan(bench.result.metrics, bench.result.metrics_n, err, &run))
            return false;
        v->runs[v->runs_n++] = run;
    } else {
        run_report_free(&run.report);
    }
    unlink(out);
    unlink(err);
    return true;
}

static void show_progress(long done, long all, const char *name, double seconds)
{
    if (!bench.progress)
        return;
    enum { BAR = 24 };
    const int filled = (int)(BAR * done / all);
    fprintf(stderr, "\r[%.*s%*s] %ld of %ld, %s", filled, "########################", BAR - filled,
            "", done + 1, all, name);
    if (done != 0)
        fprintf(stderr, ", about %.0f s left", seconds / (double)done * (double)(all - done));
    fputs("\033[K", stderr);
}

static void measure_all(void)
{
    struct result *r = &bench.result;
    const long n = (long)r->variants_n, all = n * bench.runs;
    double seconds = 0;
    for (long i = 0; i < all && !r->interrupted; i++) {
        /* Each round begins with another variant, so that none is always behind the same one. */
        const long round = i / n, index = (i + round) % n;
        struct variant *v = &r->variants[index];
        r->interrupted = program_interrupted();
        if (v->failure != NULL || r->interrupted)
            continue;
        show_progress(i, all, v->name, seconds);
        const size_t before = v->runs_n;
        const bool kept = bench.runs == 1 || round > 0;
        if (measure((size_t)index, round, kept) && v->runs_n > before)
            seconds += v->runs[before].wall;
        /* Without its counterpart a variant tells nothing. */
        if (r->variants[0].failure != NULL)
            break;
    }
    if (bench.progress)
        fputs("\r\033[K", stderr);
}

static void end_folder(void)
{
    glob_t found;
    char pattern[PATH_BYTES];
    if (bench.keep_folder) {
        fprintf(stderr, "apexshim bench: what failed runs printed is in %s\n", bench.folder);
        return;
    }
    snprintf(pattern, sizeof pattern, "%s/*", bench.folder);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
    rmdir(bench.folder);
}

/* A metric that no run of any variant has printed is a wrong pattern. */
static void check_metrics(void)
{
    const struct result *r = &bench.result;
    for (size_t i = 0; i < r->metrics_n; i++) {
        size_t found = 0;
        for (size_t v = 0; v < r->variants_n; v++)
            found += r->variants[v].last[i].n;
        if (found != 0)
            continue;
        fprintf(stderr, "apexshim bench: no line of the program has the metric %s\n",
                r->metrics[i].name);
        bench.failed = true;
    }
}

int bench_main(int argc, char **argv, const char *object)
{
    struct result *r = &bench.result;
    const int wrong = take_options(argc, argv);
    if (wrong != 0) {
        if (wrong < 0)
            fputs(usage_text, stdout);
        return wrong < 0 ? 0 : wrong;
    }
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] != '/' || strlen(parent) > sizeof bench.folder - 24)
        parent = "/tmp";
    snprintf(bench.folder, sizeof bench.folder, "%s/apexshim-bench.XXXXXX", parent);
    if (mkdtemp(bench.folder) == NULL) {
        fprintf(stderr, "apexshim bench: %s: %s\n", bench.folder, strerror(errno));
        return 1;
    }
    bench.object = object;
    bench.progress = isatty(2);
    r->warm_up = bench.runs > 1;
    program_signals();
    measure_all();
    result_summarise(r);
    end_folder();
    size_t runs = 0;
    for (size_t i = 0; i < r->variants_n; i++)
        runs += r->variants[i].runs_n;
    if (runs == 0) {
        if (r->interrupted)
            fputs("apexshim bench: interrupted before anything was measured\n", stderr);
        return 1;
    }
    check_metrics();
    bool ok = table_write(r, isatty(1) && getenv("NO_COLOR") == NULL);
    ok = (bench.json == NULL || result_json_write(r, bench.json)) && ok;
    ok = (bench.html == NULL || html_write(r, bench.html)) && ok;
    return ok && !bench.failed && !r->interrupted ? 0 : 1;
}
