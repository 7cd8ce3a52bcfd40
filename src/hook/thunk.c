/* SPDX-License-Identifier: BSD-3-Clause
 * Behind the thunks: counts a SEEN function and finds the real one. Owns nothing. */
#include "config.h"
#include "base/caller.h"
#include "base/env.h"
#include "base/guard.h"
#include "base/real.h"
#include "base/stats.h"
#include "device/capture.h"
#include "device/handle.h"
#include "device/scratch.h"
#include "hook/driver.h"
#include "hook/sizes.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void *thunk_target(unsigned index, const void *caller, const uintptr_t *registers,
                   const uintptr_t *stack);

enum library { LIBRARY_CUBLAS, LIBRARY_CUBLASLT, LIBRARY_CUDNN, LIBRARY_CUDA };

struct seen {
    enum library library;
    enum kind kind;
};

static const struct seen seen[] = {
#define HOOK(_lib, _sym)
#define SEEN(_lib, _sym, _kind) {LIBRARY_##_lib, KIND_##_kind},
#include "symbols.def"
#undef HOOK
#undef SEEN
};

/* Where a call goes when there is no real function: all of these functions return a status (or
 * nothing). */
static int no_cublas(void)
{
    return CUBLAS_STATUS_NOT_INITIALIZED;
}

static int no_cudnn(void)
{
    return 1; /* CUDNN_STATUS_NOT_INITIALIZED up to version 8, an unknown failure after */
}

static int no_driver(void)
{
    return CUDA_ERROR_NOT_INITIALIZED;
}

static void *or_missing(void *function, int (*missing)(void))
{
    return function != NULL ? function : (void *)(uintptr_t)missing;
}

/* What libraries do in a call that has been counted is not counted again. */
static bool counts(const void *caller)
{
    return env_get()->enabled && !guard_active() && !caller_excluded(caller);
}

static void count_cublas(enum real_seen index, const struct real_blas *real,
                         const struct arguments *arguments)
{
    const enum kind kind = seen[index].kind;
    const bool gemm = stats_is_gemm(kind);
    stats_count_kind(kind);
    if (gemm || kind == KIND_LEVEL3)
        stats_count_flop(gemm ? STATS_FLOP_FORWARDED : STATS_FLOP_LEVEL3,
                         sizes_flop(index, arguments));
    if (gemm && kind != KIND_LEGACY && capture_any() && real != NULL)
        capture_add_gemm(real, (cublasHandle_t)argument(arguments, 0), false);
}

static void *target_in_cublas(enum real_seen index, const void *caller,
                              const struct arguments *arguments)
{
    /* The first argument is the handle, except in the legacy functions: there it is a letter. */
    struct handle_info info;
    const struct real_blas *real =
        handle_find((void *)argument(arguments, 0), &info) ? info.real : real_blas(caller);
    if (counts(caller))
        count_cublas(index, real, arguments);
    return or_missing(real != NULL ? real->seen[index] : NULL, no_cublas);
}

static void *target_in_cublaslt(enum real_seen index, const void *caller, void *handle)
{
    struct handle_info info = {NULL, NULL, NULL};
    if (!handle_find(handle, &info) || info.lt == NULL)
        info.lt = real_lt(caller);
    if (counts(caller))
        stats_count_kind(seen[index].kind);
    return or_missing(info.lt != NULL ? info.lt->seen[index] : NULL, no_cublas);
}

static void *target_in_cudnn(enum real_seen index, const void *caller)
{
    const struct real_dnn *dnn = real_dnn(caller);
    if (counts(caller))
        stats_count_kind(seen[index].kind);
    return or_missing(dnn != NULL ? dnn->seen[index] : NULL, no_cudnn);
}

static void *target_in_driver(enum real_seen index)
{
    const struct real_cuda *cuda = real_driver();
    return or_missing(cuda != NULL ? cuda->seen[index] : NULL, no_driver);
}

void *thunk_target(unsigned index, const void *caller, const uintptr_t *registers,
                   const uintptr_t *stack)
{
    const struct seen *s = &seen[index];
    const struct arguments arguments = {registers, stack};
    switch (s->library) {
    case LIBRARY_CUBLAS:
        return target_in_cublas(index, caller, &arguments);
    case LIBRARY_CUBLASLT:
        return target_in_cublaslt(index, caller, (void *)registers[0]);
    case LIBRARY_CUDNN:
        return target_in_cudnn(index, caller);
    case LIBRARY_CUDA:
        break;
    }
    if (s->kind == KIND_STREAM_DESTROY)
        scratch_forget_stream((CUstream)registers[0]);
    if (s->kind == KIND_CAPTURE_ORDER)
        scratch_reorder((CUstream)registers[0]);
    if (counts(caller))
        stats_count_kind(s->kind);
    return target_in_driver(index);
}

bool driver_real(enum real_seen index, void *real_p)
{
    const struct real_cuda *cuda = real_driver();
    void *function = cuda != NULL ? cuda->seen[index] : NULL;
    memcpy(real_p, &function, sizeof function);
    return function != NULL;
}

bool driver_enter(enum real_seen index, void *real_p)
{
    void *function = target_in_driver(index);
    memcpy(real_p, &function, sizeof function);
    if (!env_get()->enabled)
        return false;
    if (!guard_active())
        stats_count_kind(seen[index].kind);
    return true;
}
