/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of levels 1 and 2 of the cuBLAS stand-in in all four types: random sizes, steps, storages
 * and scalars against float64 loops over full matrices. */
#include "blas.h"

#include <math.h>
#include <stdio.h>

static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

/* Functions of the four types share one form but for the pointers' types. */
typedef void (*generic)(void);
#define FOUR(_a, _b, _c, _d)                                                                       \
    {                                                                                              \
        (generic) _a, (generic)_b, (generic)_c, (generic)_d                                        \
    }
#define TYPES(_routine)                                                                            \
    FOUR(cublasS##_routine, cublasD##_routine, cublasC##_routine, cublasZ##_routine)
#define CALL(_table, _t, ...) ((cublasStatus_t(*)(__VA_ARGS__))(_table)[_t])
typedef cublasHandle_t hd;
typedef const void *in;
typedef void *out;

static double unit(int t)
{
    return t % 2 == 0 ? 0x1p-24 : 0x1p-53;
}

static number number_of(int t)
{
    const number x = complex_of(uniform(), t >= 2 ? uniform() : 0.0);
    char bytes[16];
    encode(types[t], x, bytes);
    return decode(types[t], bytes);
}

static int step(void)
{
    static const int steps[] = {1, 1, 2, 3, -1, -2};
    return steps[pick(0, 5)];
}

/* A vector of n elements with its step. */
struct vec {
    struct array data;
    int n, inc;
};

static int64_t spot(const struct vec *x, int64_t i)
{
    return x->inc > 0 ? i * x->inc : (i + 1 - x->n) * x->inc;
}

static struct vec vec_new(int t, int n)
{
    struct vec x = {.n = n, .inc = step()};
    x.data = array_new(types[t], n == 0 ? 0 : (n - 1) * (x.inc < 0 ? -x.inc : x.inc) + 1);
    return x;
}

static number vec_at(const struct vec *x, int64_t i)
{
    return array_at(&x->data, spot(x, i));
}

static number *vec_copy(const struct vec *x)
{
    number *y = calloc((size_t)x->n + 1, sizeof *y);
    ck_assert_ptr_nonnull(y);
    for (int i = 0; i < x->n; i++)
        y[i] = vec_at(x, i);
    return y;
}

/* A scalar where the pointer mode wants it. */
struct scalar {
    char host[16];
    struct array device;
    bool on_device;
};

static in scalar_new(struct scalar *s, cudaDataType type, number value, bool on_device)
{
    s->on_device = on_device;
    encode(type, value, s->host);
    s->device = array_poison(type, 1);
    array_set(&s->device, 0, value);
    array_put(&s->device);
    return on_device ? PTR(s->device) : (void *)s->host;
}

static void vec_compare(struct vec *x, const number *want, double bound, const char *what)
{
    array_get(&x->data);
    for (int i = 0; i < x->n; i++)
        close_to(vec_at(x, i), want[i], bound * (1.0 + cabs(want[i])), what, i, 0);
}

START_TEST(vectors)
{
    static const generic axpy[] = TYPES(axpy_v2), scal[] = TYPES(scal_v2), copy[] = TYPES(copy_v2),
                         swap[] = TYPES(swap_v2);
    static const generic rot[] = FOUR(cublasSrot_v2, cublasDrot_v2, cublasCrot_v2, cublasZrot_v2);
    const int t = _i;
    for (int round = 0; round < 20; round++) {
        const bool device = pick(0, 1);
        OK(cublasSetPointerMode_v2(handle,
                                   device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
        const int n = (int)pick(0, 700);
        struct vec x = vec_new(t, n), y = vec_new(t, n);
        number *a = vec_copy(&x), *b = vec_copy(&y);
        const number alpha = round == 0 ? 0.0 : number_of(t), s = number_of(t);
        const double c = creal(number_of(t % 2));
        struct scalar sa, sc, ss;
        in pa = scalar_new(&sa, types[t], alpha, device);
        in pc = scalar_new(&sc, types[t % 2], c, device);
        in ps = scalar_new(&ss, types[t], s, device);
        OK(CALL(axpy, t, hd, int, in, in, int, out, int)(handle, n, pa, PTR(x.data), x.inc,
                                                         PTR(y.data), y.inc));
        for (int i = 0; i < n; i++)
            b[i] += alpha * a[i];
        vec_compare(&y, b, 4 * unit(t), "axpy");
        for (int i = 0; i < n; i++)
            b[i] = vec_at(&y, i);
        OK(CALL(scal, t, hd, int, in, out, int)(handle, n, pa, PTR(x.data), x.inc));
        for (int i = 0; i < n; i++)
            a[i] *= alpha;
        vec_compare(&x, a, 4 * unit(t), "scal");
        for (int i = 0; i < n; i++)
            a[i] = vec_at(&x, i);
        OK(CALL(swap, t, hd, int, out, int, out, int)(handle, n, PTR(x.data), x.inc, PTR(y.data),
                                                      y.inc));
        vec_compare(&x, b, 0, "swap");
        vec_compare(&y, a, 0, "swap");
        OK(CALL(rot, t, hd, int, out, int, out, int, in, in)(handle, n, PTR(x.data), x.inc,
                                                             PTR(y.data), y.inc, pc, ps));
        for (int i = 0; i < n; i++) {
            const number old = b[i];
            b[i] = c * old + s * a[i];
            a[i] = c * a[i] - conj(s) * old;
        }
        vec_compare(&x, b, 4 * unit(t), "rot");
        vec_compare(&y, a, 4 * unit(t), "rot");
        for (int i = 0; i < n; i++)
            b[i] = vec_at(&x, i);
        OK(CALL(copy, t, hd, int, in, int, out, int)(handle, n, PTR(x.data), x.inc, PTR(y.data),
                                                     y.inc));
        vec_compare(&y, b, 0, "copy");
        free(a);
        free(b);
        array_free(&x.data);
        array_free(&y.data);
        array_free(&sa.device);
        array_free(&sc.device);
        array_free(&ss.device);
    }
}
END_TEST

/* Runs one reduction and returns its result, wherever the pointer mode puts it. */
static number reduction(generic f, cudaDataType result_type, const struct vec *x,
                        const struct vec *y, bool device)
{
    struct array result = array_poison(result_type, 1);
    void *to = device ? PTR(result) : (void *)result.host;
    OK(cublasSetPointerMode_v2(handle,
                               device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
    if (y != NULL)
        OK(((cublasStatus_t(*)(hd, int, in, int, in, int, out))f)(
            handle, x->n, PTR(x->data), x->inc, PTR(y->data), y->inc, to));
    else
        OK(((cublasStatus_t(*)(hd, int, in, int, out))f)(handle, x->n, PTR(x->data), x->inc, to));
    if (device)
        array_get(&result);
    const number value = array_at(&result, 0);
    array_free(&result);
    return value;
}

START_TEST(reductions)
{
    static const generic dotu[] =
        FOUR(cublasSdot_v2, cublasDdot_v2, cublasCdotu_v2, cublasZdotu_v2);
    static const generic dotc[] =
        FOUR(cublasSdot_v2, cublasDdot_v2, cublasCdotc_v2, cublasZdotc_v2);
    static const generic nrm2[] =
        FOUR(cublasSnrm2_v2, cublasDnrm2_v2, cublasScnrm2_v2, cublasDznrm2_v2);
    static const generic asum[] =
        FOUR(cublasSasum_v2, cublasDasum_v2, cublasScasum_v2, cublasDzasum_v2);
    static const generic amax[] =
        FOUR(cublasIsamax_v2, cublasIdamax_v2, cublasIcamax_v2, cublasIzamax_v2);
    static const generic amin[] =
        FOUR(cublasIsamin_v2, cublasIdamin_v2, cublasIcamin_v2, cublasIzamin_v2);
    const int t = _i;
    for (int round = 0; round < 20; round++) {
        const bool device = pick(0, 1);
        const int n = (int)pick(0, 700);
        struct vec x = vec_new(t, n), y = vec_new(t, n);
        number u = 0.0, c = 0.0;
        double square = 0.0, sum = 0.0, most = -1.0, least = INFINITY;
        int at_most = 0, at_least = 0;
        for (int i = 0; i < n; i++) {
            const number a = vec_at(&x, i), b = vec_at(&y, i);
            const double size = fabs(creal(a)) + fabs(cimag(a));
            u += a * b;
            c += conj(a) * b;
            square += creal(a * conj(a));
            sum += size;
            if (size > most) {
                most = size;
                at_most = i + 1;
            }
            if (size < least) {
                least = size;
                at_least = i + 1;
            }
        }
        const cudaDataType part = types[t % 2];
        const double bound = (double)(n + 4) * 2 * unit(t) * (1.0 + square);
        close_to(reduction(dotu[t], types[t], &x, &y, device), u, bound, "dot", n, 0);
        close_to(reduction(dotc[t], types[t], &x, &y, device), c, bound, "dotc", n, 0);
        close_to(reduction(nrm2[t], part, &x, NULL, device), sqrt(square), bound, "nrm2", n, 0);
        close_to(reduction(asum[t], part, &x, NULL, device), sum,
                 (double)(n + 4) * 2 * unit(t) * sum, "asum", n, 0);
        close_to(reduction(amax[t], CUDA_R_32I, &x, NULL, device), at_most, 0, "amax", n, 0);
        close_to(reduction(amin[t], CUDA_R_32I, &x, NULL, device), at_least, 0, "amin", n, 0);
        array_free(&x.data);
        array_free(&y.data);
    }
    OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST));
}
END_TEST

START_TEST(typed_vectors)
{
    const float alpha = 0.5f;
    float result;
    struct array x = array_new(CUDA_R_16F, 100), y = array_new(CUDA_R_16F, 100);
    number sum = 0.0;
    for (int i = 0; i < 100; i++)
        sum += array_at(&x, i) * array_at(&y, i);
    OK(cublasDotEx(handle, 100, PTR(x), CUDA_R_16F, 1, PTR(y), CUDA_R_16F, 1, &result, CUDA_R_32F,
                   CUDA_R_32F));
    close_to((double)result, sum, 1e-4, "DotEx", 0, 0);
    number *want = calloc(100, sizeof *want);
    for (int i = 0; i < 100; i++)
        want[i] = 0.5 * array_at(&x, i) + array_at(&y, i);
    OK(cublasAxpyEx(handle, 100, &alpha, CUDA_R_32F, PTR(x), CUDA_R_16F, 1, PTR(y), CUDA_R_16F, 1,
                    CUDA_R_32F));
    array_get(&y);
    for (int i = 0; i < 100; i++)
        close_to(array_at(&y, i), want[i], 0x1p-11 * (1.0 + cabs(want[i])), "AxpyEx", i, 0);
    free(want);
    STATUS(cublasSaxpy_v2(handle, 3, NULL, PTR(x), 1, PTR(y), 1), INVALID_VALUE);
    STATUS(cublasSdot_v2(handle, 3, PTR(x), 1, PTR(y), 1, NULL), INVALID_VALUE);
    array_free(&x);
    array_free(&y);
}
END_TEST

/* --- level 2 --- */

enum shape { GENERAL, SYMMETRIC, HERMITIAN, LOWER_PART, UPPER_PART };

/* A matrix in some storage, and the full one that it stands for. */
struct mat {
    struct array data;
    number *full;
    int m, n, ld;
};

static int64_t packed_at(bool lower, int n, int i, int j)
{
    int64_t before = 0; /* elements in the columns before */
    for (int c = 0; c < j; c++)
        before += lower ? n - c : c + 1;
    return before + (lower ? i - j : i);
}

/* kl, ku < 0: full storage; packed: a triangle, column by column */
static struct mat mat_new(int t, int m, int n, enum shape shape, bool lower, bool unit_diagonal,
                          int kl, int ku, bool packed)
{
    struct mat a = {.m = m, .n = n, .full = calloc((size_t)m * (size_t)n + 1, sizeof(number))};
    const bool band = kl >= 0;
    a.ld = band ? kl + ku + 1 + (int)pick(0, 2) : m + (int)pick(0, 3);
    a.data = array_new(types[t], packed ? (int64_t)n * (n + 1) / 2
                                        : (int64_t)a.ld * (n - 1) + (band ? kl + ku + 1 : m));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            const bool stored = shape == GENERAL || (lower ? i >= j : i <= j);
            int r = i, c = j;
            if (!stored && (shape == SYMMETRIC || shape == HERMITIAN)) {
                r = j;
                c = i;
            } else if (!stored) {
                continue;
            }
            if (band && (r - c > kl || c - r > ku))
                continue;
            const int64_t at = packed ? packed_at(lower, n, r, c)
                               : band ? ku + r - c + (int64_t)c * a.ld
                                      : r + (int64_t)c * a.ld;
            number value = array_at(&a.data, at);
            if (i == j && shape >= LOWER_PART) { /* well conditioned */
                value += 4.0;
                array_set(&a.data, at, value);
                value = unit_diagonal ? 1.0 : array_at(&a.data, at);
            }
            if (shape == HERMITIAN)
                value = i == j ? creal(value) : stored ? value : conj(value);
            a.full[i + (int64_t)j * m] = value;
        }
    array_put(&a.data);
    return a;
}

static void mat_free(struct mat *a)
{
    array_free(&a->data);
    free(a->full);
}

static number op_at(const struct mat *a, cublasOperation_t op, int i, int j)
{
    return op == CUBLAS_OP_N ? a->full[i + (int64_t)j * a->m]
                             : conj_op(op, a->full[j + (int64_t)i * a->m]);
}

/* y = alpha op(A) x + beta y in float64, over y's copy */
static void reference(const struct mat *a, cublasOperation_t op, number alpha, const struct vec *x,
                      number beta, number *y)
{
    const int rows = op == CUBLAS_OP_N ? a->m : a->n, cols = op == CUBLAS_OP_N ? a->n : a->m;
    for (int i = 0; i < rows; i++) {
        number sum = 0.0;
        for (int j = 0; j < cols; j++)
            sum += op_at(a, op, i, j) * vec_at(x, j);
        y[i] = alpha * sum + (beta == 0.0 ? 0.0 : beta * y[i]);
    }
}

START_TEST(products)
{
    static const generic gemv[] = TYPES(gemv_v2), gbmv[] = TYPES(gbmv_v2);
    static const generic symv[] = TYPES(symv_v2);
    static const generic hemv[] =
        FOUR(cublasSsymv_v2, cublasDsymv_v2, cublasChemv_v2, cublasZhemv_v2);
    static const generic sbmv[] =
        FOUR(cublasSsbmv_v2, cublasDsbmv_v2, cublasChbmv_v2, cublasZhbmv_v2);
    static const generic spmv[] =
        FOUR(cublasSspmv_v2, cublasDspmv_v2, cublasChpmv_v2, cublasZhpmv_v2);
    const int t = _i;
    OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST));
    for (int round = 0; round < 60; round++) {
        const int kind = round % 6;
        const bool lower = pick(0, 1), general = kind < 2;
        const cublasOperation_t op = general ? ops[pick(0, 2)] : CUBLAS_OP_N;
        const int n = (int)pick(1, 40), m = general ? (int)pick(1, 40) : n;
        const int kl = (int)pick(0, 5), ku = (int)pick(0, 5);
        const int below = kind == 1 || (kind == 4 && lower) ? kl : kind == 4 ? 0 : -1;
        const int above = kind == 1 ? ku : kind == 4 && !lower ? kl : 0;
        const enum shape shape = general ? GENERAL : kind == 2 || t < 2 ? SYMMETRIC : HERMITIAN;
        struct mat a = mat_new(t, m, n, shape, lower, false, below, above, kind == 5);
        struct vec x = vec_new(t, op == CUBLAS_OP_N ? n : m),
                   y = vec_new(t, op == CUBLAS_OP_N ? m : n);
        const number alpha = number_of(t), beta = pick(0, 2) == 0 ? 0.0 : number_of(t);
        char pa[16], pb[16];
        encode(types[t], alpha, pa);
        encode(types[t], beta, pb);
        number *want = vec_copy(&y);
        if (beta == 0.0) { /* y is not read */
            memset(y.data.host, 0xff, (size_t)y.data.n * size_of(types[t]));
            array_put(&y.data);
        }
        reference(&a, op, alpha, &x, beta, want);
        void *A = PTR(a.data), *X = PTR(x.data), *Y = PTR(y.data);
        const cublasFillMode_t uplo = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
        switch (kind) {
        case 0:
            OK(CALL(gemv, t, hd, cublasOperation_t, int, int, in, in, int, in, int, in, out,
                    int)(handle, op, m, n, pa, A, a.ld, X, x.inc, pb, Y, y.inc));
            break;
        case 1:
            OK(CALL(gbmv, t, hd, cublasOperation_t, int, int, int, int, in, in, int, in, int, in,
                    out, int)(handle, op, m, n, kl, ku, pa, A, a.ld, X, x.inc, pb, Y, y.inc));
            break;
        case 2:
        case 3:
            OK(CALL(kind == 2 ? symv : hemv, t, hd, cublasFillMode_t, int, in, in, int, in, int, in,
                    out, int)(handle, uplo, n, pa, A, a.ld, X, x.inc, pb, Y, y.inc));
            break;
        case 4:
            OK(CALL(sbmv, t, hd, cublasFillMode_t, int, int, in, in, int, in, int, in, out,
                    int)(handle, uplo, n, kl, pa, A, a.ld, X, x.inc, pb, Y, y.inc));
            break;
        default:
            OK(CALL(spmv, t, hd, cublasFillMode_t, int, in, in, in, int, in, out,
                    int)(handle, uplo, n, pa, A, X, x.inc, pb, Y, y.inc));
        }
        char what[64];
        snprintf(what, sizeof what, "product %d %dx%d op %d", kind, m, n, (int)op);
        vec_compare(&y, want, 200 * unit(t), what);
        free(want);
        mat_free(&a);
        array_free(&x.data);
        array_free(&y.data);
    }
}
END_TEST

