/* SPDX-License-Identifier: BSD-3-Clause
 * Approximate instructions: within the error that the PTX ISA states, from long double. Special
 * values follow the ISA's tables. No state. */
#include "opcode.h"

#include <math.h>
#include <string.h>

static const struct num_format *format(const struct insn *in)
{
    return num_format_of(insn_type(in, 0));
}

static long double power(long double exponent)
{
    return exp2l(exponent);
}

/* Smallest normal number and unit of subnormals. */
static long double smallest(const struct num_format *f)
{
    return ldexpl(1, 2 - (1 << (f->exp_bits - 1)));
}

static void near(struct want *w, const struct insn *in, long double v, long double tolerance)
{
    const struct num_format *f = format(in);
    long double unit = ldexpl(smallest(f), -f->man_bits);
    long double largest = num_value(num_decode(f, num_largest(f, false)));

    w->rule = RULE_NEAR;
    w->value = v;
    w->tolerance = tolerance;
    if (isnan(v)) {
        w->rule = RULE_NAN;
    } else if (!isinf(v) && fabsl(v) > largest) {
        /* rounds to the largest number or to Inf: open near the limit */
        if (fabsl(v) - tolerance > largest)
            w->value = v > 0 ? INFINITY : -INFINITY;
        else
            w->rule = RULE_ANY;
    } else if (!isinf(v) && fabsl(v) + tolerance > largest) {
        w->rule = RULE_ANY;
    } else if (fabsl(v) < smallest(f)) {
        if (!insn_has(in, "ftz"))
            w->tolerance += unit;
        else if (fabsl(v) + tolerance < smallest(f))
            w->value = 0, w->tolerance = 0;
        else
            w->rule = RULE_ANY;
    }
}

static void relative(struct want *w, const struct insn *in, long double v, long double exponent)
{
    near(w, in, v, fabsl(v) * power(exponent));
}

static long double source(const struct insn *in, uint64_t bits)
{
    return num_value(source_num(in, format(in), bits));
}

static bool subnormal(const struct insn *in, uint64_t bits)
{
    return !insn_has(in, "ftz") && num_is_subnormal(format(in), bits);
}

/* f32: one unit in the last place. The double form, whose lower 32 result bits are 0, is good to
 * 20 bits. */
static void ref_rcp(const struct insn *in, const uint64_t *s, struct want *w)
{
    if (subnormal(in, s[0])) /* Inf in the ISA's table, though a finite reciprocal may exist */
        w->rule = RULE_ANY;
    else
        relative(w, in, 1 / source(in, s[0]), format(in) == &num_f64 ? -19 : -22.999L);
}

static void ref_sqrt(const struct insn *in, const uint64_t *s, struct want *w)
{
    relative(w, in, sqrtl(source(in, s[0])), -22.999L);
}

static void ref_rsqrt(const struct insn *in, const uint64_t *s, struct want *w)
{
    long double x = source(in, s[0]);

    /* of -0: -Inf */
    relative(w, in, x == 0 ? copysignl(INFINITY, x) : 1 / sqrtl(x),
             format(in) == &num_f64 ? -19 : -22.9L);
}

/* An absolute error is stated for one period; beyond it only that the result is a number. */
static void ref_sin_cos(const struct insn *in, const uint64_t *s, struct want *w)
{
    long double x = source(in, s[0]);

    if (fabsl(x) <= 6.2832L)
        near(w, in, strcmp(in->op, "sin") == 0 ? sinl(x) : cosl(x), power(-20.5L));
    else
        near(w, in, isinf(x) || isnan(x) ? NAN : 0, 1.0001L);
}

/* Absolute error between 1/2 and 2, relative outside. */
static void ref_lg2(const struct insn *in, const uint64_t *s, struct want *w)
{
    long double x = source(in, s[0]), v = x < 0 ? NAN : log2l(x);

    near(w, in, v, x > 0.5L && x < 2 ? power(-22) : fabsl(v) * power(-22));
}

static void ref_ex2(const struct insn *in, const uint64_t *s, struct want *w)
{
    const struct num_format *f = format(in);

    relative(w, in, exp2l(source(in, s[0])), f == &num_f32 ? -22 : f == &num_f16 ? -9.9L : -7);
}

static void ref_tanh(const struct insn *in, const uint64_t *s, struct want *w)
{
    const struct num_format *f = format(in);
    long double v = tanhl(source(in, s[0]));

    near(w, in, v,
         f == &num_f32   ? fabsl(v) * power(-11)
         : f == &num_f16 ? power(-10.987L)
                         : power(-8));
}

/* .approx: two units while |b| lies in [2^-126, 2^126]; above, the quotient may become 0 (and
 * Inf / b NaN). .full: two units. */
static void ref_div(const struct insn *in, const uint64_t *s, struct want *w)
{
    long double a = source(in, s[0]), b = source(in, s[1]);

    if (subnormal(in, s[0]) || subnormal(in, s[1]) ||
        (insn_has(in, "approx") && isfinite(b) && fabsl(b) > power(126)))
        w->rule = RULE_ANY;
    else
        relative(w, in, a / b, -22);
}

static const struct family families[] = {
    {"rcp.approx{,.ftz}.f32", "T=T", NULL, ref_rcp, NULL, NULL, 0},
    {"rcp.approx.ftz.f64", "T=T", NULL, ref_rcp, NULL, NULL, 0},
    {"sqrt.approx{,.ftz}.f32", "T=T", NULL, ref_sqrt, NULL, NULL, 0},
    {"rsqrt.approx{,.ftz}.{f32,f64}", "T=T", NULL, ref_rsqrt, NULL, NULL, 0},
    {"{sin,cos}.approx{,.ftz}.f32", "T=T", NULL, ref_sin_cos, NULL, NULL, 0},
    {"lg2.approx{,.ftz}.f32", "T=T", NULL, ref_lg2, NULL, NULL, 0},
    {"ex2.approx{,.ftz}.f32", "T=T", NULL, ref_ex2, NULL, NULL, 0},
    {"ex2.approx.{f16,f16x2,ftz.bf16,ftz.bf16x2}", "T=T", NULL, ref_ex2, NULL, NULL, OP_HALVES},
    {"tanh.approx.{f32,f16,f16x2,bf16,bf16x2}", "T=T", NULL, ref_tanh, NULL, NULL, OP_HALVES},
    {"div.{approx,full}{,.ftz}.f32", "T=T,T", NULL, ref_div, NULL, NULL, 0},
};

TABLE(table_approx, families);
