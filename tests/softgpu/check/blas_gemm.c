/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of every GEMM entry point of libcublas: random problems of all transpositions, paddings,
 * batches and scalars against float64 loops. */
#include "blas.h"

#include <math.h>
#include <stdio.h>

enum api { PLAIN, STRIDED, ARRAY };

struct problem {
    cudaDataType ab, c;
    int compute; /* of the Ex entry points; -1: the classic one of type ab */
    enum api api;
    bool wide, m3; /* _64; 3m */
    cublasOperation_t transa, transb;
    int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
    number alpha, beta;
    bool device_scalars, broadcast;
};

static cudaDataType scale_of(const struct problem *p)
{
    if (p->compute == CUBLAS_COMPUTE_16F || (p->compute < 0 && p->ab == CUDA_R_16F))
        return CUDA_R_16F;
    if (p->compute == CUBLAS_COMPUTE_32I)
        return CUDA_R_32I;
    if (p->ab == CUDA_R_64F || p->ab == CUDA_C_64F)
        return p->ab;
    return complex_type(p->c) ? CUDA_C_32F : CUDA_R_32F;
}

/* The C header does not show the half precision entries. */
#define HALF_SCALARS cublasHandle_t, cublasOperation_t, cublasOperation_t
cublasStatus_t cublasHgemm(HALF_SCALARS, int, int, int, const void *, const void *, int,
                           const void *, int, const void *, void *, int);
cublasStatus_t cublasHgemm_64(HALF_SCALARS, int64_t, int64_t, int64_t, const void *, const void *,
                              int64_t, const void *, int64_t, const void *, void *, int64_t);
cublasStatus_t cublasHgemmStridedBatched(HALF_SCALARS, int, int, int, const void *, const void *,
                                         int, long long, const void *, int, long long, const void *,
                                         void *, int, long long, int);
cublasStatus_t cublasHgemmStridedBatched_64(HALF_SCALARS, int64_t, int64_t, int64_t, const void *,
                                            const void *, int64_t, long long, const void *, int64_t,
                                            long long, const void *, void *, int64_t, long long,
                                            int64_t);
cublasStatus_t cublasHgemmBatched(HALF_SCALARS, int, int, int, const void *, const void *const[],
                                  int, const void *const[], int, const void *, void *const[], int,
                                  int);
cublasStatus_t cublasHgemmBatched_64(HALF_SCALARS, int64_t, int64_t, int64_t, const void *,
                                     const void *const[], int64_t, const void *const[], int64_t,
                                     const void *, void *const[], int64_t, int64_t);

#define SIZES    (int)p->m, (int)p->n, (int)p->k
#define SIZES_64 p->m, p->n, p->k
#define PLAIN_CALL(_f)                                                                             \
    (p->wide ? _f##_64(handle, p->transa, p->transb, SIZES_64, alpha, a, p->lda, b, p->ldb, beta,  \
                       c, p->ldc)                                                                  \
             : _f(handle, p->transa, p->transb, SIZES, alpha, a, (int)p->lda, b, (int)p->ldb,      \
                  beta, c, (int)p->ldc))
#define STRIDED_CALL(_f)                                                                           \
    (p->wide ? _f##_64(handle, p->transa, p->transb, SIZES_64, alpha, a, p->lda, p->stride_a, b,   \
                       p->ldb, p->stride_b, beta, c, p->ldc, p->stride_c, p->batch)                \
             : _f(handle, p->transa, p->transb, SIZES, alpha, a, (int)p->lda, p->stride_a, b,      \
                  (int)p->ldb, p->stride_b, beta, c, (int)p->ldc, p->stride_c, (int)p->batch))
#define ARRAY_CALL(_f)                                                                             \
    (p->wide ? _f##_64(handle, p->transa, p->transb, SIZES_64, alpha, a, p->lda, b, p->ldb, beta,  \
                       c, p->ldc, p->batch)                                                        \
             : _f(handle, p->transa, p->transb, SIZES, alpha, a, (int)p->lda, b, (int)p->ldb,      \
                  beta, c, (int)p->ldc, (int)p->batch))

static cublasStatus_t call_plain(const struct problem *p, const void *alpha, void *a, void *b,
                                 const void *beta, void *c)
{
    switch (p->ab) {
    case CUDA_R_32F:
        return PLAIN_CALL(cublasSgemm_v2);
    case CUDA_R_64F:
        return PLAIN_CALL(cublasDgemm_v2);
    case CUDA_C_32F:
        return p->m3 ? PLAIN_CALL(cublasCgemm3m) : PLAIN_CALL(cublasCgemm_v2);
    case CUDA_C_64F:
        return p->m3 ? PLAIN_CALL(cublasZgemm3m) : PLAIN_CALL(cublasZgemm_v2);
    default:
        return PLAIN_CALL(cublasHgemm);
    }
}

