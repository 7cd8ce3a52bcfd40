/* SPDX-License-Identifier: BSD-3-Clause
 * The ways to compute a GEMM other than the program's own call. An engine enqueues everything or
 * nothing: a reason other than REASONS means that C is untouched and the call must be forwarded. */
#ifndef APEXSHIM_ENGINE_H
#define APEXSHIM_ENGINE_H

#include "gemm/gemm.h"
#include "gemm/lt.h"
#include "gemm/policy.h"

struct cast;

/* 16-bit copies of A and B (see gemm/cast.h), then cublasLtMatmul with FP32 accumulation into the
 * program's C. */
enum reason engine_cast(const struct gemm *g, enum path path, cublasStatus_t *status_p);

/* The operands of a planned matmul that is not a cast's own. */
struct engine_output {
    const void *c; /* read where beta is not 0 */
    void *d;
    const struct lt_epilogue *epilogue; /* NULL: none that needs pointers */
};

/* The common end of all matmuls on copies: the copies are made and multiplied, part by part along
 * K. shape describes the whole (with the copies' layouts); its k and epilogue are set here. */
enum reason engine_multiply(const struct lt_library *library, struct lt_shape *shape,
                            struct cast *cast, const struct engine_output *output,
                            cublasStatus_t *status_p);

/* The program's own call, on its own handle, with a compute type and a C (beta reads from it). */
enum reason engine_call(const struct gemm *g, int compute, const struct gemm_matrix *c,
                        cublasStatus_t *status_p);

/* Likewise with the compute type FAST_TF32, into the program's C. */
enum reason engine_tf32(const struct gemm *g, cublasStatus_t *status_p);

#endif
