/* SPDX-License-Identifier: BSD-3-Clause
 * The race checker (race.c). A launch that is checked runs on one CPU thread. All hooks do nothing
 * when it isn't. */
#ifndef SOFTGPU_RACE_H
#define SOFTGPU_RACE_H

#include "memory.h"

struct shadow *shadow_new(uint64_t nblocks);
void shadow_delete(struct shadow *shadow);

/* Plain accesses of the executing lanes, done already, at host addresses. False: a fault. A store's
 * values are in the rows of i->list. */
bool race_load(struct warp *w, const struct insn *i, const uint64_t *address, unsigned bytes,
               enum where where);
bool race_store(struct warp *w, const struct insn *i, const uint64_t *address, enum where where);
/* One lane's write of what is in memory now. */
bool race_wrote(struct warp *w, const struct insn *i, uint32_t lane, uint64_t address, unsigned bytes,
                enum where where);
/* Atomics, volatile accesses and fences of the executing lanes: they may publish and observe. */
void race_strong(struct warp *w);
/* Lanes of a warp have met, threads of a block have met, a block begins. */
void race_warp_met(struct warp *w);
void race_block_met(struct block *b);
void race_block_begins(struct block *b);

#endif
