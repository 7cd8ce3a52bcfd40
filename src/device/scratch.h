/* SPDX-License-Identifier: BSD-3-Clause
 * Device memory for one converted call on one stream. A set is taken for the time in which the
 * call's work is enqueued and given back after; stream order then protects what it holds, since the
 * next user of the set enqueues on the same stream. Two threads on one stream get two sets. */
#ifndef APEXSHIM_SCRATCH_H
#define APEXSHIM_SCRATCH_H

#include "device/context.h"

struct scratch {
    CUdeviceptr record; /* a struct apex_record; the maxima of this call's slot are zero */
    unsigned slot;      /* which of the record's maxima this call uses; the caller toggles it */
    bool dirty;         /* set by the caller when a launch failed between the two kernels */
    CUdeviceptr data;   /* 256-byte aligned */
    size_t data_bytes;
    uint64_t stream_id;
    bool taken;
    bool orphan; /* empty: its stream was destroyed */
    struct scratch *next;
};

enum { SCRATCH_ALIGN = 256 };

/* A set of the stream with at least bytes of data. NULL: over the budget, out of memory or a
 * failed call; nothing has been enqueued then. */
struct scratch *scratch_take(struct context *context, CUstream stream, size_t bytes);
/* The stream, of the current context, is about to be destroyed: frees its sets in its order. */
void scratch_forget_stream(CUstream stream);
void scratch_give_back(struct context *context, struct scratch *scratch);

#endif
