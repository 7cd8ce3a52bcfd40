/* SPDX-License-Identifier: BSD-3-Clause
 * Moves: copies, packing and unpacking of vectors, address conversions. No state. */
#include "opcode.h"

#include <string.h>

static void ref_copy(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    want_bits(w, s[0]);
}

/* {a, b}: the first element is the least significant. */
static void ref_pack(const struct insn *in, const uint64_t *s, struct want *w)
{
    int bits = type_bits(insn_type(in, 0)) / 2;

    want_bits(w, s[0] | s[1] << bits);
}

static void ref_pack4(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    want_bits(w, s[0] | s[1] << 16 | s[2] << 32 | s[3] << 48);
}

static void ref_unpack(const struct insn *in, const uint64_t *s, struct want *w)
{
    int bits = type_bits(insn_type(in, 0)) / 2;

    want_bits(&w[0], low_bits(s[0], bits));
    want_bits(&w[1], s[0] >> bits);
}

static void ref_unpack4(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    for (int i = 0; i < 4; i++)
        want_bits(&w[i], low_bits(s[0] >> 16 * i, 16));
}

/* The upper half alone. */
static void ref_sink(const struct insn *in, const uint64_t *s, struct want *w)
{
    int bits = type_bits(insn_type(in, 0)) / 2;

    want_bits(w, s[0] >> bits);
}

static void ref_pair(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    want_bits(&w[0], s[0]);
    want_bits(&w[1], s[1]);
}

/* Addresses of the thread's global, shared and local memory in turn. */
static void ref_isspacep(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)s;
    want_bits(&w[0], insn_has(in, "global"));
    want_bits(&w[1], insn_has(in, "shared") || insn_has(in, "shared::cta"));
    want_bits(&w[2], insn_has(in, "local"));
}

static const struct family families[] = {
    {"mov.{pred,b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}", "T=T", NULL, ref_copy, NULL, NULL,
     0},
    {"mov.b32", "b32=b16,b16", "$m $d, {$a, $b};", ref_pack, NULL, NULL, 0},
    {"mov.b64", "b64=b32,b32", "$m $d, {$a, $b};", ref_pack, NULL, NULL, 0},
    {"mov.b64", "b64=b16,b16,b16,b16", "$m $d, {$a, $b, $c, $x};", ref_pack4, NULL, NULL, 0},
    {"mov.b32", "b16,b16=b32", "$m {$d, $e}, $a;", ref_unpack, NULL, NULL, 0},
    {"mov.b64", "b32,b32=b64", "$m {$d, $e}, $a;", ref_unpack, NULL, NULL, 0},
    {"mov.b64", "b16,b16,b16,b16=b64", "$m {$d, $e, $f, $h}, $a;", ref_unpack4, NULL, NULL, 0},
    {"mov.b32", "b16=b32", "$m {_, $d}, $a;", ref_sink, NULL, NULL, 0},
    {"mov.b64", "b32=b64", "$m {_, $d}, $a;", ref_sink, NULL, NULL, 0},
    {"mov.b128", "b64,b64=b64,b64",
     "{ .reg .b128 %wide; mov.b128 %wide, {$a, $b}; $m {$d, $e}, %wide; }", ref_pair, NULL, NULL,
     0},

    /* to generic and back: what is stored through one address is read through the other */
    {"cvta.global.u64", "b64=b64", "$n $t, $g; st.b64 [$t], $a; ld.global.b64 $d, [$g];", ref_copy,
     NULL, NULL, OP_NO_GUARD},
    {"cvta.to.global.u64", "b64=b64", "$n $t, $G; st.global.b64 [$t], $a; ld.b64 $d, [$G];",
     ref_copy, NULL, NULL, OP_NO_GUARD},
    {"cvta.shared.u64", "b64=b64",
     "cvt.u64.u32 $t, $s; $n $t, $t; st.b64 [$t], $a; ld.shared.b64 $d, [$s];", ref_copy, NULL,
     NULL, OP_NO_GUARD},
    {"cvta.to.shared.u64", "b64=b64",
     "$n $t, $S; cvt.u32.u64 $u, $t; st.shared.b64 [$u], $a; ld.b64 $d, [$S];", ref_copy, NULL,
     NULL, OP_NO_GUARD},
    {"cvta.local.u64", "b64=b64", "$n $t, $l; st.b64 [$t], $a; ld.local.b64 $d, [$l];", ref_copy,
     NULL, NULL, OP_NO_GUARD},
    {"cvta.to.local.u64", "b64=b64", "$n $t, $L; st.local.b64 [$t], $a; ld.b64 $d, [$L];", ref_copy,
     NULL, NULL, OP_NO_GUARD},
    {"isspacep.{global,shared,shared::cta,local,const}", "pred,pred,pred=b32",
     "$m $d, $G; $m $e, $S; $m $f, $L;", ref_isspacep, NULL, NULL, 0},
};

TABLE(table_move, families);
