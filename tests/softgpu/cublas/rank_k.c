/* SPDX-License-Identifier: BSD-3-Clause
 * syrk, syr2k, syrkx, herk, her2k, herkx and the typed syrk forms: one or two matrix products that
 * store a triangle. */
#include "level3.h"

static cublasStatus_t check(const struct rank_k *c)
{
    const bool is_complex = type_is_complex(c->c.type);
    const cublasOperation_t transposed = c->hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    const int64_t rows = c->trans == CUBLAS_OP_N ? c->n : c->k, least = rows > 1 ? rows : 1;
    if (c->uplo != CUBLAS_FILL_MODE_LOWER && c->uplo != CUBLAS_FILL_MODE_UPPER)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (c->trans != CUBLAS_OP_N && c->trans != transposed &&
        !(c->trans == CUBLAS_OP_C && !is_complex))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (c->n < 0 || c->k < 0 || c->a.ld < least || (c->b.data != NULL && c->b.ld < least) ||
        c->c.ld < (c->n > 1 ? c->n : 1))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (c->alpha == NULL || c->beta == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

static bool fill(const struct rank_k *call, struct gemm_op *op, const struct call_matrix *a,
                 const struct call_matrix *b)
{
    const cublasOperation_t turned = call->hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    const bool plain = call->trans == CUBLAS_OP_N;
    const cudaDataType full = scale_type_of(call->compute, call->c.type);
    const cudaDataType half_real = call->hermitian ? type_of_part(full) : full;
    memset(op, 0, sizeof *op);
    op->who = call->who;
    op->family = "syrk";
    op->m = op->n = call->n;
    op->k = call->k;
    op->batch = 1;
    op->a = operand_of(a->data, a->type, a->ld, 0, plain ? CUBLAS_OP_N : turned);
    op->b = operand_of(b->data, b->type, b->ld, 0, plain ? turned : CUBLAS_OP_N);
    op->c = operand_of(call->c.data, call->c.type, call->c.ld, 0, CUBLAS_OP_N);
    op->d = op->c;
    op->uplo = call->uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
    op->hermitian = call->hermitian;
    op->scale_type = full;
    /* herk's alpha and beta are real; of her2k and herkx only beta is */
    handle_scalar(call->handle, &op->alpha, call->alpha, call->b.data == NULL ? half_real : full);
    handle_scalar(call->handle, &op->beta, call->beta, half_real);
    return gemm_arithmetic(op, call->compute);
}

cublasStatus_t rank_k_run(const struct rank_k *call)
{
    const cublasStatus_t status = check(call);
    struct gemm_op op[2];
    if (status != CUBLAS_STATUS_SUCCESS || call->n == 0)
        return status;
    const struct call_matrix *b = call->b.data == NULL ? &call->a : &call->b;
    if (!fill(call, &op[0], &call->a, b))
        return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, call->who, "types");
    if (call->both) {
        const double one[2] = {1.0, 0.0};
        fill(call, &op[1], b, &call->a);
        op[1].alpha.conjugate = call->hermitian;
        scalar_host(&op[1].beta, one, CUDA_R_64F);
    }
    return gemm_enqueue(call->handle->stream, op, call->both ? 2 : 1);
}

#define SYRK_CALL(_type, _hermitian, _both, _b, _ldb)                                              \
    const struct rank_k call = {.who = __func__,                                                   \
                                .handle = handle,                                                  \
                                .uplo = uplo,                                                      \
                                .trans = trans,                                                    \
                                .n = n,                                                            \
                                .k = k,                                                            \
                                .alpha = alpha,                                                    \
                                .beta = beta,                                                      \
                                .a = {A, _type, lda, 0},                                           \
                                .b = {_b, _type, _ldb, 0},                                         \
                                .c = {C, _type, ldc, 0},                                           \
                                .hermitian = _hermitian,                                           \
                                .both = _both,                                                     \
                                .compute = handle_compute(handle, _type)};                         \
    return rank_k_run(&call);
#define SYRK_HEAD(_name, _int, _t, _scale)                                                         \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo,                    \
                                  cublasOperation_t trans, _int n, _int k, const _scale *alpha,    \
                                  const _t *A, _int lda, const _scale *beta, _t *C, _int ldc)
#define SYRK(_name, _int, _t, _type, _scale)                                                       \
    SYRK_HEAD(_name, _int, _t, _scale)                                                             \
    {                                                                                              \
        ENTER_WITH(handle, "%c n=%lld k=%lld", op_letter(trans), (long long)n, (long long)k);      \
        SYRK_CALL(_type, false, false, NULL, 0)                                                    \
    }
