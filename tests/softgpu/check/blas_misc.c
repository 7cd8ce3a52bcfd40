/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of the number formats (every half, bfloat16 and FP8 value; random and halfway floats), of
 * rotations, matrix transformations and of truncating tensor cores. */
#include "blas.h"

#include <math.h>

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* How often two arrays differ, with NaN equal to NaN; one assertion for all. */
static void same_numbers(const struct array *got, const double *want, const char *what)
{
    for (int64_t i = 0; i < got->n; i++) {
        const double x = creal(array_at(got, i));
        if (!(x == want[i] || (isnan(x) && isnan(want[i]))))
            ck_abort_msg("%s: number %lld is %a, should be %a", what, (long long)i, x, want[i]);
    }
}

START_TEST(widening)
{
    static const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16BF};
    enum { N = 65536 };
    struct array x = array_poison(types[_i], N), y = array_poison(CUDA_R_32F, N);
    double *want = calloc(N, sizeof *want);
    for (int i = 0; i < N; i++) {
        const uint16_t bits = (uint16_t)i;
        memcpy(x.host + 2 * i, &bits, 2);
        want[i] = creal(array_at(&x, i));
    }
    array_put(&x);
    OK(cublasCopyEx(handle, N, PTR(x), types[_i], 1, PTR(y), CUDA_R_32F, 1));
    array_get(&y);
    same_numbers(&y, want, "to float");
    free(want);
    array_free(&x);
    array_free(&y);
}
END_TEST

/* Floats of every exponent, near and on the halfway points of shorter formats. */
static void hard_floats(struct array *x)
{
    for (int64_t i = 0; i < x->n; i++) {
        uint32_t bits = (uint32_t)pick(0, UINT32_MAX);
        const int keep = (int)pick(0, 23);
        if (i % 2 == 0) /* a short significand, or one that ends in exactly one half or nearly so */
            bits = (bits & ~((UINT32_C(1) << keep) - 1)) +
                   (keep > 0 ? UINT32_C(1) << (keep - 1) : 0) + (uint32_t)pick(-1, 1);
        if (i % 3 == 0) /* where halves and FP8 numbers are */
            bits = (bits & 0x807fffff) | (uint32_t)pick(127 - 27, 127 + 17) << 23;
        const float f = float_of_bits(bits);
        memcpy(x->host + 4 * i, &f, sizeof f);
    }
    array_put(x);
}

START_TEST(narrowing)
{
    enum { N = 60000 };
    const float one = 1, zero = 0;
    struct array x = array_poison(CUDA_R_32F, N);
    double *want = calloc(N, sizeof *want);
    hard_floats(&x);
    static const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16BF};
    for (int t = 0; t < 2; t++) {
        struct array y = array_poison(types[t], N);
        for (int64_t i = 0; i < N; i++) {
            const double v = creal(array_at(&x, i));
            want[i] = t == 0 ? round_bits(v, 11, -14, 65504.0)
                             : round_bits(v, 8, -126, 3.3895313892515355e38);
        }
        OK(cublasCopyEx(handle, N, PTR(x), CUDA_R_32F, 1, PTR(y), types[t], 1));
        array_get(&y);
        same_numbers(&y, want, t == 0 ? "to half" : "to bfloat16");
        array_free(&y);
    }
    /* what the TF32 unit sees: a product with 1 */
    struct array b = array_poison(CUDA_R_32F, 1), c = array_poison(CUDA_R_32F, N);
    array_set(&b, 0, 1.0);
    array_put(&b);
    for (int64_t i = 0; i < N; i++)
        want[i] = round_tf32(creal(array_at(&x, i)));
    OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, 1, 1, &one, PTR(x), CUDA_R_32F, N, PTR(b),
                    CUDA_R_32F, 1, &zero, PTR(c), CUDA_R_32F, N, CUBLAS_COMPUTE_32F_FAST_TF32,
                    CUBLAS_GEMM_DEFAULT));
    array_get(&c);
    same_numbers(&c, want, "to TF32");
    free(want);
    array_free(&x);
    array_free(&b);
    array_free(&c);
}
END_TEST

