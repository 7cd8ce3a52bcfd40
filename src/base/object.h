/* SPDX-License-Identifier: BSD-3-Clause
 * The loaded objects of this process, as dl_iterate_phdr shows them. */
#ifndef APEXSHIM_OBJECT_H
#define APEXSHIM_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

enum { OBJECTS_MAX = 8, OBJECT_PATH_BYTES = 512 };

/* Loaded objects whose file name begins with one prefix, in the order in which they were loaded. */
struct objects {
    const char *prefix;
    unsigned n;
    struct object {
        uintptr_t base, begin, end; /* load address, first and last mapped one */
        char path[OBJECT_PATH_BYTES];
    } object[OBJECTS_MAX];
};

/* libcublas.so.13, and libcublas-1a2b3c.so.13 as some wheels rename it, but not libcublasLt. */
void objects_find(const char *prefix, struct objects *objects);
/* The one that holds the address, or NULL. */
const struct object *objects_holding(const struct objects *objects, const void *address);

bool object_name_matches(const char *path, const char *prefix);
const char *object_base_name(const char *path);
/* The digits after ".so." of a file name, or "". */
const char *object_version(const char *path);

/* Does the object that holds code address caller list the file name among its DT_NEEDED? */
bool object_needs(const void *caller, const char *path);

#endif