static cublasStatus_t call_strided(const struct problem *p, const void *alpha, void *a, void *b,
                                   const void *beta, void *c)
{
    switch (p->ab) {
    case CUDA_R_32F:
        return STRIDED_CALL(cublasSgemmStridedBatched);
    case CUDA_R_64F:
        return STRIDED_CALL(cublasDgemmStridedBatched);
    case CUDA_C_32F:
        return p->m3 ? STRIDED_CALL(cublasCgemm3mStridedBatched)
                     : STRIDED_CALL(cublasCgemmStridedBatched);
    case CUDA_C_64F:
        return STRIDED_CALL(cublasZgemmStridedBatched);
    default:
        return STRIDED_CALL(cublasHgemmStridedBatched);
    }
}

static cublasStatus_t call_array(const struct problem *p, const void *alpha, void *a, void *b,
                                 const void *beta, void *c)
{
    switch (p->ab) {
    case CUDA_R_32F:
        return ARRAY_CALL(cublasSgemmBatched);
    case CUDA_R_64F:
        return ARRAY_CALL(cublasDgemmBatched);
    case CUDA_C_32F:
        return p->m3 ? ARRAY_CALL(cublasCgemm3mBatched) : ARRAY_CALL(cublasCgemmBatched);
    case CUDA_C_64F:
        return ARRAY_CALL(cublasZgemmBatched);
    default:
        return ARRAY_CALL(cublasHgemmBatched);
    }
}

static cublasStatus_t call_ex(const struct problem *p, const void *alpha, void *a, void *b,
                              const void *beta, void *c)
{
    const cublasComputeType_t compute = (cublasComputeType_t)p->compute;
    const int lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc, batch = (int)p->batch;
    switch (p->api) {
    case PLAIN:
        return p->wide ? cublasGemmEx_64(handle, p->transa, p->transb, SIZES_64, alpha, a, p->ab,
                                         p->lda, b, p->ab, p->ldb, beta, c, p->c, p->ldc, compute,
                                         CUBLAS_GEMM_DEFAULT)
                       : cublasGemmEx(handle, p->transa, p->transb, SIZES, alpha, a, p->ab, lda, b,
                                      p->ab, ldb, beta, c, p->c, ldc, compute, CUBLAS_GEMM_DEFAULT);
    case STRIDED:
        return p->wide
                   ? cublasGemmStridedBatchedEx_64(handle, p->transa, p->transb, SIZES_64, alpha, a,
                                                   p->ab, p->lda, p->stride_a, b, p->ab, p->ldb,
                                                   p->stride_b, beta, c, p->c, p->ldc, p->stride_c,
                                                   p->batch, compute, CUBLAS_GEMM_DEFAULT)
                   : cublasGemmStridedBatchedEx(handle, p->transa, p->transb, SIZES, alpha, a,
                                                p->ab, lda, p->stride_a, b, p->ab, ldb, p->stride_b,
                                                beta, c, p->c, ldc, p->stride_c, batch, compute,
                                                CUBLAS_GEMM_DEFAULT);
    default:
        return p->wide ? cublasGemmBatchedEx_64(handle, p->transa, p->transb, SIZES_64, alpha, a,
                                                p->ab, p->lda, b, p->ab, p->ldb, beta, c, p->c,
                                                p->ldc, p->batch, compute, CUBLAS_GEMM_DEFAULT)
                       : cublasGemmBatchedEx(handle, p->transa, p->transb, SIZES, alpha, a, p->ab,
                                             lda, b, p->ab, ldb, beta, c, p->c, ldc, batch, compute,
                                             CUBLAS_GEMM_DEFAULT);
    }
}

static cublasStatus_t call(const struct problem *p, const void *alpha, void *a, void *b,
                           const void *beta, void *c)
{
    if (p->compute >= 0)
        return call_ex(p, alpha, a, b, beta, c);
    return p->api == PLAIN     ? call_plain(p, alpha, a, b, beta, c)
           : p->api == STRIDED ? call_strided(p, alpha, a, b, beta, c)
                               : call_array(p, alpha, a, b, beta, c);
}

/* What the problem's operands are rounded to, by its compute type or the handle's math mode. */
static int effective_compute(const struct problem *p)
{
    cublasMath_t math;
    OK(cublasGetMathMode(handle, &math));
    return p->compute < 0 && math == CUBLAS_TF32_TENSOR_OP_MATH ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                : p->compute;
}

