/* SPDX-License-Identifier: BSD-3-Clause
 * symm, hemm, trmm, trsm (OpenBLAS on the matrices in place, after their ranges were checked),
 * geam and dgmm (plain loops). No state. */
#include "level3.h"

#include <cblas.h>
#include <limits.h>

/* Scalars as OpenBLAS takes them. */
struct numbers {
    float s[2];
    double d[2];
};

static struct numbers numbers_of(struct z value)
{
    return (struct numbers){{(float)value.re, (float)value.im}, {value.re, value.im}};
}

static CBLAS_TRANSPOSE blas_op(cublasOperation_t op)
{
    return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}

static void symm(const struct level3 *op, struct z alpha_z, struct z beta_z)
{
    const struct numbers alpha = numbers_of(alpha_z), beta = numbers_of(beta_z);
    const CBLAS_SIDE side = op->left ? CblasLeft : CblasRight;
    const CBLAS_UPLO uplo = op->a.lower ? CblasLower : CblasUpper;
    const blasint m = (blasint)op->m, n = (blasint)op->n, lda = (blasint)op->a.ld;
    const blasint ldb = (blasint)op->ldb, ldc = (blasint)op->ldc;
    void *a = op->a.data;
    switch (op->type) {
    case CUDA_R_32F:
        cblas_ssymm(CblasColMajor, side, uplo, m, n, alpha.s[0], a, lda, op->b, ldb, beta.s[0],
                    op->c, ldc);
        break;
    case CUDA_R_64F:
        cblas_dsymm(CblasColMajor, side, uplo, m, n, alpha.d[0], a, lda, op->b, ldb, beta.d[0],
                    op->c, ldc);
        break;
    case CUDA_C_32F:
        (op->hermitian ? cblas_chemm : cblas_csymm)(CblasColMajor, side, uplo, m, n, alpha.s, a,
                                                    lda, op->b, ldb, beta.s, op->c, ldc);
        break;
    default:
        (op->hermitian ? cblas_zhemm : cblas_zsymm)(CblasColMajor, side, uplo, m, n, alpha.d, a,
                                                    lda, op->b, ldb, beta.d, op->c, ldc);
    }
}

/* trmm or trsm in place on B */
static void triangular(const struct level3 *op, const void *a, void *b, int64_t ld, struct z scale)
{
    const struct numbers alpha = numbers_of(scale);
    const bool solve = op->kind == LEVEL3_TRSM;
    const CBLAS_SIDE side = op->left ? CblasLeft : CblasRight;
    const CBLAS_UPLO uplo = op->a.lower ? CblasLower : CblasUpper;
    const CBLAS_DIAG diag = op->a.unit ? CblasUnit : CblasNonUnit;
    const CBLAS_TRANSPOSE trans = blas_op(op->transa);
    const blasint m = (blasint)op->m, n = (blasint)op->n, lda = (blasint)op->a.ld,
                  ldb = (blasint)ld;
    switch (op->type) {
    case CUDA_R_32F:
        (solve ? cblas_strsm : cblas_strmm)(CblasColMajor, side, uplo, trans, diag, m, n,
                                            alpha.s[0], a, lda, b, ldb);
        break;
    case CUDA_R_64F:
        (solve ? cblas_dtrsm : cblas_dtrmm)(CblasColMajor, side, uplo, trans, diag, m, n,
                                            alpha.d[0], a, lda, b, ldb);
        break;
    case CUDA_C_32F:
        (solve ? cblas_ctrsm : cblas_ctrmm)(CblasColMajor, side, uplo, trans, diag, m, n, alpha.s,
                                            a, lda, b, ldb);
        break;
    default:
        (solve ? cblas_ztrsm : cblas_ztrmm)(CblasColMajor, side, uplo, trans, diag, m, n, alpha.d,
                                            a, lda, b, ldb);
    }
}

static CUresult check_dense(const struct level3 *op, const struct gpu *gpu, void *space,
                            const void *data, int64_t ld, int64_t rows, int64_t cols, int write)
{
    const struct matrix x = {
        .data = (char *)(uintptr_t)data, .type = op->type, .rows = rows, .cols = cols, .ld = ld};
    return matrix_check(gpu, space, &x, write, op->who);
}

static void fill_zero(const struct level3 *op, char *c, int64_t ld)
{
    const int64_t size = (int64_t)type_bytes(op->type);
    for (int64_t j = 0; j < op->n; j++)
        memset(c + j * ld * size, 0, (size_t)(op->m * size));
}

