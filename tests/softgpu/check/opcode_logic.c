/* SPDX-License-Identifier: BSD-3-Clause
 * Bits: logic, shifts, fields, counts and permutations. No state. */
#include "opcode.h"

#include <string.h>

static int width(const struct insn *in)
{
    return type_bits(insn_type(in, 0));
}

static void give(struct want *w, const struct insn *in, uint64_t v)
{
    want_bits(w, low_bits(v, width(in)));
}

static void ref_and(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, s[0] & s[1]);
}

static void ref_or(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, s[0] | s[1]);
}

static void ref_xor(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, s[0] ^ s[1]);
}

static void ref_not(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, ~s[0]);
}

static void ref_cnot(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, s[0] == 0);
}

static uint64_t lut(unsigned table, const uint64_t *s)
{
    uint64_t r = 0;

    for (int i = 0; i < 32; i++) {
        unsigned index = (unsigned)((s[0] >> i & 1) << 2 | (s[1] >> i & 1) << 1 | (s[2] >> i & 1));

        r |= (uint64_t)(table >> index & 1) << i;
    }
    return r;
}

static void give_luts(struct want *w, const uint64_t *s, const unsigned char tables[OP_DESTS])
{
    for (int j = 0; j < OP_DESTS; j++)
        want_bits(&w[j], lut(tables[j], s));
}

static void ref_lop3_a(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    give_luts(w, s, (const unsigned char[]){0x80, 0xfe, 0x96, 0xe8});
}

static void ref_lop3_b(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    give_luts(w, s, (const unsigned char[]){0x00, 0xff, 0xca, 0x1b});
}

static void ref_lop3_c(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    give_luts(w, s, (const unsigned char[]){0xf8, 0x6a, 0x3c, 0xd2});
}

/* Shift counts above the width act as the width. */
static void ref_shl(const struct insn *in, const uint64_t *s, struct want *w)
{
    give(w, in, s[1] >= (unsigned)width(in) ? 0 : s[0] << s[1]);
}

static void ref_shr(const struct insn *in, const uint64_t *s, struct want *w)
{
    bool is_signed = type_is_signed(insn_type(in, 0));
    int bits = width(in);
    int count = s[1] >= (unsigned)bits ? bits : (int)s[1];

    if (is_signed)
        give(w, in, (uint64_t)(sign_extend(s[0], bits) >> (count < 64 ? count : 63)));
    else
        give(w, in, count < 64 ? s[0] >> count : 0);
}

/* The pair b:a shifted left (upper half) or right (lower half). */
static void ref_shf(const struct insn *in, const uint64_t *s, struct want *w)
{
    uint64_t pair = s[1] << 32 | s[0];
    unsigned count = insn_has(in, "wrap") ? s[2] & 31 : s[2] < 32 ? (unsigned)s[2] : 32;

    want_bits(
        w,
        low_bits(insn_has(in, "l") ? count == 32 ? s[0] : pair << count >> 32 : pair >> count, 32));
}

static void ref_popc(const struct insn *in, const uint64_t *s, struct want *w)
{
    uint64_t n = 0;

    for (int i = 0; i < width(in); i++)
        n += s[0] >> i & 1;
    want_bits(w, n);
}

static void ref_clz(const struct insn *in, const uint64_t *s, struct want *w)
{
    uint64_t n = 0;

    for (int i = width(in) - 1; i >= 0 && !(s[0] >> i & 1); i--)
        n++;
    want_bits(w, n);
}

static void ref_brev(const struct insn *in, const uint64_t *s, struct want *w)
{
    uint64_t r = 0;

    for (int i = 0; i < width(in); i++)
        r |= (s[0] >> i & 1) << (width(in) - 1 - i);
    want_bits(w, r);
}

