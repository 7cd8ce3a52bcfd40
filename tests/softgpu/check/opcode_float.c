/* SPDX-License-Identifier: BSD-3-Clause
 * Exact floating-point arithmetic in f32 and f64, f16 and bf16: sums, products, quotients and roots
 * rounded as the instruction says, minima, signs and tests. No state. */
#include "opcode.h"

#include <string.h>

static const struct num_format *format(const struct insn *in)
{
    return num_format_of(insn_type(in, 0));
}

static struct num source(const struct insn *in, uint64_t bits)
{
    return source_num(in, format(in), bits);
}

/* NaN results: single precision 0x7fffffff, f16 and bf16 0x7fff whatever the operands hold. */
static void ref_add(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_result(w, in, format(in), num_add(source(in, s[0]), source(in, s[1]), insn_round(in)));
}

static void ref_sub(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_result(w, in, format(in),
                num_add(source(in, s[0]), num_negate(source(in, s[1])), insn_round(in)));
}

static void ref_mul(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_result(w, in, format(in), num_mul(source(in, s[0]), source(in, s[1])));
}

/* fma, and mad of floating-point types: one rounding. */
static void ref_fma(const struct insn *in, const uint64_t *s, struct want *w)
{
    struct num p = num_mul(source(in, s[0]), source(in, s[1]));

    want_result(w, in, format(in), num_add(p, source(in, s[2]), insn_round(in)));
}

static void ref_div(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_result(w, in, format(in), num_div(source(in, s[0]), source(in, s[1])));
}

static void ref_rcp(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_result(w, in, format(in), num_div(num_from_int(1), source(in, s[0])));
}

static void ref_sqrt(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_result(w, in, format(in), num_sqrt(source(in, s[0])));
}

/* Sign operations: a NaN gives an unspecified NaN. */
static void give_sign(const struct insn *in, uint64_t bits, struct want *w)
{
    const struct num_format *f = format(in);

    if (num_is_nan(f, bits))
        w->rule = RULE_NAN;
    else if (insn_has(in, "ftz") && num_is_subnormal(f, bits))
        want_bits(w, bits & num_sign_bit(f));
    else
        want_bits(w, bits);
}

static void ref_neg(const struct insn *in, const uint64_t *s, struct want *w)
{
    give_sign(in, s[0] ^ num_sign_bit(format(in)), w);
}

static void ref_abs(const struct insn *in, const uint64_t *s, struct want *w)
{
    give_sign(in, s[0] & ~num_sign_bit(format(in)), w);
}

static void ref_copysign(const struct insn *in, const uint64_t *s, struct want *w)
{
    uint64_t sign = num_sign_bit(format(in));

    want_bits(w, (s[0] & sign) | (s[1] & ~sign));
}

/* -0 is below +0. One NaN: the other operand, or the canonical NaN with .NaN. .xorsign.abs: of
 * the magnitudes, with the product's sign. */
static void ref_min_max(const struct insn *in, const uint64_t *s, struct want *w)
{
    const struct num_format *f = format(in);
    uint64_t sign = num_sign_bit(f), flip = 0;
    bool xorsign = insn_has(in, "xorsign"), max = strcmp(in->op, "max") == 0;
    struct num a = source(in, s[0]), b = source(in, s[1]);
    bool first;
    int order;

    if (a.kind == NUM_NAN || b.kind == NUM_NAN) {
        struct num other = a.kind == NUM_NAN ? b : a;

        if (insn_has(in, "NaN") || other.kind == NUM_NAN) {
            want_bits(w, f->nan);
            if (f == &num_f64 || xorsign)
                w->rule = RULE_NAN;
        } else if (xorsign) {
            w->rule = RULE_ANY; /* is a NaN's sign used? */
        } else {
            want_num(w, f, other, NUM_RN);
        }
        return;
    }
    if (xorsign) {
        flip = a.neg != b.neg ? sign : 0;
        a.neg = b.neg = false;
    }
    order = num_compare(a, b);
    if (order == 0)
        order = a.neg == b.neg ? 0 : a.neg ? -1 : 1;
    first = max ? order > 0 : order < 0;
    want_num(w, f, first ? a : b, NUM_RN);
    w->bits ^= flip;
}

static void ref_testp(const struct insn *in, const uint64_t *s, struct want *w)
{
    const struct num_format *f = format(in);
    enum num_kind kind = num_decode(f, s[0]).kind;
    bool subnormal = num_is_subnormal(f, s[0]);

    /* zero counts as normal */
    want_bits(w, insn_has(in, "finite")       ? kind == NUM_ZERO || kind == NUM_FINITE
                 : insn_has(in, "infinite")   ? kind == NUM_INF
                 : insn_has(in, "number")     ? kind != NUM_NAN
                 : insn_has(in, "notanumber") ? kind == NUM_NAN
                 : insn_has(in, "normal") ? kind == NUM_ZERO || (kind == NUM_FINITE && !subnormal)
                                          : subnormal);
}

#define ROUND       "{.rn,.rz,.rm,.rp}"
#define MAYBE_ROUND "{,.rn,.rz,.rm,.rp}"