static CUresult run_triangular(const struct level3 *op, const struct gpu *gpu, void *space,
                               struct z alpha)
{
    const int64_t size = (int64_t)type_bytes(op->type);
    const int64_t count = op->batch == 0 ? 1 : op->batch;
    for (int64_t i = 0; i < count; i++) {
        struct matrix a = op->a;
        const char *b = op->b;
        char *c = op->c;
        CUresult result = CUDA_SUCCESS;
        if (op->batch > 0) {
            char *const *as = (char *const *)(void *)op->a.data;
            char *const *bs = op->b;
            result = gpu->check(space, as + i, sizeof *as, 0, op->who);
            if (result == CUDA_SUCCESS)
                result = gpu->check(space, bs + i, sizeof *bs, 0, op->who);
            if (result != CUDA_SUCCESS)
                return result;
            a.data = as[i];
            b = c = bs[i];
        }
        if (!z_zero(alpha)) {
            result = matrix_check(gpu, space, &a, 0, op->who);
            if (result == CUDA_SUCCESS)
                result = check_dense(op, gpu, space, b, op->ldb, op->m, op->n, 0);
        }
        if (result == CUDA_SUCCESS)
            result = check_dense(op, gpu, space, c, op->ldc, op->m, op->n, 1);
        if (result != CUDA_SUCCESS)
            return result;
        if (z_zero(alpha)) {
            fill_zero(op, c, op->ldc);
            continue;
        }
        for (int64_t j = 0; j < op->n && b != c; j++)
            memmove(c + j * op->ldc * size, b + j * op->ldb * size, (size_t)(op->m * size));
        triangular(op, a.data, c, op->ldc, alpha);
    }
    return CUDA_SUCCESS;
}

static CUresult run_symm(const struct level3 *op, const struct gpu *gpu, void *space,
                         struct z alpha, struct z beta)
{
    CUresult result = CUDA_SUCCESS;
    if (!z_zero(alpha)) {
        result = matrix_check(gpu, space, &op->a, 0, op->who);
        if (result == CUDA_SUCCESS)
            result = check_dense(op, gpu, space, op->b, op->ldb, op->m, op->n, 0);
    }
    if (result == CUDA_SUCCESS)
        result = check_dense(op, gpu, space, op->c, op->ldc, op->m, op->n, 1);
    if (result == CUDA_SUCCESS)
        symm(op, alpha, beta);
    return result;
}

static CUresult run_geam(const struct level3 *op, const struct gpu *gpu, void *space,
                         struct z alpha, struct z beta)
{
    const int64_t size = (int64_t)type_bytes(op->type);
    const bool ta = op->transa != CUBLAS_OP_N, tb = op->transb != CUBLAS_OP_N;
    const bool use_a = !z_zero(alpha), use_b = !z_zero(beta);
    CUresult result = CUDA_SUCCESS;
    if (use_a)
        result = check_dense(op, gpu, space, op->a.data, op->a.ld, ta ? op->n : op->m,
                             ta ? op->m : op->n, 0);
    if (result == CUDA_SUCCESS && use_b)
        result =
            check_dense(op, gpu, space, op->b, op->ldb, tb ? op->n : op->m, tb ? op->m : op->n, 0);
    if (result == CUDA_SUCCESS)
        result = check_dense(op, gpu, space, op->c, op->ldc, op->m, op->n, 1);
    for (int64_t j = 0; j < op->n && result == CUDA_SUCCESS; j++)
        for (int64_t i = 0; i < op->m; i++) {
            struct z value = z_of(0.0, 0.0);
            const int64_t at_a = ta ? j + i * op->a.ld : i + j * op->a.ld;
            const int64_t at_b = tb ? j + i * op->ldb : i + j * op->ldb;
            if (use_a)
                value = z_mul(alpha, z_conj(z_load(op->a.data + at_a * size, op->type),
                                            op->transa == CUBLAS_OP_C));
            if (use_b)
                value = z_add(
                    value, z_mul(beta, z_conj(z_load((const char *)op->b + at_b * size, op->type),
                                              op->transb == CUBLAS_OP_C)));
            z_store((char *)op->c + (i + j * op->ldc) * size, op->type, value);
        }
    return result;
}

