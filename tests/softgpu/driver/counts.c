/* SPDX-License-Identifier: BSD-3-Clause
 * Named counters (written as JSON to the SOFTGPU_COUNTS file at exit), the SOFTGPU_LOG file, fault
 * injection (SOFTGPU_FAIL) and messages. Owns all of them, under one lock of its own. */
#include "tests/softgpu/driver/internal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, KEY_BYTES = 192, MAX_INJECTIONS = 16 };

struct counter {
    char key[KEY_BYTES];
    uint64_t value;
    struct counter *next;
};

/* SOFTGPU_FAIL=function:nth:error[:library][,...]: the nth call from that library fails. */
struct injection {
    char function[96], library[96];
    long nth, seen;
    int error;
};

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    struct counter *bucket[BUCKETS];
    double seconds;
    FILE *log;
    struct injection injection[MAX_INJECTIONS];
    unsigned injections;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void read_injections(const char *text)
{
    char copy[1024], *save = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        struct injection *i = &state.injection[state.injections];
        i->library[0] = '\0';
        if (state.injections == MAX_INJECTIONS ||
            sscanf(item, "%95[^:]:%ld:%d:%95s", i->function, &i->nth, &i->error, i->library) < 3) {
            fprintf(stderr, "softgpu: SOFTGPU_FAIL=%s: function:nth:error[:library] is expected\n",
                    item);
            exit(1);
        }
        state.injections++;
    }
}

static void open_files(void)
{
    const char *log = getenv("SOFTGPU_LOG"), *fail = getenv("SOFTGPU_FAIL");
    if (log != NULL && log[0] != '\0') {
        state.log = fopen(log, "we");
        if (state.log == NULL)
            fprintf(stderr, "softgpu: cannot write SOFTGPU_LOG=%s\n", log);
    }
    if (fail != NULL && fail[0] != '\0')
        read_injections(fail);
}

/* With the lock held. */
static struct counter *counter_of(const char *key)
{
    uint32_t h = 2166136261u;
    for (const char *p = key; *p != '\0'; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    struct counter **link = &state.bucket[h % BUCKETS];
    for (; *link != NULL; link = &(*link)->next)
        if (strncmp((*link)->key, key, KEY_BYTES - 1) == 0)
            return *link;
    struct counter *c = calloc(1, sizeof *c);
    if (c == NULL)
        abort();
    snprintf(c->key, sizeof c->key, "%s", key);
    *link = c;
    return c;
}

void count_add(const char *key, uint64_t n)
{
    pthread_mutex_lock(&state.lock);
    counter_of(key)->value += n;
    pthread_mutex_unlock(&state.lock);
}

void count_max(const char *key, uint64_t value)
{
    pthread_mutex_lock(&state.lock);
    struct counter *c = counter_of(key);
    if (c->value < value)
        c->value = value;
    pthread_mutex_unlock(&state.lock);
}

void count_seconds(double seconds)
{
    pthread_mutex_lock(&state.lock);
    state.seconds += seconds;
    pthread_mutex_unlock(&state.lock);
}

void count_launch(const char *kernel, const struct sg_counts *counts)
{
    char key[KEY_BYTES];
    count_add("launches", 1);
    snprintf(key, sizeof key, "kernel.%s", kernel);
    count_add(key, 1);
    count_add("threads", counts->threads);
    count_add("warp_instructions", counts->warp_instructions);
    count_add("thread_instructions", counts->thread_instructions);
    count_add("bytes.global_read", counts->global_read_bytes);
    count_add("bytes.global_write", counts->global_write_bytes);
    count_add("bytes.shared", counts->shared_bytes);
    count_add("atomics", counts->atomics);
    count_add("flop.f16", counts->flop_f16);
    count_add("flop.bf16", counts->flop_bf16);
    count_add("flop.f32", counts->flop_f32);
    count_add("flop.f64", counts->flop_f64);
    snprintf(key, sizeof key, "kernel_read.%s", kernel);
    count_add(key, counts->global_read_bytes);
    snprintf(key, sizeof key, "kernel_written.%s", kernel);
    count_add(key, counts->global_write_bytes);
}

API void softgpuCount(const char *key, uint64_t n)
{
    count_add(key, n);
}

API uint64_t softgpuCounter(const char *key)
{
    pthread_mutex_lock(&state.lock);
    uint64_t value = counter_of(key)->value;
    pthread_mutex_unlock(&state.lock);
    return value;
}

API void softgpuLog(const char *library, const char *format, ...)
{
    pthread_once(&state.once, open_files);
    if (state.log == NULL)
        return;
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&state.lock);
    fprintf(state.log, "%s ", library);
    vfprintf(state.log, format, args);
    fputc('\n', state.log);
    fflush(state.log);
    pthread_mutex_unlock(&state.lock);
    va_end(args);
}

static bool from_library(const void *caller, const char *library)
{
    Dl_info info;
    return library[0] == '\0' || (dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
                                  strstr(info.dli_fname, library) != NULL);
}

API int softgpuFail(const char *function, void *caller)
{
    pthread_once(&state.once, open_files);
    for (unsigned i = 0; i < state.injections; i++) {
        struct injection *in = &state.injection[i];
        if (strcmp(in->function, function) != 0 || !from_library(caller, in->library))
            continue;
        pthread_mutex_lock(&state.lock);
        long seen = ++in->seen;
        pthread_mutex_unlock(&state.lock);
        if (seen == in->nth)
            return in->error;
    }
    return 0;
}

CUresult driver_enter(const char *name, void *caller)
{
    char key[KEY_BYTES];
    snprintf(key, sizeof key, "calls.%s", name);
    count_add(key, 1);
    softgpuLog("cuda", "%s", name);
    return (CUresult)softgpuFail(name, caller);
}

void driver_message(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "softgpu: %s\n", line);
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct counter *const *)a)->key, (*(struct counter *const *)b)->key);
}

static void __attribute__((destructor)) write_counts(void)
{
    const char *path = getenv("SOFTGPU_COUNTS");
    if (path == NULL || path[0] == '\0' || !driver_ready)
        return;
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        fprintf(stderr, "softgpu: cannot write SOFTGPU_COUNTS=%s\n", path);
        return;
    }
    size_t n = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (struct counter *c = state.bucket[i]; c != NULL; c = c->next)
            n++;
    struct counter **all = calloc(n + 1, sizeof(struct counter *));
    size_t at = 0;
    for (int i = 0; i < BUCKETS && all != NULL; i++)
        for (struct counter *c = state.bucket[i]; c != NULL; c = c->next)
            all[at++] = c;
    if (all != NULL)
        qsort(all, at, sizeof(struct counter *), by_key);
    fprintf(file, "{\n");
    for (size_t i = 0; i < at; i++)
        fprintf(file, "  \"%s\": %" PRIu64 ",\n", all[i]->key, all[i]->value);
    fprintf(file, "  \"modelled_us\": %.3f\n}\n", state.seconds * 1e6);
    free(all);
    fclose(file);
}
