/* SPDX-License-Identifier: BSD-3-Clause
 * Conversions: cvt. One general operation goes through a wide integer or a double, which hold every
 * source exactly but 64-bit integers as floats, and rounds once; the common ones have loops of their
 * own. Rounding to an integer saturates; NaN gives 0, or the most negative value from or to 64 bits. */
#include "decode.h"
#include "fp.h"

#include <math.h>

enum { C_FTZ = 1, C_SAT = 2, C_RELU = 4, C_SATFINITE = 8, C_INT = 16 /* .rni and its like */ };

struct conversion {
    enum ptx_type to, from;
    char mode; /* n, z, m, p, a */
    unsigned flags;
};

static bool is_float(enum ptx_type t)
{
    return t == T_F16 || t == T_BF16 || t == T_F32 || t == T_F64;
}

static bool is_signed(enum ptx_type t)
{
    return t >= T_S8 && t <= T_S64;
}

static double to_integral(double v, char mode)
{
    switch (mode) {
    case 'z': return trunc(v);
    case 'm': return floor(v);
    case 'p': return ceil(v);
    default: return rint(v);
    }
}

/* A 64-bit integer to a float of `digits`, rounded once: the bits that a double can't hold become
 * a sticky bit, which is below the last place of any narrower format. */
static double int_to_double(uint64_t magnitude, bool neg, int digits, char mode)
{
    double d;

    if (digits < 53 && magnitude >> 53) {
        int drop = 64 - __builtin_clzll(magnitude) - 53;
        bool sticky = magnitude & (((uint64_t)1 << drop) - 1);

        d = ldexp((double)((magnitude >> drop) | sticky), drop);
    } else if (magnitude >> 53) {
        int drop = 64 - __builtin_clzll(magnitude) - 53;
        uint64_t low = magnitude & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);
        uint64_t keep = magnitude >> drop;
        bool up = mode == 'n'   ? low > half || (low == half && keep & 1)
                  : mode == 'p' ? low && !neg
                  : mode == 'm' ? low && neg : false;

        d = ldexp((double)(keep + up), drop);
    } else {
        d = (double)magnitude;
    }
    return neg ? -d : d;
}

static double read_float(uint64_t raw, enum ptx_type t)
{
    switch (t) {
    case T_F16: return (double)f16_to_f32((uint32_t)raw & 0xffff);
    case T_BF16: return (double)bf16_to_f32((uint32_t)raw & 0xffff);
    case T_F32: return (double)f32_from((uint32_t)raw);
    default: return f64_from(raw);
    }
}

static int digits_of(enum ptx_type t)
{
    return t == T_F16 ? 11 : t == T_BF16 ? 8 : t == T_F32 ? 24 : 53;
}

static uint32_t double_to_f32(double d, char mode)
{
    double r = f64_round_to(d, 24, -126, mode);
    uint32_t sign = (uint32_t)(f64_bits(d) >> 32 & 0x80000000u);
    bool inf;

    if (d != d)
        return F32_NAN;
    if (fabs(r) <= 0x1.fffffep127)
        return f32_bits((float)r);
    inf = isinf(d) || mode == 'n' || mode == 'a' || (mode == 'p' && !sign) || (mode == 'm' && sign);
    return sign | (inf ? 0x7f800000u : 0x7f7fffffu);
}

static uint64_t write_float(double d, const struct conversion *c)
{
    uint64_t r;

    if (c->flags & C_SAT)
        d = f64_saturate(d);
    if (c->flags & C_RELU)
        d = d != d ? d : d > 0.0 ? d : 0.0;
    if (c->flags & C_SATFINITE) {
        double max = c->to == T_F16 ? 65504.0 : 0x1.fep127;

        d = d > max ? max : d < -max ? -max : d;
    }
    switch (c->to) {
    case T_F16: return f64_to_f16(d, c->mode);
    case T_BF16: return f64_to_bf16(d, c->mode);
    case T_F32:
        r = double_to_f32(d, c->mode);
        return c->flags & C_FTZ ? f32_bits(f32_flush(f32_from((uint32_t)r))) : r;
    default: return d != d ? (uint64_t)0xfff8 << 48 : f64_bits(d);
    }
}

