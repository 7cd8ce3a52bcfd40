/* SPDX-License-Identifier: BSD-3-Clause
 * Levels 2 and 3 of the interface without handles: each calls its _v2 sibling. */
#include "legacy.h"

#define H legacy_handle()
#define FOUR(_macro, _routine)                                                                     \
    _macro(cublasS##_routine, float) _macro(cublasD##_routine, double)                             \
        _macro(cublasC##_routine, cuComplex) _macro(cublasZ##_routine, cuDoubleComplex)
#define REAL(_macro, _routine) _macro(cublasS##_routine, float) _macro(cublasD##_routine, double)
#define COMPLEX(_macro, _routine)                                                                  \
    _macro(cublasC##_routine, cuComplex) _macro(cublasZ##_routine, cuDoubleComplex)

#define GEMV(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char trans, int m, int n, _t alpha, const _t *A, int lda, const _t *x, int incx,       \
            _t beta, _t *y, int incy))                                                             \
    LEGACY_CALL(_name##_v2(H, legacy_op(trans), m, n, &alpha, A, lda, x, incx, &beta, y, incy))
#define GBMV(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char trans, int m, int n, int kl, int ku, _t alpha, const _t *A, int lda, const _t *x, \
            int incx, _t beta, _t *y, int incy))                                                   \
    LEGACY_CALL(                                                                                   \
        _name##_v2(H, legacy_op(trans), m, n, kl, ku, &alpha, A, lda, x, incx, &beta, y, incy))
#define GER(_name, _t)                                                                             \
    LEGACY(void, _name,                                                                            \
           (int m, int n, _t alpha, const _t *x, int incx, const _t *y, int incy, _t *A, int lda)) \
    LEGACY_CALL(_name##_v2(H, m, n, &alpha, x, incx, y, incy, A, lda))
#define SYMV(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char uplo, int n, _t alpha, const _t *A, int lda, const _t *x, int incx, _t beta,      \
            _t *y, int incy))                                                                      \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), n, &alpha, A, lda, x, incx, &beta, y, incy))
#define SBMV(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char uplo, int n, int k, _t alpha, const _t *A, int lda, const _t *x, int incx,        \
            _t beta, _t *y, int incy))                                                             \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), n, k, &alpha, A, lda, x, incx, &beta, y, incy))
#define SPMV(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char uplo, int n, _t alpha, const _t *A, const _t *x, int incx, _t beta, _t *y,        \
            int incy))                                                                             \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), n, &alpha, A, x, incx, &beta, y, incy))
#define SYR(_name, _t, _a)                                                                         \
    LEGACY(void, _name, (char uplo, int n, _a alpha, const _t *x, int incx, _t *A, int lda))       \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), n, &alpha, x, incx, A, lda))
#define SPR(_name, _t, _a)                                                                         \
    LEGACY(void, _name, (char uplo, int n, _a alpha, const _t *x, int incx, _t *A))                \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), n, &alpha, x, incx, A))
#define SYR2(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char uplo, int n, _t alpha, const _t *x, int incx, const _t *y, int incy, _t *A,       \
            int lda))                                                                              \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), n, &alpha, x, incx, y, incy, A, lda))