/* rows x cols by cublasLtMatrixTransform, alpha = 1 */
static void transform(struct array *from, int32_t from_order, cublasOperation_t op,
                      struct array *to, int32_t to_order, int rows, int cols)
{
    cublasLtHandle_t lt;
    cublasLtMatrixTransformDesc_t desc;
    cublasLtMatrixLayout_t a, c;
    const float one = 1;
    const int32_t trans = op;
    const bool turned = op != CUBLAS_OP_N, row_a = from_order == CUBLASLT_ORDER_ROW;
    const uint64_t a_rows = (uint64_t)(turned ? cols : rows),
                   a_cols = (uint64_t)(turned ? rows : cols);
    OK(cublasLtCreate(&lt));
    OK(cublasLtMatrixTransformDescCreate(&desc, CUDA_R_32F));
    OK(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &trans,
                                               4));
    OK(cublasLtMatrixLayoutCreate(&a, from->type, a_rows, a_cols,
                                  (int64_t)(row_a ? a_cols : a_rows)));
    OK(cublasLtMatrixLayoutSetAttribute(a, CUBLASLT_MATRIX_LAYOUT_ORDER, &from_order, 4));
    OK(cublasLtMatrixLayoutCreate(&c, to->type, (uint64_t)rows, (uint64_t)cols,
                                  to_order == CUBLASLT_ORDER_ROW ? cols : rows));
    OK(cublasLtMatrixLayoutSetAttribute(c, CUBLASLT_MATRIX_LAYOUT_ORDER, &to_order, 4));
    OK(cublasLtMatrixTransform(lt, desc, &one, PTR(*from), a, NULL, NULL, NULL, PTR(*to), c, NULL));
    array_get(to);
    OK(cublasLtMatrixLayoutDestroy(a));
    OK(cublasLtMatrixLayoutDestroy(c));
    OK(cublasLtMatrixTransformDescDestroy(desc));
    OK(cublasLtDestroy(lt));
}

START_TEST(fp8_numbers)
{
    static const cudaDataType types[] = {CUDA_R_8F_E4M3, CUDA_R_8F_E5M2};
    enum { N = 30000 };
    const double largest = _i == 0 ? 448.0 : 57344.0;
    struct array x = array_poison(CUDA_R_32F, N), y = array_poison(types[_i], N);
    double *want = calloc(N, sizeof *want);
    hard_floats(&x);
    for (int64_t i = 0; i < N; i++) {
        const double v = creal(array_at(&x, i));
        const double r = _i == 0 ? round_bits(v, 4, -6, INFINITY) : round_bits(v, 3, -14, INFINITY);
        want[i] = isnan(v) ? v : fmin(fmax(r, -largest), largest);
    }
    transform(&x, CUBLASLT_ORDER_COL, CUBLAS_OP_N, &y, CUBLASLT_ORDER_COL, N, 1);
    same_numbers(&y, want, "to FP8");
    /* and all 256 back */
    struct array all = array_poison(types[_i], 256), wide = array_poison(CUDA_R_32F, 256);
    for (int i = 0; i < 256; i++) {
        all.host[i] = (char)i;
        want[i] = creal(array_at(&all, i));
    }
    array_put(&all);
    transform(&all, CUBLASLT_ORDER_COL, CUBLAS_OP_N, &wide, CUBLASLT_ORDER_COL, 256, 1);
    same_numbers(&wide, want, "from FP8");
    free(want);
    array_free(&x);
    array_free(&y);
    array_free(&all);
    array_free(&wide);
}
END_TEST

