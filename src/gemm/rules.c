/* SPDX-License-Identifier: BSD-3-Clause
 * Reads and matches rules. Owns those of the process, which are kept until it ends. */
#include "config.h"
#include "gemm/rules.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M, N, K, BATCH, SIZES };

struct range {
    int64_t low, high;
};

/* Texts are NULL where nothing is asked. */
struct rule {
    char *name;
    char *routine, *transposes, *caller, *executable, *site_library;
    uint64_t site_offset;
    struct range size[SIZES];
    int precision;             /* -1: that of the variables */
    enum path path;            /* PATHS: none */
    int scale, scale_exponent; /* scale -1: that of the variables */
    struct rule *next;
};

struct rules {
    struct rule *first, *last;
    size_t n;
};

static bool expect(char expected[INI_EXPECTED_BYTES], const char *what)
{
    snprintf(expected, INI_EXPECTED_BYTES, "%s", what);
    return false;
}

static bool set_text(char **text, const char *value, char expected[INI_EXPECTED_BYTES])
{
    if (*text != NULL)
        return expect(expected, "each key once");
    if (value[0] == '\0')
        return expect(expected, "a pattern behind '='");
    *text = strdup(value);
    return *text != NULL || expect(expected, "memory");
}

/* A whole number that is not negative. */
static bool read_size(const char *text, size_t length, int64_t *size_p)
{
    int64_t size = 0;
    if (length == 0 || length > 18)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        size = 10 * size + (text[i] - '0');
    }
    *size_p = size;
    return true;
}

/* "64", "64..1024", "64..", "..1024". */
static bool read_range(const char *text, struct range *range)
{
    const char *dots = strstr(text, "..");
    struct range r = {0, INT64_MAX};
    if (dots == NULL) {
        if (!read_size(text, strlen(text), &r.low))
            return false;
        r.high = r.low;
    } else if ((dots != text && !read_size(text, (size_t)(dots - text), &r.low)) ||
               (dots[2] != '\0' && !read_size(dots + 2, strlen(dots + 2), &r.high)) ||
               r.low > r.high || (dots == text && dots[2] == '\0')) {
        return false;
    }
    *range = r;
    return true;
}

static bool set_range(struct range *range, const char *value, char expected[INI_EXPECTED_BYTES])
{
    if (range->high != INT64_MAX || range->low != 0)
        return expect(expected, "each key once");
    return read_range(value, range) || expect(expected, "a size or a range like 64..1024");
}

/* "library+0x1a2b" */
static bool set_site(struct rule *rule, const char *value, char expected[INI_EXPECTED_BYTES])
{
    const char *plus = strrchr(value, '+');
    char *end;
    if (plus == NULL || plus == value || strncmp(plus, "+0x", 3) != 0 || strlen(plus) > 19 ||
        strspn(plus + 3, "0123456789abcdefABCDEF") != strlen(plus + 3) || plus[3] == '\0')
        return expect(expected, "LIBRARY+0xOFFSET");
    if (!set_text(&rule->site_library, value, expected))
        return false;
    rule->site_library[plus - value] = '\0';
    rule->site_offset = strtoull(plus + 3, &end, 16);
    return true;
}

static bool set_transposes(struct rule *rule, const char *value, char expected[INI_EXPECTED_BYTES])
{
    if (strspn(value, "NT?*,") != strlen(value))
        return expect(expected, "NN, NT, TN or TT, or patterns with ?, separated by commas");
    return set_text(&rule->transposes, value, expected);
}

static bool set_path(struct rule *rule, const char *value, char expected[INI_EXPECTED_BYTES])
{
    if (rule->path != PATHS)
        return expect(expected, "each key once");
    rule->path = path_of_word(value);
    return rule->path != PATHS ||
           expect(expected,
                  "off, tf32, fp16, bf16, fp16x2, bf16x3, bf16x6, fp8, fp8_e5m2_a or fp8_e5m2_b");
}

static bool set_class(struct rule *rule, const char *value, char expected[INI_EXPECTED_BYTES])
{
    if (rule->precision >= 0)
        return expect(expected, "each key once");
    rule->precision = precision_of_word(value);
    return rule->precision >= 0 ||
           expect(expected, "fp32, tf32, fp16, bf16, fp16x2, bf16x3, bf16x6 or fp8");
}

static bool set_scale(struct rule *rule, const char *value, char expected[INI_EXPECTED_BYTES])
{
    if (rule->scale >= 0)
        return expect(expected, "each key once");
    return env_read_scale(value, &rule->scale, &rule->scale_exponent) ||
           expect(expected, "dynamic, exact or a power of two");
}

