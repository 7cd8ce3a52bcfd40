/* SPDX-License-Identifier: BSD-3-Clause
 * Batched matrix-vector products: arrays of pointers and strides, four types and the mixed ones
 * (H half, T bfloat16, S single; letters are A and x, the scalars, y). */
#include "level2.h"

#define HEAD_ARRAY(_name, _int, _t, _s, _y)                                                        \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t trans, _int m, _int n,  \
                                  const _s *alpha, const _t *const A[], _int lda,                  \
                                  const _t *const x[], _int incx, const _s *beta, _y *const y[],   \
                                  _int incy, _int batch)
#define ARRAY(_name, _int, _t, _type, _s, _stype, _y, _ytype)                                      \
    HEAD_ARRAY(_name, _int, _t, _s, _y)                                                            \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lldx%lld batch=%lld", op_letter(trans), (long long)m,              \
                   (long long)n, (long long)batch);                                                \
        struct level2 op = {                                                                       \
            .who = __func__,                                                                       \
            .kind = LEVEL2_MULTIPLY,                                                               \
            .op = trans,                                                                           \
            .a = {.data = (char *)(uintptr_t)A, .type = _type, .rows = m, .cols = n, .ld = lda},   \
            .x = vector_of(x, _type, incx),                                                        \
            .y = vector_of(y, _ytype, incy),                                                       \
            .scalar_type = _stype,                                                                 \
            .batch = batch,                                                                        \
            .arrays = true};                                                                       \
        return batch == 0 ? CUBLAS_STATUS_SUCCESS : level2_run(handle, &op, alpha, beta);          \
    }
#define HEAD_STRIDED(_name, _int, _t, _s, _y)                                                      \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t trans, _int m, _int n,  \
                                  const _s *alpha, const _t *A, _int lda, long long strideA,       \
                                  const _t *x, _int incx, long long stridex, const _s *beta,       \
                                  _y *y, _int incy, long long stridey, _int batch)
#define STRIDED(_name, _int, _t, _type, _s, _stype, _y, _ytype)                                    \
    HEAD_STRIDED(_name, _int, _t, _s, _y)                                                          \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lldx%lld batch=%lld", op_letter(trans), (long long)m,              \
                   (long long)n, (long long)batch);                                                \
        struct level2 op = {                                                                       \
            .who = __func__,                                                                       \
            .kind = LEVEL2_MULTIPLY,                                                               \
            .op = trans,                                                                           \
            .a = {.data = (char *)(uintptr_t)A, .type = _type, .rows = m, .cols = n, .ld = lda},   \
            .x = vector_of(x, _type, incx),                                                        \
            .y = vector_of(y, _ytype, incy),                                                       \
            .scalar_type = _stype,                                                                 \
            .batch = batch,                                                                        \
            .stride_a = strideA,                                                                   \
            .stride_x = stridex,                                                                   \
            .stride_y = stridey};                                                                  \
        return batch == 0 ? CUBLAS_STATUS_SUCCESS : level2_run(handle, &op, alpha, beta);          \
    }

#define BOTH(_letter, ...)                                                                         \
    ARRAY(cublas##_letter##gemvBatched, int, __VA_ARGS__)                                          \
    ARRAY(cublas##_letter##gemvBatched_64, int64_t, __VA_ARGS__)                                   \
    STRIDED(cublas##_letter##gemvStridedBatched, int, __VA_ARGS__)                                 \
    STRIDED(cublas##_letter##gemvStridedBatched_64, int64_t, __VA_ARGS__)
/* The header shows the mixed ones to C++ alone. */
#define DECLARE(_letter, _y)                                                                       \
    HEAD_ARRAY(cublas##_letter##gemvBatched, int, uint16_t, float, _y);                            \
    HEAD_ARRAY(cublas##_letter##gemvBatched_64, int64_t, uint16_t, float, _y);                     \
    HEAD_STRIDED(cublas##_letter##gemvStridedBatched, int, uint16_t, float, _y);                   \
    HEAD_STRIDED(cublas##_letter##gemvStridedBatched_64, int64_t, uint16_t, float, _y);
DECLARE(HSH, uint16_t)
DECLARE(HSS, float)
DECLARE(TST, uint16_t)
DECLARE(TSS, float)

#define SAME(_t, _type)    _t, _type, _t, _type, _t, _type
#define APPLY(_macro, ...) _macro(__VA_ARGS__)
APPLY(BOTH, S, SAME(float, CUDA_R_32F))
APPLY(BOTH, D, SAME(double, CUDA_R_64F))
APPLY(BOTH, C, SAME(cuComplex, CUDA_C_32F))
APPLY(BOTH, Z, SAME(cuDoubleComplex, CUDA_C_64F))
APPLY(BOTH, HSH, uint16_t, CUDA_R_16F, float, CUDA_R_32F, uint16_t, CUDA_R_16F)
APPLY(BOTH, HSS, uint16_t, CUDA_R_16F, float, CUDA_R_32F, float, CUDA_R_32F)
APPLY(BOTH, TST, uint16_t, CUDA_R_16BF, float, CUDA_R_32F, uint16_t, CUDA_R_16BF)
APPLY(BOTH, TSS, uint16_t, CUDA_R_16BF, float, CUDA_R_32F, float, CUDA_R_32F)