static const struct family families[] = {
    {"add" MAYBE_ROUND "{,.ftz}{,.sat}.f32", "T=T,T", NULL, ref_add, NULL, NULL, 0},
    {"sub" MAYBE_ROUND "{,.ftz}{,.sat}.f32", "T=T,T", NULL, ref_sub, NULL, NULL, 0},
    {"mul" MAYBE_ROUND "{,.ftz}{,.sat}.f32", "T=T,T", NULL, ref_mul, NULL, NULL, 0},
    {"fma" ROUND "{,.ftz}{,.sat}.f32", "T=T,T,T", NULL, ref_fma, NULL, NULL, 0},
    {"mad" ROUND "{,.ftz}{,.sat}.f32", "T=T,T,T", NULL, ref_fma, NULL, NULL, 0},
    {"add" MAYBE_ROUND ".f64", "T=T,T", NULL, ref_add, NULL, NULL, 0},
    {"sub" MAYBE_ROUND ".f64", "T=T,T", NULL, ref_sub, NULL, NULL, 0},
    {"mul" MAYBE_ROUND ".f64", "T=T,T", NULL, ref_mul, NULL, NULL, 0},
    {"fma" ROUND ".f64", "T=T,T,T", NULL, ref_fma, NULL, NULL, 0},
    {"mad" ROUND ".f64", "T=T,T,T", NULL, ref_fma, NULL, NULL, 0},
    {"div" ROUND "{,.ftz}.f32", "T=T,T", NULL, ref_div, NULL, NULL, 0},
    {"div" ROUND ".f64", "T=T,T", NULL, ref_div, NULL, NULL, 0},
    {"rcp" ROUND "{,.ftz}.f32", "T=T", NULL, ref_rcp, NULL, NULL, 0},
    {"rcp" ROUND ".f64", "T=T", NULL, ref_rcp, NULL, NULL, 0},
    {"sqrt" ROUND "{,.ftz}.f32", "T=T", NULL, ref_sqrt, NULL, NULL, 0},
    {"sqrt" ROUND ".f64", "T=T", NULL, ref_sqrt, NULL, NULL, 0},
    {"neg{.f32,.ftz.f32,.f64}", "T=T", NULL, ref_neg, NULL, NULL, 0},
    {"abs{.f32,.ftz.f32,.f64}", "T=T", NULL, ref_abs, NULL, NULL, 0},
    {"copysign.{f32,f64}", "T=T,T", NULL, ref_copysign, NULL, NULL, 0},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32", "T=T,T", NULL, ref_min_max, NULL, NULL, 0},
    {"{min,max}.f64", "T=T,T", NULL, ref_min_max, NULL, NULL, 0},
    {"testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}", "pred=T", NULL,
     ref_testp, NULL, NULL, 0},
};

TABLE(table_float, families);

static const struct family half_families[] = {
    {"add{,.rn}{,.ftz}{,.sat}.{f16,f16x2}", "T=T,T", NULL, ref_add, NULL, NULL, OP_HALVES},
    {"sub{,.rn}{,.ftz}{,.sat}.{f16,f16x2}", "T=T,T", NULL, ref_sub, NULL, NULL, OP_HALVES},
    {"mul{,.rn}{,.ftz}{,.sat}.{f16,f16x2}", "T=T,T", NULL, ref_mul, NULL, NULL, OP_HALVES},
    {"add{,.rn}.{bf16,bf16x2}", "T=T,T", NULL, ref_add, NULL, NULL, OP_HALVES},
    {"sub{,.rn}.{bf16,bf16x2}", "T=T,T", NULL, ref_sub, NULL, NULL, OP_HALVES},
    {"mul{,.rn}.{bf16,bf16x2}", "T=T,T", NULL, ref_mul, NULL, NULL, OP_HALVES},
    {"fma.rn{,.ftz}{,.sat,.relu}.{f16,f16x2}", "T=T,T,T", NULL, ref_fma, NULL, NULL, OP_HALVES},
    {"fma.rn{,.relu}.{bf16,bf16x2}", "T=T,T,T", NULL, ref_fma, NULL, NULL, OP_HALVES},
    {"neg{,.ftz}.{f16,f16x2}", "T=T", NULL, ref_neg, NULL, NULL, OP_HALVES},
    {"neg.{bf16,bf16x2}", "T=T", NULL, ref_neg, NULL, NULL, OP_HALVES},
    {"abs{,.ftz}.{f16,f16x2}", "T=T", NULL, ref_abs, NULL, NULL, OP_HALVES},
    {"abs.{bf16,bf16x2}", "T=T", NULL, ref_abs, NULL, NULL, OP_HALVES},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.{f16,f16x2}", "T=T,T", NULL, ref_min_max, NULL, NULL,
     OP_HALVES},
    {"{min,max}{,.NaN}{,.xorsign.abs}.{bf16,bf16x2}", "T=T,T", NULL, ref_min_max, NULL, NULL,
     OP_HALVES},
};

const struct table table_half = {"table_half", half_families,
                                 sizeof half_families / sizeof half_families[0]};
