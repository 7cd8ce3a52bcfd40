/* SPDX-License-Identifier: BSD-3-Clause
 * Atomic operations on memory of the thread's own (contention is check_engine's matter). No state.
 */
#include "opcode.h"

#include <string.h>

static void give_float(const struct insn *in, const struct num_format *f, const uint64_t *s,
                       struct want *w)
{
    struct num a = num_decode(f, s[0]), b = num_decode(f, s[1]);

    want_num(w, f, num_add(a, b, NUM_RN), NUM_RN);
    if (a.kind == NUM_NAN || b.kind == NUM_NAN || w->bits == f->nan)
        w->rule = RULE_NAN;
    /* atom.add.f32 on global memory may flush subnormals; on shared memory it doesn't */
    if (f == &num_f32 && !insn_has(in, "shared") &&
        (num_is_subnormal(f, s[0]) || num_is_subnormal(f, s[1]) || num_is_subnormal(f, w->bits)))
        w->rule = RULE_ANY;
}

/* What memory holds after the operation on a (memory), b and c. */
static void give_after(const struct insn *in, const uint64_t *s, struct want *w)
{
    const char *type = insn_type(in, 0);
    const struct num_format *f = num_format_of(type);
    bool is_signed = type_is_signed(type);
    int bits = type_bits(type);
    bool less = is_signed ? sign_extend(s[1], bits) < sign_extend(s[0], bits) : s[1] < s[0];

    if (f)
        give_float(in, f, s, w);
    else if (insn_has(in, "add"))
        want_bits(w, low_bits(s[0] + s[1], bits));
    else if (insn_has(in, "and"))
        want_bits(w, s[0] & s[1]);
    else if (insn_has(in, "or"))
        want_bits(w, s[0] | s[1]);
    else if (insn_has(in, "xor"))
        want_bits(w, s[0] ^ s[1]);
    else if (insn_has(in, "exch"))
        want_bits(w, s[1]);
    else if (insn_has(in, "cas"))
        want_bits(w, s[0] == s[1] ? s[2] : s[0]);
    else if (insn_has(in, "min"))
        want_bits(w, less ? s[1] : s[0]);
    else if (insn_has(in, "max"))
        want_bits(w, less ? s[0] : s[1]);
    else if (insn_has(in, "inc")) /* wraps to 0 at b */
        want_bits(w, s[0] >= s[1] ? 0 : s[0] + 1);
    else /* dec: wraps to b at 0 and above b */
        want_bits(w, s[0] == 0 || s[0] > s[1] ? s[1] : s[0] - 1);
}

static void give_all(const struct insn *in, const uint64_t *s, struct want *w)
{
    const struct num_format *f = num_format_of(insn_type(in, 0));
    uint64_t half[2];
    struct want part[2];

    if (!type_is_pair(insn_type(in, 0))) {
        give_after(in, s, w);
        return;
    }
    for (int h = 0; h < 2; h++) {
        half[0] = low_bits(s[0] >> 16 * h, 16);
        half[1] = low_bits(s[1] >> 16 * h, 16);
        give_float(in, f, half, &part[h]);
    }
    want_bits(w, part[0].bits | part[1].bits << 16);
    if (part[0].rule != RULE_BITS || part[1].rule != RULE_BITS)
        w->rule = RULE_ANY;
}

static void ref_atom(const struct insn *in, const uint64_t *s, struct want *w)
{
    want_bits(&w[0], s[0]);
    give_all(in, s, &w[1]);
}

static void ref_red(const struct insn *in, const uint64_t *s, struct want *w)
{
    give_all(in, s, w);
}

#define OPS                                                                                        \
    "{add.u32,add.s32,add.u64,add.f32,add.f64,add.noftz.f16,add.noftz.f16x2,add.noftz.bf16,"       \
    "add.noftz.bf16x2,min.u32,min.s32,min.u64,min.s64,max.u32,max.s32,max.u64,max.s64,inc.u32,"    \
    "dec.u32,and.b32,and.b64,or.b32,or.b64,xor.b32,xor.b64}"
#define EXCHANGE "{exch.b32,exch.b64}"
#define ORDER    "{.relaxed,.acquire,.release,.acq_rel}"
#define SCOPE    "{.cta,.gpu,.sys}"

#define ATOM(_space, _address)                                                                     \
    "st" _space "$T [" _address "], $a; $m $d, [" _address "], $b; ld" _space "$T $e, [" _address  \
    "];"
