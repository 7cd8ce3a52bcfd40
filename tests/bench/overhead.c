/* SPDX-License-Identifier: BSD-3-Clause
 * Measures what a call costs through the preload and without it, in one run, against a cuBLAS that
 * does nothing: ns per call, medians of batches that alternate. Threads run the same at once. */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 20000, BATCHES = 31, MAX_THREADS = 64 };

typedef cublasStatus_t (*sgemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                const float *, const float *, int, const float *, int,
                                const float *, float *, int);

extern cublasStatus_t stub_direct(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const float *, const float *, int, const float *, int,
                                  const float *, float *, int);

struct result {
    double direct, through, dgemm, look_up;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x)
{
    qsort(x, BATCHES, sizeof *x, by_value);
    return x[BATCHES / 2];
}

static double time_sgemm(sgemm function, cublasHandle_t handle)
{
    static float one = 1, zero = 0, matrix[64];
    double start = now_ns();
    for (int i = 0; i < CALLS; i++)
        if (function(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, matrix, 8, matrix, 8, &zero,
                     matrix, 8) != CUBLAS_STATUS_SUCCESS)
            exit(1);
    return (now_ns() - start) / CALLS;
}

static double time_dgemm(cublasHandle_t handle)
{
    static double one = 1, zero = 0, matrix[64];
    double start = now_ns();
    for (int i = 0; i < CALLS; i++)
        if (cublasDgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, matrix, 8, matrix, 8,
                           &zero, matrix, 8) != CUBLAS_STATUS_SUCCESS)
            exit(1);
    return (now_ns() - start) / CALLS;
}

static double time_look_up(void *library)
{
    double start = now_ns();
    for (int i = 0; i < CALLS / 10; i++)
        if (dlsym(library, "cos") == NULL)
            exit(1);
    return (now_ns() - start) / (CALLS / 10);
}

static void *measure(void *arg)
{
    struct result *r = arg;
    double direct[BATCHES], through[BATCHES], dgemm[BATCHES], look_up[BATCHES];
    cublasHandle_t handle;
    void *library = dlopen("libm.so.6", RTLD_LAZY);
    if (library == NULL || cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
        exit(1);
    for (int i = 0; i < BATCHES; i++) {
        direct[i] = time_sgemm(stub_direct, handle);
        through[i] = time_sgemm(cublasSgemm_v2, handle);
        dgemm[i] = time_dgemm(handle);
        look_up[i] = time_look_up(library);
    }
    r->direct = median(direct);
    r->through = median(through);
    r->dgemm = median(dgemm);
    r->look_up = median(look_up);
    cublasDestroy_v2(handle);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread[MAX_THREADS];
    struct result result[MAX_THREADS];
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, measure, &result[i]) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%.1f %.1f %.1f %.1f\n", result[0].direct, result[0].through, result[0].dgemm,
           result[0].look_up);
    return 0;
}
