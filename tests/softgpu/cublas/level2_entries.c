/* SPDX-License-Identifier: BSD-3-Clause
 * Entry points of level 2, with and without handles: arguments to struct level2, nothing else. */
#include "legacy.h"
#include "level2.h"

#define S                  float, CUDA_R_32F
#define D                  double, CUDA_R_64F
#define C                  cuComplex, CUDA_C_32F
#define Z                  cuDoubleComplex, CUDA_C_64F
#define APPLY(_macro, ...) _macro(__VA_ARGS__)
#define BOTH(_macro, _name, ...)                                                                   \
    _macro(_name##_v2, int, __VA_ARGS__) _macro(_name##_v2_64, int64_t, __VA_ARGS__)

#define TYPE_ARGS(_type) .data = (char *)(uintptr_t)A, .type = _type
#define UPLO_OK          (uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER)
#define DIAG_OK          (diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT)
#define LOWER            (uplo == CUBLAS_FILL_MODE_LOWER)
#define REQUIRE(_condition)                                                                        \
    do {                                                                                           \
        if (!(_condition))                                                                         \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
    } while (0)

/* --- general matrices --- */

#define GEMV(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t trans, _int m, _int n,  \
                                  const _t *alpha, const _t *A, _int lda, const _t *x, _int incx,  \
                                  const _t *beta, _t *y, _int incy)                                \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lldx%lld", op_letter(trans), (long long)m, (long long)n);          \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = LEVEL2_MULTIPLY,                                               \
                            .op = trans,                                                           \
                            .a = {TYPE_ARGS(_type), .rows = m, .cols = n, .ld = lda},              \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(y, _type, incy),                                        \
                            .scalar_type = _type};                                                 \
        return level2_run(handle, &op, alpha, beta);                                               \
    }
#define GBMV(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t trans, _int m, _int n,  \
                                  _int kl, _int ku, const _t *alpha, const _t *A, _int lda,        \
                                  const _t *x, _int incx, const _t *beta, _t *y, _int incy)        \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lldx%lld", op_letter(trans), (long long)m, (long long)n);          \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = LEVEL2_MULTIPLY,                                               \
                            .op = trans,                                                           \
                            .a = {TYPE_ARGS(_type), .rows = m, .cols = n, .ld = lda,               \
                                  .storage = STORED_BAND, .below = kl, .above = ku},               \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(y, _type, incy),                                        \
                            .scalar_type = _type};                                                 \
        return level2_run(handle, &op, alpha, beta);                                               \
    }
#define GER(_name, _int, _t, _type, _conjugate)                                                    \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int m, _int n, const _t *alpha,          \
                                  const _t *x, _int incx, const _t *y, _int incy, _t *A, _int lda) \
    {                                                                                              \
        ENTER_WITH(handle, "%lldx%lld", (long long)m, (long long)n);                               \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = LEVEL2_RANK1,                                                  \
                            .conjugate_y = _conjugate,                                             \
                            .a = {TYPE_ARGS(_type), .rows = m, .cols = n, .ld = lda},              \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(y, _type, incy),                                        \
                            .scalar_type = _type};                                                 \
        return level2_run(handle, &op, alpha, NULL);                                               \
    }

#define FOUR(_macro, _routine)                                                                     \
    APPLY(BOTH, _macro, cublasS##_routine, S)                                                      \
    APPLY(BOTH, _macro, cublasD##_routine, D)                                                      \
    APPLY(BOTH, _macro, cublasC##_routine, C)                                                      \
    APPLY(BOTH, _macro, cublasZ##_routine, Z)
FOUR(GEMV, gemv)
FOUR(GBMV, gbmv)
APPLY(BOTH, GER, cublasSger, S, false)
APPLY(BOTH, GER, cublasDger, D, false)
APPLY(BOTH, GER, cublasCgeru, C, false)
APPLY(BOTH, GER, cublasCgerc, C, true)
APPLY(BOTH, GER, cublasZgeru, Z, false)
APPLY(BOTH, GER, cublasZgerc, Z, true)

/* --- symmetric and Hermitian matrices --- */

#define MULTIPLY(_type)                                                                            \
    .who = __func__, .kind = LEVEL2_MULTIPLY, .x = vector_of(x, _type, incx),                      \
    .y = vector_of(y, _type, incy), .scalar_type = _type
#define SYMV(_name, _int, _t, _type, _structure)                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo, _int n,            \
                                  const _t *alpha, const _t *A, _int lda, const _t *x, _int incx,  \
                                  const _t *beta, _t *y, _int incy)                                \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        REQUIRE(UPLO_OK);                                                                          \
        struct level2 op = {MULTIPLY(_type),                                                       \
                            .a = {TYPE_ARGS(_type), .rows = n, .cols = n, .ld = lda,               \
                                  .structure = _structure, .lower = LOWER}};                       \
        return level2_run(handle, &op, alpha, beta);                                               \
    }
#define SBMV(_name, _int, _t, _type, _structure)                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo, _int n, _int k,    \
                                  const _t *alpha, const _t *A, _int lda, const _t *x, _int incx,  \
                                  const _t *beta, _t *y, _int incy)                                \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        REQUIRE(UPLO_OK);                                                                          \
        struct level2 op = {MULTIPLY(_type), .a = {TYPE_ARGS(_type), .rows = n, .cols = n,         \
                                                   .ld = lda, .storage = STORED_BAND,              \
                                                   .below = LOWER ? k : 0, .above = LOWER ? 0 : k, \
                                                   .structure = _structure, .lower = LOWER}};      \
        return level2_run(handle, &op, alpha, beta);                                               \
    }
