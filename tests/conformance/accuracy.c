/* SPDX-License-Identifier: BSD-3-Clause
 * Norm-wise relative error ||C - C64|| / ||C64|| of one n x n x n cublasSgemm on random normal data
 * of three scales, against a product in double on the host. Knows nothing of the preload.
 * Usage: accuracy N SEED; prints a line "scale error" for each scale. */
#include "conformance/random.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "accuracy: %s failed\n", what);
        exit(1);
    }
}

static double relative_error(const float *a, const float *b, const float *c, int n)
{
    double *sum = calloc((size_t)n, sizeof(double)), difference = 0, norm = 0;
    must(sum != NULL, "calloc");
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            sum[i] = 0;
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                sum[i] += (double)a[k * n + i] * (double)b[j * n + k];
        for (int i = 0; i < n; i++) {
            difference += pow((double)c[j * n + i] - sum[i], 2);
            norm += sum[i] * sum[i];
        }
    }
    free(sum);
    return sqrt(difference / norm);
}

int main(int argc, char **argv)
{
    static const double scales[] = {1, 1e-6, 1e6};
    const int n = argc > 1 ? atoi(argv[1]) : 512;
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) * 2 + 1 : 1;
    const size_t elements = (size_t)n * (size_t)n, bytes = elements * sizeof(float);
    const float one = 1, zero = 0;
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes), *da, *db, *dc;
    cublasHandle_t handle;
    must(a != NULL && b != NULL && c != NULL, "malloc");
    must(cudaMalloc((void **)&da, bytes) == cudaSuccess, "cudaMalloc");
    must(cudaMalloc((void **)&db, bytes) == cudaSuccess, "cudaMalloc");
    must(cudaMalloc((void **)&dc, bytes) == cudaSuccess, "cudaMalloc");
    must(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        for (size_t i = 0; i < elements; i++) {
            a[i] = (float)(scales[s] * random_normal(&random));
            b[i] = (float)(scales[s] * random_normal(&random));
        }
        must(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
        must(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
        must(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da, n, db, n, &zero, dc,
                         n) == CUBLAS_STATUS_SUCCESS,
             "cublasSgemm");
        must(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
        printf("%g %.3e\n", scales[s], relative_error(a, b, c, n));
    }
    cublasDestroy(handle);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    free(a);
    free(b);
    free(c);
    return 0;
}
