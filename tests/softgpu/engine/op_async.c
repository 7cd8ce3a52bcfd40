/* SPDX-License-Identifier: BSD-3-Clause
 * Asynchronous copies and mbarriers. A copy is done at once, which its contract allows; waiting for
 * groups is then nothing. An mbarrier is a word of shared memory: bit 63 the phase, then 22 bits of
 * bytes awaited, 20 of arrivals per phase, 20 of arrivals still missing. */
#include "decode.h"
#include "race.h"
#include "sched.h"

struct copy {
    struct address dst, src;
    struct ref bytes; /* row of the source size, or a predicate that says to ignore it */
    bool has_bytes, has_ignore;
    uint8_t neg;
};

/* A shared address may come as an offset or as a generic one. */
static enum where shared_at(struct warp *w, const struct insn *i, const struct address *a,
                            uint64_t *at, unsigned bytes, bool write)
{
    operand_addresses(w, a, at);
    EACH_LANE at[l] -= at[l] >= windows_at ? windows_at : 0;
    return check_shared(w, i, at, bytes, write);
}

OP(copy_async)
{
    const struct copy *c = i->data;
    uint64_t to[LANES], from[LANES];
    const char *bytes_row = w->base[c->bytes.base] + c->bytes.off;
    uint32_t ignore = 0, copied = 0, mask = w->mask;

    if (shared_at(w, i, &c->dst, to, i->size, true) == WHERE_FAULT)
        return STOP;
    if (c->has_ignore) {
        memcpy(&ignore, bytes_row, sizeof ignore);
        ignore = c->neg ? ~ignore : ignore;
    }
    EACH_SET(mask) {
        uint32_t n = i->size;

        if (c->has_bytes)
            memcpy(&n, bytes_row + 4 * l, 4);
        n = n > i->size ? i->size : n;
        if (ignore >> l & 1 || n == 0)
            ignore |= 1u << l;
        memset((char *)(uintptr_t)to[l], 0, i->size);
    }
    w->mask = mask & ~ignore;
    if (w->mask) {
        operand_addresses(w, &c->src, from);
        if (check_global(w, i, from, i->size, false) == WHERE_FAULT)
            return STOP;
        EACH_SET(w->mask) {
            uint32_t n = i->size;

            if (c->has_bytes)
                memcpy(&n, bytes_row + 4 * l, 4);
            n = n > i->size ? i->size : n;
            memcpy((char *)(uintptr_t)to[l], (const char *)(uintptr_t)from[l], n);
            copied += n;
        }
    }
    w->mask = mask;
    EACH_SET(mask) {
        if (!race_wrote(w, i, l, to[l], i->size, WHERE_SHARED))
            return STOP;
    }
    w->worker->counts.global_read_bytes += copied;
    w->worker->counts.shared_bytes += (uint64_t)__builtin_popcount(mask) * i->size;
    return i + 1;
}

/* cp.async.{ca,cg}.shared.global; .commit_group, .wait_group, .wait_all; .mbarrier.arrive */
enum { CP_COPY, CP_NOTHING, CP_ARRIVE };

static bool cp_form(struct form *f)
{
    static const char *const caches[] = {"ca", "cg", NULL};

    if (!form_take(f, "async"))
        return false;
    if (form_take(f, "commit_group") || form_take(f, "wait_group") || form_take(f, "wait_all")) {
        f->kind = CP_NOTHING;
        return form_done(f);
    }
    if (form_take(f, "mbarrier")) {
        bool arrive = form_take(f, "arrive");

        f->flags = form_take(f, "noinc");
        if (!form_take(f, "shared::cta"))
            form_take(f, "shared");
        f->kind = CP_ARRIVE;
        return arrive && form_take(f, "b64") && form_done(f);
    }
    f->kind = CP_COPY;
    if (form_one(f, caches) < 0)
        return false;
    if (!form_take(f, "shared") && !form_take(f, "shared::cta"))
        return false;
    if (!form_take(f, "global"))
        return false;
    form_take_hints(f);
    return form_done(f);
}

#define PENDING_BITS 20
#define COUNT_MASK ((1u << PENDING_BITS) - 1)
#define TX_SHIFT 40
#define TX_MASK 0x3fffffu
#define PHASE ((uint64_t)1 << 63)

struct state {
    uint32_t pending, expected, tx;
    uint64_t phase;
};

static struct state unpack(uint64_t v)
{
    return (struct state){v & COUNT_MASK, v >> PENDING_BITS & COUNT_MASK, v >> TX_SHIFT & TX_MASK,
                          v & PHASE};
}

