/* SPDX-License-Identifier: BSD-3-Clause
 * Batched LU: getrf, getrs, getri, matinv. Each matrix is worked on as complex doubles on the
 * host and stored back in its own type. */
#include "vector.h"

#include <math.h>
#include <stdlib.h>

enum kind { GETRF, GETRS, GETRI, MATINV };

struct lu {
    const char *who;
    enum kind kind;
    cudaDataType type;
    cublasOperation_t op;
    int64_t n, columns, lda, ldb, batch; /* columns of the right-hand side */
    const void *a, *b;                   /* device arrays of pointers; b: where the result goes */
    int *pivots, *info;                  /* device; NULL pivots: none */
};

static double size_of(struct z x)
{
    return fabs(x.re) + fabs(x.im);
}

/* In place, row pivots 1-based as in LAPACK; returns info. */
static int factor(struct z *a, int64_t n, int *pivot)
{
    int info = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; pivot != NULL && i < n; i++)
            if (size_of(a[i + k * n]) > size_of(a[best + k * n]))
                best = i;
        if (pivot != NULL)
            pivot[k] = (int)best + 1;
        if (z_zero(a[best + k * n])) {
            info = info == 0 ? (int)k + 1 : info;
            continue;
        }
        for (int64_t j = 0; best != k && j < n; j++) {
            const struct z t = a[k + j * n];
            a[k + j * n] = a[best + j * n];
            a[best + j * n] = t;
        }
        for (int64_t i = k + 1; i < n; i++) {
            a[i + k * n] = z_div(a[i + k * n], a[k + k * n]);
            for (int64_t j = k + 1; j < n; j++)
                a[i + j * n] = z_sub(a[i + j * n], z_mul(a[i + k * n], a[k + j * n]));
        }
    }
    return info;
}

static void swap_rows(struct z *x, int64_t n, const int *pivot, bool forward)
{
    for (int64_t s = 0; pivot != NULL && s < n; s++) {
        const int64_t i = forward ? s : n - 1 - s, p = pivot[i] - 1;
        const struct z t = x[i];
        x[i] = x[p];
        x[p] = t;
    }
}

/* Solves op(A) x = b in place for one column, from the factors of A. */
static void solve(const struct z *a, int64_t n, const int *pivot, cublasOperation_t op, struct z *x)
{
    const bool plain = op == CUBLAS_OP_N, conj = op == CUBLAS_OP_C;
    if (plain)
        swap_rows(x, n, pivot, true);
    for (int64_t pass = 0; pass < 2; pass++) {
        const bool lower = plain == (pass == 0); /* first L then U, or U' then L' */
        const bool unit = lower;
        const bool down = pass == 0;
        for (int64_t s = 0; s < n; s++) {
            const int64_t i = down ? s : n - 1 - s;
            struct z sum = x[i];
            for (int64_t j = down ? 0 : i + 1; j < (down ? i : n); j++)
                sum = z_sub(sum, z_mul(z_conj(plain ? a[i + j * n] : a[j + i * n], conj), x[j]));
            x[i] = unit ? sum : z_div(sum, z_conj(a[i + i * n], conj));
        }
    }
    if (!plain)
        swap_rows(x, n, pivot, false);
}

struct work {
    struct z *a, *b;
    int *pivot;
};

static void load(const struct lu *op, const char *from, int64_t ld, int64_t cols, struct z *to)
{
    const int64_t size = (int64_t)type_bytes(op->type);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < op->n; i++)
            to[i + j * op->n] = z_load(from + (i + j * ld) * size, op->type);
}

static void store(const struct lu *op, char *to, int64_t ld, int64_t cols, const struct z *from)
{
    const int64_t size = (int64_t)type_bytes(op->type);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < op->n; i++)
            z_store(to + (i + j * ld) * size, op->type, from[i + j * op->n]);
}

static CUresult check_columns(const struct lu *op, const struct gpu *gpu, void *space,
                              const char *p, int64_t ld, int64_t cols, int write)
{
    const int64_t size = (int64_t)type_bytes(op->type);
    CUresult result = CUDA_SUCCESS;
    for (int64_t j = 0; j < cols && result == CUDA_SUCCESS; j++)
        result = gpu->check(space, p + j * ld * size, (size_t)(op->n * size), write, op->who);
    return result;
}

