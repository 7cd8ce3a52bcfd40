/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of cublasLtMatmul: orders, transpositions, batches, pointer modes, types with FP8 and
 * epilogues; references are float64 loops. */
#include "blas_lt.h"

#include <math.h>
#include <stdio.h>

static const struct {
    cublasComputeType_t compute;
    cudaDataType scale, ab, c;
    const char *count;
} kinds[] = {
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, "gemm.f16"},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, "gemm.f16"},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, "gemm.bf16"},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, "gemm.bf16"},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, "gemm.f32"},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, "gemm.tf32"},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, "gemm.f64"},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, "gemm.c32"},
    {CUBLAS_COMPUTE_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, "gemm.c64"},
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, "gemm.f16"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

START_TEST(random_problems)
{
    static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    static const double scalars[] = {0.0, 1.0, -2.0, 0.5};
    for (int round = 0; round < 40; round++) {
        struct matmul t = {.compute = kinds[_i].compute,
                           .scale = kinds[_i].scale,
                           .transa = ops[pick(0, 2)],
                           .transb = ops[pick(0, 2)],
                           .m = pick(1, 24),
                           .n = pick(1, 24),
                           .k = pick(1, 24),
                           .batch = (int)pick(1, 3),
                           .alpha = scalars[pick(1, 3)],
                           .beta = scalars[pick(0, 3)],
                           .in_place = pick(0, 1)};
        bool row[4] = {pick(0, 1), pick(0, 1), pick(0, 1), pick(0, 1)};
        const bool real = !complex_type(kinds[_i].ab);
        t.pointer_mode = (int)pick(0, real ? 4 : 1);
        if (t.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
            row[2] = row[3] = false;
        if (t.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
            t.beta = 0.0;
        lt_make(&t, kinds[_i].ab, kinds[_i].c, row, pick(0, 2));
        char what[96];
        snprintf(what, sizeof what, "kind %d %lldx%lldx%lld ops %d %d rows %d%d%d%d mode %d", _i,
                 (long long)t.m, (long long)t.n, (long long)t.k, t.transa, t.transb, row[0], row[1],
                 row[2], row[3], t.pointer_mode);
        const uint64_t calls = counter(kinds[_i].count);
        lt_compare(&t, NULL, NULL, 0, what);
        ck_assert_uint_eq(counter(kinds[_i].count), calls + 1);
        lt_drop(&t);
    }
}
END_TEST

/* A batch stride may be 0 (broadcast) or negative, and ldc == 0 repeats one column. */
START_TEST(unusual_strides)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F,
                       .scale = CUDA_R_32F,
                       .m = 5,
                       .n = 6,
                       .k = 7,
                       .batch = 3,
                       .alpha = 1,
                       .beta = 1};
    lt_make(&t, CUDA_R_32F, CUDA_R_32F, col, 0);
    const int64_t zero = 0;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[0], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                        &zero, sizeof zero));
    t.a.stride = 0;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[2], CUBLASLT_MATRIX_LAYOUT_LD, &zero,
                                        sizeof zero));
    t.c.ld = 0;
    lt_compare(&t, NULL, NULL, 0, "broadcast A, one column of C");
    lt_drop(&t);
}
END_TEST

static double gelu(double x)
{
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    const double h = 1e-6;
    return (gelu(x + h) - gelu(x - h)) / (2.0 * h);
}

static bool bit(const struct array *mask, int64_t i)
{
    return ((unsigned char)mask->host[i / 8] >> (i % 8)) & 1;
}

static const int epilogues[] = {
    CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_BIAS,          CUBLASLT_EPILOGUE_RELU_BIAS,
    CUBLASLT_EPILOGUE_RELU_AUX,    CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU,
    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,          CUBLASLT_EPILOGUE_GELU_BIAS,
    CUBLASLT_EPILOGUE_GELU_AUX,    CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU,
    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,        CUBLASLT_EPILOGUE_BGRADB,
};
enum { EPILOGUES = sizeof epilogues / sizeof epilogues[0] };

