/* SPDX-License-Identifier: BSD-3-Clause
 * Reads and writes decision files. Owns those that the process has read, which are kept until it
 * ends. A file without its last section is one that was cut off. */
#include "config.h"
#include "gemm/decision.h"
#include "base/cache.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

struct entry {
    char *routine, *object;
    int64_t m, n, k, batch;
    char transposes[3];
    uint64_t offset;
    enum path path;
    unsigned seen; /* a bit for each key */
};

enum section { SECTION_NONE, SECTION_RUN, SECTION_GEMM, SECTION_END };

struct decisions {
    struct entry *entries;
    size_t n, room;
    const char *gpu; /* while reading: the one at hand */
    enum section section;
    bool run, ended;
};

static const char keys[] = "routine|m|n|k|batch|transposes|site|path|error|calls|why";
enum { KEY_ROUTINE, KEY_M, KEY_N, KEY_K, KEY_BATCH, KEY_TRANSPOSES, KEY_SITE, KEY_PATH };
enum { NEEDED = (1u << (KEY_PATH + 1)) - 1 };

static bool expect(char expected[INI_EXPECTED_BYTES], const char *what)
{
    snprintf(expected, INI_EXPECTED_BYTES, "%s", what);
    return false;
}

static bool read_size(const char *value, int64_t *size_p, char expected[INI_EXPECTED_BYTES])
{
    double number;
    if (!text_number(value, "", &number) || number < 1 || number > 9e15 ||
        number != (double)(int64_t)number)
        return expect(expected, "a size");
    *size_p = (int64_t)number;
    return true;
}

static bool read_site(struct entry *e, const char *value, char expected[INI_EXPECTED_BYTES])
{
    const char *plus = strrchr(value, '+');
    if (plus == NULL || plus == value || strncmp(plus, "+0x", 3) != 0 || plus[3] == '\0' ||
        strlen(plus) > 19 || strspn(plus + 3, "0123456789abcdef") != strlen(plus + 3))
        return expect(expected, "LIBRARY+0xOFFSET");
    e->object = strndup(value, (size_t)(plus - value));
    e->offset = strtoull(plus + 3, NULL, 16);
    return e->object != NULL || expect(expected, "memory");
}

static bool read_entry(struct entry *e, const char *key, const char *value,
                       char expected[INI_EXPECTED_BYTES])
{
    const int index = text_choice_index(keys, key);
    if (index < 0 || (e->seen & 1u << index) != 0)
        return expect(expected,
                      "routine, m, n, k, batch, transposes, site, path, error, calls or why, "
                      "each once");
    e->seen |= 1u << index;
    switch (index) {
    case KEY_ROUTINE:
        e->routine = strdup(value);
        return e->routine != NULL || expect(expected, "memory");
    case KEY_M:
        return read_size(value, &e->m, expected);
    case KEY_N:
        return read_size(value, &e->n, expected);
    case KEY_K:
        return read_size(value, &e->k, expected);
    case KEY_BATCH:
        return read_size(value, &e->batch, expected);
    case KEY_TRANSPOSES:
        if (strlen(value) != 2 || strspn(value, "NT") != 2)
            return expect(expected, "NN, NT, TN or TT");
        snprintf(e->transposes, sizeof e->transposes, "%s", value);
        return true;
    case KEY_SITE:
        return read_site(e, value, expected);
    case KEY_PATH:
        e->path = path_of_word(value);
        return e->path != PATHS || expect(expected, "forward or a path");
    default:
        return true; /* for people */
    }
}

static bool last_is_complete(const struct decisions *d, char expected[INI_EXPECTED_BYTES])
{
    if (d->section == SECTION_GEMM && (d->entries[d->n - 1].seen & NEEDED) != NEEDED)
        return expect(expected, "all keys of a [gemm] before the next section");
    return true;
}

