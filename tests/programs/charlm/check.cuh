// SPDX-License-Identifier: BSD-3-Clause
// How the character model's trainer ends when something fails: one line on standard error, exit
// status 1.
#ifndef CHARLM_CHECK_CUH
#define CHARLM_CHECK_CUH

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("train_charlm: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void check_cuda(cudaError_t error, const char *what, int line)
{
    if (error != cudaSuccess)
        fail("line %d: %s: %s", line, what, cudaGetErrorString(error));
}

static void check_blas(cublasStatus_t status, const char *what, int line)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        fail("line %d: %s: %s", line, what, cublasGetStatusString(status));
}

#define CUDA(call) check_cuda((call), #call, __LINE__)
#define BLAS(call) check_blas((call), #call, __LINE__)
#define LAUNCHED() CUDA(cudaGetLastError())

template <typename T> static T *device_alloc(long n)
{
    void *p = NULL;
    CUDA(cudaMalloc(&p, n * sizeof(T)));
    return (T *)p;
}

#endif
