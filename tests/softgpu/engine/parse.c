/* SPDX-License-Identifier: BSD-3-Clause
 * Parser of PTX modules: directives, variables with their initialisers, function headers. */
#include "parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a variable, in bytes; other limits follow from where it is placed. */
enum { MAX_ALIGN = 64 << 10 };
#define MAX_BYTES ((uint64_t)1 << 40)

void loader_fail(struct loader *ld, unsigned line, const char *format, ...)
{
    char what[400], all[600];
    va_list ap;

    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    snprintf(all, sizeof all, "%s:%u: %s", ld->origin ? ld->origin : "ptx", line, what);
    ld->error = strdup(all);
    longjmp(ld->failed, 1);
}

void skip_line(struct parser *ps)
{
    unsigned line = ps->lx.token_line;

    while (ps->lx.token != TOK_END && ps->lx.token_line == line)
        lex_next(&ps->lx);
}

void skip_block(struct parser *ps)
{
    int depth = 0;

    do {
        depth += lex_is(&ps->lx, '{');
        depth -= lex_is(&ps->lx, '}');
        if (ps->lx.token == TOK_END)
            loader_fail(ps->ld, ps->lx.token_line, "a block without end");
        lex_next(&ps->lx);
    } while (depth);
}

void nest(struct parser *ps)
{
    if (++ps->nesting > MAX_NESTING)
        loader_fail(ps->ld, ps->lx.token_line, "lists nested too deeply");
}

uint64_t parse_int(struct parser *ps)
{
    bool minus = lex_accept(&ps->lx, '-');
    uint64_t bits = ps->lx.bits;

    if (ps->lx.token != TOK_NUMBER || ps->lx.kind != IMM_INT)
        loader_fail(ps->ld, ps->lx.token_line, "expected an integer");
    lex_next(&ps->lx);
    return minus ? 0 - bits : bits;
}

static uint64_t float_bits(struct parser *ps, enum ptx_type type, bool minus)
{
    uint64_t bits = ps->lx.bits;
    float f;
    double d;

    memcpy(&d, &bits, sizeof d);
    if (ps->lx.kind == IMM_F32 && type == T_F64) {
        uint32_t low = (uint32_t)bits;

        memcpy(&f, &low, sizeof f);
        d = (double)f;
        memcpy(&bits, &d, sizeof bits);
    } else if (ps->lx.kind == IMM_F64 && type == T_F32) {
        uint32_t low;

        f = (float)d;
        memcpy(&low, &f, sizeof low);
        bits = low;
    }
    if (minus)
        bits ^= type == T_F64 ? (uint64_t)1 << 63 : (uint64_t)1 << 31;
    return bits;
}

/* A number, a symbol's address or a byte of one: 7, sym + 4, generic(sym), 0xff00(sym). */
static struct ptx_init parse_init(struct parser *ps, enum ptx_type type)
{
    struct lexer *lx = &ps->lx;
    struct ptx_init init = {.line = lx->token_line};
    bool minus = lex_accept(lx, '-'), mask_closes = false;

    if (lx->token == TOK_NUMBER && lx->kind != IMM_INT) {
        init.bits = float_bits(ps, type, minus);
        lex_next(lx);
        return init;
    }
    if (lx->token == TOK_NUMBER) {
        init.bits = parse_int(ps);
        if (minus)
            init.bits = 0 - init.bits;
        mask_closes = lex_accept(lx, '(');
        if (!mask_closes)
            return init;
        init.mask = init.bits;
        init.bits = 0;
    }
    init.symbol = lex_name(lx);
    if (strcmp(init.symbol, "generic") == 0) {
        lex_expect(lx, '(');
        init.symbol = lex_name(lx);
        init.generic = true;
        lex_expect(lx, ')');
    }
    if (lex_accept(lx, '+') || lex_is(lx, '-'))
        init.bits = parse_int(ps);
    if (mask_closes)
        lex_expect(lx, ')');
    return init;
}

static void parse_inits(struct parser *ps, struct ptx_var *var)
{
    if (lex_accept(&ps->lx, '{')) {
        nest(ps);
        while (!lex_accept(&ps->lx, '}')) {
            parse_inits(ps, var);
            lex_accept(&ps->lx, ',');
        }
        ps->nesting--;
        return;
    }
    *(struct ptx_init *)pool_push(&ps->ld->pool, (void **)&var->init, &var->ninit, &var->init_room,
                                  sizeof *var->init) = parse_init(ps, var->type);
}

