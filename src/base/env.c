/* SPDX-License-Identifier: BSD-3-Clause
 * Parses the variables of env.def. Owns the process's copy; nothing else calls getenv. Names and
 * values come from the user, so they reach a line only through snprintf's bounds and the logger's
 * escaping. */
#include "config.h"
#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LINE_MAX_ = 400, NAME_MAX_ = 64, MOST_EXPONENT = 100, VERIFY_WHEN_TUNING = 1 };

const struct env_variable env_variables[] = {
#define ENV(_name, _field, _choices, _default, _doc)   {#_name, _choices, _default, _doc},
#define ENV_TEXT(_name, _field, _default, _doc)        {#_name, NULL, _default, _doc},
#define ENV_FORM(_name, _field, _form, _default, _doc) {#_name, _form, _default, _doc},
#define ENV_DEFAULT(_variable, _value, _name, _other)
#include "env.def"
#undef ENV
#undef ENV_TEXT
#undef ENV_FORM
#undef ENV_DEFAULT
};
const size_t env_variables_n = sizeof env_variables / sizeof env_variables[0];

/* What one variable's value means for the default of another. */
static const struct {
    const char *variable, *value, *name, *other;
} env_defaults[] = {
#define ENV(_name, _field, _choices, _default, _doc)
#define ENV_TEXT(_name, _field, _default, _doc)
#define ENV_FORM(_name, _field, _form, _default, _doc)
#define ENV_DEFAULT(_variable, _value, _name, _other) {#_variable, _value, #_name, _other},
#include "env.def"
#undef ENV
#undef ENV_TEXT
#undef ENV_FORM
#undef ENV_DEFAULT
};

/* Where the values come from, and where complaints about them go (NULL: nowhere). */
struct source {
    const char *(*get)(const char *name);
    void (*complain)(const char *line);
};

/* The value as it is set, or the default that others imply. A preset sets the level, which sets more:
 * what is implied by a variable is looked up before what is implied by its own implication. */
static const char *implied(const struct source *source, const char *name);

static const char *effective(const struct source *source, const char *name)
{
    const char *value = source->get(name);
    return value != NULL && value[0] != '\0' ? value : implied(source, name);
}

static const char *implied(const struct source *source, const char *name)
{
    /* The level's defaults stand behind the preset's in the table, and win. */
    for (size_t i = sizeof env_defaults / sizeof env_defaults[0]; i-- > 0;) {
        if (strcmp(env_defaults[i].name, name) != 0)
            continue;
        const char *value = effective(source, env_defaults[i].variable);
        if (value != NULL && strcasecmp(value, env_defaults[i].value) == 0)
            return env_defaults[i].other;
    }
    return NULL;
}

const char *env_default(const struct env_variable *v, const char *(*get)(const char *name))
{
    const struct source source = {get, NULL};
    const char *other = implied(&source, v->name);
    return other != NULL ? other : v->fallback;
}

static void complain_of(const struct source *source, const struct env_variable *v,
                        const char *value, const char *fallback)
{
    if (source->complain == NULL)
        return;
    char line[LINE_MAX_], hint[NAME_MAX_ + 20] = "";
    size_t n = 0;
    const char *near = text_nearest_choice(v->choices, value, &n);
    if (n > 0 && n < NAME_MAX_ && memchr(near, '<', n) == NULL)
        snprintf(hint, sizeof hint, "; did you mean %.*s?", (int)n, near);
    snprintf(line, sizeof line, "%s=%.80s is not one of %s%s%s Using %s", v->name, value, v->choices,
             hint, hint[0] == '\0' ? "." : "", fallback);
    source->complain(line);
}

static int parse_choice(const struct env_variable *v, const struct source *source)
{
    const char *other = implied(source, v->name);
    const char *fallback = other != NULL ? other : v->fallback;
    const char *value = source->get(v->name);
    if (value == NULL || value[0] == '\0')
        value = fallback;
    const int i = text_choice_index(v->choices, value);
    if (i >= 0)
        return i;
    complain_of(source, v, value, fallback);
    return text_choice_index(v->choices, fallback);
}

static void parse_form(const struct env_variable *v, const struct source *source, struct env *env,
                       bool (*read)(const char *text, struct env *env))
{
    const char *other = implied(source, v->name);
    const char *fallback = other != NULL ? other : v->fallback;
    const char *value = source->get(v->name);
    if (value == NULL || value[0] == '\0')
        value = fallback;
    if (read(value, env))
        return;
    complain_of(source, v, value, fallback);
    (void)read(fallback, env);
}

static void parse_text(const struct env_variable *v, const struct source *source, char *text)
{
    const char *other = implied(source, v->name);
    const char *fallback = other != NULL ? other : v->fallback;
    const char *value = source->get(v->name);
    if (value != NULL && strlen(value) >= ENV_TEXT_BYTES) {
        char line[LINE_MAX_];
        snprintf(line, sizeof line, "%s is longer than %d bytes. Using %s", v->name,
                 ENV_TEXT_BYTES - 1, fallback);
        if (source->complain != NULL)
            source->complain(line);
        value = NULL;
    }
    snprintf(text, ENV_TEXT_BYTES, "%s", value != NULL ? value : fallback);
}

static bool read_precision(const char *text, struct env *env)
{
    static const char words[] = "fp32|tf32|fp16|bf16|fp16x2|bf16x3|bf16x6";
    double tolerance;
    env->tolerance = 0;
    if (strncasecmp(text, "auto:", 5) == 0) {
        if (!text_number(text + 5, "", &tolerance) || tolerance <= 0 || tolerance >= 1)
            return false;
        env->precision = PRECISION_AUTO;
        env->tolerance = tolerance;
        return true;
    }
    const int i = text_choice_index(words, text);
    if (i < 0)
        return false;
    env->precision = i;
    return true;
}

