/* SPDX-License-Identifier: BSD-3-Clause
 * Lexer of PTX text, and the table of basic types. */
#include "lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const ptx_type_names[T_TYPES] = {
    "", "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64",
    "f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "tf32", "e4m3x2", "e5m2x2", "pred",
};

enum ptx_type ptx_type_of(const char *name)
{
    for (int t = 1; t < T_TYPES; t++)
        if (strcmp(ptx_type_names[t], name) == 0)
            return (enum ptx_type)t;
    return T_NONE;
}

unsigned ptx_type_bytes(enum ptx_type type)
{
    static const uint8_t bytes[T_TYPES] = {
        0, 1, 2, 4, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 2, 4, 4, 8, 4, 2, 2, 0,
    };

    return bytes[type];
}

static bool word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static bool word_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_blank(struct lexer *lx)
{
    while (lx->at < lx->end) {
        if (*lx->at == '\n') {
            lx->line++;
            lx->at++;
        } else if (isspace((unsigned char)*lx->at) || *lx->at == '\0') {
            lx->at++;
        } else if (lx->end - lx->at >= 2 && lx->at[0] == '/' && lx->at[1] == '/') {
            while (lx->at < lx->end && *lx->at != '\n')
                lx->at++;
        } else if (lx->end - lx->at >= 2 && lx->at[0] == '/' && lx->at[1] == '*') {
            unsigned start = lx->line;

            lx->at += 2;
            while (lx->end - lx->at >= 2 && !(lx->at[0] == '*' && lx->at[1] == '/')) {
                lx->line += *lx->at == '\n';
                lx->at++;
            }
            if (lx->end - lx->at < 2)
                loader_fail(lx->ld, start, "comment without end");
            lx->at += 2;
        } else {
            return;
        }
    }
}

static void lex_string(struct lexer *lx)
{
    const char *start = ++lx->at;

    while (lx->at < lx->end && *lx->at != '"' && *lx->at != '\n')
        lx->at += *lx->at == '\\' && lx->end - lx->at > 1 ? 2 : 1;
    if (lx->at >= lx->end || *lx->at != '"')
        loader_fail(lx->ld, lx->line, "string without end");
    lx->text = pool_strndup(&lx->ld->pool, start, (size_t)(lx->at - start));
    lx->at++;
    lx->token = TOK_STRING;
}

static void lex_number(struct lexer *lx)
{
    char text[80], *stop;
    size_t n = 0;
    bool hex = lx->end - lx->at > 2 && lx->at[0] == '0' && strchr("xXfFdD", lx->at[1]);

    while (lx->at < lx->end && n < sizeof text - 1) {
        char c = *lx->at;
        bool sign = !hex && (c == '-' || c == '+') && n && strchr("eE", text[n - 1]);

        if (!isalnum((unsigned char)c) && c != '.' && !sign)
            break;
        text[n++] = c;
        lx->at++;
    }
    text[n] = 0;
    lx->token = TOK_NUMBER;
    lx->kind = IMM_INT;
    errno = 0;
    if (hex && strchr("fF", text[1])) {
        lx->bits = strtoull(text + 2, &stop, 16);
        lx->kind = IMM_F32;
    } else if (hex && strchr("dD", text[1])) {
        lx->bits = strtoull(text + 2, &stop, 16);
        lx->kind = IMM_F64;
    } else if (!hex && strpbrk(text, ".eE")) {
        double d = strtod(text, &stop);

        memcpy(&lx->bits, &d, sizeof d);
        lx->kind = IMM_F64;
    } else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
        lx->bits = strtoull(text + 2, &stop, 2);
    } else {
        lx->bits = strtoull(text, &stop, 0);
    }
    if (*stop == 'U' || *stop == 'u')
        stop++;
    if (*stop || n == sizeof text - 1 || (errno == ERANGE && lx->kind == IMM_INT) ||
        (lx->kind != IMM_INT && hex && n != (lx->kind == IMM_F32 ? 2 + 8 : 2 + 16)))
        loader_fail(lx->ld, lx->line, "bad number %s", text);
}

void lex_next(struct lexer *lx)
{
    char c;

    skip_blank(lx);
    lx->token_line = lx->line;
    lx->punct = 0;
    lx->text = "";
    if (lx->at >= lx->end) {
        lx->token = TOK_END;
        return;
    }
    c = *lx->at;
    if (c == '"') {
        lex_string(lx);
    } else if (isdigit((unsigned char)c)) {
        lex_number(lx);
    } else if (word_start(c)) {
        const char *start = lx->at++;

        /* a directive ends before the next dot: .reg.b16 is two words */
        while (lx->at < lx->end && !(c == '.' && *lx->at == '.')) {
            if (word_part(*lx->at))
                lx->at++;
            else if (lx->end - lx->at > 2 && lx->at[0] == ':' && lx->at[1] == ':')
                lx->at += 2;
            else
                break;
        }
        lx->text = pool_strndup(&lx->ld->pool, start, (size_t)(lx->at - start));
        lx->token = TOK_WORD;
    } else {
        lx->token = TOK_PUNCT;
        lx->punct = c;
        lx->at++;
    }
}

bool lex_is(const struct lexer *lx, char punct)
{
    return lx->token == TOK_PUNCT && lx->punct == punct;
}

bool lex_accept(struct lexer *lx, char punct)
{
    if (!lex_is(lx, punct))
        return false;
    lex_next(lx);
    return true;
}

static _Noreturn void unexpected(struct lexer *lx, const char *wanted)
{
    char one[2] = {lx->punct, 0};
    const char *got = lx->token == TOK_PUNCT ? one : lx->token == TOK_NUMBER ? "a number"
                      : lx->token == TOK_END ? "the end" : lx->text;

    loader_fail(lx->ld, lx->token_line, "expected %s, found %s", wanted, got);
}

void lex_expect(struct lexer *lx, char punct)
{
    char wanted[2] = {punct, 0};

    if (!lex_accept(lx, punct))
        unexpected(lx, wanted);
}

bool lex_word(const struct lexer *lx, const char *word)
{
    return lx->token == TOK_WORD && strcmp(lx->text, word) == 0;
}

const char *lex_name(struct lexer *lx)
{
    const char *name = lx->text;

    if (lx->token != TOK_WORD)
        unexpected(lx, "a name");
    lex_next(lx);
    return name;
}
