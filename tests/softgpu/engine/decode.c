/* SPDX-License-Identifier: BSD-3-Clause
 * Decoder: the program of one kernel. Collects the functions it may call, lays out shared memory,
 * decodes each function and connects branches. A register that is written once, by a move of
 * something constant during a launch or block, is not moved at all: its uses name the source. */
#include "decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const struct ptx_operand *operand(const struct decoder *d, const struct form *f, unsigned k)
{
    if (k >= f->insn->n)
        loader_fail(d->ld, f->insn->line, "%s needs more operands", f->insn->mnemonic);
    return &f->insn->operand[k];
}

struct insn *emit(struct decoder *d, op_fn fn, unsigned line)
{
    struct insn *i = pool_push(&d->ld->pool, (void **)&d->code, &d->n, &d->room, sizeof *i);
    struct tally *t = pool_push(&d->ld->pool, (void **)&d->info, &d->info_n, &d->info_room, sizeof *t);

    i->fn = fn;
    i->line = line;
    t->insns = d->pending;
    d->pending = 0;
    return i;
}

void insn_src(struct insn *i, unsigned k, struct ref ref)
{
    i->off[k] = ref.off;
    i->base[k] = ref.base;
}

void count_flops(struct decoder *d, enum flop_kind kind, unsigned flops)
{
    struct tally *t = &d->info[d->n - 1];

    t->f16 += kind == FLOP_F16 ? flops : 0;
    t->bf16 += kind == FLOP_BF16 ? flops : 0;
    t->f32 += kind == FLOP_F32 ? flops : 0;
    t->f64 += kind == FLOP_F64 ? flops : 0;
}

void emit_row(struct decoder *d, const struct op_row *row, const struct ptx_insn *in)
{
    unsigned n = (unsigned)strlen(row->sig);
    struct ref ref[6];
    struct insn *i;
    int64_t imm = 0;

    if (in->n != n)
        loader_fail(d->ld, in->line, "%s has %u operands, not %u", in->mnemonic, n, in->n);
    for (unsigned k = 0; k < n; k++) {
        const struct ptx_operand *o = &in->operand[k];

        if (row->sig[k] == 'i') {
            if (o->kind != O_IMM)
                loader_fail(d->ld, in->line, "operand %u of %s must be a number", k, in->mnemonic);
            imm = (int64_t)o->bits;
        } else {
            ref[k] = k ? ref_source(d, o, row->sig[k]) : ref_dest(d, o, row->sig[0]);
        }
    }
    i = emit(d, row->fn, in->line);
    i->imm = imm;
    for (unsigned k = 0; k < n && k < 4; k++)
        if (row->sig[k] != 'i')
            insn_src(i, k, ref[k]);
    /* a fourth source (bfi) does not fit: it goes where no other operand is */
    if (n == 5 && row->sig[4] != 'i') {
        i->imm = ref[4].off;
        i->n = ref[4].base;
    }
    count_flops(d, row->flop_kind, row->flops);
}

static void decode_plain(struct decoder *d, const struct ptx_insn *in)
{
    const struct op_row *row = op_find(in->mnemonic);
    const struct family *family;
    struct form f = {.insn = in};

    /* moves have forms beside the plain row: vectors, symbols, special registers */
    if (row && (strncmp(in->mnemonic, "mov.", 4) || in->n != 2)) {
        emit_row(d, row, in);
        return;
    }
    if (!mnemonic_form(&f, &family)) {
        if (!row)
            loader_fail(d->ld, in->line, "unknown instruction %s", in->mnemonic);
        emit_row(d, row, in);
        return;
    }
    family->decode(d, &f);
}

static bool is_flow(const struct ptx_insn *in)
{
    const struct family *family;
    struct form f = {.insn = in};

    return !op_find(in->mnemonic) && mnemonic_form(&f, &family) && family->flow;
}

