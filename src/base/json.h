/* SPDX-License-Identifier: BSD-3-Clause
 * Writes JSON into a growing text. Names are literals; strings may hold any bytes (those that are not
 * UTF-8 are shown as U+FFFD). After a failed allocation everything is ignored. */
#ifndef APEXSHIM_JSON_H
#define APEXSHIM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; /* the caller frees it */
    size_t length, room;
    bool failed, comma;
};

/* name: NULL within an array and at the top. */
void json_open(struct json *j, const char *name, char bracket);
void json_close(struct json *j, char bracket);
void json_text(struct json *j, const char *name, const char *value);
void json_unsigned(struct json *j, const char *name, uint64_t value);
/* null where the number is not finite. */
void json_number(struct json *j, const char *name, double value);
void json_bool(struct json *j, const char *name, bool value);

#endif
