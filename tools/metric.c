/* SPDX-License-Identifier: BSD-3-Clause
 * Numbers that a program prints, found by regular expressions, line by line. */
#include "config.h"
#include "metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1 << 16 }; /* longer lines are cut into several */

const char *metric_parse(struct metric *m, char *text)
{
    static char message[256];
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return "must be NAME=REGEX";
    *equals = '\0';
    m->name = text;
    const int error = regcomp(&m->pattern, equals + 1, REG_EXTENDED);
    if (error != 0) {
        regerror(error, &m->pattern, message, sizeof message);
        return message;
    }
    if (m->pattern.re_nsub < 1 || m->pattern.re_nsub > 2) {
        regfree(&m->pattern);
        return "needs one group (the value) or two (the step, the value)";
    }
    return NULL;
}

static bool add(struct curve *c, double step, double value)
{
    if ((c->n & (c->n - 1)) == 0) { /* the space is the next power of two */
        const size_t space = c->n == 0 ? 1 : 2 * c->n;
        double *steps = realloc(c->steps, space * sizeof *steps);
        if (steps != NULL)
            c->steps = steps;
        double *values = realloc(c->values, space * sizeof *values);
        if (values != NULL)
            c->values = values;
        if (steps == NULL || values == NULL)
            return false;
    }
    c->steps[c->n] = step;
    c->values[c->n++] = value;
    return true;
}

/* The number in a group; false: it is none. */
static bool number_in(const char *line, const regmatch_t *group, double *number_p)
{
    char text[64], *end;
    const size_t n = (size_t)(group->rm_eo - group->rm_so);
    if (group->rm_so < 0 || n == 0 || n >= sizeof text)
        return false;
    memcpy(text, line + group->rm_so, n);
    text[n] = '\0';
    *number_p = strtod(text, &end);
    return *end == '\0';
}

static bool match(const struct metric *m, const char *line, struct curve *c)
{
    regmatch_t groups[3];
    double step, value;
    const bool has_step = m->pattern.re_nsub == 2;
    if (regexec(&m->pattern, line, 3, groups, 0) != 0 ||
        !number_in(line, &groups[has_step ? 2 : 1], &value))
        return true;
    if (!has_step || !number_in(line, &groups[1], &step))
        step = (double)c->n + 1;
    return add(c, step, value);
}

bool metric_scan(const struct metric *metrics, size_t n, const char *path, struct run *run)
{
    FILE *file = n != 0 ? fopen(path, "r") : NULL;
    char *line = malloc(LINE_BYTES);
    bool ok = line != NULL;
    while (ok && file != NULL && fgets(line, LINE_BYTES, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        for (size_t i = 0; i < n; i++)
            ok = match(&metrics[i], line, &run->curves[i]) && ok;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return ok;
}
