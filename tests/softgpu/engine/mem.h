/* SPDX-License-Identifier: BSD-3-Clause
 * Memory of the software GPU. An arena is one kind of memory of one device (or the pinned host
 * memory): a reserved address range in which live allocations are known, so that every access can
 * be checked. Device addresses are host addresses. All functions may be called from any thread. */
#ifndef SOFTGPU_MEM_H
#define SOFTGPU_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SG_ALIGN = 512, SG_MAX_ARENAS = 20 };

struct sg_arena;

struct sg_range {
    uintptr_t base;
    size_t bytes;
    uint64_t serial; /* 1, 2, ...: never reused, so a freed and a later allocation differ */
};

/* capacity: bytes that can be live at once (an allocation past it fails); name is used in messages */
struct sg_arena *sg_arena_new(const char *name, uint64_t capacity);
void sg_arena_delete(struct sg_arena *arena);

/* Fresh memory is poisoned with bytes 0xff (NaN as float, half and double; -1 as an integer).
 * NULL: out of memory or bytes == 0. Never the same base right after a free unless reuse is set. */
void *sg_arena_alloc(struct sg_arena *arena, size_t bytes);
/* Zeros in all of the live allocation at p; pages that stay untouched then cost no memory. */
void sg_arena_clear(struct sg_arena *arena, void *p);
/* 0, or -1 when p is not the base of a live allocation */
int sg_arena_free(struct sg_arena *arena, void *p);
void sg_arena_set_reuse(struct sg_arena *arena, bool reuse); /* default true: lowest free address first */
uint64_t sg_arena_used(const struct sg_arena *arena);
uint64_t sg_arena_capacity(const struct sg_arena *arena);
void sg_arena_set_capacity(struct sg_arena *arena, uint64_t capacity);
/* Is addr inside the reserved range, or adopted? Lock-free. */
bool sg_arena_owns(const struct sg_arena *arena, uintptr_t addr);
/* The live allocation that holds addr. False: none. Lock-free. */
bool sg_arena_find(const struct sg_arena *arena, uintptr_t addr, struct sg_range *out);
/* The live allocation nearest to addr, for messages. False: nothing is live. */
bool sg_arena_nearest(const struct sg_arena *arena, uintptr_t addr, struct sg_range *out);
/* Memory of the host's own, outside of the reserved range, that counts as one live allocation of this
 * arena from now on (no poison, not in used or capacity); and no longer. 0, or -1: overlaps another,
 * or is none. */
int sg_arena_adopt(struct sg_arena *arena, void *p, size_t bytes);
int sg_arena_disown(struct sg_arena *arena, void *p);
/* Calls fn for each live allocation in address order; adopted ones are left out. */
void sg_arena_each(const struct sg_arena *arena, void (*fn)(const struct sg_range *, void *), void *arg);

/* What one kernel, copy or library call may touch. */
struct sg_space {
    unsigned n;
    const struct sg_arena *arena[SG_MAX_ARENAS];
};
/* True when [addr, addr + bytes) lies inside one live allocation of the space. */
bool sg_space_check(const struct sg_space *space, uintptr_t addr, size_t bytes);

#endif