/* The operand as the arithmetic unit sees it. */
static number rounded(const struct problem *p, int compute, number x)
{
    if (p->ab != CUDA_R_32F && p->ab != CUDA_C_32F)
        return x;
    const double re = creal(x), im = cimag(x);
    switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        return complex_of(round_tf32(re), round_tf32(im));
    case CUBLAS_COMPUTE_32F_FAST_16F:
        return complex_of(round_bits(re, 11, -14, 65504.0), round_bits(im, 11, -14, 65504.0));
    case CUBLAS_COMPUTE_32F_FAST_16BF:
        return complex_of(round_bits(re, 8, -126, 3.3895313892515355e38),
                          round_bits(im, 8, -126, 3.3895313892515355e38));
    default:
        return x;
    }
}

static double precision_of(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
        return 0x1p-11;
    case CUDA_R_16BF:
        return 0x1p-8;
    case CUDA_R_64F:
    case CUDA_C_64F:
        return 0x1p-53;
    case CUDA_R_32I:
        return 0.0;
    default:
        return 0x1p-24;
    }
}

/* D against the loops, and every element outside of D unchanged. */
static void compare(const struct problem *p, const struct array *a, const struct array *b,
                    const struct array *before, const struct array *after, const char *what)
{
    const bool exact = p->c == CUDA_R_32I;
    const double acc = exact ? 0.0 : p->ab == CUDA_R_64F || p->ab == CUDA_C_64F ? 0x1p-53 : 0x1p-24;
    const size_t size = size_of(p->c);
    const int compute = effective_compute(p);
    for (int64_t e = 0, next = 0; e < p->batch; e++)
        for (int64_t j = 0; j < p->n; j++) {
            const int64_t column = e * p->stride_c + j * p->ldc;
            if (p->stride_c >= 0) {
                ck_assert_mem_eq(before->host + (size_t)next * size,
                                 after->host + (size_t)next * size, (size_t)(column - next) * size);
                next = column + p->m;
            }
            for (int64_t i = 0; i < p->m; i++) {
                number sum = 0.0;
                double magnitude = 0.0;
                for (int64_t q = 0; q < p->k && p->alpha != 0.0; q++) {
                    const int64_t at_a = e * p->stride_a + at_op(p->transa, i, q, p->lda);
                    const int64_t at_b = e * p->stride_b + at_op(p->transb, q, j, p->ldb);
                    const number x = conj_op(p->transa, rounded(p, compute, array_at(a, at_a)));
                    const number y = conj_op(p->transb, rounded(p, compute, array_at(b, at_b)));
                    sum += x * y;
                    magnitude += cabs(x) * cabs(y);
                }
                number want = p->alpha == 0.0 ? 0.0 : p->alpha * sum;
                double old = 0.0;
                if (p->beta != 0.0) {
                    want += p->beta * array_at(before, column + i);
                    old = cabs(p->beta * array_at(before, column + i));
                }
                /* rounding errors of long sums are random: they grow with the root of k */
                const double terms = fmin((double)p->k, 6.0 * sqrt((double)p->k)) + 6.0;
                const double bound = terms * 2.0 * acc * cabs(p->alpha) * magnitude +
                                     4.0 * acc * old + 1.01 * precision_of(p->c) * cabs(want);
                close_to(array_at(after, column + i), want, bound, what, i, j);
            }
        }
}

static struct array pointer_table(const struct array *x, int64_t stride, int64_t batch)
{
    struct array table = array_poison(CUDA_C_32F, batch); /* eight bytes an element */
    for (int64_t e = 0; e < batch; e++) {
        const CUdeviceptr p = x->device + (CUdeviceptr)(e * stride * (int64_t)size_of(x->type));
        memcpy(table.host + e * 8, &p, sizeof p);
    }
    array_put(&table);
    return table;
}

static number as_stored(cudaDataType type, number x)
{
    char bytes[16];
    encode(type, x, bytes);
    return decode(type, bytes);
}

