/* SPDX-License-Identifier: BSD-3-Clause
 * Tokens of PTX. A word is a name, an opcode with its dots, a directive or a special register. */
#ifndef SOFTGPU_LEX_H
#define SOFTGPU_LEX_H

#include "ptx.h"

enum token { TOK_END, TOK_WORD, TOK_NUMBER, TOK_STRING, TOK_PUNCT };

struct lexer {
    struct loader *ld;
    const char *at, *end;
    unsigned line;
    enum token token;
    unsigned token_line;
    char punct;              /* of TOK_PUNCT */
    const char *text;        /* of TOK_WORD and TOK_STRING, in the pool */
    uint64_t bits;           /* of TOK_NUMBER */
    enum ptx_float_kind kind;
};

void lex_next(struct lexer *lx);
bool lex_is(const struct lexer *lx, char punct);
bool lex_accept(struct lexer *lx, char punct); /* takes it if it is there */
void lex_expect(struct lexer *lx, char punct);
bool lex_word(const struct lexer *lx, const char *word);
const char *lex_name(struct lexer *lx); /* takes a word */

#endif