#define SPMV(_name, _int, _t, _type, _structure)                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo, _int n,            \
                                  const _t *alpha, const _t *A, const _t *x, _int incx,            \
                                  const _t *beta, _t *y, _int incy)                                \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        REQUIRE(UPLO_OK);                                                                          \
        struct level2 op = {MULTIPLY(_type), .a = {TYPE_ARGS(_type), .rows = n, .cols = n,         \
                                                   .storage = STORED_PACKED,                       \
                                                   .structure = _structure, .lower = LOWER}};      \
        return level2_run(handle, &op, alpha, beta);                                               \
    }
APPLY(BOTH, SYMV, cublasSsymv, S, SYMMETRIC)
APPLY(BOTH, SYMV, cublasDsymv, D, SYMMETRIC)
APPLY(BOTH, SYMV, cublasCsymv, C, SYMMETRIC)
APPLY(BOTH, SYMV, cublasZsymv, Z, SYMMETRIC)
APPLY(BOTH, SYMV, cublasChemv, C, HERMITIAN)
APPLY(BOTH, SYMV, cublasZhemv, Z, HERMITIAN)
APPLY(BOTH, SBMV, cublasSsbmv, S, SYMMETRIC)
APPLY(BOTH, SBMV, cublasDsbmv, D, SYMMETRIC)
APPLY(BOTH, SBMV, cublasChbmv, C, HERMITIAN)
APPLY(BOTH, SBMV, cublasZhbmv, Z, HERMITIAN)
APPLY(BOTH, SPMV, cublasSspmv, S, SYMMETRIC)
APPLY(BOTH, SPMV, cublasDspmv, D, SYMMETRIC)
APPLY(BOTH, SPMV, cublasChpmv, C, HERMITIAN)
APPLY(BOTH, SPMV, cublasZhpmv, Z, HERMITIAN)

/* Full storage has a leading dimension after A, packed storage has none. */
#define RANK1(_name, _int, _t, _type, _a, _structure)                                              \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo, _int n,            \
                                  const _a *alpha, const _t *x, _int incx, _t *A, _int lda)        \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        REQUIRE(UPLO_OK);                                                                          \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = LEVEL2_RANK1,                                                  \
                            .conjugate_y = _structure == HERMITIAN,                                \
                            .a = {TYPE_ARGS(_type), .rows = n, .cols = n, .ld = lda,               \
                                  .structure = _structure, .lower = LOWER},                        \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(x, _type, incx),                                        \
                            .scalar_type = _structure == HERMITIAN ? type_of_part(_type) : _type}; \
        return level2_run(handle, &op, alpha, NULL);                                               \
    }
#define PACKED1(_name, _int, _t, _type, _a, _structure)                                            \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo, _int n,            \
                                  const _a *alpha, const _t *x, _int incx, _t *A)                  \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        REQUIRE(UPLO_OK);                                                                          \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = LEVEL2_RANK1,                                                  \
                            .conjugate_y = _structure == HERMITIAN,                                \
                            .a = {TYPE_ARGS(_type), .rows = n, .cols = n,                          \
                                  .storage = STORED_PACKED, .structure = _structure,               \
                                  .lower = LOWER},                                                 \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(x, _type, incx),                                        \
                            .scalar_type = _structure == HERMITIAN ? type_of_part(_type) : _type}; \
        return level2_run(handle, &op, alpha, NULL);                                               \
    }
#define RANK2(_name, _int, _t, _type, _structure)                                                  \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo, _int n,            \
                                  const _t *alpha, const _t *x, _int incx, const _t *y, _int incy, \
                                  _t *A, _int lda)                                                 \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        REQUIRE(UPLO_OK);                                                                          \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = LEVEL2_RANK2,                                                  \
                            .conjugate_y = _structure == HERMITIAN,                                \
                            .a = {TYPE_ARGS(_type), .rows = n, .cols = n, .ld = lda,               \
                                  .structure = _structure, .lower = LOWER},                        \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(y, _type, incy),                                        \
                            .scalar_type = _type};                                                 \
        return level2_run(handle, &op, alpha, NULL);                                               \
    }
#define PACKED2(_name, _int, _t, _type, _structure)                                                \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo, _int n,            \
                                  const _t *alpha, const _t *x, _int incx, const _t *y, _int incy, \
                                  _t *A)                                                           \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        REQUIRE(UPLO_OK);                                                                          \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = LEVEL2_RANK2,                                                  \
                            .conjugate_y = _structure == HERMITIAN,                                \
                            .a = {TYPE_ARGS(_type), .rows = n, .cols = n,                          \
                                  .storage = STORED_PACKED, .structure = _structure,               \
                                  .lower = LOWER},                                                 \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(y, _type, incy),                                        \
                            .scalar_type = _type};                                                 \
        return level2_run(handle, &op, alpha, NULL);                                               \
    }