static void check(struct problem *p, const char *what)
{
    const int64_t a_cols = p->transa == CUBLAS_OP_N ? p->k : p->m;
    const int64_t b_cols = p->transb == CUBLAS_OP_N ? p->n : p->k;
    const bool batched = p->api != PLAIN;
    if (!batched)
        p->batch = 1;
    p->stride_a = batched && !p->broadcast ? p->lda * a_cols + 3 : 0;
    p->stride_b = batched ? p->ldb * b_cols + 1 : 0;
    p->stride_c = batched ? p->ldc * p->n + 2 : 0;
    /* the last column ends with the allocation: padding behind it may not be touched */
    const int64_t a_rows = p->transa == CUBLAS_OP_N ? p->m : p->k;
    const int64_t b_rows = p->transb == CUBLAS_OP_N ? p->k : p->n;
    struct array a =
        array_new(p->ab, (p->batch - 1) * p->stride_a + p->lda * (a_cols - 1) + a_rows);
    struct array b =
        array_new(p->ab, (p->batch - 1) * p->stride_b + p->ldb * (b_cols - 1) + b_rows);
    struct array before =
        p->beta == 0.0
            ? array_poison(p->c, (p->batch - 1) * p->stride_c + p->ldc * (p->n - 1) + p->m)
            : array_new(p->c, (p->batch - 1) * p->stride_c + p->ldc * (p->n - 1) + p->m);
    struct array c = array_poison(p->c, before.n);
    memcpy(c.host, before.host, (size_t)c.n * size_of(p->c));
    array_put(&c);

    char host_alpha[16], host_beta[16];
    encode(scale_of(p), p->alpha, host_alpha);
    encode(scale_of(p), p->beta, host_beta);
    struct array scalars = array_poison(CUDA_C_64F, 2);
    memcpy(scalars.host, host_alpha, 16);
    memcpy(scalars.host + 16, host_beta, 16);
    array_put(&scalars);
    OK(cublasSetPointerMode_v2(handle, p->device_scalars ? CUBLAS_POINTER_MODE_DEVICE
                                                         : CUBLAS_POINTER_MODE_HOST));
    const void *alpha = p->device_scalars ? PTR(scalars) : host_alpha;
    const void *beta = p->device_scalars ? (char *)PTR(scalars) + 16 : host_beta;
    if (p->api == ARRAY) {
        struct array ta = pointer_table(&a, p->stride_a, p->batch);
        struct array tb = pointer_table(&b, p->stride_b, p->batch);
        struct array tc = pointer_table(&c, p->stride_c, p->batch);
        OK(call(p, alpha, PTR(ta), PTR(tb), beta, PTR(tc)));
        OK(cuCtxSynchronize());
        array_free(&ta);
        array_free(&tb);
        array_free(&tc);
    } else {
        OK(call(p, alpha, PTR(a), PTR(b), beta, PTR(c)));
    }
    memset(host_alpha, 0xff, sizeof host_alpha); /* captured at the call */
    memset(host_beta, 0xff, sizeof host_beta);
    array_get(&c);
    p->alpha = as_stored(scale_of(p), p->alpha);
    p->beta = as_stored(scale_of(p), p->beta);
    compare(p, &a, &b, &before, &c, what);
    OK(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST));
    array_free(&a);
    array_free(&b);
    array_free(&before);
    array_free(&c);
    array_free(&scalars);
}

