/* SPDX-License-Identifier: BSD-3-Clause
 * wmma. Which lane holds which element of a fragment is the implementation's choice: element number
 * lane + 32 j of the matrix, row by row, is the lane's j-th; a fragment with more places than that
 * repeats its elements. The memory layout matters to loads and stores alone. */
#include "matrix.h"
#include "race.h"
#include "sched.h"

static const struct kind {
    const char *shape, *a, *b; /* element types */
    uint8_t na, nb;            /* registers */
    const char *c[3];          /* accumulators */
} kinds[] = {
    {"m16n16k16", "f16", "f16", 8, 8, {"f16", "f32"}},
    {"m32n8k16", "f16", "f16", 8, 8, {"f16", "f32"}},
    {"m8n32k16", "f16", "f16", 8, 8, {"f16", "f32"}},
    {"m16n16k16", "bf16", "bf16", 4, 4, {"f32"}},
    {"m32n8k16", "bf16", "bf16", 8, 2, {"f32"}},
    {"m8n32k16", "bf16", "bf16", 2, 8, {"f32"}},
    {"m16n16k8", "tf32", "tf32", 4, 4, {"f32"}},
    {"m8n8k4", "f64", "f64", 1, 1, {"f64"}},
    {"m16n16k16", "s8", "s8", 2, 2, {"s32"}},
    {"m16n16k16", "u8", "u8", 2, 2, {"s32"}},
    {"m32n8k16", "s8", "s8", 4, 1, {"s32"}},
    {"m32n8k16", "u8", "u8", 4, 1, {"s32"}},
    {"m8n32k16", "s8", "s8", 1, 4, {"s32"}},
    {"m8n32k16", "u8", "u8", 1, 4, {"s32"}},
};

/* A fragment: rows x cols elements in n registers. */
struct fragment {
    enum element type;
    unsigned rows, cols, n;
    uint32_t *ref; /* offset and base of each register */
};

static unsigned per_register(const struct fragment *g)
{
    return g->type == E_F64 ? 1 : 4 / element_bytes(g->type);
}

/* Place p of lane l in its registers. */
static char *place(const struct warp *w, const struct fragment *g, unsigned p, unsigned l)
{
    unsigned per = per_register(g), k = p / per;

    return w->base[g->ref[2 * k + 1]] + g->ref[2 * k] + l * (g->type == E_F64 ? 8 : 4) +
           p % per * element_bytes(g->type);
}

static unsigned places(const struct fragment *g)
{
    return g->n * per_register(g);
}

static unsigned distinct(const struct fragment *g)
{
    return g->rows * g->cols / LANES;
}

struct transfer {
    struct fragment g;
    struct address at;
    struct ref stride; /* row of it, in elements */
    bool store, col;   /* column after column in memory */
};

OP(transfer_op)
{
    const struct transfer *x = i->data;
    const struct insn *wait = all_lanes(w, i);
    const uint32_t *stride = (const uint32_t *)(const void *)(w->base[x->stride.base] + x->stride.off);
    unsigned bytes = element_bytes(x->g.type);
    struct sg_counts *counts = &w->worker->counts;

    if (wait)
        return wait;
    for (unsigned j = 0; j < distinct(&x->g); j++) {
        uint64_t at[LANES];
        enum where where;

        operand_addresses(w, &x->at, at);
        EACH_LANE {
            unsigned e = (unsigned)l + LANES * j, r = e / x->g.cols, c = e % x->g.cols;

            at[l] += (uint64_t)(x->col ? c * (uint64_t)stride[l] + r : r * (uint64_t)stride[l] + c) * bytes;
        }
        where = i->kind & MEM_SHARED ? check_shared(w, i, at, bytes, x->store)
                                     : check_global(w, i, at, bytes, x->store);
        if (where == WHERE_FAULT || (!x->store && !checked_load(w, i, at, bytes, where)))
            return STOP;
        *(where == WHERE_SHARED ? &counts->shared_bytes
          : x->store ? &counts->global_write_bytes : &counts->global_read_bytes) += LANES * bytes;
        EACH_LANE {
            char *p = (char *)(uintptr_t)at[l];

            if (x->store)
                memcpy(p, place(w, &x->g, j, (unsigned)l), bytes);
            for (unsigned k = j; k < places(&x->g) && !x->store; k += distinct(&x->g))
                memcpy(place(w, &x->g, k, (unsigned)l), p, bytes);
            if (x->store && !race_wrote(w, i, (uint32_t)l, at[l], bytes, where))
                return STOP;
        }
    }
    return i + 1;
}