START_TEST(updates)
{
    static const generic geru[] =
        FOUR(cublasSger_v2, cublasDger_v2, cublasCgeru_v2, cublasZgeru_v2);
    static const generic gerc[] =
        FOUR(cublasSger_v2, cublasDger_v2, cublasCgerc_v2, cublasZgerc_v2);
    static const generic syr[] = FOUR(cublasSsyr_v2, cublasDsyr_v2, cublasCher_v2, cublasZher_v2);
    static const generic spr[] = FOUR(cublasSspr_v2, cublasDspr_v2, cublasChpr_v2, cublasZhpr_v2);
    static const generic syr2[] =
        FOUR(cublasSsyr2_v2, cublasDsyr2_v2, cublasCher2_v2, cublasZher2_v2);
    static const generic spr2[] =
        FOUR(cublasSspr2_v2, cublasDspr2_v2, cublasChpr2_v2, cublasZhpr2_v2);
    const int t = _i;
    for (int round = 0; round < 60; round++) {
        const int kind = round % 6;
        const bool lower = pick(0, 1), general = kind < 2, two = kind >= 4;
        const int n = (int)pick(1, 30), m = general ? (int)pick(1, 30) : n;
        const bool packed = kind == 3 || kind == 5;
        const enum shape shape = general ? GENERAL : t < 2 ? SYMMETRIC : HERMITIAN;
        struct mat a = mat_new(t, m, n, shape, lower, false, -1, 0, packed);
        struct vec x = vec_new(t, m), y = vec_new(t, n);
        const bool real_alpha = !general && !two;
        const number alpha = number_of(real_alpha ? t % 2 : t);
        char pa[16];
        encode(types[real_alpha ? t % 2 : t], alpha, pa);
        void *A = PTR(a.data), *X = PTR(x.data), *Y = PTR(y.data);
        const cublasFillMode_t uplo = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
        if (general)
            OK(CALL(kind == 0 ? geru : gerc, t, hd, int, int, in, in, int, in, int, out,
                    int)(handle, m, n, pa, X, x.inc, Y, y.inc, A, a.ld));
        else if (kind == 2)
            OK(CALL(syr, t, hd, cublasFillMode_t, int, in, in, int, out, int)(handle, uplo, n, pa,
                                                                              X, x.inc, A, a.ld));
        else if (kind == 3)
            OK(CALL(spr, t, hd, cublasFillMode_t, int, in, in, int, out)(handle, uplo, n, pa, X,
                                                                         x.inc, A));
        else if (kind == 4)
            OK(CALL(syr2, t, hd, cublasFillMode_t, int, in, in, int, in, int, out,
                    int)(handle, uplo, n, pa, X, x.inc, Y, y.inc, A, a.ld));
        else
            OK(CALL(spr2, t, hd, cublasFillMode_t, int, in, in, int, in, int,
                    out)(handle, uplo, n, pa, X, x.inc, Y, y.inc, A));
        struct array before = array_poison(types[t], a.data.n);
        memcpy(before.host, a.data.host, (size_t)before.n * size_of(types[t]));
        array_get(&a.data);
        bool *written = calloc((size_t)a.data.n + 1, sizeof *written);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                if (!general && (lower ? i < j : i > j))
                    continue;
                const bool mirror = kind == 1 || !general;
                const number yj = two || general ? vec_at(&y, j) : vec_at(&x, j);
                number want =
                    a.full[i + (int64_t)j * m] + alpha * vec_at(&x, i) * (mirror ? conj(yj) : yj);
                if (two)
                    want += conj(alpha) * vec_at(&y, i) * conj(vec_at(&x, j));
                const int64_t at = packed ? packed_at(lower, n, i, j) : i + (int64_t)j * a.ld;
                written[at] = true;
                close_to(array_at(&a.data, at), want, 50 * unit(t), "update", i, j);
            }
        const size_t size = size_of(types[t]);
        for (int64_t i = 0; i < a.data.n; i++)
            if (!written[i])
                ck_assert_mem_eq(before.host + (size_t)i * size, a.data.host + (size_t)i * size,
                                 size);
        free(written);
        array_free(&before);
        mat_free(&a);
        array_free(&x.data);
        array_free(&y.data);
    }
}
END_TEST