static unsigned parse_align(struct parser *ps)
{
    unsigned line = ps->lx.token_line;
    uint64_t n = parse_int(ps);

    if (n == 0 || n & (n - 1) || n > MAX_ALIGN)
        loader_fail(ps->ld, line, "an alignment of %llu", (unsigned long long)n);
    return (unsigned)n;
}

/* Attributes before the name, .align among them, up to the basic type. */
static unsigned parse_var_type(struct parser *ps, struct ptx_var *var)
{
    struct lexer *lx = &ps->lx;
    unsigned vector = 1;

    while (lx->token == TOK_WORD && lx->text[0] == '.') {
        const char *word = lx->text + 1;
        enum ptx_type type = ptx_type_of(word);

        lex_next(lx);
        if (type) {
            var->type = type;
        } else if (strcmp(word, "align") == 0) {
            var->align = parse_align(ps);
        } else if (strcmp(word, "v2") == 0) {
            vector = 2;
        } else if (strcmp(word, "v4") == 0) {
            vector = 4;
        } else if (strcmp(word, "attribute") == 0) {
            lex_expect(lx, '(');
            while (!lex_accept(lx, ')')) {
                if (lex_word(lx, ".managed"))
                    var->managed = true;
                if (lx->token == TOK_END)
                    loader_fail(ps->ld, lx->token_line, "an attribute without end");
                lex_next(lx);
            }
        } else if (strcmp(word, "ptr") && strcmp(word, "global") && strcmp(word, "const") &&
                   strcmp(word, "shared") && strcmp(word, "local") && strcmp(word, "generic")) {
            loader_fail(ps->ld, lx->token_line, "unknown attribute .%s", word);
        }
        /* the alignment after .ptr is that of what it points to */
        if (strcmp(word, "ptr") == 0) {
            while (lx->token == TOK_WORD && lx->text[0] == '.') {
                bool align = lex_word(lx, ".align");

                lex_next(lx);
                if (align)
                    parse_int(ps);
            }
        }
    }
    if (var->type == T_NONE || var->type == T_PRED)
        loader_fail(ps->ld, lx->token_line, "a variable without a type");
    return vector;
}

struct ptx_var *parse_var(struct parser *ps, enum ptx_space space, struct linkage linkage,
                          const struct ptx_var *before)
{
    struct lexer *lx = &ps->lx;
    struct ptx_var *var = pool_alloc(&ps->ld->pool, sizeof *var);
    uint64_t count;

    var->space = space;
    var->line = lx->token_line;
    var->external = linkage.external;
    var->visible = linkage.visible;
    var->weak = linkage.weak;
    if (before) {
        var->type = before->type;
        var->align = before->align;
        var->vector = before->vector;
        var->managed = before->managed;
    } else {
        var->vector = parse_var_type(ps, var);
    }
    count = var->vector;
    if (!var->align)
        var->align = var->vector * ptx_type_bytes(var->type);
    var->name = lex_name(lx);
    while (lex_accept(lx, '[')) {
        if (lex_accept(lx, ']')) {
            count = 0;
        } else {
            uint64_t times = parse_int(ps);

            if (times && count > MAX_BYTES / times)
                loader_fail(ps->ld, var->line, "variable %s is too large", var->name);
            count *= times;
            lex_expect(lx, ']');
        }
    }
    if (lex_accept(lx, '=')) {
        parse_inits(ps, var);
        if (count == 0)
            count = var->ninit;
    }
    var->bytes = count * ptx_type_bytes(var->type);
    return var;
}

static struct ptx_var **parse_params(struct parser *ps, unsigned *n_p, unsigned *room_p)
{
    struct ptx_var **list = NULL;

    lex_expect(&ps->lx, '(');
    while (!lex_accept(&ps->lx, ')')) {
        struct ptx_var *var;
        bool in_reg = lex_word(&ps->lx, ".reg");

        if (!in_reg && !lex_word(&ps->lx, ".param"))
            loader_fail(ps->ld, ps->lx.token_line, "expected .param, found %s", ps->lx.text);
        lex_next(&ps->lx);
        var = parse_var(ps, SPACE_PARAM, (struct linkage){0}, NULL);
        var->in_reg = in_reg;
        *(struct ptx_var **)pool_push(&ps->ld->pool, (void **)&list, n_p, room_p, sizeof *list) = var;
        lex_accept(&ps->lx, ',');
    }
    return list;
}

