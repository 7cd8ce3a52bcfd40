/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of cublasLtMatmul: orders, transpositions, batches, pointer modes, types with FP8,
 * epilogues, algorithms and what must be refused; references are float64 loops. */
#include "blas.h"

#include <math.h>
#include <stdio.h>

static cublasLtHandle_t lt;

static void setup(void)
{
    blas_setup();
    OK(cublasLtCreate(&lt));
}

static void teardown(void)
{
    OK(cublasLtDestroy(lt));
    blas_teardown();
}

/* One matmul: matrices with their own order, ld and batch stride. */
struct side {
    cudaDataType type;
    bool row;
    int64_t rows, cols, ld, stride;
    struct array data;
};

struct matmul {
    cublasComputeType_t compute;
    cudaDataType scale;
    cublasOperation_t transa, transb;
    int64_t m, n, k;
    int batch;
    struct side a, b, c, d;
    bool in_place;
    double alpha, beta;
    int pointer_mode;
    int epilogue;
    struct array bias, aux, alphas, betas;
    int64_t aux_ld;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout[4];
};

static int64_t place(const struct side *s, int64_t r, int64_t c)
{
    return s->row ? r * s->ld + c : r + c * s->ld;
}

static void side_make(struct matmul *t, struct side *s, cudaDataType type, int64_t rows,
                      int64_t cols, bool row, int64_t pad, bool poison)
{
    s->type = type;
    s->row = row;
    s->rows = rows;
    s->cols = cols;
    s->ld = (row ? cols : rows) + pad;
    const int64_t lines = row ? rows : cols;
    s->stride = t->batch > 1 ? s->ld * lines + pad : 0;
    const int64_t n = (t->batch - 1) * s->stride + s->ld * (lines - 1) + (row ? cols : rows);
    s->data = poison ? array_poison(type, n) : array_new(type, n);
}

static void set_desc(struct matmul *t, cublasLtMatmulDescAttributes_t attr, const void *value,
                     size_t bytes)
{
    OK(cublasLtMatmulDescSetAttribute(t->desc, attr, value, bytes));
}

static void set_int(struct matmul *t, cublasLtMatmulDescAttributes_t attr, int32_t value)
{
    set_desc(t, attr, &value, sizeof value);
}

static cublasLtMatrixLayout_t layout_of(const struct matmul *t, const struct side *s)
{
    cublasLtMatrixLayout_t layout;
    const int32_t order = s->row ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL, batch = t->batch;
    OK(cublasLtMatrixLayoutCreate(&layout, s->type, (uint64_t)s->rows, (uint64_t)s->cols, s->ld));
    OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                        sizeof batch));
    OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                        &s->stride, sizeof s->stride));
    return layout;
}

/* Types and sizes are set: makes matrices and descriptors. */
static void make(struct matmul *t, cudaDataType ab, cudaDataType c, const bool row[4], int64_t pad)
{
    const bool ta = t->transa != CUBLAS_OP_N, tb = t->transb != CUBLAS_OP_N;
    side_make(t, &t->a, ab, ta ? t->k : t->m, ta ? t->m : t->k, row[0], pad, false);
    side_make(t, &t->b, ab, tb ? t->n : t->k, tb ? t->k : t->n, row[1], pad, false);
    side_make(t, &t->c, c, t->m, t->n, row[2], pad, t->beta == 0.0);
    if (t->in_place)
        t->d = t->c;
    else
        side_make(t, &t->d, c, t->m, t->n, row[3], pad, true);
    OK(cublasLtMatmulDescCreate(&t->desc, t->compute, t->scale));
    set_int(t, CUBLASLT_MATMUL_DESC_TRANSA, (int32_t)t->transa);
    set_int(t, CUBLASLT_MATMUL_DESC_TRANSB, (int32_t)t->transb);
    set_int(t, CUBLASLT_MATMUL_DESC_POINTER_MODE, t->pointer_mode);
    t->layout[0] = layout_of(t, &t->a);
    t->layout[1] = layout_of(t, &t->b);
    t->layout[2] = layout_of(t, &t->c);
    t->layout[3] = layout_of(t, &t->d);
    t->alphas = array_new(t->scale, t->m);
    t->betas = array_new(t->scale, t->m);
    if (t->beta == 0.0) {
        for (int64_t i = 0; i < t->m; i++)
            array_set(&t->betas, i, 0.0);
        array_put(&t->betas);
    }
}

