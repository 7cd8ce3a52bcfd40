/* SPDX-License-Identifier: BSD-3-Clause
 * What the host and the kernels share: the parameter blocks, passed by value, and the call record
 * in device memory. Plain C, also included by the .cu files. All sizes are in elements. */
#ifndef APEXSHIM_KERNELS_H
#define APEXSHIM_KERNELS_H

#include <stdint.h>

#define APEX_BLOCK_THREADS 256
/* Elements that one thread moves at a time: 2 loads of 16 bytes, 1 store of 16 bytes. */
#define APEX_VECTOR 8

/* How a grid walks over batch x cols columns of rows elements. A block is tx threads along the
 * rows and APEX_BLOCK_THREADS / tx columns at a time; blocks are a grid of segments of the rows
 * and groups of columns. */
struct apex_walk {
    int64_t rows, cols, batch;
    int64_t segment_rows;    /* a multiple of tx * APEX_VECTOR */
    uint32_t segments;       /* ceil(rows / segment_rows) */
    uint32_t groups;         /* blocks along the columns */
    uint32_t tx_log2;        /* 0..8 */
    uint32_t vector;         /* source columns start at 16-byte boundaries */
};

/* A column-major FP32 matrix (or strided batch of them). */
struct apex_source {
    const float *data;
    int64_t ld, stride;
    struct apex_walk walk;
};

/* Where its FP16 copy goes; 16-byte aligned, ld and stride multiples of APEX_VECTOR. */
struct apex_target {
    void *data;
    int64_t ld, stride;
};

/* The call record: written and read by the kernels of one call and read by its GEMM. Two slots of
 * maxima alternate between calls: the cast kernel clears the one for the next call. */
struct apex_record {
    uint32_t amax_bits[2][2]; /* [slot][A, B]: largest |x| over finite elements, as FP32 bits */
    float alpha, beta;        /* of the scaled GEMM */
    int32_t exponent[2];      /* of A, B: the copies hold x * 2^exponent */
    uint32_t reserved[8];
};

struct apex_amax_params {
    struct apex_source source[2]; /* A, B */
    uint32_t blocks_of_a;         /* the blocks from here on work on B */
    uint32_t slot;
    struct apex_record *record;
};

struct apex_cast_params {
    struct apex_source source[2];
    struct apex_target target[2];
    uint32_t blocks_of_a;
    uint32_t slot;
    struct apex_record *record;
    const float *alpha_device, *beta_device; /* NULL: the values below */
    float alpha, beta;
};

#define APEX_KERNEL_AMAX "apex_amax_f32"
#define APEX_KERNEL_CAST "apex_cast_f16"

#endif
