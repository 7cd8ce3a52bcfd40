/* SPDX-License-Identifier: BSD-3-Clause
 * Files that are kept from run to run. */
#ifndef APEXSHIM_CACHE_H
#define APEXSHIM_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* "DIRECTORY/KIND-A-B.ini", with a and b as small letters, digits and '-'; b may be NULL. False: no
 * directory (""), or too long. */
bool cache_name(char *path, size_t bytes, const char *directory, const char *kind, const char *a,
                const char *b);

/* Writes a file so that every reader sees the old one or all of the new one, and makes the folders
 * above it. False: nothing has changed, and complaint says why. Keeps errno. */
bool cache_write(const char *path, const char *text, size_t length, char *complaint, size_t bytes);

#endif
