/* SPDX-License-Identifier: BSD-3-Clause
 * Comparisons and selections. No state. */
#include "opcode.h"

#include <string.h>

/* One comparison of two values of the type (of a half for packed types). */
static bool holds(const struct insn *in, const char *type, uint64_t a, uint64_t b)
{
    const char *cmp = in->mod[0];
    const struct num_format *f = num_format_of(type);
    bool unordered = false;
    int order;

    if (f) {
        struct num x = source_num(in, f, a), y = source_num(in, f, b);

        unordered = x.kind == NUM_NAN || y.kind == NUM_NAN;
        order = unordered ? 0 : num_compare(x, y);
    } else if (type_is_signed(type)) {
        int64_t x = sign_extend(a, type_bits(type)), y = sign_extend(b, type_bits(type));

        order = (x > y) - (x < y);
    } else {
        order = (a > b) - (a < b);
    }
    if (strcmp(cmp, "num") == 0)
        return !unordered;
    if (strcmp(cmp, "nan") == 0)
        return unordered;
    if (unordered) /* equ, neu, ltu...: true with a NaN; the others false */
        return strlen(cmp) == 3;
    return strncmp(cmp, "eq", 2) == 0                             ? order == 0
           : strncmp(cmp, "ne", 2) == 0                           ? order != 0
           : strncmp(cmp, "lt", 2) == 0 || strcmp(cmp, "lo") == 0 ? order < 0
           : strncmp(cmp, "le", 2) == 0 || strcmp(cmp, "ls") == 0 ? order <= 0
           : strncmp(cmp, "gt", 2) == 0 || strcmp(cmp, "hi") == 0 ? order > 0
                                                                  : order >= 0;
}

/* The comparison combined with source c where the instruction names an operator. */
static bool combine(const struct insn *in, bool t, uint64_t c)
{
    return insn_has(in, "and")   ? t && c
           : insn_has(in, "or")  ? t || c
           : insn_has(in, "xor") ? t != (c != 0)
                                 : t;
}

/* d: the comparison; e: its complement, each combined with c. */
static void ref_setp(const struct insn *in, const uint64_t *s, struct want *w)
{
    bool t = holds(in, insn_type(in, 0), s[0], s[1]);

    want_bits(&w[0], combine(in, t, s[2]));
    want_bits(&w[1], combine(in, !t, s[2]));
}

/* Packed: d is the lower halves' comparison, e the upper halves'. */
static void ref_setp_pair(const struct insn *in, const uint64_t *s, struct want *w)
{
    for (int h = 0; h < 2; h++)
        want_bits(&w[h], combine(in,
                                 holds(in, insn_type(in, 0), low_bits(s[0] >> 16 * h, 16),
                                       low_bits(s[1] >> 16 * h, 16)),
                                 s[2]));
}

/* True: all ones, or 1.0 of a floating-point type. */
static uint64_t truth(const char *type, bool t)
{
    const struct num_format *f = num_format_of(type);

    if (!t)
        return 0;
    return f ? num_encode(f, num_from_int(1), NUM_RN, NULL) : low_bits(~0ull, type_bits(type));
}

static void ref_set(const struct insn *in, const uint64_t *s, struct want *w)
{
    const char *to = insn_type(in, 1), *type = insn_type(in, 0);

    if (type_is_pair(type)) {
        uint64_t r = 0;

        for (int h = 0; h < 2; h++) {
            bool t = combine(
                in, holds(in, type, low_bits(s[0] >> 16 * h, 16), low_bits(s[1] >> 16 * h, 16)),
                s[2]);

            r |= (num_format_of(to) ? truth(to, t) : t ? 0xffffull : 0) << 16 * h;
        }
        want_bits(w, r);
        return;
    }
    want_bits(w, truth(to, combine(in, holds(in, type, s[0], s[1]), s[2])));
}

static void ref_selp(const struct insn *in, const uint64_t *s, struct want *w)
{
    (void)in;
    want_bits(w, s[2] ? s[0] : s[1]);
}

/* a where c >= 0; a NaN selects b, and -0 >= 0. */
static void ref_slct(const struct insn *in, const uint64_t *s, struct want *w)
{
    const struct num_format *f = num_format_of(insn_type(in, 0));
    bool first = !(s[2] >> 31);

    if (f) {
        struct num c = source_num(in, f, s[2]);

        first = c.kind == NUM_ZERO || (c.kind != NUM_NAN && !c.neg);
    }
    want_bits(w, first ? s[0] : s[1]);
}