START_TEST(transformations)
{
    enum { M = 7, N = 5 };
    struct array a = array_new(CUDA_R_32F, M * N), c = array_poison(CUDA_R_16F, M * N);
    double want[M * N];
    transform(&a, CUBLASLT_ORDER_COL, CUBLAS_OP_N, &c, CUBLASLT_ORDER_ROW, M, N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            want[i * N + j] = round_bits(creal(array_at(&a, i + j * M)), 11, -14, 65504.0);
    same_numbers(&c, want, "column to row order");
    transform(&a, CUBLASLT_ORDER_ROW, CUBLAS_OP_T, &c, CUBLASLT_ORDER_COL, N, M);
    for (int i = 0; i < N; i++) /* A is M x N in row order, its transpose in column order: a copy */
        for (int j = 0; j < M; j++)
            want[i + j * N] = round_bits(creal(array_at(&a, i + j * N)), 11, -14, 65504.0);
    same_numbers(&c, want, "transposed");
    array_free(&a);
    array_free(&c);
}
END_TEST

START_TEST(rotations)
{
    for (int round = 0; round < 50; round++) {
        double a = uniform(), b = round == 0 ? 0.0 : uniform(), c, s;
        const double a0 = a, b0 = b;
        OK(cublasDrotg_v2(handle, &a, &b, &c, &s));
        close_to(c * a0 + s * b0, a, 1e-14, "r", round, 0);
        close_to(c * b0 - s * a0, 0.0, 1e-14, "zero", round, 0);
        close_to(c * c + s * s, 1.0, 1e-14, "norm", round, 0);
        cuDoubleComplex za = {uniform(), uniform()}, zb = {uniform(), uniform()}, zs;
        const number x = complex_of(za.x, za.y), y = complex_of(zb.x, zb.y);
        OK(cublasZrotg_v2(handle, &za, &zb, &c, &zs));
        const number zz = complex_of(zs.x, zs.y);
        close_to(c * x + zz * y, complex_of(za.x, za.y), 1e-14, "complex r", round, 0);
        close_to(c * y - conj(zz) * x, 0.0, 1e-14, "complex zero", round, 0);

        /* the modified rotation annihilates y and keeps the scaled norm */
        double d1 = fabs(uniform()) * 4.0, d2 = fabs(uniform()) * 1e-9, x1 = uniform(),
               y1 = uniform();
        if (round % 2)
            d2 = fabs(uniform());
        const double before = d1 * x1 * x1 + d2 * y1 * y1;
        struct array v = array_poison(CUDA_R_64F, 1), w = array_poison(CUDA_R_64F, 1);
        double param[5] = {0, 0, 0, 0, 0};
        array_set(&v, 0, x1);
        array_set(&w, 0, y1);
        array_put(&v);
        array_put(&w);
        OK(cublasDrotmg_v2(handle, &d1, &d2, &x1, &y1, param));
        OK(cublasDrotm_v2(handle, 1, PTR(v), 1, PTR(w), 1, param));
        array_get(&v);
        array_get(&w);
        close_to(array_at(&v, 0), x1, 1e-12 * (1.0 + fabs(x1)), "modified x", round, 0);
        close_to(array_at(&w, 0), 0.0, 1e-12, "modified y", round, 0);
        close_to(d1 * x1 * x1, before, 1e-12 * (1.0 + before), "modified norm", round, 0);
        array_free(&v);
        array_free(&w);
    }
}
END_TEST

static double gemm_error(void)
{
    enum { M = 24, K = 2048 };
    const float one = 1, zero = 0;
    struct array a = array_new(CUDA_R_16F, M * K), c = array_poison(CUDA_R_32F, M * M);
    double error = 0.0, size = 0.0;
    OK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, M, K, &one, PTR(a), CUDA_R_16F, K, PTR(a),
                    CUDA_R_16F, K, &zero, PTR(c), CUDA_R_32F, M, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT));
    array_get(&c);
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) {
            double sum = 0.0;
            for (int q = 0; q < K; q++)
                sum += creal(array_at(&a, q + i * K)) * creal(array_at(&a, q + j * K));
            error += pow(creal(array_at(&c, i + j * M)) - sum, 2);
            size += sum * sum;
        }
    array_free(&a);
    array_free(&c);
    return sqrt(error / size);
}

/* Truncation costs accuracy, but stays far below that of the operands. Each test has its own
 * process (CK_FORK), where the option is read at the first product. */
START_TEST(truncating_tensor_cores)
{
    if (_i == 1)
        setenv("SOFTGPU_TENSORCORE", "rz", 1);
    const double error = gemm_error();
    if (_i == 0)
        ck_assert_double_lt(error, 3e-7);
    else
        ck_assert(error > 5e-7 && error < 5e-5);
}
END_TEST

Suite *suite_misc(void)
{
    Suite *suite = suite_create("cublas numbers");
    TCase *tests = tcase_create("numbers");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, blas_setup, blas_teardown);
    tcase_add_loop_test(tests, widening, 0, 2);
    tcase_add_test(tests, narrowing);
    tcase_add_loop_test(tests, fp8_numbers, 0, 2);
    tcase_add_test(tests, transformations);
    tcase_add_test(tests, rotations);
    tcase_add_loop_test(tests, truncating_tensor_cores, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
