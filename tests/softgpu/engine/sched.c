/* SPDX-License-Identifier: BSD-3-Clause
 * Which lanes of a warp run, and which warps of a block. While a warp is whole there is one mask and
 * one pc. When lanes part, each has its own pc: the group in the deepest call, and there at the
 * lowest pc, runs until it reaches the next group's pc, where they join; a group that keeps looping
 * gives way to the others after a while, so that lanes may wait for each other. */
#include "sched.h"
#include "lanes.h"
#include "race.h"

#define NO_LIMIT STOP

void count_run(struct warp *w, const struct insn *end)
{
    const struct program *p = w->program;
    const struct tally *a = &p->tally[w->run - p->code], *b = &p->tally[end - p->code];
    struct sg_counts *c = &w->worker->counts;
    uint64_t lanes = (uint64_t)__builtin_popcount(w->mask);

    c->warp_instructions += b->insns - a->insns;
    c->thread_instructions += lanes * (b->insns - a->insns);
    if (p->has_flops) {
        c->flop_f16 += lanes * (b->f16 - a->f16);
        c->flop_bf16 += lanes * (b->bf16 - a->bf16);
        c->flop_f32 += lanes * (b->f32 - a->f32);
        c->flop_f64 += lanes * (b->f64 - a->f64);
    }
    w->run = end;
}

/* Gives every alive lane a pc of its own. */
static void unfold(struct warp *w)
{
    if (!w->whole)
        return;
    EACH_SET(w->alive) {
        w->lane_pc[l] = w->pc;
        w->lane_frame[l] = w->base[BASE_FRAME];
    }
    w->whole = false;
}

void park(struct warp *w, const struct insn *pc)
{
    if (w->mask == w->alive) {
        w->whole = true;
        w->pc = pc;
        return;
    }
    unfold(w);
    EACH_SET(w->mask) {
        w->lane_pc[l] = pc;
        w->lane_frame[l] = w->base[BASE_FRAME];
    }
}

/* Makes the lanes at (frame, pc) the executing ones, with the next pc above as their limit. */
static void run_group(struct warp *w, const char *frame, const struct insn *pc)
{
    const struct insn *limit = NO_LIMIT;
    uint32_t group = 0;

    EACH_SET(w->alive & ~w->blocked) {
        if (w->lane_frame[l] != frame)
            continue;
        if (w->lane_pc[l] == pc)
            group |= 1u << l;
        else if (w->lane_pc[l] > pc && w->lane_pc[l] < limit)
            limit = w->lane_pc[l];
    }
    w->mask = group;
    w->syncing &= ~group;
    w->base[BASE_FRAME] = (char *)(uintptr_t)frame;
    w->limit = limit;
    w->pc = w->run = pc;
}

/* Chooses the lanes to execute and where: w->mask, w->pc. False: none can. */
static bool choose(struct warp *w)
{
    uint32_t ready = w->alive & ~w->blocked & ~w->syncing;
    const struct insn *pc = NULL;
    const char *frame = NULL;

    if (!ready)
        return false;
    if (w->whole) {
        w->mask = w->alive;
        w->limit = NO_LIMIT;
        w->run = w->pc;
        return true;
    }
    if (w->turn) {
        /* the lane whose turn it is, or the next one after it */
        uint32_t from = ready & ~((1u << (w->turn & 31)) - 1);
        uint32_t l = (uint32_t)__builtin_ctz(from ? from : ready);

        pc = w->lane_pc[l];
        frame = w->lane_frame[l];
        w->turn = 0;
        w->ahead = true;
    } else {
        w->ahead = false;
        EACH_SET(ready) {
            if (!pc || w->lane_frame[l] > frame || (w->lane_frame[l] == frame && w->lane_pc[l] < pc)) {
                frame = w->lane_frame[l];
                pc = w->lane_pc[l];
            }
        }
    }
    run_group(w, frame, pc);
    if (w->mask == w->alive) {
        w->whole = true;
        w->limit = NO_LIMIT;
    }
    return true;
}

const struct insn *reselect(struct warp *w)
{
    if (choose(w))
        return w->pc;
    w->event = EVENT_BLOCKED;
    return STOP;
}

/* After a backward branch to pc, counted: joins lanes that wait there, and ends a slice. */
static const struct insn *looped(struct warp *w, const struct insn *pc)
{
    uint32_t others = w->alive & ~w->mask & ~w->blocked;

    /* lanes parked in front of the branch are not in the limit yet */
    if (others && (w->syncing || w->ahead)) {
        w->limit = NO_LIMIT;
        EACH_SET(others) {
            if (w->lane_frame[l] != w->base[BASE_FRAME])
                continue;
            if (w->lane_pc[l] == pc)
                w->mask |= 1u << l;
            else if (w->lane_pc[l] > pc && w->lane_pc[l] < w->limit)
                w->limit = w->lane_pc[l];
        }
        w->syncing &= ~w->mask;
    }
    if (--w->budget >= 0)
        return pc;
    w->event = EVENT_YIELD;
    w->budget = SLICE;
    others &= ~w->mask & ~w->syncing;
    if (others) {
        /* the turn of the next lane after the first of these */
        uint32_t after = others & ~((2u << __builtin_ctz(w->mask)) - 1);

        w->budget = SPLIT_SLICE;
        w->turn = LANES + (uint32_t)__builtin_ctz(after ? after : others);
    }
    park(w, pc);
    return STOP;
}

const struct insn *jump(struct warp *w, const struct insn *i, const struct insn *pc)
{
    count_run(w, i + 1);
    w->run = pc;
    return pc <= i ? looped(w, pc) : pc;
}

