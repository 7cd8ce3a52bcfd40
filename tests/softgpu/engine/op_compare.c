/* SPDX-License-Identifier: BSD-3-Clause
 * Comparisons: setp and set. A comparison yields one bit per lane, two masks for packed halves. */
#include "decode.h"
#include "fp.h"

typedef void (*compare_fn)(const struct warp *w, const struct insn *i, uint32_t r[2]);

enum { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };

static uint32_t combine(unsigned op, uint32_t r, uint32_t c)
{
    return op == BOOL_AND ? r & c : op == BOOL_OR ? r | c : op == BOOL_XOR ? r ^ c : r;
}

static void set_pred(struct warp *w, uint32_t off, uint32_t v)
{
    uint32_t *d = (uint32_t *)(void *)(w->base[BASE_FRAME] + off);

    *d = (*d & ~w->mask) | (v & w->mask);
}

/* p, and q where the instruction has one: the complement, or the upper halves' result */
static const struct insn *store_preds(struct warp *w, const struct insn *i, uint32_t p, uint32_t q)
{
    uint32_t c = 0;

    if (i->kind) {
        c = *PRED_OF(3);
        c = i->neg ? ~c : c;
        p = combine(i->kind, p, c);
    }
    set_pred(w, i->off[0], p);
    if (i->imm >= 0)
        set_pred(w, (uint32_t)i->imm, combine(i->kind, q, c));
    return i + 1;
}

