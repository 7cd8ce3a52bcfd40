/* SPDX-License-Identifier: BSD-3-Clause
 * mma, and the moves of matrix fragments: ldmatrix, stmatrix, movmatrix. With g = lane / 4 and
 * t = lane % 4, and E elements in a register: register i of A holds row g + 8 (i % (M/8)) and columns
 * E t + 4 E (i / (M/8)) on; register i of B column g and rows E t + 4 E i on; C and D hold columns 2 t
 * and 2 t + 1 of rows g, g + 8. */
#include "matrix.h"
#include "race.h"
#include "sched.h"

struct mma {
    struct shape shape;
    enum element a, b, c, d;
    bool saturate;
    unsigned na, nb, nc; /* registers */
    uint32_t *a_ref, *b_ref, *c_ref; /* offset and base of each */
    uint32_t *d_row;
};

static char *cell(const struct warp *w, const uint32_t *ref, unsigned k, unsigned l, unsigned width)
{
    return w->base[ref[2 * k + 1]] + ref[2 * k] + l * width;
}

OP(mma_op)
{
    const struct mma *x = i->data;
    const struct insn *wait = all_lanes(w, i);
    double a[MAX_M][MAX_K], b[MAX_K][MAX_N], c[MAX_M][MAX_N];
    unsigned ea = element_bytes(x->a), ec = element_bytes(x->c), ed = element_bytes(x->d);
    unsigned width = ea == 8 ? 8 : 4, per = width / ea, halves = x->shape.m / 8;

    if (wait)
        return wait;
    for (unsigned l = 0; l < LANES; l++) {
        unsigned g = l / 4, t = l % 4;

        for (unsigned k = 0; k < x->na; k++)
            for (unsigned e = 0; e < per; e++)
                a[g + 8 * (k % halves)][per * t + 4 * per * (k / halves) + e] =
                    element_read(x->a, cell(w, x->a_ref, k, l, width) + e * ea);
        for (unsigned k = 0; k < x->nb; k++)
            for (unsigned e = 0; e < per; e++)
                b[per * t + 4 * per * k + e][g] =
                    element_read(x->b, cell(w, x->b_ref, k, l, width) + e * ea);
        for (unsigned k = 0; k < 2 * halves; k++) {
            /* element k of the lane's: two of a row, packed in one register when they are halves */
            const char *p = ec == 2 ? cell(w, x->c_ref, k / 2, l, 4) + 2 * (k % 2)
                                    : cell(w, x->c_ref, k, l, ec == 8 ? 8 : 4);

            c[g + 8 * (k / 2)][2 * t + k % 2] = element_read(x->c, p);
        }
    }
    matrix_multiply(&x->shape, x->d, x->saturate, a, b, c);
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned k = 0; k < 2 * halves; k++) {
            char *row = w->base[BASE_FRAME] + x->d_row[ed == 2 ? k / 2 : k];
            char *p = ed == 2 ? row + 4 * l + 2 * (k % 2) : row + l * (ed == 8 ? 8 : 4);

            element_write(x->d, p, c[l / 4 + 8 * (k / 2)][2 * (l % 4) + k % 2]);
        }
    }
    return i + 1;
}

static const struct kind {
    const char *shape, *a, *b, *c, *d;
} kinds[] = {
    {"m16n8k8", "f16", "f16", "f16", "f16"},    {"m16n8k8", "f16", "f16", "f32", "f32"},
    {"m16n8k16", "f16", "f16", "f16", "f16"},   {"m16n8k16", "f16", "f16", "f32", "f32"},
    {"m16n8k8", "bf16", "bf16", "f32", "f32"},  {"m16n8k16", "bf16", "bf16", "f32", "f32"},
    {"m16n8k4", "tf32", "tf32", "f32", "f32"},  {"m16n8k8", "tf32", "tf32", "f32", "f32"},
    {"m8n8k4", "f64", "f64", "f64", "f64"},     {"m16n8k4", "f64", "f64", "f64", "f64"},
    {"m16n8k8", "f64", "f64", "f64", "f64"},    {"m16n8k16", "f64", "f64", "f64", "f64"},
    {"m16n8k32", "e4m3", "e4m3", "f32", "f32"}, {"m16n8k32", "e4m3", "e5m2", "f32", "f32"},
    {"m16n8k32", "e5m2", "e4m3", "f32", "f32"}, {"m16n8k32", "e5m2", "e5m2", "f32", "f32"},
    {"m16n8k16", "e4m3", "e4m3", "f32", "f32"}, {"m16n8k16", "e4m3", "e5m2", "f32", "f32"},
    {"m16n8k16", "e5m2", "e4m3", "f32", "f32"}, {"m16n8k16", "e5m2", "e5m2", "f32", "f32"},
    {"m8n8k16", "s8", "s8", "s32", "s32"},      {"m8n8k16", "s8", "u8", "s32", "s32"},
    {"m8n8k16", "u8", "s8", "s32", "s32"},      {"m8n8k16", "u8", "u8", "s32", "s32"},
    {"m16n8k16", "s8", "s8", "s32", "s32"},     {"m16n8k16", "s8", "u8", "s32", "s32"},
    {"m16n8k16", "u8", "s8", "s32", "s32"},     {"m16n8k16", "u8", "u8", "s32", "s32"},
    {"m16n8k32", "s8", "s8", "s32", "s32"},     {"m16n8k32", "s8", "u8", "s32", "s32"},
    {"m16n8k32", "u8", "s8", "s32", "s32"},     {"m16n8k32", "u8", "u8", "s32", "s32"},
};