static bool begin_section(struct decisions *d, const char *section,
                          char expected[INI_EXPECTED_BYTES])
{
    if (!last_is_complete(d, expected))
        return false;
    const int index = text_choice_index("run|gemm|end", section);
    if (index < 0 || d->ended || (index == 0) != (d->section == SECTION_NONE))
        return expect(expected, "[run], then [gemm] sections, then [end]");
    d->section = (enum section)(index + 1);
    if (d->section == SECTION_GEMM) {
        if (d->n == d->room) {
            const size_t room = d->room > 0 ? 2 * d->room : 64;
            struct entry *more = realloc(d->entries, room * sizeof *more);
            if (more == NULL)
                return expect(expected, "memory");
            d->entries = more;
            d->room = room;
        }
        memset(&d->entries[d->n++], 0, sizeof *d->entries);
    }
    return true;
}

static bool read_run(struct decisions *d, const char *key, const char *value,
                     char expected[INI_EXPECTED_BYTES])
{
    char wanted[INI_EXPECTED_BYTES];
    if (strcmp(key, "format") == 0) {
        snprintf(wanted, sizeof wanted, "%d", FORMAT);
        d->run = true;
        return strcmp(value, wanted) == 0 || expect(expected, "format = 1");
    }
    if (strcmp(key, "gpu") == 0 && strcmp(value, d->gpu) != 0) {
        snprintf(wanted, sizeof wanted, "decisions for %.100s, which this GPU is", d->gpu);
        return expect(expected, wanted);
    }
    return true;
}

static bool read_line(void *data, const char *section, const char *key, const char *value,
                      char expected[INI_EXPECTED_BYTES])
{
    struct decisions *d = data;
    int64_t sites;
    if (key == NULL)
        return begin_section(d, section, expected);
    if (d->section == SECTION_RUN)
        return read_run(d, key, value, expected);
    if (d->section == SECTION_GEMM)
        return read_entry(&d->entries[d->n - 1], key, value, expected);
    sites = strtoll(value, NULL, 10);
    d->ended = strcmp(key, "sites") == 0 && sites >= 0 && (uint64_t)sites == d->n;
    return d->ended || expect(expected, "sites = the number of [gemm] sections");
}

struct decisions *decisions_read(const char *path, const char *gpu, char *complaint, size_t bytes)
{
    struct decisions *d = calloc(1, sizeof *d);
    if (d == NULL)
        return NULL;
    d->gpu = gpu;
    bool good = ini_read(path, read_line, d, complaint, bytes);
    if (good && (!d->ended || !d->run)) {
        snprintf(complaint, bytes, "%s: expected an [end] with the number of sites: it is cut off",
                 path);
        good = false;
    }
    d->gpu = NULL;
    if (good)
        return d;
    decisions_free(d);
    return NULL;
}

void decisions_free(struct decisions *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->n; i++) {
        free(d->entries[i].routine);
        free(d->entries[i].object);
    }
    free(d->entries);
    free(d);
}

size_t decisions_count(const struct decisions *d)
{
    return d->n;
}

enum path decisions_find(const struct decisions *d, const struct place *p)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct entry *e = &d->entries[i];
        if (e->m == p->m && e->n == p->n && e->k == p->k && e->batch == p->batch &&
            e->offset == p->offset && strcmp(e->transposes, p->transposes) == 0 &&
            strcmp(e->routine, p->routine) == 0 && strcmp(e->object, p->object) == 0)
            return e->path;
    }
    return PATHS;
}

/* False: there is to be none. */
static bool file_of(const struct env *env, const char *gpu, char *path, size_t bytes)
{
    if (env->decisions[0] == '\0' || strcmp(env->decisions, "off") == 0)
        return false;
    if (strcmp(env->decisions, "auto") == 0)
        return cache_name(path, bytes, env->cache, "decisions", env->program, gpu);
    return (size_t)snprintf(path, bytes, "%s", env->decisions) < bytes;
}

struct loaded {
    char gpu[sizeof((struct gpu *)NULL)->name];
    struct decisions *decisions;
    struct loaded *next;
};