/* Has decode_constants() made this instruction's result a constant? */
static bool folded(const struct decoder *d, const struct ptx_insn *in)
{
    return in->guard < 0 && in->n >= 1 && in->operand[0].kind == O_REG &&
           d->reg[in->operand[0].reg].constant;
}

static void decode_guarded(struct decoder *d, const struct ptx_insn *in)
{
    bool branch = strcmp(in->op, "bra") == 0, flow = is_flow(in);
    unsigned at = d->n;
    struct insn *g;

    if (branch) {
        decode_plain(d, in);
        g = &d->code[d->n - 1];
        g->fn = op_branch;
        g->guard = d->reg[in->guard].ref.off;
        g->neg = in->guard_neg;
        return;
    }
    g = emit(d, flow ? op_branch : op_guard, in->line);
    g->guard = d->reg[in->guard].ref.off;
    g->neg = flow ? !in->guard_neg : in->guard_neg;
    decode_plain(d, in);
    g = &d->code[at];
    if (flow) {
        struct fixup *fix = pool_push(&d->ld->pool, (void **)&d->fixup, &d->nfixups,
                                      &d->fixups_room, sizeof *fix);

        *fix = (struct fixup){at, d->n};
        return;
    }
    g->n = (uint8_t)(d->n - at - 1);
    for (unsigned k = at + 1; k < d->n; k++) {
        struct tally *t = &d->info[k];
        unsigned flops = t->f16 + t->bf16 + t->f32 + t->f64;

        if (flops) {
            g->kind = t->f16 ? FLOP_F16 : t->bf16 ? FLOP_BF16 : t->f32 ? FLOP_F32 : FLOP_F64;
            g->size = (uint8_t)flops;
            t->f16 = t->bf16 = t->f32 = t->f64 = 0;
        }
    }
}

/* How often each register may be written: as the first operand of anything. */
static void count_writes(const struct ptx_operand *o, uint8_t *writes)
{
    if (o->kind == O_REG && writes[o->reg] < 2)
        writes[o->reg]++;
    if (o->kind == O_VECTOR || o->kind == O_PAREN)
        for (unsigned k = 0; k < o->n; k++)
            count_writes(&o->list[k], writes);
    if (o->second)
        count_writes(o->second, writes);
}

/* A move, conversion of an address or parameter load whose source never changes within a block. */
static bool constant_source(struct decoder *d, const struct ptx_insn *in, struct ref *out)
{
    const struct ptx_operand *dest = &in->operand[0], *src = &in->operand[1];
    unsigned width = reg_width(d, dest->reg);
    struct form f = {.insn = in};
    const struct ptx_var *var;

    if (in->n != 2 || (width != 4 && width != 8))
        return false;
    if (strncmp(in->mnemonic, "ld.param.", 9) == 0) {
        enum ptx_type type;

        f.used = 1;
        type = form_type(&f);
        if (!type || !form_done(&f) || src->kind != O_MEM || src->list->kind != O_SYMBOL)
            return false;
        var = src->list->var;
        if (!var || !var->in_buffer || (uint64_t)src->off + ptx_type_bytes(type) > var->bytes)
            return false;
        *out = ref_fill(d, (struct fill){.kind = FILL_PARAM, .width = (uint8_t)width,
                                         .bytes = (uint8_t)ptx_type_bytes(type),
                                         .sign = type >= T_S8 && type <= T_S64,
                                         .value = var->offset + (uint64_t)src->off});
        return ptx_type_bytes(type) <= width;
    }
    if (strcmp(in->mnemonic, "cvta.to.global.u64") && strcmp(in->mnemonic, "cvta.global.u64") &&
        strcmp(in->mnemonic, "cvta.to.const.u64") && strcmp(in->mnemonic, "cvta.const.u64") &&
        strcmp(in->op, "mov"))
        return false;
    if (strcmp(in->op, "mov") == 0 &&
        ptx_type_bytes(ptx_type_of(in->nmods ? in->mod[0] : "")) > width)
        return false;
    switch (src->kind) {
    case O_REG:
        *out = d->reg[src->reg].ref;
        return d->reg[src->reg].constant && reg_width(d, src->reg) == width;
    case O_IMM:
        *out = ref_source(d, src, letter_of(ptx_type_of(in->mod[in->nmods - 1])));
        return true;
    case O_SREG:
        return sreg_ref(d, src->name, width, out);
    case O_SYMBOL:
        return symbol_ref(d, src, width, out);
    default:
        return false;
    }
}

