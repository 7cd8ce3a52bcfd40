/* SPDX-License-Identifier: BSD-3-Clause
 * Integer arithmetic: what each instruction must give, in 128-bit integers. No state. */
#include "opcode.h"

#include <string.h>

/* A source by the instruction's type, as a mathematical integer. */
static num_i128 value(const struct insn *in, uint64_t bits)
{
    const char *type = insn_type(in, 0);

    if (type_is_pair(type)) /* a half of u16x2, s16x2 */
        return type_is_signed(type) ? (num_i128)sign_extend(bits, 16) : (num_i128)bits;
    return type_is_signed(type) ? (num_i128)sign_extend(bits, type_bits(type)) : (num_i128)bits;
}

static int width(const struct insn *in)
{
    const char *type = insn_type(in, 0);

    return type_is_pair(type) ? 16 : type_bits(type);
}

static void give(struct want *w, const struct insn *in, num_i128 v)
{
    /* .sat exists for s32 only */
    if (insn_has(in, "sat"))
        v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    want_bits(w, low_bits((uint64_t)v, width(in)));
}

static void ref_add(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, value(in, s[0]) + value(in, s[1]));
}

static void ref_sub(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, value(in, s[0]) - value(in, s[1]));
}

/* The part of the product that .lo, .hi and .wide name. */
static num_i128 product(const struct insn *in, const uint64_t *s)
{
    num_i128 p;

    if (width(in) == 64 && !type_is_signed(insn_type(in, 0))) {
        num_u128 u = (num_u128)s[0] * s[1];

        return insn_has(in, "hi") ? (num_i128)(u >> 64) : (num_i128)(uint64_t)u;
    }
    p = value(in, s[0]) * value(in, s[1]);
    return insn_has(in, "hi") ? p >> width(in) : p;
}

static void ref_mul(const struct insn *in, const uint64_t *s, struct want *w)
{
    if (insn_has(in, "wide"))
        want_bits(w, low_bits((uint64_t)product(in, s), 2 * width(in)));
    else
        give(w, in, product(in, s));
}

static void ref_mad(const struct insn *in, const uint64_t *s, struct want *w)
{
    if (insn_has(in, "wide"))
        want_bits(w, low_bits((uint64_t)product(in, s) + s[2], 2 * width(in)));
    else
        give(w, in, product(in, s) + value(in, s[2]));
}

/* 24-bit operands: .lo is the product's bits 31..0, .hi its bits 47..16. */
static num_i128 product24(const struct insn *in, const uint64_t *s)
{
    bool is_signed = type_is_signed(insn_type(in, 0));
    num_i128 p = is_signed ? (num_i128)sign_extend(s[0], 24) * sign_extend(s[1], 24)
                           : (num_i128)low_bits(s[0], 24) * (num_i128)low_bits(s[1], 24);

    p = insn_has(in, "hi") ? p >> 16 : p;
    return is_signed ? sign_extend((uint64_t)p, 32) : (num_i128)low_bits((uint64_t)p, 32);
}

static void ref_mul24(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, product24(in, s));
}

static void ref_mad24(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, product24(in, s) + value(in, s[2]));
}

static void ref_sad(const struct insn *in, const uint64_t *s, struct want *w)
{
    num_i128 d = value(in, s[0]) - value(in, s[1]);

    give(w, in, (num_i128)s[2] + (d < 0 ? -d : d));
}

/* Division by zero gives an unspecified value, and so does the most negative number by -1. */
static bool undefined_quotient(const struct insn *in, const uint64_t *s)
{
    return value(in, s[1]) == 0 || (type_is_signed(insn_type(in, 0)) && value(in, s[1]) == -1 &&
                                    s[0] == 1ull << (width(in) - 1));
}

static void ref_div(const struct insn *in, const uint64_t *s, struct want *w)
{
    if (undefined_quotient(in, s))
        w->rule = RULE_ANY;
    else
        give(w, in, value(in, s[0]) / value(in, s[1]));
}

static void ref_rem(const struct insn *in, const uint64_t *s, struct want *w)
{
    if (undefined_quotient(in, s))
        w->rule = RULE_ANY;
    else
        give(w, in, value(in, s[0]) % value(in, s[1]));
}

static void ref_abs(const struct insn *in, const uint64_t *s, struct want *w)
{
    num_i128 v = value(in, s[0]);

    give(w, in, v < 0 ? -v : v);
}

static void ref_neg(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, -value(in, s[0]));
}

static void give_relu(struct want *w, const struct insn *in, num_i128 v)
{
    give(w, in, insn_has(in, "relu") && v < 0 ? 0 : v);
}

static void ref_min(const struct insn *in, const uint64_t *s, struct want *w)
{
    num_i128 a = value(in, s[0]), b = value(in, s[1]);

    give_relu(w, in, a < b ? a : b);
}

static void ref_max(const struct insn *in, const uint64_t *s, struct want *w)
{
    num_i128 a = value(in, s[0]), b = value(in, s[1]);

    give_relu(w, in, a > b ? a : b);
}

/* Carry chains. Source c sets the carry before the instruction where it is not 0; destination e
 * is the carry after it: unchanged without .cc. */
