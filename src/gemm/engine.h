/* SPDX-License-Identifier: BSD-3-Clause
 * The ways to compute a GEMM other than the program's own call. An engine enqueues everything or
 * nothing: a reason other than REASONS means that C is untouched and the call must be forwarded. */
#ifndef APEXSHIM_ENGINE_H
#define APEXSHIM_ENGINE_H

#include "gemm/gemm.h"

/* Scaled FP16: casts A and B, then one cublasLtMatmul with FP32 accumulation into the program's C. */
enum reason engine_cast16(const struct gemm *g, cublasStatus_t *status_p);

/* The program's own call, on its own handle, with the compute type FAST_TF32. */
enum reason engine_tf32(const struct gemm *g, cublasStatus_t *status_p);

#endif
