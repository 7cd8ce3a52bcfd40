/* SPDX-License-Identifier: BSD-3-Clause
 * One level 1 operation, as its entry point describes it. */
#ifndef BLAS_LEVEL1_H
#define BLAS_LEVEL1_H

#include "vector.h"

enum level1_kind {
    LEVEL1_AXPY,
    LEVEL1_SCAL,
    LEVEL1_COPY,
    LEVEL1_SWAP,
    LEVEL1_ROT,
    LEVEL1_ROTM,
    /* those below give a result */
    LEVEL1_DOT,
    LEVEL1_DOTC,
    LEVEL1_NRM2,
    LEVEL1_ASUM,
    LEVEL1_AMAX,
    LEVEL1_AMIN
};

struct level1 {
    const char *who;
    enum level1_kind kind;
    int64_t n;
    struct vector x, y; /* y.data NULL: there is none */
    int scalars;
    struct scalar scalar[2];
    struct scalar param; /* rotm: where its five numbers are */
    unsigned char param_host[40];
    struct result result;
};

cublasStatus_t level1_run(cublasHandle_t handle, struct level1 *op);

#endif
