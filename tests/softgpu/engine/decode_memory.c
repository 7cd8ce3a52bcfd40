/* SPDX-License-Identifier: BSD-3-Clause
 * Decoders of loads and stores, with their spaces, orders, hints and vectors, and of what concerns
 * memory but has no effect here: fences, prefetches, cache policies. */
#include "decode.h"
#include "race.h"

static const char *const spaces[] = {"global", "const", "shared", "shared::cta", "shared::cluster",
                                     "local", "param", "param::entry", "param::func", NULL};

static enum ptx_space space_form(struct form *f)
{
    static const uint8_t space[] = {SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_SHARED,
                                    SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM, SPACE_PARAM, SPACE_PARAM};
    int k = form_one(f, spaces);

    return k < 0 ? SPACE_GENERIC : (enum ptx_space)space[k];
}

static bool access_form(struct form *f)
{
    static const char *const orders[] = {"volatile", "relaxed", "acquire", "release", "weak", "mmio",
                                         NULL};
    static const char *const vectors[] = {"v2", "v4", "v8", NULL};
    int order, v;

    order = form_one(f, orders);
    if (order >= 0 && order < 4)
        f->flags |= MEM_STRONG;
    if (form_take(f, "mmio"))
        f->flags |= MEM_STRONG;
    f->kind = space_form(f);
    form_take_hints(f);
    v = form_one(f, vectors);
    f->n = v < 0 ? 1 : 2u << v;
    f->type = form_type(f);
    f->size = ptx_type_bytes(f->type);
    return f->size && f->size <= 8 && form_done(f) && f->size * f->n <= 32;
}

static bool ldu_form(struct form *f)
{
    return access_form(f) && (f->kind == SPACE_GLOBAL || f->kind == SPACE_GENERIC);
}

static unsigned space_flags(unsigned space)
{
    switch (space) {
    case SPACE_GLOBAL: case SPACE_CONST: return MEM_GLOBAL;
    case SPACE_SHARED: return MEM_SHARED;
    case SPACE_LOCAL: return MEM_LOCAL;
    default: return 0;
    }
}

void emit_local_base(struct decoder *d, struct ref dest, uint32_t off, unsigned width)
{
    struct insn *i = emit(d, op_local_base, d->line);

    insn_src(i, 0, dest);
    i->imm = off;
    i->size = (uint8_t)width;
}

void memory_operand(struct decoder *d, const struct ptx_operand *o, struct address *out)
{
    const struct ptx_operand *base = o->list;

    if (o->kind != O_MEM)
        loader_fail(d->ld, d->line, "%s: expected an address", d->mnemonic);
    *out = (struct address){.imm = o->off};
    switch (base->kind) {
    case O_REG:
        out->flags = reg_width(d, base->reg) == 4 ? MEM_ADDRESS_32 : 0;
        out->ref = ref_source(d, base, out->flags ? 'r' : 'q');
        return;
    case O_IMM:
        out->ref = ref_const(d, base->bits, 8);
        return;
    case O_SYMBOL: {
        struct ptx_operand with = *base;
        const struct ptx_var *var = base->var ? base->var : map_get(&d->module->vars, base->name);

        out->var = var;
        if (!var)
            loader_fail(d->ld, d->line, "%s: no variable %s", d->mnemonic, base->name);
        if (var->space == SPACE_LOCAL && !d->func->entry) {
            /* relative to the caller's local memory */
            out->ref = ref_temp(d, 4);
            emit_local_base(d, out->ref, var->offset, 4);
            out->flags = MEM_ADDRESS_32;
            return;
        }
        with.off = o->off;
        out->imm = 0;
        out->flags = var->space == SPACE_SHARED ? MEM_ADDRESS_32 : 0;
        if (!symbol_ref(d, &with, out->flags ? 4 : 8, &out->ref))
            loader_fail(d->ld, d->line, "%s: no address of %s", d->mnemonic, base->name);
        return;
    }
    default:
        loader_fail(d->ld, d->line, "%s: bad address", d->mnemonic);
    }
}

void operand_addresses(const struct warp *w, const struct address *a, uint64_t *out)
{
    const char *row = w->base[a->ref.base] + a->ref.off;

    if (a->flags & MEM_ADDRESS_32)
        EACH_LANE out[l] = ((const uint32_t *)(const void *)row)[l] + (uint32_t)a->imm;
    else
        EACH_LANE out[l] = ((const uint64_t *)(const void *)row)[l] + (uint64_t)a->imm;
}

