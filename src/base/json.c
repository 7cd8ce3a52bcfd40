/* SPDX-License-Identifier: BSD-3-Clause
 * The JSON writer (RFC 8259). Owns nothing but what struct json holds. */
#include "config.h"
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct json *j, const char *bytes, size_t n)
{
    if (!j->failed && j->length + n + 1 > j->room) {
        const size_t room = 2 * (j->length + n + 1);
        char *text = realloc(j->text, room);
        j->failed = text == NULL;
        if (!j->failed) {
            j->text = text;
            j->room = room;
        }
    }
    if (j->failed)
        return;
    memcpy(j->text + j->length, bytes, n);
    j->length += n;
    j->text[j->length] = '\0';
}

/* Bytes of the UTF-8 sequence that begins at s; 0: it is not one (RFC 3629). */
static size_t utf8_length(const unsigned char *s)
{
    const size_t n = s[0] < 0x80                    ? 1
                     : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                     : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                     : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                    : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void append_string(struct json *j, const char *value)
{
    append(j, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)value; *s != '\0';) {
        char escaped[8];
        const size_t n = utf8_length(s);
        if (n == 0) {
            append(j, "\\ufffd", 6);
            s++;
            continue;
        }
        if (*s < 0x20 || *s == '"' || *s == '\\' || *s == 0x7f) {
            snprintf(escaped, sizeof escaped, "\\u%04x", *s);
            append(j, escaped, 6);
        } else {
            append(j, (const char *)s, n);
        }
        s += n;
    }
    append(j, "\"", 1);
}

static void begin(struct json *j, const char *name)
{
    if (j->comma)
        append(j, ",", 1);
    j->comma = true;
    if (name == NULL)
        return;
    append_string(j, name);
    append(j, ":", 1);
}

void json_open(struct json *j, const char *name, char bracket)
{
    begin(j, name);
    append(j, &bracket, 1);
    j->comma = false;
}

void json_close(struct json *j, char bracket)
{
    append(j, &bracket, 1);
    j->comma = true;
}

void json_text(struct json *j, const char *name, const char *value)
{
    begin(j, name);
    append_string(j, value);
}

void json_unsigned(struct json *j, const char *name, uint64_t value)
{
    char text[24];
    begin(j, name);
    append(j, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

void json_number(struct json *j, const char *name, double value)
{
    char text[40];
    begin(j, name);
    int n = isfinite(value) ? snprintf(text, sizeof text, "%.9g", value)
                            : snprintf(text, sizeof text, "null");
    /* A program may have set a locale with a decimal comma. */
    for (int i = 0; i < n; i++)
        text[i] = text[i] == ',' ? '.' : text[i];
    append(j, text, (size_t)n);
}

void json_bool(struct json *j, const char *name, bool value)
{
    begin(j, name);
    append(j, value ? "true" : "false", value ? 4 : 5);
}
