/* SPDX-License-Identifier: BSD-3-Clause
 * Conversions between all types, with every rounding and saturation. No state. */
#include "opcode.h"

#include <string.h>

static const char *to(const struct insn *in)
{
    return insn_type(in, 1);
}

static const char *from(const struct insn *in)
{
    return insn_type(in, 0);
}

static num_i128 lowest(const char *type)
{
    return type_is_signed(type) ? -((num_i128)1 << (type_bits(type) - 1)) : 0;
}

static num_i128 highest(const char *type)
{
    return ((num_i128)1 << (type_bits(type) - (type_is_signed(type) ? 1 : 0))) - 1;
}

static num_i128 clamp(const char *type, num_i128 v)
{
    return v < lowest(type) ? lowest(type) : v > highest(type) ? highest(type) : v;
}

/* An integer result fills its register: narrow types are extended by their own signedness. */
static void give_int(struct want *w, const char *type, num_i128 v)
{
    int bits = type_bits(type);
    uint64_t low = low_bits((uint64_t)v, bits);

    if (bits < 16 && type_is_signed(type))
        low = low_bits((uint64_t)sign_extend(low, bits), 16);
    want_bits(w, low);
}

static num_i128 int_source(const char *type, uint64_t bits)
{
    return type_is_signed(type) ? (num_i128)sign_extend(bits, type_bits(type)) : (num_i128)bits;
}

static void ref_int_int(const struct insn *in, const uint64_t *s, struct want *w)
{
    num_i128 v = int_source(from(in), s[0]);

    give_int(w, to(in), insn_has(in, "sat") ? clamp(to(in), v) : v);
}

static void ref_int_float(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_result(w, in, num_format_of(to(in)), num_from_int(int_source(from(in), s[0])));
}

static enum num_round int_round(const struct insn *in)
{
    return insn_has(in, "rni")   ? NUM_RN
           : insn_has(in, "rmi") ? NUM_RM
           : insn_has(in, "rpi") ? NUM_RP
                                 : NUM_RZ;
}

/* .ftz concerns single precision only. */
static struct num float_source(const struct insn *in, uint64_t bits)
{
    const struct num_format *f = num_format_of(from(in));

    return f == &num_f32 ? source_num(in, f, bits) : num_decode(f, bits);
}

/* Out of range: the nearest integer of the type, also without .sat. NaN: 0, but the top bit alone
 * where either side has 64 bits. */
static void ref_float_int(const struct insn *in, const uint64_t *s, struct want *w)
{
    struct num x = float_source(in, s[0]);
    int bits = type_bits(to(in));
    num_i128 v;
    bool huge;

    if (x.kind == NUM_NAN) {
        bool top = bits == 64 || strcmp(from(in), "f64") == 0;

        want_bits(w, top ? 1ull << (bits - 1) : 0);
        if (top && bits < 32)
            w->rule = RULE_ANY; /* narrow results of double NaNs: never generated */
        return;
    }
    v = num_to_int(x, int_round(in), &huge);
    if (huge)
        v = x.neg ? lowest(to(in)) : highest(to(in));
    give_int(w, to(in), clamp(to(in), v));
}

/* The largest finite value in place of Inf and of all that overflows. */
static void saturate_finite(struct want *w, const struct num_format *f, struct num x)
{
    struct num r = num_decode(f, w->bits);

    if (w->rule == RULE_BITS && x.kind != NUM_NAN && x.kind != NUM_ZERO &&
        (r.kind == NUM_INF || r.kind == NUM_NAN))
        want_bits(w, num_largest(f, x.neg));
}

static void give_float(const struct insn *in, struct num x, struct want *w)
{
    const struct num_format *f = num_format_of(to(in)), *g = num_format_of(from(in));

    want_result(w, in, f, x);
    if (insn_has(in, "satfinite"))
        saturate_finite(w, f, x);
    /* Which NaN: the canonical one when narrowing to half precision or 8 bits. */
    if (x.kind == NUM_NAN && !insn_has(in, "sat") && (f == g || f == &num_f32 || f == &num_tf32))
        w->rule = RULE_NAN;
}

static void ref_float_float(const struct insn *in, const uint64_t *s, struct want *w)
{
    give_float(in, float_source(in, s[0]), w);
}

/* To an integer in the same format; zeros keep the sign of what they came from. */
static void ref_round(const struct insn *in, const uint64_t *s, struct want *w)
{
    struct num x = float_source(in, s[0]);
    bool huge;

    if (x.kind == NUM_FINITE) {
        num_i128 v = num_to_int(x, int_round(in), &huge);

        if (!huge) {
            bool neg = x.neg;

            x = num_from_int(v);
            x.neg = neg;
        }
    }
    give_float(in, x, w);
}