static void drop(struct matmul *t)
{
    array_free(&t->a.data);
    array_free(&t->b.data);
    array_free(&t->c.data);
    if (!t->in_place)
        array_free(&t->d.data);
    array_free(&t->alphas);
    array_free(&t->betas);
    OK(cublasLtMatmulDescDestroy(t->desc));
    for (int i = 0; i < 4; i++)
        OK(cublasLtMatrixLayoutDestroy(t->layout[i]));
}

static cublasStatus_t run(struct matmul *t, const cublasLtMatmulAlgo_t *algo, void *workspace,
                          size_t bytes)
{
    char host_alpha[16], host_beta[16];
    encode(t->scale, t->alpha, host_alpha);
    encode(t->scale, t->beta, host_beta);
    struct array one = array_poison(t->scale, 2);
    array_set(&one, 0, t->alpha);
    array_set(&one, 1, t->beta);
    array_put(&one);
    const void *alpha = host_alpha, *beta = host_beta;
    switch (t->pointer_mode) {
    case CUBLASLT_POINTER_MODE_DEVICE:
        alpha = PTR(one);
        beta = (char *)PTR(one) + size_of(t->scale);
        break;
    case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
        alpha = PTR(t->alphas);
        beta = PTR(t->betas);
        break;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO:
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST:
        alpha = PTR(t->alphas);
        break;
    default:
        break;
    }
    const cublasStatus_t status =
        cublasLtMatmul(lt, t->desc, alpha, PTR(t->a.data), t->layout[0], PTR(t->b.data),
                       t->layout[1], beta, PTR(t->c.data), t->layout[2], PTR(t->d.data),
                       t->layout[3], algo, workspace, bytes, NULL);
    OK(cuCtxSynchronize());
    array_free(&one);
    return status;
}

static double alpha_at(const struct matmul *t, int64_t i)
{
    return t->pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? creal(array_at(&t->alphas, i))
                                                                   : t->alpha;
}

static double beta_at(const struct matmul *t, int64_t i)
{
    if (t->pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
        return 0.0;
    return t->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? creal(array_at(&t->betas, i))
                                                                   : t->beta;
}

/* alpha op(A) op(B) + beta C in float64; *size_p: the sum of magnitudes. */
static number plain(const struct matmul *t, const struct array *old, int64_t e, int64_t i, int64_t j,
                    double *size_p)
{
    number sum = 0.0;
    double size = 0.0;
    for (int64_t q = 0; q < t->k; q++) {
        const int64_t pa = t->transa == CUBLAS_OP_N ? place(&t->a, i, q) : place(&t->a, q, i);
        const int64_t pb = t->transb == CUBLAS_OP_N ? place(&t->b, q, j) : place(&t->b, j, q);
        number x = array_at(&t->a.data, e * t->a.stride + pa);
        number y = array_at(&t->b.data, e * t->b.stride + pb);
        if (t->compute == CUBLAS_COMPUTE_32F_FAST_TF32) {
            x = CMPLX(round_tf32(creal(x)), round_tf32(cimag(x)));
            y = CMPLX(round_tf32(creal(y)), round_tf32(cimag(y)));
        }
        x = conj_op(t->transa, x);
        y = conj_op(t->transb, y);
        sum += x * y;
        size += cabs(x) * cabs(y);
    }
    number value = alpha_at(t, i) * sum;
    *size_p = fabs(alpha_at(t, i)) * size;
    if (beta_at(t, i) != 0.0) {
        const number c = beta_at(t, i) * array_at(old, e * t->c.stride + place(&t->c, i, j));
        value += c;
        *size_p += cabs(c);
    }
    return value;
}

static double unit_of(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
        return 0x1p-11;
    case CUDA_R_16BF:
        return 0x1p-8;
    case CUDA_R_64F: case CUDA_C_64F:
        return 0x1p-53;
    case CUDA_R_8F_E4M3:
        return 0x1p-4;
    case CUDA_R_8F_E5M2:
        return 0x1p-3;
    default:
        return 0x1p-24;
    }
}

