/* SPDX-License-Identifier: BSD-3-Clause
 * A model of how long a GEMM takes on a GPU by each path. Every time is a prediction. */
#ifndef APEXSHIM_COST_H
#define APEXSHIM_COST_H

#include "device/context.h"
#include "gemm/policy.h"

#include <stdbool.h>
#include <stdint.h>

enum cost_arithmetic { COST_FP32, COST_TF32, COST_FP16, COST_BF16, COST_FP8, COST_ARITHMETICS };

struct cost_model {
    double flops[COST_ARITHMETICS]; /* per second; 0: the GPU lacks it */
    double bandwidth;               /* bytes per second */
    double launch;                  /* seconds for one dependent kernel in a stream */
    int multiprocessors;
    bool measured; /* on this GPU, not from tables */
};

struct cost_shape {
    int64_t m, n, k, batch;
};

/* From the compute capability (rates of NVIDIA's architecture white papers) and the GPU's size. */
struct cost_model cost_model_of(const struct gpu *gpu);

/* Seconds; infinity where the GPU lacks the arithmetic. Paths on copies include making them: the
 * passes over A and B and the launches that scale takes (an enum env_scale). */
double cost_seconds(const struct cost_model *model, const struct cost_shape *shape, enum path path,
                    int scale);

/* The kernels of a path, the matmuls included. */
double cost_launches(const struct cost_shape *shape, enum path path, int scale);
/* Bytes that the path's own passes move for each element of A and B. */
int cost_bytes_per_element(enum path path, int scale);

#endif