#define SPR2(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char uplo, int n, _t alpha, const _t *x, int incx, const _t *y, int incy, _t *A))      \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), n, &alpha, x, incx, y, incy, A))
#define TRIANGLE legacy_uplo(uplo), legacy_op(trans), legacy_diag(diag)
#define TRXV(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char uplo, char trans, char diag, int n, const _t *A, int lda, _t *x, int incx))       \
    LEGACY_CALL(_name##_v2(H, TRIANGLE, n, A, lda, x, incx))
#define TBXV(_name, _t)                                                                            \
    LEGACY(                                                                                        \
        void, _name,                                                                               \
        (char uplo, char trans, char diag, int n, int k, const _t *A, int lda, _t *x, int incx))   \
    LEGACY_CALL(_name##_v2(H, TRIANGLE, n, k, A, lda, x, incx))
#define TPXV(_name, _t)                                                                            \
    LEGACY(void, _name, (char uplo, char trans, char diag, int n, const _t *A, _t *x, int incx))   \
    LEGACY_CALL(_name##_v2(H, TRIANGLE, n, A, x, incx))

FOUR(GEMV, gemv)
FOUR(GBMV, gbmv)
REAL(GER, ger)
COMPLEX(GER, geru)
COMPLEX(GER, gerc)
REAL(SYMV, symv)
COMPLEX(SYMV, hemv)
REAL(SBMV, sbmv)
COMPLEX(SBMV, hbmv)
REAL(SPMV, spmv)
COMPLEX(SPMV, hpmv)
SYR(cublasSsyr, float, float)
SYR(cublasDsyr, double, double)
SYR(cublasCher, cuComplex, float)
SYR(cublasZher, cuDoubleComplex, double)
SPR(cublasSspr, float, float)
SPR(cublasDspr, double, double)
SPR(cublasChpr, cuComplex, float)
SPR(cublasZhpr, cuDoubleComplex, double)
REAL(SYR2, syr2)
COMPLEX(SYR2, her2)
REAL(SPR2, spr2)
COMPLEX(SPR2, hpr2)
FOUR(TRXV, trmv)
FOUR(TRXV, trsv)
FOUR(TBXV, tbmv)
FOUR(TBXV, tbsv)
FOUR(TPXV, tpmv)
FOUR(TPXV, tpsv)

#define GEMM(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char transa, char transb, int m, int n, int k, _t alpha, const _t *A, int lda,         \
            const _t *B, int ldb, _t beta, _t *C, int ldc))                                        \
    LEGACY_CALL(_name##_v2(H, legacy_op(transa), legacy_op(transb), m, n, k, &alpha, A, lda, B,    \
                           ldb, &beta, C, ldc))
#define SYRK(_name, _t, _s)                                                                        \
    LEGACY(void, _name,                                                                            \
           (char uplo, char trans, int n, int k, _s alpha, const _t *A, int lda, _s beta, _t *C,   \
            int ldc))                                                                              \
    LEGACY_CALL(                                                                                   \
        _name##_v2(H, legacy_uplo(uplo), legacy_op(trans), n, k, &alpha, A, lda, &beta, C, ldc))
#define SYR2K(_name, _t, _s)                                                                       \
    LEGACY(void, _name,                                                                            \
           (char uplo, char trans, int n, int k, _t alpha, const _t *A, int lda, const _t *B,      \
            int ldb, _s beta, _t *C, int ldc))                                                     \
    LEGACY_CALL(_name##_v2(H, legacy_uplo(uplo), legacy_op(trans), n, k, &alpha, A, lda, B, ldb,   \
                           &beta, C, ldc))
#define SYMM(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char side, char uplo, int m, int n, _t alpha, const _t *A, int lda, const _t *B,       \
            int ldb, _t beta, _t *C, int ldc))                                                     \
    LEGACY_CALL(_name##_v2(H, legacy_side(side), legacy_uplo(uplo), m, n, &alpha, A, lda, B, ldb,  \
                           &beta, C, ldc))
#define TRSM(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char side, char uplo, char trans, char diag, int m, int n, _t alpha, const _t *A,      \
            int lda, _t *B, int ldb))                                                              \
    LEGACY_CALL(_name##_v2(H, legacy_side(side), TRIANGLE, m, n, &alpha, A, lda, B, ldb))
/* in place here, out of place in the _v2 form */
#define TRMM(_name, _t)                                                                            \
    LEGACY(void, _name,                                                                            \
           (char side, char uplo, char trans, char diag, int m, int n, _t alpha, const _t *A,      \
            int lda, _t *B, int ldb))                                                              \
    LEGACY_CALL(_name##_v2(H, legacy_side(side), TRIANGLE, m, n, &alpha, A, lda, B, ldb, B, ldb))

FOUR(GEMM, gemm)
SYRK(cublasSsyrk, float, float)
SYRK(cublasDsyrk, double, double)
SYRK(cublasCsyrk, cuComplex, cuComplex)
SYRK(cublasZsyrk, cuDoubleComplex, cuDoubleComplex)
SYRK(cublasCherk, cuComplex, float)
SYRK(cublasZherk, cuDoubleComplex, double)
SYR2K(cublasSsyr2k, float, float)
SYR2K(cublasDsyr2k, double, double)
SYR2K(cublasCsyr2k, cuComplex, cuComplex)
SYR2K(cublasZsyr2k, cuDoubleComplex, cuDoubleComplex)
SYR2K(cublasCher2k, cuComplex, float)
SYR2K(cublasZher2k, cuDoubleComplex, double)
FOUR(SYMM, symm)
COMPLEX(SYMM, hemm)
FOUR(TRSM, trsm)
FOUR(TRMM, trmm)