static uint64_t float_to_int(double d, const struct conversion *c)
{
    unsigned bits = 8 * ptx_type_bytes(c->to);
    bool wide = c->from == T_F64 || bits == 64;
    double r = to_integral(d, c->mode);

    if (d != d)
        return wide ? (uint64_t)1 << (bits - 1) : 0;
    if (is_signed(c->to)) {
        double top = ldexp(1.0, (int)bits - 1);

        if (r >= top)
            return ((uint64_t)1 << (bits - 1)) - 1;
        return r < -top ? (uint64_t)1 << (bits - 1) : (uint64_t)(int64_t)r;
    }
    if (r >= ldexp(1.0, (int)bits))
        return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return r <= 0.0 ? 0 : (uint64_t)r;
}

static uint64_t int_to_int(uint64_t v, const struct conversion *c)
{
    unsigned bits = 8 * ptx_type_bytes(c->to);
    uint64_t top = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;

    if (!(c->flags & C_SAT))
        return v;
    if (is_signed(c->from)) {
        int64_t s = (int64_t)v, lo = is_signed(c->to) ? -(int64_t)(top >> 1) - 1 : 0;

        if (s < lo)
            return (uint64_t)lo;
        top = is_signed(c->to) || bits == 64 ? top >> 1 : top;
        return s > (int64_t)top ? top : v;
    }
    top = is_signed(c->to) ? top >> 1 : top;
    return v > top ? top : v;
}

/* One value, raw bits in and out; what is above the destination's width is cut by the caller. */
static uint64_t convert(uint64_t raw, const struct conversion *c)
{
    unsigned bits = 8 * ptx_type_bytes(c->from);
    double d;

    if (!is_float(c->from)) {
        uint64_t v = raw << (64 - bits);

        v = is_signed(c->from) ? (uint64_t)((int64_t)v >> (64 - bits)) : v >> (64 - bits);
        if (!is_float(c->to))
            return int_to_int(v, c);
        if (is_signed(c->from) && (int64_t)v < 0)
            return write_float(int_to_double(0 - v, true, digits_of(c->to), c->mode), c);
        return write_float(int_to_double(v, false, digits_of(c->to), c->mode), c);
    }
    d = read_float(raw, c->from);
    if (c->flags & C_FTZ && c->from == T_F32)
        d = (double)f32_flush((float)d);
    if (!is_float(c->to))
        return float_to_int(d, c);
    if (c->flags & C_INT)
        d = to_integral(d, c->mode);
    return write_float(d, c);
}

OP(convert_op)
{
    const struct conversion *c = i->data;
    unsigned in = i->n, out = i->size, bits = 8 * ptx_type_bytes(c->to);
    char *d = w->base[BASE_FRAME] + i->off[0];
    const char *a = w->base[i->base[1]] + i->off[1];

    EACH_SET(w->mask) {
        uint64_t raw = 0, r;

        memcpy(&raw, a + l * in, in);
        r = convert(raw, c);
        /* into a wider register: extended by the destination type's sign */
        if (bits < 8 * out)
            r = is_signed(c->to) && bits < 64 && !is_float(c->to) && out * 8 > bits && i->kind
                    ? (uint64_t)((int64_t)(r << (64 - bits)) >> (64 - bits))
                    : r & (((uint64_t)1 << bits) - 1);
        memcpy(d + l * out, &r, out);
    }
    return i + 1;
}

static inline uint64_t f64_integral(double d)
{
    return d != d ? (uint64_t)0xfff8 << 48 : f64_bits(d);
}