/* Two f32 sources: the first becomes the upper half. */
static void ref_two(const struct insn *in, const uint64_t *s, struct want *w)
{
    give_float(in, float_source(in, s[1]), &w[0]);
    give_float(in, float_source(in, s[0]), &w[1]);
}

#define INTS  "{u8,s8,u16,s16,u32,s32,u64,s64}"
#define ROUND "{rn,rz,rm,rp}"

static const struct family families[] = {
    {"cvt." INTS "." INTS, "S=T", NULL, ref_int_int, NULL, NULL, 0},
    {"cvt.sat{.u8.s8,.s8.u8}", "S=T", NULL, ref_int_int, NULL, NULL, 0},
    {"cvt.sat.{u8,s8}.{u16,s16,u32,s32,u64,s64}", "S=T", NULL, ref_int_int, NULL, NULL, 0},
    {"cvt.sat{.u16.s8,.u16.s16,.s16.u16}", "S=T", NULL, ref_int_int, NULL, NULL, 0},
    {"cvt.sat.{u16,s16}.{u32,s32,u64,s64}", "S=T", NULL, ref_int_int, NULL, NULL, 0},
    {"cvt.sat{.u32.s8,.u32.s16,.u32.s32,.s32.u32}", "S=T", NULL, ref_int_int, NULL, NULL, 0},
    {"cvt.sat.{u32,s32}.{u64,s64}", "S=T", NULL, ref_int_int, NULL, NULL, 0},
    {"cvt.sat{.u64.s8,.u64.s16,.u64.s32,.u64.s64,.s64.u64}", "S=T", NULL, ref_int_int, NULL, NULL,
     0},
    {"cvt." ROUND "{,.sat}.{f16,f32,f64}." INTS, "S=T", NULL, ref_int_float, NULL, NULL, 0},
    {"cvt." ROUND ".bf16.{u16,s16,u32,s32,u64,s64}", "S=T", NULL, ref_int_float, NULL, NULL, 0},
    {"cvt.{rni,rzi,rmi,rpi}{,.sat}." INTS ".{f16,f32,f64}", "S=T", NULL, ref_float_int, NULL, NULL,
     0},
    {"cvt.{rni,rzi,rmi,rpi}.{u16,s16,u32,s32,u64,s64}.bf16", "S=T", NULL, ref_float_int, NULL, NULL,
     0},
    {"cvt.{rni,rzi,rmi,rpi}.ftz{,.sat}." INTS ".f32", "S=T", NULL, ref_float_int, NULL, NULL, 0},
    {"cvt{,.ftz}{,.sat}.f32.{f16,f32}", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.f32.bf16", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt{,.sat}.f64.{f16,f64}", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt{,.ftz}{,.sat}.f64.f32", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.f64.bf16", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt." ROUND "{,.ftz}{,.sat}.f32.f64", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt." ROUND "{,.ftz}{,.sat}.f16.f32", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt." ROUND "{,.sat}.f16.f64", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.{rn,rz}{,.relu}.f16.f32", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt." ROUND ".bf16.{f16,f64}", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt." ROUND ".f16.bf16", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.{rn,rz}{,.relu}.bf16.f32", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.{rm,rp}.bf16.f32", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.f32.f32", "S=T", NULL, ref_round, NULL, NULL, 0},
    {"cvt.{rni,rzi,rmi,rpi}{,.sat}.{f16.f16,f64.f64}", "S=T", NULL, ref_round, NULL, NULL, 0},
    {"cvt.{rni,rzi,rmi,rpi}.bf16.bf16", "S=T", NULL, ref_round, NULL, NULL, 0},
    {"cvt.{rn,rz}{,.relu}.{f16x2,bf16x2}.f32", "S=T,T", NULL, ref_two, NULL, NULL, OP_HALVES},
    {"cvt.rna{,.satfinite}.tf32.f32", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.{rn,rz}{,.relu}.tf32.f32", "S=T", NULL, ref_float_float, NULL, NULL, 0},
    {"cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32", "S=T,T", NULL, ref_two, NULL, NULL, OP_HALVES},
    {"cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2", "S=T", NULL, ref_float_float, NULL, NULL,
     OP_HALVES},
    {"cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2}", "S=T", NULL, ref_float_float, NULL, NULL, OP_HALVES},
};

TABLE(table_cvt, families);
