/* SPDX-License-Identifier: BSD-3-Clause
 * What the host and the kernels share: the parameter blocks, passed by value, and the records in
 * device memory. Plain C, also included by the .cu files. All sizes are in elements. */
#ifndef APEXSHIM_KERNELS_H
#define APEXSHIM_KERNELS_H

#include <stdint.h>

#define APEX_BLOCK_THREADS 256
/* Elements that one thread moves at a time: 2 loads of 16 bytes, 1 store of 16 bytes a piece. */
#define APEX_VECTOR 8

/* How a copy represents an FP32 element x. A split format is a sum of distinct pieces, each the
 * rounded rest of those before: x ~ x0 + x1 (+ x2). It stores several of them for each element, so
 * that one GEMM over the longer K is the sum of the wanted products, the small ones first: tensor
 * cores truncate their sums, and while the sum is small that costs nothing. K is cut into parts of
 * 2^part_log2 elements (the last may be shorter; K is rounded up to APEX_VECTOR, with zeros). In
 * the copy, part after part, lie the part's elements once for each stored piece, as follows. */
enum apex_format {
    APEX_FP16,   /* 1 piece, scaled */
    APEX_FP16X2, /* A: a1 a0 a0, B: b0 b1 b0; scaled */
    APEX_BF16,   /* 1 piece */
    APEX_BF16X3, /* as FP16X2, without scale */
    APEX_BF16X6, /* A: a0 a2 a1 a0 a1 a0, B: b2 b0 b1 b1 b0 b0 */
    APEX_FP8,    /* E4M3, scaled; both copies have K along their rows, whatever the source has */
    APEX_FP8_E5M2_A, /* the same with A, or B, in E5M2 */
    APEX_FP8_E5M2_B,
    APEX_FORMATS
};

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

/* A column-major FP32 matrix (or strided batch of them). Columns from cols on, up to those of the
 * walk, do not exist: they read as zero. */
struct apex_source {
    const float *data;
    int64_t ld, stride, cols;
    struct apex_walk walk;
};

/* Where its copy goes: 16-byte aligned, ld and stride multiples of APEX_VECTOR. Whole vectors are
 * written, zeros past the end of a column. */
struct apex_target {
    void *data;
    int64_t ld, stride;
    int64_t k;             /* a split format's K, rounded up to APEX_VECTOR */
    uint32_t part_log2;    /* and its parts */
    uint32_t k_along_rows; /* the contiguous dimension is K: pieces lie within a column */
};

/* The call record: written and read by the kernels of one call and read by its GEMM; clean again
 * (amax, lost, ticket zero) when the last of them has ended. It belongs to one stream or capture. */
struct apex_record {
    uint32_t amax_bits[2];   /* of A, B: largest |x| over finite elements, as FP32 bits */
    int32_t used[2];         /* exponents of the copies as first made */
    int32_t exponent[2];     /* exponents of the copies: they hold x * 2^exponent */
    float alpha, beta, one;  /* of the scaled GEMM; one: beta of its later parts along K */
    uint32_t ticket;         /* blocks of the last kernel that have ended */
    uint64_t lost[2][2];     /* [first cast, re-cast][A, B]: elements != 0 that became 0 or subnormal */
    double difference, reference; /* squares summed by apex_compare_f32 */
};

/* What the calls of one site have met; totals. On the device, and mirrored in host memory. */
struct apex_site {
    uint64_t calls;
    uint64_t misses;          /* operands re-cast because the predicted exponent was wrong */
    uint64_t lost[2];         /* elements of A, B */
    uint64_t elements[2];     /* of A, B, cast in all */
    uint64_t verified;        /* calls compared with the original */
    uint32_t worst_error_bits; /* largest ||C - C0|| / ||C0|| of those, as FP32 bits */
    uint32_t last_error_bits;
};

/* Predictions of exponents, beside each record: 0: none, else the exponent + APEX_PREDICTED. */
#define APEX_PREDICTIONS 1024
#define APEX_PREDICTED 1024
#define APEX_FIRST_GUESS 12 /* right for maxima in [1/2, 8) */

enum apex_mode {
    APEX_DYNAMIC, /* cast with predicted exponents, then check */
    APEX_EXACT,   /* maxima first, then cast */
    APEX_FIXED,   /* cast with given exponents; no check */
};

struct apex_amax_params {
    struct apex_source source[2]; /* A, B */
    uint32_t blocks_of_a;         /* the blocks from here on work on B */
    struct apex_record *record;
};

/* Of the cast and of the check that follows it. */
struct apex_cast_params {
    struct apex_source source[2];
    struct apex_target target[2];
    uint32_t blocks_of_a, blocks; /* of the cast; those of the check share them out */
    uint32_t mode;                /* enum apex_mode */
    int32_t fixed[2];             /* exponents in mode APEX_FIXED */
    int32_t *prediction[2];
    struct apex_record *record;
    struct apex_site *site, *mirror; /* device, host; NULL: not kept */
    uint64_t elements[2];
    const float *alpha_device, *beta_device; /* NULL: the values below */
    float alpha, beta;
};

/* D against the original's result R, both column-major rows x cols, batch of them. */
struct apex_compare_params {
    const float *result, *original;
    int64_t rows, cols, batch;
    int64_t result_ld, result_stride, original_ld, original_stride;
    struct apex_record *record;
    struct apex_site *site, *mirror;
};

/* A module's variable: struct apex_site [APEX_SITES], all zero when it is loaded. */
#define APEX_SITES 1024
#define APEX_SITES_NAME "apex_sites"

#define APEX_KERNEL_AMAX "apex_amax_f32"
#define APEX_KERNEL_COMPARE "apex_compare_f32"
/* By enum apex_format. The unscaled ones have no check; those of FP8 follow apex_amax_f32 and are
 * their own. */
#define APEX_KERNEL_CASTS                                                                          \
    "apex_cast_fp16", "apex_cast_fp16x2", "apex_cast_bf16", "apex_cast_bf16x3",                    \
        "apex_cast_bf16x6", "apex_cast_fp8", "apex_cast_fp8_e5m2_a", "apex_cast_fp8_e5m2_b"
#define APEX_KERNEL_CHECKS "apex_check_fp16", "apex_check_fp16x2", 0, 0, 0, 0, 0, 0

#endif
