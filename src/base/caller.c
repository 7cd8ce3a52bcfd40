/* SPDX-License-Identifier: BSD-3-Clause
 * Owns a small cache of call sites: each slot holds an address with the answer in its lowest bit
 * (call sites of one object are seldom one byte apart, and a slot that is taken is only a miss). */
#include "config.h"
#include "base/caller.h"
#include "base/env.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 1024, NAME_BYTES = 256 };

/* Two words a slot would need a lock; the shifted address and the answer fit in one. */
static _Atomic uint64_t cache[SLOTS];
static _Atomic uint32_t epoch;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

const char *caller_place(const void *address, char *buffer, unsigned bytes, uint64_t *offset_p)
{
    Dl_info info;
    *offset_p = 0;
    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return "?";
    *offset_p = (uint64_t)((uintptr_t)address - (uintptr_t)info.dli_fbase);
    snprintf(buffer, bytes, "%s", base_name(info.dli_fname));
    return buffer;
}

const char *caller_object(const void *address, char *buffer, unsigned bytes)
{
    uint64_t offset;
    return caller_place(address, buffer, bytes, &offset);
}

bool caller_excluded(const void *address)
{
    const uint64_t key = (uint64_t)(uintptr_t)address << 1;
    _Atomic uint64_t *slot = &cache[((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
    const uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    if ((known & ~UINT64_C(1)) == key && known != 0)
        return known & 1;
    char buffer[NAME_BYTES];
    const bool excluded =
        env_list_matches(env_get()->exclude, caller_object(address, buffer, sizeof buffer));
    atomic_store_explicit(slot, key | excluded, memory_order_relaxed);
    return excluded;
}

uint32_t caller_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

void caller_forget(void)
{
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
    for (int i = 0; i < SLOTS; i++)
        atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}
