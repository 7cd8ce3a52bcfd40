/* SPDX-License-Identifier: BSD-3-Clause
 * One record for each CUDA context in which a cuBLAS handle was created: the GPU's facts, the
 * shim's kernels, its scratch sets and its plans. Records live until the process ends. */
#ifndef APEXSHIM_CONTEXT_H
#define APEXSHIM_CONTEXT_H

#include "base/real.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct scratch;
struct plan;

struct gpu {
    int compute_capability; /* 10 * major + minor */
    int multiprocessors;
    bool memory_pools;      /* cuMemAllocAsync works */
};

struct kernels {
    CUfunction amax, cast;
};

struct context {
    CUcontext handle;
    unsigned long long id; /* the driver's: tells a context from a later one at the same address */
    const struct real_cuda *cuda;
    struct gpu gpu;
    _Atomic(const struct kernels *) kernels; /* NULL: not loaded; see device/kernels.h */
    pthread_mutex_t lock;                    /* of the two lists; never held across a CUDA call */
    struct scratch *scratch;                 /* device/scratch.c */
    struct plan *plans[64];                  /* gemm/lt.c: chains by hash */
    _Atomic uint64_t scratch_bytes, scratch_budget; /* budget 0: not decided yet */
    struct context *next;
};

/* The record of the context that is current on this thread, made at the first call. NULL: no
 * driver, no current context, or a failed call. */
struct context *context_current(void);
/* Likewise, but NULL where there is no record yet. */
struct context *context_known(void);

/* Makes the context current for a converted call: it is so already, or it becomes so on a thread
 * that has none (as the CUDA runtime would make it), or another one is current. */
enum context_entry { CONTEXT_OTHER, CONTEXT_CURRENT, CONTEXT_PUSHED };
enum context_entry context_enter(const struct context *context);
void context_leave(const struct context *context, enum context_entry entry);

/* Is the stream being captured into a graph? True in doubt. */
bool context_stream_captures(const struct context *context, CUstream stream);

/* Around calls that a global-mode capture on another thread would forbid (allocate, load). */
CUstreamCaptureMode context_relax_capture(const struct context *context);
void context_restore_capture(const struct context *context, CUstreamCaptureMode mode);

#endif
