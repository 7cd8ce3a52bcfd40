/* SPDX-License-Identifier: BSD-3-Clause
 * Everything that the compiler makes of the project's own kernels, of the test programs and of the
 * test kernels must be known to the engine and tested. Arguments: the list of tested mnemonics,
 * then PTX files. Reads the files by a scanner of its own, not by the engine's parser. */
#include "tests/softgpu/engine/engine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names {
    char **name;
    size_t n, room;
};

static void add(struct names *names, const char *name, size_t len)
{
    if (names->n == names->room) {
        names->room = names->room ? 2 * names->room : 256;
        names->name = realloc(names->name, names->room * sizeof *names->name);
    }
    if (!names->name || !(names->name[names->n++] = strndup(name, len)))
        abort();
}

static int order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct names *names)
{
    size_t n = 0;

    qsort(names->name, names->n, sizeof *names->name, order);
    for (size_t i = 0; i < names->n; i++) {
        if (n && strcmp(names->name[n - 1], names->name[i]) == 0)
            free(names->name[i]);
        else
            names->name[n++] = names->name[i];
    }
    names->n = n;
}

static bool has(const struct names *names, const char *name)
{
    return names->n && bsearch(&name, names->name, names->n, sizeof *names->name, order);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t n = 0, room = 0, got = 0;

    if (!file) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    do {
        n += got;
        if (room - n < 4096)
            room = 2 * room + 65536;
        text = realloc(text, room);
        if (!text)
            abort();
        got = fread(text + n, 1, room - n - 1, file);
    } while (got);
    text[n] = '\0';
    fclose(file);
    return text;
}

/* Comments and strings become blanks. */
static void blank_out(char *text)
{
    char *end;

    for (char *at = text; *at; at++) {
        if (at[0] == '/' && at[1] == '/')
            end = at + strcspn(at, "\n");
        else if (at[0] == '/' && at[1] == '*')
            end = (end = strstr(at, "*/")) ? end + 2 : at + strlen(at);
        else if (*at == '"')
            end = at + 1 + strcspn(at + 1, "\"\n") + 1;
        else
            continue;
        memset(at, ' ', (size_t)(end - at));
    }
}

/* One statement: labels, guard, then a directive or a mnemonic. */
static void scan_statement(const char *at, struct names *out)
{
    size_t n, blanks;

    for (;;) {
        at += strspn(at, " \t\r\n");
        n = strcspn(at, " \t\r\n:,;{}()[]");
        blanks = strspn(at + n, " \t\r\n");
        if (at[n + blanks] == ':' && at[n + blanks + 1] != ':')
            at += n + blanks + 1;
        else if (*at == '@')
            at += n;
        else
            break;
    }
    if (!islower((unsigned char)*at))
        return;
    for (n = 0; isalnum((unsigned char)at[n]) || (at[n] && strchr("._:", at[n])); n++)
        ;
    add(out, at, n);
}

/* Is the brace that follows this statement's text one of a block, not of a vector or a list? */
static bool opens_block(const char *statement, const char *brace)
{
    statement += strspn(statement, " \t\r\n");
    if (statement == brace)
        return true;
    return *statement == '.' && !memchr(statement, '=', (size_t)(brace - statement));
}

static void scan(char *text, struct names *out)
{
    char *start = text;
    int lists = 0; /* open braces that are not blocks */

    blank_out(text);
    for (char *at = text; *at; at++) {
        if (*at == '{' && !opens_block(start, at)) {
            lists++;
        } else if (*at == '}' && lists) {
            lists--;
        } else if (*at == ';' || *at == '{' || *at == '}') {
            *at = '\0';
            scan_statement(start, out);
            start = at + 1;
        }
    }
}

static bool loads(const char *path, const char *text)
{
    struct sg_arena *vars = sg_arena_new("variables", 64 << 20);
    size_t length = strlen(text);
    char *error = NULL;
    struct sg_module *module = sg_module_load(&text, &length, 1, path, vars, &error);

    if (module)
        sg_module_unload(module);
    else
        fprintf(stderr, "%s\n", error);
    free(error);
    sg_arena_delete(vars);
    return module != NULL;
}

int main(int argc, char **argv)
{
    struct names tested = {0};
    size_t used = 0;
    int wrong = 0;
    char *list, *save = NULL;

    if (argc < 3) {
        fprintf(stderr, "usage: check_mnemonics LIST PTX...\n");
        return EXIT_FAILURE;
    }
    list = read_file(argv[1]);
    for (char *line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add(&tested, line, strlen(line));
    sort(&tested);
    for (int i = 2; i < argc; i++) {
        struct names found = {0};
        char *text = read_file(argv[i]);

        wrong += !loads(argv[i], text);
        scan(text, &found);
        sort(&found);
        used += found.n;
        for (size_t k = 0; k < found.n; k++) {
            if (!has(&tested, found.name[k])) {
                fprintf(stderr, "%s: %s is not tested\n", argv[i], found.name[k]);
                wrong++;
            }
            if (!sg_mnemonic_known(found.name[k])) {
                fprintf(stderr, "%s: the engine does not know %s\n", argv[i], found.name[k]);
                wrong++;
            }
        }
        free(text);
        for (size_t k = 0; k < found.n; k++)
            free(found.name[k]);
        free(found.name);
    }
    printf("%d files, %zu mnemonics in use (%zu tested), %d wrong\n", argc - 2, used, tested.n,
           wrong);
    for (size_t k = 0; k < tested.n; k++)
        free(tested.name[k]);
    free(tested.name);
    free(list);
    return wrong || !used ? EXIT_FAILURE : EXIT_SUCCESS;
}