/* The common conversions. */
OP1(u32_to_u64, uint64_t, uint32_t, x)
OP1(s32_to_s64, uint64_t, int32_t, (uint64_t)(int64_t)x)
OP1(b64_to_b32, uint32_t, uint64_t, (uint32_t)x)
OP1(b32_copy, uint32_t, uint32_t, x)
OP1(b64_copy, uint64_t, uint64_t, x)
OP1(to_u16, uint32_t, uint32_t, (uint16_t)x)
OP1(to_u8, uint32_t, uint32_t, (uint8_t)x)
OP1(b64_to_u16, uint32_t, uint64_t, (uint16_t)x)
OP1(s16_to_s32, uint32_t, uint32_t, (uint32_t)(int16_t)x)
OP1(s8_to_s32, uint32_t, uint32_t, (uint32_t)(int8_t)x)
OP1(s8_to_s16, uint32_t, uint32_t, (uint16_t)(int8_t)x)
OP1(s32_to_f32, uint32_t, int32_t, f32_bits((float)x))
OP1(u32_to_f32, uint32_t, uint32_t, f32_bits((float)x))
OP1(s32_to_f64, uint64_t, int32_t, f64_bits((double)x))
OP1(u32_to_f64, uint64_t, uint32_t, f64_bits((double)x))
OP1(f32_to_f64, uint64_t, float, f64_bits((double)x))
OP1(f64_to_f32, uint32_t, double, f32_result((float)x))
OP1(f32_to_f16_rn, uint32_t, float, f32_to_f16(x))
OP1(f16_to_f32_op, uint32_t, uint32_t, f32_result(f16_to_f32(x & 0xffff)))
OP1(f32_to_bf16_rn, uint32_t, float, f32_to_bf16(x))
OP1(bf16_to_f32_op, uint32_t, uint32_t, f32_result(bf16_to_f32(x & 0xffff)))

/* toward zero, saturating; the limits are exact as floats */
static inline uint32_t f32_to_s32(float x)
{
    int32_t r = x >= 0x1p31f || x < -0x1p31f || x != x ? 0 : (int32_t)x;

    return x >= 0x1p31f ? 0x7fffffffu : x < -0x1p31f ? 0x80000000u : (uint32_t)r;
}
OP1(f32_to_s32_rz, uint32_t, float, f32_to_s32(x))
OP1(f32_to_s32_rn, uint32_t, float, f32_to_s32(__builtin_rintf(x)))
OP1(f32_to_s32_rm, uint32_t, float, f32_to_s32(__builtin_floorf(x)))
OP1(f32_to_s32_rp, uint32_t, float, f32_to_s32(__builtin_ceilf(x)))
OP1(f32_to_s32_rz_ftz, uint32_t, float, f32_to_s32(f32_flush(x)))
OP1(f32_to_s32_rn_ftz, uint32_t, float, f32_to_s32(__builtin_rintf(f32_flush(x))))

static inline uint32_t f32_to_u32(float x)
{
    int64_t r = x >= 0x1p32f || x <= 0.0f || x != x ? 0 : (int64_t)x;

    return x >= 0x1p32f ? 0xffffffffu : (uint32_t)r;
}
OP1(f32_to_u32_rz, uint32_t, float, f32_to_u32(x))

static inline uint32_t f64_to_s32(double x)
{
    int32_t r = x >= 0x1p31 || x < -0x1p31 || x != x ? 0 : (int32_t)x;

    return x != x ? 0x80000000u : x >= 0x1p31 ? 0x7fffffffu : x < -0x1p31 ? 0x80000000u : (uint32_t)r;
}
OP1(f64_to_s32_rn, uint32_t, double, f64_to_s32(__builtin_rint(x)))
OP1(f64_rint, uint64_t, double, f64_integral(__builtin_rint(x)))
OP1(f64_trunc, uint64_t, double, f64_integral(__builtin_trunc(x)))
OP1(f64_floor, uint64_t, double, f64_integral(__builtin_floor(x)))
OP1(f32_sat, uint32_t, float, f32_bits(f32_saturate(x)))
OP1(f32_sat_ftz, uint32_t, float, f32_bits(f32_saturate(f32_flush(x))))
OP1(f32_ftz, uint32_t, float, f32_result(f32_flush(x)))
OP1(f32_rint, uint32_t, float, f32_result(__builtin_rintf(x)))
OP1(f32_floor, uint32_t, float, f32_result(__builtin_floorf(x)))
OP1(f32_ceil, uint32_t, float, f32_result(__builtin_ceilf(x)))
OP1(f32_trunc, uint32_t, float, f32_result(__builtin_truncf(x)))

