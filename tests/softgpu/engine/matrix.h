/* SPDX-License-Identifier: BSD-3-Clause
 * Element types and the product of small matrices, for mma and wmma (matrix.c). */
#ifndef SOFTGPU_MATRIX_H
#define SOFTGPU_MATRIX_H

#include "decode.h"

enum element {
    E_NONE, E_F16, E_BF16, E_TF32, E_F32, E_F64, E_E4M3, E_E5M2, E_S8, E_U8, E_S32
};

enum { MAX_M = 32, MAX_N = 32, MAX_K = 32 };

struct shape {
    uint8_t m, n, k;
};

enum element element_of(const char *name); /* E_NONE: not one */
unsigned element_bytes(enum element e);
bool element_is_int(enum element e);
double element_read(enum element e, const void *p);
void element_write(enum element e, void *p, double v);
/* "m16n8k16"; false: no shape */
bool matrix_shape(const char *name, struct shape *out);

/* d = a b + c. Every sum is formed in double, in the order of k, and rounded once to the type of d,
 * which is closer than hardware is; integers wrap, or saturate if asked to. */
void matrix_multiply(const struct shape *s, enum element d_type, bool saturate,
                     double a[MAX_M][MAX_K], double b[MAX_K][MAX_N], double c[MAX_M][MAX_N]);

/* All 32 lanes must be here. NULL: they are; else what the operation has to return. */
const struct insn *all_lanes(struct warp *w, const struct insn *i);

#endif
