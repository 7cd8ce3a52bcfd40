/* SPDX-License-Identifier: BSD-3-Clause
 * Owns two tables of fixed size, by the driver's handles: open addressing, writers take the lock,
 * readers see a slot's key last written. Also the list of child graphs that were replaced in
 * executables. What finds no room is not followed, which is said once. */
#include "config.h"
#include "device/graph.h"
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SLOTS = 8192, MAX_PROBES = 64, MOST_REPLACED = 4096 };

#define KEY_REMOVED ((uintptr_t)1) /* handles are aligned: never 1 */

struct slot {
    _Atomic uintptr_t key; /* 0: never used */
    _Atomic uint64_t gemms, converted;
    uintptr_t parent; /* of a child graph; 0: none */
};

struct table {
    struct slot slot[SLOTS];
    unsigned n_children;
};

struct replaced {
    CUgraphExec exec;
    CUgraphNode node;
    struct graph_work work;
    struct replaced *next;
};

static struct {
    pthread_mutex_t lock; /* of all that follows */
    struct replaced *replaced;
    unsigned n_replaced;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct table graphs, execs;
static atomic_flag full_said = ATOMIC_FLAG_INIT;

static size_t hash(uintptr_t key)
{
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 51) % SLOTS;
}

static struct slot *find(struct table *table, uintptr_t key)
{
    size_t i = hash(key);
    if (key <= KEY_REMOVED)
        return NULL;
    for (int probe = 0; probe < MAX_PROBES; probe++, i = (i + 1) % SLOTS) {
        const uintptr_t at = atomic_load_explicit(&table->slot[i].key, memory_order_acquire);
        if (at == key)
            return &table->slot[i];
        if (at == 0)
            return NULL;
    }
    return NULL;
}

static struct graph_work work_of(const struct slot *slot)
{
    if (slot == NULL)
        return (struct graph_work){0, 0};
    return (struct graph_work){atomic_load_explicit(&slot->gemms, memory_order_relaxed),
                               atomic_load_explicit(&slot->converted, memory_order_relaxed)};
}

/* With the lock held, like all below. */
static void store(struct slot *slot, struct graph_work work)
{
    atomic_store_explicit(&slot->gemms, work.gemms, memory_order_relaxed);
    atomic_store_explicit(&slot->converted, work.converted, memory_order_relaxed);
}

static void drop(struct table *table, struct slot *slot)
{
    table->n_children -= slot->parent != 0;
    slot->parent = 0;
    atomic_store_explicit(&slot->key, KEY_REMOVED, memory_order_release);
}

static struct slot *make(struct table *table, uintptr_t key)
{
    size_t i = hash(key);
    if (key <= KEY_REMOVED)
        return NULL;
    for (int probe = 0; probe < MAX_PROBES; probe++, i = (i + 1) % SLOTS) {
        struct slot *slot = &table->slot[i];
        if (atomic_load_explicit(&slot->key, memory_order_relaxed) > KEY_REMOVED)
            continue;
        store(slot, (struct graph_work){0, 0});
        slot->parent = 0;
        atomic_store_explicit(&slot->key, key, memory_order_release);
        return slot;
    }
    if (!atomic_flag_test_and_set(&full_said))
        LOG_WARN("too many CUDA graphs to follow: GEMMs in some of them are not counted");
    return NULL;
}

/* Those without GEMMs take no slot. */
static struct slot *set(struct table *table, uintptr_t key, struct graph_work work)
{
    struct slot *slot = find(table, key);
    if (slot == NULL && work.gemms != 0)
        slot = make(table, key);
    if (slot == NULL)
        return NULL;
    if (work.gemms == 0 && slot->parent == 0) {
        drop(table, slot);
        return NULL;
    }
    store(slot, work);
    return slot;
}

static struct graph_work sum(struct graph_work a, struct graph_work b)
{
    return (struct graph_work){a.gemms + b.gemms, a.converted + b.converted};
}

static struct graph_work minus(struct graph_work work)
{
    return (struct graph_work){-work.gemms, -work.converted};
}

static void add(uintptr_t key, struct graph_work work)
{
    for (int depth = 0; key != 0 && depth < MAX_PROBES; depth++) {
        struct slot *slot = set(&graphs, key, sum(work_of(find(&graphs, key)), work));
        key = slot != NULL ? slot->parent : 0;
    }
}