/* Which operands are the data: one, or those in braces. */
static unsigned data_list(struct decoder *d, const struct form *f, const struct ptx_operand *o,
                          const struct ptx_operand **list_p)
{
    unsigned n = o->kind == O_VECTOR ? o->n : 1;

    *list_p = o->kind == O_VECTOR ? o->list : o;
    if (n != f->n)
        loader_fail(d->ld, d->line, "%s: %u values, not %u", d->mnemonic, f->n, n);
    return n;
}

static bool is_signed(enum ptx_type t)
{
    return t >= T_S8 && t <= T_S64;
}

/* The row a loaded element goes to and its lane width; UINT32_MAX for the sink. */
static uint32_t dest_row(struct decoder *d, const struct ptx_operand *o, unsigned *width_p)
{
    unsigned width;

    *width_p = 4;
    if (o->kind == O_SINK)
        return UINT32_MAX;
    if (o->kind != O_REG || (width = reg_width(d, o->reg)) == 0)
        loader_fail(d->ld, d->line, "%s: destination is no register", d->mnemonic);
    *width_p = width;
    return ref_dest(d, o, width == 4 ? 'r' : 'q').off;
}

static void check_width(struct decoder *d, const struct form *f, unsigned width)
{
    if (f->size > width)
        loader_fail(d->ld, d->line, "%s: register is too small", d->mnemonic);
}

/* A kernel's parameter at a known place: a row of the launch, moved. */
static void load_entry_param(struct decoder *d, const struct form *f, const struct ptx_operand *list,
                             const struct ptx_var *var, uint64_t off)
{
    for (unsigned k = 0; k < f->n; k++) {
        unsigned width;
        uint32_t row = dest_row(d, &list[k], &width);
        uint64_t at = var->offset + off + k * f->size;
        struct ref src;
        struct insn *i;

        check_width(d, f, width);
        if (!in_var(var, (int64_t)(off + k * f->size), f->size))
            loader_fail(d->ld, d->line, "%s: past the end of parameter %s", d->mnemonic, var->name);
        if (row == UINT32_MAX)
            continue;
        src = ref_fill(d, (struct fill){.kind = FILL_PARAM, .width = (uint8_t)width,
                                        .bytes = (uint8_t)f->size, .sign = is_signed(f->type),
                                        .value = at});
        i = emit(d, op_find(width == 4 ? "mov.b32" : "mov.b64")->fn, f->insn->line);
        insn_src(i, 0, (struct ref){row, BASE_FRAME});
        insn_src(i, 1, src);
    }
}

/* Parameters and results of device functions: words in the frame. */
static void access_frame(struct decoder *d, const struct form *f, const struct ptx_operand *list,
                         const struct address *at, int64_t off, bool store)
{
    if (at->var && !in_var(at->var, off, f->n * f->size))
        loader_fail(d->ld, d->line, "%s: past the end of parameter %s", d->mnemonic, at->var->name);
    for (unsigned k = 0; k < f->n; k++) {
        struct ref value = {0};
        unsigned width = 4;
        struct insn *i;

        if (!store) {
            value.off = dest_row(d, &list[k], &width);
            if (value.off == UINT32_MAX)
                continue;
        } else {
            width = list[k].kind == O_REG ? reg_width(d, list[k].reg) : f->size == 8 ? 8 : 4;
            value = ref_source(d, &list[k], width == 8 ? 'q' : letter_of(f->type) == 'f' ? 'f' : 'r');
        }
        check_width(d, f, width);
        i = emit(d, store ? op_param_store : op_param_load, f->insn->line);
        insn_src(i, store ? 2 : 0, value);
        insn_src(i, 1, at->ref);
        i->imm = at->imm + k * f->size;
        i->size = (uint8_t)f->size;
        i->n = (uint8_t)width;
        i->kind = (uint8_t)(at->flags | (is_signed(f->type) ? MEM_SIGNED : 0));
    }
}

static void ld_decode(struct decoder *d, const struct form *f)
{
    const struct ptx_operand *list;
    unsigned n = data_list(d, f, operand(d, f, 0), &list), width = 0, wide = 0;
    struct address at;
    uint32_t *rows;
    struct insn *i;

    memory_operand(d, operand(d, f, 1), &at);
    if (f->kind == SPACE_PARAM && at.var && at.var->in_buffer) {
        load_entry_param(d, f, list, at.var, (uint64_t)operand(d, f, 1)->off);
        return;
    }
    if (f->kind == SPACE_PARAM && (at.var || !d->func->entry)) {
        access_frame(d, f, list, &at, operand(d, f, 1)->off, false);
        return;
    }
    rows = keep(d, (n + 1) * sizeof *rows);
    for (unsigned k = 0; k < n; k++) {
        unsigned one;

        rows[k] = dest_row(d, &list[k], &one);
        if (rows[k] != UINT32_MAX)
            check_width(d, f, one);
        else
            at.flags |= MEM_CHECKED;
        wide |= one == 8 ? 1u << k : 0;
        width = k == 0 || one == width ? one : 0;
    }
    rows[n] = wide;
    at.flags |= space_flags(f->kind) | f->flags | (is_signed(f->type) ? MEM_SIGNED : 0) |
                (f->kind == SPACE_PARAM ? MEM_PARAM : 0);
    i = emit(d, load_fn(at.flags, f->size, n, width), f->insn->line);
    insn_src(i, 0, (struct ref){rows[0], BASE_FRAME});
    insn_src(i, 1, at.ref);
    i->imm = at.imm;
    i->size = (uint8_t)f->size;
    i->n = (uint8_t)n;
    i->kind = (uint8_t)at.flags;
    i->list = rows;
    i->slot = d->program->nslots++;
}