static double accumulation(const struct matmul *t)
{
    return t->scale == CUDA_R_64F || t->scale == CUDA_C_64F ? 0x1p-53 : 0x1p-24;
}

/* Runs and compares without an epilogue. */
static void run_and_compare(struct matmul *t, const cublasLtMatmulAlgo_t *algo, void *workspace,
                            size_t bytes, const char *what)
{
    struct array old = array_poison(t->c.type, t->c.data.n);
    memcpy(old.host, t->c.data.host, (size_t)old.n * size_of(t->c.type));
    OK(run(t, algo, workspace, bytes));
    array_get(&t->d.data);
    for (int64_t e = 0; e < t->batch; e++)
        for (int64_t j = 0; j < t->n; j++)
            for (int64_t i = 0; i < t->m; i++) {
                double size;
                const number want = plain(t, &old, e, i, j, &size);
                const double bound = 2.0 * ((double)t->k + 6.0) * accumulation(t) * size +
                                     1.01 * unit_of(t->d.type) * cabs(want) +
                                     (t->d.type == CUDA_R_16F ? 0x1p-25 : 0.0);
                close_to(array_at(&t->d.data, e * t->d.stride + place(&t->d, i, j)), want, bound,
                         what, i, j);
            }
    array_free(&old);
}

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
        struct matmul t = {.compute = kinds[_i].compute, .scale = kinds[_i].scale,
                           .transa = ops[pick(0, 2)], .transb = ops[pick(0, 2)],
                           .m = pick(1, 24), .n = pick(1, 24), .k = pick(1, 24),
                           .batch = (int)pick(1, 3), .alpha = scalars[pick(1, 3)],
                           .beta = scalars[pick(0, 3)], .in_place = pick(0, 1)};
        bool row[4] = {pick(0, 1), pick(0, 1), pick(0, 1), pick(0, 1)};
        const bool real = !complex_type(kinds[_i].ab);
        t.pointer_mode = (int)pick(0, real ? 4 : 1);
        if (t.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
            row[2] = row[3] = false;
        if (t.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
            t.beta = 0.0;
        make(&t, kinds[_i].ab, kinds[_i].c, row, pick(0, 2));
        char what[96];
        snprintf(what, sizeof what, "kind %d %lldx%lldx%lld ops %d %d rows %d%d%d%d mode %d", _i,
                 (long long)t.m, (long long)t.n, (long long)t.k, t.transa, t.transb, row[0], row[1],
                 row[2], row[3], t.pointer_mode);
        const uint64_t calls = counter(kinds[_i].count);
        run_and_compare(&t, NULL, NULL, 0, what);
        ck_assert_uint_eq(counter(kinds[_i].count), calls + 1);
        drop(&t);
    }
}
END_TEST

