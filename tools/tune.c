/* SPDX-License-Identifier: BSD-3-Clause
 * Starts tools/sweep.c once for each path, fits the parameters of the cost model to the times, and
 * shows how well they fit. A progress bar where standard error is a terminal. Owns nothing. */
#include "config.h"
#include "tune.h"
#include "base/env.h"
#include "device/context.h"
#include "gemm/cost.h"
#include "gemm/model.h"
#include "gemm/policy.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TIMES = 32, SHAPES_OF_A_SWEEP = 14, EXIT_CANNOT = 126 };

struct timing {
    struct cost_shape shape;
    double seconds;
};

/* What one path's sweep has found. */
struct swept {
    struct timing times[MOST_TIMES];
    int n;
    bool forwarded; /* the shim did not convert: the times are not the path's */
};

struct tuning {
    struct gpu gpu;
    double copy; /* bytes a second */
    struct swept paths[PATHS];
};

static const enum path swept_paths[] = {PATH_FORWARD, PATH_TF32,   PATH_FP16,  PATH_BF16,
                                        PATH_FP16X2,  PATH_BF16X3, PATH_BF16X6};
enum { SWEPT = sizeof swept_paths / sizeof swept_paths[0] };

static void show_progress(int path, int shapes)
{
    enum { WIDTH = 40 };
    if (!isatty(STDERR_FILENO))
        return;
    const int shown = shapes < SHAPES_OF_A_SWEEP ? shapes : SHAPES_OF_A_SWEEP;
    const int done = WIDTH * (path * SHAPES_OF_A_SWEEP + shown) / (SWEPT * SHAPES_OF_A_SWEEP);
    fprintf(stderr, "\r[%.*s%*s] %-8s", done, "########################################",
            WIDTH - done, "", path < SWEPT ? path_word(swept_paths[path]) : "");
    if (path == SWEPT)
        fputc('\n', stderr);
}

/* The environment of a sweep: its path wherever possible, whatever the caller's variables say. */
static void become_sweep(enum path path, const char *object, double seconds)
{
    char limit[32], self[PATH_MAX];
    static const char *const names[] = {
        "APEXSHIM_RULES",   "APEXSHIM_PRESET",      "APEXSHIM_OPT_LEVEL",
        "APEXSHIM_SCALE",   "APEXSHIM_VERIFY",      "APEXSHIM_APPS",
        "APEXSHIM_EXCLUDE", "NVIDIA_TF32_OVERRIDE", "LD_PRELOAD"};
    const char *others = getenv("LD_PRELOAD");
    char *preload = NULL;
    if (asprintf(&preload, "%s%s%s", object, others != NULL && *others != '\0' ? ":" : "",
                 others != NULL ? others : "") < 0)
        _exit(EXIT_CANNOT);
    char *kept = others != NULL ? strdup(others) : NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    setenv("APEXSHIM", path == PATH_FORWARD ? "0" : "1", 1);
    setenv("APEXSHIM_PRECISION", path == PATH_FORWARD ? "fp32" : path_word(path), 1);
    setenv("APEXSHIM_POLICY", "always", 1);
    setenv("APEXSHIM_DECISIONS", "off", 1);
    setenv("APEXSHIM_TUNE", "off", 1);
    setenv("APEXSHIM_LOG", "warn", 1);
    if (path != PATH_FORWARD)
        setenv("LD_PRELOAD", preload, 1);
    else if (kept != NULL)
        setenv("LD_PRELOAD", kept, 1);
    snprintf(limit, sizeof limit, "%ld", lround(1e3 * seconds));
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = '\0';
        execl(self, "apexshim", "tune", "--sweep", limit, (char *)NULL);
    }
    _exit(EXIT_CANNOT);
}

/* One line of a sweep's output, or of what the shim says at its exit. */
static void read_line(struct tuning *t, struct swept *s, const char *line)
{
    struct timing *next = &s->times[s->n < MOST_TIMES ? s->n : MOST_TIMES - 1];
    const char *forwarded = strstr(line, " forwarded=");
    double bytes, seconds;
    int capability, multiprocessors, at = 0;
    long m, n, k;
    if (sscanf(line, "gpu %d %d %n", &capability, &multiprocessors, &at) == 2 && at > 0) {
        t->gpu.compute_capability = capability;
        t->gpu.multiprocessors = multiprocessors;
        snprintf(t->gpu.name, sizeof t->gpu.name, "%s", line + at);
    } else if (sscanf(line, "copy %lf %lf", &bytes, &seconds) == 2) {
        t->copy = 2 * bytes / seconds;
    } else if (sscanf(line, "gemm %ld %ld %ld %lf", &m, &n, &k, &seconds) == 4) {
        next->shape = (struct cost_shape){m, n, k, 1};
        next->seconds = seconds;
        s->n += s->n < MOST_TIMES;
    } else if (strncmp(line, "apexshim[", 9) == 0 && forwarded != NULL) {
        s->forwarded = strtoull(forwarded + strlen(" forwarded="), NULL, 10) != 0;
    } else if (strncmp(line, "apexshim:", 9) == 0) {
        fprintf(stderr, "%s\n", line);
    }
}