#define HERK(_name, _int, _t, _type, _scale)                                                       \
    SYRK_HEAD(_name, _int, _t, _scale)                                                             \
    {                                                                                              \
        ENTER_WITH(handle, "%c n=%lld k=%lld", op_letter(trans), (long long)n, (long long)k);      \
        SYRK_CALL(_type, true, false, NULL, 0)                                                     \
    }
#define SYR2K(_name, _int, _t, _type, _beta, _hermitian, _both)                                    \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo,                    \
                                  cublasOperation_t trans, _int n, _int k, const _t *alpha,        \
                                  const _t *A, _int lda, const _t *B, _int ldb, const _beta *beta, \
                                  _t *C, _int ldc)                                                 \
    {                                                                                              \
        ENTER_WITH(handle, "%c n=%lld k=%lld", op_letter(trans), (long long)n, (long long)k);      \
        SYRK_CALL(_type, _hermitian, _both, B, ldb)                                                \
    }

#define REAL(_letter, _t, _type)                                                                   \
    SYRK(cublas##_letter##syrk_v2, int, _t, _type, _t)                                             \
    SYRK(cublas##_letter##syrk_v2_64, int64_t, _t, _type, _t)                                      \
    SYR2K(cublas##_letter##syr2k_v2, int, _t, _type, _t, false, true)                              \
    SYR2K(cublas##_letter##syr2k_v2_64, int64_t, _t, _type, _t, false, true)                       \
    SYR2K(cublas##_letter##syrkx, int, _t, _type, _t, false, false)                                \
    SYR2K(cublas##_letter##syrkx_64, int64_t, _t, _type, _t, false, false)
#define COMPLEX(_letter, _t, _type, _real)                                                         \
    HERK(cublas##_letter##herk_v2, int, _t, _type, _real)                                          \
    HERK(cublas##_letter##herk_v2_64, int64_t, _t, _type, _real)                                   \
    SYR2K(cublas##_letter##her2k_v2, int, _t, _type, _real, true, true)                            \
    SYR2K(cublas##_letter##her2k_v2_64, int64_t, _t, _type, _real, true, true)                     \
    SYR2K(cublas##_letter##herkx, int, _t, _type, _real, true, false)                              \
    SYR2K(cublas##_letter##herkx_64, int64_t, _t, _type, _real, true, false)

REAL(S, float, CUDA_R_32F)
REAL(D, double, CUDA_R_64F)
REAL(C, cuComplex, CUDA_C_32F)
REAL(Z, cuDoubleComplex, CUDA_C_64F)
COMPLEX(C, cuComplex, CUDA_C_32F, float)
COMPLEX(Z, cuDoubleComplex, CUDA_C_64F, double)

#define TYPED(_name, _int, _scale, _hermitian)                                                     \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasFillMode_t uplo,                    \
                                  cublasOperation_t trans, _int n, _int k, const _scale *alpha,    \
                                  const void *A, cudaDataType Atype, _int lda, const _scale *beta, \
                                  void *C, cudaDataType Ctype, _int ldc)                           \
    {                                                                                              \
        ENTER_WITH(handle, "%c n=%lld k=%lld types %d %d", op_letter(trans), (long long)n,         \
                   (long long)k, (int)Atype, (int)Ctype);                                          \
        if (Ctype != CUDA_C_32F || (Atype != CUDA_C_32F && Atype != CUDA_C_8I))                    \
            return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, __func__, "types");                     \
        const struct rank_k call = {.who = __func__,                                               \
                                    .handle = handle,                                              \
                                    .uplo = uplo,                                                  \
                                    .trans = trans,                                                \
                                    .n = n,                                                        \
                                    .k = k,                                                        \
                                    .alpha = alpha,                                                \
                                    .beta = beta,                                                  \
                                    .a = {A, Atype, lda, 0},                                       \
                                    .c = {C, Ctype, ldc, 0},                                       \
                                    .hermitian = _hermitian,                                       \
                                    .compute = handle_compute(handle, CUDA_C_32F)};                \
        return rank_k_run(&call);                                                                  \
    }
TYPED(cublasCsyrkEx, int, cuComplex, false)
TYPED(cublasCsyrkEx_64, int64_t, cuComplex, false)
TYPED(cublasCsyrk3mEx, int, cuComplex, false)
TYPED(cublasCsyrk3mEx_64, int64_t, cuComplex, false)
TYPED(cublasCherkEx, int, float, true)
TYPED(cublasCherkEx_64, int64_t, float, true)
TYPED(cublasCherk3mEx, int, float, true)
TYPED(cublasCherk3mEx_64, int64_t, float, true)