/* A batch stride may be 0 (broadcast) or negative, and ldc == 0 repeats one column. */
START_TEST(unusual_strides)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F, .m = 5, .n = 6, .k = 7,
                       .batch = 3, .alpha = 1, .beta = 1};
    make(&t, CUDA_R_32F, CUDA_R_32F, col, 0);
    const int64_t zero = 0;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[0], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                        &zero, sizeof zero));
    t.a.stride = 0;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[2], CUBLASLT_MATRIX_LAYOUT_LD, &zero, sizeof zero));
    t.c.ld = 0;
    run_and_compare(&t, NULL, NULL, 0, "broadcast A, one column of C");
    drop(&t);
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
    CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
    CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU,
    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS,
    CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU,
    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB,
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
        struct matmul t = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F,
                           .transa = CUBLAS_OP_T, .m = 21, .n = 11, .k = 13, .batch = 1,
                           .alpha = 0.5, .beta = 1.0};
        make(&t, ab, out, col, 1);
        t.aux_ld = mask ? 128 : 24;
        t.bias = has_bgrad ? array_poison(out, 21 + 11) : array_new(out, 21);
        t.aux = mask ? array_new(CUDA_R_8I, 16 * 11)
                     : backward ? array_new(out, 24 * 11) : array_poison(out, 24 * 11);
        set_int(&t, CUBLASLT_MATMUL_DESC_EPILOGUE, kind);
        if (has_bias || has_bgrad)
            set_desc(&t, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &t.bias.device, 8);
        if (has_aux) {
            set_desc(&t, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &t.aux.device, 8);
            set_desc(&t, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &t.aux_ld, 8);
        }
        OK(run(&t, NULL, NULL, 0));
        array_get(&t.d.data);
        array_get(&t.bias);
        array_get(&t.aux);
        const double unit = unit_of(out), tolerance = 2e-6 + 2.0 * unit;
        double row_sums[21] = {0};
        for (int64_t j = 0; j < t.n; j++)
            for (int64_t i = 0; i < t.m; i++) {
                double size, x = creal(plain(&t, &t.c.data, 0, i, j, &size));
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
                close_to(array_at(&t.d.data, place(&t.d, i, j)), want, tolerance * (1.0 + fabs(want)),
                         "epilogue", i, j);
            }
        if (kind & 16)
            for (int64_t i = 0; i < t.m; i++)
                close_to(array_at(&t.bias, i), row_sums[i], tolerance * (1.0 + fabs(row_sums[i])) +
                         1e-5, "bias gradient", i, 0);
        if (kind == CUBLASLT_EPILOGUE_BGRADA || kind == CUBLASLT_EPILOGUE_BGRADB) {
            const bool of_a = kind == CUBLASLT_EPILOGUE_BGRADA;
            for (int64_t i = 0; i < (of_a ? t.m : t.n); i++) {
                double sum = 0.0;
                for (int64_t q = 0; q < t.k; q++)
                    sum += creal(of_a ? array_at(&t.a.data, place(&t.a, q, i))
                                      : array_at(&t.b.data, place(&t.b, q, i)));
                close_to(array_at(&t.bias, i), sum, tolerance * (1.0 + fabs(sum)), "sum over k", i, 0);
            }
        }
        array_free(&t.bias);
        array_free(&t.aux);
        drop(&t);
    }
}
END_TEST

/* FP8: scales of A, B and D, the maximum of D, saturation; TN and multiples of 16 alone. */
START_TEST(fp8)
{
    const bool col[4] = {0};
    static const cudaDataType outs[] = {CUDA_R_32F, CUDA_R_16BF, CUDA_R_8F_E4M3};
    for (int o = 0; o < 3; o++) {
        struct matmul t = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F,
                           .transa = CUBLAS_OP_T, .m = 32, .n = 16, .k = 48, .batch = 1,
                           .alpha = 1, .beta = 0};
        make(&t, CUDA_R_8F_E4M3, o == 2 ? CUDA_R_16BF : outs[o], col, 0);
        if (o == 2) {
            array_free(&t.d.data);
            t.d.type = outs[o];
            t.d.data = array_poison(outs[o], 32 * 16);
            const int32_t type = outs[o];
            OK(cublasLtMatrixLayoutSetAttribute(t.layout[3], CUBLASLT_MATRIX_LAYOUT_TYPE, &type, 4));
        }
        struct array scales = array_poison(CUDA_R_32F, 4);
        const double sa = 0.5, sb = 4.0, sd = 16.0;
        array_set(&scales, 0, sa);
        array_set(&scales, 1, sb);
        array_set(&scales, 2, sd);
        array_put(&scales);
        const CUdeviceptr p[4] = {scales.device, scales.device + 4, scales.device + 8,
                                  scales.device + 12};
        set_desc(&t, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &p[0], 8);
        set_desc(&t, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &p[1], 8);
        if (o == 2) {
            set_desc(&t, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &p[2], 8);
            set_desc(&t, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, &p[3], 8);
        }
        const uint64_t calls = counter("gemm.fp8");
        OK(run(&t, NULL, NULL, 0));
        ck_assert_uint_eq(counter("gemm.fp8"), calls + 1);
        array_get(&t.d.data);
        array_get(&scales);
        double largest = 0.0;
        for (int64_t j = 0; j < t.n; j++)
            for (int64_t i = 0; i < t.m; i++) {
                double size, want = sa * sb * creal(plain(&t, &t.c.data, 0, i, j, &size));
                largest = fmax(largest, fabs(want));
                if (o == 2)
                    want = fmin(fmax(want * sd, -448.0), 448.0);
                close_to(array_at(&t.d.data, place(&t.d, i, j)), want,
                         1.01 * unit_of(outs[o]) * fabs(want) + 1e-4 * size +
                             (o == 2 ? 0x1p-10 : 0.0), "fp8", i, j);
            }
        if (o == 2)
            close_to(array_at(&scales, 3), largest, 1e-5 * largest, "amax", 0, 0);
        set_int(&t, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N);
        ck_assert_int_ne(run(&t, NULL, NULL, 0), 0);
        set_int(&t, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
        array_free(&scales);
        drop(&t);
    }
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F, .transa = CUBLAS_OP_T,
                       .m = 32, .n = 16, .k = 40, .batch = 1, .alpha = 1, .beta = 0};
    make(&t, CUDA_R_8F_E4M3, CUDA_R_32F, col, 0);
    STATUS(run(&t, NULL, NULL, 0), NOT_SUPPORTED); /* k is no multiple of 16 */
    drop(&t);
    t.k = 48;
    make(&t, CUDA_R_8F_E5M2, CUDA_R_32F, col, 0);
    STATUS(run(&t, NULL, NULL, 0), NOT_SUPPORTED); /* both E5M2 */
    drop(&t);
}
END_TEST

