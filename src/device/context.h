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

struct kernels;
struct garbage;
struct scratch;
struct plan;

struct gpu {
    int compute_capability; /* 10 * major + minor */
    int multiprocessors;
    bool memory_pools;      /* cuMemAllocAsync works */
    char name[80];          /* as the driver calls it */
};

struct context {
    CUcontext handle;
    unsigned long long id; /* the driver's: tells a context from a later one at the same address */
    CUdevice device;
    atomic_bool dead; /* destroyed; whoever still has this record forwards */
    const struct real_cuda *cuda;
    struct gpu gpu;
    _Atomic(const struct kernels *) kernels; /* NULL: not loaded; see device/kernels.h */
    pthread_mutex_t lock;                    /* of the lists; never held across a CUDA call */
    struct scratch *scratch;                 /* device/scratch.c, like the next */
    struct garbage *garbage;
    struct plan *plans[64];                  /* gemm/lt.c: chains by hash */
    _Atomic uint64_t scratch_bytes, scratch_budget; /* budget 0: not decided yet */
    struct context *next;
};

/* The record of the context that is current on this thread, made at the first call. NULL: no
 * driver, no current context, or a failed call. */
struct context *context_current(void);
/* Likewise, but NULL where there is no record yet. */
struct context *context_known(void);

/* Calls visit for the record of every live context. */
void context_each(void (*visit)(struct context *context, void *arg), void *arg);

/* The context has been destroyed. */
void context_forget(CUcontext handle);
/* Is a live context on this device known? */
bool context_on_device(CUdevice device);

/* Makes the context current for a converted call: it is so already, or it becomes so on a thread
 * that has none (as the CUDA runtime would make it), or another one is current. */
enum context_entry { CONTEXT_OTHER, CONTEXT_CURRENT, CONTEXT_PUSHED };
enum context_entry context_enter(const struct context *context);
void context_leave(const struct context *context, enum context_entry entry);

/* The capture that a stream takes part in, by the driver's id of it (never 0): 0: none;
 * CAPTURE_UNKNOWN: the driver can't say, or the capture is already invalid. */
#define CAPTURE_UNKNOWN UINT64_MAX
uint64_t context_capture_id(const struct context *context, CUstream stream);

/* Around calls that a global-mode capture on another thread would forbid (allocate, load). */
CUstreamCaptureMode context_relax_capture(const struct context *context);
void context_restore_capture(const struct context *context, CUstreamCaptureMode mode);

#endif