static const struct {
    cudaDataType ab, c;
    int compute;
    const char *count;
} kinds[] = {
    {CUDA_R_32F, CUDA_R_32F, -1, "gemm.f32"},
    {CUDA_R_64F, CUDA_R_64F, -1, "gemm.f64"},
    {CUDA_C_32F, CUDA_C_32F, -1, "gemm.c32"},
    {CUDA_C_64F, CUDA_C_64F, -1, "gemm.c64"},
    {CUDA_R_16F, CUDA_R_16F, -1, "gemm.f16"},
    {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, "gemm.f32"},
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, "gemm.f32"}, /* the old convention of C programs */
    {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, "gemm.f32"},
    {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, "gemm.f32"},
    {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, "gemm.tf32"},
    {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, "gemm.f16"},
    {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF, "gemm.bf16"},
    {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, "gemm.f16"},
    {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, "gemm.f16"},
    {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, "gemm.f16"},
    {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, "gemm.bf16"},
    {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, "gemm.bf16"},
    {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, "gemm.f64"},
    {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F, "gemm.c32"},
    {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F_FAST_TF32, "gemm.ctf32"},
    {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F, "gemm.c64"},
    {CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, "gemm.i8"},
    {CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, "gemm.i8"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static struct problem random_problem(int kind)
{
    static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    static const double scalars[] = {0.0, 1.0, -1.0, 2.0, 0.5};
    struct problem p = {.ab = kinds[kind].ab, .c = kinds[kind].c, .compute = kinds[kind].compute};
    p.transa = ops[pick(0, 2)];
    p.transb = ops[pick(0, 2)];
    p.m = pick(1, 40);
    p.n = pick(1, 40);
    p.k = pick(1, 60);
    p.lda = (p.transa == CUBLAS_OP_N ? p.m : p.k) + pick(0, 3);
    p.ldb = (p.transb == CUBLAS_OP_N ? p.k : p.n) + pick(0, 3);
    p.ldc = p.m + pick(0, 3);
    if (p.ab == CUDA_R_8I) { /* INT8 needs leading dimensions that are multiples of 4 */
        p.lda = (p.lda + 3) / 4 * 4;
        p.ldb = (p.ldb + 3) / 4 * 4;
    }
    p.batch = pick(1, 4);
    p.alpha = scalars[pick(0, 4)];
    p.beta = scalars[pick(0, 4)];
    if (complex_type(p.c) && p.alpha != 0.0)
        p.alpha += complex_of(0.0, uniform());
    if (complex_type(p.c) && p.beta != 0.0)
        p.beta += complex_of(0.0, uniform());
    if (p.c == CUDA_R_32I) {
        p.alpha = (double)pick(-2, 2);
        p.beta = (double)pick(-2, 2);
    }
    p.device_scalars = pick(0, 1);
    p.wide = pick(0, 1);
    p.broadcast = pick(0, 3) == 0;
    return p;
}

START_TEST(random_problems)
{
    for (int round = 0; round < 12; round++)
        for (int api = PLAIN; api <= ARRAY; api++) {
            struct problem p = random_problem(_i);
            char what[96], entries[48];
            p.api = (enum api)api;
            p.m3 = p.compute < 0 && (p.ab == CUDA_C_32F || (p.ab == CUDA_C_64F && api == PLAIN)) &&
                   pick(0, 1);
            snprintf(what, sizeof what, "kind %d api %d %lldx%lldx%lld ops %d %d", _i, api,
                     (long long)p.m, (long long)p.n, (long long)p.k, (int)p.transa, (int)p.transb);
            snprintf(entries, sizeof entries, "%s.entries", kinds[_i].count);
            const uint64_t calls = counter(kinds[_i].count), all = counter(entries);
            check(&p, what);
            ck_assert_uint_eq(counter(kinds[_i].count), calls + 1);
            ck_assert_uint_eq(counter(entries), all + (uint64_t)p.batch);
        }
}
END_TEST

START_TEST(long_sums_and_many_tiles)
{
    struct problem p = {.ab = CUDA_R_32F,
                        .c = CUDA_R_32F,
                        .compute = -1,
                        .m = 3,
                        .n = 2,
                        .k = 70000,
                        .lda = 3,
                        .ldb = 70001,
                        .ldc = 3,
                        .alpha = 1,
                        .beta = 1};
    check(&p, "long sum");
    p = (struct problem){.ab = CUDA_R_16F,
                         .c = CUDA_R_32F,
                         .compute = CUBLAS_COMPUTE_32F,
                         .transa = CUBLAS_OP_T,
                         .m = 1030,
                         .n = 1027,
                         .k = 9,
                         .lda = 9,
                         .ldb = 10,
                         .ldc = 1031,
                         .alpha = 2,
                         .beta = 0};
    check(&p, "many tiles");
}
END_TEST

START_TEST(math_modes)
{
    struct problem p = {.ab = CUDA_R_32F,
                        .c = CUDA_R_32F,
                        .compute = -1,
                        .m = 20,
                        .n = 20,
                        .k = 50,
                        .lda = 20,
                        .ldb = 50,
                        .ldc = 20,
                        .alpha = 1,
                        .beta = 0};
    const uint64_t tf32 = counter("gemm.tf32"), f32 = counter("gemm.f32");
    OK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    check(&p, "TF32 math mode");
    ck_assert_uint_eq(counter("gemm.tf32"), tf32 + 1);
    OK(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    check(&p, "pedantic math mode");
    OK(cublasSetMathMode(handle, (cublasMath_t)(CUBLAS_DEFAULT_MATH |
                                                CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
    p.api = STRIDED;
    p.batch = 2;
    check(&p, "default math mode with a flag");
    ck_assert_uint_eq(counter("gemm.f32"), f32 + 2);
    STATUS(cublasSetMathMode(handle, (cublasMath_t)7), INVALID_VALUE);
    OK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
}
END_TEST

Suite *suite_gemm(void)
{
    Suite *suite = suite_create("cublas gemm");
    TCase *tests = tcase_create("gemm");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, blas_setup, blas_teardown);
    tcase_add_loop_test(tests, random_problems, 0, KINDS);
    tcase_add_test(tests, long_sums_and_many_tiles);
    tcase_add_test(tests, math_modes);
    suite_add_tcase(suite, tests);
    return suite;
}
