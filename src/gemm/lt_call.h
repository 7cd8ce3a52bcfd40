/* SPDX-License-Identifier: BSD-3-Clause
 * A cublasLtMatmul as a program makes it: D = epilogue(alpha op(A) op(B) + beta C). The hook fills
 * it in; lt_call_run decides and computes, or leaves the untouched call to be forwarded. */
#ifndef APEXSHIM_LT_CALL_H
#define APEXSHIM_LT_CALL_H

#include "base/real.h"

#include <stdbool.h>
#include <stddef.h>

struct context;

struct lt_call {
    const void *caller;
    const struct real_lt *real;
    struct context *context; /* of the handle; NULL: unknown */
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    const void *alpha, *a, *b, *beta, *c;
    void *d;
    cublasLtMatrixLayout_t a_layout, b_layout, c_layout, d_layout;
    void *workspace;
    size_t workspace_bytes;
    CUstream stream;
};

/* True: done, with the status in *status_p. False: forward. Nothing was changed in that case. */
bool lt_call_run(const struct lt_call *call, cublasStatus_t *status_p);

#endif