static void find_constants(struct decoder *d)
{
    const struct ptx_func *f = d->func;
    uint8_t *writes = pool_alloc(&d->ld->pool, f->nregs + 1);

    for (unsigned k = 0; k < f->nparams; k++)
        if (f->param[k]->in_reg)
            writes[f->param[k]->reg]++;
    for (unsigned k = 0; k < f->ninsns; k++)
        if (f->insn[k].n)
            count_writes(&f->insn[k].operand[0], writes);
    for (unsigned k = 0; k < f->ninsns; k++) {
        const struct ptx_insn *in = &f->insn[k];
        struct ref ref;

        if (in->guard < 0 && in->n == 2 && in->operand[0].kind == O_REG &&
            writes[in->operand[0].reg] == 1 && constant_source(d, in, &ref)) {
            struct reg_place *r = &d->reg[in->operand[0].reg];

            r->placed = r->constant = true;
            r->ref = ref;
        }
    }
}

static uint32_t align_to(uint32_t n, uint32_t to)
{
    return to ? (n + to - 1) / to * to : n;
}

/* Parameter variables are rows of words in the frame. */
static void place_param(struct decoder *d, struct ptx_var *var)
{
    var->offset = d->frame_bytes;
    d->frame_bytes += (uint32_t)((var->bytes + 3) / 4 * ROW);
}

/* Rows for a device function's parameters and results come first, so that callers know them. */
static void place_formals(struct decoder *d, struct ptx_func *func, struct routine *r)
{
    uint32_t *off = keep(d, 2 * (func->nparams + func->nrets + 1) * sizeof *off);

    d->frame_bytes = FRAME_HEADER;
    r->name = func->name;
    r->nparams = func->nparams;
    r->nrets = func->nrets;
    r->param_off = off;
    r->param_words = off + func->nparams;
    r->ret_off = off + 2 * func->nparams;
    r->ret_words = off + 2 * func->nparams + func->nrets;
    if (!func->entry) {
        for (unsigned k = 0; k < func->nparams; k++) {
            place_param(d, func->param[k]);
            off[k] = func->param[k]->offset;
            off[func->nparams + k] = (uint32_t)(func->param[k]->bytes + 3) / 4;
        }
        for (unsigned k = 0; k < func->nrets; k++) {
            place_param(d, func->ret[k]);
            off[2 * func->nparams + k] = func->ret[k]->offset;
            off[2 * func->nparams + func->nrets + k] = (uint32_t)(func->ret[k]->bytes + 3) / 4;
        }
    }
    r->frame_bytes = d->frame_bytes;
}

static void place_body_vars(struct decoder *d)
{
    uint32_t preds = 0;

    for (unsigned k = 0; k < d->func->nvars; k++) {
        struct ptx_var *var = d->func->var[k];

        if (var->space == SPACE_PARAM) {
            place_param(d, var);
        } else if (var->space == SPACE_LOCAL) {
            d->local_bytes = align_to(d->local_bytes, var->align);
            var->offset = d->local_bytes;
            d->local_bytes += (uint32_t)var->bytes;
        }
    }
    d->local_bytes = align_to(d->local_bytes, 16);
    for (unsigned k = 0; k < d->func->nregs; k++) {
        if (d->func->reg[k] == T_PRED) {
            d->reg[k].placed = true;
            d->reg[k].ref = (struct ref){d->frame_bytes + 4 * preds++, BASE_FRAME};
        }
    }
    d->frame_bytes += align_to(4 * preds, ROW);
}

