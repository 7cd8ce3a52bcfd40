/* SPDX-License-Identifier: BSD-3-Clause
 * Reads files of sections and entries:
 *     # a comment
 *     [section]
 *     key = value
 * Blanks around words do not count. A file is taken whole or not at all. */
#ifndef APEXSHIM_INI_H
#define APEXSHIM_INI_H

#include <stdbool.h>
#include <stddef.h>

enum { INI_EXPECTED_BYTES = 160 };

/* Called for each section (key NULL) and each entry. False: bad, with what was expected in
 * expected. */
typedef bool ini_line(void *data, const char *section, const char *key, const char *value,
                      char expected[INI_EXPECTED_BYTES]);

/* Reads a regular file of at most 4 MiB. False: it can't be read, or a line is bad: then complaint
 * says "FILE:LINE: ...". Keeps errno. */
bool ini_read(const char *path, ini_line *line, void *data, char *complaint, size_t bytes);
/* The same of a text that was read already, which is written to. name: for the complaint. */
bool ini_parse(char *text, size_t length, const char *name, ini_line *line, void *data,
               char *complaint, size_t bytes);
/* Is there a file? For names that need not exist. */
bool ini_exists(const char *path);

#endif
