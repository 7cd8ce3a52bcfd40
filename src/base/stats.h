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
enum other {
    OTHER_LEVEL3,
    OTHER_GEMV,
    OTHER_TRANSFORM,
    OTHER_CUDNN,
    OTHER_LAUNCH, /* of kernels, outside of cuBLAS */
    OTHER_GRAPH,  /* launches of graphs that ran */
    OTHERS_SHOWN, /* at the usual log level; what follows only with more */
    OTHER_ALLOCATION = OTHERS_SHOWN,
    OTHER_FREE,
    OTHER_COPY,
    OTHER_MEMSET,
    OTHER_STREAM,
    OTHER_CONTEXT,
    OTHER_CAPTURE,
    OTHER_GRAPH_CHANGE,
    OTHERS
};

/* Of a function that is only counted: a GEMM with the reason why it is forwarded, or another. */
enum kind {
    KIND_DOUBLE = REASON_DOUBLE,
    KIND_HALF = REASON_HALF,
    KIND_COMPLEX = REASON_COMPLEX,
    KIND_GROUPED = REASON_GROUPED,
    KIND_LEGACY = REASON_LEGACY,
    KIND_LEVEL3 = REASONS + OTHER_LEVEL3,
    KIND_GEMV = REASONS + OTHER_GEMV,
    KIND_TRANSFORM = REASONS + OTHER_TRANSFORM,
    KIND_CUDNN = REASONS + OTHER_CUDNN,
    KIND_LAUNCH = REASONS + OTHER_LAUNCH,
    KIND_ALLOCATION = REASONS + OTHER_ALLOCATION,
    KIND_FREE = REASONS + OTHER_FREE,
    KIND_COPY = REASONS + OTHER_COPY,
    KIND_MEMSET = REASONS + OTHER_MEMSET,
    KIND_STREAM = REASONS + OTHER_STREAM,
    KIND_STREAM_DESTROY = REASONS + OTHERS, /* counted like STREAM; scratch is given back */
    KIND_CONTEXT = REASONS + OTHER_CONTEXT,
    KIND_CAPTURE = REASONS + OTHER_CAPTURE,
    KIND_GRAPH_CHANGE = REASONS + OTHER_GRAPH_CHANGE,
    KIND_GRAPH_LAUNCH = REASONS + OTHERS + 1, /* counted by stats_count_graph_launch */
    KIND_CAPTURE_ORDER = REASONS + OTHERS + 2, /* counted like CAPTURE; scratch is used no more */
};

static inline bool stats_is_gemm(enum kind kind)
{
    return (int)kind < REASONS;
}

/* Whose floating-point operations, as the arguments say; in units of 1024. */
enum stats_flop { STATS_FLOP_CONVERTED, STATS_FLOP_FORWARDED, STATS_FLOP_LEVEL3, STATS_FLOPS };

struct stats {
    uint64_t seen, eligible;
    uint64_t converted[STATS_PATHS];
    uint64_t forwarded[REASONS];
    uint64_t other[OTHERS];
    uint64_t replayed, replayed_converted; /* GEMMs in launches of graphs */
    uint64_t kiloflop[STATS_FLOPS];
};

void stats_count_seen(void);
/* A call that would have been converted at O1 (only counted at O0). */
void stats_count_eligible(void);
void stats_count_converted(enum stats_path path);
void stats_count_forwarded(enum reason reason);
void stats_count_kind(enum kind kind);
/* A graph with that many GEMMs was launched. */
void stats_count_graph_launch(uint64_t gemms, uint64_t converted);
void stats_count_flop(enum stats_flop whose, double flop);
/* A cuBLAS handle was created in this process: from here on there is a line at exit. */
void stats_engage(void);
bool stats_engaged(void);

/* The shim has so much scratch memory of its budget (bytes) on one GPU: the most is shown. */
void stats_note_scratch(uint64_t bytes, uint64_t budget);

/* The sum over all threads. */
struct stats stats_total(void);
const char *stats_path_word(enum stats_path path);
const char *stats_other_word(enum other other);
const char *reason_word(enum reason reason);
const char *reason_text(enum reason reason);

/* Writes the line at exit, if this process created a handle. Called by the object's destructor. */
void stats_at_exit(void);

#endif
