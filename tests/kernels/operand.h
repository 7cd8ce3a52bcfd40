/* SPDX-License-Identifier: BSD-3-Clause
 * One operand of a call of the kernels and its copy: random shapes and layouts, memory in which
 * padding is recognised, and what the copy must be, bit for bit, by tests/reference. */
#ifndef KERNELS_OPERAND_H
#define KERNELS_OPERAND_H

#include "kernels/draw.h"
#include "kernels/gpu.h"
#include "reference/pieces.h"

#include <stdbool.h>

struct operand {
    enum ref_format format;
    int index; /* 0: A, 1: B */
    int64_t rows, cols, batch;
    int64_t ld, stride; /* of the source, in elements */
    bool k_along_rows;
    bool flat;      /* the walk sees one column */
    int64_t offset; /* of the source within its memory: misaligned where not a multiple of 4 */
    float *host;    /* of the source's memory */
    size_t elements;
    CUdeviceptr memory;
    int64_t copy_ld, copy_stride, copy_cols;
    int64_t k, part;     /* of a split format: K, rounded up, and its parts */
    uint16_t *copy_host; /* what the copy's memory held before */
    size_t copy_elements;
    CUdeviceptr copy;
    uint32_t blocks;
    struct apex_source source;
    struct apex_target target;
};

/* What a shape is to be; the rest is drawn. */
struct shape {
    int64_t rows, cols, batch;
    bool k_along_rows, dense; /* dense: no padding anywhere */
};

/* most_blocks bounds the random grid. */
void operand_make(struct operand *o, enum ref_format format, int index, const struct shape *shape,
                  enum data data, uint32_t most_blocks);
void operand_free(struct operand *o);

double operand_amax(const struct operand *o); /* largest finite magnitude */
uint64_t operand_lost(const struct operand *o, int exponent);
void operand_check_copy(const struct operand *o, int exponent, const char *when);
void operand_check_source(const struct operand *o); /* nobody has written to it */

#endif
