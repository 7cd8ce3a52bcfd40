/* SPDX-License-Identifier: BSD-3-Clause
 * cuGetProcAddress in both forms, and what a call that is not there answers. No state. */
#include "tests/softgpu/driver/internal.h"
#include "tests/softgpu/driver/proc_table.h"

#include <string.h>

enum { NEWEST_RELEASE = 13000 };

int proc_missing(const char *name, void *caller, int *said);

int proc_missing(const char *name, void *caller, int *said)
{
    CUresult injected = driver_enter(name, caller);
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        driver_message("%s is not supported", name);
    return (int)(injected != CUDA_SUCCESS ? injected : CUDA_ERROR_NOT_SUPPORTED);
}

static void *find(const char *name, int version, uint64_t flags,
                  CUdriverProcAddressQueryResult *status_p)
{
    const struct proc *best = NULL;
    *status_p = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (unsigned i = 0; i < proc_count; i++) {
        const struct proc *p = &proc_table[i];
        if (strcmp(p->base, name) != 0)
            continue;
        if (*status_p == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
            *status_p = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        if (p->release > version ||
            (p->kind == PER_THREAD && !(flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))
            continue;
        if (best == NULL || p->kind > best->kind ||
            (p->kind == best->kind && p->release > best->release))
            best = p;
        *status_p = CU_GET_PROC_ADDRESS_SUCCESS;
    }
    return best != NULL ? (void *)(uintptr_t)best->symbol : NULL;
}

void *proc_find(const char *name, int version, uint64_t flags)
{
    CUdriverProcAddressQueryResult status;
    return find(name, version, flags, &status);
}

static CUresult get(const char *symbol, void **function, int version, cuuint64_t flags,
                    CUdriverProcAddressQueryResult *status_p)
{
    CUdriverProcAddressQueryResult status;
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (symbol == NULL || function == NULL || version > NEWEST_RELEASE || (flags & ~known) != 0 ||
        flags == known)
        return CUDA_ERROR_INVALID_VALUE;
    *function = find(symbol, version, flags, &status);
    if (status_p != NULL) {
        *status_p = status;
        return CUDA_SUCCESS;
    }
    return *function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    ENTER("cuGetProcAddress");
    return get(symbol, function, version, flags, NULL);
}

API CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status)
{
    ENTER("cuGetProcAddress_v2");
    return get(symbol, function, version, flags, status);
}
