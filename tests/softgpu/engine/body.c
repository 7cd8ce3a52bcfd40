/* SPDX-License-Identifier: BSD-3-Clause
 * Parser of function bodies: registers, local declarations, labels, instructions and operands. */
#include "parse.h"

#include <ctype.h>
#include <string.h>

enum { MAX_REGS = 1 << 20 }; /* of a function */

/* Registers under one name: %r<100>, or a single one when count is 0. */
struct reg_family {
    unsigned first, count;
};

static struct reg_family *family_of(const struct parser *ps, const char *name, unsigned *number_p)
{
    char prefix[256];
    size_t len = strlen(name), end = len;

    *number_p = 0;
    for (const struct scope *s = ps->scope; s; s = s->up) {
        struct reg_family *f = map_get(&s->regs, name);

        if (f && f->count == 0)
            return f;
    }
    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    /* the number is written as the declaration counts: no more than a few digits, no 007 */
    if (end == len || end >= sizeof prefix || len - end > 8 || (name[end] == '0' && len - end > 1))
        return NULL;
    memcpy(prefix, name, end);
    prefix[end] = 0;
    for (const char *c = name + end; *c; c++)
        *number_p = *number_p * 10 + (unsigned)(*c - '0');
    for (const struct scope *s = ps->scope; s; s = s->up) {
        struct reg_family *f = map_get(&s->regs, prefix);

        if (f && *number_p < f->count)
            return f;
    }
    return NULL;
}

static void parse_regs(struct parser *ps)
{
    struct lexer *lx = &ps->lx;
    enum ptx_type type = lx->text[0] == '.' ? ptx_type_of(lx->text + 1) : T_NONE;

    if (type == T_NONE)
        loader_fail(ps->ld, lx->token_line, "unknown register type %s", lx->text);
    lex_next(lx);
    do {
        struct reg_family *f = pool_alloc(&ps->ld->pool, sizeof *f);
        const char *name = lex_name(lx);

        f->first = ps->func->nregs;
        if (lex_accept(lx, '<')) {
            unsigned line = lx->token_line;
            uint64_t count = parse_int(ps);

            if (count == 0 || count > MAX_REGS || f->first + count > MAX_REGS)
                loader_fail(ps->ld, line, "%llu registers %s", (unsigned long long)count, name);
            f->count = (unsigned)count;
            lex_expect(lx, '>');
        }
        for (unsigned k = 0; k < (f->count ? f->count : 1); k++)
            *(enum ptx_type *)pool_push(&ps->ld->pool, (void **)&ps->func->reg, &ps->func->nregs,
                                        &ps->func->regs_room, sizeof type) = type;
        if (!map_put(&ps->scope->regs, &ps->ld->pool, name, f))
            loader_fail(ps->ld, lx->token_line, "register %s is declared twice", name);
    } while (lex_accept(lx, ','));
    lex_expect(lx, ';');
}

static void parse_local_vars(struct parser *ps, enum ptx_space space)
{
    struct ptx_var *var = NULL;

    do {
        var = parse_var(ps, space, (struct linkage){0}, var);
        *(struct ptx_var **)pool_push(&ps->ld->pool, (void **)&ps->func->var, &ps->func->nvars,
                                      &ps->func->vars_room, sizeof var) = var;
        map_put(&ps->scope->vars, &ps->ld->pool, var->name, var);
    } while (lex_accept(&ps->lx, ','));
    lex_expect(&ps->lx, ';');
}

static struct ptx_label *label_in(struct parser *ps, struct scope *scope, const char *name)
{
    struct ptx_label *label = map_get(&scope->labels, name);

    if (!label) {
        label = pool_alloc(&ps->ld->pool, sizeof *label);
        label->name = name;
        map_put(&scope->labels, &ps->ld->pool, name, label);
    }
    return label;
}

static struct ptx_operand parse_operand(struct parser *ps);

static struct ptx_operand *parse_list(struct parser *ps, char close, unsigned *n_p)
{
    struct ptx_operand *list = NULL;
    unsigned room = 0;

    *n_p = 0;
    nest(ps);
    while (!lex_accept(&ps->lx, close)) {
        struct ptx_operand one = parse_operand(ps);

        *(struct ptx_operand *)pool_push(&ps->ld->pool, (void **)&list, n_p, &room, sizeof one) = one;
        if (!lex_is(&ps->lx, close))
            lex_expect(&ps->lx, ',');
    }
    ps->nesting--;
    return list;
}

/* A register, a variable, a label, a function or a special register. */
static struct ptx_operand parse_named(struct parser *ps)
{
    struct ptx_operand o = {.name = lex_name(&ps->lx)};
    unsigned number;
    struct reg_family *f;

