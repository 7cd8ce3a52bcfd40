/* SPDX-License-Identifier: BSD-3-Clause
 * A program that needs all memory of the device after a GEMM: it must get as much as it gets
 * without the preload, though the converted GEMM has left scratch memory behind; and what is really
 * too much must fail as ever. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>

enum { N = 512 };

int main(void)
{
    const float one = 1, zero = 0;
    const size_t bytes = sizeof(float) * N * N;
    cublasHandle_t handle;
    size_t free_bytes, total;
    float *a, *c;
    void *rest, *too_much;
    if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS ||
        cudaMalloc((void **)&a, bytes) != cudaSuccess || cudaMemset(a, 0, bytes) != cudaSuccess ||
        cudaMalloc((void **)&c, bytes) != cudaSuccess)
        return 2;
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        return 2;
    if (cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, a, N, &zero, c, N) !=
        CUBLAS_STATUS_SUCCESS)
        return 2;
    size_t left;
    if (cudaMemGetInfo(&left, &total) != cudaSuccess)
        return 2;
    /* Half of what the GEMM has taken must come back. */
    const size_t wanted = left + (free_bytes - left) / 2;
    if (cudaMalloc(&rest, wanted) != cudaSuccess) {
        fprintf(stderr, "%zu bytes of %zu can't be had, %zu are left\n", wanted, free_bytes, left);
        return 1;
    }
    if (cudaMalloc(&too_much, total) != cudaErrorMemoryAllocation)
        return 1;
    (void)cudaGetLastError();
    printf("%zu %zu\n", free_bytes, left);
    if (cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, a, N, &zero, c, N) !=
        CUBLAS_STATUS_SUCCESS)
        return 1;
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    return cublasDestroy_v2(handle) != CUBLAS_STATUS_SUCCESS;
}
