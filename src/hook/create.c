/* SPDX-License-Identifier: BSD-3-Clause
 * cublasCreate_v2 and cublasLtCreate: the real call, then a note of what made the handle and in
 * which context. Other functions know their library by the handle. A caller that looked these up by
 * name may have several libraries in mind, so dlsym hands out one of a few copies, each pinned to
 * one library. Owns the list of what is pinned. */
#include "config.h"
#include "hook/create.h"
#include "base/caller.h"
#include "base/env.h"
#include "base/guard.h"
#include "base/stats.h"
#include "device/context.h"
#include "device/handle.h"
#include "device/kernels.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum { NO_LIBRARY = CUBLAS_STATUS_NOT_INITIALIZED, PINS = 8 };

/* By file name: a library that comes back after dlclose, perhaps elsewhere, keeps its copy. */
static struct {
    pthread_mutex_t lock;
    char *path[2][PINS]; /* of cuBLAS, of cuBLASLt */
    _Atomic(const struct real_blas *) blas[PINS];
    _Atomic(const struct real_lt *) lt[PINS];
} pins = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(const void *handle, struct handle_info info)
{
    const int saved = errno;
    const struct env *env = env_get();
    if (env->enabled) {
        stats_engage();
        env_report();
        const bool converts = env->opt_level != OPT_O0 && env->converts && !env->tf32_vetoed;
        if (converts || env->report[0] != '\0')
            info.context = context_current();
        /* Loaded here, where nothing is captured, rather than at the first GEMM. */
        if (converts && info.context != NULL && env->copies)
            (void)kernels_load(info.context);
    }
    handle_add(handle, info);
    errno = saved;
}

static cublasStatus_t create(const struct real_blas *real, cublasHandle_t *handle)
{
    if (real == NULL)
        return (cublasStatus_t)NO_LIBRARY;
    guard_enter();
    cublasStatus_t status = real->cublasCreate_v2(handle);
    guard_leave();
    if (status == CUBLAS_STATUS_SUCCESS && handle != NULL)
        note(*handle, (struct handle_info){real, real->lt, NULL});
    return status;
}

static cublasStatus_t create_lt(const struct real_lt *lt, cublasLtHandle_t *handle,
                                const void *caller)
{
    if (lt == NULL || lt->cublasLtCreate == NULL)
        return (cublasStatus_t)NO_LIBRARY;
    /* cuBLAS makes one for each handle of its own: not the program's */
    const bool inner = guard_active() || caller_excluded(caller);
    guard_enter();
    cublasStatus_t status = lt->cublasLtCreate(handle);
    guard_leave();
    if (status == CUBLAS_STATUS_SUCCESS && handle != NULL && !inner)
        note(*handle, (struct handle_info){NULL, lt, NULL});
    return status;
}

EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    return create(real_blas(CALLER), handle);
}

EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return create_lt(real_lt(CALLER), handle, CALLER);
}

#define PINNED(_i)                                                                                 \
    static cublasStatus_t create_##_i(cublasHandle_t *handle)                                      \
    {                                                                                              \
        return create(atomic_load(&pins.blas[_i]), handle);                                        \
    }                                                                                              \
    static cublasStatus_t create_lt_##_i(cublasLtHandle_t *handle)                                 \
    {                                                                                              \
        return create_lt(atomic_load(&pins.lt[_i]), handle, CALLER);                               \
    }
PINNED(0)
PINNED(1)
PINNED(2)
PINNED(3)
PINNED(4)
PINNED(5)
PINNED(6)
PINNED(7)

static cublasStatus_t (*const create_entries[PINS])(cublasHandle_t *) = {
    create_0, create_1, create_2, create_3, create_4, create_5, create_6, create_7};
static cublasStatus_t (*const create_lt_entries[PINS])(cublasLtHandle_t *) = {
    create_lt_0, create_lt_1, create_lt_2, create_lt_3,
    create_lt_4, create_lt_5, create_lt_6, create_lt_7};

/* The copy for the library at path: the one it has, or a new one; -1: all are taken. */
static int pin(char **paths, const char *path)
{
    for (int i = 0; i < PINS; i++) {
        if (paths[i] == NULL)
            paths[i] = strdup(path);
        if (paths[i] == NULL)
            return -1;
        if (strcmp(paths[i], path) == 0)
            return i;
    }
    return -1;
}

const void *create_pinned(const struct real_blas *real)
{
    pthread_mutex_lock(&pins.lock);
    const int at = pin(pins.path[0], real->path);
    if (at >= 0)
        atomic_store(&pins.blas[at], real);
    pthread_mutex_unlock(&pins.lock);
    return at >= 0 ? (const void *)(uintptr_t)create_entries[at] : NULL;
}

const void *create_pinned_lt(const struct real_lt *lt)
{
    pthread_mutex_lock(&pins.lock);
    const int at = pin(pins.path[1], lt->path);
    if (at >= 0)
        atomic_store(&pins.lt[at], lt);
    pthread_mutex_unlock(&pins.lock);
    return at >= 0 ? (const void *)(uintptr_t)create_lt_entries[at] : NULL;
}
