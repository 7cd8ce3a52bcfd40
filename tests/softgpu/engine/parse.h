/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the two halves of the parser: declarations (parse.c) and function bodies (body.c). */
#ifndef SOFTGPU_PARSE_H
#define SOFTGPU_PARSE_H

#include "lex.h"

/* Nested lists and blocks: deeper than any compiler goes, but no danger to the stack. */
enum { MAX_NESTING = 64 };

/* Names of one pair of braces. */
struct scope {
    struct scope *up;
    unsigned depth;
    struct map regs, vars, labels;
};

struct parser {
    struct lexer lx;
    struct loader *ld;
    struct ptx_module *module;
    struct ptx_func *func;
    struct scope *scope;
    /* operands that may name a label further down */
    struct pending {
        struct ptx_operand *operand;
        struct scope *scope;
    } *pending;
    unsigned npending, pending_room;
    /* names that only this text knows, and what they are called among all texts */
    struct map locals;
    unsigned text; /* its number */
    unsigned nesting; /* of lists being parsed */
    struct ptx_operand **symbol; /* operands that name something outside their function */
    unsigned nsymbols, symbols_room;
};

struct linkage {
    bool external, visible, weak;
};

/* parse.c: one variable after its space, up to its ; or , It has the type of the one before it in a
 * list, if there is one. */
struct ptx_var *parse_var(struct parser *ps, enum ptx_space space, struct linkage linkage,
                          const struct ptx_var *before);
void skip_line(struct parser *ps);  /* a debug directive: ends with its line */
void skip_block(struct parser *ps); /* from { to its } */
uint64_t parse_int(struct parser *ps);
void nest(struct parser *ps); /* one list more; its end is --ps->nesting */

/* body.c: from { to } */
void parse_body(struct parser *ps, struct ptx_func *func);

#endif
