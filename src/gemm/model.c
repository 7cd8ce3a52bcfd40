/* SPDX-License-Identifier: BSD-3-Clause
 * Reads and writes the figures of cost models. Owns those that the process has read, one for each
 * kind of GPU, which are kept until it ends. */
#include "config.h"
#include "gemm/model.h"
#include "base/cache.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATES = COST_ARITHMETICS, BANDWIDTH = RATES, LAUNCH, NUMBERS };

static const char words[] = "fp32|tf32|fp16|bf16|fp8|bandwidth|launch";
static const char *const names[NUMBERS] = {"fp32", "tf32",      "fp16",  "bf16",
                                           "fp8",  "bandwidth", "launch"};

static double *number_of(struct cost_model *model, int i)
{
    return i < RATES ? &model->flops[i] : i == BANDWIDTH ? &model->bandwidth : &model->launch;
}

struct reading {
    const struct gpu *gpu;
    struct cost_model model;
    unsigned seen;
    bool format, ended;
};

static bool expect(char expected[INI_EXPECTED_BYTES], const char *what)
{
    snprintf(expected, INI_EXPECTED_BYTES, "%s", what);
    return false;
}

static bool read_entry(struct reading *r, const char *key, const char *value,
                       char expected[INI_EXPECTED_BYTES])
{
    double number;
    if (strcmp(key, "format") == 0) {
        r->format = strcmp(value, "1") == 0;
        return r->format || expect(expected, "format = 1");
    }
    if (strcmp(key, "gpu") == 0) {
        if (strcmp(value, r->gpu->name) == 0)
            return true;
        snprintf(expected, INI_EXPECTED_BYTES, "figures of %.100s, which this GPU is",
                 r->gpu->name);
        return false;
    }
    if (strcmp(key, "times") == 0)
        return true; /* for people: measured or modelled */
    const int i = text_choice_index(words, key);
    if (i < 0 || (r->seen & 1u << i) != 0)
        return expect(expected,
                      "gpu, times, fp32, tf32, fp16, bf16, fp8, bandwidth or launch, each once");
    r->seen |= 1u << i;
    /* What no GPU has is a mistake: a decision must not hang on it. */
    const double low = i == LAUNCH ? 1e-8 : 1e9, high = i == LAUNCH ? 1e-3 : 1e18;
    if (!text_number(value, "", &number) ||
        !((number >= low && number <= high) || (i < RATES && i != COST_FP32 && number == 0)))
        return expect(expected, i == LAUNCH ? "seconds" : "a number a second");
    *number_of(&r->model, i) = number;
    return true;
}

static bool read_line(void *data, const char *section, const char *key, const char *value,
                      char expected[INI_EXPECTED_BYTES])
{
    struct reading *r = data;
    if (key != NULL && strcmp(section, "tune") == 0)
        return read_entry(r, key, value, expected);
    if (key == NULL && strcmp(section, "tune") == 0 && r->seen == 0)
        return true;
    r->ended = key == NULL && strcmp(section, "end") == 0 && r->seen == (1u << NUMBERS) - 1;
    return r->ended || expect(expected, "[tune] with all figures, then [end]");
}

bool model_read(const char *path, const struct gpu *gpu, struct cost_model *model, char *complaint,
                size_t bytes)
{
    struct reading r = {.gpu = gpu, .model = *model};
    if (!ini_read(path, read_line, &r, complaint, bytes))
        return false;
    if (!r.ended || !r.format) {
        snprintf(complaint, bytes, "%s: expected an [end]: it is cut off", path);
        return false;
    }
    *model = r.model;
    model->measured = true;
    return true;
}

bool model_write(const char *path, const struct gpu *gpu, const struct cost_model *model,
                 bool modelled, char *complaint, size_t bytes)
{
    char text[1024], number[TEXT_NUMBER_BYTES];
    struct cost_model copy = *model;
    int n =
        snprintf(text, sizeof text,
                 "# Written by apexshim tune. Operations, bytes a second; seconds of a launch.\n"
                 "[tune]\nformat = 1\ngpu = %s\ntimes = %s\n",
                 gpu->name, modelled ? "modelled, not measured on a GPU" : "measured");
    for (int i = 0; i < NUMBERS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s = %s\n", names[i],
                      text_of_number(*number_of(&copy, i), number));
    n += snprintf(text + n, sizeof text - (size_t)n, "[end]\n");
    return cache_write(path, text, (size_t)n, complaint, bytes);
}

bool model_file(const struct env *env, const struct gpu *gpu, char *path, size_t bytes)
{
    if (env->tune[0] == '\0' || strcmp(env->tune, "off") == 0)
        return false;
    if (strcmp(env->tune, "auto") == 0)
        return cache_name(path, bytes, env->cache, "tune", gpu->name, NULL);
    return (size_t)snprintf(path, bytes, "%s", env->tune) < bytes;
}

struct known {
    struct gpu gpu;
    struct cost_model model;
    struct known *next;
};

static struct {
    pthread_mutex_t lock;
    struct known *first;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct cost_model load(const struct env *env, const struct gpu *gpu)
{
    char path[PATH_MAX], complaint[1024] = "";
    struct cost_model model = cost_model_of(gpu);
    if (!model_file(env, gpu, path, sizeof path) ||
        (strcmp(env->tune, "auto") == 0 && !ini_exists(path)))
        return model;
    if (model_read(path, gpu, &model, complaint, sizeof complaint))
        LOG_INFO("figures of this GPU from %s", path);
    else
        LOG_WARN("APEXSHIM_TUNE: %s; the whole file is ignored", complaint);
    return model;
}

struct cost_model model_of(const struct env *env, const struct gpu *gpu)
{
    pthread_mutex_lock(&process.lock);
    struct known *k = process.first;
    while (k != NULL && (strcmp(k->gpu.name, gpu->name) != 0 ||
                         k->gpu.compute_capability != gpu->compute_capability ||
                         k->gpu.multiprocessors != gpu->multiprocessors))
        k = k->next;
    if (k == NULL && (k = calloc(1, sizeof *k)) != NULL) {
        k->gpu = *gpu;
        k->model = load(env, gpu);
        k->next = process.first;
        process.first = k;
    }
    const struct cost_model model = k != NULL ? k->model : cost_model_of(gpu);
    pthread_mutex_unlock(&process.lock);
    return model;
}
