/* SPDX-License-Identifier: BSD-3-Clause
 * One GEMM as a program asked for it: C[i] = alpha op(A[i]) op(B[i]) + beta C[i], column-major,
 * i = 0 .. batch - 1. The hooks fill it in; gemm_run decides and computes, or leaves it to the
 * hook to forward the untouched call. */
#ifndef APEXSHIM_GEMM_H
#define APEXSHIM_GEMM_H

#include "base/real.h"
#include "base/stats.h"

#include <stdbool.h>
#include <stdint.h>

struct context;
struct site;

struct gemm_matrix {
    const void *data;
    cudaDataType type;
    int64_t ld;     /* elements */
    int64_t stride; /* elements between batch entries; 0 without a batch */
};

struct gemm {
    const char *routine; /* the intercepted function's name */
    const void *caller;  /* return address of the call */
    cublasHandle_t handle;
    cublasOperation_t transa, transb;
    int64_t m, n, k, batch;
    bool batched;             /* the routine takes a batch (batch may still be 1) */
    bool pointer_array;       /* data are device arrays of pointers to the entries */
    const void *alpha, *beta; /* FP32, host or device */
    struct gemm_matrix a, b, c;
    int algo;    /* cublasGemmAlgo_t; the routines without one leave it 0 */
    int compute; /* cublasComputeType_t; old C programs pass cudaDataType numbers */

    /* Filled in by gemm_run. */
    const struct real_blas *real; /* NULL: there is no real library */
    struct context *context;
    CUstream stream;
    bool device_scalars;
    bool tf32;         /* the program's own call uses TF32 */
    struct site *site; /* what was decided; NULL before */
};

/* True: done, with the status to return in *status_p. False: forward the call through g->real,
 * which may be NULL (then there is nothing to forward to). Nothing was changed in that case. */
bool gemm_run(struct gemm *g, cublasStatus_t *status_p);

/* The frame around a decision: counts the call as seen, keeps errno and the re-entry guard, counts
 * the reason where it is forwarded. decide returns REASONS when it has done the call. */
bool gemm_account(enum reason (*decide)(void *call, cublasStatus_t *status_p), void *call,
                  cublasStatus_t *status_p);

/* The hook has made the call that gemm_run (or lt_call_run) has left to it. */
void gemm_forwarded(void);
/* A handle is about to be destroyed: what is known of its calls is written down. */
void gemm_handle_ends(void);

/* Host and device parts of the decision, for tests: REASONS means "nothing speaks against it". */
enum reason gemm_check_arguments(const struct gemm *g);

#endif