static const struct {
    const char *name;
    op_fn fn;
} fast[] = {
    {"cvt.u64.u32", u32_to_u64}, {"cvt.s64.u32", u32_to_u64}, {"cvt.s64.s32", s32_to_s64},
    {"cvt.u64.s32", s32_to_s64}, {"cvt.u32.u64", b64_to_b32}, {"cvt.s32.s64", b64_to_b32},
    {"cvt.u32.s64", b64_to_b32}, {"cvt.s32.u64", b64_to_b32}, {"cvt.u32.u32", b32_copy},
    {"cvt.s32.s32", b32_copy}, {"cvt.u32.s32", b32_copy}, {"cvt.s32.u32", b32_copy},
    {"cvt.u64.u64", b64_copy}, {"cvt.s64.s64", b64_copy}, {"cvt.u32.u16", to_u16},
    {"cvt.s32.u16", to_u16}, {"cvt.u16.u32", to_u16}, {"cvt.s16.s32", to_u16},
    {"cvt.u16.s32", to_u16}, {"cvt.s16.u32", to_u16}, {"cvt.u16.u16", to_u16},
    {"cvt.u32.u8", to_u8}, {"cvt.u16.u8", to_u8}, {"cvt.s16.u8", to_u8}, {"cvt.s32.u8", to_u8},
    {"cvt.s32.s16", s16_to_s32}, {"cvt.u32.s16", s16_to_s32}, {"cvt.s32.s8", s8_to_s32},
    {"cvt.u32.s8", s8_to_s32}, {"cvt.s16.s8", s8_to_s16}, {"cvt.u16.s8", s8_to_s16},
    {"cvt.rn.f32.s32", s32_to_f32}, {"cvt.rn.f32.u32", u32_to_f32}, {"cvt.rn.f64.s32", s32_to_f64},
    {"cvt.rn.f64.u32", u32_to_f64}, {"cvt.f64.f32", f32_to_f64}, {"cvt.rn.f32.f64", f64_to_f32},
    {"cvt.rn.f16.f32", f32_to_f16_rn}, {"cvt.f32.f16", f16_to_f32_op},
    {"cvt.rn.bf16.f32", f32_to_bf16_rn}, {"cvt.f32.bf16", bf16_to_f32_op},
    {"cvt.rzi.s32.f32", f32_to_s32_rz}, {"cvt.rni.s32.f32", f32_to_s32_rn},
    {"cvt.rmi.s32.f32", f32_to_s32_rm}, {"cvt.rpi.s32.f32", f32_to_s32_rp},
    {"cvt.rzi.ftz.s32.f32", f32_to_s32_rz_ftz}, {"cvt.rni.ftz.s32.f32", f32_to_s32_rn_ftz},
    {"cvt.rzi.u32.f32", f32_to_u32_rz}, {"cvt.rni.s32.f64", f64_to_s32_rn},
    {"cvt.rni.f64.f64", f64_rint}, {"cvt.rzi.f64.f64", f64_trunc}, {"cvt.rmi.f64.f64", f64_floor},
    {"cvt.sat.f32.f32", f32_sat}, {"cvt.ftz.sat.f32.f32", f32_sat_ftz},
    {"cvt.ftz.f32.f32", f32_ftz}, {"cvt.u16.u64", b64_to_u16}, {"cvt.rni.f32.f32", f32_rint},
    {"cvt.rmi.f32.f32", f32_floor}, {"cvt.rpi.f32.f32", f32_ceil}, {"cvt.rzi.f32.f32", f32_trunc},
};

static op_fn fast_find(const char *mnemonic)
{
    for (size_t k = 0; k < sizeof fast / sizeof *fast; k++)
        if (strcmp(fast[k].name, mnemonic) == 0)
            return fast[k].fn;
    return NULL;
}

