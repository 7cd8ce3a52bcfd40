/* SPDX-License-Identifier: BSD-3-Clause
 * Decoders of branches, calls, exits and barriers. */
#include "decode.h"

/* The label's instruction is an index into the function for now; finish_code makes it a pointer. */
static uint32_t label_target(struct decoder *d, const struct ptx_operand *o)
{
    if (o->kind != O_SYMBOL || !o->label || !o->label->placed)
        loader_fail(d->ld, d->line, "%s: no label %s", d->mnemonic, o->name ? o->name : "given");
    return 0x80000000u | o->label->at;
}

static void add_fixup(struct decoder *d, uint32_t target)
{
    struct fixup *fix = pool_push(&d->ld->pool, (void **)&d->fixup, &d->nfixups, &d->fixups_room,
                                  sizeof *fix);

    *fix = (struct fixup){d->n - 1, target};
}

static bool bra_form(struct form *f)
{
    form_take(f, "uni");
    return form_done(f);
}

static void bra_decode(struct decoder *d, const struct form *f)
{
    uint32_t target = label_target(d, operand(d, f, 0));

    emit(d, op_jump, f->insn->line);
    add_fixup(d, target);
}

static bool brx_form(struct form *f)
{
    bool idx = form_take(f, "idx");

    form_take(f, "uni");
    return idx && form_done(f);
}

static void brx_decode(struct decoder *d, const struct form *f)
{
    struct ref index = ref_source(d, operand(d, f, 0), 'r');
    const struct ptx_operand *o = operand(d, f, 1);
    const struct ptx_label *list = o->label;
    struct switch_table *t;
    struct insn *i;

    if (!list || !list->ntargets)
        loader_fail(d->ld, d->line, "%s: no list of branch targets", d->mnemonic);
    t = keep(d, sizeof *t + list->ntargets * sizeof *t->target);
    t->n = list->ntargets;
    for (unsigned k = 0; k < t->n; k++) {
        if (!list->targets[k]->placed)
            loader_fail(d->ld, d->line, "%s: no label %s", d->mnemonic, list->targets[k]->name);
        t->target[k] = (const struct insn *)(uintptr_t)list->targets[k]->at;
    }
    i = emit(d, op_switch, f->insn->line);
    insn_src(i, 1, index);
    i->table = t;
}

static bool bare_form(struct form *f)
{
    form_take(f, "uni");
    return form_done(f);
}

static void exit_decode(struct decoder *d, const struct form *f)
{
    emit(d, op_exit, f->insn->line);
}

/* Moves a value between a register and the first words of a parameter variable. */
static void emit_formal(struct decoder *d, struct ref reg, unsigned width, uint32_t off, bool store)
{
    struct ref zero = ref_const(d, 0, 4);
    struct insn *i = emit(d, store ? op_param_store : op_param_load, d->line);

    insn_src(i, store ? 2 : 0, reg);
    insn_src(i, 1, zero);
    i->imm = off / ROW * 4;
    i->size = i->n = (uint8_t)width;
    i->kind = MEM_ADDRESS_32;
}

static struct ref formal_reg(struct decoder *d, unsigned reg)
{
    struct ptx_operand o = {.kind = O_REG, .reg = reg};

    return ref_source(d, &o, reg_width(d, reg) == 8 ? 'q' : 'r');
}

void emit_formals(struct decoder *d, struct ptx_var *const *var, unsigned n, bool store)
{
    for (unsigned k = 0; k < n; k++)
        if (var[k]->in_reg)
            emit_formal(d, formal_reg(d, var[k]->reg), reg_width(d, var[k]->reg), var[k]->offset, store);
}

static void ret_decode(struct decoder *d, const struct form *f)
{
    if (!d->func->entry)
        emit_formals(d, d->func->ret, d->func->nrets, true);
    emit(d, d->func->entry ? op_exit : op_return, f->insn->line);
}

static void trap_decode(struct decoder *d, const struct form *f)
{
    emit(d, op_trap, f->insn->line)->kind = strcmp(f->insn->op, "brkpt") == 0;
}

/* bar and barrier: .sync, .arrive, .red; bar.warp.sync */
enum { BAR_SYNC, BAR_ARRIVE, BAR_RED, BAR_WARP };

