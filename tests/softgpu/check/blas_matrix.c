/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of level 3 beside GEMM, LU, grouped GEMM, batched products with vectors, transfers and the
 * interface without handles, in all four types against float64 loops. */
#include "blas.h"

#include <math.h>

static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};

typedef void (*generic)(void);
#define FOUR(_a, _b, _c, _d)                                                                       \
    {                                                                                              \
        (generic) _a, (generic)_b, (generic)_c, (generic)_d                                        \
    }
#define TYPES(_routine)                                                                            \
    FOUR(cublasS##_routine, cublasD##_routine, cublasC##_routine, cublasZ##_routine)
#define CALL(_table, _t, ...) ((cublasStatus_t(*)(__VA_ARGS__))(_table)[_t])
typedef cublasHandle_t hd;
typedef cublasOperation_t op_t;
typedef cublasFillMode_t uplo_t;
typedef cublasSideMode_t side_t;
typedef cublasDiagType_t diag_t;
typedef const void *in;
typedef void *out;

static double unit(int t)
{
    return t % 2 == 0 ? 0x1p-24 : 0x1p-53;
}

/* A dense m x n matrix with padding in its leading dimension. */
struct dense {
    struct array data;
    int m, n, ld;
};

static struct dense dense_new(cudaDataType type, int m, int n)
{
    struct dense a = {.m = m, .n = n, .ld = m + (int)pick(0, 3)};
    a.data = array_new(type, (int64_t)a.ld * (n - 1) + m);
    return a;
}

static number at(const struct dense *a, int i, int j)
{
    return array_at(&a->data, i + (int64_t)j * a->ld);
}

static number at_tr(const struct dense *a, op_t op, int i, int j)
{
    return op == CUBLAS_OP_N ? at(a, i, j) : conj_op(op, at(a, j, i));
}

static struct dense copy_of(const struct dense *a)
{
    struct dense b = *a;
    b.data = array_poison(a->data.type, a->data.n);
    memcpy(b.data.host, a->data.host, (size_t)b.data.n * size_of(b.data.type));
    array_put(&b.data);
    return b;
}

static number random_scalar(int t, char bytes[16])
{
    const number x = pick(0, 5) == 0 ? 0.0 : complex_of(uniform(), t >= 2 ? uniform() : 0.0);
    encode(types[t], x, bytes);
    return decode(types[t], bytes);
}

static bool in_triangle(bool lower, int i, int j)
{
    return lower ? i >= j : i <= j;
}

START_TEST(symmetric_products)
{
    static const generic symm[] = TYPES(symm_v2);
    static const generic hemm[] =
        FOUR(cublasSsymm_v2, cublasDsymm_v2, cublasChemm_v2, cublasZhemm_v2);
    const int t = _i;
    for (int round = 0; round < 30; round++) {
        const bool left = pick(0, 1), lower = pick(0, 1), hermitian = t >= 2 && pick(0, 1);
        const int m = (int)pick(1, 20), n = (int)pick(1, 20), order = left ? m : n;
        struct dense a = dense_new(types[t], order, order), b = dense_new(types[t], m, n);
        struct dense c = dense_new(types[t], m, n), old = copy_of(&c);
        char pa[16], pb[16];
        const number alpha = random_scalar(t, pa), beta = random_scalar(t, pb);
        OK(CALL(hermitian ? hemm : symm, t, hd, side_t, uplo_t, int, int, in, in, int, in, int, in,
                out, int)(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                          lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, m, n, pa,
                          PTR(a.data), a.ld, PTR(b.data), b.ld, pb, PTR(c.data), c.ld));
        array_get(&c.data);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                number sum = 0.0;
                for (int q = 0; q < order; q++) {
                    const int r = left ? i : q, s = left ? q : j;
                    number e = in_triangle(lower, r, s) ? at(&a, r, s)
                               : hermitian              ? conj(at(&a, s, r))
                                                        : at(&a, s, r);
                    if (hermitian && r == s)
                        e = creal(e);
                    sum += e * (left ? at(&b, q, j) : at(&b, i, q));
                }
                close_to(at(&c, i, j), alpha * sum + beta * at(&old, i, j), 200 * unit(t), "symm",
                         i, j);
            }
        array_free(&a.data);
        array_free(&b.data);
        array_free(&c.data);
        array_free(&old.data);
    }
}
END_TEST