    if (strcmp(o.name, "_") == 0) {
        o.kind = O_SINK;
        return o;
    }
    f = family_of(ps, o.name, &number);
    if (f) {
        o.kind = O_REG;
        o.reg = f->first + number;
        return o;
    }
    if (strcmp(o.name, "WARP_SZ") == 0) {
        o.kind = O_IMM;
        o.bits = 32;
        return o;
    }
    for (const struct scope *s = ps->scope; s && !o.var; s = s->up)
        o.var = map_get(&s->vars, o.name);
    o.kind = o.name[0] == '%' && !o.var ? O_SREG : O_SYMBOL;
    return o;
}

static struct ptx_operand parse_operand(struct parser *ps)
{
    struct lexer *lx = &ps->lx;
    struct ptx_operand o = {0};
    bool minus = false, invert = false;

    if (lex_accept(lx, '[')) {
        o.kind = O_MEM;
        o.n = 1;
        o.list = pool_alloc(&ps->ld->pool, sizeof *o.list);
        nest(ps);
        *o.list = parse_operand(ps);
        ps->nesting--;
        if (o.list->kind == O_SYMBOL) {
            o.off = o.list->off;
            o.list->off = 0;
        } else if (lex_accept(lx, '+') || lex_is(lx, '-')) {
            o.off = (int64_t)parse_int(ps);
        }
        lex_expect(lx, ']');
        return o;
    }
    if (lex_accept(lx, '{')) {
        o.kind = O_VECTOR;
        o.list = parse_list(ps, '}', &o.n);
        return o;
    }
    if (lex_accept(lx, '(')) {
        o.kind = O_PAREN;
        o.list = parse_list(ps, ')', &o.n);
        return o;
    }
    if (lex_accept(lx, '!')) {
        o = parse_named(ps);
        o.neg = true;
        return o;
    }
    minus = lex_accept(lx, '-');
    invert = !minus && lex_accept(lx, '~');
    if (lx->token == TOK_NUMBER) {
        o.kind = O_IMM;
        o.bits = lx->bits;
        o.float_kind = lx->kind;
        if (minus)
            o.bits = lx->kind == IMM_INT   ? 0 - o.bits
                     : lx->kind == IMM_F32 ? o.bits ^ 0x80000000u : o.bits ^ (uint64_t)1 << 63;
        if (invert)
            o.bits = ~o.bits;
        lex_next(lx);
        return o;
    }
    if (minus || invert)
        loader_fail(ps->ld, lx->token_line, "expected a number");
    o = parse_named(ps);
    if (o.kind == O_SYMBOL && (lex_accept(lx, '+') || lex_is(lx, '-')))
        o.off = (int64_t)parse_int(ps);
    if (lex_accept(lx, '|')) {
        o.second = pool_alloc(&ps->ld->pool, sizeof *o.second);
        nest(ps);
        *o.second = parse_operand(ps);
        ps->nesting--;
    }
    return o;
}

static void note_symbols(struct parser *ps, struct ptx_operand *list, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        struct pending *p;

        note_symbols(ps, list[k].list, list[k].n);
        if (list[k].kind != O_SYMBOL || list[k].var)
            continue;
        p = pool_push(&ps->ld->pool, (void **)&ps->pending, &ps->npending, &ps->pending_room,
                      sizeof *p);
        p->operand = &list[k];
        p->scope = ps->scope;
    }
}

static void parse_insn(struct parser *ps)
{
    struct lexer *lx = &ps->lx;
    struct ptx_insn insn = {.line = lx->token_line, .guard = -1}, *at;
    unsigned room = 0;

    if (lex_accept(lx, '@')) {
        struct ptx_operand g;

        insn.guard_neg = lex_accept(lx, '!');
        g = parse_named(ps);
        if (g.kind != O_REG || ps->func->reg[g.reg] != T_PRED)
            loader_fail(ps->ld, insn.line, "the guard %s is no predicate", g.name);
        insn.guard = (int)g.reg;
    }
    insn.line = lx->token_line;
    if (!ptx_split(&ps->ld->pool, lex_name(lx), &insn))
        loader_fail(ps->ld, insn.line, "unknown instruction %s", insn.mnemonic);
    while (!lex_accept(lx, ';')) {
        struct ptx_operand one = parse_operand(ps);

        *(struct ptx_operand *)pool_push(&ps->ld->pool, (void **)&insn.operand, &insn.n, &room,
                                         sizeof one) = one;
        if (!lex_is(lx, ';'))
            lex_expect(lx, ',');
    }
    note_symbols(ps, insn.operand, insn.n);
    at = pool_push(&ps->ld->pool, (void **)&ps->func->insn, &ps->func->ninsns,
                   &ps->func->insns_room, sizeof insn);
    *at = insn;
}

static void parse_branch_targets(struct parser *ps, struct ptx_label *label)
{
    do {
        struct ptx_label **slot = pool_push(&ps->ld->pool, (void **)&label->targets,
                                            &label->ntargets, &label->targets_room, sizeof *slot);

        *slot = label_in(ps, ps->scope, lex_name(&ps->lx));
    } while (lex_accept(&ps->lx, ','));
    lex_expect(&ps->lx, ';');
}

