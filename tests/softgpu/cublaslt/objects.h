/* SPDX-License-Identifier: BSD-3-Clause
 * What lies behind the opaque descriptors of cuBLASLt. A program owns their memory (or Create
 * does); the sizes fit those of older headers. Enumerators are kept in one byte where they fit. */
#ifndef LT_OBJECTS_H
#define LT_OBJECTS_H

#include "../cublas/gemm.h"

#include <cublasLt.h>

struct cublasLtContext {
    struct blas_base base;
};

struct lt_desc {
    int8_t compute, scale_type, pointer_mode, transa, transb, transc, fill, fast_accum;
    int8_t aux_type, bias_type; /* -1: as D */
    int8_t scale_mode[5];       /* A, B, C, D, aux */
    int8_t d_out_mode;
    int16_t epilogue;
    int32_t sm_count;
    void *bias, *aux;
    int64_t bias_stride, aux_ld, aux_stride, alpha_stride;
    void *scale[5], *d_amax, *aux_amax; /* scale: A, B, C, D, aux */
    void *d_out, *emulation;
};

struct lt_layout {
    int32_t type, order;
    uint64_t rows, cols;
    int64_t ld;
    int32_t batch, batch_mode;
    int64_t stride, plane;
};

struct lt_preference {
    uint64_t workspace, impl_mask;
    uint32_t search, reduction_mask, align[4];
    float waves;
};

struct lt_transform {
    int32_t scale_type, pointer_mode, transa, transb;
};

struct lt_emulation {
    int32_t strategy, special, control, max_bits, offset;
    int32_t *bits;
};

/* A configured algorithm: plain data, as the program may store it. */
struct lt_algo {
    uint32_t magic;
    int8_t compute, scale_type, type[4]; /* A, B, C, D */
    uint16_t id, tile, stages, inner, cluster;
    uint32_t split_k, reduction, swizzle, custom;
    uint8_t align[4]; /* bytes that A, B, C, D must be aligned to */
};

/* One attribute: where it lies, how wide it is there and to the caller. */
struct attribute {
    int id;
    uint16_t offset;
    uint8_t width, api;
    bool read_only;
};

cublasStatus_t attribute_set(const struct attribute *table, size_t n, void *object, int id,
                             const void *buf, size_t bytes);
cublasStatus_t attribute_get(const struct attribute *table, size_t n, const void *object, int id,
                             void *buf, size_t bytes, size_t *written);
/* Hands out bytes by the rules of GetAttribute. */
cublasStatus_t attribute_copy(const void *value, size_t value_bytes, void *buf, size_t bytes,
                              size_t *written);

/* ENTER("cublasLtMatmul", "format", ...): the first statement of an entry point. */
#define ENTER(_name, ...)                                                                          \
    do {                                                                                           \
        cublasStatus_t injected =                                                                  \
            gpu_enter("cublasLt", _name, __builtin_return_address(0), __VA_ARGS__);                \
        if (injected != CUBLAS_STATUS_SUCCESS)                                                     \
            return injected;                                                                       \
    } while (0)

/* Checks the descriptors against each other and fills all of op but addresses and scalars. */
cublasStatus_t lt_problem(const struct blas_base *base, const struct lt_desc *desc,
                          const struct lt_layout *a, const struct lt_layout *b,
                          const struct lt_layout *c, const struct lt_layout *d, struct gemm_op *op);
/* True when cuBLASLt multiplies these types at all. */
bool lt_types_known(int compute, int scale, int a, int b, int c, int d);

/* Algorithms that can do op, the best first, with what they need of alignment and workspace.
 * align: guaranteed alignment of A, B, C, D in bytes. Returns how many of at most max. */
int lt_algorithms(const struct gemm_op *op, const struct lt_desc *desc, const uint32_t align[4],
                  const struct lt_preference *preference, int multiprocessors,
                  cublasLtMatmulHeuristicResult_t *results, int max);
/* A program's algorithm against a problem. *workspace_p: bytes that it needs. */
cublasStatus_t lt_algo_check(const struct lt_algo *algo, const struct gemm_op *op,
                             const struct lt_desc *desc, size_t *workspace_p);

#endif
