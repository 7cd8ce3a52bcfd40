/* SPDX-License-Identifier: BSD-3-Clause
 * Decoder: the program of one kernel. Decodes each function that the kernel may run and connects
 * branches. */
#include "layout.h"

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

/* Has find_constants() made this instruction's result a constant? */
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

static void decode_func(struct decoder *d, struct ptx_func *func)
{
    unsigned entry = d->n;

    d->func = func;
    d->routine = &d->program->routine[func->slot];
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
    if (d->frame_bytes > MAX_STACK)
        loader_fail(d->ld, func->line, "%s needs too many registers", func->name);
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
    func->mark = entry + 1;
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
        struct routine *routine = &p->routine[r->func[k]->slot];

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
    reach_kernel(d, &r, kernel);
    place_shared(d, &r, kernel);
    /* indirect calls find a function by its number in the module */
    p->nroutines = d->indirect ? d->module->nfuncs : r.n;
    p->routine = keep(d, (p->nroutines + 1) * sizeof *p->routine);
    for (unsigned k = 0; k < r.n; k++)
        place_formals(d, r.func[k], &p->routine[r.func[k]->slot]);
    for (unsigned k = 0; k < r.n; k++)
        decode_func(d, r.func[k]);
    finish_code(d, &r);
    p->entry = p->routine[kernel->slot].entry;
    size_stacks(d, &r, kernel);
    p->kernel.registers = estimate_registers(kernel);
    p->kernel.max_threads = kernel->max_threads ? kernel->max_threads : 1024;
}