START_TEST(triangles)
{
    static const generic trmv[] = TYPES(trmv_v2), trsv[] = TYPES(trsv_v2), tbmv[] = TYPES(tbmv_v2),
                         tbsv[] = TYPES(tbsv_v2), tpmv[] = TYPES(tpmv_v2), tpsv[] = TYPES(tpsv_v2);
    const int t = _i;
    for (int round = 0; round < 90; round++) {
        const int storage = round % 3;
        const bool lower = pick(0, 1), unit_diagonal = pick(0, 1), solve = pick(0, 1);
        const cublasOperation_t op = ops[pick(0, 2)];
        const int n = (int)pick(1, 12), k = (int)pick(0, 4);
        struct mat a = mat_new(t, n, n, lower ? LOWER_PART : UPPER_PART, lower, unit_diagonal,
                               storage == 1 ? (lower ? k : 0) : -1, lower ? 0 : k, storage == 2);
        struct vec x = vec_new(t, n);
        number *old = vec_copy(&x);
        void *A = PTR(a.data), *X = PTR(x.data);
        const cublasFillMode_t uplo = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
        const cublasDiagType_t diag = unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        if (storage == 0)
            OK(CALL(solve ? trsv : trmv, t, hd, cublasFillMode_t, cublasOperation_t,
                    cublasDiagType_t, int, in, int, out,
                    int)(handle, uplo, op, diag, n, A, a.ld, X, x.inc));
        else if (storage == 1)
            OK(CALL(solve ? tbsv : tbmv, t, hd, cublasFillMode_t, cublasOperation_t,
                    cublasDiagType_t, int, int, in, int, out,
                    int)(handle, uplo, op, diag, n, k, A, a.ld, X, x.inc));
        else
            OK(CALL(solve ? tpsv : tpmv, t, hd, cublasFillMode_t, cublasOperation_t,
                    cublasDiagType_t, int, in, out, int)(handle, uplo, op, diag, n, A, X, x.inc));
        array_get(&x.data);
        for (int i = 0; i < n; i++) { /* multiply back where it was solved */
            number sum = 0.0, size = 0.0;
            for (int j = 0; j < n; j++) {
                const number e = op_at(&a, op, i, j) * (solve ? vec_at(&x, j) : old[j]);
                sum += e;
                size += cabs(e);
            }
            close_to(solve ? old[i] : vec_at(&x, i), sum, 100 * unit(t) * (1.0 + creal(size)),
                     solve ? "solve" : "triangle", i, 0);
        }
        free(old);
        mat_free(&a);
        array_free(&x.data);
    }
}
END_TEST

Suite *suite_vector(void)
{
    Suite *suite = suite_create("cublas vectors");
    TCase *tests = tcase_create("vectors");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, blas_setup, blas_teardown);
    tcase_add_loop_test(tests, vectors, 0, 4);
    tcase_add_loop_test(tests, reductions, 0, 4);
    tcase_add_test(tests, typed_vectors);
    tcase_add_loop_test(tests, products, 0, 4);
    tcase_add_loop_test(tests, updates, 0, 4);
    tcase_add_loop_test(tests, triangles, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
