/* SPDX-License-Identifier: BSD-3-Clause
 * The entry points under test: what is known of each, and how it is called. */
#ifndef CONFORMANCE_ROUTINE_H
#define CONFORMANCE_ROUTINE_H

#include "conformance/number.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <stdint.h>

enum family {
    LEGACY, PLAIN, STRIDED, ARRAY, TYPED, EX, STRIDED_EX, ARRAY_EX, GROUPED, GROUPED_EX, LT
};

/* What the preload makes of a plain FP32 call: see routine.def. */
enum coverage { NEVER, MAY, FAST, ALWAYS };

/* What a row of the table does with cublasLtMatmul. */
enum lt_kind { LT_PLAIN, LT_ROW, LT_ORDERS, LT_OUT, LT_EPILOGUE, LT_VECTOR, LT_ALGO, LT_TYPES };

enum { ANY = NUMBERS }; /* the number format is drawn */
enum { MOST_PARTS = 3 };

/* A call with everything resolved: device pointers, scalars where they must lie. The members that
 * a routine does not take are not read. */
struct call {
    cublasHandle_t handle;
    int parts; /* groups; 1 otherwise */
    struct {
        cublasOperation_t transa, transb;
        int64_t m, n, k, batch, lda, ldb, ldc, stride_a, stride_b, stride_c;
    } part[MOST_PARTS];
    const void *alpha, *beta;
    const void *a, *b; /* of an array or a group: the array of pointers */
    void *c;
    cudaDataType ab_type, c_type;
    cublasComputeType_t compute;
    cublasGemmAlgo_t algo;
};

struct routine {
    const char *name;
    enum family family;
    int number; /* enum number, or ANY */
    enum coverage coverage;
    enum lt_kind lt;
    cublasStatus_t (*make)(const struct call *call); /* NULL: see legacy_call and lt_call */
};

extern const struct routine routines[];
extern const int routine_count;

bool family_batched(enum family family);
bool family_array(enum family family); /* pointer arrays, grouped ones too */
bool family_ex(enum family family);    /* takes a compute type */

#endif
