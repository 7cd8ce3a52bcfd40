/* SPDX-License-Identifier: BSD-3-Clause
 * One conformance case: a drawn call with its data on the host. */
#ifndef CONFORMANCE_PROBLEM_H
#define CONFORMANCE_PROBLEM_H

#include "conformance/random.h"
#include "conformance/routine.h"

/* Memory of the device, with its copy on the host before and after the call. Matrices of one
 * problem may share a buffer. */
enum buffer_name {
    BUFFER_A, BUFFER_B, BUFFER_C, BUFFER_D, BUFFER_SCALARS, BUFFER_BIAS, BUFFER_AUX,
    BUFFER_ARRAYS, /* the pointers of A, then of B, then of C */
    BUFFERS
};
struct buffer {
    size_t bytes, misaligned; /* the latter: from the start of the allocation, also in bytes */
    unsigned char *before, *after;
    bool *ours; /* for each byte: the call may write it; NULL: none */
    char *device;
};

struct matrix {
    enum buffer_name buffer;
    enum number number;
    int64_t first; /* element of the buffer */
    int64_t rows, cols, ld, stride, batch;
    bool row_order, backwards; /* backwards: entry i of a pointer array is the last but i */
};

/* One group; every other call has one. */
struct part {
    cublasOperation_t transa, transb;
    int64_t m, n, k, batch;
    struct matrix a, b, c, d; /* d is c but for cublasLtMatmul */
    struct value alpha, beta;
};

enum alias { SEPARATE, SAME_OPERANDS, OVERLAPPING_OPERANDS, C_IN_PADDING, SAME_SCALARS, ALIASES };
enum special { NONE, IN_A, IN_B, IN_C, ZERO_A, NAN_C };

struct problem {
    const struct routine *routine;
    struct part part[MOST_PARTS];
    int parts;
    enum number ab, cd, scale;
    int compute; /* cublasComputeType_t or the number of a cudaDataType; 0 where not taken */
    int math;    /* cublasMath_t with its flags */
    bool device_scalars;
    int atomics, sm_count, error_number; /* state that must survive the call */
    int algo;
    enum alias alias;
    enum special special;
    struct buffer buffer[BUFFERS];
    struct {
        uint32_t epilogue;
        int32_t pointers; /* cublasLtPointerMode_t */
        int64_t aux_ld, aux_stride, bias_stride;
        bool no_c_layout; /* Cdesc NULL: as D's */
        size_t workspace;
    } lt;
};

/* What is drawn. */
struct drawing {
    uint64_t random;
    bool plain; /* only what is converted without doubt: plain FP32 requests */
    bool real;  /* not what only a stand-in is sure to take */
};

void problem_draw(struct drawing *drawing, const struct routine *routine, struct problem *p);
void problem_free(struct problem *p);
/* All that tells cases apart, but for the data. */
void problem_describe(const struct problem *p, char *text, size_t bytes);

/* Index into its buffer of an element of a matrix. */
int64_t matrix_at(const struct matrix *x, int64_t entry, int64_t row, int64_t col);
/* Numbers in the host's copies. */
struct value problem_before(const struct problem *p, const struct matrix *x, int64_t at);
struct value problem_after(const struct problem *p, const struct matrix *x, int64_t at);

void problem_draw_lt(struct drawing *drawing, struct problem *p);
void buffer_allocate(struct buffer *b, size_t bytes); /* filled with NaN */
void buffer_own(struct buffer *b, size_t from, size_t bytes);

bool epilogue_has_bias(uint32_t epilogue);     /* reads a bias */
bool epilogue_makes_bias(uint32_t epilogue);   /* writes a gradient of one */
bool epilogue_has_mask(uint32_t epilogue);     /* AUX is bits */
bool epilogue_has_aux(uint32_t epilogue);
bool epilogue_reads_aux(uint32_t epilogue);

#endif
