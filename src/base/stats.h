/* SPDX-License-Identifier: BSD-3-Clause
 * Counts of what was seen and decided, and the line at exit. Counting takes no lock. */
#ifndef APEXSHIM_STATS_H
#define APEXSHIM_STATS_H

#include <stdbool.h>
#include <stdint.h>

enum stats_path {
#define PATH(_enum, _word) STATS_##_enum,
#include "gemm/path.def"
#undef PATH
    STATS_PATHS
};

enum reason {
#define REASON(_enum, _word, _text) REASON_##_enum,
#include "gemm/reason.def"
#undef REASON
    REASONS
};

/* What else keeps a GPU busy: counted, so that nobody wonders why nothing got faster. */
enum other { OTHER_LEVEL3, OTHER_GEMV, OTHER_LAUNCH, OTHER_GRAPH, OTHERS };

/* Of a function that is only counted: a GEMM with the reason why it is forwarded, or another. */
enum kind {
    KIND_DOUBLE = REASON_DOUBLE,
    KIND_HALF = REASON_HALF,
    KIND_COMPLEX = REASON_COMPLEX,
    KIND_GROUPED = REASON_GROUPED,
    KIND_LEGACY = REASON_LEGACY,
    KIND_LEVEL3 = REASONS + OTHER_LEVEL3,
    KIND_GEMV = REASONS + OTHER_GEMV,
    KIND_LAUNCH = REASONS + OTHER_LAUNCH,
    KIND_GRAPH = REASONS + OTHER_GRAPH,
    KIND_STREAM_DESTROY, /* not counted: scratch of the stream is given back */
};

struct stats {
    uint64_t seen, eligible;
    uint64_t converted[STATS_PATHS];
    uint64_t forwarded[REASONS];
    uint64_t other[OTHERS];
};

void stats_count_seen(void);
/* A call that would have been converted at O1 (only counted at O0). */
void stats_count_eligible(void);
void stats_count_converted(enum stats_path path);
void stats_count_forwarded(enum reason reason);
void stats_count_kind(enum kind kind);
/* A cuBLAS handle was created in this process: from here on there is a line at exit. */
void stats_engage(void);
bool stats_engaged(void);

/* The sum over all threads. */
struct stats stats_total(void);
const char *stats_path_word(enum stats_path path);
const char *reason_word(enum reason reason);
const char *reason_text(enum reason reason);

/* Writes the line at exit, if this process created a handle. Called by the object's destructor. */
void stats_at_exit(void);

#endif
