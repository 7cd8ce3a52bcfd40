/* SPDX-License-Identifier: BSD-3-Clause
 * The cuBLAS handle and what every entry point of libcublas begins with. A handle starts like that
 * of cuBLASLt, because programs cast one to the other. */
#ifndef BLAS_HANDLE_H
#define BLAS_HANDLE_H

#include "gemm.h"

struct cublasContext {
    struct blas_base base;
    CUstream stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
    void *workspace; /* the program's; NULL: the library's own pool */
    size_t workspace_bytes;
    int sm_count;
    cublasEmulationStrategy_t emulation;
    cudaEmulationSpecialValuesSupport special_values;
    cudaEmulationMantissaControl mantissa_control;
    int max_mantissa_bits, mantissa_offset;
    int *mantissa_count;
};

/* ENTER("format", ...): the first statement of an entry point; uses the function's own name. */
#define ENTER(...)                                                                                 \
    do {                                                                                           \
        cublasStatus_t injected =                                                                  \
            gpu_enter("cublas", __func__, __builtin_return_address(0), __VA_ARGS__);               \
        if (injected != CUBLAS_STATUS_SUCCESS)                                                     \
            return injected;                                                                       \
    } while (0)

/* ENTER, then the handle: bad, or made in another context. */
#define ENTER_WITH(_handle, ...)                                                                   \
    do {                                                                                           \
        ENTER(__VA_ARGS__);                                                                        \
        cublasStatus_t refused = handle_use(_handle);                                              \
        if (refused != CUBLAS_STATUS_SUCCESS)                                                      \
            return refused;                                                                        \
    } while (0)

cublasStatus_t handle_use(cublasHandle_t handle);

/* The compute type that the handle's math mode gives a classic routine of this operand type. */
cublasComputeType_t handle_compute(cublasHandle_t handle, cudaDataType type);

/* Fills a scalar by the handle's pointer mode. */
void handle_scalar(cublasHandle_t handle, struct scalar *s, const void *value, cudaDataType type);

/* For the log: N, T or C. */
char op_letter(cublasOperation_t op);
bool op_valid(cublasOperation_t op);

/* One matrix of a call, as an entry point gets it. */
struct call_matrix {
    const void *data; /* or the device address of an array of pointers */
    cudaDataType type;
    int64_t ld, stride;
};

enum batching { BATCH_NONE, BATCH_STRIDED, BATCH_ARRAY };

struct gemm_call {
    const char *who;
    cublasHandle_t handle;
    cublasOperation_t transa, transb;
    int64_t m, n, k, batch;
    const void *alpha, *beta;
    struct call_matrix a, b, c;
    enum batching batching;
    cublasComputeType_t compute;
};

/* The checks of the documentation, then the product; in libcublas itself, or by cublasLtMatmul. */
cublasStatus_t gemm_call_run(const struct gemm_call *call);
cublasStatus_t gemm_call_through_lt(const struct gemm_call *call);
/* The checks alone. */
cublasStatus_t gemm_call_check(const struct gemm_call *call);
/* Fills op from a checked call. */
bool gemm_call_op(const struct gemm_call *call, struct gemm_op *op);

#endif
