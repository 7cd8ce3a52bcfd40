/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the table of handles: open addressing, a fixed number of slots. Writers take the lock;
 * readers see a slot's key last written, so that what they read behind it is whole. */
#include "config.h"
#include "device/handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SLOTS = 4096, MAX_PROBES = 64 };

#define KEY_REMOVED ((uintptr_t)1) /* handles are aligned: never 1 */

struct slot {
    _Atomic uintptr_t key; /* 0: never used */
    _Atomic(const struct real_blas *) real;
    _Atomic(const struct real_lt *) lt;
    _Atomic(struct context *) context;
};

static struct {
    pthread_mutex_t lock;
    struct slot slots[SLOTS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t hash(uintptr_t key)
{
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % SLOTS;
}

static struct slot *find(uintptr_t key)
{
    size_t i = hash(key);
    for (int probe = 0; probe < MAX_PROBES; probe++, i = (i + 1) % SLOTS) {
        uintptr_t at = atomic_load_explicit(&table.slots[i].key, memory_order_acquire);
        if (at == key)
            return &table.slots[i];
        if (at == 0)
            return NULL;
    }
    return NULL;
}

bool handle_add(const void *handle, struct handle_info info)
{
    uintptr_t key = (uintptr_t)handle;
    struct slot *slot = NULL;
    pthread_mutex_lock(&table.lock);
    /* A handle that was destroyed unseen may come back at the same address: its slot is taken. */
    slot = find(key);
    size_t i = hash(key);
    for (int probe = 0; slot == NULL && probe < MAX_PROBES; probe++, i = (i + 1) % SLOTS) {
        uintptr_t at = atomic_load_explicit(&table.slots[i].key, memory_order_relaxed);
        if (at == 0 || at == KEY_REMOVED)
            slot = &table.slots[i];
    }
    if (slot != NULL) {
        atomic_store_explicit(&slot->real, info.real, memory_order_relaxed);
        atomic_store_explicit(&slot->lt, info.lt, memory_order_relaxed);
        atomic_store_explicit(&slot->context, info.context, memory_order_relaxed);
        atomic_store_explicit(&slot->key, key, memory_order_release);
    }
    pthread_mutex_unlock(&table.lock);
    return slot != NULL;
}

bool handle_find(const void *handle, struct handle_info *info_p)
{
    if ((uintptr_t)handle <= KEY_REMOVED)
        return false;
    struct slot *slot = find((uintptr_t)handle);
    if (slot == NULL)
        return false;
    info_p->real = atomic_load_explicit(&slot->real, memory_order_relaxed);
    info_p->lt = atomic_load_explicit(&slot->lt, memory_order_relaxed);
    info_p->context = atomic_load_explicit(&slot->context, memory_order_relaxed);
    return true;
}

void handle_remove(const void *handle)
{
    if ((uintptr_t)handle <= KEY_REMOVED)
        return;
    pthread_mutex_lock(&table.lock);
    struct slot *slot = find((uintptr_t)handle);
    if (slot != NULL)
        atomic_store_explicit(&slot->key, KEY_REMOVED, memory_order_release);
    pthread_mutex_unlock(&table.lock);
}
