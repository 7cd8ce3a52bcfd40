/* SPDX-License-Identifier: BSD-3-Clause
 * APEXSHIM_VERIFY: now and then the original call runs too, into scratch, and the difference is
 * noted on the device with the totals of the site. The program's result is that of the converted
 * call, as ever; nothing waits. */
#ifndef APEXSHIM_VERIFY_H
#define APEXSHIM_VERIFY_H

#include "base/env.h"
#include "kernels/kernels.h"
#include "gemm/gemm.h"
#include "gemm/site.h"

#include <stdbool.h>
#include <stddef.h>

struct scratch;

/* Where a result lies: rows contiguous elements, cols x batch of them. */
struct verify_matrix {
    const void *data;
    int64_t rows, cols, batch, ld, stride;
};

struct verify {
    struct context *context;
    CUstream stream;
    struct scratch *scratch; /* NULL: this call is not verified */
    uint32_t site;
    struct verify_matrix original;
};

/* Tells site_error of the comparison that was seen last, if that is news. */
void verify_hand_on(struct site *site, enum path path);

/* Is it this call's turn? Also hands on what earlier ones have shown. */
bool verify_due(const struct env *env, struct site *site, enum path path);

/* Scratch for a result of so many bytes, on a stream that does not capture. False: not now. */
bool verify_take(struct verify *v, const struct gemm *g, size_t bytes);

/* The cuBLAS entry points: runs the original. v->scratch is NULL where that can't be done. */
void verify_original(struct verify *v, const struct gemm *g);

/* Gives the scratch back: this call is not verified after all. */
void verify_drop(struct verify *v);

/* After the converted call: compares its result and gives the scratch back. */
void verify_compare(struct verify *v, const struct verify_matrix *result);

#endif
