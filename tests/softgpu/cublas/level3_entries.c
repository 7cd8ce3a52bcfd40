/* SPDX-License-Identifier: BSD-3-Clause
 * Entry points of level 3 beside GEMM and the rank-k updates: arguments to struct level3. */
#include "level3.h"

#define S                  float, CUDA_R_32F
#define D                  double, CUDA_R_64F
#define C_                 cuComplex, CUDA_C_32F
#define Z                  cuDoubleComplex, CUDA_C_64F
#define APPLY(_macro, ...) _macro(__VA_ARGS__)
#define WIDTHS(_macro, _name, _suffix, ...)                                                        \
    _macro(_name##_suffix, int, __VA_ARGS__) _macro(_name##_suffix##_64, int64_t, __VA_ARGS__)

#define SIDE_OK (side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT)
#define UPLO_OK (uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER)
#define DIAG_OK (diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT)
#define REQUIRE(_condition)                                                                        \
    do {                                                                                           \
        if (!(_condition))                                                                         \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
    } while (0)
#define MATRIX_A(_type, ...)                                                                       \
    .a = {.data = (char *)(uintptr_t)A, .type = _type, .ld = lda, __VA_ARGS__}

#define SYMM(_name, _int, _t, _type, _structure)                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasSideMode_t side,                    \
                                  cublasFillMode_t uplo, _int m, _int n, const _t *alpha,          \
                                  const _t *A, _int lda, const _t *B, _int ldb, const _t *beta,    \
                                  _t *C, _int ldc)                                                 \
    {                                                                                              \
        ENTER_WITH(handle, "%lldx%lld", (long long)m, (long long)n);                               \
        REQUIRE(SIDE_OK &&UPLO_OK);                                                                \
        struct level3 op = {                                                                       \
            .who = __func__,                                                                       \
            .kind = LEVEL3_SYMM,                                                                   \
            .type = _type,                                                                         \
            .left = side == CUBLAS_SIDE_LEFT,                                                      \
            .hermitian = _structure == HERMITIAN,                                                  \
            .m = m,                                                                                \
            .n = n,                                                                                \
            MATRIX_A(_type, .structure = _structure, .lower = uplo == CUBLAS_FILL_MODE_LOWER),     \
            .b = B,                                                                                \
            .ldb = ldb,                                                                            \
            .c = C,                                                                                \
            .ldc = ldc};                                                                           \
        return level3_run(handle, &op, alpha, beta);                                               \
    }
#define TRIANGLE(_type, _kind, _b, _ldb, _c, _ldc, _batch)                                         \
    REQUIRE(SIDE_OK &&UPLO_OK &&DIAG_OK);                                                          \
    struct level3 op = {.who = __func__,                                                           \
                        .kind = _kind,                                                             \
                        .type = _type,                                                             \
                        .left = side == CUBLAS_SIDE_LEFT,                                          \
                        .transa = trans,                                                           \
                        .m = m,                                                                    \
                        .n = n,                                                                    \
                        MATRIX_A(_type, .structure = TRIANGULAR,                                   \
                                 .lower = uplo == CUBLAS_FILL_MODE_LOWER,                          \
                                 .unit = diag == CUBLAS_DIAG_UNIT),                                \
                        .b = _b,                                                                   \
                        .ldb = _ldb,                                                               \
                        .c = _c,                                                                   \
                        .ldc = _ldc,                                                               \
                        .batch = _batch};                                                          \
    return level3_run(handle, &op, alpha, NULL);
#define TRMM(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasSideMode_t side,                    \
                                  cublasFillMode_t uplo, cublasOperation_t trans,                  \
                                  cublasDiagType_t diag, _int m, _int n, const _t *alpha,          \
                                  const _t *A, _int lda, const _t *B, _int ldb, _t *C, _int ldc)   \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lldx%lld", op_letter(trans), (long long)m, (long long)n);          \
        TRIANGLE(_type, LEVEL3_TRMM, B, ldb, C, ldc, 0)                                            \
    }
#define TRSM(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasSideMode_t side,                    \
                                  cublasFillMode_t uplo, cublasOperation_t trans,                  \
                                  cublasDiagType_t diag, _int m, _int n, const _t *alpha,          \
                                  const _t *A, _int lda, _t *B, _int ldb)                          \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lldx%lld", op_letter(trans), (long long)m, (long long)n);          \
        TRIANGLE(_type, LEVEL3_TRSM, B, ldb, B, ldb, 0)                                            \
    }
