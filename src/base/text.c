/* SPDX-License-Identifier: BSD-3-Clause
 * Words and numbers of variables and files, read alike whatever the program's locale is. Owns
 * nothing. */
#include "config.h"
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 64, DIGITS_MAX = 64 };

int text_choice_index(const char *choices, const char *word)
{
    const size_t len = strlen(word);
    int i = 0;
    for (const char *p = choices;; i++) {
        size_t n = strcspn(p, "|");
        if (n == len && strncasecmp(p, word, n) == 0)
            return i;
        if (p[n] == '\0')
            return -1;
        p += n + 1;
    }
}

unsigned text_distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned row[WORD_MAX + 1];
    if (na > WORD_MAX)
        na = WORD_MAX;
    if (nb > WORD_MAX)
        nb = WORD_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned substitute = diagonal + (strncasecmp(a + i - 1, b + j - 1, 1) != 0);
            unsigned best = substitute;
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *text_nearest_choice(const char *choices, const char *value, size_t *len_p)
{
    const char *best = choices;
    unsigned best_distance = UINT32_MAX;
    for (const char *p = choices;;) {
        size_t n = strcspn(p, "|");
        unsigned d = text_distance(p, n, value, strlen(value));
        if (d < best_distance && memchr(p, '<', n) == NULL) {
            best_distance = d;
            best = p;
            *len_p = n;
        }
        if (p[n] == '\0')
            return best;
        p += n + 1;
    }
}

bool text_number(const char *text, const char *suffix, double *number_p)
{
    const size_t n = strspn(text, "0123456789.eE+-");
    char digits[DIGITS_MAX], *end;
    if (n == 0 || n >= sizeof digits || strcmp(text + n, suffix) != 0)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    /* A program's locale may have another decimal point. */
    *number_p = strtod_l(digits, &end, newlocale(LC_ALL_MASK, "C", (locale_t)0));
    return *end == '\0' && isfinite(*number_p);
}

const char *text_of_number(double number, char text[TEXT_NUMBER_BYTES])
{
    const locale_t old = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    snprintf(text, TEXT_NUMBER_BYTES, "%.3g", number);
    uselocale(old);
    return text;
}
