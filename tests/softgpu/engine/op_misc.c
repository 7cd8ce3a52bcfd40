/* SPDX-License-Identifier: BSD-3-Clause
 * Moves that are more than a copy (vectors, clocks, addresses), address space conversions, and what
 * only costs time on a GPU. */
#include "decode.h"
#include "sched.h"

#include <time.h>

static uint64_t nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Clocks count instructions of this warp and time, so they always move on. */
OP(clock_op)
{
    uint64_t now;

    count_run(w, i);
    now = i->kind ? nanoseconds() : w->worker->counts.warp_instructions * 4;
    EACH_SET(w->mask)
        memcpy(w->base[BASE_FRAME] + i->off[0] + l * i->size, &now, i->size);
    return i + 1;
}

OP(activemask)
{
    uint32_t *d = ROW_OF(uint32_t, 0), mask = w->mask;

    LOOP(d, , mask);
    return i + 1;
}

/* One wide value from n elements of i->size bytes, the first in the low bits; list: off, base */
OP(pack)
{
    char *d = w->base[BASE_FRAME] + i->off[0];
    unsigned out = i->size * i->n < 4 ? 4 : i->size * i->n;

    EACH_SET(w->mask) {
        char v[16] = {0};

        for (unsigned k = 0; k < i->n; k++)
            memcpy(v + k * i->size,
                   w->base[i->list[2 * k + 1]] + i->list[2 * k] + l * (i->size == 8 ? 8 : 4), i->size);
        memcpy(d + l * out, v, out);
    }
    return i + 1;
}

OP(unpack)
{
    const char *a = w->base[i->base[1]] + i->off[1];
    unsigned in = i->size * i->n < 4 ? 4 : i->size * i->n;

    EACH_SET(w->mask) {
        for (unsigned k = 0; k < i->n; k++) {
            uint64_t v = 0;

            if (i->list[k] == UINT32_MAX)
                continue;
            memcpy(&v, a + l * in + k * i->size, i->size);
            memcpy(w->base[BASE_FRAME] + i->list[k] + l * (i->size == 8 ? 8 : 4), &v,
                   i->size == 8 ? 8 : 4);
        }
    }
    return i + 1;
}

static bool mov_form(struct form *f)
{
    f->type = form_type(f);
    return f->type && form_done(f) && (op_find(f->insn->mnemonic) || f->type == T_B128);
}

static void vector_move(struct decoder *d, const struct form *f, bool to_vector)
{
    const struct ptx_operand *v = operand(d, f, to_vector ? 0 : 1);
    const struct ptx_operand *whole = operand(d, f, to_vector ? 1 : 0);
    unsigned bytes = ptx_type_bytes(f->type), size = bytes / (v->n ? v->n : 1);
    uint32_t *list = keep(d, 2 * v->n * sizeof *list);
    char letter = bytes == 8 ? 'q' : bytes == 16 ? 'Q' : 'r', part = size == 8 ? 'q' : 'r';
    struct ref ref;
    struct insn *i;

    if (size * v->n != bytes || !size)
        loader_fail(d->ld, d->line, "%s: %u elements don't make %u bytes", d->mnemonic, v->n, bytes);
    for (unsigned k = 0; k < v->n; k++) {
        const struct ptx_operand *o = &v->list[k];

        if (to_vector) {
            list[k] = o->kind == O_SINK ? UINT32_MAX : ref_dest(d, o, part).off;
        } else {
            ref = ref_source(d, o, part);
            list[2 * k] = ref.off;
            list[2 * k + 1] = ref.base;
        }
    }
    ref = to_vector ? ref_source(d, whole, letter) : ref_dest(d, whole, letter);
    i = emit(d, to_vector ? unpack : pack, f->insn->line);
    insn_src(i, to_vector ? 1 : 0, ref);
    i->n = (uint8_t)v->n;
    i->size = (uint8_t)size;
    i->list = list;
}

OP1(widen, uint64_t, uint32_t, x)

OP(copy128)
{
    EACH_SET(w->mask)
        memmove(w->base[BASE_FRAME] + i->off[0] + 16 * l, w->base[i->base[1]] + i->off[1] + 16 * l, 16);
    return i + 1;
}