#define TRSM_BATCHED(_name, _int, _t, _type)                                                       \
    BLAS_API cublasStatus_t _name(                                                                 \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
        cublasOperation_t trans, cublasDiagType_t diag, _int m, _int n, const _t *alpha,           \
        const _t *const A[], _int lda, _t *const B[], _int ldb, _int batch)                        \
    {                                                                                              \
        ENTER_WITH(handle, "%c %lldx%lld batch=%lld", op_letter(trans), (long long)m,              \
                   (long long)n, (long long)batch);                                                \
        if (batch == 0)                                                                            \
            return CUBLAS_STATUS_SUCCESS;                                                          \
        TRIANGLE(_type, LEVEL3_TRSM, B, ldb, (void *)(uintptr_t)B, ldb, batch)                     \
    }
#define GEAM(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t transa,                 \
                                  cublasOperation_t transb, _int m, _int n, const _t *alpha,       \
                                  const _t *A, _int lda, const _t *beta, const _t *B, _int ldb,    \
                                  _t *C, _int ldc)                                                 \
    {                                                                                              \
        ENTER_WITH(handle, "%c%c %lldx%lld", op_letter(transa), op_letter(transb), (long long)m,   \
                   (long long)n);                                                                  \
        struct level3 op = {.who = __func__,                                                       \
                            .kind = LEVEL3_GEAM,                                                   \
                            .type = _type,                                                         \
                            .transa = transa,                                                      \
                            .transb = transb,                                                      \
                            .m = m,                                                                \
                            .n = n,                                                                \
                            MATRIX_A(_type, .structure = GENERAL),                                 \
                            .b = B,                                                                \
                            .ldb = ldb,                                                            \
                            .c = C,                                                                \
                            .ldc = ldc};                                                           \
        return level3_run(handle, &op, alpha, beta);                                               \
    }
#define DGMM(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasSideMode_t mode, _int m, _int n,    \
                                  const _t *A, _int lda, const _t *x, _int incx, _t *C, _int ldc)  \
    {                                                                                              \
        ENTER_WITH(handle, "%lldx%lld", (long long)m, (long long)n);                               \
        REQUIRE(mode == CUBLAS_SIDE_LEFT || mode == CUBLAS_SIDE_RIGHT);                            \
        struct level3 op = {.who = __func__,                                                       \
                            .kind = LEVEL3_DGMM,                                                   \
                            .type = _type,                                                         \
                            .left = mode == CUBLAS_SIDE_LEFT,                                      \
                            .m = m,                                                                \
                            .n = n,                                                                \
                            MATRIX_A(_type, .structure = GENERAL),                                 \
                            .x = vector_of(x, _type, incx),                                        \
                            .c = C,                                                                \
                            .ldc = ldc};                                                           \
        return level3_run(handle, &op, NULL, NULL);                                                \
    }

#define FOUR(_macro, _routine, _suffix)                                                            \
    APPLY(WIDTHS, _macro, cublasS##_routine, _suffix, S)                                           \
    APPLY(WIDTHS, _macro, cublasD##_routine, _suffix, D)                                           \
    APPLY(WIDTHS, _macro, cublasC##_routine, _suffix, C_)                                          \
    APPLY(WIDTHS, _macro, cublasZ##_routine, _suffix, Z)
FOUR(TRMM, trmm, _v2)
FOUR(TRSM, trsm, _v2)
FOUR(TRSM_BATCHED, trsmBatched, )
FOUR(GEAM, geam, )
FOUR(DGMM, dgmm, )
APPLY(WIDTHS, SYMM, cublasSsymm, _v2, S, SYMMETRIC)
APPLY(WIDTHS, SYMM, cublasDsymm, _v2, D, SYMMETRIC)
APPLY(WIDTHS, SYMM, cublasCsymm, _v2, C_, SYMMETRIC)
APPLY(WIDTHS, SYMM, cublasZsymm, _v2, Z, SYMMETRIC)
APPLY(WIDTHS, SYMM, cublasChemm, _v2, C_, HERMITIAN)
APPLY(WIDTHS, SYMM, cublasZhemm, _v2, Z, HERMITIAN)