static void decode_func(struct decoder *d, struct ptx_func *func)
{
    unsigned entry = d->n;

    d->func = func;
    d->routine = &d->program->routine[func->index];
    d->frame_bytes = d->routine->frame_bytes;
    d->local_bytes = 0;
    d->reg = pool_alloc(&d->ld->pool, (func->nregs + 1) * sizeof *d->reg);
    d->insn_at = pool_alloc(&d->ld->pool, (func->ninsns + 1) * sizeof *d->insn_at);
    place_body_vars(d);
    find_constants(d);
    d->line = func->line;
    if (!func->entry)
        emit_formals(d, func->param, func->nparams, false);
    for (unsigned k = 0; k < func->ninsns; k++) {
        const struct ptx_insn *in = &func->insn[k];

        d->insn_at[k] = d->n;
        d->pending++;
        d->mnemonic = in->mnemonic;
        d->line = in->line;
        if (in->guard >= 0)
            decode_guarded(d, in);
        else if (!folded(d, in))
            decode_plain(d, in);
    }
    d->insn_at[func->ninsns] = d->n;
    /* a body that ends without ret or exit */
    if (func->entry) {
        emit(d, op_exit, func->line);
    } else {
        emit_formals(d, func->ret, func->nrets, true);
        emit(d, op_return, func->line);
    }
    /* branches name PTX instructions so far */
    for (unsigned k = entry; k < d->n; k++) {
        if (d->code[k].fn == op_switch) {
            struct switch_table *t = (struct switch_table *)(uintptr_t)d->code[k].table;

            for (unsigned n = 0; n < t->n; n++)
                t->target[n] = (const struct insn *)(uintptr_t)d->insn_at[(uintptr_t)t->target[n]];
        }
    }
    for (unsigned k = 0; k < d->nfixups; k++) {
        struct fixup *fix = &d->fixup[k];

        if (fix->at >= entry && fix->target & 0x80000000u)
            fix->target = d->insn_at[fix->target & 0x7fffffffu];
    }
    d->routine->frame_bytes = align_to(d->frame_bytes, ROW);
    d->routine->local_bytes = d->local_bytes;
    d->routine->entry = d->code + entry; /* moved when the code is final */
    d->insn_at = NULL;
    d->routine->name = func->name;
    func->mark = entry + 1;
}

/* What a kernel reaches. */
struct reach {
    struct ptx_func **func;
    unsigned n, room;
};

static void reach_func(struct decoder *d, struct reach *r, struct ptx_func *func);

static void reach_operand(struct decoder *d, struct reach *r, const struct ptx_operand *o)
{
    for (unsigned k = 0; k < o->n; k++)
        reach_operand(d, r, &o->list[k]);
    if (o->kind == O_SYMBOL && !o->var && !o->label) {
        struct ptx_func *f = map_get(&d->module->funcs, o->name);
        struct ptx_var *v = map_get(&d->module->vars, o->name);

        if (f)
            reach_func(d, r, f);
        if (v && v->space == SPACE_SHARED)
            v->mark = 1;
    }
}

/* An indirect call may reach every function whose address is in a variable. */
static void reach_pointers(struct decoder *d, struct reach *r)
{
    d->indirect = true;
    for (unsigned v = 0; v < d->module->nvars; v++) {
        for (unsigned k = 0; k < d->module->var[v]->ninit; k++) {
            const char *name = d->module->var[v]->init[k].symbol;
            struct ptx_func *f = name ? map_get(&d->module->funcs, name) : NULL;

            if (f && !f->entry)
                reach_func(d, r, f);
        }
    }
    for (unsigned k = 0; k < d->module->nfuncs; k++) {
        struct ptx_func *f = d->module->func[k];

        /* or in a register, anywhere: another kernel may have stored it */
        for (unsigned n = 0; n < f->ninsns; n++)
            if (strcmp(f->insn[n].op, "mov") == 0 && f->insn[n].n == 2)
                reach_operand(d, r, &f->insn[n].operand[1]);
    }
}

