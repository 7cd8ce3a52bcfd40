/* SPDX-License-Identifier: BSD-3-Clause
 * Behind the thunks: counts a SEEN function and finds the real one. Owns nothing. */
#include "config.h"
#include "base/caller.h"
#include "base/env.h"
#include "base/real.h"
#include "base/stats.h"
#include "device/context.h"
#include "device/handle.h"
#include "device/scratch.h"

#include <stdbool.h>
#include <stdint.h>

void *thunk_target(unsigned index, const void *caller, void *first_argument);

enum library { LIBRARY_CUBLAS, LIBRARY_CUDA };

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

/* Where a call goes when there is no real function: every cuBLAS function returns a status (or
 * nothing), and so does every driver function. */
static int no_cublas(void)
{
    return CUBLAS_STATUS_NOT_INITIALIZED;
}

static int no_driver(void)
{
    return CUDA_ERROR_NOT_INITIALIZED;
}

static void *or_missing(void *function, int (*missing)(void))
{
    return function != NULL ? function : (void *)(uintptr_t)missing;
}

static void count(const struct seen *s, const void *caller)
{
    /* Launches are the hot ones: libraries' own are not told from the program's. */
    if (env_get()->enabled && (s->library == LIBRARY_CUDA || !caller_excluded(caller)))
        stats_count_kind(s->kind);
}

void *thunk_target(unsigned index, const void *caller, void *first_argument)
{
    const struct seen *s = &seen[index];
    struct handle_info info;
    if (s->kind == KIND_STREAM_DESTROY)
        scratch_forget_stream(first_argument);
    else
        count(s, caller);
    if (s->library == LIBRARY_CUDA) {
        const struct real_cuda *cuda = real_cuda();
        return or_missing(cuda != NULL ? cuda->seen[index] : NULL, no_driver);
    }
    /* The first argument is the handle, except in the legacy functions: there it is a letter. */
    const struct real_blas *real =
        handle_find(first_argument, &info) ? info.real : real_blas(caller);
    return or_missing(real != NULL ? real->seen[index] : NULL, no_cublas);
}