static void skip_statement(struct parser *ps)
{
    while (!lex_accept(&ps->lx, ';')) {
        if (ps->lx.token == TOK_END)
            loader_fail(ps->ld, ps->lx.token_line, "a statement without end");
        lex_next(&ps->lx);
    }
}

static void parse_directive(struct parser *ps)
{
    struct lexer *lx = &ps->lx;

    if (lex_word(lx, ".loc") || lex_word(lx, ".file")) {
        skip_line(ps);
        return;
    }
    if (lex_word(lx, ".pragma")) {
        skip_statement(ps);
        return;
    }
    if (lex_word(lx, ".reg")) {
        lex_next(lx);
        parse_regs(ps);
    } else if (lex_word(lx, ".shared") || lex_word(lx, ".local") || lex_word(lx, ".param")) {
        enum ptx_space space = lex_word(lx, ".shared")  ? SPACE_SHARED
                               : lex_word(lx, ".local") ? SPACE_LOCAL : SPACE_PARAM;

        lex_next(lx);
        parse_local_vars(ps, space);
    } else {
        loader_fail(ps->ld, lx->token_line, "unknown directive %s", lx->text);
    }
}

static void open_scope(struct parser *ps)
{
    struct scope *s = pool_alloc(&ps->ld->pool, sizeof *s);

    s->up = ps->scope;
    s->depth = s->up ? s->up->depth + 1 : 0;
    if (s->depth > MAX_NESTING)
        loader_fail(ps->ld, ps->lx.token_line, "blocks nested too deeply");
    ps->scope = s;
}

/* Is the word in hand followed by a single colon? */
static bool before_colon(const struct lexer *lx)
{
    const char *at = lx->at;

    while (at < lx->end && (*at == ' ' || *at == '\t'))
        at++;
    return at < lx->end && *at == ':';
}

static void parse_label(struct parser *ps)
{
    struct ptx_label *label = label_in(ps, ps->scope, lex_name(&ps->lx));

    if (label->placed)
        loader_fail(ps->ld, ps->lx.token_line, "label %s is defined twice", label->name);
    lex_expect(&ps->lx, ':');
    label->placed = true;
    label->at = ps->func->ninsns;
    if (lex_word(&ps->lx, ".branchtargets")) {
        lex_next(&ps->lx);
        parse_branch_targets(ps, label);
    } else if (lex_word(&ps->lx, ".callprototype") || lex_word(&ps->lx, ".calltargets")) {
        skip_statement(ps);
    }
}

static void resolve_labels(struct parser *ps)
{
    for (unsigned k = 0; k < ps->npending; k++) {
        struct ptx_operand *o = ps->pending[k].operand;

        for (struct scope *s = ps->pending[k].scope; s && !o->label; s = s->up)
            o->label = map_get(&s->labels, o->name);
        if (!o->label)
            *(struct ptx_operand **)pool_push(&ps->ld->pool, (void **)&ps->symbol, &ps->nsymbols,
                                              &ps->symbols_room, sizeof o) = o;
    }
    ps->npending = 0;
}

/* A formal parameter's name: a variable, or a register that the decoder loads from one. */
static void declare_formal(struct parser *ps, struct ptx_var *var)
{
    struct reg_family *f;

    if (!var->in_reg) {
        map_put(&ps->scope->vars, &ps->ld->pool, var->name, var);
        return;
    }
    f = pool_alloc(&ps->ld->pool, sizeof *f);
    f->first = var->reg = ps->func->nregs;
    *(enum ptx_type *)pool_push(&ps->ld->pool, (void **)&ps->func->reg, &ps->func->nregs,
                                &ps->func->regs_room, sizeof var->type) = var->type;
    map_put(&ps->scope->regs, &ps->ld->pool, var->name, f);
}

void parse_body(struct parser *ps, struct ptx_func *func)
{
    struct lexer *lx = &ps->lx;
    struct scope *outer = ps->scope;

    ps->func = func;
    func->has_body = true;
    open_scope(ps);
    for (unsigned k = 0; k < func->nparams; k++)
        declare_formal(ps, func->param[k]);
    for (unsigned k = 0; k < func->nrets; k++)
        declare_formal(ps, func->ret[k]);
    lex_expect(lx, '{');
    while (ps->scope != outer) {
        if (lex_accept(lx, '{'))
            open_scope(ps);
        else if (lex_accept(lx, '}'))
            ps->scope = ps->scope->up;
        else if (lx->token == TOK_END)
            loader_fail(ps->ld, lx->token_line, "function %s has no end", func->name);
        else if (lex_accept(lx, ';'))
            continue;
        else if (lx->token == TOK_WORD && before_colon(lx))
            parse_label(ps);
        else if (lx->token == TOK_WORD && lx->text[0] == '.')
            parse_directive(ps);
        else
            parse_insn(ps);
    }
    resolve_labels(ps);
    ps->func = NULL;
}