START_TEST(rank_k_updates)
{
    static const generic syrk[] = TYPES(syrk_v2), syr2k[] = TYPES(syr2k_v2), syrkx[] = TYPES(syrkx);
    static const generic herk[] = FOUR(NULL, NULL, cublasCherk_v2, cublasZherk_v2);
    static const generic her2k[] = FOUR(NULL, NULL, cublasCher2k_v2, cublasZher2k_v2);
    static const generic herkx[] = FOUR(NULL, NULL, cublasCherkx, cublasZherkx);
    const int t = _i;
    for (int round = 0; round < 48; round++) {
        const int kind = round % 3; /* rank k, rank 2k, x */
        const bool hermitian = t >= 2 && pick(0, 1), lower = pick(0, 1), device = pick(0, 1);
        const op_t turned = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
        const op_t op = pick(0, 1) ? CUBLAS_OP_N : turned;
        const int n = (int)pick(1, 20), k = (int)pick(0, 20);
        const int rows = op == CUBLAS_OP_N ? n : k, cols = op == CUBLAS_OP_N ? k : n;
        struct dense a = dense_new(types[t], rows + (k == 0), cols + (k == 0));
        struct dense b = dense_new(types[t], rows + (k == 0), cols + (k == 0));
        struct dense c = dense_new(types[t], n, n), old = copy_of(&c);
        char pa[16], pb[16];
        const int alpha_t = hermitian && kind == 0 ? t % 2 : t, beta_t = hermitian ? t % 2 : t;
        const number alpha = random_scalar(alpha_t, pa), beta = random_scalar(beta_t, pb);
        struct array scalars = array_poison(CUDA_C_64F, 2);
        memcpy(scalars.host, pa, 16);
        memcpy(scalars.host + 16, pb, 16);
        array_put(&scalars);
        OK(cublasSetPointerMode_v2(handle,
                                   device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
        in da = device ? PTR(scalars) : (void *)pa, db = device ? (char *)PTR(scalars) + 16 : pb;
        const uplo_t uplo = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
        if (kind == 0)
            OK(CALL(hermitian ? herk : syrk, t, hd, uplo_t, op_t, int, int, in, in, int, in, out,
                    int)(handle, uplo, op, n, k, da, PTR(a.data), a.ld, db, PTR(c.data), c.ld));
        else
            OK(CALL(kind == 1 ? (hermitian ? her2k : syr2k) : (hermitian ? herkx : syrkx), t, hd,
                    uplo_t, op_t, int, int, in, in, int, in, int, in, out,
                    int)(handle, uplo, op, n, k, da, PTR(a.data), a.ld, PTR(b.data), b.ld, db,
                         PTR(c.data), c.ld));
        array_get(&c.data);
        const struct dense *second = kind == 0 ? &a : &b;
        const op_t first_op = op, second_op = op == CUBLAS_OP_N ? turned : CUBLAS_OP_N;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < c.ld && i + (int64_t)j * c.ld < c.data.n; i++) {
                if (i >= n || !in_triangle(lower, i, j)) { /* not touched */
                    ck_assert(at(&c, i, j) == at(&old, i, j));
                    continue;
                }
                number sum = 0.0, mirrored = 0.0;
                for (int q = 0; q < k; q++) {
                    sum += at_tr(&a, first_op, i, q) * at_tr(second, second_op, q, j);
                    mirrored += at_tr(second, first_op, i, q) * at_tr(&a, second_op, q, j);
                }
                number want = alpha * sum + beta * at(&old, i, j);
                if (kind == 1)
                    want += (hermitian ? conj(alpha) : alpha) * mirrored;
                if (hermitian && i == j)
                    want = creal(want); /* the diagonal's imaginary part counts as zero */
                close_to(at(&c, i, j), want, 200 * unit(t), "rank k", i, j);
            }
        array_free(&a.data);
        array_free(&b.data);
        array_free(&c.data);
        array_free(&old.data);
        array_free(&scalars);
    }
    OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST));
}
END_TEST