static void preference_set(cublasLtMatmulPreference_t p, int attr, uint64_t value, size_t bytes)
{
    OK(cublasLtMatmulPreferenceSetAttribute(p, (cublasLtMatmulPreferenceAttributes_t)attr, &value,
                                            bytes));
}

START_TEST(heuristics_and_algorithms)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F, .transa = CUBLAS_OP_T,
                       .m = 64, .n = 64, .k = 2048, .batch = 1, .alpha = 1, .beta = 0};
    make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t results[8], checked;
    int n = 0;
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2], t.layout[3],
                                      preference, 8, results, &n));
    ck_assert_int_gt(n, 0);
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(results[i].workspaceSize, 0); /* none is allowed by default */
    preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1 << 20, 8);
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2], t.layout[3],
                                      preference, 8, results, &n));
    ck_assert_uint_gt(results[0].workspaceSize, 0);
    struct array w = array_poison(CUDA_R_8I, 1 << 20);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(results[i].state, 0);
        OK(cublasLtMatmulAlgoCheck(lt, t.desc, t.layout[0], t.layout[1], t.layout[2], t.layout[3],
                                   &results[i].algo, &checked));
        ck_assert_uint_eq(checked.workspaceSize, results[i].workspaceSize);
        run_and_compare(&t, &results[i].algo, PTR(w), results[i].workspaceSize, "algorithm");
    }
    STATUS(run(&t, &results[0].algo, PTR(w), results[0].workspaceSize - 1), INVALID_VALUE);
    STATUS(run(&t, &results[0].algo, (char *)PTR(w) + 16, results[0].workspaceSize), INVALID_VALUE);
    STATUS(run(&t, &results[0].algo, NULL, results[0].workspaceSize), INVALID_VALUE);

    /* one result is asked for: one comes, the best */
    cublasLtMatmulHeuristicResult_t first;
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2], t.layout[3],
                                      preference, 1, &first, &n));
    ck_assert_int_eq(n, 1);
    ck_assert_mem_eq(&first.algo, &results[0].algo, sizeof first.algo);
    STATUS(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2],
                                          t.layout[3], preference, 0, &first, &n), INVALID_VALUE);

    /* made for other types */
    struct matmul u = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F, .transa = CUBLAS_OP_T,
                       .m = 64, .n = 64, .k = 64, .batch = 1, .alpha = 1, .beta = 0};
    make(&u, CUDA_R_32F, CUDA_R_32F, col, 0);
    STATUS(run(&u, &first.algo, PTR(w), 1 << 20), INVALID_VALUE);
    drop(&u);
    make(&u, CUDA_R_16BF, CUDA_R_32F, col, 0);
    STATUS(run(&u, &first.algo, PTR(w), 1 << 20), INVALID_VALUE);
    drop(&u);
    make(&u, CUDA_R_32F, CUDA_R_32F, col, 0);

    /* made by hand */
    int ids[16];
    OK(cublasLtMatmulAlgoGetIds(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                CUDA_R_32F, CUDA_R_32F, 16, ids, &n));
    for (int i = 0; i < n; i++) {
        cublasLtMatmulAlgo_t algo;
        uint32_t tiles[8];
        size_t written;
        OK(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                  CUDA_R_32F, CUDA_R_32F, ids[i], &algo));
        OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, NULL, 0, &written));
        OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, written,
                                             &written));
        OK(cublasLtMatmulAlgoConfigSetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tiles[0], 4));
        OK(cublasLtMatmulAlgoConfigGetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tiles[1], 4,
                                                &written));
        ck_assert_uint_eq(tiles[0], tiles[1]);
        run_and_compare(&u, &algo, NULL, 0, "algorithm made by hand");
    }
    STATUS(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                  CUDA_R_32F, CUDA_R_32F, 12345, &first.algo), INVALID_VALUE);
    OK(cublasLtMatmulPreferenceDestroy(preference));
    array_free(&w);
    drop(&u);
    drop(&t);
}
END_TEST

