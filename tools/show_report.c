/* SPDX-License-Identifier: BSD-3-Clause
 * apexshim report: shows one stored report, or two beside each other, as bench shows its runs. */
#include "config.h"
#include "bench.h"
#include "result.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

static struct result result;

static const char usage_text[] =
    "Usage: apexshim report [OPTION]... FILE [FILE2]\n"
    "Shows what a program did that ran with APEXSHIM_REPORT=FILE; with FILE2, compares.\n"
    "  --json FILE       write the figures there, too\n"
    "  --html FILE       write a page there, too\n";

static bool load(const char *path)
{
    struct variant *v = &result.variants[result.variants_n];
    const char *slash = strrchr(path, '/');
    char error[512];
    v->name = slash != NULL ? slash + 1 : path;
    v->runs = calloc(1, sizeof *v->runs);
    if (v->runs == NULL || !run_report_add(&v->runs[0].report, path, error, sizeof error)) {
        fprintf(stderr, "apexshim: %s\n", v->runs == NULL ? "out of memory" : error);
        return false;
    }
    v->runs[0].wall = NAN; /* whole seconds are too coarse to compare */
    v->runs_n = 1;
    if (!v->runs[0].report.complete)
        v->failure = "the report was not completed: the program died, or still runs";
    result.variants_n++;
    return true;
}

int report_main(int argc, char **argv)
{
    static const struct option options[] = {{"json", required_argument, NULL, 'j'},
                                            {"html", required_argument, NULL, 'w'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *json = NULL, *html = NULL;
    int letter;
    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (letter) {
        case 'j':
            json = optarg;
            break;
        case 'w':
            html = optarg;
            break;
        case 'h':
            fputs(usage_text, stdout);
            return 0;
        default:
            return EXIT_USAGE;
        }
    }
    if (argc - optind < 1 || argc - optind > 2) {
        fputs(usage_text, stderr);
        return EXIT_USAGE;
    }
    for (int i = optind; i < argc; i++)
        if (!load(argv[i]))
            return 1;
    result_summarise(&result);
    bool ok = table_write(&result, isatty(1) && getenv("NO_COLOR") == NULL);
    ok = (json == NULL || result_json_write(&result, json)) && ok;
    ok = (html == NULL || html_write(&result, html)) && ok;
    return ok ? 0 : 1;
}
