/* SPDX-License-Identifier: BSD-3-Clause
 * The command: apexshim run starts a program under the preload with variables given as options;
 * apexshim tune does so in a tuning run, or measures the GPU; apexshim bench and apexshim report
 * compare; apexshim env shows the variables.
 * Options and documentation come from env.def alone. */
#include "config.h"
#include "base/env.h"
#include "bench.h"
#include "sweep.h"
#include "tune.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 96, EXIT_USAGE = 2, EXIT_NOT_FOUND = 127, EXIT_CANNOT = 126 };

static void fail(int status, const char *what, const char *detail)
{
    fprintf(stderr, "apexshim: %s%s%s\n", what, detail != NULL ? ": " : "",
            detail != NULL ? detail : "");
    exit(status);
}

/* "--opt-level" for APEXSHIM_OPT_LEVEL, "--shim" for APEXSHIM itself. */
static void option_name(const char *variable, char *option)
{
    const char *rest = variable + strlen("APEXSHIM");
    if (*rest == '\0')
        rest = "_SHIM";
    snprintf(option, NAME_BYTES, "--%s", rest + 1);
    for (char *p = option; *p != '\0'; p++)
        *p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
}

static void usage(FILE *out)
{
    fputs("Usage: apexshim run [OPTION VALUE]... [--] PROGRAM [ARGUMENT]...\n"
          "       apexshim tune [--tolerance T] [OPTION VALUE]... [--] PROGRAM [ARGUMENT]...\n"
          "       apexshim tune [--seconds S]\n"
          "       apexshim bench [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
          "       apexshim report [OPTION]... FILE [FILE2]\n"
          "       apexshim env [--markdown]\n"
          "       apexshim --version | --help\n\n"
          "run starts PROGRAM with libapexshim.so preloaded. tune does so and finds for each site\n"
          "the quickest path whose error stays under T (1e-3), which it writes to the decision\n"
          "file; without a program it measures the GPU for the cost model, up to products of S\n"
          "seconds (1). bench compares runs of PROGRAM in several variants, report shows what was\n"
          "stored by APEXSHIM_REPORT; both have a --help. Options of run and tune set variables:\n",
          out);
    for (size_t i = 0; i < env_variables_n; i++) {
        char option[NAME_BYTES];
        option_name(env_variables[i].name, option);
        fprintf(out, "  %-14s %s\n", option,
                env_variables[i].choices != NULL ? env_variables[i].choices : "TEXT");
    }
}

/* The variable of an option. *value_p: what stands behind '=', or NULL. */
static const struct env_variable *find_option(const char *argument, const char **value_p)
{
    size_t len = strcspn(argument, "=");
    *value_p = argument[len] == '=' ? argument + len + 1 : NULL;
    for (size_t i = 0; i < env_variables_n; i++) {
        char option[NAME_BYTES];
        option_name(env_variables[i].name, option);
        if (strlen(option) == len && strncmp(option, argument, len) == 0)
            return &env_variables[i];
    }
    return NULL;
}

static const char *checked_name, *checked_value;

static const char *only_checked(const char *name)
{
    return strcmp(name, checked_name) == 0 ? checked_value : NULL;
}

static void bad_value(const char *line)
{
    /* The library would go on with the default; the command does not. */
    const char *end = strchr(line, '?');
    end = end != NULL ? end + 1 : strstr(line, " Using ");
    fprintf(stderr, "apexshim: %.*s\n", (int)(end != NULL ? end - line : (long)strlen(line)), line);
    exit(EXIT_USAGE);
}

/* The object: beside the command in an installation, or in the build tree. */
static bool find_object(char *path)
{
    static const char *const places[] = {"../lib/libapexshim.so", "../src/.libs/libapexshim.so",
                                         "../../src/.libs/libapexshim.so", LIBDIR "/libapexshim.so"};
    char self[PATH_MAX], candidate[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i][0] == '/')
            snprintf(candidate, sizeof candidate, "%s", places[i]);
        else
            snprintf(candidate, sizeof candidate, "%s/%s", self, places[i]);
        if (realpath(candidate, path) != NULL)
            return true;
    }
    return false;
}

static void set_preload(void)
{
    char object[PATH_MAX];
    if (!find_object(object))
        fail(EXIT_CANNOT, "libapexshim.so is not where it was installed", LIBDIR);
    const char *old = getenv("LD_PRELOAD");
    size_t bytes = strlen(object) + (old != NULL ? strlen(old) : 0) + 2;
    char *value = malloc(bytes);
    if (value == NULL)
        fail(EXIT_CANNOT, "out of memory", NULL);
    snprintf(value, bytes, "%s%s%s", object, old != NULL && *old != '\0' ? ":" : "",
             old != NULL ? old : "");
    setenv("LD_PRELOAD", value, 1);
    free(value);
}