static void reach_func(struct decoder *d, struct reach *r, struct ptx_func *func)
{
    if (func->mark || !func->has_body)
        return;
    func->mark = 1;
    *(struct ptx_func **)pool_push(&d->ld->pool, (void **)&r->func, &r->n, &r->room, sizeof func) = func;
    for (unsigned k = 0; k < func->ninsns; k++) {
        const struct ptx_insn *in = &func->insn[k];

        for (unsigned o = 0; o < in->n; o++)
            reach_operand(d, r, &in->operand[o]);
        if (strcmp(in->op, "call") == 0 && !d->indirect)
            for (unsigned o = 0; o < in->n && o < 2; o++)
                if (in->operand[o].kind == O_REG)
                    reach_pointers(d, r);
    }
}

static void place_shared(struct decoder *d, const struct reach *r)
{
    uint32_t off = 0, dynamic_align = 16;

    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned k = 0; k < r->n + 1; k++) {
            bool outer = k == r->n;
            unsigned n = outer ? d->module->nvars : r->func[k]->nvars;

            for (unsigned v = 0; v < n; v++) {
                struct ptx_var *var = outer ? d->module->var[v] : r->func[k]->var[v];
                bool dynamic = var->external && var->bytes == 0;

                if (var->space != SPACE_SHARED || (outer && !var->mark) || dynamic != (pass == 1))
                    continue;
                if (dynamic) {
                    var->offset = d->program->dynamic_offset;
                    continue;
                }
                off = align_to(off, var->align);
                var->offset = off;
                off += (uint32_t)var->bytes;
            }
        }
        for (unsigned v = 0; v < d->module->nvars; v++) {
            const struct ptx_var *var = d->module->var[v];

            if (var->space == SPACE_SHARED && var->mark && var->align > dynamic_align)
                dynamic_align = var->align;
        }
        if (pass == 0) {
            d->program->shared_bytes = off;
            d->program->dynamic_offset = align_to(off, dynamic_align);
        }
    }
    d->program->kernel.static_shared = d->program->shared_bytes;
}

/* Frames and local memory of the deepest chain of calls. Recursion gets a fixed allowance. */
enum { RECURSION_FRAMES = 1 << 20, RECURSION_LOCAL = 32 << 10, ALLOCA_LOCAL = 64 << 10 };

static bool deepest(struct decoder *d, struct ptx_func *func, unsigned *path, uint32_t *frames_p,
                    uint32_t *local_p)
{
    const struct routine *r = &d->program->routine[func->index];
    uint32_t frames = 0, local = 0;

    if (path[func->index])
        return false;
    path[func->index] = 1;
    for (unsigned k = 0; k < func->ninsns; k++) {
        const struct ptx_insn *in = &func->insn[k];

        if (strcmp(in->op, "call"))
            continue;
        for (unsigned o = 0; o < in->n && o < 2; o++) {
            const struct ptx_operand *call = &in->operand[o];
            struct ptx_func *to;
            uint32_t f, l;

            if (call->kind != O_SYMBOL || call->var)
                continue;
            to = map_get(&d->module->funcs, call->name);
            if (!to || !to->has_body)
                continue;
            if (!deepest(d, to, path, &f, &l))
                return false;
            frames = f > frames ? f : frames;
            local = l > local ? l : local;
        }
    }
    path[func->index] = 0;
    *frames_p = frames + r->frame_bytes;
    *local_p = local + r->local_bytes;
    return true;
}

