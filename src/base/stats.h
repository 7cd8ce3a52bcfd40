/* SPDX-License-Identifier: BSD-3-Clause
 * Counts of what was seen and decided, and the line at exit. Counting takes no lock. */
#ifndef APEXSHIM_STATS_H
#define APEXSHIM_STATS_H

#include <stdint.h>

enum stats_path { STATS_FP16, STATS_TF32, STATS_PATHS };

enum reason {
#define REASON(_enum, _word, _text) REASON_##_enum,
#include "gemm/reason.def"
#undef REASON
    REASONS
};

struct stats {
    uint64_t seen, eligible;
    uint64_t converted[STATS_PATHS];
    uint64_t forwarded[REASONS];
};

void stats_count_seen(void);
/* A call that would have been converted at O1 (only counted at O0). */
void stats_count_eligible(void);
void stats_count_converted(enum stats_path path);
void stats_count_forwarded(enum reason reason);
/* A cuBLAS handle was created in this process: from here on there is a line at exit. */
void stats_engage(void);

/* The sum over all threads. */
struct stats stats_total(void);
const char *reason_word(enum reason reason);
const char *reason_text(enum reason reason);

/* Writes the line at exit, if this process created a handle. Called by the object's destructor. */
void stats_at_exit(void);

#endif