static bool bar_form(struct form *f)
{
    static const char *const kinds[] = {"sync", "arrive", "red", NULL};
    static const char *const reds[] = {"popc", "and", "or", NULL};
    bool warp = form_take(f, "warp");
    int kind;

    form_take(f, "cta");
    kind = form_one(f, kinds);
    if (kind < 0 || (warp && kind != BAR_SYNC))
        return false;
    if (strcmp(f->insn->op, "barrier") == 0)
        form_take(f, "aligned");
    f->kind = warp ? BAR_WARP : (unsigned)kind;
    if (kind == BAR_RED) {
        int red = form_one(f, reds);

        if (red < 0)
            return false;
        f->n = (unsigned)red;
        f->type = form_type(f);
        if (f->type != (red == RED_POPC ? T_U32 : T_PRED))
            return false;
    }
    return form_done(f);
}

static void bar_decode(struct decoder *d, const struct form *f)
{
    bool red = f->kind == BAR_RED;
    unsigned at = red ? 1 : 0, last = red ? f->insn->n - 1 : f->insn->n;
    struct ref a = ref_source(d, operand(d, f, at), 'r'), b = a, p = {0}, dest = {0};
    uint8_t neg = 0;
    struct insn *i;

    if (f->kind == BAR_WARP) {
        insn_src(emit(d, op_warp_barrier, f->insn->line), 1, a);
        return;
    }
    if (last > at + 1)
        b = ref_source(d, operand(d, f, at + 1), 'r');
    if (red) {
        dest = ref_dest(d, operand(d, f, 0), letter_of(f->type));
        p = pred_source(d, operand(d, f, last), &neg);
    }
    i = emit(d, red ? op_barrier_red : op_barrier, f->insn->line);
    insn_src(i, 1, a);
    insn_src(i, 2, b);
    insn_src(i, 3, p);
    i->n = last > at + 1;
    i->kind = f->kind != BAR_ARRIVE;
    i->neg = neg;
    if (red) {
        i = emit(d, op_barrier_result, f->insn->line);
        insn_src(i, 0, dest);
        insn_src(i, 1, a);
        i->kind = (uint8_t)f->n;
    }
}

/* With clusters of one block, arrival and wait are a barrier of the block in two halves: the wait
 * alone blocks, which is enough because nobody can observe the time between. */
static bool barrier_cluster_form(struct form *f)
{
    static const char *const orders[] = {"release", "relaxed", "acquire", NULL};
    bool wait;

    if (!form_take(f, "cluster"))
        return bar_form(f);
    wait = form_take(f, "wait");
    if (!wait && !form_take(f, "arrive"))
        return false;
    f->size = 1;
    f->kind = wait;
    form_one(f, orders);
    form_take(f, "aligned");
    return form_done(f);
}

static void barrier_decode(struct decoder *d, const struct form *f)
{
    struct ref which;
    struct insn *i;

    if (!f->size) {
        bar_decode(d, f);
        return;
    }
    if (!f->kind) {
        emit(d, op_nop, f->insn->line);
        return;
    }
    which = ref_const(d, BARRIERS - 1, 4);
    i = emit(d, op_barrier, f->insn->line);
    insn_src(i, 1, which);
    insn_src(i, 2, which);
    i->kind = 1;
}

/* Calls. Operands: [(results),] function [, (arguments)] [, prototype or targets] */
static void rows_of(struct decoder *d, const struct ptx_operand *list, uint32_t *off, uint32_t *words)
{
    for (unsigned k = 0; k < list->n; k++) {
        const struct ptx_operand *o = &list->list[k];
        const struct ptx_var *var = o->var;

        /* a register or number travels in words of its own */
        if (o->kind == O_REG || o->kind == O_IMM) {
            unsigned width = o->kind == O_REG && reg_width(d, o->reg) == 8 ? 8 : 4;

            off[k] = ref_temp(d, width).off;
            words[k] = width / 4;
            continue;
        }
        if (list->list[k].kind != O_SYMBOL || !var || var->space != SPACE_PARAM || var->in_buffer)
            loader_fail(d->ld, d->line, "%s: argument %u is no .param variable", d->mnemonic, k);
        off[k] = var->offset;
        words[k] = (uint32_t)(var->bytes + 3) / 4;
    }
}

static op_fn builtin(const char *name)
{
    static const struct {
        const char *name;
        const op_fn *fn;
    } known[] = {
        {"vprintf", &op_printf}, {"malloc", &op_malloc}, {"free", &op_free}, {"__assertfail", &op_assert},
    };

    for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k].name) == 0)
            return *known[k].fn;
    return NULL;
}