#define CAS(_space, _address)                                                                      \
    "st" _space "$T [" _address "], $a; $m $d, [" _address "], $b, $c; ld" _space                  \
    "$T $e, [" _address "];"
/* with a comparison that succeeds */
#define CAS_HIT(_space, _address)                                                                  \
    "st" _space "$T [" _address "], $b; $m $d, [" _address "], $b, $c; ld" _space                  \
    "$T $e, [" _address "];"
#define RED(_space, _address)                                                                      \
    "st" _space "$T [" _address "], $a; $m [" _address "], $b; ld" _space "$T $d, [" _address "];"

/* Two or four additions at once: memory {a, b, ...}, operands {c, x, ...}. */
static void ref_old_vector(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    for (int i = 0; i < 4; i++)
        want_bits(&w[i], s[i & 1]);
}

static void ref_new_vector(const struct insn *in, const uint64_t *s, struct want *w)
{
    for (int i = 0; i < 4; i++)
        give_after(in, (const uint64_t[]){s[i & 1], s[2 + (i & 1)]}, &w[i]);
}

static void ref_hit(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    want_bits(&w[0], s[1]);
    want_bits(&w[1], s[2]);
}

#define VECTOR2 "st.global.v2.b32 [$g], {$a, $b}; $m {$d, $e}, [$g], {$c, $x};"
#define VECTOR4                                                                                    \
    "st.global.v4.b32 [$g], {$a, $b, $a, $b}; $m {$d, $e, $f, $h}, [$g], {$c, $x, $c, $x};"
#define AFTER2                                                                                     \
    "{ .reg .b32 %v<2>; st.global.v2.b32 [$g], {$a, $b}; $m {%v0, %v1}, [$g], {$c, $x}; "          \
    "ld.global.v2.b32 {$d, $e}, [$g]; }"
#define AFTER4                                                                                     \
    "{ .reg .b32 %v<4>; st.global.v4.b32 [$g], {$a, $b, $a, $b}; "                                 \
    "$m {%v0, %v1, %v2, %v3}, [$g], {$c, $x, $c, $x}; ld.global.v4.b32 {$d, $e, $f, $h}, [$g]; }"