static bool run_sweep(struct tuning *t, int index, const char *object, double seconds)
{
    int ends[2], status = 0;
    char line[512];
    const enum path path = swept_paths[index];
    if (pipe(ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        become_sweep(path, object, seconds);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    while (child > 0 && in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        read_line(t, &t->paths[path], line);
        show_progress(index, t->paths[path].n);
    }
    if (in != NULL)
        fclose(in);
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The time that says most about a rate: the largest square. */
static const struct timing *largest(const struct swept *s)
{
    const struct timing *best = NULL;
    for (int i = 0; i < s->n; i++) {
        const struct cost_shape *x = &s->times[i].shape;
        if (x->m == x->n && x->n == x->k && (best == NULL || x->m > best->shape.m))
            best = &s->times[i];
    }
    return best;
}

/* How far the model is from the times: the sum of the squares of the logarithms of their ratios. */
static double misfit(const struct tuning *t, const struct cost_model *model)
{
    double sum = 0;
    for (int path = 0; path < PATHS; path++) {
        const struct swept *s = &t->paths[path];
        for (int i = 0; i < s->n && !s->forwarded; i++) {
            const double x =
                log(cost_seconds(model, &s->times[i].shape, (enum path)path, SCALE_DYNAMIC) /
                    s->times[i].seconds);
            sum += x * x;
        }
    }
    return sum;
}

/* The value between low and high with the least misfit, by golden section in the logarithm. */
static void fit_one(const struct tuning *t, struct cost_model *model, double *value, double low,
                    double high)
{
    static const double golden = 0.6180339887498949;
    double a = log(low), b = log(high);
    while (b - a > 1e-3) {
        const double left = b - golden * (b - a), right = a + golden * (b - a);
        *value = exp(left);
        const double of_left = misfit(t, model);
        *value = exp(right);
        if (of_left < misfit(t, model))
            b = right;
        else
            a = left;
    }
    *value = exp((a + b) / 2);
}

/* One figure after the other until they agree. Copies give the bandwidth. */
static void fit(const struct tuning *t, struct cost_model *model)
{
    enum { ROUNDS = 8 };
    const struct cost_model tables = *model;
    if (t->copy > 0)
        model->bandwidth = t->copy;
    for (int round = 0; round < ROUNDS; round++) {
        fit_one(t, model, &model->launch, 0.3e-6, 30e-6);
        for (int a = COST_FP32; a <= COST_BF16; a++)
            if (tables.flops[a] > 0)
                fit_one(t, model, &model->flops[a], tables.flops[a] / 16, 4 * tables.flops[a]);
    }
    /* Not swept: in proportion, as the tables have it. */
    model->flops[COST_FP8] *= model->flops[COST_FP16] / fmax(tables.flops[COST_FP16], 1);
    model->measured = true;
}

static void show(const struct tuning *t, const struct cost_model *model, bool modelled)
{
    printf("%s, times %s\n", t->gpu.name,
           modelled ? "modelled, not measured on a GPU" : "measured");
    printf("%-8s %12s %12s %12s %s\n", "path", "largest", "TFLOP/s", "of forward",
           "model / time, middle and extremes");
    for (int i = 0; i < SWEPT; i++) {
        const struct swept *s = &t->paths[swept_paths[i]];
        const struct timing *time = largest(s), *plain = largest(&t->paths[PATH_FORWARD]);
        if (time == NULL || s->forwarded) {
            printf("%-8s not possible on this GPU\n", path_word(swept_paths[i]));
            continue;
        }
        double sum = 0, low = INFINITY, high = 0;
        for (int j = 0; j < s->n; j++) {
            const double ratio =
                cost_seconds(model, &s->times[j].shape, swept_paths[i], SCALE_DYNAMIC) /
                s->times[j].seconds;
            sum += log(ratio);
            low = fmin(low, ratio);
            high = fmax(high, ratio);
        }
        const double n = (double)time->shape.m;
        printf("%-8s %12.0f %12.1f ", path_word(swept_paths[i]), n,
               2 * n * n * n / time->seconds / 1e12);
        if (plain != NULL && plain->shape.m == time->shape.m)
            printf("%12.2f ", plain->seconds / time->seconds);
        else
            printf("%12s ", "-");
        printf("%.2f (%.2f to %.2f)\n", exp(sum / s->n), low, high);
    }
    printf("bandwidth %.0f GB/s, launch %.2f us\n", model->bandwidth / 1e9, model->launch * 1e6);
}

int tune_gpu(const char *object, double seconds)
{
    static struct tuning t;
    char path[PATH_MAX], complaint[1024];
    for (int i = 0; i < SWEPT; i++) {
        show_progress(i, 0);
        /* Without the plain call there is nothing to compare with. */
        if (!run_sweep(&t, i, object, seconds) && i == 0)
            return 1;
    }
    show_progress(SWEPT, 0);
    const bool modelled = strstr(t.gpu.name, "software GPU") != NULL;
    struct cost_model model = cost_model_of(&t.gpu);
    fit(&t, &model);
    show(&t, &model, modelled);
    if (!model_file(env_get(), &t.gpu, path, sizeof path)) {
        fprintf(stderr, "apexshim: there is no file to write (APEXSHIM_TUNE, XDG_CACHE_HOME)\n");
        return 1;
    }
    if (!model_write(path, &t.gpu, &model, modelled, complaint, sizeof complaint)) {
        fprintf(stderr, "apexshim: %s\n", complaint);
        return 1;
    }
    printf("written to %s\n", path);
    return 0;
}