static void mov_decode(struct decoder *d, const struct form *f)
{
    const struct ptx_operand *to = operand(d, f, 0), *from = operand(d, f, 1);
    static const char *const clocks[] = {"%clock", "%clock64", "%globaltimer", "%globaltimer_lo"};
    unsigned width = to->kind == O_REG ? reg_width(d, to->reg) : 4;
    struct insn *i;
    struct ref src;
    op_fn copy;

    if (to->kind == O_VECTOR || from->kind == O_VECTOR) {
        vector_move(d, f, to->kind == O_VECTOR);
        return;
    }
    if (f->type == T_PRED) {
        emit_row(d, op_find(f->insn->mnemonic), f->insn);
        return;
    }
    if (f->type == T_B128) {
        struct ref dest = ref_dest(d, to, 'Q');

        src = ref_source(d, from, 'Q');
        i = emit(d, copy128, f->insn->line);
        insn_src(i, 0, dest);
        insn_src(i, 1, src);
        return;
    }
    if (from->kind == O_SREG) {
        for (unsigned k = 0; k < 4; k++) {
            if (strcmp(from->name, clocks[k]) == 0) {
                src = ref_dest(d, to, width == 8 ? 'q' : 'r');
                i = emit(d, clock_op, f->insn->line);
                insn_src(i, 0, src);
                i->size = (uint8_t)width;
                i->kind = k >= 2;
                return;
            }
        }
        if (!sreg_ref(d, from->name, width, &src)) {
            /* a 16- or 64-bit register takes the low half, or zeros above */
            if (width != 8 || !sreg_ref(d, from->name, 4, &src))
                loader_fail(d->ld, d->line, "unknown special register %s", from->name);
            i = emit(d, widen, f->insn->line);
        } else {
            i = emit(d, op_find(width == 8 ? "mov.b64" : "mov.b32")->fn, f->insn->line);
        }
        insn_src(i, 1, src);
        src = ref_dest(d, to, width == 8 ? 'q' : 'r');
        insn_src(&d->code[d->n - 1], 0, src);
        return;
    }
    if (from->kind == O_SYMBOL && from->var && from->var->space == SPACE_LOCAL && !d->func->entry) {
        emit_local_base(d, ref_dest(d, to, width == 8 ? 'q' : 'r'),
                        from->var->offset + (uint32_t)from->off, width);
        return;
    }
    copy = op_find(f->insn->mnemonic)->fn;
    src = ref_source(d, from, letter_of(f->type));
    i = emit(d, copy, f->insn->line);
    insn_src(i, 1, src);
    src = ref_dest(d, to, letter_of(f->type));
    insn_src(&d->code[d->n - 1], 0, src);
}

OP2(add_base, uint64_t, uint64_t, uint64_t, x + y)
OP2(sub_base, uint64_t, uint64_t, uint64_t, x - y)

/* cvta.space: offset to generic address; cvta.to.space: back. Global and const are the same. */
static bool cvta_form(struct form *f)
{
    static const char *const names[] = {"global", "const", "shared", "shared::cta",
                                        "shared::cluster", "local", "param", NULL};
    static const uint8_t space[] = {SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_SHARED,
                                    SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM};
    int k;

    f->n = form_take(f, "to");
    k = form_one(f, names);
    if (k < 0)
        return false;
    f->kind = space[k];
    f->type = form_type(f);
    return f->type == T_U64 && form_done(f);
}

static void cvta_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'q'), base = {0};
    const struct ptx_operand *o = operand(d, f, 1);
    bool window = f->kind == SPACE_SHARED || f->kind == SPACE_LOCAL;
    struct ref from;
    struct insn *i;

    if (o->kind == O_SYMBOL && o->var && o->var->space == SPACE_LOCAL && !d->func->entry) {
        from = ref_temp(d, 8);
        emit_local_base(d, from, o->var->offset + (uint32_t)o->off, 8);
    } else {
        from = ref_source(d, o, 'q');
    }
    if (window)
        base = ref_const(d, window_base(f->kind == SPACE_SHARED ? WINDOW_SHARED : WINDOW_LOCAL), 8);
    i = emit(d, !window ? op_find("mov.b64")->fn : f->n ? sub_base : add_base, f->insn->line);
    insn_src(i, 0, to);
    insn_src(i, 1, from);
    insn_src(i, 2, base);
}

static bool is_const(const struct program *p, uint64_t address)
{
    for (uint32_t k = 0; k < p->nconsts; k++)
        if (address >= p->consts[k].lo && address < p->consts[k].hi)
            return true;
    return false;
}