static unsigned parse_threads(struct parser *ps)
{
    uint64_t n = parse_int(ps);

    while (lex_accept(&ps->lx, ','))
        n *= parse_int(ps);
    return (unsigned)n;
}

/* Performance directives between the header and the body. */
static void parse_tuning(struct parser *ps, struct ptx_func *func)
{
    struct lexer *lx = &ps->lx;

    while (lx->token == TOK_WORD && lx->text[0] == '.') {
        const char *word = lex_name(lx);

        if (strcmp(word, ".maxntid") == 0 || strcmp(word, ".reqntid") == 0) {
            func->max_threads = parse_threads(ps);
        } else if (strcmp(word, ".pragma") == 0) {
            while (lx->token == TOK_STRING || lex_is(lx, ','))
                lex_next(lx);
            lex_expect(lx, ';');
        } else if (strcmp(word, ".noreturn") && strcmp(word, ".explicitcluster") &&
                   strcmp(word, ".blocksareclusters") && strcmp(word, ".unique") &&
                   strcmp(word, ".abi_preserve") && strcmp(word, ".abi_preserve_control")) {
            if (strcmp(word, ".minnctapersm") && strcmp(word, ".maxnreg") &&
                strcmp(word, ".maxnctapersm") && strcmp(word, ".maxclusterrank") &&
                strcmp(word, ".reqnctapercluster"))
                loader_fail(ps->ld, lx->token_line, "unknown directive %s", word);
            parse_threads(ps);
        }
    }
}

/* The name under which the module's maps have a symbol: with several texts, one that is not visible
 * outside its own gets the text's number. */
static const char *link_name(struct parser *ps, const char *name, struct linkage linkage)
{
    char all[1024];
    const char *key;

    if (ps->text == 0 || linkage.visible || linkage.external || linkage.weak)
        return name;
    key = map_get(&ps->locals, name);
    if (key)
        return key;
    snprintf(all, sizeof all, "%s@%u", name, ps->text);
    key = pool_strndup(&ps->ld->pool, all, strlen(all));
    map_put(&ps->locals, &ps->ld->pool, name, (void *)(uintptr_t)key);
    return key;
}

static void parse_func(struct parser *ps, bool entry, struct linkage linkage)
{
    struct ptx_func *func = pool_alloc(&ps->ld->pool, sizeof *func), *old;
    struct ptx_module *m = ps->module;
    const char *key;

    func->entry = entry;
    func->line = ps->lx.token_line;
    func->external = linkage.external;
    func->weak = linkage.weak;
    func->visible = linkage.visible;
    if (!entry && lex_is(&ps->lx, '('))
        func->ret = parse_params(ps, &func->nrets, &func->rets_room);
    func->name = lex_name(&ps->lx);
    if (lex_is(&ps->lx, '('))
        func->param = parse_params(ps, &func->nparams, &func->params_room);
    parse_tuning(ps, func);
    if (lex_is(&ps->lx, '{'))
        parse_body(ps, func);
    else
        lex_expect(&ps->lx, ';');

    key = link_name(ps, func->name, linkage);
    old = map_get(&m->funcs, key);
    if (!old) {
        func->index = m->nfuncs;
        *(struct ptx_func **)pool_push(&ps->ld->pool, (void **)&m->func, &m->nfuncs, &m->funcs_room,
                                       sizeof *m->func) = func;
        map_put(&m->funcs, &ps->ld->pool, key, func);
    } else if (!old->has_body) {
        unsigned index = old->index;

        *old = *func;
        old->index = index;
    } else if (func->has_body && !func->weak && !old->weak) {
        loader_fail(ps->ld, func->line, "function %s is defined twice", func->name);
    }
}

static void add_var(struct parser *ps, struct ptx_var *var)
{
    struct ptx_module *m = ps->module;
    struct linkage linkage = {var->external, var->visible, var->weak};
    const char *key = link_name(ps, var->name, linkage);
    struct ptx_var *old = map_get(&m->vars, key);

    if (!old) {
        *(struct ptx_var **)pool_push(&ps->ld->pool, (void **)&m->var, &m->nvars, &m->vars_room,
                                      sizeof *m->var) = var;
        map_put(&m->vars, &ps->ld->pool, key, var);
    } else if (old->external && !(old->space == SPACE_SHARED && var->external)) {
        *old = *var;
    } else if (!var->external && !old->weak && !var->weak) {
        loader_fail(ps->ld, var->line, "variable %s is defined twice", var->name);
    }
}