static struct {
    pthread_mutex_t lock;
    struct loaded *first;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct decisions *load(const struct env *env, const char *gpu)
{
    char path[PATH_MAX], complaint[1024] = "";
    if (!file_of(env, gpu, path, sizeof path) ||
        (strcmp(env->decisions, "auto") == 0 && !ini_exists(path)))
        return NULL;
    struct decisions *d = decisions_read(path, gpu, complaint, sizeof complaint);
    if (d == NULL)
        LOG_WARN("APEXSHIM_DECISIONS: %s; the whole file is ignored", complaint);
    else
        LOG_INFO("decisions for %zu sites of %s", d->n, path);
    return d;
}

const struct decisions *decisions_get(const struct env *env, const struct gpu *gpu)
{
    pthread_mutex_lock(&process.lock);
    struct loaded *l = process.first;
    while (l != NULL && strcmp(l->gpu, gpu->name) != 0)
        l = l->next;
    if (l == NULL && (l = calloc(1, sizeof *l)) != NULL) {
        memcpy(l->gpu, gpu->name, sizeof l->gpu);
        l->decisions = load(env, gpu->name);
        l->next = process.first;
        process.first = l;
    }
    const struct decisions *d = l != NULL ? l->decisions : NULL;
    pthread_mutex_unlock(&process.lock);
    return d;
}

struct decision_text {
    char *text;
    size_t length, room, sites;
    bool failed;
};

static void append(struct decision_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct decision_text *t, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof line)
        t->failed = true;
    if (t->failed)
        return;
    if (t->length + (size_t)n + 1 > t->room) {
        const size_t room = 2 * t->room + sizeof line;
        char *more = realloc(t->text, room);
        if (more == NULL) {
            t->failed = true;
            return;
        }
        t->text = more;
        t->room = room;
    }
    memcpy(t->text + t->length, line, (size_t)n + 1);
    t->length += (size_t)n;
}

struct decision_text *decision_text_new(const char *gpu, const char *program, double tolerance)
{
    char number[TEXT_NUMBER_BYTES];
    struct decision_text *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    append(t, "# Written by a tuning run of %s; other runs only read it.\n", PACKAGE_STRING);
    append(t, "[run]\nformat = %d\ngpu = %s\nprogram = %s\ntolerance = %s\n", FORMAT, gpu, program,
           text_of_number(tolerance, number));
    return t;
}

/* Can a name stand behind '=' and come back the same? */
static bool writable(const char *name)
{
    const size_t n = strlen(name);
    if (n == 0 || n > 255 || name[0] == ' ' || name[n - 1] == ' ')
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < ' ')
            return false;
    return true;
}

void decision_text_add(struct decision_text *t, const struct decided *site)
{
    const struct place *p = &site->place;
    char number[TEXT_NUMBER_BYTES];
    if (!writable(p->object) || !writable(p->routine))
        return;
    append(t,
           "\n[gemm]\nroutine = %s\nm = %" PRId64 "\nn = %" PRId64 "\nk = %" PRId64
           "\nbatch = %" PRId64 "\ntransposes = %s\nsite = %s+0x%" PRIx64 "\npath = %s\n",
           p->routine, p->m, p->n, p->k, p->batch, p->transposes, p->object, p->offset,
           path_word(site->path));
    if (site->error >= 0)
        append(t, "error = %s\n", text_of_number(site->error, number));
    append(t, "calls = %" PRIu64 "\nwhy = %s\n", site->calls, site->why);
    t->sites++;
}

void decision_text_write(struct decision_text *t, const struct env *env, const char *gpu,
                         size_t left_out)
{
    char path[PATH_MAX], complaint[1024] = "out of memory";
    append(t, "\n[end]\nsites = %zu\n", t->sites);
    if (!file_of(env, gpu, path, sizeof path))
        LOG_WARN("the tuning run has no decision file to write (APEXSHIM_DECISIONS)");
    else if (t->failed || !cache_write(path, t->text, t->length, complaint, sizeof complaint))
        LOG_WARN("the decisions were not written: %s", complaint);
    else
        LOG_WARN("decisions for %zu sites written to %s; %zu had no measurement", t->sites, path,
                 left_out);
    free(t->text);
    free(t);
}
