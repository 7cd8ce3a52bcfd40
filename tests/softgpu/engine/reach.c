/* SPDX-License-Identifier: BSD-3-Clause
 * The call graph: which functions a kernel may run, and how much stack its deepest chain of calls
 * takes. All state is the decoder's. */
#include "layout.h"

static void reach_func(struct decoder *d, struct reach *r, struct ptx_func *func)
{
    if (func->mark || !func->has_body)
        return;
    func->mark = 1;
    func->slot = r->n;
    *(struct ptx_func **)pool_push(&d->ld->pool, (void **)&r->func, &r->n, &r->room, sizeof func) =
        func;
}

static void reach_operand(struct decoder *d, struct reach *r, const struct ptx_operand *o)
{
    for (unsigned k = 0; k < o->n; k++)
        reach_operand(d, r, &o->list[k]);
    if (o->kind == O_SREG && strncmp(o->name, "%reserved_smem_", 15) == 0)
        d->program->reserved_shared = RESERVED_SHARED;
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

void reach_kernel(struct decoder *d, struct reach *r, struct ptx_func *kernel)
{
    reach_func(d, r, kernel);
    /* the list grows while it is walked: a recursion would be as deep as the calls are */
    for (unsigned at = 0; at < r->n; at++) {
        const struct ptx_func *func = r->func[at];

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
    /* the handle of a function is its number in the module */
    for (unsigned k = 0; k < r->n && d->indirect; k++)
        r->func[k]->slot = r->func[k]->index;
}

/* Recursion, and calls deeper than anybody would write, get a fixed allowance. */
enum {
    RECURSION_FRAMES = 1 << 20,
    RECURSION_LOCAL = 32 << 10,
    ALLOCA_LOCAL = 64 << 10,
    MAX_DEPTH = 1000
};

enum { DEPTH_UNKNOWN, DEPTH_IN_WORK, DEPTH_KNOWN };

/* What the deepest chain from a function on takes. */
struct depth {
    unsigned state;
    uint64_t frames, local;
};

/* False: no bound. */
static bool deepest(struct decoder *d, struct ptx_func *func, struct depth *all, unsigned level)
{
    const struct routine *r = &d->program->routine[func->slot];
    struct depth *own = &all[func->slot];

    if (own->state == DEPTH_KNOWN)
        return true;
    if (own->state == DEPTH_IN_WORK || level > MAX_DEPTH)
        return false;
    own->state = DEPTH_IN_WORK;
    for (unsigned k = 0; k < func->ninsns; k++) {
        const struct ptx_insn *in = &func->insn[k];

        if (strcmp(in->op, "call"))
            continue;
        for (unsigned o = 0; o < in->n && o < 2; o++) {
            const struct ptx_operand *call = &in->operand[o];
            const struct depth *to;
            struct ptx_func *f;

            if (call->kind != O_SYMBOL || call->var)
                continue;
            f = map_get(&d->module->funcs, call->name);
            if (!f || !f->has_body)
                continue;
            if (!deepest(d, f, all, level + 1))
                return false;
            to = &all[f->slot];
            own->frames = to->frames > own->frames ? to->frames : own->frames;
            own->local = to->local > own->local ? to->local : own->local;
        }
    }
    own->frames += r->frame_bytes;
    own->local += r->local_bytes;
    own->state = DEPTH_KNOWN;
    return true;
}

void size_stacks(struct decoder *d, const struct reach *r, struct ptx_func *kernel)
{
    struct depth *all = pool_alloc(&d->ld->pool, (r->n + 1) * sizeof *all),
                 *top = &all[kernel->slot];
    struct program *p = d->program;
    const struct routine *own = &p->routine[kernel->slot];

    p->kernel.local_bytes = own->local_bytes;
    if (!d->indirect && deepest(d, kernel, all, 0)) {
        if (top->frames > MAX_STACK || top->local > WINDOW_BYTES)
            loader_fail(d->ld, kernel->line, "kernel %s: its calls need too much stack",
                        kernel->name);
        p->stack_bytes = (uint32_t)top->frames;
        p->kernel.local_bytes = p->local_bytes = (uint32_t)top->local;
    } else {
        p->stack_bytes = own->frame_bytes + RECURSION_FRAMES;
        p->local_bytes = p->kernel.local_bytes + RECURSION_LOCAL;
    }
    if (p->has_alloca)
        p->local_bytes += ALLOCA_LOCAL;
}
