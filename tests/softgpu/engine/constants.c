/* SPDX-License-Identifier: BSD-3-Clause
 * Registers that need no instruction: one that is written once, by a move of something constant
 * during a launch or block, is not moved at all; its uses name the source. All state is
 * the decoder's. */
#include "layout.h"

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
        if (!var || !var->in_buffer || !in_var(var, src->off, ptx_type_bytes(type)))
            return false;
        *out = ref_fill(d, (struct fill){.kind = FILL_PARAM,
                                         .width = (uint8_t)width,
                                         .bytes = (uint8_t)ptx_type_bytes(type),
                                         .sign = type >= T_S8 && type <= T_S64,
                                         .value = var->offset + (uint64_t)src->off});
        return ptx_type_bytes(type) <= width;
    }
    if (strcmp(in->mnemonic, "cvta.to.global.u64") && strcmp(in->mnemonic, "cvta.global.u64") &&
        strcmp(in->mnemonic, "cvta.to.const.u64") && strcmp(in->mnemonic, "cvta.const.u64") &&
        strcmp(in->op, "mov"))
        return false;
    if (strcmp(in->op, "mov") == 0) {
        unsigned bytes = ptx_type_bytes(ptx_type_of(in->nmods ? in->mod[0] : ""));

        /* rows are as wide as the type is */
        if (bytes > width || (width == 8 && bytes != 8))
            return false;
    }
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

void find_constants(struct decoder *d)
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