bool env_read_scale(const char *text, int *scale_p, int *exponent_p)
{
    const int i = text_choice_index("dynamic|exact", text);
    double number;
    int exponent;
    if (i < 0 && strncmp(text, "2^", 2) == 0) {
        if (!text_number(text + 2, "", &number) || number != floor(number))
            return false;
        exponent = fabs(number) <= MOST_EXPONENT ? (int)number : MOST_EXPONENT + 1;
    } else if (i < 0) {
        if (!text_number(text, "", &number) || number <= 0 || frexp(number, &exponent) != 0.5)
            return false;
        exponent--;
    } else {
        exponent = 0;
    }
    if (abs(exponent) > MOST_EXPONENT)
        return false;
    *scale_p = i >= 0 ? i : SCALE_FIXED;
    *exponent_p = exponent;
    return true;
}

static bool read_scale(const char *text, struct env *env)
{
    return env_read_scale(text, &env->scale, &env->scale_exponent);
}

static bool read_verify(const char *text, struct env *env)
{
    double number;
    if (!text_number(text, "", &number) || number < 0 || number > INT_MAX || number != floor(number))
        return false;
    env->verify = (int)number;
    return true;
}

static bool read_scratch(const char *text, struct env *env)
{
    double number;
    env->scratch_budget = 0;
    env->scratch_share = 0;
    if (text_number(text, "%", &number) && number >= 0 && number <= 100) {
        env->scratch_share = number / 100;
        return true;
    }
    if (!text_number(text, "", &number) || number < 1 || number > 0x1p40 || number != floor(number))
        return false;
    env->scratch_budget = (uint64_t)number << 20;
    return true;
}

static bool read_underflow(const char *text, struct env *env)
{
    double number;
    if (strcasecmp(text, "off") == 0) {
        env->underflow_limit = INFINITY;
        return true;
    }
    if (!text_number(text, "%", &number) || number < 0 || number > 100)
        return false;
    env->underflow_limit = number / 100;
    return true;
}

/* "" where it can't be known. */
static void read_program(char program[ENV_TEXT_BYTES])
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(program, ENV_TEXT_BYTES, "%.*s", ENV_TEXT_BYTES - 1, slash != NULL ? slash + 1 : path);
}

/* Where files are kept that can be made again. By the standard a relative path counts as none. */
static void read_cache(const struct source *source, char cache[ENV_TEXT_BYTES])
{
    const char *home = source->get("XDG_CACHE_HOME"), *below = "";
    if (home == NULL || home[0] != '/') {
        home = source->get("HOME");
        below = "/.cache";
    }
    if (home == NULL || home[0] != '/' ||
        snprintf(cache, ENV_TEXT_BYTES, "%s%s/apexshim", home, below) >= ENV_TEXT_BYTES)
        cache[0] = '\0';
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
    const struct source source = {get, complain};
    const struct env_variable *v = env_variables;
#define ENV(_name, _field, _choices, _default, _doc)                                               \
    env->_field = parse_choice(v, &source);                                                        \
    v++;
#define ENV_TEXT(_name, _field, _default, _doc)                                                    \
    parse_text(v, &source, env->_field);                                                           \
    v++;
#define ENV_FORM(_name, _field, _form, _default, _doc)                                             \
    parse_form(v, &source, env, read_##_field);                                                    \
    v++;
#define ENV_DEFAULT(_variable, _value, _name, _other)
#include "env.def"
#undef ENV
#undef ENV_TEXT
#undef ENV_FORM
#undef ENV_DEFAULT
    if (env->precision == PRECISION_AUTO && env->verify == 0)
        env->verify = VERIFY_WHEN_TUNING;
    env->converts = env->precision != PRECISION_FP32 || env->rules[0] != '\0';
    env->copies = env->precision > PRECISION_TF32 || env->rules[0] != '\0';
    read_cache(&source, env->cache);
    env->program[0] = '\0';
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
            unsigned d = text_distance(env_variables[i].name, strlen(env_variables[i].name), entry, len);
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
    _Atomic(const struct env *) read; /* env, once it is complete */
    atomic_flag reported;
} state = {.once = PTHREAD_ONCE_INIT, .reported = ATOMIC_FLAG_INIT};

const char *env_given(const char *name)
{
    return secure_getenv(name);
}

static void read_process(void)
{
    env_parse(&state.env, env_given, NULL);
    read_program(state.env.program);
    /* The executable's name decides once whether this process is meant at all. */
    if (state.env.program[0] != '\0' && !env_list_matches(state.env.apps, state.env.program))
        state.env.enabled = 0;
    log_set_level((enum log_level)state.env.log_level);
    atomic_store_explicit(&state.read, &state.env, memory_order_release);
}

const struct env *env_get(void)
{
    /* several times in each intercepted call: no call of the C library */
    const struct env *env = atomic_load_explicit(&state.read, memory_order_acquire);
    if (env != NULL)
        return env;
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
    env_parse(&again, env_given, warn_line);
    env_check_names((const char *const *)environ, warn_line);
    if (again.opt_level == OPT_O2)
        LOG_WARN("APEXSHIM_OPT_LEVEL=O2 is O1 in this version: there is no operand cache yet and no "
                 "fused update");
}