static bool set(struct rule *rule, const char *key, const char *value,
                char expected[INI_EXPECTED_BYTES])
{
    static const char keys[] =
        "routine|m|n|k|batch|transposes|caller|site|executable|path|class|scale";
    switch (text_choice_index(keys, key)) {
    case 0:
        return set_text(&rule->routine, value, expected);
    case 1:
        return set_range(&rule->size[M], value, expected);
    case 2:
        return set_range(&rule->size[N], value, expected);
    case 3:
        return set_range(&rule->size[K], value, expected);
    case 4:
        return set_range(&rule->size[BATCH], value, expected);
    case 5:
        return set_transposes(rule, value, expected);
    case 6:
        return set_text(&rule->caller, value, expected);
    case 7:
        return set_site(rule, value, expected);
    case 8:
        return set_text(&rule->executable, value, expected);
    case 9:
        return set_path(rule, value, expected);
    case 10:
        return set_class(rule, value, expected);
    case 11:
        return set_scale(rule, value, expected);
    default:
        return expect(expected,
                      "routine, m, n, k, batch, transposes, caller, site, executable, path, "
                      "class or scale");
    }
}

static bool is_complete(const struct rule *rule, char expected[INI_EXPECTED_BYTES])
{
    if (rule == NULL || rule->path != PATHS || rule->precision >= 0 || rule->scale >= 0)
        return true;
    snprintf(expected, INI_EXPECTED_BYTES, "path, class or scale in the section [%.80s]",
             rule->name);
    return false;
}

static bool read_line(void *data, const char *section, const char *key, const char *value,
                      char expected[INI_EXPECTED_BYTES])
{
    struct rules *rules = data;
    if (key != NULL)
        return set(rules->last, key, value, expected);
    if (strncmp(section, "gemm", 4) != 0 || (section[4] != '\0' && section[4] != ' '))
        return expect(expected, "[gemm] or [gemm NAME]");
    if (!is_complete(rules->last, expected))
        return false;
    struct rule *rule = calloc(1, sizeof *rule);
    if (rule == NULL)
        return expect(expected, "memory");
    rule->precision = rule->scale = -1;
    rule->path = PATHS;
    for (int i = 0; i < SIZES; i++)
        rule->size[i] = (struct range){0, INT64_MAX};
    if (rules->last != NULL)
        rules->last->next = rule;
    else
        rules->first = rule;
    rules->last = rule;
    rules->n++;
    rule->name = strdup(section);
    return rule->name != NULL || expect(expected, "memory");
}

struct rules *rules_read(const char *path, char *complaint, size_t bytes)
{
    char expected[INI_EXPECTED_BYTES];
    struct rules *rules = calloc(1, sizeof *rules);
    if (rules == NULL)
        return NULL;
    bool good = ini_read(path, read_line, rules, complaint, bytes);
    if (good && !is_complete(rules->last, expected)) {
        snprintf(complaint, bytes, "%s: expected %s", path, expected);
        good = false;
    }
    if (good)
        return rules;
    rules_free(rules);
    return NULL;
}

void rules_free(struct rules *rules)
{
    if (rules == NULL)
        return;
    for (struct rule *r = rules->first, *next; r != NULL; r = next) {
        next = r->next;
        free(r->name);
        free(r->routine);
        free(r->transposes);
        free(r->caller);
        free(r->executable);
        free(r->site_library);
        free(r);
    }
    free(rules);
}

size_t rules_count(const struct rules *rules)
{
    return rules->n;
}

static bool in(const struct range *range, int64_t size)
{
    return size >= range->low && size <= range->high;
}

static bool allows(const char *patterns, const char *text)
{
    return patterns == NULL || env_list_matches(patterns, text);
}

static bool matches(const struct rule *r, const struct place *p)
{
    return allows(r->routine, p->routine) && in(&r->size[M], p->m) && in(&r->size[N], p->n) &&
           in(&r->size[K], p->k) && in(&r->size[BATCH], p->batch) &&
           allows(r->transposes, p->transposes) && allows(r->caller, p->object) &&
           allows(r->executable, p->executable) &&
           (r->site_library == NULL ||
            (r->site_offset == p->offset && fnmatch(r->site_library, p->object, 0) == 0));
}

const char *rules_apply(const struct rules *rules, const struct place *place, struct wish *wish)
{
    const struct rule *r = rules->first;
    while (r != NULL && !matches(r, place))
        r = r->next;
    if (r == NULL)
        return NULL;
    if (r->precision >= 0)
        wish->precision = r->precision;
    if (r->path != PATHS)
        wish->path = r->path;
    if (r->scale >= 0) {
        wish->scale = r->scale;
        wish->scale_exponent = r->scale_exponent;
    }
    return r->name;
}

static struct {
    pthread_mutex_t lock;
    bool read;
    struct rules *rules;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

const struct rules *rules_get(const struct env *env)
{
    char complaint[1024] = "";
    if (env->rules[0] == '\0')
        return NULL;
    pthread_mutex_lock(&process.lock);
    if (!process.read) {
        process.read = true;
        process.rules = rules_read(env->rules, complaint, sizeof complaint);
        if (process.rules == NULL)
            LOG_WARN("APEXSHIM_RULES: %s; the whole file is ignored", complaint);
        else
            LOG_INFO("%zu rules of %s", process.rules->n, env->rules);
    }
    const struct rules *rules = process.rules;
    pthread_mutex_unlock(&process.lock);
    return rules;
}