static void call_decode(struct decoder *d, const struct form *f)
{
    static const struct ptx_operand none = {.kind = O_PAREN};
    const struct ptx_operand *rets = operand(d, f, 0), *to, *args = &none;
    unsigned k = rets->kind == O_PAREN ? 1 : 0;
    struct ref target = {0};
    struct ptx_func *func = NULL;
    struct call *call = keep(d, sizeof *call);
    uint32_t *rows;
    struct insn *i;
    op_fn fn = op_call;

    if (!k)
        rets = &none;
    to = operand(d, f, k++);
    if (k < f->insn->n && f->insn->operand[k].kind == O_PAREN)
        args = operand(d, f, k);
    rows = keep(d, 2 * (rets->n + args->n + 1) * sizeof *rows);
    rows_of(d, rets, rows, rows + rets->n);
    rows_of(d, args, rows + 2 * rets->n, rows + 2 * rets->n + args->n);
    *call = (struct call){
        .caller = d->routine, .nargs = args->n, .nrets = rets->n,
        .ret_off = rows, .ret_words = rows + rets->n,
        .arg_off = rows + 2 * rets->n, .arg_words = rows + 2 * rets->n + args->n,
    };
    if (to->kind == O_REG) {
        target = ref_source(d, to, 'q');
    } else if (to->kind == O_SYMBOL && !to->var) {
        func = map_get(&d->module->funcs, to->name);
        if (func && func->has_body)
            call->callee = &d->program->routine[func->slot];
        else
            fn = builtin(to->name);
        if (!fn)
            loader_fail(d->ld, d->line, "function %s is called but not defined", to->name);
    } else {
        loader_fail(d->ld, d->line, "%s: no function to call", d->mnemonic);
    }
    for (unsigned n = 0; n < args->n; n++) {
        const struct ptx_operand *o = &args->list[n];

        if (o->kind == O_REG || o->kind == O_IMM)
            emit_formal(d, ref_source(d, o, call->arg_words[n] == 2 ? 'q' : 'r'),
                        4 * call->arg_words[n], call->arg_off[n], true);
    }
    i = emit(d, fn, f->insn->line);
    insn_src(i, 1, target);
    i->call = call;
    for (unsigned n = 0; n < rets->n; n++) {
        const struct ptx_operand *o = &rets->list[n];

        if (o->kind == O_REG)
            emit_formal(d, ref_dest(d, o, call->ret_words[n] == 2 ? 'q' : 'r'),
                        4 * call->ret_words[n], call->ret_off[n], false);
    }
}

static bool stack_form(struct form *f)
{
    f->type = form_type(f);
    return (f->type == T_U32 || f->type == T_U64) && form_done(f);
}

static void alloca_decode(struct decoder *d, const struct form *f)
{
    char letter = letter_of(f->type);
    struct ref to = ref_dest(d, operand(d, f, 0), letter), size = ref_source(d, operand(d, f, 1), letter);
    uint64_t align = f->insn->n > 2 ? operand(d, f, 2)->bits : 8;
    struct insn *i;

    if (letter == 'r') {
        struct ref wide = ref_temp(d, 8);

        i = emit(d, op_find("mul.wide.u32")->fn, f->insn->line);
        insn_src(i, 0, wide);
        insn_src(i, 1, size);
        insn_src(i, 2, ref_const(d, 1, 4));
        size = wide;
    }
    i = emit(d, op_alloca, f->insn->line);
    insn_src(i, 0, to);
    insn_src(i, 1, size);
    i->imm = align && !(align & (align - 1)) ? (int64_t)align : 8;
    i->n = letter == 'q' ? 8 : 4;
    i->data = d->routine;
    d->program->has_alloca = true;
}

static void stack_decode(struct decoder *d, const struct form *f)
{
    bool restore = strcmp(f->insn->op, "stackrestore") == 0;
    char letter = letter_of(f->type);
    struct ref ref = restore ? ref_source(d, operand(d, f, 0), letter)
                             : ref_dest(d, operand(d, f, 0), letter);
    struct insn *i = emit(d, op_stack, f->insn->line);

    insn_src(i, restore ? 1 : 0, ref);
    i->n = letter == 'q' ? 8 : 4;
    i->kind = restore;
    d->program->has_alloca = true;
}

const struct family flow_families[] = {
    {"alloca", stack_form, alloca_decode, false},
    {"stacksave", stack_form, stack_decode, false},
    {"stackrestore", stack_form, stack_decode, false},
    {"bra", bra_form, bra_decode, true},
    {"brx", brx_form, brx_decode, true},
    {"exit", bare_form, exit_decode, true},
    {"ret", bare_form, ret_decode, true},
    {"trap", bare_form, trap_decode, true},
    {"brkpt", bare_form, trap_decode, true},
    {"bar", bar_form, bar_decode, true},
    {"barrier", barrier_cluster_form, barrier_decode, true},
    {"call", bare_form, call_decode, true},
    {0},
};
