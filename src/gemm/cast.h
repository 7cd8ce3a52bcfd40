/* SPDX-License-Identifier: BSD-3-Clause
 * 16-bit copies of two FP32 operands, scaled by powers of two where their format needs it, and the
 * scalars that undo it, all on the device and in stream order. Shared by the engines that end in
 * cublasLtMatmul. */
#ifndef APEXSHIM_CAST_H
#define APEXSHIM_CAST_H

#include "base/stats.h"
#include "device/kernels.h"
#include "gemm/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scratch;
struct site;

/* A matrix as it lies in memory: cols runs of rows contiguous elements, ld apart (elements). For a
 * row-major matrix rows is its number of columns. stride 0 with a batch: one matrix for all. */
struct cast_operand {
    const void *data;
    int64_t rows, cols, ld, stride, batch;
    bool k_along_rows; /* the contiguous dimension is the one that the GEMM sums over */
    /* Filled in by cast_plan: the copy's leading dimension and batch stride (elements). */
    int64_t copy_ld, copy_stride;
    size_t copy_bytes;
    void *copy; /* filled in by cast_begin */
    struct apex_source source;
    uint32_t blocks;
    uint32_t tiles; /* of a format that turns */
};

struct cast {
    struct context *context;
    CUstream stream;
    uint64_t capture; /* context_capture_id of the stream */
    enum apex_format format;
    enum apex_mode mode;
    int fixed_exponent;   /* of both operands, in mode APEX_FIXED */
    uint32_t site;        /* index of its totals, below APEX_SITES */
    int64_t k;
    struct cast_operand operand[2]; /* A, B */
    const float *alpha, *beta;
    bool device_scalars;
    /* Filled in by cast_plan: the GEMM sums over parts of the copies' K, one after the other. */
    int parts;
    int64_t part_k;       /* of all but the last, in elements of the copies' K */
    int64_t total_k;
    /* Filled in by cast_begin. */
    const float *scaled_alpha, *scaled_beta, *one; /* on the device: for pointer mode DEVICE */
    void *workspace;
    struct scratch *scratch;
};

/* The format, mode and exponent of a path, as was decided for the site. False: not a path of copies. */
bool cast_choose(struct cast *cast, enum path path, const struct site *site);
/* Does the format lay both copies with K along their rows, whatever the operands have? */
bool cast_turns(enum apex_format format);
/* Decides the shape of the copies; no CUDA call. */
void cast_plan(struct cast *cast);
/* Takes scratch and enqueues the kernels. REASONS: go on with the GEMM, then cast_end. Otherwise
 * nothing is held and the call must be forwarded. */
enum reason cast_begin(struct cast *cast, size_t workspace_bytes);
/* Where part i of a copy starts, and how long its K is. */
const void *cast_part(const struct cast *cast, int operand, int i);
int64_t cast_part_k(const struct cast *cast, int i);
/* The GEMM that reads the copies has been enqueued (or failed to be). */
void cast_end(struct cast *cast);

#endif