static void size_stacks(struct decoder *d, struct ptx_func *kernel)
{
    unsigned *path = pool_alloc(&d->ld->pool, (d->module->nfuncs + 1) * sizeof *path);
    struct program *p = d->program;

    p->kernel.local_bytes = p->routine[kernel->index].local_bytes;
    if (!d->indirect && deepest(d, kernel, path, &p->stack_bytes, &p->local_bytes)) {
        p->kernel.local_bytes = p->local_bytes;
    } else {
        p->stack_bytes = p->routine[kernel->index].frame_bytes + RECURSION_FRAMES;
        p->local_bytes = p->kernel.local_bytes + RECURSION_LOCAL;
    }
    if (p->has_alloca)
        p->local_bytes += ALLOCA_LOCAL;
}

static void finish_code(struct decoder *d, const struct reach *r)
{
    struct program *p = d->program;
    struct tally sum = {0};

    p->ninsns = d->n;
    p->code = keep(d, d->n * sizeof *p->code);
    memcpy(p->code, d->code, d->n * sizeof *p->code);
    for (unsigned k = 0; k < d->nfixups; k++)
        p->code[d->fixup[k].at].target = p->code + d->fixup[k].target;
    for (unsigned k = 0; k < d->n; k++) {
        struct insn *i = &p->code[k];

        /* tables of brx hold indices until now */
        if (i->fn == op_switch) {
            struct switch_table *t = (struct switch_table *)(uintptr_t)i->table;

            for (unsigned n = 0; n < t->n; n++)
                t->target[n] = p->code + (uintptr_t)t->target[n];
        }
    }
    p->tally = keep(d, (d->n + 1) * sizeof *p->tally);
    for (unsigned k = 0; k < d->n; k++) {
        p->tally[k] = sum;
        sum.insns += d->info[k].insns;
        sum.f16 += d->info[k].f16;
        sum.bf16 += d->info[k].bf16;
        sum.f32 += d->info[k].f32;
        sum.f64 += d->info[k].f64;
    }
    p->tally[d->n] = sum;
    p->has_flops = sum.f16 || sum.bf16 || sum.f32 || sum.f64;
    for (unsigned k = 0; k < r->n; k++) {
        struct routine *routine = &p->routine[r->func[k]->index];

        routine->entry = p->code + (r->func[k]->mark - 1);
    }
    p->nfills = d->nfills;
    p->fill = keep(d, (d->nfills + 1) * sizeof *p->fill);
    if (d->nfills)
        memcpy((void *)(uintptr_t)p->fill, d->fill, d->nfills * sizeof *p->fill);
}

/* Registers of a compiler that allocates them: about what a thread keeps at a time. */
static uint32_t estimate_registers(const struct ptx_func *kernel)
{
    uint32_t words = 0;

    for (unsigned k = 0; k < kernel->nregs; k++)
        words += kernel->reg[k] == T_PRED ? 0 : ptx_type_bytes(kernel->reg[k]) > 4 ? 2 : 1;
    words = words / 4 + 16;
    return align_to(words > 255 ? 255 : words, 8);
}

void decode_program(struct decoder *d, struct ptx_func *kernel)
{
    struct reach r = {0};
    struct program *p = d->program;

    for (unsigned k = 0; k < d->module->nfuncs; k++)
        d->module->func[k]->mark = 0;
    for (unsigned k = 0; k < d->module->nvars; k++)
        d->module->var[k]->mark = 0;
    reach_func(d, &r, kernel);
    place_shared(d, &r);
    p->nroutines = d->module->nfuncs;
    p->routine = keep(d, (p->nroutines + 1) * sizeof *p->routine);
    for (unsigned k = 0; k < r.n; k++)
        place_formals(d, r.func[k], &p->routine[r.func[k]->index]);
    for (unsigned k = 0; k < r.n; k++)
        decode_func(d, r.func[k]);
    finish_code(d, &r);
    p->entry = p->routine[kernel->index].entry;
    size_stacks(d, kernel);
    p->kernel.registers = estimate_registers(kernel);
    p->kernel.max_threads = kernel->max_threads ? kernel->max_threads : 1024;
}