APPLY(BOTH, RANK1, cublasSsyr, S, float, SYMMETRIC)
APPLY(BOTH, RANK1, cublasDsyr, D, double, SYMMETRIC)
APPLY(BOTH, RANK1, cublasCsyr, C, cuComplex, SYMMETRIC)
APPLY(BOTH, RANK1, cublasZsyr, Z, cuDoubleComplex, SYMMETRIC)
APPLY(BOTH, RANK1, cublasCher, C, float, HERMITIAN)
APPLY(BOTH, RANK1, cublasZher, Z, double, HERMITIAN)
APPLY(BOTH, PACKED1, cublasSspr, S, float, SYMMETRIC)
APPLY(BOTH, PACKED1, cublasDspr, D, double, SYMMETRIC)
APPLY(BOTH, PACKED1, cublasChpr, C, float, HERMITIAN)
APPLY(BOTH, PACKED1, cublasZhpr, Z, double, HERMITIAN)
APPLY(BOTH, RANK2, cublasSsyr2, S, SYMMETRIC)
APPLY(BOTH, RANK2, cublasDsyr2, D, SYMMETRIC)
APPLY(BOTH, RANK2, cublasCsyr2, C, SYMMETRIC)
APPLY(BOTH, RANK2, cublasZsyr2, Z, SYMMETRIC)
APPLY(BOTH, RANK2, cublasCher2, C, HERMITIAN)
APPLY(BOTH, RANK2, cublasZher2, Z, HERMITIAN)
APPLY(BOTH, PACKED2, cublasSspr2, S, SYMMETRIC)
APPLY(BOTH, PACKED2, cublasDspr2, D, SYMMETRIC)
APPLY(BOTH, PACKED2, cublasChpr2, C, HERMITIAN)
APPLY(BOTH, PACKED2, cublasZhpr2, Z, HERMITIAN)

/* --- triangular matrices --- */

#define TRIANGLE_HEAD(_name, _int, ...)                                                            \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo,                    \
                                  cublasOperation_t trans, cublasDiagType_t diag, _int n,          \
                                  __VA_ARGS__)
#define TRIANGLE_BODY(_type, _kind, ...)                                                           \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lld", op_letter(trans), (long long)n);                             \
        REQUIRE(UPLO_OK &&DIAG_OK);                                                                \
        struct level2 op = {.who = __func__,                                                       \
                            .kind = _kind,                                                         \
                            .op = trans,                                                           \
                            .a = {TYPE_ARGS(_type), .rows = n, .cols = n, .structure = TRIANGULAR, \
                                  .lower = LOWER, .unit = diag == CUBLAS_DIAG_UNIT, __VA_ARGS__},  \
                            .x = vector_of(x, _type, incx),                                        \
                            .y = vector_of(NULL, _type, 1)};                                       \
        return level2_run(handle, &op, NULL, NULL);                                                \
    }
#define TRXV(_name, _int, _t, _type, _kind)                                                        \
    TRIANGLE_HEAD(_name, _int, const _t *A, _int lda, _t *x, _int incx)                            \
    TRIANGLE_BODY(_type, _kind, .ld = lda)
#define TBXV(_name, _int, _t, _type, _kind)                                                        \
    TRIANGLE_HEAD(_name, _int, _int k, const _t *A, _int lda, _t *x, _int incx)                    \
    TRIANGLE_BODY(_type, _kind, .ld = lda, .storage = STORED_BAND, .below = LOWER ? k : 0,         \
                  .above = LOWER ? 0 : k)
#define TPXV(_name, _int, _t, _type, _kind)                                                        \
    TRIANGLE_HEAD(_name, _int, const _t *A, _t *x, _int incx)                                      \
    TRIANGLE_BODY(_type, _kind, .storage = STORED_PACKED)
#define FOUR_KINDS(_macro, _routine, _kind)                                                        \
    APPLY(BOTH, _macro, cublasS##_routine, S, _kind)                                               \
    APPLY(BOTH, _macro, cublasD##_routine, D, _kind)                                               \
    APPLY(BOTH, _macro, cublasC##_routine, C, _kind)                                               \
    APPLY(BOTH, _macro, cublasZ##_routine, Z, _kind)
FOUR_KINDS(TRXV, trmv, LEVEL2_TRIANGULAR)
FOUR_KINDS(TRXV, trsv, LEVEL2_SOLVE)
FOUR_KINDS(TBXV, tbmv, LEVEL2_TRIANGULAR)
FOUR_KINDS(TBXV, tbsv, LEVEL2_SOLVE)
FOUR_KINDS(TPXV, tpmv, LEVEL2_TRIANGULAR)
FOUR_KINDS(TPXV, tpsv, LEVEL2_SOLVE)