OP(isspacep)
{
    const uint64_t *a = ROW_OF(uint64_t, 1);
    uint32_t *d = PRED_OF(0), bits = 0;

    EACH_LANE {
        uint64_t off = a[l] - windows_at;
        bool shared = off < WINDOW_BYTES, local = off - WINDOW_BYTES < WINDOW_BYTES;
        const struct run *run = w->worker->run;
        bool param = a[l] - (uintptr_t)run->params < w->program->kernel.param_bytes;
        bool yes = i->kind == SPACE_SHARED ? shared : i->kind == SPACE_LOCAL ? local
                   : i->kind == SPACE_PARAM ? param
                   : i->kind == SPACE_CONST ? is_const(w->program, a[l])
                                            : !shared && !local && !param;

        bits |= (uint32_t)yes << l;
    }
    *d = (*d & ~w->mask) | (bits & w->mask);
    return i + 1;
}

static bool isspacep_form(struct form *f)
{
    static const char *const names[] = {"global", "const", "shared", "shared::cta", "shared::cluster",
                                        "local", "param", "param::entry", NULL};
    static const uint8_t space[] = {SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_SHARED, SPACE_SHARED,
                                    SPACE_LOCAL, SPACE_PARAM, SPACE_PARAM};
    int k = form_one(f, names);

    if (k < 0)
        return false;
    f->kind = space[k];
    return form_done(f);
}

static void isspacep_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'p'), from = ref_source(d, operand(d, f, 1), 'q');
    struct insn *i = emit(d, isspacep, f->insn->line);

    insn_src(i, 0, to);
    insn_src(i, 1, from);
    i->kind = (uint8_t)f->kind;
}

static bool activemask_form(struct form *f)
{
    return form_take(f, "b32") && form_done(f);
}

static void activemask_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'r');

    insn_src(emit(d, activemask, f->insn->line), 0, to);
}

/* Instructions that need nothing done: nanosleep.u32, setmaxnreg, griddepcontrol, pmevent */
static bool idle_form(struct form *f)
{
    if (strcmp(f->insn->op, "griddepcontrol") == 0)
        return (form_take(f, "wait") || form_take(f, "launch_dependents")) && form_done(f);
    if (strcmp(f->insn->op, "setmaxnreg") == 0)
        return (form_take(f, "inc") || form_take(f, "dec")) && form_take(f, "sync") &&
               form_take(f, "aligned") && form_take(f, "u32") && form_done(f);
    if (strcmp(f->insn->op, "nanosleep") == 0)
        return form_take(f, "u32") && form_done(f);
    form_take(f, "mask");
    return form_done(f);
}

/* who sleeps lets others run at its next backward branch */
OP(sleep_op)
{
    w->budget = 0;
    return i + 1;
}

static void idle_decode(struct decoder *d, const struct form *f)
{
    emit(d, strcmp(f->insn->op, "nanosleep") ? op_nop : sleep_op, f->insn->line);
}

/* A cache policy is any value: nothing reads it. */
static bool policy_form(struct form *f)
{
    static const char *const kinds[] = {"fractional", "range", "cvt", NULL};
    static const char *const levels[] = {"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                                         "L2::evict_unchanged", "L2", NULL};

    if (form_one(f, kinds) < 0)
        return false;
    form_take(f, "global");
    while (form_one(f, levels) >= 0)
        ;
    return form_take(f, "b64") && form_done(f);
}

static void policy_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'q'), zero = ref_const(d, 0, 8);
    struct insn *i = emit(d, op_find("mov.b64")->fn, f->insn->line);

    insn_src(i, 0, to);
    insn_src(i, 1, zero);
}

const struct family misc_families[] = {
    {"createpolicy", policy_form, policy_decode, false},
    {"mov", mov_form, mov_decode, false},
    {"cvta", cvta_form, cvta_decode, false},
    {"isspacep", isspacep_form, isspacep_decode, false},
    {"activemask", activemask_form, activemask_decode, false},
    {"nanosleep", idle_form, idle_decode, false},
    {"setmaxnreg", idle_form, idle_decode, false},
    {"griddepcontrol", idle_form, idle_decode, false},
    {"pmevent", idle_form, idle_decode, false},
    {0},
};