/* The highest bit that differs from the sign (signed) or is 1; 0xffffffff: none. */
static void ref_bfind(const struct insn *in, const uint64_t *s, struct want *w)
{
    int bits = width(in), at;
    uint64_t v = s[0];

    if (type_is_signed(insn_type(in, 0)) && v >> (bits - 1) & 1)
        v = low_bits(~v, bits);
    for (at = bits - 1; at >= 0 && !(v >> at & 1); at--)
        ;
    if (at >= 0 && insn_has(in, "shiftamt"))
        at = bits - 1 - at;
    want_bits(w, (uint32_t)at);
}

/* Position of the offset-th set bit from base on. */
static void ref_fns(const struct insn *in, const uint64_t *s, struct want *w)
{
    uint32_t mask = (uint32_t)s[0];
    int64_t offset = sign_extend(s[2], 32), left = (offset < 0 ? -offset : offset) - 1;
    int64_t at = (int64_t)s[1], step = offset < 0 ? -1 : 1;

    (void)in;
    if (s[1] > 31) { /* base must lie in 0..31 */
        w->rule = RULE_ANY;
        return;
    }
    want_bits(w, 0xffffffff);
    if (offset == 0) {
        if (mask >> at & 1)
            want_bits(w, (uint64_t)at);
        return;
    }
    for (; at >= 0 && at < 32; at += step) {
        if (!(mask >> at & 1))
            continue;
        if (left-- == 0) {
            want_bits(w, (uint64_t)at);
            return;
        }
    }
}

/* Only the low 8 bits of position and length count; what lies past the top is the sign or 0. */
static void ref_bfe(const struct insn *in, const uint64_t *s, struct want *w)
{
    int top = width(in) - 1, pos = (int)(s[1] & 255), len = (int)(s[2] & 255);
    bool sign = false;
    uint64_t r = 0;

    if (type_is_signed(insn_type(in, 0)) && len)
        sign = s[0] >> (pos + len - 1 < top ? pos + len - 1 : top) & 1;
    for (int i = 0; i <= top; i++) {
        bool bit = i < len && pos + i <= top ? s[0] >> (pos + i) & 1 : sign;

        r |= (uint64_t)bit << i;
    }
    want_bits(w, r);
}

static void ref_bfi(const struct insn *in, const uint64_t *s, struct want *w)
{
    int top = width(in) - 1, pos = (int)(s[2] & 255), len = (int)(s[3] & 255);
    uint64_t r = s[1];

    for (int i = 0; i < len && pos + i <= top; i++) {
        r &= ~(1ull << (pos + i));
        r |= (s[0] >> i & 1) << (pos + i);
    }
    want_bits(w, r);
}

/* Extends the number in the low b bits of a. .clamp: b of 32 or more takes all; .wrap: b modulo 32.
 */
static void ref_szext(const struct insn *in, const uint64_t *s, struct want *w)
{
    unsigned n = s[1] & 31;

    if (insn_has(in, "clamp") && s[1] >= 32)
        want_bits(w, s[0]);
    else if (n == 0)
        want_bits(w, 0);
    else if (type_is_signed(insn_type(in, 0)))
        want_bits(w, low_bits((uint64_t)sign_extend(low_bits(s[0], (int)n), (int)n), 32));
    else
        want_bits(w, low_bits(s[0], (int)n));
}

/* b ones from position a on; .clamp: each limited to 32, .wrap: each modulo 32. */
static void ref_bmsk(const struct insn *in, const uint64_t *s, struct want *w)
{
    bool clamp = insn_has(in, "clamp");
    uint64_t pos = clamp ? (s[0] < 32 ? s[0] : 32) : s[0] & 31;
    uint64_t len = clamp ? (s[1] < 32 ? s[1] : 32) : s[1] & 31;

    want_bits(w, low_bits(((1ull << len) - 1) << pos, 32));
}

static const unsigned char prmt_modes[][4][4] = {
    /* byte 0 first; index: selector modulo 4 */
    {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}, /* f4e */
    {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}, /* b4e */
    {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}, /* rc8 */
    {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}, /* ecl */
    {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}, /* ecr */
    {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}, /* rc16 */
};