/* mma.sync.aligned.shape.row.col{.satfinite}.d.a.b.c */
static bool mma_form(struct form *f)
{
    const struct ptx_insn *in = f->insn;
    const char *const *t;

    if (in->nmods < 9 || strcmp(in->mod[0], "sync") || strcmp(in->mod[1], "aligned") ||
        strcmp(in->mod[3], "row") || strcmp(in->mod[4], "col"))
        return false;
    f->flags = strcmp(in->mod[5], "satfinite") == 0;
    if (in->nmods != 9 + f->flags)
        return false;
    t = &in->mod[5 + f->flags];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kinds[k].shape, in->mod[2]) || strcmp(kinds[k].d, t[0]) ||
            strcmp(kinds[k].a, t[1]) || strcmp(kinds[k].b, t[2]) || strcmp(kinds[k].c, t[3]))
            continue;
        f->row = &kinds[k];
        return !f->flags || strcmp(t[0], "s32") == 0;
    }
    return false;
}

static uint32_t *source_refs(struct decoder *d, const struct ptx_operand *o, unsigned n, char letter)
{
    uint32_t *ref = keep(d, 2 * n * sizeof *ref);
    unsigned have = o->kind == O_VECTOR ? o->n : 1;

    if (have != n)
        loader_fail(d->ld, d->line, "%s: a fragment of %u registers, not %u", d->mnemonic, n, have);
    for (unsigned k = 0; k < n; k++) {
        struct ref r = ref_source(d, o->kind == O_VECTOR ? &o->list[k] : o, letter);

        ref[2 * k] = r.off;
        ref[2 * k + 1] = r.base;
    }
    return ref;
}

static uint32_t *dest_rows(struct decoder *d, const struct ptx_operand *o, unsigned n, char letter)
{
    uint32_t *row = keep(d, n * sizeof *row);

    if ((o->kind == O_VECTOR ? o->n : 1) != n)
        loader_fail(d->ld, d->line, "%s: a fragment of %u registers", d->mnemonic, n);
    for (unsigned k = 0; k < n; k++)
        row[k] = ref_dest(d, o->kind == O_VECTOR ? &o->list[k] : o, letter).off;
    return row;
}

static char letter_for(enum element e)
{
    return e == E_F64 ? 'd' : e == E_F32 ? 'f' : 'r';
}

static void mma_decode(struct decoder *d, const struct form *f)
{
    const struct kind *kind = f->row;
    struct mma *x = keep(d, sizeof *x);
    unsigned per, elements;
    struct insn *i;

    matrix_shape(kind->shape, &x->shape);
    x->a = element_of(kind->a);
    x->b = element_of(kind->b);
    x->c = element_of(kind->c);
    x->d = element_of(kind->d);
    x->saturate = f->flags;
    per = (x->a == E_F64 ? 8 : 4) / element_bytes(x->a);
    x->na = x->shape.m * x->shape.k / LANES / per;
    x->nb = x->shape.n * x->shape.k / LANES / per;
    elements = x->shape.m * x->shape.n / LANES;
    x->nc = x->c == E_F16 ? elements / 2 : elements;
    x->a_ref = source_refs(d, operand(d, f, 1), x->na, x->a == E_F64 ? 'd' : 'r');
    x->b_ref = source_refs(d, operand(d, f, 2), x->nb, x->a == E_F64 ? 'd' : 'r');
    x->c_ref = source_refs(d, operand(d, f, 3), x->nc, letter_for(x->c));
    x->d_row = dest_rows(d, operand(d, f, 0), x->d == E_F16 ? elements / 2 : elements,
                         letter_for(x->d));
    i = emit(d, mma_op, f->insn->line);
    i->data = x;
    count_flops(d, x->a == E_F16 ? FLOP_F16 : x->a == E_BF16 ? FLOP_BF16 : x->a == E_F64 ? FLOP_F64
                   : element_is_int(x->a) ? FLOP_NONE : FLOP_F32,
                2u * x->shape.m * x->shape.n * x->shape.k / LANES);
}