static void store_state(uint64_t *p, struct state s)
{
    /* the last arrival and the last byte turn the phase */
    if (s.pending == 0 && s.tx == 0) {
        s.phase ^= PHASE;
        s.pending = s.expected;
    }
    *p = s.phase | (uint64_t)s.tx << TX_SHIFT | (uint64_t)s.expected << PENDING_BITS | s.pending;
}

enum { MB_INIT, MB_INVAL, MB_ARRIVE, MB_EXPECT, MB_COMPLETE, MB_TEST, MB_PARITY, MB_PENDING };
enum { MB_DROP = 1, MB_EXPECT_TX = 2 };

/* data: the address; sources 2: count or bytes, 3: state or parity; destination: state or predicate,
 * n says whether it is there */
OP(mbarrier)
{
    const struct address *a = i->data;
    const uint32_t *count = ROW_OF(uint32_t, 2);
    uint64_t at[LANES];
    uint32_t done = 0;

    if (shared_at(w, i, a, at, 8, i->kind != MB_TEST) == WHERE_FAULT)
        return STOP;
    /* threads that meet at one are taken to be in order, like at a barrier */
    race_block_met(w->block);
    EACH_SET(w->mask) {
        uint64_t *p = (uint64_t *)(uintptr_t)at[l], before = *p;
        struct state s = unpack(before);

        switch (i->kind) {
        case MB_INIT:
            *p = (uint64_t)(count[l] & COUNT_MASK) << PENDING_BITS | (count[l] & COUNT_MASK);
            break;
        case MB_INVAL:
            *p = UINT64_MAX;
            break;
        case MB_ARRIVE: {
            uint32_t n = i->size & MB_EXPECT_TX ? 1 : count[l];

            if (i->size & MB_EXPECT_TX)
                s.tx = (s.tx + count[l]) & TX_MASK;
            if (i->size & MB_DROP)
                s.expected = (s.expected - n) & COUNT_MASK;
            s.pending = (s.pending - n) & COUNT_MASK;
            store_state(p, s);
            if (i->n)
                memcpy(w->base[BASE_FRAME] + i->off[0] + 8 * l, &before, 8);
            break;
        }
        case MB_EXPECT:
            s.tx = (s.tx + count[l]) & TX_MASK;
            store_state(p, s);
            break;
        case MB_COMPLETE:
            s.tx = (s.tx - count[l]) & TX_MASK;
            store_state(p, s);
            break;
        case MB_TEST:
            done |= (uint32_t)((ROW_OF(const uint64_t, 3)[l] & PHASE) != s.phase) << l;
            break;
        default:
            done |= (uint32_t)((ROW_OF(const uint32_t, 3)[l] & 1) != (s.phase != 0)) << l;
            break;
        }
    }
    if (i->kind == MB_TEST || i->kind == MB_PARITY) {
        uint32_t *d = PRED_OF(0);

        *d = (*d & ~w->mask) | (done & w->mask);
        /* who waits lets others run at its next backward branch */
        if (done != w->mask)
            w->budget = 0;
    }
    return i + 1;
}

OP(pending_count)
{
    uint32_t *d = ROW_OF(uint32_t, 0);
    const uint64_t *a = ROW_OF(uint64_t, 1);

    LOOP(d, , (uint32_t)a[l] & COUNT_MASK);
    return i + 1;
}

static void take_shared(struct form *f)
{
    static const char *const spaces[] = {"shared", "shared::cta", "shared::cluster", NULL};

    form_one(f, spaces);
}

static bool mbarrier_form(struct form *f)
{
    static const char *const kinds[] = {"init", "inval", "arrive", "arrive_drop", "expect_tx",
                                        "complete_tx", "test_wait", "try_wait", "pending_count", NULL};
    static const uint8_t kind[] = {MB_INIT, MB_INVAL, MB_ARRIVE, MB_ARRIVE, MB_EXPECT, MB_COMPLETE,
                                   MB_TEST, MB_TEST, MB_PENDING};
    static const char *const orders[] = {"release", "acquire", "relaxed", NULL};
    static const char *const scopes[] = {"cta", "cluster", NULL};
    int k = form_one(f, kinds);

    if (k < 0)
        return false;
    f->kind = kind[k];
    f->flags = k == 3 ? MB_DROP : 0;
    if (f->kind == MB_ARRIVE) {
        if (form_take(f, "expect_tx"))
            f->flags |= MB_EXPECT_TX;
        form_take(f, "noComplete");
    }
    if (f->kind == MB_TEST && form_take(f, "parity"))
        f->kind = MB_PARITY;
    if (f->kind != MB_INIT && f->kind != MB_INVAL && f->kind != MB_PENDING) {
        form_one(f, orders);
        form_one(f, scopes);
    }
    if (f->kind != MB_PENDING)
        take_shared(f);
    return form_take(f, "b64") && form_done(f);
}