static void inverse(const struct z *a, int64_t n, const int *pivot, struct z *b)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++)
            b[i + j * n] = z_of(i == j ? 1.0 : 0.0, 0.0);
        solve(a, n, pivot, CUBLAS_OP_N, b + j * n);
    }
}

static bool singular(const struct z *a, int64_t n, int *info)
{
    for (int64_t i = 0; i < n; i++)
        if (z_zero(a[i + i * n])) {
            *info = (int)i + 1;
            return true;
        }
    return false;
}

static CUresult run_one(const struct lu *op, const struct gpu *gpu, void *space, int64_t i,
                        struct work *w)
{
    char *const *as = op->a, *const *bs = op->b;
    const bool has_b = op->kind != GETRF;
    const bool takes_pivots = op->kind == GETRS || op->kind == GETRI;
    const int64_t b_cols = op->kind == GETRS ? op->columns : op->n;
    int *pivots = op->pivots == NULL ? NULL : op->pivots + i * op->n;
    int info = 0;
    CUresult result = gpu->check(space, as + i, sizeof *as, 0, op->who);
    if (result == CUDA_SUCCESS && has_b)
        result = gpu->check(space, bs + i, sizeof *bs, 0, op->who);
    if (result == CUDA_SUCCESS)
        result = check_columns(op, gpu, space, as[i], op->lda, op->n, op->kind == GETRF);
    if (result == CUDA_SUCCESS && has_b)
        result = check_columns(op, gpu, space, bs[i], op->ldb, b_cols, 1);
    if (result == CUDA_SUCCESS && pivots != NULL)
        result = gpu->check(space, pivots, (size_t)op->n * sizeof *pivots, !takes_pivots, op->who);
    if (result == CUDA_SUCCESS && op->info != NULL)
        result = gpu->check(space, op->info + i, sizeof *op->info, 1, op->who);
    if (result != CUDA_SUCCESS)
        return result;
    load(op, as[i], op->lda, op->n, w->a);
    switch (op->kind) {
    case GETRF:
        info = factor(w->a, op->n, pivots == NULL ? NULL : w->pivot);
        store(op, as[i], op->lda, op->n, w->a);
        if (pivots != NULL)
            memcpy(pivots, w->pivot, (size_t)op->n * sizeof *pivots);
        break;
    case GETRS:
        load(op, bs[i], op->ldb, b_cols, w->b);
        for (int64_t j = 0; j < b_cols; j++)
            solve(w->a, op->n, pivots, op->op, w->b + j * op->n);
        store(op, bs[i], op->ldb, b_cols, w->b);
        break;
    case GETRI:
        if (!singular(w->a, op->n, &info)) {
            inverse(w->a, op->n, pivots, w->b);
            store(op, bs[i], op->ldb, op->n, w->b);
        }
        break;
    case MATINV:
        info = factor(w->a, op->n, w->pivot);
        if (info == 0) {
            inverse(w->a, op->n, w->pivot, w->b);
            store(op, bs[i], op->ldb, op->n, w->b);
        }
        break;
    }
    if (op->info != NULL)
        op->info[i] = info;
    return CUDA_SUCCESS;
}

static CUresult run(void *arg, void *space)
{
    const struct lu *op = arg;
    const size_t n = (size_t)op->n, cols = op->kind == GETRS ? (size_t)op->columns : n;
    struct work w = {.a = malloc((n * n + 1) * sizeof *w.a),
                     .b = malloc((n * cols + 1) * sizeof *w.b),
                     .pivot = malloc((n + 1) * sizeof *w.pivot)};
    CUresult result =
        w.a == NULL || w.b == NULL || w.pivot == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    for (int64_t i = 0; i < op->batch && result == CUDA_SUCCESS; i++)
        result = run_one(op, gpu_get(), space, i, &w);
    free(w.a);
    free(w.b);
    free(w.pivot);
    return result;
}

static cublasStatus_t enqueue(cublasHandle_t handle, const struct lu *op)
{
    const int64_t least = op->n > 1 ? op->n : 1;
    if (op->n < 0 || op->batch < 0 || op->columns < 0 || op->lda < least ||
        (op->kind != GETRF && op->ldb < least) || !op_valid(op->op))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (op->kind == MATINV && op->n > 32)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (op->n == 0 || op->batch == 0 || (op->kind == GETRS && op->columns == 0))
        return CUBLAS_STATUS_SUCCESS;
    const uint64_t n = (uint64_t)op->n, batch = (uint64_t)op->batch;
    return work_enqueue(handle, op->who, run, op, sizeof *op,
                        2 * n * n * batch * type_bytes(op->type), n * n * n * batch, op->type);
}