START_TEST(triangular_matrices)
{
    static const generic trmm[] = TYPES(trmm_v2), trsm[] = TYPES(trsm_v2);
    static const op_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    const int t = _i;
    for (int round = 0; round < 60; round++) {
        const bool left = pick(0, 1), lower = pick(0, 1), one = pick(0, 1), solve = pick(0, 1);
        const op_t op = ops[pick(0, 2)];
        const int m = (int)pick(1, 12), n = (int)pick(1, 12), order = left ? m : n;
        struct dense a = dense_new(types[t], order, order), b = dense_new(types[t], m, n);
        for (int i = 0; i < order; i++)
            array_set(&a.data, i + (int64_t)i * a.ld, at(&a, i, i) + 4.0);
        for (int j = 0; j < order; j++) /* the rest is small: well conditioned */
            for (int i = 0; i < order; i++)
                if (i != j)
                    array_set(&a.data, i + (int64_t)j * a.ld, at(&a, i, j) * 0.25);
        array_put(&a.data);
        struct dense c = solve ? copy_of(&b) : dense_new(types[t], m, n);
        char pa[16];
        const number alpha = random_scalar(t, pa);
        const side_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
        const uplo_t uplo = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
        const diag_t diag = one ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        if (solve)
            OK(CALL(trsm, t, hd, side_t, uplo_t, op_t, diag_t, int, int, in, in, int, out, int)(
                handle, side, uplo, op, diag, m, n, pa, PTR(a.data), a.ld, PTR(c.data), c.ld));
        else
            OK(CALL(trmm, t, hd, side_t, uplo_t, op_t, diag_t, int, int, in, in, int, in, int, out,
                    int)(handle, side, uplo, op, diag, m, n, pa, PTR(a.data), a.ld, PTR(b.data),
                         b.ld, PTR(c.data), c.ld));
        array_get(&c.data);
        const struct dense *x = solve ? &c : &b;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                number sum = 0.0;
                for (int q = 0; q < order; q++) {
                    const int r = left ? i : q, s = left ? q : j;
                    const int sr = op == CUBLAS_OP_N ? r : s, sc = op == CUBLAS_OP_N ? s : r;
                    number e = in_triangle(lower, sr, sc) ? at_tr(&a, op, r, s) : 0.0;
                    if (r == s && one)
                        e = 1.0;
                    sum += e * (left ? at(x, q, j) : at(x, i, q));
                }
                if (solve)
                    close_to(alpha * at(&b, i, j), sum, 500 * unit(t), "trsm", i, j);
                else
                    close_to(at(&c, i, j), alpha * sum, 500 * unit(t), "trmm", i, j);
            }
        array_free(&a.data);
        array_free(&b.data);
        array_free(&c.data);
    }
}
END_TEST

START_TEST(sums_and_diagonals)
{
    static const generic geam[] = TYPES(geam), dgmm[] = TYPES(dgmm);
    static const op_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    const int t = _i;
    for (int round = 0; round < 30; round++) {
        const op_t oa = ops[pick(0, 2)], ob = ops[pick(0, 2)];
        const int m = (int)pick(1, 20), n = (int)pick(1, 20);
        const bool ta = oa != CUBLAS_OP_N, tb = ob != CUBLAS_OP_N, left = pick(0, 1);
        struct dense a = dense_new(types[t], ta ? n : m, ta ? m : n);
        struct dense b = dense_new(types[t], tb ? n : m, tb ? m : n), c = dense_new(types[t], m, n);
        char pa[16], pb[16];
        const number alpha = random_scalar(t, pa), beta = random_scalar(t, pb);
        OK(CALL(geam, t, hd, op_t, op_t, int, int, in, in, int, in, in, int, out, int)(
            handle, oa, ob, m, n, pa, PTR(a.data), a.ld, pb, PTR(b.data), b.ld, PTR(c.data), c.ld));
        array_get(&c.data);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                close_to(at(&c, i, j), alpha * at_tr(&a, oa, i, j) + beta * at_tr(&b, ob, i, j),
                         10 * unit(t), "geam", i, j);
        struct dense d = dense_new(types[t], m, n);
        struct array x = array_new(types[t], left ? m : n);
        OK(CALL(dgmm, t, hd, side_t, int, int, in, int, in, int, out,
                int)(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, m, n, PTR(c.data), c.ld,
                     PTR(x), 1, PTR(d.data), d.ld));
        array_get(&d.data);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                close_to(at(&d, i, j), at(&c, i, j) * array_at(&x, left ? i : j), 10 * unit(t),
                         "dgmm", i, j);
        array_free(&a.data);
        array_free(&b.data);
        array_free(&c.data);
        array_free(&d.data);
        array_free(&x);
    }
}
END_TEST

