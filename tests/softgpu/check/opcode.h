/* SPDX-License-Identifier: BSD-3-Clause
 * Opcode tests as data. A family is one line: a pattern that stands for several mnemonics, the
 * types of its operands, the PTX to run, and the function that knows the results. */
#ifndef SOFTGPU_CHECK_OPCODE_H
#define SOFTGPU_CHECK_OPCODE_H

#include "num.h"

#include <stddef.h>

enum { OP_MODS = 12, OP_SOURCES = 5, OP_DESTS = 4, OP_WARP = 32 };

struct insn {
    char name[96]; /* the full mnemonic */
    char text[96]; /* what the pointers below point into */
    const char *op;
    const char *mod[OP_MODS];
    const char *type[OP_MODS]; /* the modifiers that are types, in order */
    int nmods, ntypes;
};

bool insn_has(const struct insn *in, const char *mod);
const char *insn_type(const struct insn *in, int from_end); /* 0: the last */
int type_bits(const char *type);                            /* pred: 1; 0: not a type */
bool type_is_signed(const char *type);
bool type_is_pair(const char *type);              /* f16x2 and the like: two values in 32 bits */
enum num_round insn_round(const struct insn *in); /* default RN */

enum rule {
    RULE_BITS, /* equal in every bit */
    RULE_NAN,  /* any NaN of the type */
    RULE_NEAR, /* a number within tolerance of value; infinite value: the same infinity */
    RULE_ANY,  /* unspecified by the PTX ISA */
};

struct want {
    enum rule rule;
    uint64_t bits;
    long double value, tolerance;
};

/* s: raw bits of the sources, zero-extended. w: one per destination, or per half of an x2 type. */
typedef void ref_fn(const struct insn *in, const uint64_t *s, struct want *w);

/* A whole warp: s[lane][source], w[lane][dest], mask: lanes that execute the instruction. */
typedef void warp_fn(const struct insn *in, uint64_t s[OP_WARP][OP_SOURCES],
                     struct want w[OP_WARP][OP_DESTS], uint32_t mask);

struct family {
    /* "add{.rn,.rz,}{.ftz,}.f32": one alternative of each brace */
    const char *pattern;
    /* "T,u32=T,T": destinations = sources. T: the mnemonic's last type; S: the one before it;
     * W: twice T's width; U: unsigned of T's width; B: bits of T's width; count: a u32 that is
     * mostly small, for shifts and positions; segment, common: u32s for warp operations */
    const char *types;
    /* NULL: "$m $d, $a, $b...;". Destinations $d $e $f $h; sources $a $b $c $x $y, as 64 bits
     * $A...; memory of the thread: $g (global), $s (shared), $l (local), $G $S $L (generic);
     * $m the mnemonic with its guard; $n without; $p scratch predicate, $t $u 64- and 32-bit
     * scratch; $T the mnemonic's last type as bits; $Z its bytes */
    const char *text;
    ref_fn *ref;
    warp_fn *warp;
    /* What a destination holds where the guard is false: '-' what it held, 'a'... a source.
     * NULL: '-' for all. */
    const char *idle;
    unsigned flags;
};

enum {
    OP_HALVES = 1,   /* ref is for one half: run it for each half of x2 types */
    OP_NO_ALIAS = 2, /* destination must differ from the sources */
    OP_NO_IMM = 4,   /* the last source can't be an immediate */
    OP_NO_GUARD = 8, /* not to be guarded lane by lane */
};

struct table {
    const char *name;
    const struct family *family;
    size_t n;
};

extern const struct table table_int, table_logic, table_float, table_half, table_approx, table_cvt,
    table_compare, table_memory, table_atomic, table_warp, table_move;

/* Calls fn for each mnemonic of the pattern. */
void pattern_expand(const char *pattern, void (*fn)(const char *mnemonic, void *arg), void *arg);
void insn_parse(struct insn *in, const char *mnemonic);

/* Runs the mnemonic and judges it. NULL, or a malloc'ed message. */
char *opcode_run(const struct family *family, const char *mnemonic, uint64_t seed);
/* The PTX module that opcode_run loads; malloc'ed. */
char *opcode_ptx(const struct family *family, const struct insn *in, uint64_t seed);

/* Help for the functions that know results. */
void want_bits(struct want *w, uint64_t bits);
/* Rounds to the type; a NaN must be the canonical one unless it is f64 (any NaN). */
void want_num(struct want *w, const struct num_format *f, struct num x, enum num_round mode);
/* With the modifiers .ftz, .sat, .relu of the instruction. */
void want_result(struct want *w, const struct insn *in, const struct num_format *f, struct num x);
/* Decoded source, flushed where the instruction says .ftz. */
struct num source_num(const struct insn *in, const struct num_format *f, uint64_t bits);
int64_t sign_extend(uint64_t v, int bits);
uint64_t low_bits(uint64_t v, int bits);

#define TABLE(_name, _families)                                                                    \
    const struct table _name = {#_name, _families, sizeof _families / sizeof _families[0]}

#endif