static CUresult run_dgmm(const struct level3 *op, const struct gpu *gpu, void *space)
{
    const int64_t size = (int64_t)type_bytes(op->type), length = op->left ? op->m : op->n;
    CUresult result = check_dense(op, gpu, space, op->a.data, op->a.ld, op->m, op->n, 0);
    if (result == CUDA_SUCCESS)
        result = vector_check(gpu, space, &op->x, length, 0, op->who);
    if (result == CUDA_SUCCESS)
        result = check_dense(op, gpu, space, op->c, op->ldc, op->m, op->n, 1);
    for (int64_t j = 0; j < op->n && result == CUDA_SUCCESS; j++)
        for (int64_t i = 0; i < op->m; i++) {
            const struct z x = z_load(vector_at(&op->x, length, op->left ? i : j), op->type);
            const struct z a = z_load(op->a.data + (i + j * op->a.ld) * size, op->type);
            z_store((char *)op->c + (i + j * op->ldc) * size, op->type, z_mul(a, x));
        }
    return result;
}

static CUresult run(void *arg, void *space)
{
    const struct level3 *op = arg;
    const struct gpu *gpu = gpu_get();
    struct z alpha = z_of(0.0, 0.0), beta = z_of(0.0, 0.0);
    CUresult result = CUDA_SUCCESS;
    product_set_up();
    if (op->kind != LEVEL3_DGMM)
        result = scalar_read(gpu, space, &op->alpha, op->who, &alpha);
    if (result == CUDA_SUCCESS && (op->kind == LEVEL3_SYMM || op->kind == LEVEL3_GEAM))
        result = scalar_read(gpu, space, &op->beta, op->who, &beta);
    if (result != CUDA_SUCCESS)
        return result;
    switch (op->kind) {
    case LEVEL3_SYMM:
        return run_symm(op, gpu, space, alpha, beta);
    case LEVEL3_GEAM:
        return run_geam(op, gpu, space, alpha, beta);
    case LEVEL3_DGMM:
        return run_dgmm(op, gpu, space);
    default:
        return run_triangular(op, gpu, space, alpha);
    }
}

static bool ld_ok(int64_t ld, int64_t rows)
{
    return ld >= (rows > 1 ? rows : 1);
}

static bool sizes_ok(const struct level3 *op)
{
    if (op->m < 0 || op->n < 0 || op->batch < 0 || !op_valid(op->transa) || !op_valid(op->transb))
        return false;
    if (!ld_ok(op->ldc, op->m))
        return false;
    if (op->kind == LEVEL3_GEAM)
        return ld_ok(op->a.ld, op->transa == CUBLAS_OP_N ? op->m : op->n) &&
               ld_ok(op->ldb, op->transb == CUBLAS_OP_N ? op->m : op->n);
    if (op->kind == LEVEL3_DGMM)
        return ld_ok(op->a.ld, op->m);
    return ld_ok(op->a.ld, op->left ? op->m : op->n) && ld_ok(op->ldb, op->m);
}

cublasStatus_t level3_run(cublasHandle_t handle, struct level3 *op, const void *alpha,
                          const void *beta)
{
    const bool two = op->kind == LEVEL3_SYMM || op->kind == LEVEL3_GEAM;
    if (!sizes_ok(op))
        return CUBLAS_STATUS_INVALID_VALUE;
    if ((op->kind != LEVEL3_DGMM && alpha == NULL) || (two && beta == NULL))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (op->m == 0 || op->n == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (op->m > INT_MAX || op->n > INT_MAX || op->a.ld > INT_MAX || op->ldb > INT_MAX ||
        op->ldc > INT_MAX)
        return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, op->who, "a size beyond 32 bits");
    if (op->kind != LEVEL3_DGMM)
        handle_scalar(handle, &op->alpha, alpha, op->type);
    if (two)
        handle_scalar(handle, &op->beta, beta, op->type);
    const int64_t order = op->left ? op->m : op->n;
    if (op->kind < LEVEL3_GEAM)
        op->a.rows = op->a.cols = order;
    const uint64_t elements =
        (uint64_t)op->m * (uint64_t)op->n * (uint64_t)(op->batch ? op->batch : 1);
    return work_enqueue(handle, op->who, run, op, sizeof *op, 3 * elements * type_bytes(op->type),
                        op->kind < LEVEL3_GEAM ? elements * (uint64_t)order : 2 * elements,
                        op->type);
}