static void give_carry(const struct insn *in, const uint64_t *s, struct want *w, num_u128 sum,
                       int carry_in)
{
    int bits = width(in);

    want_bits(&w[0], low_bits((uint64_t)sum, bits));
    want_bits(&w[1], insn_has(in, "cc") ? (uint64_t)(sum >> bits) & 1 : (uint64_t)carry_in);
    (void)s;
}

static void ref_add_carry(const struct insn *in, const uint64_t *s, struct want *w)
{
    int carry = strcmp(in->op, "addc") == 0 && s[2];

    give_carry(in, s, w, (num_u128)s[0] + s[1] + (unsigned)carry, s[2] != 0);
}

static void ref_sub_carry(const struct insn *in, const uint64_t *s, struct want *w)
{
    int borrow = strcmp(in->op, "subc") == 0 && s[2];
    num_u128 sum = (num_u128)s[0] - s[1] - (unsigned)borrow;
    int after = insn_has(in, "cc") ? (int)(sum >> 127) : s[2] != 0;

    want_bits(&w[0], low_bits((uint64_t)sum, width(in)));
    want_bits(&w[1], low_bits(0 - (uint64_t)after, width(in)));
}

static void ref_mad_carry(const struct insn *in, const uint64_t *s, struct want *w)
{
    int carry = strcmp(in->op, "madc") == 0 && s[3];
    num_u128 sum = (num_u128)low_bits((uint64_t)product(in, s), width(in)) + s[2] + (unsigned)carry;

    give_carry(in, s, w, sum, s[3] != 0);
}

/* Four products of bytes, or two of a 16-bit number and a byte, added to c. The first type is a's,
 * the second b's. */
static void ref_dot(const struct insn *in, const uint64_t *s, struct want *w)
{
    bool a_signed = type_is_signed(insn_type(in, 1)), b_signed = type_is_signed(insn_type(in, 0));
    bool four = strcmp(in->op, "dp4a") == 0;
    int a_bits = four ? 8 : 16, n = four ? 4 : 2, first = !four && insn_has(in, "hi") ? 2 : 0;
    int64_t sum = (int64_t)s[2];

    for (int i = 0; i < n; i++) {
        uint64_t a = low_bits(s[0] >> i * a_bits, a_bits), b = low_bits(s[1] >> (first + i) * 8, 8);

        sum += (a_signed ? sign_extend(a, a_bits) : (int64_t)a) *
               (b_signed ? sign_extend(b, 8) : (int64_t)b);
    }
    want_bits(w, low_bits((uint64_t)sum, 32));
}

/* Distances of the four bytes or two halves; .add: their sum and c. */
static void ref_distance(const struct insn *in, const uint64_t *s, struct want *w)
{
    int bits = strcmp(in->op, "vabsdiff4") == 0 ? 8 : 16;
    uint64_t parts = 0, sum = s[2];

    for (int at = 0; at < 32; at += bits) {
        int64_t d = (int64_t)low_bits(s[0] >> at, bits) - (int64_t)low_bits(s[1] >> at, bits);
        uint64_t distance = (uint64_t)(d < 0 ? -d : d);

        parts |= distance << at;
        sum += distance;
    }
    want_bits(w, insn_has(in, "add") ? low_bits(sum, 32) : parts);
}

#define INTS "{u16,s16,u32,s32,u64,s64}"

