/* SPDX-License-Identifier: BSD-3-Clause
 * cublasLtMatmul on the shim's converted operands: descriptors and algorithm, found once for each
 * shape and kept for the life of the process. */
#ifndef APEXSHIM_LT_H
#define APEXSHIM_LT_H

#include "gemm/gemm.h"

/* C (FP32) = alpha op(A) op(B) + beta C with FP16 A, B, scalars on the device. */
struct lt_shape {
    int64_t m, n, k, batch;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    uint32_t c_alignment; /* of C's address: a power of two, at most 256 */
    uint8_t transa, transb;
};

struct plan {
    struct lt_shape shape;
    const struct real_blas *real; /* the library that the descriptors belong to */
    bool usable;                  /* false: cuBLASLt has no algorithm; don't ask again */
    size_t workspace_bytes;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algo;
    struct plan *next;
};

/* The plan for a shape. NULL: out of memory. Costs tens of microseconds at the first call. */
const struct plan *lt_plan(const struct gemm *g, const struct lt_shape *shape);

cublasStatus_t lt_matmul(const struct gemm *g, const struct plan *plan, const void *alpha,
                         const void *a, const void *b, const void *beta, void *c, void *workspace);

#endif
