/* SPDX-License-Identifier: BSD-3-Clause
 * Mnemonics: patterns that stand for several, and their split into modifiers and types. */
#include "opcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expand(char *built, size_t n, const char *rest, void (*fn)(const char *, void *),
                   void *arg)
{
    const char *open = strchr(rest, '{'), *close, *at;

    if (!open) {
        strcpy(built + n, rest);
        fn(built, arg);
        return;
    }
    memcpy(built + n, rest, (size_t)(open - rest));
    n += (size_t)(open - rest);
    close = strchr(open, '}');
    for (at = open + 1; at <= close; at++) {
        size_t len = strcspn(at, ",}");

        memcpy(built + n, at, len);
        expand(built, n + len, close + 1, fn, arg);
        at += len;
    }
}

void pattern_expand(const char *pattern, void (*fn)(const char *mnemonic, void *arg), void *arg)
{
    char built[256];

    expand(built, 0, pattern, fn, arg);
}

/* By the name's parts, since it is asked for every operand of every lane. */
int type_bits(const char *type)
{
    int bits = 0;

    if (strcmp(type, "pred") == 0)
        return 1;
    if (strcmp(type, "e4m3x2") == 0 || strcmp(type, "e5m2x2") == 0)
        return 16;
    if ((type[0] == 'b' || type[0] == 't') && type[1] == 'f')
        type++;
    else if (!type[0] || !strchr("busf", type[0]))
        return 0;
    for (type++; *type >= '0' && *type <= '9'; type++)
        bits = bits * 10 + (*type - '0');
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128)
        return 0;
    return !*type ? bits : strcmp(type, "x2") == 0 ? 2 * bits : 0;
}

bool type_is_signed(const char *type)
{
    return type[0] == 's';
}

bool type_is_pair(const char *type)
{
    size_t n = strlen(type);

    return n > 2 && strcmp(type + n - 2, "x2") == 0;
}

void insn_parse(struct insn *in, const char *mnemonic)
{
    char *at, *save = NULL;

    memset(in, 0, sizeof *in);
    snprintf(in->name, sizeof in->name, "%s", mnemonic);
    snprintf(in->text, sizeof in->text, "%s", mnemonic);
    in->op = strtok_r(in->text, ".", &save);
    while ((at = strtok_r(NULL, ".", &save)) && in->nmods < OP_MODS) {
        in->mod[in->nmods++] = at;
        if (type_bits(at))
            in->type[in->ntypes++] = at;
    }
}

bool insn_has(const struct insn *in, const char *mod)
{
    for (int i = 0; i < in->nmods; i++)
        if (in->mod[i][0] == mod[0] && strcmp(in->mod[i], mod) == 0)
            return true;
    return false;
}

const char *insn_type(const struct insn *in, int from_end)
{
    return in->ntypes > from_end ? in->type[in->ntypes - 1 - from_end] : "b32";
}

enum num_round insn_round(const struct insn *in)
{
    return insn_has(in, "rz")    ? NUM_RZ
           : insn_has(in, "rm")  ? NUM_RM
           : insn_has(in, "rp")  ? NUM_RP
           : insn_has(in, "rna") ? NUM_RNA
                                 : NUM_RN;
}

int64_t sign_extend(uint64_t v, int bits)
{
    return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

uint64_t low_bits(uint64_t v, int bits)
{
    return bits >= 64 ? v : v & ((1ull << bits) - 1);
}

void want_bits(struct want *w, uint64_t bits)
{
    w->rule = RULE_BITS;
    w->bits = bits;
}

struct num source_num(const struct insn *in, const struct num_format *f, uint64_t bits)
{
    struct num x = num_decode(f, bits);

    if (insn_has(in, "ftz") && num_is_subnormal(f, bits))
        x = (struct num){NUM_ZERO, x.neg, 0, 0};
    return x;
}

void want_num(struct want *w, const struct num_format *f, struct num x, enum num_round mode)
{
    want_bits(w, num_encode(f, x, mode, NULL));
    /* The ISA names a canonical NaN for single and half precision, none for double. */
    if (x.kind == NUM_NAN && f == &num_f64)
        w->rule = RULE_NAN;
}

void want_result(struct want *w, const struct insn *in, const struct num_format *f, struct num x)
{
    enum num_round mode = insn_round(in);
    bool tiny, clamps = insn_has(in, "sat") || insn_has(in, "relu");

    if (clamps && x.kind == NUM_ZERO && x.neg) { /* the zero's sign is open */
        *w = (struct want){.rule = RULE_NEAR};
        return;
    }

    /* .sat: to [0, 1], and NaN becomes +0. .relu: negative becomes +0, NaN stays canonical. */
    if (insn_has(in, "sat")) {
        if (x.kind == NUM_NAN || x.neg)
            x = (struct num){NUM_ZERO, false, 0, 0};
        else if (x.kind == NUM_INF || num_compare(x, num_from_int(1)) > 0)
            x = num_from_int(1);
    }
    if (insn_has(in, "relu") && x.kind != NUM_NAN && x.neg)
        x = (struct num){NUM_ZERO, false, 0, 0};
    want_num(w, f, x, mode);
    /* a conversion flushes single precision only */
    if (!insn_has(in, "ftz") || (strcmp(in->op, "cvt") == 0 && f != &num_f32))
        return;
    num_encode(f, x, mode, &tiny);
    if (num_is_subnormal(f, w->bits))
        w->bits &= num_sign_bit(f); /* a subnormal result keeps its sign only */
    else if (tiny && w->bits & ~num_sign_bit(f))
        w->rule = RULE_ANY; /* rounds up to the smallest normal number: flushed or not is open */
}