static const struct family families[] = {
    {"add." INTS, "T=T,T", NULL, ref_add, NULL, NULL, 0},
    {"add.sat.s32", "T=T,T", NULL, ref_add, NULL, NULL, 0},
    {"add.{u16x2,s16x2}", "T=T,T", NULL, ref_add, NULL, NULL, OP_HALVES},
    {"sub." INTS, "T=T,T", NULL, ref_sub, NULL, NULL, 0},
    {"sub.sat.s32", "T=T,T", NULL, ref_sub, NULL, NULL, 0},
    {"mul.{lo,hi}." INTS, "T=T,T", NULL, ref_mul, NULL, NULL, 0},
    {"mul.wide.{u16,s16,u32,s32}", "W=T,T", NULL, ref_mul, NULL, NULL, 0},
    {"mad.{lo,hi}." INTS, "T=T,T,T", NULL, ref_mad, NULL, NULL, 0},
    {"mad.hi.sat.s32", "T=T,T,T", NULL, ref_mad, NULL, NULL, 0},
    {"mad.wide.{u16,s16,u32,s32}", "W=T,T,W", NULL, ref_mad, NULL, NULL, 0},
    {"mul24.{lo,hi}.{u32,s32}", "T=T,T", NULL, ref_mul24, NULL, NULL, 0},
    {"mad24.{lo,hi}.{u32,s32}", "T=T,T,T", NULL, ref_mad24, NULL, NULL, 0},
    {"mad24.hi.sat.s32", "T=T,T,T", NULL, ref_mad24, NULL, NULL, 0},
    {"sad." INTS, "T=T,T,T", NULL, ref_sad, NULL, NULL, 0},
    {"div." INTS, "T=T,T", NULL, ref_div, NULL, NULL, 0},
    {"rem." INTS, "T=T,T", NULL, ref_rem, NULL, NULL, 0},
    {"abs.{s16,s32,s64}", "T=T", NULL, ref_abs, NULL, NULL, 0},
    {"neg.{s16,s32,s64}", "T=T", NULL, ref_neg, NULL, NULL, 0},
    {"min." INTS, "T=T,T", NULL, ref_min, NULL, NULL, 0},
    {"max." INTS, "T=T,T", NULL, ref_max, NULL, NULL, 0},
    {"min.relu.s32", "T=T,T", NULL, ref_min, NULL, NULL, 0},
    {"max.relu.s32", "T=T,T", NULL, ref_max, NULL, NULL, 0},
    {"min.s32.relu", "T=T,T", NULL, ref_min, NULL, NULL, 0}, /* as the compiler writes it */
    {"max.s32.relu", "T=T,T", NULL, ref_max, NULL, NULL, 0},
    {"min.s16x2.relu", "T=T,T", NULL, ref_min, NULL, NULL, OP_HALVES},
    {"max.s16x2.relu", "T=T,T", NULL, ref_max, NULL, NULL, OP_HALVES},
    {"min{.u16x2,.s16x2,.relu.s16x2}", "T=T,T", NULL, ref_min, NULL, NULL, OP_HALVES},
    {"max{.u16x2,.s16x2,.relu.s16x2}", "T=T,T", NULL, ref_max, NULL, NULL, OP_HALVES},

    {"add.cc.{u32,s32}", "T,T=T,T,T", "$n $d, $a, $b; addc.u32 $e, 0, 0;", ref_add_carry, NULL,
     NULL, OP_NO_GUARD},
    {"add.cc.{u64,s64}", "T,T=T,T,T", "$n $d, $a, $b; addc.u64 $e, 0, 0;", ref_add_carry, NULL,
     NULL, OP_NO_GUARD},
    {"addc{.cc,}.{u32,s32}", "T,T=T,T,T",
     "add.cc.u32 $u, $c, 0xffffffff; $n $d, $a, $b; addc.u32 $e, 0, 0;", ref_add_carry, NULL, NULL,
     OP_NO_GUARD},
    {"addc{.cc,}.{u64,s64}", "T,T=T,T,T",
     "add.cc.u64 $t, $c, 0xffffffffffffffff; $n $d, $a, $b; addc.u64 $e, 0, 0;", ref_add_carry,
     NULL, NULL, OP_NO_GUARD},
    {"sub.cc.{u32,s32}", "T,T=T,T,T", "$n $d, $a, $b; subc.u32 $e, 0, 0;", ref_sub_carry, NULL,
     NULL, OP_NO_GUARD},
    {"sub.cc.{u64,s64}", "T,T=T,T,T", "$n $d, $a, $b; subc.u64 $e, 0, 0;", ref_sub_carry, NULL,
     NULL, OP_NO_GUARD},
    {"subc{.cc,}.{u32,s32}", "T,T=T,T,T", "sub.cc.u32 $u, 0, $c; $n $d, $a, $b; subc.u32 $e, 0, 0;",
     ref_sub_carry, NULL, NULL, OP_NO_GUARD},
    {"subc{.cc,}.{u64,s64}", "T,T=T,T,T", "sub.cc.u64 $t, 0, $c; $n $d, $a, $b; subc.u64 $e, 0, 0;",
     ref_sub_carry, NULL, NULL, OP_NO_GUARD},
    {"mad.{lo,hi}.cc.{u32,s32}", "T,T=T,T,T,T", "$n $d, $a, $b, $c; addc.u32 $e, 0, 0;",
     ref_mad_carry, NULL, NULL, OP_NO_GUARD},
    {"mad.{lo,hi}.cc.{u64,s64}", "T,T=T,T,T,T", "$n $d, $a, $b, $c; addc.u64 $e, 0, 0;",
     ref_mad_carry, NULL, NULL, OP_NO_GUARD},
    {"madc.{lo,hi}{.cc,}.{u32,s32}", "T,T=T,T,T,T",
     "add.cc.u32 $u, $x, 0xffffffff; $n $d, $a, $b, $c; addc.u32 $e, 0, 0;", ref_mad_carry, NULL,
     NULL, OP_NO_GUARD},
    {"madc.{lo,hi}{.cc,}.{u64,s64}", "T,T=T,T,T,T",
     "add.cc.u64 $t, $x, 0xffffffffffffffff; $n $d, $a, $b, $c; addc.u64 $e, 0, 0;", ref_mad_carry,
     NULL, NULL, OP_NO_GUARD},

    {"dp4a.{u32,s32}.{u32,s32}", "b32=b32,b32,b32", NULL, ref_dot, NULL, NULL, 0},
    {"vabsdiff{2,4}.u32.u32.u32{,.add}", "u32=u32,u32,u32", NULL, ref_distance, NULL, NULL,
     OP_NO_IMM},
    {"dp2a.{lo,hi}.{u32,s32}.{u32,s32}", "b32=b32,b32,b32", NULL, ref_dot, NULL, NULL, 0},
};

TABLE(table_int, families);