static void ref_prmt(const struct insn *in, const uint64_t *s, struct want *w)
{
    static const char *const names[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    uint64_t bytes = s[1] << 32 | s[0], r = 0;
    int mode = -1;

    for (int i = 0; i < 6; i++)
        if (insn_has(in, names[i]))
            mode = i;
    for (int i = 0; i < 4; i++) {
        unsigned pick = mode < 0 ? s[2] >> 4 * i & 15 : prmt_modes[mode][s[2] & 3][i];
        uint64_t byte = bytes >> 8 * (pick & 7) & 255;

        if (pick & 8) /* the byte's sign, eight times */
            byte = byte >> 7 ? 255 : 0;
        r |= byte << 8 * i;
    }
    want_bits(w, r);
}

#define LOP3(_a, _b, _c, _d)                                                                       \
    "$m $d, $a, $b, $c, " #_a "; $m $e, $a, $b, $c, " #_b "; $m $f, $a, $b, $c, " #_c              \
    "; $m $h, $a, $b, $c, " #_d ";"

static const struct family families[] = {
    {"and.{pred,b16,b32,b64}", "T=T,T", NULL, ref_and, NULL, NULL, 0},
    {"or.{pred,b16,b32,b64}", "T=T,T", NULL, ref_or, NULL, NULL, 0},
    {"xor.{pred,b16,b32,b64}", "T=T,T", NULL, ref_xor, NULL, NULL, 0},
    {"not.{pred,b16,b32,b64}", "T=T", NULL, ref_not, NULL, NULL, 0},
    {"cnot.{b16,b32,b64}", "T=T", NULL, ref_cnot, NULL, NULL, 0},
    {"lop3.b32", "T,T,T,T=T,T,T", LOP3(0x80, 0xfe, 0x96, 0xe8), ref_lop3_a, NULL, NULL,
     OP_NO_ALIAS},
    {"lop3.b32", "T,T,T,T=T,T,T", LOP3(0x00, 0xff, 0xca, 0x1b), ref_lop3_b, NULL, NULL,
     OP_NO_ALIAS},
    {"lop3.b32", "T,T,T,T=T,T,T", LOP3(0xf8, 0x6a, 0x3c, 0xd2), ref_lop3_c, NULL, NULL,
     OP_NO_ALIAS},
    {"shl.{b16,b32,b64}", "T=T,count", NULL, ref_shl, NULL, NULL, 0},
    {"shr.{b16,b32,b64,u16,u32,u64,s16,s32,s64}", "T=T,count", NULL, ref_shr, NULL, NULL, 0},
    {"shf.{l,r}.{clamp,wrap}.b32", "T=T,T,count", NULL, ref_shf, NULL, NULL, 0},
    {"popc.{b32,b64}", "u32=T", NULL, ref_popc, NULL, NULL, 0},
    {"clz.{b32,b64}", "u32=T", NULL, ref_clz, NULL, NULL, 0},
    {"brev.{b32,b64}", "T=T", NULL, ref_brev, NULL, NULL, 0},
    {"bfind{.shiftamt,}.{u32,s32,u64,s64}", "u32=T", NULL, ref_bfind, NULL, NULL, 0},
    {"fns.b32", "u32=b32,u32,s32", NULL, ref_fns, NULL, NULL, 0},
    {"fns.b32", "u32=b32,count,count", NULL, ref_fns, NULL, NULL, 0},
    {"bfe.{u32,s32,u64,s64}", "T=T,count,count", NULL, ref_bfe, NULL, NULL, 0},
    {"bfi.{b32,b64}", "T=T,T,count,count", NULL, ref_bfi, NULL, NULL, 0},
    {"szext.{wrap,clamp}.{u32,s32}", "T=T,count", NULL, ref_szext, NULL, NULL, 0},
    {"bmsk.{wrap,clamp}.b32", "b32=count,count", NULL, ref_bmsk, NULL, NULL, 0},
    {"prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "b32=b32,b32,b32", NULL, ref_prmt, NULL, NULL, 0},
};

TABLE(table_logic, families);
