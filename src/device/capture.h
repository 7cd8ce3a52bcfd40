/* SPDX-License-Identifier: BSD-3-Clause
 * Captures of streams into graphs, by the driver's ids of them: which GEMMs went into each, and
 * when the last graph made from one is gone. No call that can break a capture is made here. */
#ifndef APEXSHIM_CAPTURE_H
#define APEXSHIM_CAPTURE_H

#include "base/real.h"
#include "device/graph.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic unsigned captures_in_progress;

/* Does any stream capture? No call, no lock: for calls that mostly happen outside of captures. */
static inline bool capture_any(void)
{
    return atomic_load_explicit(&captures_in_progress, memory_order_relaxed) != 0;
}

/* The driver's id of the capture that the stream is part of (never 0). 0: it is part of none, or
 * of one that has become invalid, or the driver does not tell. */
uint64_t capture_id(CUstream stream);

/* A capture has begun on the stream. */
void capture_begun(CUstream stream);
/* The program has asked to end the capture that began on the stream. Where it is over now, forgets
 * it and returns what was put into it. */
struct graph_work capture_ended(CUstream stream);

/* Work was put into the capture that the stream is part of, if it is part of one. */
void capture_add(CUstream stream, struct graph_work work);
/* The same for one GEMM of a cuBLAS handle, on the handle's stream. */
void capture_add_gemm(const struct real_blas *real, cublasHandle_t handle, bool converted);

/* Gives the scratch memory back of captures from which no graph and no executable is left. The
 * driver tells of that in the middle of its own work, where nothing may be called. This may wait
 * for the device, so it is done where captures end and graphs are changed or destroyed, not at
 * launches. */
void capture_collect(void);

#endif
