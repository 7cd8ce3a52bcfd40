// SPDX-License-Identifier: BSD-3-Clause
// What these programs end with when a call fails, and how they compare with a result in double.
#ifndef SOFTGPU_PROGRAMS_COMMON_H
#define SOFTGPU_PROGRAMS_COMMON_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>

#define CUDA(_call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (_call);                                                              \
        if (error_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #_call,                    \
                         cudaGetErrorString(error_));                                              \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

#define BLAS(_call)                                                                                \
    do {                                                                                           \
        cublasStatus_t status_ = (_call);                                                          \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #_call,                    \
                         cublasGetStatusString(status_));                                          \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static inline void require(bool condition, const char *what)
{
    if (!condition) {
        std::fprintf(stderr, "wrong: %s\n", what);
        std::exit(1);
    }
}

// Uniform in [-1, 1), the same for every run.
static inline std::vector<float> random_values(size_t n, unsigned seed)
{
    std::vector<float> values(n);
    unsigned state = seed * 2654435761u + 1;
    for (float &value : values) {
        state = state * 1664525u + 1013904223u;
        value = (float)(int)(state >> 8) / (1 << 23) - 1;
    }
    return values;
}

template <typename T> static inline T *to_device(const std::vector<T> &values)
{
    T *p;
    CUDA(cudaMalloc(&p, values.size() * sizeof(T)));
    CUDA(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

template <typename T> static inline std::vector<T> to_host(const T *p, size_t n)
{
    std::vector<T> values(n);
    CUDA(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

// One element of op(A) op(B), all column-major, in double.
static inline double element(const float *a, const float *b, int i, int j, int k, int lda, int ldb,
                             bool transposed_a, bool transposed_b)
{
    double sum = 0;
    for (int l = 0; l < k; l++) {
        double x = transposed_a ? a[l + (size_t)i * lda] : a[i + (size_t)l * lda];
        double y = transposed_b ? b[j + (size_t)l * ldb] : b[l + (size_t)j * ldb];
        sum += x * y;
    }
    return sum;
}

#endif