START_TEST(epilogue)
{
    const int kind = epilogues[_i];
    const bool col[4] = {0};
    const bool mask = kind & (2 | 8), backward = kind & (8 | 64), has_aux = kind & 128;
    const bool has_bias = kind & 4, has_bgrad = kind & (16 | 256 | 512);
    for (int type = 0; type < 3; type++) {
        const cudaDataType ab = type == 0 ? CUDA_R_32F : type == 1 ? CUDA_R_16F : CUDA_R_16BF;
        const cudaDataType out = type == 2 ? CUDA_R_16BF : CUDA_R_32F;
        struct matmul t = {.compute = CUBLAS_COMPUTE_32F,
                           .scale = CUDA_R_32F,
                           .transa = CUBLAS_OP_T,
                           .m = 21,
                           .n = 11,
                           .k = 13,
                           .batch = 1,
                           .alpha = 0.5,
                           .beta = 1.0};
        lt_make(&t, ab, out, col, 1);
        t.aux_ld = mask ? 128 : 24;
        t.bias = has_bgrad ? array_poison(out, 21 + 11) : array_new(out, 21);
        t.aux = mask       ? array_new(CUDA_R_8I, 16 * 11)
                : backward ? array_new(out, 24 * 11)
                           : array_poison(out, 24 * 11);
        lt_set_int(&t, CUBLASLT_MATMUL_DESC_EPILOGUE, kind);
        if (has_bias || has_bgrad)
            lt_set(&t, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &t.bias.device, 8);
        if (has_aux) {
            lt_set(&t, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &t.aux.device, 8);
            lt_set(&t, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &t.aux_ld, 8);
        }
        OK(lt_run(&t, NULL, NULL, 0));
        array_get(&t.d.data);
        array_get(&t.bias);
        array_get(&t.aux);
        const double unit = lt_unit(out), tolerance = 2e-6 + 2.0 * unit;
        double row_sums[21] = {0};
        for (int64_t j = 0; j < t.n; j++)
            for (int64_t i = 0; i < t.m; i++) {
                double size, x = creal(lt_reference(&t, &t.c.data, 0, i, j, &size));
                if (has_bias)
                    x += creal(array_at(&t.bias, i));
                double want = x;
                if ((kind & 2) != 0)
                    want = fmax(x, 0.0);
                if ((kind & 2) && has_aux && fabs(x) > 1e-4)
                    ck_assert(bit(&t.aux, i + j * t.aux_ld) == (x > 0.0));
                if (kind & 32)
                    want = gelu(x);
                if ((kind & 32) && has_aux)
                    close_to(array_at(&t.aux, i + j * t.aux_ld), x, tolerance * (1.0 + fabs(x)),
                             "GELU input", i, j);
                if (kind & 8)
                    want = bit(&t.aux, i + j * t.aux_ld) ? x : 0.0;
                if (kind & 64)
                    want = x * gelu_slope(creal(array_at(&t.aux, i + j * t.aux_ld)));
                row_sums[i] += want;
                close_to(array_at(&t.d.data, lt_place(&t.d, i, j)), want,
                         tolerance * (1.0 + fabs(want)), "epilogue", i, j);
            }
        if (kind & 16)
            for (int64_t i = 0; i < t.m; i++)
                close_to(array_at(&t.bias, i), row_sums[i],
                         tolerance * (1.0 + fabs(row_sums[i])) + 1e-5, "bias gradient", i, 0);
        if (kind == CUBLASLT_EPILOGUE_BGRADA || kind == CUBLASLT_EPILOGUE_BGRADB) {
            const bool of_a = kind == CUBLASLT_EPILOGUE_BGRADA;
            for (int64_t i = 0; i < (of_a ? t.m : t.n); i++) {
                double sum = 0.0;
                for (int64_t q = 0; q < t.k; q++)
                    sum += creal(of_a ? array_at(&t.a.data, lt_place(&t.a, q, i))
                                      : array_at(&t.b.data, lt_place(&t.b, q, i)));
                close_to(array_at(&t.bias, i), sum, tolerance * (1.0 + fabs(sum)), "sum over k", i,
                         0);
            }
        }
        array_free(&t.bias);
        array_free(&t.aux);
        lt_drop(&t);
    }
}
END_TEST

