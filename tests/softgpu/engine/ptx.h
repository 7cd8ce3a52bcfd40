/* SPDX-License-Identifier: BSD-3-Clause
 * PTX text as data: what the parser makes and the decoder reads. Everything lives in the loader's
 * pool; names of other functions, module variables and labels are resolved by the decoder. */
#ifndef SOFTGPU_PTX_H
#define SOFTGPU_PTX_H

#include "pool.h"

#include <setjmp.h>

/* Basic types in the order of type_names[] in lex.c. */
enum ptx_type {
    T_NONE,
    T_B8, T_B16, T_B32, T_B64, T_B128,
    T_U8, T_U16, T_U32, T_U64,
    T_S8, T_S16, T_S32, T_S64,
    T_F16, T_F16X2, T_BF16, T_BF16X2, T_F32, T_F64, T_TF32,
    T_E4M3X2, T_E5M2X2,
    T_PRED,
    T_TYPES
};

enum ptx_space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM };

extern const char *const ptx_type_names[T_TYPES]; /* "b8", ... */
enum ptx_type ptx_type_of(const char *name);      /* T_NONE: not a type */
unsigned ptx_type_bytes(enum ptx_type type);      /* f16x2: 4; pred: 0 */

/* What a name in an initialiser or operand adds: its address, perhaps as a generic one. */
struct ptx_init {
    const char *symbol; /* NULL: bits alone */
    uint64_t bits;      /* value, or offset from the symbol */
    uint64_t mask;      /* which byte of the address: 0xff, 0xff00, ...; 0: all of it */
    bool generic;
    unsigned line;
};

struct ptx_var {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    unsigned align, vector, line; /* vector: elements of the basic type in one of its type */
    uint64_t bytes;     /* 0: sized by the launch (extern shared) or by another module */
    bool external, weak, visible, managed;
    bool in_reg;        /* a parameter or result of a function that is declared as .reg */
    unsigned reg;       /* then: which register of the function */
    struct ptx_init *init; /* one per element of the basic type */
    unsigned ninit, init_room;
    /* the decoder's */
    uint64_t address;   /* of a module variable */
    uint32_t offset;    /* in the window, the frame or the parameter buffer */
    bool in_buffer;     /* a kernel's parameter */
    unsigned mark;
};

enum ptx_operand_kind {
    O_REG,    /* reg, perhaps negated */
    O_IMM,    /* bits, float_kind */
    O_SYMBOL, /* name (+ off), var when it is local to the function */
    O_SREG,   /* name of a special register */
    O_MEM,    /* [base + off]: base is list[0] */
    O_VECTOR, /* {list} */
    O_PAREN,  /* (list) of a call */
    O_SINK,   /* _ */
};

enum ptx_float_kind { IMM_INT, IMM_F32, IMM_F64 };

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool neg;
    enum ptx_float_kind float_kind;
    unsigned reg, n;
    int64_t off;
    uint64_t bits;
    const char *name;
    struct ptx_var *var;
    struct ptx_label *label; /* of a symbol that names one in scope */
    struct ptx_operand *list;
    struct ptx_operand *second; /* q of p|q */
};

struct ptx_label {
    const char *name;
    unsigned at; /* index of the instruction it stands before */
    bool placed;
    struct ptx_label **targets; /* of .branchtargets */
    unsigned ntargets, targets_room;
};

enum { PTX_MAX_MODS = 16 };

struct ptx_insn {
    const char *mnemonic;   /* full, as written */
    const char *op;         /* up to the first dot */
    const char *mod[PTX_MAX_MODS];
    unsigned nmods, line, n;
    int guard;              /* predicate register, or -1 */
    bool guard_neg;
    struct ptx_operand *operand;
};

struct ptx_func {
    const char *name;
    bool entry, has_body, external, weak, visible;
    unsigned line, max_threads;
    struct ptx_var **param, **ret;
    unsigned nparams, nrets, params_room, rets_room;
    enum ptx_type *reg; /* type of each register */
    unsigned nregs, regs_room;
    struct ptx_insn *insn;
    unsigned ninsns, insns_room;
    struct ptx_var **var; /* shared, local and param variables of the body */
    unsigned nvars, vars_room;
    /* the decoder's */
    unsigned index, mark, slot; /* slot: of its routine in the program in work */
};

struct ptx_module {
    struct ptx_func **func;
    unsigned nfuncs, funcs_room;
    struct ptx_var **var;
    unsigned nvars, vars_room;
    struct map funcs, vars; /* by name */
    unsigned texts;         /* read so far */
};

/* What a load carries along: its memory and where an error goes. */
struct loader {
    struct pool pool;
    const char *origin;
    char *error; /* malloc'ed */
    size_t kept; /* bytes that stay, of what the pool may take in all */
    jmp_buf failed;
};

_Noreturn void loader_fail(struct loader *ld, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the text's functions and variables to the module. Does not return on an error. */
void ptx_parse(struct loader *ld, struct ptx_module *module, const char *text, size_t len);

/* Splits a mnemonic at its dots into op and mods. False: too many. */
bool ptx_split(struct pool *pool, const char *mnemonic, struct ptx_insn *insn);

#endif
