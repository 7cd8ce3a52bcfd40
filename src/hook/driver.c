/* SPDX-License-Identifier: BSD-3-Clause
 * cuGetProcAddress: asks the driver first, then gives the hook in place of exactly those functions
 * that symbols.def names (compared by address, so that another version or a per-thread-stream form
 * that is not listed stays what the driver answered). */
#include "config.h"
#include "base/env.h"
#include "base/real.h"

#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* The thunks and hooks as addresses; SEEN ones have no prototype here. */
#define HOOK(_lib, _sym)        extern const char hook_##_sym[] __asm__(#_sym);
#define SEEN(_lib, _sym, _kind) extern const char hook_##_sym[] __asm__(#_sym);
#include "symbols.def"
#undef HOOK
#undef SEEN

static const void *const seen_hooks[] = {
#define HOOK(_lib, _sym)
#define SEEN(_lib, _sym, _kind) hook_##_sym,
#include "symbols.def"
#undef HOOK
#undef SEEN
};

static void substitute(const struct real_cuda *cuda, void **function)
{
    if (*function == NULL || !env_get()->enabled)
        return;
    if (*function == (void *)(uintptr_t)cuda->cuGetProcAddress_v2) {
        *function = (void *)(uintptr_t)hook_cuGetProcAddress_v2;
        return;
    }
    if (*function == (void *)(uintptr_t)cuda->cuGetProcAddress) {
        *function = (void *)(uintptr_t)hook_cuGetProcAddress;
        return;
    }
    for (size_t i = 0; i < REAL_SEEN; i++)
        if (cuda->seen[i] == *function) {
            *function = (void *)(uintptr_t)seen_hooks[i];
            return;
        }
}

/* cuda.h renames cuGetProcAddress to its second version; the first is still asked for by name. */
#undef cuGetProcAddress
EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags);
EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    const struct real_cuda *cuda = real_driver();
    if (cuda == NULL || cuda->cuGetProcAddress == NULL)
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = cuda->cuGetProcAddress(symbol, function, version, flags);
    if (result == CUDA_SUCCESS && function != NULL)
        substitute(cuda, function);
    return result;
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                    cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    const struct real_cuda *cuda = real_driver();
    if (cuda == NULL || cuda->cuGetProcAddress_v2 == NULL)
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = cuda->cuGetProcAddress_v2(symbol, function, version, flags, status);
    if (result == CUDA_SUCCESS && function != NULL)
        substitute(cuda, function);
    return result;
}
