/* SPDX-License-Identifier: BSD-3-Clause
 * FP16 copies of two FP32 operands, scaled by powers of two, and the scalars that undo it, all on
 * the device and in stream order. Shared by the engines that end in one cublasLtMatmul. */
#ifndef APEXSHIM_CAST_H
#define APEXSHIM_CAST_H

#include "base/stats.h"
#include "device/kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scratch;

/* A matrix as it lies in memory: cols runs of rows contiguous elements, ld apart (elements). For a
 * row-major matrix rows is its number of columns. stride 0 with a batch: one matrix for all. */
struct cast_operand {
    const void *data;
    int64_t rows, cols, ld, stride, batch;
    /* Filled in by cast_plan: the copy's leading dimension and batch stride (elements). */
    int64_t copy_ld, copy_stride;
    size_t copy_bytes;
    void *copy; /* filled in by cast_begin */
    struct apex_source source;
    uint32_t blocks;
};

struct cast {
    struct context *context;
    CUstream stream;
    struct cast_operand operand[2]; /* A, B */
    const float *alpha, *beta;
    bool device_scalars;
    /* Filled in by cast_begin. */
    const float *scaled_alpha, *scaled_beta; /* on the device: for pointer mode DEVICE */
    void *workspace;
    struct scratch *scratch;
};

/* Decides the shape of the copies; no CUDA call. */
void cast_plan(struct cast *cast);
/* Takes scratch and enqueues the kernels. REASONS: go on with the GEMM, then cast_end. Otherwise
 * nothing is held and the call must be forwarded. */
enum reason cast_begin(struct cast *cast, size_t workspace_bytes);
/* The GEMM that reads the copies has been enqueued (or failed to be). */
void cast_end(struct cast *cast);

#endif
