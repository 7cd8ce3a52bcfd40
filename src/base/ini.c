/* SPDX-License-Identifier: BSD-3-Clause
 * The parser of rule, decision and tuning files. inih, the usual library, cuts names at 50 bytes
 * and lines at 200 without a word and does not tell two sections of the same name apart. Owns
 * nothing. */
#include "config.h"
#include "base/ini.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 4 << 20 };

static const char blanks[] = " \t\r";

/* Cuts the blanks at both ends. */
static char *trim(char *s)
{
    s += strspn(s, blanks);
    size_t n = strlen(s);
    while (n > 0 && strchr(blanks, s[n - 1]) != NULL)
        n--;
    s[n] = '\0';
    return s;
}

/* One line without its end; *section_p: the section it is in. */
static bool parse_line(char *s, const char **section_p, ini_line *line, void *data,
                       char expected[INI_EXPECTED_BYTES])
{
    s = trim(s);
    if (s[0] == '\0' || s[0] == '#' || s[0] == ';')
        return true;
    if (s[0] == '[') {
        char *end = strchr(s, ']');
        if (end == NULL || end[1] != '\0') {
            snprintf(expected, INI_EXPECTED_BYTES, "']' at the end of a section");
            return false;
        }
        *end = '\0';
        *section_p = trim(s + 1);
        return line(data, *section_p, NULL, NULL, expected);
    }
    char *equals = strchr(s, '=');
    if (equals == NULL || equals == s) {
        snprintf(expected, INI_EXPECTED_BYTES, "[SECTION] or KEY = VALUE");
        return false;
    }
    if (*section_p == NULL) {
        snprintf(expected, INI_EXPECTED_BYTES, "a [SECTION] before the first entry");
        return false;
    }
    *equals = '\0';
    return line(data, *section_p, trim(s), trim(equals + 1), expected);
}

bool ini_parse(char *text, size_t length, const char *name, ini_line *line, void *data,
               char *complaint, size_t bytes)
{
    char expected[INI_EXPECTED_BYTES] = "";
    const char *section = NULL;
    int number = 1;
    for (char *s = text, *end = text + length; s < end; number++) {
        char *newline = memchr(s, '\n', (size_t)(end - s));
        char *next = newline != NULL ? newline + 1 : end;
        /* The byte behind the text is ours, too. */
        char *stop = newline != NULL ? newline : end;
        const bool whole = memchr(s, '\0', (size_t)(stop - s)) == NULL;
        *stop = '\0';
        if (!whole)
            snprintf(expected, sizeof expected, "text");
        if (!whole || !parse_line(s, &section, line, data, expected)) {
            snprintf(complaint, bytes, "%s:%d: expected %s", name, number, expected);
            return false;
        }
        s = next;
    }
    return true;
}

static char *read_all(int file, size_t *length_p)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return NULL;
    if (!S_ISREG(status.st_mode) || status.st_size > MOST_BYTES) {
        errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    char *text = malloc((size_t)status.st_size + 1);
    size_t length = 0;
    while (text != NULL && length < (size_t)status.st_size) {
        ssize_t n = read(file, text + length, (size_t)status.st_size - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(text);
            return NULL;
        }
        if (n == 0)
            break;
        length += (size_t)n;
    }
    *length_p = length;
    return text;
}

bool ini_read(const char *path, ini_line *line, void *data, char *complaint, size_t bytes)
{
    const int saved = errno;
    size_t length = 0;
    bool good = false;
    /* Not to wait for the other end of a pipe. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = file >= 0 ? read_all(file, &length) : NULL;
    if (text == NULL)
        snprintf(complaint, bytes, "%s: %s", path, strerror(errno));
    else
        good = ini_parse(text, length, path, line, data, complaint, bytes);
    free(text);
    if (file >= 0)
        close(file);
    errno = saved;
    return good;
}

bool ini_exists(const char *path)
{
    const int saved = errno;
    const bool exists = access(path, F_OK) == 0;
    errno = saved;
    return exists;
}