struct move {
    struct address at;
    unsigned n;      /* matrices of 8 x 8 halves */
    bool trans, store;
    uint32_t *row;   /* loads: destination rows; stores: refs */
};

/* Lane 8 j + r gives the address of row r of matrix j; lane l holds elements 2 (l % 4) and the next
 * of row l / 4, of column l / 4 if transposed. */
OP(matrix_move)
{
    const struct move *x = i->data;
    const struct insn *wait = all_lanes(w, i);
    uint64_t at[LANES];
    uint16_t m[4][8][8];

    if (wait)
        return wait;
    operand_addresses(w, &x->at, at);
    EACH_LANE at[l] -= at[l] >= windows_at ? windows_at : 0;
    /* lanes whose address isn't used repeat the first one's */
    for (unsigned l = 8 * x->n; l < LANES; l++)
        at[l] = at[0];
    if (check_shared(w, i, at, 16, x->store) == WHERE_FAULT)
        return STOP;
    w->worker->counts.shared_bytes += 128 * x->n;
    for (unsigned j = 0; j < x->n; j++) {
        for (unsigned r = 0; r < 8 && !x->store; r++) {
            memcpy(m[j][r], (const char *)(uintptr_t)at[8 * j + r], 16);
        }
        for (unsigned l = 0; l < LANES; l++) {
            char *p = x->store ? cell(w, x->row, j, l, 4) : w->base[BASE_FRAME] + x->row[j] + 4 * l;

            for (unsigned e = 0; e < 2; e++) {
                unsigned r = x->trans ? 2 * (l % 4) + e : l / 4, c = x->trans ? l / 4 : 2 * (l % 4) + e;

                if (x->store)
                    memcpy(&m[j][r][c], p + 2 * e, 2);
                else
                    memcpy(p + 2 * e, &m[j][r][c], 2);
            }
        }
        for (unsigned r = 0; r < 8 && x->store; r++)
            memcpy((char *)(uintptr_t)at[8 * j + r], m[j][r], 16);
    }
    return i + 1;
}

static bool matrix_form(struct form *f)
{
    static const char *const counts[] = {"x1", "x2", "x4", NULL};
    int k;

    if (!form_take(f, "sync") || !form_take(f, "aligned") || !form_take(f, "m8n8"))
        return false;
    k = form_one(f, counts);
    if (k < 0)
        return false;
    f->n = 1u << k;
    f->flags = form_take(f, "trans");
    if (!form_take(f, "shared"))
        form_take(f, "shared::cta");
    return form_take(f, "b16") && form_done(f);
}

static void matrix_decode(struct decoder *d, const struct form *f)
{
    bool store = strcmp(f->insn->op, "stmatrix") == 0;
    struct move *x = keep(d, sizeof *x);
    struct insn *i;

    x->n = f->n;
    x->trans = f->flags;
    x->store = store;
    memory_operand(d, operand(d, f, store ? 0 : 1), &x->at);
    x->row = store ? source_refs(d, operand(d, f, 1), f->n, 'r') : dest_rows(d, operand(d, f, 0), f->n, 'r');
    i = emit(d, matrix_move, f->insn->line);
    i->data = x;
    i->slot = d->program->nslots++;
}

OP(transpose)
{
    const struct insn *wait = all_lanes(w, i);
    const uint32_t *a = ROW_OF(uint32_t, 1);
    uint32_t *d = ROW_OF(uint32_t, 0), r[LANES];

    if (wait)
        return wait;
    for (unsigned l = 0; l < LANES; l++) {
        uint32_t v = 0;

        for (unsigned e = 0; e < 2; e++) {
            unsigned row = 2 * (l % 4) + e, col = l / 4;

            v |= (a[4 * row + col / 2] >> 16 * (col % 2) & 0xffff) << 16 * e;
        }
        r[l] = v;
    }
    memcpy(d, r, sizeof r);
    return i + 1;
}

static bool movmatrix_form(struct form *f)
{
    return form_take(f, "sync") && form_take(f, "aligned") && form_take(f, "m8n8") &&
           form_take(f, "trans") && form_take(f, "b16") && form_done(f);
}

static void movmatrix_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'r'), from = ref_source(d, operand(d, f, 1), 'r');
    struct insn *i = emit(d, transpose, f->insn->line);

    insn_src(i, 0, to);
    insn_src(i, 1, from);
}

const struct family matrix_families[] = {
    {"mma", mma_form, mma_decode, true},
    {"ldmatrix", matrix_form, matrix_decode, true},
    {"stmatrix", matrix_form, matrix_decode, true},
    {"movmatrix", movmatrix_form, movmatrix_decode, true},
    {0},
};