#define GETRF_(_name, _t, _type)                                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, int n, _t *const A[], int lda, int *P,    \
                                  int *info, int batch)                                            \
    {                                                                                              \
        ENTER_WITH(handle, "%d batch=%d", n, batch);                                               \
        const struct lu op = {.who = __func__,                                                     \
                              .kind = GETRF,                                                       \
                              .type = _type,                                                       \
                              .n = n,                                                              \
                              .lda = lda,                                                          \
                              .batch = batch,                                                      \
                              .a = A,                                                              \
                              .pivots = P,                                                         \
                              .info = info};                                                       \
        return enqueue(handle, &op);                                                               \
    }
#define GETRI_(_name, _t, _type)                                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, int n, const _t *const A[], int lda,      \
                                  const int *P, _t *const C[], int ldc, int *info, int batch)      \
    {                                                                                              \
        ENTER_WITH(handle, "%d batch=%d", n, batch);                                               \
        const struct lu op = {.who = __func__,                                                     \
                              .kind = GETRI,                                                       \
                              .type = _type,                                                       \
                              .n = n,                                                              \
                              .lda = lda,                                                          \
                              .ldb = ldc,                                                          \
                              .batch = batch,                                                      \
                              .a = A,                                                              \
                              .b = C,                                                              \
                              .pivots = (int *)(uintptr_t)P,                                       \
                              .info = info};                                                       \
        return enqueue(handle, &op);                                                               \
    }
/* The position of the first wrong argument of getrs, negative; 0: none. */
static int wrong_argument(int n, int nrhs, int lda, int ldb, int batch)
{
    const int least = n > 1 ? n : 1;
    if (n < 0)
        return -2;
    if (nrhs < 0)
        return -3;
    if (lda < least)
        return -5;
    if (ldb < least)
        return -8;
    return batch < 0 ? -10 : 0;
}

/* info of getrs is on the host and tells of bad arguments only */
#define GETRS_(_name, _t, _type)                                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs, \
                                  const _t *const A[], int lda, const int *P, _t *const B[],       \
                                  int ldb, int *info, int batch)                                   \
    {                                                                                              \
        ENTER_WITH(handle, "%c %d batch=%d", op_letter(trans), n, batch);                          \
        const struct lu op = {.who = __func__,                                                     \
                              .kind = GETRS,                                                       \
                              .type = _type,                                                       \
                              .op = trans,                                                         \
                              .n = n,                                                              \
                              .columns = nrhs,                                                     \
                              .lda = lda,                                                          \
                              .ldb = ldb,                                                          \
                              .batch = batch,                                                      \
                              .a = A,                                                              \
                              .b = B,                                                              \
                              .pivots = (int *)(uintptr_t)P};                                      \
        if (info == NULL)                                                                          \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        *info = wrong_argument(n, nrhs, lda, ldb, batch);                                          \
        return enqueue(handle, &op);                                                               \
    }
#define MATINV_(_name, _t, _type)                                                                  \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, int n, const _t *const A[], int lda,      \
                                  _t *const Ainv[], int lda_inv, int *info, int batch)             \
    {                                                                                              \
        ENTER_WITH(handle, "%d batch=%d", n, batch);                                               \
        const struct lu op = {.who = __func__,                                                     \
                              .kind = MATINV,                                                      \
                              .type = _type,                                                       \
                              .n = n,                                                              \
                              .lda = lda,                                                          \
                              .ldb = lda_inv,                                                      \
                              .batch = batch,                                                      \
                              .a = A,                                                              \
                              .b = Ainv,                                                           \
                              .info = info};                                                       \
        return enqueue(handle, &op);                                                               \
    }
#define FOUR(_macro, _routine)                                                                     \
    _macro(cublasS##_routine, float, CUDA_R_32F) _macro(cublasD##_routine, double, CUDA_R_64F)     \
        _macro(cublasC##_routine, cuComplex, CUDA_C_32F)                                           \
            _macro(cublasZ##_routine, cuDoubleComplex, CUDA_C_64F)
FOUR(GETRF_, getrfBatched)
FOUR(GETRI_, getriBatched)
FOUR(GETRS_, getrsBatched)
FOUR(MATINV_, matinvBatched)
