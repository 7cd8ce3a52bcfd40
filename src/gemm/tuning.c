/* SPDX-License-Identifier: BSD-3-Clause
 * Owns what is known of the sites of a tuning run: a list that only grows. */
#include "config.h"
#include "gemm/tuning.h"
#include "base/log.h"
#include "base/text.h"
#include "gemm/decision.h"
#include "gemm/site.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tuned {
    struct site *site;
    struct place place; /* with texts of its own */
    const struct env *env;
    char gpu[sizeof((struct gpu *)NULL)->name];
    enum path ladder[PATHS];
    int n, at;
    double worst[PATHS]; /* by rung; negative: not measured */
    uint64_t stale;      /* comparisons of the site up to this one were of earlier rungs */
    struct tuned *next;
};

static struct {
    pthread_mutex_t lock; /* of everything in the list */
    struct tuned *first;
    pid_t process; /* that has the first site */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct tuned *tuning_new(const struct env *env, const struct gpu *gpu, const struct place *place,
                         const enum path ladder[PATHS], int n)
{
    struct tuned *t = calloc(1, sizeof *t);
    char *library = strdup(place->object);
    if (t == NULL || library == NULL) {
        free(t);
        free(library);
        return NULL;
    }
    t->place = *place;
    t->place.object = library;
    t->env = env;
    memcpy(t->gpu, gpu->name, sizeof t->gpu);
    for (int i = 0; i < n; i++) {
        t->ladder[i] = ladder[i];
        t->worst[i] = -1;
    }
    t->n = n;
    return t;
}

void tuning_adopt(struct site *site, struct tuned *t)
{
    pthread_mutex_lock(&state.lock);
    t->site = site;
    site->tuned = t;
    if (state.process == 0)
        state.process = getpid();
    t->next = state.first;
    state.first = t;
    pthread_mutex_unlock(&state.lock);
}

void tuning_free(struct tuned *t)
{
    if (t == NULL)
        return;
    free((char *)(uintptr_t)t->place.object);
    free(t);
}

/* With the lock held. Not a number is an error of any size. */
static void judge(struct tuned *t, double error)
{
    if (!(error <= t->worst[t->at]))
        t->worst[t->at] = error;
    if (error <= t->env->tolerance || t->at + 1 >= t->n)
        return;
    t->at++;
    /* Comparisons that are still on their way belong to the rung that is left. */
    t->stale = atomic_load(&t->site->calls) / (uint64_t)t->env->verify;
    t->site->path = t->ladder[t->at];
}

void tuning_error(struct site *site, enum path path, double error)
{
    struct tuned *t = site->tuned;
    /* The last index is shared: nothing is known of one site. */
    if (t == NULL || site->index >= SITES_MAX - 1)
        return;
    pthread_mutex_lock(&state.lock);
    if (path == t->ladder[t->at] && atomic_load(&site->verified) > t->stale)
        judge(t, error);
    pthread_mutex_unlock(&state.lock);
}

/* "bf16 0.0023, fp16 0.00031" */
static void explain(const struct tuned *t, char *why, size_t bytes)
{
    char number[TEXT_NUMBER_BYTES];
    size_t length = 0;
    why[0] = '\0';
    for (int i = 0; i <= t->at && length < bytes; i++)
        if (t->ladder[i] != PATH_FORWARD)
            length += (size_t)snprintf(why + length, bytes - length, "%s%s %s",
                                       length > 0 ? ", " : "error of ", path_word(t->ladder[i]),
                                       text_of_number(t->worst[i], number));
    if (length == 0)
        snprintf(why, bytes, "nothing is quicker than the plain call");
}

/* With the lock held: the sites on one kind of GPU. */
static void write_gpu(const struct env *env, const char *gpu)
{
    size_t left_out = 0;
    struct decision_text *text = decision_text_new(gpu, env->program, env->tolerance);
    if (text == NULL)
        return;
    for (const struct tuned *t = state.first; t != NULL; t = t->next) {
        char why[256];
        if (strcmp(t->gpu, gpu) != 0)
            continue;
        const enum path path = t->ladder[t->at];
        if (path != PATH_FORWARD && t->worst[t->at] < 0) {
            left_out++;
            continue;
        }
        explain(t, why, sizeof why);
        decision_text_add(text, &(struct decided){t->place, path,
                                                  path == PATH_FORWARD ? -1 : t->worst[t->at],
                                                  atomic_load(&t->site->calls), why});
    }
    decision_text_write(text, env, gpu, left_out);
}

void tuning_write(const struct env *env)
{
    if (env->precision != PRECISION_AUTO)
        return;
    pthread_mutex_lock(&state.lock);
    if (state.process == getpid())
        for (const struct tuned *t = state.first; t != NULL; t = t->next) {
            const struct tuned *same = state.first;
            while (strcmp(same->gpu, t->gpu) != 0)
                same = same->next;
            if (same == t) /* the first of its kind */
                write_gpu(env, t->gpu);
        }
    pthread_mutex_unlock(&state.lock);
}