/* Device array with the addresses of `batch` matrices. */
static struct array table_of(const struct dense *x, int batch)
{
    struct array table = array_poison(CUDA_C_32F, batch);
    for (int e = 0; e < batch; e++)
        memcpy(table.host + e * 8, &x[e].data.device, 8);
    array_put(&table);
    return table;
}

START_TEST(linear_systems)
{
    static const generic getrf[] = TYPES(getrfBatched), getrs[] = TYPES(getrsBatched),
                         getri[] = TYPES(getriBatched), matinv[] = TYPES(matinvBatched);
    enum { BATCH = 3, RIGHT = 2 };
    const int t = _i;
    for (int round = 0; round < 12; round++) {
        const int n = (int)pick(1, 16);
        const op_t op = (op_t)pick(0, 2);
        struct dense a[BATCH], lu[BATCH], b[BATCH], x[BATCH], inverse[BATCH], second[BATCH];
        for (int e = 0; e < BATCH; e++) {
            a[e] = dense_new(types[t], n, n);
            a[e].ld = n;                /* one leading dimension for the batch */
            for (int i = 0; i < n; i++) /* not diagonally dominant: pivots matter */
                array_set(&a[e].data, (n - 1 - i) + (int64_t)i * n, at(&a[e], n - 1 - i, i) + 4.0);
            array_put(&a[e].data);
            lu[e] = copy_of(&a[e]);
            b[e] = dense_new(types[t], n, RIGHT);
            b[e].ld = n;
            x[e] = copy_of(&b[e]);
            inverse[e] = copy_of(&a[e]);
            second[e] = copy_of(&a[e]);
        }
        struct array ta = table_of(a, BATCH), tlu = table_of(lu, BATCH), tx = table_of(x, BATCH);
        struct array ti = table_of(inverse, BATCH), t2 = table_of(second, BATCH);
        struct array pivots = array_poison(CUDA_R_32I, n * BATCH);
        struct array info = array_poison(CUDA_R_32I, BATCH);
        int host_info = -1;
        OK(CALL(getrf, t, hd, int, out, int, out, out, int)(handle, n, PTR(tlu), n, PTR(pivots),
                                                            PTR(info), BATCH));
        OK(CALL(getrs, t, hd, op_t, int, int, in, int, in, out, int, out, int)(
            handle, op, n, RIGHT, PTR(tlu), n, PTR(pivots), PTR(tx), n, &host_info, BATCH));
        ck_assert_int_eq(host_info, 0);
        OK(CALL(getri, t, hd, int, in, int, in, out, int, out,
                int)(handle, n, PTR(tlu), n, PTR(pivots), PTR(ti), n, PTR(info), BATCH));
        OK(CALL(matinv, t, hd, int, in, int, out, int, out, int)(handle, n, PTR(ta), n, PTR(t2), n,
                                                                 PTR(info), BATCH));
        array_get(&info);
        for (int e = 0; e < BATCH; e++) {
            ck_assert(array_at(&info, e) == 0.0);
            array_get(&x[e].data);
            array_get(&inverse[e].data);
            array_get(&second[e].data);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < RIGHT; j++) {
                    number sum = 0.0;
                    for (int q = 0; q < n; q++)
                        sum += at_tr(&a[e], op, i, q) * at(&x[e], q, j);
                    close_to(sum, at(&b[e], i, j), 5e4 * unit(t), "getrs", i, j);
                }
                for (int j = 0; j < n; j++) {
                    number first = 0.0, other = 0.0;
                    for (int q = 0; q < n; q++) {
                        first += at(&a[e], i, q) * at(&inverse[e], q, j);
                        other += at(&a[e], i, q) * at(&second[e], q, j);
                    }
                    close_to(first, i == j, 5e4 * unit(t), "getri", i, j);
                    close_to(other, i == j, 5e4 * unit(t), "matinv", i, j);
                }
            }
            array_free(&a[e].data);
            array_free(&lu[e].data);
            array_free(&b[e].data);
            array_free(&x[e].data);
            array_free(&inverse[e].data);
            array_free(&second[e].data);
        }
        array_free(&ta);
        array_free(&tlu);
        array_free(&tx);
        array_free(&ti);
        array_free(&t2);
        array_free(&pivots);
        array_free(&info);
    }
}
END_TEST