void leave(struct warp *w, uint32_t lanes, const struct insn *pc)
{
    if (w->mask == w->alive && w->whole) {
        w->pc = pc;
        unfold(w);
    }
    EACH_SET(lanes) {
        w->lane_pc[l] = pc;
        w->lane_frame[l] = w->base[BASE_FRAME];
    }
    w->whole = false;
    w->mask &= ~lanes;
}

const struct insn *split(struct warp *w, const struct insn *i, uint32_t taken, const struct insn *pc)
{
    const struct insn *low = pc <= i ? pc : i + 1, *high = pc <= i ? i + 1 : pc;
    uint32_t stay = pc <= i ? taken : w->mask & ~taken;

    count_run(w, i + 1);
    leave(w, w->mask & ~stay, high);
    if (high < w->limit)
        w->limit = high;
    w->run = low;
    return low <= i ? looped(w, low) : low;
}

const struct insn *wait_for(struct warp *w, const struct insn *i)
{
    uint32_t here = 0;

    count_run(w, i);
    EACH_SET(w->alive & ~w->mask & ~w->blocked) {
        if (w->lane_pc[l] == i && w->lane_frame[l] == w->base[BASE_FRAME])
            here |= 1u << l;
    }
    if (here) {
        w->mask |= here;
        w->syncing &= ~here;
        return i;
    }
    w->syncing |= w->mask;
    park(w, i);
    return reselect(w);
}

static void release(struct block *b, uint32_t which)
{
    struct barrier *bar = &b->barrier[which];

    race_block_met(b);
    bar->result = bar->count;
    bar->result_threads = bar->threads;
    bar->threads = bar->rounded = bar->count = bar->wanted = 0;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        b->warp[k].blocked &= ~b->warp[k].blocked_at[which];
        b->warp[k].blocked_at[which] = 0;
    }
}

static bool complete(const struct block *b, const struct barrier *bar)
{
    return bar->wanted ? bar->rounded >= bar->wanted : bar->threads >= b->alive;
}

const struct insn *barrier_wait(struct warp *w, const struct insn *i, uint32_t which, uint32_t wanted,
                                bool block)
{
    struct block *b = w->block;
    struct barrier *bar = &b->barrier[which];
    uint32_t lanes = (uint32_t)__builtin_popcount(w->mask);

    bar->threads += lanes;
    bar->rounded += w->mask == w->alive ? LANES : lanes;
    bar->wanted = wanted;
    if (complete(b, bar)) {
        release(b, which);
        if (w->mask == w->alive)
            return i + 1;
        /* join the lanes of this warp that were waiting */
        count_run(w, i + 1);
        park(w, i + 1);
        return reselect(w);
    }
    if (!block)
        return i + 1;
    count_run(w, i + 1);
    w->blocked |= w->mask;
    w->blocked_at[which] |= w->mask;
    park(w, i + 1);
    return reselect(w);
}

const struct insn *lanes_exit(struct warp *w, const struct insn *i)
{
    struct block *b = w->block;

    count_run(w, i + 1);
    unfold(w);
    b->alive -= (uint32_t)__builtin_popcount(w->mask);
    w->alive &= ~w->mask;
    w->mask = 0;
    /* whoever waits for all threads no longer waits for these */
    for (uint32_t k = 0; k < BARRIERS; k++)
        if (b->barrier[k].threads && !b->barrier[k].wanted && complete(b, &b->barrier[k]))
            release(b, k);
    if (!w->alive) {
        w->event = EVENT_EXIT;
        return STOP;
    }
    /* lanes that waited for one of these at a warp-synchronous instruction look again */
    w->syncing = 0;
    return reselect(w);
}

/* Runs the warp until it can't go on or its slice is over. */
static void warp_run(struct warp *w)
{
    const struct insn *i;

    if (!choose(w))
        return;
    i = w->pc;
    for (;;) {
        do
            i = i->fn(w, i);
        while (i < w->limit);
        if (i == STOP)
            return;
        /* reached another group's place */
        count_run(w, i);
        park(w, i);
        if (!choose(w))
            return;
        i = w->pc;
    }
}

/* One turn for each warp. Returns how many could run. */
static unsigned block_turn(struct block *b)
{
    unsigned ran = 0;

    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct warp *w = &b->warp[k];

        if (!(w->alive & ~w->blocked & ~w->syncing))
            continue;
        warp_run(w);
        ran++;
        if (w->worker->run->stop)
            break;
    }
    return ran;
}

static void deadlock(struct block *b)
{
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct warp *w = &b->warp[k];
        const struct insn *at;
        unsigned lane;

        if (!w->alive)
            continue;
        lane = (unsigned)__builtin_ctz(w->alive);
        at = w->whole ? w->pc : w->lane_pc[lane];
        fault(w, w->syncing >> lane & 1 ? at : at - 1, SG_FAULT_DEADLOCK, lane, 0, 0, false,
              "waits for threads that never arrive (%u of %u are left in the block)", b->alive,
              b->nthreads);
        return;
    }
}

bool block_run(struct block *b)
{
    unsigned ran = block_turn(b), turns = b->worker->run->launch->turns;

    if (b->worker->run->stop)
        return false;
    if (ran == 0 && b->alive)
        deadlock(b);
    else if (++b->turns > (turns ? turns : MAX_TURNS))
        fault(b->warp, b->warp->pc, SG_FAULT_DEADLOCK, 0, 0, 0, false, "runs without end");
    return b->alive != 0 && !b->worker->run->stop;
}
