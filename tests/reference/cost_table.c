/* SPDX-License-Identifier: BSD-3-Clause
 * Prints what the shim's cost model says: lines "M N K BATCH" in, seconds by each path out, for the
 * GPU named by its compute capability and its multiprocessors. */
#include "gemm/cost.h"
#include "gemm/policy.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: cost_table COMPUTE_CAPABILITY MULTIPROCESSORS <shapes\n");
        return 2;
    }
    const struct gpu gpu = {.compute_capability = atoi(argv[1]), .multiprocessors = atoi(argv[2])};
    const struct cost_model model = cost_model_of(&gpu);
    struct cost_shape shape;
    while (scanf("%ld %ld %ld %ld", &shape.m, &shape.n, &shape.k, &shape.batch) == 4) {
        for (int path = 0; path < PATHS; path++)
            printf("%.9g ", cost_seconds(&model, &shape, (enum path)path, SCALE_DYNAMIC));
        printf("%.9g\n", cost_seconds(&model, &shape, PATH_FP16, SCALE_EXACT));
    }
    return 0;
}
