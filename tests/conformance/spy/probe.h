/* SPDX-License-Identifier: BSD-3-Clause
 * What the probes of both headers share. Owned by probe.c. */
#ifndef CONFORMANCE_PROBE_H
#define CONFORMANCE_PROBE_H

#include <stddef.h>

struct probe {
    const char *name;
    void (*run)(void);
};
extern const struct probe legacy_probes[];
extern const size_t legacy_probe_count;

enum kind { OTHER, OPERATION, TYPE, COMPUTE, SIZE, STRIDE };
void draw(void *value, size_t bytes, enum kind kind); /* an argument, and the note of it */
void begin(void);                                     /* just before the call */
void end(const char *name);                           /* just after */
extern int answer_got;

#endif