/* An algorithm for aligned operands is refused for others; the preferences steer the choice. */
START_TEST(alignment)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F, .m = 64, .n = 64, .k = 64,
                       .batch = 1, .alpha = 1, .beta = 0};
    make(&t, CUDA_R_16F, CUDA_R_32F, col, 8);
    const int64_t n_a = t.a.data.n;
    array_free(&t.a.data);
    t.a.data = array_new(CUDA_R_16F, n_a + 1); /* room for the shift below */
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t aligned, any;
    int n;
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2], t.layout[3],
                                      preference, 1, &aligned, &n));
    preference_set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 2, 4);
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2], t.layout[3],
                                      preference, 1, &any, &n));
    run_and_compare(&t, &aligned.algo, NULL, 0, "aligned");
    run_and_compare(&t, &any.algo, NULL, 0, "any");
    t.a.data.device += 2;
    STATUS(run(&t, &aligned.algo, NULL, 0), NOT_SUPPORTED);
    OK(run(&t, &any.algo, NULL, 0));
    OK(run(&t, NULL, NULL, 0));
    t.a.data.device -= 2;
    OK(cublasLtMatmulPreferenceDestroy(preference));
    drop(&t);
}
END_TEST

START_TEST(attributes)
{
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout;
    cublasLtMatmulDescOpaque_t on_stack;
    size_t written = 0;
    int32_t value = 0;
    int64_t wide = 0;
    OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, NULL, 0, &written));
    ck_assert_uint_eq(written, 4);
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4, &written));
    ck_assert_int_eq(value, CUBLASLT_EPILOGUE_DEFAULT);
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &value, 4, NULL));
    ck_assert_int_eq(value, CUBLAS_COMPUTE_32F);
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &value, 4, NULL));
    ck_assert_int_eq(value, -1);
    value = CUBLASLT_EPILOGUE_DGELU_BGRAD;
    OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4));
    value = 0;
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4, NULL));
    ck_assert_int_eq(value, CUBLASLT_EPILOGUE_DGELU_BGRAD);
    STATUS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 8),
           INVALID_VALUE);
    STATUS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, NULL, 4),
           INVALID_VALUE);
    STATUS(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, NULL, 0, NULL),
           INVALID_VALUE);
    STATUS(cublasLtMatmulDescGetAttribute(desc, (cublasLtMatmulDescAttributes_t)99, &value, 4, NULL),
           INVALID_VALUE);
    OK(cublasLtMatmulDescInit(&on_stack, CUBLAS_COMPUTE_64F, CUDA_R_64F));
    OK(cublasLtMatmulDescGetAttribute(&on_stack, CUBLASLT_MATMUL_DESC_SCALE_TYPE, &value, 4, NULL));
    ck_assert_int_eq(value, CUDA_R_64F);
    STATUS(cublasLtMatmulDescInit_internal(&on_stack, 8, CUBLAS_COMPUTE_64F, CUDA_R_64F),
           ALLOC_FAILED);
    OK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16F, UINT64_C(5000000000), 3, INT64_C(6000000000)));
    OK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &wide, 8, &written));
    ck_assert_int_eq(wide, INT64_C(6000000000));
    OK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &value, 4, NULL));
    ck_assert_int_eq(value, 1);
    OK(cublasLtMatrixLayoutDestroy(layout));
    OK(cublasLtMatmulDescDestroy(desc));
}
END_TEST

