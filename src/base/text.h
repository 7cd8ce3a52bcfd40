/* SPDX-License-Identifier: BSD-3-Clause
 * Words and numbers as users write them. */
#ifndef APEXSHIM_TEXT_H
#define APEXSHIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The index of a word among "a|b|c", ignoring case; -1: none. */
int text_choice_index(const char *choices, const char *word);
/* Levenshtein distance, letters compared without case; only the first 64 bytes count. */
unsigned text_distance(const char *a, size_t na, const char *b, size_t nb);
/* The choice nearest to a word, but for those with '<' in them; its length in *len_p. */
const char *text_nearest_choice(const char *choices, const char *word, size_t *len_p);

/* A decimal number that is the whole text but for a suffix. False: it is not, or not finite. */
bool text_number(const char *text, const char *suffix, double *number_p);

/* Three digits of a number; returns text. */
enum { TEXT_NUMBER_BYTES = 32 };
const char *text_of_number(double number, char text[TEXT_NUMBER_BYTES]);

#endif
