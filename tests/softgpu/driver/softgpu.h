/* SPDX-License-Identifier: BSD-3-Clause
 * What the software GPU's own libcuda.so.1 offers to its sister libraries (cudart, cuBLAS,
 * cuBLASLt, NCCL stand-ins) and to tests, beside the driver API: work on streams, address checks,
 * counts and the log. A real libcuda has none of these; tests look them up by dlsym. */
#ifndef SOFTGPU_H
#define SOFTGPU_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#define SOFTGPU_API __attribute__((visibility("default")))

/* Operand types of counted work: the type that the arithmetic unit sees, after rounding. */
enum softgpu_type {
    SOFTGPU_F32, SOFTGPU_TF32, SOFTGPU_F16, SOFTGPU_BF16, SOFTGPU_F64, SOFTGPU_FP8, SOFTGPU_I8,
    SOFTGPU_TYPES
};

/* Modelled cost of an operation: max(bytes / bandwidth, flop / rate of type) + launch overhead. */
struct softgpu_cost {
    uint64_t bytes;
    uint64_t flop;
    enum softgpu_type type;
};

/* Enqueues library work on a stream of the current context, in stream order, like a kernel launch
 * (while the stream captures it becomes a graph node). arg is copied. fn runs later, perhaps on
 * another thread; it returns CUDA_SUCCESS or the sticky error that a faulty access gives. */
SOFTGPU_API CUresult softgpuEnqueue(CUstream stream, const char *name,
                                    CUresult (*fn)(void *arg, void *space), const void *arg,
                                    size_t arg_bytes, const struct softgpu_cost *cost);

/* For use inside fn: is [p, p + bytes) inside one live allocation? Otherwise logs who wanted what,
 * with the nearest allocation, and returns CUDA_ERROR_ILLEGAL_ADDRESS. */
SOFTGPU_API CUresult softgpuCheck(void *space, const void *p, size_t bytes, int write, const char *who);

/* Adds to a named counter ("gemm.f16"); shown in the SOFTGPU_COUNTS file. */
SOFTGPU_API void softgpuCount(const char *key, uint64_t n);
SOFTGPU_API uint64_t softgpuCounter(const char *key);
/* One line of the SOFTGPU_LOG file: the library and what was called. */
SOFTGPU_API void softgpuLog(const char *library, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fault injection (SOFTGPU_FAIL): nonzero when this call of `function` shall fail, with the error. */
SOFTGPU_API int softgpuFail(const char *function, void *caller);

#endif