struct product {
    struct shape shape;
    struct fragment a, b, c, d;
    bool saturate;
};

OP(product_op)
{
    const struct product *x = i->data;
    const struct insn *wait = all_lanes(w, i);
    double a[MAX_M][MAX_K], b[MAX_K][MAX_N], c[MAX_M][MAX_N];

    if (wait)
        return wait;
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned j = 0; j < distinct(&x->a); j++)
            a[(l + LANES * j) / x->shape.k][(l + LANES * j) % x->shape.k] =
                element_read(x->a.type, place(w, &x->a, j, l));
        for (unsigned j = 0; j < distinct(&x->b); j++)
            b[(l + LANES * j) / x->shape.n][(l + LANES * j) % x->shape.n] =
                element_read(x->b.type, place(w, &x->b, j, l));
        for (unsigned j = 0; j < distinct(&x->c); j++)
            c[(l + LANES * j) / x->shape.n][(l + LANES * j) % x->shape.n] =
                element_read(x->c.type, place(w, &x->c, j, l));
    }
    matrix_multiply(&x->shape, x->d.type, x->saturate, a, b, c);
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned j = 0; j < distinct(&x->d); j++)
            element_write(x->d.type, place(w, &x->d, j, l),
                          c[(l + LANES * j) / x->shape.n][(l + LANES * j) % x->shape.n]);
    return i + 1;
}

static const struct kind *find(const char *shape, const char *a, const char *b, const char *c)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kinds[k].shape, shape) || (a && strcmp(kinds[k].a, a)) ||
            (b && strcmp(kinds[k].b, b)))
            continue;
        for (int n = 0; n < 3; n++)
            if (!c || (kinds[k].c[n] && strcmp(kinds[k].c[n], c) == 0))
                return &kinds[k];
    }
    return NULL;
}

enum { W_A, W_B, W_C, W_STORE, W_MMA };

/* wmma.load.{a,b,c}.sync.aligned.layout.shape{.space}.type, wmma.store.d with the same */
static bool transfer_form(struct form *f, bool store)
{
    static const char *const parts[] = {"a", "b", "c", "d", NULL};
    const struct ptx_insn *in = f->insn;
    int part = form_one(f, parts);
    const char *type = in->mod[in->nmods - 1];

    if (part < 0 || store != (part == W_STORE) || !form_take(f, "sync") || !form_take(f, "aligned"))
        return false;
    f->kind = (unsigned)part;
    f->flags = form_take(f, "col");
    if (!f->flags && !form_take(f, "row"))
        return false;
    f->n = form_take(f, "global") ? MEM_GLOBAL
           : form_take(f, "shared") || form_take(f, "shared::cta") ? MEM_SHARED : 0;
    for (unsigned k = 0; k + 1 < in->nmods; k++) {
        if (f->used >> k & 1)
            continue;
        f->row = part == W_A   ? find(in->mod[k], type, NULL, NULL)
                 : part == W_B ? find(in->mod[k], NULL, type, NULL)
                               : find(in->mod[k], NULL, NULL, type);
        f->used |= 1u << k | 1u << (in->nmods - 1);
        return f->row && form_done(f);
    }
    return false;
}

/* wmma.mma.sync.aligned.alayout.blayout.shape{.rn}.d{.a.b}.c{.satfinite|.rn}; halves name d and c
 * only */
static bool product_form(struct form *f)
{
    const struct ptx_insn *in = f->insn;
    bool rn, rn_last;
    unsigned n;
    const char *const *t;

    if (in->nmods < 8 || strcmp(in->mod[1], "sync") || strcmp(in->mod[2], "aligned"))
        return false;
    for (int k = 3; k < 5; k++)
        if (strcmp(in->mod[k], "row") && strcmp(in->mod[k], "col"))
            return false;
    f->flags = strcmp(in->mod[in->nmods - 1], "satfinite") == 0;
    rn = strcmp(in->mod[6], "rn") == 0;
    rn_last = strcmp(in->mod[in->nmods - 1], "rn") == 0; /* so nvcc writes it */
    n = in->nmods - 6 - rn - f->flags - rn_last;
    t = &in->mod[6 + rn];
    if (n == 2)
        f->row = find(in->mod[5], "f16", "f16", t[1]) ? find(in->mod[5], "f16", "f16", t[0]) : NULL;
    else if (n == 4 && strcmp(t[1], "f16"))
        f->row = strcmp(t[0], t[3]) ? NULL : find(in->mod[5], t[1], t[2], t[3]);
    f->kind = W_MMA;
    f->size = n;
    f->n = rn;
    if (!f->row || (f->flags && strcmp(t[0], "s32") && n == 4))
        return false;
    return !(rn || rn_last) || (strcmp(t[0], "f64") == 0 && n == 4);
}

