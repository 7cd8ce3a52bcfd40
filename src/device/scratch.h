/* SPDX-License-Identifier: BSD-3-Clause
 * Device memory for one converted call on one stream, or in one capture of it. A set is taken for
 * the time in which the call's work is enqueued and given back after; stream order then protects
 * what it holds, since the next user of the set enqueues on the same stream. Two threads on one
 * stream get two sets. What a capture uses belongs to its graph and is never used outside. */
#ifndef APEXSHIM_SCRATCH_H
#define APEXSHIM_SCRATCH_H

#include "device/context.h"
#include "kernels/kernels.h"

/* What the kernels of successive calls leave in device memory: first the record, then predictions. */
struct scratch_state {
    struct apex_record record;
    int32_t predictions[APEX_PREDICTIONS];
};

struct scratch {
    CUdeviceptr state;  /* a struct scratch_state; the record is clean */
    bool dirty;         /* set by the caller when a launch failed between two kernels of a call */
    CUdeviceptr data;   /* 256-byte aligned */
    size_t data_bytes;
    CUstream stream;
    uint64_t stream_id;
    uint64_t capture;   /* context_capture_id of the stream; 0: not capturing */
    bool taken;
    bool orphan;        /* empty: its stream or graph is gone */
    struct scratch *next;
};

enum { SCRATCH_ALIGN = 256 };

/* A set of the stream (in this capture) with at least bytes of data. NULL: over the budget, out of
 * memory or a failed call; nothing has been enqueued then. */
struct scratch *scratch_take(struct context *context, CUstream stream, uint64_t capture,
                             size_t bytes);
void scratch_give_back(struct context *context, struct scratch *scratch);

/* The stream, of the current context, is about to be destroyed: frees its sets in its order. */
void scratch_forget_stream(CUstream stream);
/* The program sets what the next work of a capturing stream depends on: that may no longer be the
 * work before it. NULL: of any stream. */
void scratch_reorder(CUstream stream);
/* Nothing that was made from this capture exists any more (of any context; ids are the driver's). */
void scratch_forget_capture(uint64_t capture);
/* The program is out of memory in the current context: gives back what no call uses. Waits for the
 * device. False: there was nothing. */
bool scratch_relieve(void);

#endif
