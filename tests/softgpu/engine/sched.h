/* SPDX-License-Identifier: BSD-3-Clause
 * What operations that change the flow of control need from the scheduler (sched.c). */
#ifndef SOFTGPU_SCHED_H
#define SOFTGPU_SCHED_H

#include "machine.h"

/* Backward branches a warp takes before the other warps, and a group before the other lanes, run. */
enum { SLICE = 4096, SPLIT_SLICE = 512, MAX_TURNS = 1 << 20 };

/* Adds [w->run, end) to the counts for the executing lanes. */
void count_run(struct warp *w, const struct insn *end);
/* Parks the executing lanes at pc. */
void park(struct warp *w, const struct insn *pc);
/* The executing lanes go on at pc, which follows i in time: counts up to i and gives others a turn
 * when the slice is over. Returns what the operation has to return. */
const struct insn *jump(struct warp *w, const struct insn *i, const struct insn *pc);
/* Lanes of `taken` go to pc, the other executing ones to i + 1. */
const struct insn *split(struct warp *w, const struct insn *i, uint32_t taken, const struct insn *pc);
/* Takes `lanes` out of the executing ones and parks them at pc. Something must stay. */
void leave(struct warp *w, uint32_t lanes, const struct insn *pc);
/* The executing lanes wait until others arrive at i too, which is then executed again. */
const struct insn *wait_for(struct warp *w, const struct insn *i);
/* After parking all executing lanes: choose others. */
const struct insn *reselect(struct warp *w);

/* Barrier arrival of the executing lanes; they go on behind i. wanted: 0 for all threads. */
const struct insn *barrier_wait(struct warp *w, const struct insn *i, uint32_t which, uint32_t wanted,
                                bool block);
/* Ends the executing lanes. */
const struct insn *lanes_exit(struct warp *w, const struct insn *i);
/* One turn for each warp. False: the block has ended, or the launch has. */
bool block_run(struct block *block);

#endif
