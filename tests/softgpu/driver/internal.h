/* SPDX-License-Identifier: BSD-3-Clause
 * Inside of the software libcuda: devices, contexts, streams, and operations on them. One big lock
 * (driver_lock) guards all driver state; an operation runs without it. Objects that a program may
 * still name after destroying them (streams, events, contexts) are marked dead, never freed. */
#ifndef SOFTGPU_DRIVER_INTERNAL_H
#define SOFTGPU_DRIVER_INTERNAL_H

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/softgpu/driver/softgpu.h"
#include "tests/softgpu/engine/engine.h"

#define API __attribute__((visibility("default")))

enum { MAX_DEVICES = 16 };

/* ---- the GPU description (model.c) */
struct model {
    char name[128];
    int major, minor, multiprocessors, clock_mhz;
    uint64_t memory_bytes;
    double bandwidth; /* bytes per second */
    double launch_seconds;
    double copy_bandwidth;       /* host to device and back, bytes per second */
    double flops[SOFTGPU_TYPES]; /* per second */
    int shared_per_block, shared_per_block_optin, shared_per_sm, registers_per_sm, threads_per_sm,
        blocks_per_sm, l2_bytes;
};
void model_load(struct model *model); /* SOFTGPU_GPU, else the built-in H200 */
double model_seconds(const struct model *model, const struct softgpu_cost *cost);

/* ---- devices and contexts (device.c, context.c) */
struct device {
    int ordinal;
    struct model model;
    struct sg_arena *memory;
    struct CUctx_st *primary; /* made when first retained */
    unsigned primary_refs, primary_flags;
    bool peer[MAX_DEVICES]; /* contexts on this device may touch that one's memory */
    CUresult broken;        /* CUDA_SUCCESS, or what every call answers from now on */
};

struct CUctx_st {
    struct device *device;
    uint64_t id;
    unsigned flags;
    bool dead;
    CUresult sticky;                         /* a fault makes the context unusable */
    struct CUstream_st *legacy, *per_thread; /* per_thread: list by owner, see stream.c */
    struct CUstream_st *streams;             /* all, linked by next */
    size_t limits[16];
};

extern pthread_mutex_t driver_lock;
extern struct device devices[MAX_DEVICES];
extern int device_count;
extern bool driver_ready;            /* cuInit was called */
extern struct sg_arena *host_memory; /* pinned and managed */

/* All contexts ever made, dead ones too; driver_lock is held. */
int context_count(void);
CUcontext context_at(int i);

/* The context that is current on this thread; NULL. Implicit primary binding is cudart's job. */
CUcontext context_now(void);
void context_set_now(CUcontext context);
/* CUDA_SUCCESS and the live, healthy current context, or the error every call must answer. */
CUresult context_check(CUcontext *context_p);
/* What work of this context may touch. */
struct sg_space context_space(CUcontext context);

/* ---- operations (op.c): what is put on a stream */
struct op_result {
    double start;   /* in: modelled time at which it begins */
    double seconds; /* out: modelled */
};
/* Runs one operation; arg is the copy made by stream_submit. Returns the sticky error of a fault,
 * or RUN_BLOCKED when it waits for memory and shall be run again once it is ready (op.c). */
#define RUN_BLOCKED ((CUresult)-1)
typedef CUresult (*op_function)(void *arg, CUcontext context, struct op_result *result);
struct op_kind {
    const char *name;
    op_function run;
    void (*release)(void *arg); /* frees what arg points to; may be NULL */
    CUgraphNodeType node_type;
};

/* Puts an operation on a stream (NULL and the special handles allowed), or, while the stream is
 * captured, into its graph. arg is copied. log: NULL, or the line for SOFTGPU_LOG. */
CUresult stream_submit(CUstream stream, bool per_thread_default, const struct op_kind *kind,
                       const void *arg, size_t arg_bytes);
/* Runs operations until everything that the stream has been given is done. */
CUresult stream_drain(CUstream stream, bool per_thread_default);
CUresult context_drain(CUcontext context);

/* ---- counts, log, faults (counts.c, log.c, inject.c) */
void count_add(const char *key, uint64_t n);
void count_max(const char *key, uint64_t value);
void count_launch(const char *kernel, const struct sg_counts *counts);
void count_seconds(double seconds);
/* First statement of each entry point: counts and logs the call, injects a failure. */
#define ENTER(_name)                                                                               \
    do {                                                                                           \
        CUresult injected_ = driver_enter(_name, __builtin_return_address(0));                     \
        if (injected_ != CUDA_SUCCESS)                                                             \
            return injected_;                                                                      \
    } while (0)
CUresult driver_enter(const char *name, void *caller);
void driver_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A fault of a kernel, copy or library call: says it once and makes the context unusable. */
CUresult context_fault(CUcontext context, CUresult error, const char *message);

/* ---- modules and functions (module.c, fatbin.c) */
struct CUfunc_st; /* one kernel in one context */
struct CUkern_st; /* one kernel of a library, any context */

/* PTX texts of a fatbin (wrapper, container, plain PTX or cubin) that suit a compute capability
 * (10 * major + minor). Fills up to max malloc'ed, NUL-terminated texts and returns how many (more
 * than one: to be linked); 0 with *error_p set: CUDA_ERROR_NO_BINARY_FOR_GPU, INVALID_IMAGE, ... */
unsigned fatbin_ptx(const void *image, int compute_capability, char **ptx, size_t *bytes,
                    unsigned max, CUresult *error_p);
/* A context ends: unloads its modules. */
void module_release_context(CUcontext context);
/* The context of the modules on a device, the current one if there are several; NULL: none. */
CUcontext module_context(const struct device *device);

/* ---- proc table (proc.c): the answer of cuGetProcAddress; NULL: unknown */
void *proc_find(const char *name, int version, uint64_t flags);

#endif