static void forget_children(uintptr_t parent)
{
    for (size_t i = 0; i < SLOTS && graphs.n_children > 0 && parent != 0; i++)
        if (graphs.slot[i].parent == parent) {
            const uintptr_t child = atomic_load(&graphs.slot[i].key);
            drop(&graphs, &graphs.slot[i]);
            forget_children(child);
        }
}

static struct graph_work forget(struct table *table, uintptr_t key)
{
    struct slot *slot = find(table, key);
    const struct graph_work work = work_of(slot);
    if (slot != NULL)
        drop(table, slot);
    return work;
}

struct graph_work graph_work(CUgraph graph)
{
    return work_of(find(&graphs, (uintptr_t)graph));
}

void graph_add_work(CUgraph graph, struct graph_work work)
{
    pthread_mutex_lock(&state.lock);
    add((uintptr_t)graph, work);
    pthread_mutex_unlock(&state.lock);
}

void graph_set(CUgraph graph, struct graph_work work)
{
    pthread_mutex_lock(&state.lock);
    forget(&graphs, (uintptr_t)graph);
    set(&graphs, (uintptr_t)graph, work);
    pthread_mutex_unlock(&state.lock);
}

void graph_embed(CUgraph parent, CUgraph embedded, struct graph_work work)
{
    pthread_mutex_lock(&state.lock);
    forget(&graphs, (uintptr_t)embedded);
    struct slot *slot = set(&graphs, (uintptr_t)embedded, work);
    if (slot != NULL) {
        slot->parent = (uintptr_t)parent;
        graphs.n_children++;
    }
    add((uintptr_t)parent, work);
    pthread_mutex_unlock(&state.lock);
}

void graph_unembed(CUgraph embedded)
{
    pthread_mutex_lock(&state.lock);
    struct slot *slot = find(&graphs, (uintptr_t)embedded);
    if (slot != NULL) {
        add(slot->parent, minus(work_of(slot)));
        drop(&graphs, slot);
        forget_children((uintptr_t)embedded);
    }
    pthread_mutex_unlock(&state.lock);
}

struct graph_work graph_forget(CUgraph graph)
{
    pthread_mutex_lock(&state.lock);
    const struct graph_work work = forget(&graphs, (uintptr_t)graph);
    forget_children((uintptr_t)graph);
    pthread_mutex_unlock(&state.lock);
    return work;
}

struct graph_work exec_work(CUgraphExec exec)
{
    return work_of(find(&execs, (uintptr_t)exec));
}

static void forget_replaced(CUgraphExec exec)
{
    for (struct replaced **at = &state.replaced; *at != NULL;) {
        struct replaced *r = *at;
        if (r->exec != exec) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        state.n_replaced--;
        free(r);
    }
}

void exec_set(CUgraphExec exec, struct graph_work work)
{
    pthread_mutex_lock(&state.lock);
    set(&execs, (uintptr_t)exec, work);
    forget_replaced(exec);
    pthread_mutex_unlock(&state.lock);
}

struct graph_work exec_forget(CUgraphExec exec)
{
    pthread_mutex_lock(&state.lock);
    const struct graph_work work = forget(&execs, (uintptr_t)exec);
    forget_replaced(exec);
    pthread_mutex_unlock(&state.lock);
    return work;
}

void exec_set_child(CUgraphExec exec, CUgraphNode node, struct graph_work old,
                    struct graph_work fresh)
{
    pthread_mutex_lock(&state.lock);
    struct replaced *r = state.replaced;
    while (r != NULL && (r->exec != exec || r->node != node))
        r = r->next;
    if (r == NULL && state.n_replaced < MOST_REPLACED && (r = calloc(1, sizeof *r)) != NULL) {
        *r = (struct replaced){exec, node, old, state.replaced};
        state.replaced = r;
        state.n_replaced++;
    }
    if (r != NULL) {
        const struct graph_work now = work_of(find(&execs, (uintptr_t)exec));
        set(&execs, (uintptr_t)exec, sum(sum(now, minus(r->work)), fresh));
        r->work = fresh;
    }
    pthread_mutex_unlock(&state.lock);
}