#define COMPARE(_name, _t, _expr)                                                        \
    static void cmp_##_name(const struct warp *w, const struct insn *i, uint32_t r[2])   \
    {                                                                                    \
        const _t *a = ROW_OF(_t, 1), *b = ROW_OF(_t, 2);                                 \
        uint32_t bits = 0;                                                               \
                                                                                         \
        VECTOR EACH_LANE {                                                               \
            const _t x = a[l], y = b[l];                                                 \
            bits |= (uint32_t)(_expr) << l;                                              \
        }                                                                                \
        r[0] = bits;                                                                     \
    }                                                                                    \
    OP(setp_##_name)                                                                     \
    {                                                                                    \
        uint32_t r[2];                                                                   \
                                                                                         \
        cmp_##_name(w, i, r);                                                            \
        return store_preds(w, i, r[0], ~r[0]);                                           \
    }

#define COMPARE_X2(_name, _expr)                                                         \
    static void cmp_##_name(const struct warp *w, const struct insn *i, uint32_t r[2])   \
    {                                                                                    \
        const uint32_t *a = ROW_OF(uint32_t, 1), *b = ROW_OF(uint32_t, 2);               \
                                                                                         \
        for (unsigned k = 0; k < 2; k++) {                                               \
            uint32_t bits = 0;                                                           \
                                                                                         \
            VECTOR EACH_LANE {                                                           \
                const uint32_t x = a[l] >> 16 * k & 0xffff, y = b[l] >> 16 * k & 0xffff; \
                bits |= (uint32_t)(_expr) << l;                                          \
            }                                                                            \
            r[k] = bits;                                                                 \
        }                                                                                \
    }                                                                                    \
    OP(setp_##_name)                                                                     \
    {                                                                                    \
        uint32_t r[2];                                                                   \
                                                                                         \
        cmp_##_name(w, i, r);                                                            \
        return store_preds(w, i, r[0], r[1]);                                            \
    }

#define ORDER_INT(_n, _t, _x, _y) \
    COMPARE(lt_##_n, _t, (_x) < (_y)) COMPARE(le_##_n, _t, (_x) <= (_y)) \
    COMPARE(gt_##_n, _t, (_x) > (_y)) COMPARE(ge_##_n, _t, (_x) >= (_y))
#define EQUAL_INT(_n, _t, _x, _y) \
    COMPARE(eq_##_n, _t, (_x) == (_y)) COMPARE(ne_##_n, _t, (_x) != (_y))

EQUAL_INT(b16, uint32_t, (uint16_t)x, (uint16_t)y)
EQUAL_INT(b32, uint32_t, x, y)
EQUAL_INT(b64, uint64_t, x, y)
ORDER_INT(u16, uint32_t, (uint16_t)x, (uint16_t)y)
ORDER_INT(s16, uint32_t, (int16_t)x, (int16_t)y)
ORDER_INT(u32, uint32_t, x, y)
ORDER_INT(s32, int32_t, x, y)
ORDER_INT(u64, uint64_t, x, y)
ORDER_INT(s64, int64_t, x, y)

/* Ordered comparisons are false with a NaN, those with a u are true. */
#define FLOATS(_macro, _n, _x, _y) \
    _macro(eq_##_n, (_x) == (_y)) _macro(ne_##_n, (_x) < (_y) || (_x) > (_y)) \
    _macro(lt_##_n, (_x) < (_y)) _macro(le_##_n, (_x) <= (_y)) \
    _macro(gt_##_n, (_x) > (_y)) _macro(ge_##_n, (_x) >= (_y)) \
    _macro(equ_##_n, !((_x) < (_y) || (_x) > (_y))) _macro(neu_##_n, (_x) != (_y)) \
    _macro(ltu_##_n, !((_x) >= (_y))) _macro(leu_##_n, !((_x) > (_y))) \
    _macro(gtu_##_n, !((_x) <= (_y))) _macro(geu_##_n, !((_x) < (_y))) \
    _macro(num_##_n, (_x) == (_x) && (_y) == (_y)) _macro(nan_##_n, (_x) != (_x) || (_y) != (_y))
#define F32_COMPARE(_name, _expr) COMPARE(_name, float, _expr)
#define F64_COMPARE(_name, _expr) COMPARE(_name, double, _expr)
#define U32_COMPARE(_name, _expr) COMPARE(_name, uint32_t, _expr)
/* subnormal halves compare as zeros under .ftz */
#define H(_v) f16_to_f32((_v) & 0xffff)
#define HZ(_v) f16_to_f32((_v) & 0x7c00 ? (_v) & 0xffff : (_v) & 0x8000)
#define BF(_v) bf16_to_f32((_v) & 0xffff)

FLOATS(F32_COMPARE, f32, x, y)
FLOATS(F32_COMPARE, ftz_f32, f32_flush(x), f32_flush(y))
FLOATS(F64_COMPARE, f64, x, y)
FLOATS(U32_COMPARE, f16, H(x), H(y))
FLOATS(U32_COMPARE, ftz_f16, HZ(x), HZ(y))
FLOATS(U32_COMPARE, bf16, BF(x), BF(y))
FLOATS(COMPARE_X2, f16x2, H(x), H(y))
FLOATS(COMPARE_X2, ftz_f16x2, HZ(x), HZ(y))
FLOATS(COMPARE_X2, bf16x2, BF(x), BF(y))

static const struct compare_row {
    const char *name; /* comparison, type; a z before the type for .ftz */
    op_fn setp;
    compare_fn compare;
} rows[] = {
#define ROW2(_cmp, _type, _fn) {_cmp "." _type, setp_##_fn, cmp_##_fn}
#define EQUAL_ROWS(_type, _b) ROW2("eq", _type, eq_##_b), ROW2("ne", _type, ne_##_b)
#define ORDER_ROWS(_t) \
    ROW2("lt", #_t, lt_##_t), ROW2("le", #_t, le_##_t), ROW2("gt", #_t, gt_##_t), \
    ROW2("ge", #_t, ge_##_t)
#define UNSIGNED_ROWS(_t) \
    ROW2("lo", #_t, lt_##_t), ROW2("ls", #_t, le_##_t), ROW2("hi", #_t, gt_##_t), \
    ROW2("hs", #_t, ge_##_t)
    EQUAL_ROWS("b16", b16), EQUAL_ROWS("u16", b16), EQUAL_ROWS("s16", b16),
    EQUAL_ROWS("b32", b32), EQUAL_ROWS("u32", b32), EQUAL_ROWS("s32", b32),
    EQUAL_ROWS("b64", b64), EQUAL_ROWS("u64", b64), EQUAL_ROWS("s64", b64),
    ORDER_ROWS(u16), ORDER_ROWS(s16), ORDER_ROWS(u32), ORDER_ROWS(s32), ORDER_ROWS(u64),
    ORDER_ROWS(s64), UNSIGNED_ROWS(u16), UNSIGNED_ROWS(u32), UNSIGNED_ROWS(u64),
#define FLOAT_ROWS(_type, _t) \
    ROW2("eq", _type, eq_##_t), ROW2("ne", _type, ne_##_t), ROW2("lt", _type, lt_##_t), \
    ROW2("le", _type, le_##_t), ROW2("gt", _type, gt_##_t), ROW2("ge", _type, ge_##_t), \
    ROW2("equ", _type, equ_##_t), ROW2("neu", _type, neu_##_t), ROW2("ltu", _type, ltu_##_t), \
    ROW2("leu", _type, leu_##_t), ROW2("gtu", _type, gtu_##_t), ROW2("geu", _type, geu_##_t), \
    ROW2("num", _type, num_##_t), ROW2("nan", _type, nan_##_t)
    FLOAT_ROWS("f32", f32), FLOAT_ROWS("zf32", ftz_f32), FLOAT_ROWS("f64", f64),
    FLOAT_ROWS("f16", f16), FLOAT_ROWS("zf16", ftz_f16), FLOAT_ROWS("bf16", bf16),
    FLOAT_ROWS("f16x2", f16x2), FLOAT_ROWS("zf16x2", ftz_f16x2), FLOAT_ROWS("bf16x2", bf16x2),
};

static const struct compare_row *row_find(const char *cmp, bool ftz, enum ptx_type type)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *name = rows[k].name;
        size_t n = strlen(cmp);

        if (strncmp(name, cmp, n) || name[n] != '.')
            continue;
        name += n + 1;
        if ((*name == 'z') == ftz && strcmp(name + ftz, ptx_type_names[type]) == 0)
            return &rows[k];
    }
    return NULL;
}

static bool setp_form(struct form *f)
{
    static const char *const bools[] = {"and", "or", "xor", NULL};
    bool ftz;

    if (f->insn->nmods < 2)
        return false;
    f->used |= 1; /* the comparison */
    f->kind = (unsigned)(form_one(f, bools) + 1);
    ftz = form_take(f, "ftz");
    f->source = form_type(f);
    f->row = row_find(f->insn->mod[0], ftz, f->source);
    return f->row && form_done(f);
}

/* set.cmp.dtype.stype */
static bool set_form(struct form *f)
{
    static const char *const bools[] = {"and", "or", "xor", NULL};
    bool ftz;

    if (f->insn->nmods < 3)
        return false;
    f->used |= 1;
    f->kind = (unsigned)(form_one(f, bools) + 1);
    ftz = form_take(f, "ftz");
    f->type = form_type(f);
    f->source = form_type(f);
    f->row = row_find(f->insn->mod[0], ftz, f->source);
    switch (f->source) {
    case T_F16X2: case T_BF16X2:
        if (f->type != f->source && f->type != T_U32 && f->type != T_S32)
            return false;
        break;
    case T_F16: case T_BF16:
        if (f->type != f->source && f->type != T_U32 && f->type != T_S32 && f->type != T_U16 &&
            f->type != T_S16)
            return false;
        break;
    default:
        if (f->type != T_U32 && f->type != T_S32 && f->type != T_F32)
            return false;
    }
    return f->row && form_done(f);
}

static void compare_operands(struct decoder *d, const struct form *f, struct insn *i)
{
    uint8_t neg = 0;
    char letter = letter_of(f->source);
    struct ref a = ref_source(d, operand(d, f, 1), letter), b = ref_source(d, operand(d, f, 2), letter);
    struct ref c = f->kind ? pred_source(d, operand(d, f, 3), &neg) : (struct ref){0};

    if (f->insn->n > (f->kind ? 4u : 3u))
        loader_fail(d->ld, f->insn->line, "%s has too many operands", f->insn->mnemonic);
    insn_src(i, 1, a);
    insn_src(i, 2, b);
    insn_src(i, 3, c);
    i->neg = neg;
    i->kind = (uint8_t)f->kind;
}

static void setp_decode(struct decoder *d, const struct form *f)
{
    const struct compare_row *row = f->row;
    const struct ptx_operand *o = operand(d, f, 0);
    struct insn *i, tmp = {0};

    compare_operands(d, f, &tmp);
    insn_src(&tmp, 0, ref_dest(d, o, 'p'));
    tmp.imm = o->second && o->second->kind != O_SINK ? (int64_t)ref_dest(d, o->second, 'p').off : -1;
    i = emit(d, row->setp, f->insn->line);
    tmp.fn = i->fn;
    tmp.line = i->line;
    *i = tmp;
}

/* imm: what true is */
OP(set_op)
{
    uint32_t *d = ROW_OF(uint32_t, 0), r[2] = {0};
    const struct compare_row *row = i->data;

    row->compare(w, i, r);
    if (i->kind) {
        uint32_t c = *PRED_OF(3);

        c = i->neg ? ~c : c;
        r[0] = combine(i->kind, r[0], c);
        r[1] = combine(i->kind, r[1], c);
    }
    if (i->n == 2) {
        uint32_t lo = (uint32_t)i->imm & 0xffff, hi = (uint32_t)i->imm & 0xffff0000u;

        LOOP(d, , (r[0] >> l & 1 ? lo : 0) | (r[1] >> l & 1 ? hi : 0));
    } else {
        uint32_t yes = (uint32_t)i->imm;

        LOOP(d, , r[0] >> l & 1 ? yes : 0);
    }
    return i + 1;
}

static void set_decode(struct decoder *d, const struct form *f)
{
    struct insn *i, tmp = {0};

    compare_operands(d, f, &tmp);
    insn_src(&tmp, 0, ref_dest(d, operand(d, f, 0), letter_of(f->type)));
    tmp.data = f->row;
    tmp.n = f->source == T_F16X2 || f->source == T_BF16X2 ? 2 : 1;
    tmp.imm = f->type == T_F32      ? 0x3f800000
              : f->type == T_F16    ? 0x3c00
              : f->type == T_BF16   ? 0x3f80
              : f->type == T_F16X2  ? 0x3c003c00
              : f->type == T_BF16X2 ? 0x3f803f80
              : f->type == T_U16 || f->type == T_S16 ? 0xffff : 0xffffffff;
    i = emit(d, set_op, f->insn->line);
    tmp.fn = i->fn;
    tmp.line = i->line;
    *i = tmp;
}

const struct family compare_families[] = {
    {"setp", setp_form, setp_decode, false},
    {"set", set_form, set_decode, false},
    {0},
};