static void parse_vars(struct parser *ps, enum ptx_space space, struct linkage linkage)
{
    struct ptx_var *var = NULL;

    do {
        var = parse_var(ps, space, linkage, var);
        add_var(ps, var);
    } while (lex_accept(&ps->lx, ','));
    lex_expect(&ps->lx, ';');
}

/* .alias name, of: a function that was declared is another one */
static void parse_alias(struct parser *ps)
{
    struct ptx_func *name = map_get(&ps->module->funcs, lex_name(&ps->lx)), *of;

    lex_expect(&ps->lx, ',');
    of = map_get(&ps->module->funcs, lex_name(&ps->lx));
    lex_expect(&ps->lx, ';');
    if (!name || !of || !of->has_body)
        loader_fail(ps->ld, ps->lx.token_line, ".alias of unknown functions");
    if (!name->has_body) {
        struct ptx_func own = *name;

        *name = *of;
        name->name = own.name;
        name->index = own.index;
    }
}

static void parse_top(struct parser *ps)
{
    struct lexer *lx = &ps->lx;
    struct linkage linkage = {0};

    while (lex_word(lx, ".visible") || lex_word(lx, ".extern") || lex_word(lx, ".weak") ||
           lex_word(lx, ".common")) {
        linkage.visible |= lex_word(lx, ".visible");
        linkage.external |= lex_word(lx, ".extern");
        linkage.weak |= lex_word(lx, ".weak") || lex_word(lx, ".common");
        lex_next(lx);
    }
    if (lex_word(lx, ".version") || lex_word(lx, ".target") || lex_word(lx, ".address_size") ||
        lex_word(lx, ".file") || lex_word(lx, ".loc") || lex_word(lx, ".pragma")) {
        skip_line(ps);
    } else if (lex_word(lx, ".section")) {
        while (lx->token != TOK_END && !lex_is(lx, '{'))
            lex_next(lx);
        skip_block(ps);
    } else if (lex_word(lx, ".entry") || lex_word(lx, ".func")) {
        bool entry = lex_word(lx, ".entry");

        lex_next(lx);
        parse_func(ps, entry, linkage);
    } else if (lex_word(lx, ".global") || lex_word(lx, ".const") || lex_word(lx, ".shared")) {
        enum ptx_space space = lex_word(lx, ".global")  ? SPACE_GLOBAL
                               : lex_word(lx, ".const") ? SPACE_CONST : SPACE_SHARED;

        lex_next(lx);
        parse_vars(ps, space, linkage);
    } else if (lex_word(lx, ".alias")) {
        lex_next(lx);
        parse_alias(ps);
    } else if (!lex_accept(lx, ';')) {
        loader_fail(ps->ld, lx->token_line, "unknown directive %s", lx->text);
    }
}

/* Symbols of this text alone are known to the module under another name. */
static void name_locals(struct parser *ps, unsigned first_var)
{
    for (unsigned k = 0; k < ps->nsymbols; k++) {
        const char *key = map_get(&ps->locals, ps->symbol[k]->name);

        if (key)
            ps->symbol[k]->name = key;
    }
    for (unsigned k = first_var; k < ps->module->nvars; k++) {
        struct ptx_var *var = ps->module->var[k];

        for (unsigned n = 0; n < var->ninit; n++) {
            const char *key = var->init[n].symbol ? map_get(&ps->locals, var->init[n].symbol) : NULL;

            if (key)
                var->init[n].symbol = key;
        }
    }
}

void ptx_parse(struct loader *ld, struct ptx_module *module, const char *text, size_t len)
{
    struct parser ps = {.ld = ld, .module = module, .text = module->texts++};
    unsigned first_var = module->nvars;

    ps.lx = (struct lexer){.ld = ld, .at = text, .end = text + len, .line = 1};
    lex_next(&ps.lx);
    while (ps.lx.token != TOK_END)
        parse_top(&ps);
    name_locals(&ps, first_var);
}

bool ptx_split(struct pool *pool, const char *mnemonic, struct ptx_insn *insn)
{
    char *copy = pool_strndup(pool, mnemonic, strlen(mnemonic)), *dot = strchr(copy, '.');

    insn->mnemonic = mnemonic;
    insn->op = copy;
    insn->nmods = 0;
    while (dot) {
        if (insn->nmods == PTX_MAX_MODS)
            return false;
        *dot++ = 0;
        insn->mod[insn->nmods++] = dot;
        dot = strchr(dot, '.');
    }
    return true;
}