START_TEST(refusals)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F, .m = 16, .n = 16, .k = 16,
                       .batch = 1, .alpha = 1, .beta = 1};
    make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    const float one = 1;
    void *a = PTR(t.a.data), *d = PTR(t.d.data), *c = PTR(t.c.data);
    STATUS(cublasLtMatmul(NULL, t.desc, &one, a, t.layout[0], a, t.layout[1], &one, c, t.layout[2], d,
                          t.layout[3], NULL, NULL, 0, NULL), NOT_INITIALIZED);
    STATUS(cublasLtMatmul(lt, NULL, &one, a, t.layout[0], a, t.layout[1], &one, c, t.layout[2], d,
                          t.layout[3], NULL, NULL, 0, NULL), INVALID_VALUE);
    STATUS(cublasLtMatmul(lt, t.desc, NULL, a, t.layout[0], a, t.layout[1], &one, c, t.layout[2], d,
                          t.layout[3], NULL, NULL, 0, NULL), INVALID_VALUE);
    STATUS(cublasLtMatmul(lt, t.desc, &one, a, t.layout[0], a, t.layout[1], &one, NULL, t.layout[2],
                          d, t.layout[3], NULL, NULL, 0, NULL), INVALID_VALUE);
    /* a cublasHandle_t serves as a cublasLtHandle_t */
    OK(cublasLtMatmul((cublasLtHandle_t)handle, t.desc, &one, a, t.layout[0], a, t.layout[1], &one, c,
                      t.layout[2], d, t.layout[3], NULL, NULL, 0, NULL));
    const uint64_t rows = 17;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[1], CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, 8));
    STATUS(run(&t, NULL, NULL, 0), INVALID_VALUE);
    drop(&t);
    make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    const int32_t order = CUBLASLT_ORDER_COL32;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[0], CUBLASLT_MATRIX_LAYOUT_ORDER, &order, 4));
    STATUS(run(&t, NULL, NULL, 0), NOT_SUPPORTED);
    drop(&t);
    make(&t, CUDA_R_16F, CUDA_R_16BF, col, 0); /* no such combination */
    STATUS(run(&t, NULL, NULL, 0), NOT_SUPPORTED);
    drop(&t);
    /* scale pointers belong to FP8 */
    make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    set_desc(&t, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &t.a.data.device, 8);
    STATUS(run(&t, NULL, NULL, 0), NOT_SUPPORTED);
    drop(&t);
    /* in place with another layout */
    t.in_place = true;
    make(&t, CUDA_R_16F, CUDA_R_32F, col, 2);
    const int64_t ld = 17;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[2], CUBLASLT_MATRIX_LAYOUT_LD, &ld, 8));
    STATUS(run(&t, NULL, NULL, 0), INVALID_VALUE);
    drop(&t);
}
END_TEST

Suite *suite_lt(void)
{
    Suite *suite = suite_create("cublasLt");
    TCase *tests = tcase_create("lt");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, random_problems, 0, KINDS);
    tcase_add_test(tests, unusual_strides);
    tcase_add_loop_test(tests, epilogue, 0, EPILOGUES);
    tcase_add_test(tests, fp8);
    tcase_add_test(tests, heuristics_and_algorithms);
    tcase_add_test(tests, alignment);
    tcase_add_test(tests, attributes);
    tcase_add_test(tests, refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
