/* SPDX-License-Identifier: BSD-3-Clause
 * Branches, guards, exits, traps and barriers. */
#include "control.h"
#include "lanes.h"
#include "race.h"
#include "sched.h"

static uint32_t guard_of(const struct warp *w, const struct insn *i)
{
    uint32_t p = *(const uint32_t *)(const void *)(w->base[BASE_FRAME] + i->guard);

    return (i->neg ? ~p : p) & w->mask;
}

OP(jump_op)
{
    return jump(w, i, i->target);
}

OP(branch)
{
    uint32_t taken = guard_of(w, i);

    if (!taken)
        return i + 1;
    if (taken == w->mask)
        return jump(w, i, i->target);
    return split(w, i, taken, i->target);
}

/* brx.idx: an index past the table has no defined effect; here it is a fault */
OP(switch_op)
{
    const uint32_t *a = ROW_OF(uint32_t, 1);
    uint32_t lead = (uint32_t)__builtin_ctz(w->mask), same = 0;

    if (a[lead] >= i->table->n)
        return fault(w, i, SG_FAULT_TRAP, lead, a[lead], 0, false,
                     "brx index %u of %u branch targets", a[lead], i->table->n);
    EACH_SET(w->mask) {
        if (a[l] == a[lead])
            same |= 1u << l;
    }
    /* the other lanes come back to this instruction */
    if (same != w->mask) {
        uint32_t rest = w->mask & ~same;

        count_run(w, i);
        leave(w, rest, i);
        w->run = i;
    }
    count_run(w, i + 1);
    park(w, i->table->target[a[lead]]);
    return reselect(w);
}

/* The next n operations for the lanes whose guard holds. None of them changes the flow. */
OP(guard)
{
    const struct insn *k = i + 1, *end = i + 1 + i->n;
    uint32_t mask = w->mask, on = guard_of(w, i);
    struct sg_counts *c = &w->worker->counts;
    uint64_t flops = (uint64_t)__builtin_popcount(on) * i->size;

    if (!on)
        return end;
    w->mask = on;
    while (k < end)
        k = k->fn(w, k);
    w->mask = mask;
    if (flops) {
        uint64_t *sum = i->kind == FLOP_F16 ? &c->flop_f16 : i->kind == FLOP_BF16 ? &c->flop_bf16
                        : i->kind == FLOP_F32 ? &c->flop_f32 : &c->flop_f64;

        *sum += flops;
    }
    return k == STOP ? STOP : end;
}

OP(exit_op)
{
    return lanes_exit(w, i);
}

OP(trap)
{
    return fault(w, i, SG_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), 0, 0, false, "%s",
                 i->kind ? "brkpt" : "trap");
}

OP(nop)
{
    (void)w;
    return i + 1;
}

/* source 1: which barrier; source 2: threads that take part, if i->n */
OP(barrier)
{
    const uint32_t *a = ROW_OF(uint32_t, 1), *b = ROW_OF(uint32_t, 2);
    unsigned lead = (unsigned)__builtin_ctz(w->mask);

    if (a[lead] >= BARRIERS)
        return fault(w, i, SG_FAULT_TRAP, lead, a[lead], 0, false, "barrier number %u", a[lead]);
    return barrier_wait(w, i, a[lead], i->n ? b[lead] : 0, i->kind);
}

/* Arrives with a predicate, source 3. The result is fetched by the next operation. */
OP(barrier_red)
{
    const uint32_t *a = ROW_OF(uint32_t, 1);
    unsigned lead = (unsigned)__builtin_ctz(w->mask);
    uint32_t p = *PRED_OF(3);

    if (a[lead] < BARRIERS)
        w->block->barrier[a[lead]].count +=
            (uint32_t)__builtin_popcount((i->neg ? ~p : p) & w->mask);
    return barrier(w, i);
}

OP(barrier_result)
{
    const uint32_t *a = ROW_OF(uint32_t, 1);
    const struct barrier *bar = &w->block->barrier[a[__builtin_ctz(w->mask)]];

    if (i->kind == RED_POPC) {
        uint32_t *d = ROW_OF(uint32_t, 0);

        LOOP(d, , bar->result);
    } else {
        bool yes = i->kind == RED_AND ? bar->result == bar->result_threads : bar->result != 0;
        uint32_t *d = PRED_OF(0);

        *d = (*d & ~w->mask) | (yes ? w->mask : 0);
    }
    return i + 1;
}

/* bar.warp.sync: lanes may wait for each other at different ones */
OP(warp_barrier)
{
    const uint32_t *a = ROW_OF(uint32_t, 1);
    uint32_t members = 0, there = w->mask;

    race_warp_met(w);
    EACH_SET(w->mask)
        members |= a[l];
    members &= w->alive;
    if (!(members & ~w->mask))
        return i + 1;
    EACH_SET(w->syncing) {
        if (w->lane_pc[l]->fn == i->fn)
            there |= 1u << l;
    }
    if (members & ~there)
        return wait_for(w, i);
    /* the last ones have come: the others go on behind theirs */
    EACH_SET(there & ~w->mask)
        w->lane_pc[l]++;
    w->syncing &= ~there;
    count_run(w, i + 1);
    park(w, i + 1);
    return reselect(w);
}

const op_fn op_jump = jump_op, op_branch = branch, op_switch = switch_op, op_guard = guard;
const op_fn op_exit = exit_op, op_trap = trap, op_nop = nop;
const op_fn op_barrier = barrier, op_barrier_red = barrier_red, op_barrier_result = barrier_result;
const op_fn op_warp_barrier = warp_barrier;
