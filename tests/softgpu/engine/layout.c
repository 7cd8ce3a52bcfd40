/* SPDX-License-Identifier: BSD-3-Clause
 * Where variables are: rows of a frame for parameters, predicates; offsets in local and shared
 * memory. All state is the decoder's. */
#include "layout.h"

/* What a GPU gives a thread at most. */
enum { MAX_LOCAL = 512 << 10 };

/* Parameter variables are rows of words in the frame. */
static void place_param(struct decoder *d, struct ptx_var *var)
{
    uint64_t end = d->frame_bytes + (var->bytes + 3) / 4 * ROW;

    if (var->bytes > MAX_STACK || end > MAX_STACK)
        loader_fail(d->ld, var->line, "parameters of %s need too much memory", d->func->name);
    var->offset = d->frame_bytes;
    d->frame_bytes = (uint32_t)end;
}

void place_formals(struct decoder *d, struct ptx_func *func, struct routine *r)
{
    uint32_t *off = keep(d, 2 * (func->nparams + func->nrets + 1) * sizeof *off);
    size_t length = strlen(func->name);
    char *name = keep(d, length + 1);

    d->func = func;
    d->frame_bytes = FRAME_HEADER;
    memcpy(name, func->name, length);
    r->name = name;
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

void place_body_vars(struct decoder *d)
{
    uint32_t preds = 0;

    for (unsigned k = 0; k < d->func->nvars; k++) {
        struct ptx_var *var = d->func->var[k];

        if (var->space == SPACE_PARAM) {
            place_param(d, var);
        } else if (var->space == SPACE_LOCAL) {
            uint32_t off = align_to(d->local_bytes, var->align);

            if (var->bytes > MAX_LOCAL || off + var->bytes > MAX_LOCAL)
                loader_fail(d->ld, var->line, "%s needs more than %d bytes of local memory",
                            d->func->name, MAX_LOCAL);
            var->offset = off;
            d->local_bytes = off + (uint32_t)var->bytes;
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

/* One variable of the given kind: sized here, or by the launch. */
static void place_shared_var(struct decoder *d, struct ptx_var *var, bool dynamic, uint32_t *off_p,
                             const struct ptx_func *kernel)
{
    uint32_t off = align_to(*off_p, var->align);

    if (var->space != SPACE_SHARED || dynamic != (var->external && var->bytes == 0))
        return;
    if (dynamic) {
        var->offset = d->program->dynamic_offset;
        return;
    }
    if (var->bytes > MAX_SHARED ||
        off + var->bytes > MAX_SHARED + d->program->reserved_shared)
        loader_fail(d->ld, var->line, "kernel %s needs more than %d bytes of shared memory",
                    kernel->name, MAX_SHARED);
    var->offset = off;
    *off_p = off + (uint32_t)var->bytes;
}

static void place_shared_vars(struct decoder *d, const struct reach *r, bool dynamic,
                              uint32_t *off_p, const struct ptx_func *kernel)
{
    for (unsigned k = 0; k < r->n; k++)
        for (unsigned v = 0; v < r->func[k]->nvars; v++)
            place_shared_var(d, r->func[k]->var[v], dynamic, off_p, kernel);
    for (unsigned v = 0; v < d->module->nvars; v++)
        if (d->module->var[v]->mark)
            place_shared_var(d, d->module->var[v], dynamic, off_p, kernel);
}

void place_shared(struct decoder *d, const struct reach *r, const struct ptx_func *kernel)
{
    uint32_t off = d->program->reserved_shared, dynamic_align = 16;

    place_shared_vars(d, r, false, &off, kernel);
    for (unsigned v = 0; v < d->module->nvars; v++) {
        const struct ptx_var *var = d->module->var[v];

        if (var->space == SPACE_SHARED && var->mark && var->align > dynamic_align)
            dynamic_align = var->align;
    }
    d->program->shared_bytes = off;
    d->program->kernel.static_shared = off - d->program->reserved_shared;
    d->program->dynamic_offset = align_to(off, dynamic_align);
    place_shared_vars(d, r, true, &off, kernel);
}