/* Rounding is asked for exactly where a conversion may be inexact. */
static bool cvt_exists(const struct form *f)
{
    bool from = is_float(f->source), to = is_float(f->type), integral = f->flags & C_INT;
    unsigned in = ptx_type_bytes(f->source), out = ptx_type_bytes(f->type);
    bool in_int = f->source >= T_U8 && f->source <= T_S64, to_int = f->type >= T_U8 && f->type <= T_S64;

    if (!(from || in_int) || !(to || to_int) || f->kind == 'a')
        return false;
    if (f->flags & (C_RELU | C_SATFINITE) && !(from && (f->type == T_F16 || f->type == T_BF16)))
        return false;
    if (f->flags & C_FTZ && f->source != T_F32 && f->type != T_F32)
        return false;
    if (from && to_int)
        return integral;
    if (in_int && to)
        return f->n && !integral;
    if (in_int)
        return !f->n;
    if (f->source == f->type)
        return integral || !f->n;
    /* between formats: widening is exact */
    if (out > in || (f->source == T_BF16 && f->type == T_F32))
        return !f->n;
    return f->n && !integral;
}

static bool cvt_form(struct form *f)
{
    static const char *const ints[] = {"rni", "rzi", "rmi", "rpi", NULL};
    static const char *const floats[] = {"rn", "rz", "rm", "rp", "rna", NULL};
    static const char modes[] = "nzmpa";
    int k;

    if (packed_form(f))
        return true;
    f->used = 0;
    f->flags = 0;
    f->kind = 'n';
    k = form_one(f, ints);
    if (k >= 0) {
        f->kind = (unsigned char)modes[k];
        f->flags |= C_INT;
    } else if ((k = form_one(f, floats)) >= 0) {
        f->kind = (unsigned char)modes[k];
    }
    f->n = k >= 0; /* a mode is given */
    f->flags |= form_take(f, "ftz") ? C_FTZ : 0;
    f->flags |= form_take(f, "relu") ? C_RELU : 0;
    f->flags |= form_take(f, "satfinite") ? C_SATFINITE : 0;
    f->flags |= form_take(f, "sat") ? C_SAT : 0;
    f->type = form_type(f);
    f->source = form_type(f);
    if (!form_done(f))
        return false;
    return cvt_exists(f);
}

static void cvt_decode(struct decoder *d, const struct form *f)
{
    const struct ptx_operand *from = operand(d, f, 1), *to = operand(d, f, 0);
    unsigned in, out;
    struct conversion *c;
    struct ref src, dest;
    struct insn *i;
    op_fn fn;

    if (f->row) {
        packed_decode(d, f);
        return;
    }
    if (f->insn->n != 2)
        loader_fail(d->ld, f->insn->line, "%s has two operands", f->insn->mnemonic);
    in = from->kind == O_REG ? reg_width(d, from->reg) : ptx_type_bytes(f->source) == 8 ? 8 : 4;
    out = to->kind == O_REG ? reg_width(d, to->reg) : 4;
    src = ref_source(d, from, from->kind == O_REG ? (in == 8 ? 'q' : 'r') : letter_of(f->source));
    dest = ref_dest(d, to, out == 8 ? 'q' : 'r');
    if (in < ptx_type_bytes(f->source) || out < ptx_type_bytes(f->type))
        loader_fail(d->ld, f->insn->line, "%s: register is too small", f->insn->mnemonic);
    /* registers wider than the types need the general form */
    fn = (ptx_type_bytes(f->source) == 8) == (in == 8) && (ptx_type_bytes(f->type) == 8) == (out == 8)
             ? fast_find(f->insn->mnemonic) : NULL;
    if (fn) {
        i = emit(d, fn, f->insn->line);
        insn_src(i, 0, dest);
        insn_src(i, 1, src);
        return;
    }
    c = keep(d, sizeof *c);
    *c = (struct conversion){f->type, f->source, (char)f->kind, f->flags};
    i = emit(d, convert_op, f->insn->line);
    insn_src(i, 0, dest);
    insn_src(i, 1, src);
    i->data = c;
    i->n = (uint8_t)in;
    i->size = (uint8_t)out;
    i->kind = to->kind == O_REG && ptx_type_bytes(d->func->reg[to->reg]) > ptx_type_bytes(f->type);
}

const struct family convert_families[] = {
    {"cvt", cvt_form, cvt_decode, false},
    {0},
};
