/* SPDX-License-Identifier: BSD-3-Clause
 * Parses the variables of env.def. Owns the process's copy; nothing else calls getenv. Names and
 * values come from the user, so they reach a line only through snprintf's bounds and the logger's
 * escaping. */
#include "config.h"
#include "base/env.h"
#include "base/log.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LINE_MAX_ = 400, NAME_MAX_ = 64 };

const struct env_variable env_variables[] = {
#define ENV(_name, _field, _choices, _default, _doc) {#_name, _choices, _default, _doc},
#define ENV_TEXT(_name, _field, _default, _doc)      {#_name, NULL, _default, _doc},
#include "env.def"
#undef ENV
#undef ENV_TEXT
};
const size_t env_variables_n = sizeof env_variables / sizeof env_variables[0];

/* Index of value (len bytes) among "a|b|c", ignoring case; -1: none. */
static int choice_index(const char *choices, const char *value, size_t len)
{
    int i = 0;
    for (const char *p = choices;; i++) {
        size_t n = strcspn(p, "|");
        if (n == len && strncasecmp(p, value, n) == 0)
            return i;
        if (p[n] == '\0')
            return -1;
        p += n + 1;
    }
}

/* Levenshtein distance, letters compared without case; names past NAME_MAX_ are cut. */
static unsigned edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned row[NAME_MAX_ + 1];
    if (na > NAME_MAX_)
        na = NAME_MAX_;
    if (nb > NAME_MAX_)
        nb = NAME_MAX_;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned substitute = diagonal + (strncasecmp(a + i - 1, b + j - 1, 1) != 0);
            unsigned best = substitute;
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

/* The choice nearest to value; its length in *len_p. */
static const char *nearest_choice(const char *choices, const char *value, size_t *len_p)
{
    const char *best = choices;
    unsigned best_distance = UINT32_MAX;
    for (const char *p = choices;;) {
        size_t n = strcspn(p, "|");
        unsigned d = edit_distance(p, n, value, strlen(value));
        if (d < best_distance) {
            best_distance = d;
            best = p;
            *len_p = n;
        }
        if (p[n] == '\0')
            return best;
        p += n + 1;
    }
}

static int parse_choice(const struct env_variable *v, const char *value,
                        void (*complain)(const char *line))
{
    int fallback = choice_index(v->choices, v->fallback, strlen(v->fallback));
    if (value == NULL || value[0] == '\0')
        return fallback;
    int i = choice_index(v->choices, value, strlen(value));
    if (i >= 0)
        return i;
    if (complain != NULL) {
        char line[LINE_MAX_];
        size_t n = 0;
        const char *near = nearest_choice(v->choices, value, &n);
        snprintf(line, sizeof line, "%s=%.80s is not one of %s; did you mean %.*s? Using %s", v->name,
                 value, v->choices, (int)n, near, v->fallback);
        complain(line);
    }
    return fallback;
}

static void parse_text(const struct env_variable *v, const char *value, char *text,
                       void (*complain)(const char *line))
{
    if (value != NULL && strlen(value) >= ENV_TEXT_BYTES) {
        char line[LINE_MAX_];
        snprintf(line, sizeof line, "%s is longer than %d bytes. Using %s", v->name,
                 ENV_TEXT_BYTES - 1, v->fallback);
        if (complain != NULL)
            complain(line);
        value = NULL;
    }
    snprintf(text, ENV_TEXT_BYTES, "%s", value != NULL ? value : v->fallback);
}

/* The executable's name decides once whether this process is meant at all. */
static bool app_matches(const char *patterns)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0 || strcmp(patterns, "*") == 0)
        return true;
    path[n] = '\0';
    const char *slash = strrchr(path, '/');
    return env_list_matches(patterns, slash != NULL ? slash + 1 : path);
}

bool env_list_matches(const char *patterns, const char *name)
{
    char pattern[ENV_TEXT_BYTES];
    while (*patterns != '\0') {
        size_t n = strcspn(patterns, ",");
        if (n > 0 && n < sizeof pattern) {
            memcpy(pattern, patterns, n);
            pattern[n] = '\0';
            if (fnmatch(pattern, name, 0) == 0)
                return true;
        }
        patterns += n + (patterns[n] == ',');
    }
    return false;
}

void env_parse(struct env *env, const char *(*get)(const char *name),
               void (*complain)(const char *line))
{
    const struct env_variable *v = env_variables;
#define ENV(_name, _field, _choices, _default, _doc)                                               \
    env->_field = parse_choice(v, get(v->name), complain);                                         \
    v++;
#define ENV_TEXT(_name, _field, _default, _doc)                                                    \
    parse_text(v, get(v->name), env->_field, complain);                                            \
    v++;
#include "env.def"
#undef ENV
#undef ENV_TEXT
    env->scale_exponent = 0;
    const char *override = get("NVIDIA_TF32_OVERRIDE");
    env->tf32_vetoed = override != NULL && strcmp(override, "0") == 0;
}

void env_check_names(const char *const *environ_, void (*complain)(const char *line))
{
    static const char prefix[] = "APEXSHIM";
    for (; environ_ != NULL && *environ_ != NULL; environ_++) {
        const char *entry = *environ_;
        size_t len = strcspn(entry, "=");
        if (strncmp(entry, prefix, sizeof prefix - 1) != 0)
            continue;
        const char *near = NULL;
        unsigned best = UINT32_MAX;
        for (size_t i = 0; i < env_variables_n; i++) {
            unsigned d = edit_distance(env_variables[i].name, strlen(env_variables[i].name), entry, len);
            if (d < best) {
                best = d;
                near = env_variables[i].name;
            }
            if (strlen(env_variables[i].name) == len && memcmp(env_variables[i].name, entry, len) == 0)
                best = 0;
            if (best == 0)
                break;
        }
        if (best == 0)
            continue;
        char line[LINE_MAX_];
        snprintf(line, sizeof line, "%.*s is not a variable of this version; did you mean %s?",
                 (int)(len > 80 ? 80 : len), entry, near);
        complain(line);
    }
}

static struct {
    pthread_once_t once;
    struct env env;
    atomic_flag reported;
} state = {.once = PTHREAD_ONCE_INIT, .reported = ATOMIC_FLAG_INIT};

static const char *process_getenv(const char *name)
{
    return secure_getenv(name);
}

static void read_process(void)
{
    env_parse(&state.env, process_getenv, NULL);
    if (!app_matches(state.env.apps))
        state.env.enabled = 0;
    log_set_level((enum log_level)state.env.log_level);
}

const struct env *env_get(void)
{
    pthread_once(&state.once, read_process);
    return &state.env;
}

static void warn_line(const char *line)
{
    LOG_WARN("%s", line);
}

void env_report(void)
{
    (void)env_get();
    if (atomic_flag_test_and_set(&state.reported))
        return;
    struct env again;
    env_parse(&again, process_getenv, warn_line);
    env_check_names((const char *const *)environ, warn_line);
}