#define UNSIGNED  "{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}"
#define ORDERED   "{eq,ne,lt,le,gt,ge}"
#define FLOATS    "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"
#define LOGIC     "{and,or,xor}"
#define BOTH      "$m $d|$e, $a, $b;"
#define BOTH_WITH "$m $d|$e, $a, $b, $c;"

static const struct family families[] = {
    {"setp.{eq,ne}.{b16,b32,b64}", "pred=T,T", NULL, ref_setp, NULL, NULL, 0},
    {"setp." UNSIGNED ".{u16,u32,u64}", "pred=T,T", NULL, ref_setp, NULL, NULL, 0},
    {"setp." ORDERED ".{s16,s32,s64}", "pred=T,T", NULL, ref_setp, NULL, NULL, 0},
    {"setp." FLOATS ".{f32,ftz.f32,f64}", "pred=T,T", NULL, ref_setp, NULL, NULL, 0},
    {"setp." FLOATS "{.f16,.ftz.f16,.bf16}", "pred=T,T", NULL, ref_setp, NULL, NULL, 0},
    {"setp." FLOATS "{.f16x2,.ftz.f16x2,.bf16x2}", "pred,pred=T,T", BOTH, ref_setp_pair, NULL, NULL,
     0},
    {"setp." ORDERED ".{s32,f32}", "pred,pred=T,T", BOTH, ref_setp, NULL, NULL, 0},
    {"setp.{eq,ne}." LOGIC ".{b16,b32,b64}", "pred,pred=T,T,pred", BOTH_WITH, ref_setp, NULL, NULL,
     0},
    {"setp." UNSIGNED "." LOGIC ".{u16,u32,u64}", "pred,pred=T,T,pred", BOTH_WITH, ref_setp, NULL,
     NULL, 0},
    {"setp." ORDERED "." LOGIC ".{s16,s32,s64}", "pred,pred=T,T,pred", BOTH_WITH, ref_setp, NULL,
     NULL, 0},
    {"setp." FLOATS "." LOGIC ".{f32,ftz.f32,f64}", "pred,pred=T,T,pred", BOTH_WITH, ref_setp, NULL,
     NULL, 0},
    {"setp." FLOATS "." LOGIC "{.f16,.ftz.f16,.bf16}", "pred=T,T,pred", NULL, ref_setp, NULL, NULL,
     0},
    {"setp." FLOATS "." LOGIC "{.f16x2,.ftz.f16x2,.bf16x2}", "pred,pred=T,T,pred", BOTH_WITH,
     ref_setp_pair, NULL, NULL, 0},

    {"set.{eq,ne}.{u32,s32,f32}.{b16,b32,b64}", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." UNSIGNED ".{u32,s32,f32}.{u16,u32,u64}", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." ORDERED ".{u32,s32,f32}.{s16,s32,s64}", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." FLOATS "{,.ftz}.{u32,s32,f32}.f32", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." FLOATS ".{u32,s32,f32}.f64", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." FLOATS "." LOGIC "{,.ftz}.{u32,s32,f32}.f32", "S=T,T,pred", NULL, ref_set, NULL, NULL,
     0},
    {"set." ORDERED "." LOGIC ".{u32,s32,f32}.{s32,u32}", "S=T,T,pred", NULL, ref_set, NULL, NULL,
     0},
    {"set." FLOATS "{,.ftz}.{f16,u16,s16,u32,s32}.f16", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." FLOATS ".{bf16,u16,s16,u32,s32}.bf16", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." FLOATS "{,.ftz}.{f16x2,u32}.f16x2", "S=T,T", NULL, ref_set, NULL, NULL, 0},
    {"set." FLOATS ".{bf16x2,u32}.bf16x2", "S=T,T", NULL, ref_set, NULL, NULL, 0},

    {"selp.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}", "T=T,T,pred", NULL, ref_selp, NULL, NULL,
     0},
    {"slct.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}.{s32,f32}", "S=S,S,T", NULL, ref_slct,
     NULL, NULL, 0},
    {"slct.ftz.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}.f32", "S=S,S,T", NULL, ref_slct, NULL,
     NULL, 0},
};

TABLE(table_compare, families);
