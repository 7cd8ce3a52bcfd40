/* SPDX-License-Identifier: BSD-3-Clause
 * Measures the host time of a GEMM that the shim converts, against a driver, a cuBLAS and a
 * cuBLASLt that do nothing. Prints: ns a call, ns of the stub's own launch and matmul calls, then
 * for each call the launches, the matmuls and the other calls of the driver. converted THREADS
 * SHAPES K */
#include "bench/stub.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 10000, BATCHES = 31, MAX_THREADS = 64, SIZE = 512 };

static int shapes, k;

struct result {
    double call, stubs;
    double launches, matmuls, other;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x)
{
    qsort(x, BATCHES, sizeof *x, by_value);
    return x[BATCHES / 2];
}

/* Nobody reads the matrices: their addresses only have to differ. */
static double time_sgemm(cublasHandle_t handle)
{
    static const float one = 1, zero = 0;
    float *a = (float *)(uintptr_t)(1 << 20), *b = (float *)(uintptr_t)(2 << 20);
    const double start = now_ns();
    for (int i = 0; i < CALLS; i++) {
        const int m = SIZE + 8 * (i % shapes);
        if (cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, SIZE, k, &one, a, m, b, k, &zero,
                           (float *)(uintptr_t)(3 << 20), m) != CUBLAS_STATUS_SUCCESS)
            exit(1);
    }
    return (now_ns() - start) / CALLS;
}

static double time_stubs(void)
{
    const double start = now_ns();
    for (int i = 0; i < CALLS; i++)
        if (cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUDA_SUCCESS)
            exit(1);
    return (now_ns() - start) / CALLS;
}

static void *measure(void *arg)
{
    struct result *r = arg;
    double call[BATCHES], stubs[BATCHES];
    cublasHandle_t handle;
    if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
        exit(1);
    time_sgemm(handle);
    const struct stub_calls before = stub_cuda_calls();
    const unsigned long matmuls = stub_lt_matmuls();
    time_sgemm(handle);
    const struct stub_calls after = stub_cuda_calls();
    r->launches = (double)(after.launches - before.launches) / CALLS;
    r->other = (double)(after.other - before.other) / CALLS;
    r->matmuls = (double)(stub_lt_matmuls() - matmuls) / CALLS;
    for (int i = 0; i < BATCHES; i++) {
        call[i] = time_sgemm(handle);
        stubs[i] = time_stubs();
    }
    r->call = median(call);
    r->stubs = median(stubs) * (r->launches + r->matmuls);
    cublasDestroy_v2(handle);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_THREADS];
    struct result result[MAX_THREADS];
    const int threads = argc == 4 ? atoi(argv[1]) : 0;
    if (threads < 1 || threads > MAX_THREADS || (shapes = atoi(argv[2])) < 1 ||
        (k = atoi(argv[3])) < 1)
        return 2;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, measure, &result[i]) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%.0f %.0f %g %g %g\n", result[0].call, result[0].stubs, result[0].launches,
           result[0].matmuls, result[0].other);
    return 0;
}