static const struct family families[] = {
    {"atom.global." OPS, "T,T=T,T", ATOM(".global", "$g"), ref_atom, NULL, "-a", 0},
    {"atom.shared." OPS, "T,T=T,T", ATOM(".shared", "$s"), ref_atom, NULL, "-a", 0},
    {"atom." OPS, "T,T=T,T", ATOM("", "$G"), ref_atom, NULL, "-a", 0},
    {"atom." OPS, "T,T=T,T", ATOM("", "$S"), ref_atom, NULL, "-a", 0},
    {"atom" SCOPE "{.global,}." OPS, "T,T=T,T", ATOM(".global", "$g"), ref_atom, NULL, "-a", 0},
    {"atom" SCOPE ".shared." OPS, "T,T=T,T", ATOM(".shared", "$s"), ref_atom, NULL, "-a", 0},
    {"atom" ORDER SCOPE "{.global,}." OPS, "T,T=T,T", ATOM(".global", "$g"), ref_atom, NULL, "-a",
     0},
    {"atom" ORDER SCOPE ".shared." OPS, "T,T=T,T", ATOM(".shared", "$s"), ref_atom, NULL, "-a", 0},
    {"atom{,.cta,.gpu,.sys}{.global,}." EXCHANGE, "T,T=T,T", ATOM(".global", "$g"), ref_atom, NULL,
     "-a", 0},
    {"atom{,.cta,.gpu,.sys}.shared." EXCHANGE, "T,T=T,T", ATOM(".shared", "$s"), ref_atom, NULL,
     "-a", 0},
    {"atom" ORDER SCOPE "{.global,}." EXCHANGE, "T,T=T,T", ATOM(".global", "$g"), ref_atom, NULL,
     "-a", 0},
    {"atom" ORDER SCOPE ".shared." EXCHANGE, "T,T=T,T", ATOM(".shared", "$s"), ref_atom, NULL, "-a",
     0},
    {"atom{,.cta,.gpu,.sys}{.global,}.cas.{b16,b32,b64}", "T,T=T,T,T", CAS(".global", "$g"),
     ref_atom, NULL, "-a", 0},
    {"atom{,.cta,.gpu,.sys}{.global,}.cas.{b16,b32,b64}", "T,T=T,T,T", CAS_HIT(".global", "$g"),
     ref_hit, NULL, "-b", OP_NO_ALIAS},
    {"atom.shared.cas.{b16,b32,b64}", "T,T=T,T,T", CAS(".shared", "$s"), ref_atom, NULL, "-a", 0},
    {"atom.shared.cas.{b16,b32,b64}", "T,T=T,T,T", CAS_HIT(".shared", "$s"), ref_hit, NULL, "-b",
     OP_NO_ALIAS},
    {"atom" ORDER SCOPE "{.global,}.cas.{b16,b32,b64}", "T,T=T,T,T", CAS(".global", "$g"), ref_atom,
     NULL, "-a", 0},
    {"atom" ORDER SCOPE ".shared.cas.{b16,b32,b64}", "T,T=T,T,T", CAS(".shared", "$s"), ref_atom,
     NULL, "-a", 0},

    /* the compiler's other orders of the same words */
    {"atom.global" SCOPE "." OPS, "T,T=T,T", ATOM(".global", "$g"), ref_atom, NULL, "-a", 0},
    {"atom.global" SCOPE "." EXCHANGE, "T,T=T,T", ATOM(".global", "$g"), ref_atom, NULL, "-a", 0},
    {"atom.global" SCOPE ".cas.{b16,b32,b64}", "T,T=T,T,T", CAS(".global", "$g"), ref_atom, NULL,
     "-a", 0},
    {"atom.add" ORDER SCOPE ".{u32,s32,u64,f32,f64}", "T,T=T,T", ATOM("", "$G"), ref_atom, NULL,
     "-a", 0},
    {"atom.{min,max}" ORDER SCOPE ".{u32,s32,u64,s64}", "T,T=T,T", ATOM("", "$G"), ref_atom, NULL,
     "-a", 0},
    {"atom.{and,or,xor,exch}" ORDER SCOPE ".{b32,b64}", "T,T=T,T", ATOM("", "$G"), ref_atom, NULL,
     "-a", 0},
    {"atom.cas" ORDER SCOPE ".{b16,b32,b64}", "T,T=T,T,T", CAS("", "$G"), ref_atom, NULL, "-a", 0},
    {"atom{,.relaxed.gpu}.global.add.v2.f32", "T,T=T,T,T,T", VECTOR2, ref_old_vector, NULL, NULL,
     OP_NO_ALIAS},
    {"atom{,.relaxed.gpu}.global.add.v4.f32", "T,T,T,T=T,T,T,T", VECTOR4, ref_old_vector, NULL,
     NULL, OP_NO_ALIAS},
    {"atom{,.relaxed.gpu}.global.add.v2.f32", "T,T=T,T,T,T", AFTER2, ref_new_vector, NULL, "ab",
     OP_NO_ALIAS},
    {"atom{,.relaxed.gpu}.global.add.v4.f32", "T,T,T,T=T,T,T,T", AFTER4, ref_new_vector, NULL,
     "abab", OP_NO_ALIAS},

    {"red.global." OPS, "T=T,T", RED(".global", "$g"), ref_red, NULL, "a", OP_NO_ALIAS},
    {"red.shared." OPS, "T=T,T", RED(".shared", "$s"), ref_red, NULL, "a", OP_NO_ALIAS},
    {"red." OPS, "T=T,T", RED("", "$G"), ref_red, NULL, "a", OP_NO_ALIAS},
    {"red" SCOPE "{.global,}." OPS, "T=T,T", RED(".global", "$g"), ref_red, NULL, "a", OP_NO_ALIAS},
    {"red" SCOPE ".shared." OPS, "T=T,T", RED(".shared", "$s"), ref_red, NULL, "a", OP_NO_ALIAS},
    {"red{.relaxed,.release}" SCOPE "{.global,}." OPS, "T=T,T", RED(".global", "$g"), ref_red, NULL,
     "a", OP_NO_ALIAS},
    {"red.{and,or,xor}{.relaxed,.release}" SCOPE ".{b32,b64}", "T=T,T", RED("", "$G"), ref_red, NULL,
     "a", OP_NO_ALIAS},
    {"red{.relaxed,.release}" SCOPE ".shared." OPS, "T=T,T", RED(".shared", "$s"), ref_red, NULL,
     "a", OP_NO_ALIAS},
};

TABLE(table_atomic, families);
