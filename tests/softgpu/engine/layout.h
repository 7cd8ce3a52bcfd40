/* SPDX-License-Identifier: BSD-3-Clause
 * The decoder's steps before and after the code of each function: what a kernel reaches (reach.c),
 * where variables lie (layout.c), which registers never change (constants.c). */
#ifndef SOFTGPU_LAYOUT_H
#define SOFTGPU_LAYOUT_H

#include "decode.h"

/* The functions that a kernel may run, itself first. */
struct reach {
    struct ptx_func **func;
    unsigned n, room;
};

/* Marks what the kernel reaches, shared variables too. Sets d->indirect. */
void reach_kernel(struct decoder *d, struct reach *r, struct ptx_func *kernel);
/* Frames and local memory for the deepest chain of calls. */
void size_stacks(struct decoder *d, const struct reach *r, struct ptx_func *kernel);

/* Rows for a function's parameters and results come first, so that callers know them. */
void place_formals(struct decoder *d, struct ptx_func *func, struct routine *r);
void place_body_vars(struct decoder *d);
void place_shared(struct decoder *d, const struct reach *r, const struct ptx_func *kernel);

/* Finds the constant registers of d->func. */
void find_constants(struct decoder *d);

static inline uint32_t align_to(uint32_t n, uint32_t to)
{
    return to ? (n + to - 1) / to * to : n;
}

#endif