START_TEST(grouped_products)
{
    enum { GROUPS = 3, ALL = 6 };
    const op_t transa[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_N};
    const op_t transb[] = {CUBLAS_OP_T, CUBLAS_OP_N, CUBLAS_OP_N};
    const int m[] = {5, 8, 3}, n[] = {7, 4, 9}, k[] = {6, 5, 0}, size[] = {2, 3, 1};
    const int lda[] = {5, 5, 3}, ldb[] = {7, 5, 1}, ldc[] = {5, 8, 3};
    const float alpha[] = {1, 2, 3}, beta[] = {0, 0.5, 2};
    struct dense a[ALL], b[ALL], c[ALL], old[ALL];
    for (int g = 0, e = 0; g < GROUPS; g++)
        for (int i = 0; i < size[g]; i++, e++) {
            a[e] = dense_new(CUDA_R_32F, 8, 8);
            b[e] = dense_new(CUDA_R_32F, 9, 9);
            c[e] = dense_new(CUDA_R_32F, m[g], n[g]);
            a[e].ld = lda[g];
            b[e].ld = ldb[g];
            c[e].ld = ldc[g];
            old[e] = copy_of(&c[e]);
        }
    struct array ta = table_of(a, ALL), tb = table_of(b, ALL), tc = table_of(c, ALL);
    const uint64_t calls = counter("gemm.f32"), entries = counter("gemm.f32.entries");
    OK(cublasSgemmGroupedBatched(handle, transa, transb, m, n, k, alpha, PTR(ta), lda, PTR(tb), ldb,
                                 beta, PTR(tc), ldc, GROUPS, size));
    ck_assert_uint_eq(counter("gemm.f32"), calls + 1);
    ck_assert_uint_eq(counter("gemm.f32.entries"), entries + ALL);
    for (int g = 0, e = 0; g < GROUPS; g++)
        for (int s = 0; s < size[g]; s++, e++) {
            array_get(&c[e].data);
            for (int j = 0; j < n[g]; j++)
                for (int i = 0; i < m[g]; i++) {
                    number sum = 0.0;
                    for (int q = 0; q < k[g]; q++)
                        sum += at_tr(&a[e], transa[g], i, q) * at_tr(&b[e], transb[g], q, j);
                    close_to(at(&c[e], i, j),
                             (double)alpha[g] * sum + (double)beta[g] * at(&old[e], i, j), 1e-5,
                             "grouped", i, j);
                }
            array_free(&a[e].data);
            array_free(&b[e].data);
            array_free(&c[e].data);
            array_free(&old[e].data);
        }
    OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE));
    STATUS(cublasSgemmGroupedBatched(handle, transa, transb, m, n, k, alpha, PTR(ta), lda, PTR(tb),
                                     ldb, beta, PTR(tc), ldc, GROUPS, size),
           NOT_SUPPORTED);
    OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST));
    array_free(&ta);
    array_free(&tb);
    array_free(&tc);
}
END_TEST

START_TEST(batched_gemv)
{
    const float one = 1, zero = 0;
    enum { M = 6, N = 5, BATCH = 4 };
    struct array a = array_new(CUDA_R_32F, M * N * BATCH), x = array_new(CUDA_R_32F, N * BATCH);
    struct array y = array_poison(CUDA_R_32F, M * BATCH);
    OK(cublasSgemvStridedBatched(handle, CUBLAS_OP_N, M, N, &one, PTR(a), M, M * N, PTR(x), 1, N,
                                 &zero, PTR(y), 1, M, BATCH));
    array_get(&y);
    for (int e = 0; e < BATCH; e++)
        for (int i = 0; i < M; i++) {
            number sum = 0.0;
            for (int j = 0; j < N; j++)
                sum += array_at(&a, e * M * N + i + j * M) * array_at(&x, e * N + j);
            close_to(array_at(&y, e * M + i), sum, 1e-5, "gemv", e, i);
        }
    array_free(&a);
    array_free(&x);
    array_free(&y);
}
END_TEST

