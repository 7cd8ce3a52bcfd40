// SPDX-License-Identifier: BSD-3-Clause
// What these programs check with: the first check that fails ends the program with status 1.
#ifndef SOFTGPU_PROGRAMS_CHECK_H
#define SOFTGPU_PROGRAMS_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(_condition)                                                                          \
    do {                                                                                           \
        if (!(_condition)) {                                                                       \
            std::fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #_condition);        \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// The call must answer with this error.
#define EXPECT(_error, _call)                                                                      \
    do {                                                                                           \
        cudaError_t error_ = (_call);                                                              \
        if (error_ != (_error)) {                                                                  \
            std::fprintf(stderr, "%s:%d: %s: %s (%d), not %s\n", __FILE__, __LINE__, #_call,       \
                         cudaGetErrorName(error_), (int)error_, #_error);                          \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

#define OK(_call) EXPECT(cudaSuccess, _call)

#endif
