/* SPDX-License-Identifier: BSD-3-Clause
 * The parts of check_matrix, and what they share: element types and random matrices. No state. */
#ifndef SOFTGPU_CHECK_MATRIX_TESTS_H
#define SOFTGPU_CHECK_MATRIX_TESTS_H

#include "device.h"
#include "num.h"
#include "random.h"

#include <check.h>

TCase *tcase_mma(void);
TCase *tcase_move(void);
TCase *tcase_wmma(void);
void mma_list(void);
void move_list(void);
void wmma_list(void);

/* Text that grows in a buffer of the caller's. */
struct writer {
    char text[32768];
    size_t n;
};

__attribute__((format(printf, 2, 3))) void put(struct writer *w, const char *format, ...);
/* "{%<name>0, %<name>1, ...}" */
void put_list(struct writer *w, const char *name, int n);

int cell_bits(const char *type);
bool cell_is_int(const char *type);
/* A small integer in the type; integers of the whole range where the type is one. */
uint64_t cell_random(const char *type, struct random *r);
/* The value an element stands for: doubles hold all products and sums exactly. */
double cell_value(const char *type, uint64_t bits);
/* sum in the type: integers wrap, or saturate. */
uint64_t cell_sum(const char *type, double sum, bool saturate);
uint64_t cell_get(const void *p, size_t i, int bits);
void cell_put(void *p, size_t i, int bits, uint64_t v);

#endif