static int run(int argc, char **argv)
{
    int i = 0;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const char *value;
        if (argv[i][2] == '\0') {
            i++;
            break;
        }
        const struct env_variable *v = find_option(argv[i], &value);
        if (v == NULL)
            fail(EXIT_USAGE, "unknown option (apexshim --help lists them)", argv[i]);
        if (value == NULL) {
            if (i + 1 == argc)
                fail(EXIT_USAGE, "a value is missing behind", argv[i]);
            value = argv[++i];
        }
        struct env env;
        checked_name = v->name;
        checked_value = value;
        env_parse(&env, only_checked, bad_value);
        setenv(v->name, value, 1);
    }
    if (i >= argc)
        fail(EXIT_USAGE, "run needs a program", NULL);
    set_preload();
    execvp(argv[i], argv + i);
    int error = errno;
    fprintf(stderr, "apexshim: %s: %s\n", argv[i], strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT;
}

/* The number behind an option at argv[0], which is left out from here on. */
static double take_number(int *argc_p, char ***argv_p, double low, double high)
{
    char *end = NULL;
    const double number = *argc_p > 1 ? strtod((*argv_p)[1], &end) : 0;
    if (end == NULL || *end != '\0' || !(number > low && number < high))
        fail(EXIT_USAGE, "a number is missing behind", (*argv_p)[0]);
    *argc_p -= 2;
    *argv_p += 2;
    return number;
}

static int tune(int argc, char **argv)
{
    char precision[64] = "auto:1e-3", object[PATH_MAX];
    double seconds = 1;
    if (argc == 2 && strcmp(argv[0], "--sweep") == 0) /* by itself, see tools/tune.c */
        return sweep(1e-3 * take_number(&argc, &argv, 0, 1e9));
    if (argc > 0 && strcmp(argv[0], "--seconds") == 0)
        seconds = take_number(&argc, &argv, 0, 1e6);
    if (argc == 0) {
        if (!find_object(object))
            fail(EXIT_CANNOT, "libapexshim.so is not where it was installed", LIBDIR);
        return tune_gpu(object, seconds);
    }
    if (strcmp(argv[0], "--tolerance") == 0)
        snprintf(precision, sizeof precision, "auto:%g", take_number(&argc, &argv, 0, 1));
    setenv("APEXSHIM_PRECISION", precision, 1);
    return run(argc, argv);
}

#ifdef HAVE_JANSSON
static int bench(int argc, char **argv)
{
    char object[PATH_MAX];
    if (!find_object(object))
        fail(EXIT_CANNOT, "libapexshim.so is not where it was installed", LIBDIR);
    return bench_main(argc, argv, object);
}
#endif

static const char *environment(const char *name)
{
    return getenv(name);
}

static void print_variable(const struct env_variable *v, bool markdown)
{
    const char *value = getenv(v->name), *fallback = env_default(v, environment);
    if (markdown) {
        printf("| `%s` | %s | `%s` | %s |\n", v->name, v->choices != NULL ? v->choices : "text",
               v->fallback, v->doc);
        return;
    }
    const char *source = strcmp(fallback, v->fallback) == 0 ? "  (default)" : "  (preset or level)";
    printf("%s=%s%s\n", v->name, value != NULL ? value : fallback, value != NULL ? "" : source);
    printf("    %s%s\n    %s\n", v->choices != NULL ? "one of " : "any text",
           v->choices != NULL ? v->choices : "", v->doc);
}

static int show_env(int argc, char **argv)
{
    bool markdown = argc == 1 && strcmp(argv[0], "--markdown") == 0;
    if (argc > 0 && !markdown)
        fail(EXIT_USAGE, "env takes only --markdown", argv[0]);
    for (size_t i = 0; i < env_variables_n; i++)
        print_variable(&env_variables[i], markdown);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "run") == 0)
        return run(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "tune") == 0)
        return tune(argc - 2, argv + 2);
#ifdef HAVE_JANSSON
    if (argc >= 2 && strcmp(argv[1], "bench") == 0)
        return bench(argc - 1, argv + 1);
    if (argc >= 2 && strcmp(argv[1], "report") == 0)
        return report_main(argc - 1, argv + 1);
#else
    if (argc >= 2 && (strcmp(argv[1], "bench") == 0 || strcmp(argv[1], "report") == 0))
        fail(EXIT_CANNOT, "built without Jansson, so without this command", argv[1]);
#endif
    if (argc >= 2 && strcmp(argv[1], "env") == 0)
        return show_env(argc - 2, argv + 2);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("%s\n", PACKAGE_STRING);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return 0;
    }
    usage(stderr);
    return EXIT_USAGE;
}