static bool wmma_form(struct form *f)
{
    if (form_take(f, "load"))
        return transfer_form(f, false);
    if (form_take(f, "store"))
        return transfer_form(f, true);
    return form_take(f, "mma") && product_form(f);
}

static void fragment(struct decoder *d, struct fragment *g, const struct ptx_operand *o, bool dest)
{
    char letter = g->type == E_F64 ? 'd' : 'r';

    g->ref = keep(d, 2 * g->n * sizeof *g->ref);
    if ((o->kind == O_VECTOR ? o->n : 1) != g->n)
        loader_fail(d->ld, d->line, "%s: a fragment of %u registers", d->mnemonic, g->n);
    for (unsigned k = 0; k < g->n; k++) {
        const struct ptx_operand *e = o->kind == O_VECTOR ? &o->list[k] : o;
        struct ref r = dest ? ref_dest(d, e, letter) : ref_source(d, e, letter);

        g->ref[2 * k] = r.off;
        g->ref[2 * k + 1] = r.base;
    }
}

static struct fragment accumulator(const struct shape *s, const char *type)
{
    struct fragment g = {.type = element_of(type), .rows = s->m, .cols = s->n};

    g.n = s->m * s->n / LANES / (g.type == E_F16 ? 2 : 1);
    return g;
}

static void wmma_decode(struct decoder *d, const struct form *f)
{
    const struct kind *kind = f->row;
    const struct ptx_insn *in = f->insn;
    struct shape s;
    struct fragment a, b;
    struct insn *i;

    matrix_shape(kind->shape, &s);
    a = (struct fragment){.type = element_of(kind->a), .rows = s.m, .cols = s.k, .n = kind->na};
    b = (struct fragment){.type = element_of(kind->b), .rows = s.k, .cols = s.n, .n = kind->nb};
    if (f->kind == W_MMA) {
        struct product *x = keep(d, sizeof *x);
        const char *const *t = &in->mod[6 + f->n];

        *x = (struct product){.shape = s, .a = a, .b = b, .saturate = f->flags,
                              .c = accumulator(&s, t[f->size - 1]), .d = accumulator(&s, t[0])};
        fragment(d, &x->d, operand(d, f, 0), true);
        fragment(d, &x->a, operand(d, f, 1), false);
        fragment(d, &x->b, operand(d, f, 2), false);
        fragment(d, &x->c, operand(d, f, 3), false);
        i = emit(d, product_op, in->line);
        i->data = x;
        count_flops(d, a.type == E_F16 ? FLOP_F16 : a.type == E_BF16 ? FLOP_BF16
                       : a.type == E_F64 ? FLOP_F64 : element_is_int(a.type) ? FLOP_NONE : FLOP_F32,
                    2u * s.m * s.n * s.k / LANES);
    } else {
        bool store = f->kind == W_STORE;
        struct transfer *x = keep(d, sizeof *x);
        const char *type = in->mod[in->nmods - 1];

        x->g = f->kind == W_A ? a : f->kind == W_B ? b : accumulator(&s, type);
        x->store = store;
        x->col = f->flags;
        memory_operand(d, operand(d, f, store ? 0 : 1), &x->at);
        fragment(d, &x->g, operand(d, f, store ? 1 : 0), !store);
        /* without a stride the matrix is dense */
        x->stride = in->n > 2 ? ref_source(d, operand(d, f, 2), 'r')
                              : ref_const(d, x->col ? x->g.rows : x->g.cols, 4);
        i = emit(d, transfer_op, in->line);
        i->data = x;
        i->kind = (uint8_t)f->n;
        i->slot = d->program->nslots++;
    }
}

const struct family wmma_families[] = {
    {"wmma", wmma_form, wmma_decode, true},
    {0},
};