START_TEST(transfers)
{
    float host[60], back[60];
    for (int i = 0; i < 60; i++) {
        host[i] = (float)i;
        back[i] = -1;
    }
    struct array x = array_poison(CUDA_R_32F, 60);
    OK(cublasSetVector(20, 4, host, 3, PTR(x), 1));
    OK(cublasGetVector(20, 4, PTR(x), 1, back, 2));
    for (int i = 0; i < 20; i++) {
        ck_assert(back[2 * i] == host[3 * i]);
        ck_assert(back[2 * i + 1] == -1);
    }
    OK(cublasSetMatrix(5, 4, 4, host, 7, PTR(x), 6));
    OK(cublasGetMatrixAsync(5, 4, 4, PTR(x), 6, back, 5, NULL));
    OK(cuCtxSynchronize());
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 5; i++)
            ck_assert(back[i + 5 * j] == host[i + 7 * j]);
    STATUS(cublasSetVector(3, 0, host, 1, PTR(x), 1), INVALID_VALUE);
    STATUS(cublasSetMatrix(5, 4, 4, host, 4, PTR(x), 6), INVALID_VALUE);
    array_free(&x);
}
END_TEST

cublasStatus_t cublasInit(void);
cublasStatus_t cublasShutdown(void);
cublasStatus_t cublasGetError(void);
void cublasSgemm(char, char, int, int, int, float, const float *, int, const float *, int, float,
                 float *, int);
float cublasSdot(int, const float *, int, const float *, int);
int cublasIsamax(int, const float *, int);
void cublasSaxpy(int, float, const float *, int, float *, int);
void cublasStrsm(char, char, char, char, int, int, float, const float *, int, float *, int);

START_TEST(without_handles)
{
    OK(cublasInit());
    struct array a = array_new(CUDA_R_32F, 6), b = array_new(CUDA_R_32F, 6),
                 c = array_new(CUDA_R_32F, 4);
    number want[4], dot = 0.0;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            want[i + 2 * j] = 2.0 * array_at(&c, i + 2 * j);
            for (int q = 0; q < 3; q++)
                want[i + 2 * j] += 0.5 * array_at(&a, q + 3 * i) * array_at(&b, q + 3 * j);
        }
    cublasSgemm('t', 'N', 2, 2, 3, 0.5f, PTR(a), 3, PTR(b), 3, 2.0f, PTR(c), 2);
    OK(cublasGetError());
    array_get(&c);
    for (int i = 0; i < 4; i++)
        close_to(array_at(&c, i), want[i], 1e-6, "sgemm", i, 0);
    for (int i = 0; i < 6; i++)
        dot += array_at(&a, i) * array_at(&b, i);
    close_to((double)cublasSdot(6, PTR(a), 1, PTR(b), 1), dot, 1e-6, "sdot", 0, 0);
    cublasSgemm('x', 'N', 2, 2, 3, 0.5f, PTR(a), 3, PTR(b), 3, 2.0f, PTR(c), 2);
    STATUS(cublasGetError(), INVALID_VALUE);
    OK(cublasGetError());
    OK(cublasShutdown());
    cublasSaxpy(2, 1.0f, PTR(a), 1, PTR(b), 1);
    STATUS(cublasGetError(), NOT_INITIALIZED);
    array_free(&a);
    array_free(&b);
    array_free(&c);
}
END_TEST

cublasStatus_t cublasXtCreate(void **);

/* What is not implemented says so and refuses. */
START_TEST(missing_functions)
{
    void *xt = NULL;
    STATUS(cublasXtCreate(&xt), NOT_SUPPORTED);
    ck_assert_ptr_null(xt);
}
END_TEST

Suite *suite_matrix(void)
{
    Suite *suite = suite_create("cublas matrices");
    TCase *tests = tcase_create("matrices");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, blas_setup, blas_teardown);
    tcase_add_loop_test(tests, symmetric_products, 0, 4);
    tcase_add_loop_test(tests, rank_k_updates, 0, 4);
    tcase_add_loop_test(tests, triangular_matrices, 0, 4);
    tcase_add_loop_test(tests, sums_and_diagonals, 0, 4);
    tcase_add_loop_test(tests, linear_systems, 0, 4);
    tcase_add_test(tests, grouped_products);
    tcase_add_test(tests, batched_gemv);
    tcase_add_test(tests, transfers);
    tcase_add_test(tests, without_handles);
    tcase_add_test(tests, missing_functions);
    suite_add_tcase(suite, tests);
    return suite;
}
