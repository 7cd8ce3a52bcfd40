/* SPDX-License-Identifier: BSD-3-Clause
 * Creates and destroys many streams with a GEMM on each, and threads that never touched CUDA before
 * their GEMM: memory must stay flat and every GEMM be converted. Prints the device memory in use
 * after a tenth and at the end. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, STREAMS = 400, THREADS = 6 };

static float *a, *b, *c;

static void gemm(cublasHandle_t handle)
{
    const float one = 1, zero = 0;
    if (cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N) !=
        CUBLAS_STATUS_SUCCESS)
        exit(1);
}

static void *thread_main(void *handle)
{
    gemm(handle);
    return NULL;
}

static size_t used(void)
{
    size_t free_bytes, total;
    /* Memory may be given back in stream order: first let that happen. */
    if (cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        exit(1);
    return total - free_bytes;
}

int main(void)
{
    cublasHandle_t handle;
    size_t early = 0;
    if (cudaMalloc((void **)&a, sizeof(float) * N * N) != cudaSuccess ||
        cudaMalloc((void **)&b, sizeof(float) * N * N) != cudaSuccess ||
        cudaMalloc((void **)&c, sizeof(float) * N * N) != cudaSuccess ||
        cudaMemset(a, 0, sizeof(float) * N * N) != cudaSuccess ||
        cudaMemset(b, 0, sizeof(float) * N * N) != cudaSuccess ||
        cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
        return 1;
    for (int i = 0; i < STREAMS; i++) {
        cudaStream_t stream;
        if (cudaStreamCreate(&stream) != cudaSuccess ||
            cublasSetStream_v2(handle, stream) != CUBLAS_STATUS_SUCCESS)
            return 1;
        gemm(handle);
        if (cudaStreamSynchronize(stream) != cudaSuccess || cudaStreamDestroy(stream) != cudaSuccess)
            return 1;
        if (i == STREAMS / 10)
            early = used();
    }
    printf("%zu %zu\n", early, used());
    cublasSetStream_v2(handle, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, thread_main, handle) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