static void st_decode(struct decoder *d, const struct form *f)
{
    const struct ptx_operand *list;
    unsigned n = data_list(d, f, operand(d, f, 1), &list), width = 0;
    struct ref value = {0};
    struct address at;
    uint32_t *rows;
    struct insn *i;

    memory_operand(d, operand(d, f, 0), &at);
    if (f->kind == SPACE_PARAM) {
        access_frame(d, f, list, &at, operand(d, f, 0)->off, true);
        return;
    }
    rows = keep(d, 2 * n * sizeof *rows);
    for (unsigned k = 0; k < n; k++) {
        const struct ptx_operand *o = &list[k];
        char letter = letter_of(f->type);

        unsigned one = o->kind == O_REG ? reg_width(d, o->reg) : f->size == 8 ? 8 : 4;

        check_width(d, f, one);
        if (o->kind == O_REG)
            letter = one == 8 ? 'q' : 'r';
        value = ref_source(d, o, letter);
        rows[2 * k] = value.off;
        rows[2 * k + 1] = value.base | (one == 8 ? 16u : 0u);
        width = k == 0 || one == width ? one : 0;
    }
    at.flags |= space_flags(f->kind) | f->flags;
    i = emit(d, store_fn(at.flags, f->size, n, width), f->insn->line);
    insn_src(i, 1, at.ref);
    insn_src(i, 2, value);
    i->imm = at.imm;
    i->size = (uint8_t)f->size;
    i->n = (uint8_t)n;
    i->kind = (uint8_t)at.flags;
    i->list = rows;
    i->slot = d->program->nslots++;
}

/* Fences order nothing more: a block runs on one CPU thread, and x86 and the atomics do the rest. */
static bool fence_form(struct form *f)
{
    static const char *const membar[] = {"cta", "gl", "sys", NULL};
    static const char *const kinds[] = {"sc", "acq_rel", "acquire", "release", "proxy", NULL};
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    static const char *const proxies[] = {"alias", "async", "async.global", "async.shared::cta",
                                          "mbarrier_init", NULL};

    if (strcmp(f->insn->op, "membar") == 0) {
        if (form_take(f, "proxy"))
            form_one(f, proxies);
        else if (form_one(f, membar) < 0)
            return false;
        return form_done(f);
    }
    if (form_one(f, kinds) < 0)
        return form_one(f, scopes) >= 0 && form_done(f);
    form_one(f, scopes);
    form_one(f, proxies);
    form_one(f, spaces);
    return form_done(f);
}

static bool hint_form(struct form *f)
{
    static const char *const levels[] = {"L1", "L2", "L2::evict_last", "L2::evict_normal", NULL};

    if (strcmp(f->insn->op, "prefetch") == 0 || strcmp(f->insn->op, "prefetchu") == 0) {
        form_one(f, spaces);
        form_take(f, "tensormap");
        return form_one(f, levels) >= 0 && form_done(f);
    }
    /* discard.L2, applypriority.L2::evict_normal */
    form_one(f, spaces);
    form_one(f, levels);
    return form_done(f);
}

static void nothing(struct decoder *d, const struct form *f)
{
    emit(d, op_nop, f->insn->line);
}

OP(fence_op)
{
    race_strong(w);
    return i + 1;
}

static void fence_decode(struct decoder *d, const struct form *f)
{
    emit(d, fence_op, f->insn->line);
}

const struct family memory_families[] = {
    {"ld", access_form, ld_decode, false},
    {"ldu", ldu_form, ld_decode, false},
    {"st", access_form, st_decode, false},
    {"membar", fence_form, fence_decode, false},
    {"fence", fence_form, fence_decode, false},
    {"prefetch", hint_form, nothing, false},
    {"prefetchu", hint_form, nothing, false},
    {"discard", hint_form, nothing, false},
    {"applypriority", hint_form, nothing, false},
    {0},
};
