/* SPDX-License-Identifier: BSD-3-Clause
 * cublasLtMatmul on the shim's own descriptors: built, and an algorithm found, once for each shape,
 * and kept for the life of the process. */
#ifndef APEXSHIM_LT_H
#define APEXSHIM_LT_H

#include "base/real.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;

/* D = epilogue(alpha op(A) op(B) + beta C), FP32 C and D: everything that the choice of an
 * algorithm depends on. All members are set (unused ones 0), so that shapes compare as bytes. */
struct lt_shape {
    int64_t m, n, k, batch;
    int64_t lda, ldb, ldc, ldd, stride_a, stride_b, stride_c, stride_d;
    int64_t aux_ld, aux_stride, bias_stride;
    int32_t order_a, order_b, order_c, order_d; /* cublasLtOrder_t */
    int32_t a_type, b_type; /* cudaDataType */
    int32_t compute;      /* cublasComputeType_t */
    int32_t pointer_mode; /* cublasLtPointerMode_t */
    int32_t epilogue;     /* cublasLtEpilogue_t */
    int32_t sm_count;     /* target; 0: all */
    uint32_t a_alignment, b_alignment, c_alignment, d_alignment; /* powers of two, 0: 256 */
    uint32_t bias_alignment;
    uint64_t most_workspace; /* bytes; 0: the shim's own limit */
    int32_t transa, transb;
};

/* Whose functions, handle and context. */
struct lt_library {
    cublasLtHandle_t handle;
    const struct real_lt *real;
    struct context *context;
};

/* Pointers of an epilogue, which differ between calls of one shape. */
struct lt_epilogue {
    const void *bias;
    void *aux;
};

struct plan {
    struct lt_shape shape;
    const struct real_lt *real; /* the library that the descriptors belong to */
    bool usable;                /* false: there is no algorithm; it is not asked for again */
    size_t workspace_bytes;
    cublasLtMatmulDesc_t desc; /* without the pointers of an epilogue */
    cublasLtMatrixLayout_t a, b, c, d;
    cublasLtMatmulAlgo_t algo;
    atomic_bool has_run;    /* outside a capture: what it needs is loaded */
    struct plan *next;
};

/* The largest power of two, up to 256, that divides an address. */
uint32_t lt_alignment(const void *p);

/* The plan for a shape. NULL: out of memory. Costs tens of microseconds at the first call. */
const struct plan *lt_plan(const struct lt_library *library, const struct lt_shape *shape);

/* True once lt_matmul has run it outside a capture. */
bool lt_has_run(const struct plan *plan);

/* epilogue: NULL where the plan has none that needs pointers. */
cublasStatus_t lt_matmul(const struct lt_library *library, const struct plan *plan,
                         const struct lt_epilogue *epilogue, const void *alpha, const void *a,
                         const void *b, const void *beta, const void *c, void *d, void *workspace,
                         CUstream stream);

#endif