/* FP8: scales of A, B and D, the maximum of D, saturation; TN and multiples of 16 alone. */
START_TEST(fp8)
{
    const bool col[4] = {0};
    static const cudaDataType outs[] = {CUDA_R_32F, CUDA_R_16BF, CUDA_R_8F_E4M3};
    for (int o = 0; o < 3; o++) {
        struct matmul t = {.compute = CUBLAS_COMPUTE_32F,
                           .scale = CUDA_R_32F,
                           .transa = CUBLAS_OP_T,
                           .m = 32,
                           .n = 16,
                           .k = 48,
                           .batch = 1,
                           .alpha = 1,
                           .beta = 0};
        lt_make(&t, CUDA_R_8F_E4M3, o == 2 ? CUDA_R_16BF : outs[o], col, 0);
        if (o == 2) {
            array_free(&t.d.data);
            t.d.type = outs[o];
            t.d.data = array_poison(outs[o], 32 * 16);
            const int32_t type = outs[o];
            OK(cublasLtMatrixLayoutSetAttribute(t.layout[3], CUBLASLT_MATRIX_LAYOUT_TYPE, &type,
                                                4));
        }
        struct array scales = array_poison(CUDA_R_32F, 4);
        const double sa = 0.5, sb = 4.0, sd = 16.0;
        array_set(&scales, 0, sa);
        array_set(&scales, 1, sb);
        array_set(&scales, 2, sd);
        array_put(&scales);
        const CUdeviceptr p[4] = {scales.device, scales.device + 4, scales.device + 8,
                                  scales.device + 12};
        lt_set(&t, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &p[0], 8);
        lt_set(&t, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &p[1], 8);
        if (o == 2) {
            lt_set(&t, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &p[2], 8);
            lt_set(&t, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, &p[3], 8);
        }
        const uint64_t calls = counter("gemm.fp8");
        OK(lt_run(&t, NULL, NULL, 0));
        ck_assert_uint_eq(counter("gemm.fp8"), calls + 1);
        array_get(&t.d.data);
        array_get(&scales);
        double largest = 0.0;
        for (int64_t j = 0; j < t.n; j++)
            for (int64_t i = 0; i < t.m; i++) {
                double size, want = sa * sb * creal(lt_reference(&t, &t.c.data, 0, i, j, &size));
                largest = fmax(largest, fabs(want));
                if (o == 2)
                    want = fmin(fmax(want * sd, -448.0), 448.0);
                close_to(array_at(&t.d.data, lt_place(&t.d, i, j)), want,
                         1.01 * lt_unit(outs[o]) * fabs(want) + 1e-4 * size +
                             (o == 2 ? 0x1p-10 : 0.0),
                         "fp8", i, j);
            }
        if (o == 2)
            close_to(array_at(&scales, 3), largest, 1e-5 * largest, "amax", 0, 0);
        lt_set_int(&t, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N);
        ck_assert_int_ne(lt_run(&t, NULL, NULL, 0), 0);
        lt_set_int(&t, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
        array_free(&scales);
        lt_drop(&t);
    }
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F,
                       .scale = CUDA_R_32F,
                       .transa = CUBLAS_OP_T,
                       .m = 32,
                       .n = 16,
                       .k = 40,
                       .batch = 1,
                       .alpha = 1,
                       .beta = 0};
    lt_make(&t, CUDA_R_8F_E4M3, CUDA_R_32F, col, 0);
    STATUS(lt_run(&t, NULL, NULL, 0), NOT_SUPPORTED); /* k is no multiple of 16 */
    lt_drop(&t);
    t.k = 48;
    lt_make(&t, CUDA_R_8F_E5M2, CUDA_R_32F, col, 0);
    STATUS(lt_run(&t, NULL, NULL, 0), NOT_SUPPORTED); /* both E5M2 */
    lt_drop(&t);
}
END_TEST

Suite *suite_lt(void)
{
    Suite *suite = suite_create("cublasLt");
    TCase *tests = tcase_create("lt");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, lt_setup, lt_teardown);
    tcase_add_loop_test(tests, random_problems, 0, KINDS);
    tcase_add_test(tests, unusual_strides);
    tcase_add_loop_test(tests, epilogue, 0, EPILOGUES);
    tcase_add_test(tests, fp8);
    suite_add_tcase(suite, tests);
    return suite;
}