static void emit_mbarrier(struct decoder *d, const struct form *f, const struct ptx_operand *where,
                          unsigned kind, struct ref dest, bool has_dest, struct ref count,
                          struct ref state, unsigned flags)
{
    struct address *a = keep(d, sizeof *a);
    struct insn *i;

    memory_operand(d, where, a);
    i = emit(d, mbarrier, f->insn->line);
    insn_src(i, 0, dest);
    insn_src(i, 2, count);
    insn_src(i, 3, state);
    i->data = a;
    i->kind = (uint8_t)kind;
    i->size = (uint8_t)flags;
    i->n = has_dest;
    i->slot = d->program->nslots++;
}

static void mbarrier_decode(struct decoder *d, const struct form *f)
{
    bool wait = f->kind == MB_TEST || f->kind == MB_PARITY;
    bool has_dest = wait || (f->kind == MB_ARRIVE && operand(d, f, 0)->kind != O_MEM);
    unsigned at = has_dest ? 1 : 0;
    struct ref dest = {0}, count = ref_const(d, 1, 4), state = {0};
    bool sink = has_dest && operand(d, f, 0)->kind == O_SINK;

    if (f->kind == MB_PENDING) {
        struct insn *i;

        dest = ref_dest(d, operand(d, f, 0), 'r');
        state = ref_source(d, operand(d, f, 1), 'q');
        i = emit(d, pending_count, f->insn->line);
        insn_src(i, 0, dest);
        insn_src(i, 1, state);
        return;
    }
    if (wait) {
        dest = ref_dest(d, operand(d, f, 0), 'p');
        state = ref_source(d, operand(d, f, 2), f->kind == MB_TEST ? 'q' : 'r');
    } else {
        if (has_dest && !sink)
            dest = ref_dest(d, operand(d, f, 0), 'q');
        if (f->insn->n > at + 1)
            count = ref_source(d, operand(d, f, at + 1), 'r');
    }
    emit_mbarrier(d, f, operand(d, f, at), f->kind, dest, has_dest && !sink, count, state, f->flags);
}

static void cp_decode(struct decoder *d, const struct form *f)
{
    struct copy *c;
    const struct ptx_operand *size, *extra;
    struct insn *i;

    if (f->kind == CP_NOTHING) {
        emit(d, op_nop, f->insn->line);
        return;
    }
    if (f->kind == CP_ARRIVE) {
        /* without .noinc the arrival is added to what the phase awaits, then made: no change */
        if (!f->flags) {
            emit(d, op_nop, f->insn->line);
            return;
        }
        emit_mbarrier(d, f, operand(d, f, 0), MB_ARRIVE, (struct ref){0}, false, ref_const(d, 1, 4),
                      (struct ref){0}, 0);
        return;
    }
    c = keep(d, sizeof *c);
    memory_operand(d, operand(d, f, 0), &c->dst);
    memory_operand(d, operand(d, f, 1), &c->src);
    size = operand(d, f, 2);
    if (size->kind != O_IMM || (size->bits != 4 && size->bits != 8 && size->bits != 16))
        loader_fail(d->ld, d->line, "%s copies 4, 8 or 16 bytes", d->mnemonic);
    if (f->insn->n > 3) {
        extra = operand(d, f, 3);
        c->has_ignore = extra->kind == O_REG && reg_width(d, extra->reg) == 0;
        c->has_bytes = !c->has_ignore && !(extra->kind == O_REG && reg_width(d, extra->reg) == 8);
        if (c->has_ignore)
            c->bytes = pred_source(d, extra, &c->neg);
        else if (c->has_bytes)
            c->bytes = ref_source(d, extra, 'r');
    }
    i = emit(d, copy_async, f->insn->line);
    i->data = c;
    i->size = (uint8_t)size->bits;
    i->kind = MEM_GLOBAL;
    i->slot = d->program->nslots++;
}

const struct family async_families[] = {
    {"cp", cp_form, cp_decode, false},
    {"mbarrier", mbarrier_form, mbarrier_decode, false},
    {0},
};
