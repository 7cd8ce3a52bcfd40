/* SPDX-License-Identifier: BSD-3-Clause
 * Sums of products of packed operands: OpenBLAS for floating point, plain loops for integers, and
 * (SOFTGPU_TENSORCORE=rz) the arithmetic of tensor cores: products exact, each group aligned to its
 * largest exponent and truncated, the FP32 result truncated. */
#include "gemm.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool truncating;

static void first_use(void)
{
    const char *mode = getenv("SOFTGPU_TENSORCORE");
    truncating = mode != NULL && strcmp(mode, "rz") == 0;
    openblas_set_num_threads(1);
}

void product_set_up(void)
{
    pthread_once(&once, first_use);
}

/* In what a tensor core keeps below the last place of the largest of the aligned addends, and how
 * many products one step adds (Hopper: 2 more bits and 16 FP16 products, 8 of TF32, 32 of FP8). */
enum { EXTRA_BITS = 2 };

static int group_of(enum unit unit)
{
    return unit == UNIT_TF32 ? 8 : unit == UNIT_FP8 ? 32 : 16;
}

static float truncated_step(float sum, const float *a, int64_t a_step, const float *b,
                            int64_t b_step, int n)
{
    double addend[33];
    int largest = INT32_MIN, exponent;
    addend[n] = (double)sum;
    for (int i = 0; i < n; i++)
        addend[i] = (double)a[i * a_step] * (double)b[i * b_step]; /* exact: at most 2 x 11 bits */
    for (int i = 0; i <= n; i++) {
        if (!isfinite(addend[i])) {
            float plain = sum;
            for (int j = 0; j < n; j++)
                plain += a[j * a_step] * b[j * b_step];
            return plain;
        }
        if (addend[i] != 0.0) {
            frexp(addend[i], &exponent);
            largest = exponent > largest ? exponent : largest;
        }
    }
    if (largest == INT32_MIN)
        return 0.0f;
    const int place = 24 + EXTRA_BITS - largest; /* 2^-place is the last bit kept */
    double total = 0.0;
    for (int i = 0; i <= n; i++)
        total += trunc(ldexp(addend[i], place)); /* integers below 2^32: exact */
    total = ldexp(total, -place);
    float rounded = (float)total;
    if (fabs((double)rounded) > fabs(total))
        rounded = nextafterf(rounded, 0.0f);
    return rounded;
}

static void product_truncating(const struct gemm_op *op, const float *a, bool ta, const float *b,
                               bool tb, int64_t rows, int64_t cols, int64_t k, float *sum,
                               bool first)
{
    const int64_t a_row = ta ? k : 1, a_k = ta ? 1 : rows, b_k = tb ? cols : 1, b_col = tb ? 1 : k;
    const int group = group_of(op->unit);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) {
            float s = first ? 0.0f : sum[i + j * rows];
            for (int64_t p = 0; p < k; p += group)
                s = truncated_step(s, a + i * a_row + p * a_k, a_k, b + j * b_col + p * b_k, b_k,
                                   (int)(k - p < group ? k - p : group));
            sum[i + j * rows] = s;
        }
}

static void product_int(const int32_t *a, bool ta, const int32_t *b, bool tb, int64_t rows,
                        int64_t cols, int64_t k, int32_t *sum, bool first)
{
    const int64_t a_row = ta ? k : 1, a_k = ta ? 1 : rows, b_k = tb ? cols : 1, b_col = tb ? 1 : k;
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) {
            uint32_t s = first ? 0 : (uint32_t)sum[i + j * rows]; /* wraps as the GPU does */
            for (int64_t p = 0; p < k; p++)
                s += (uint32_t)(a[i * a_row + p * a_k] * b[p * b_k + j * b_col]);
            sum[i + j * rows] = (int32_t)s;
        }
}

void product_add(const struct gemm_op *op, const void *a, bool a_transposed, const void *b,
                 bool b_transposed, int64_t rows, int64_t cols, int64_t k, void *sum, bool first)
{
    product_set_up();
    const CBLAS_TRANSPOSE ta = a_transposed ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE tb = b_transposed ? CblasTrans : CblasNoTrans;
    const blasint m = (blasint)rows, n = (blasint)cols, kk = (blasint)k;
    const blasint lda = a_transposed ? kk : m, ldb = b_transposed ? n : kk;
    const float one_c[2] = {1.0f, 0.0f}, beta_c[2] = {first ? 0.0f : 1.0f, 0.0f};
    const double one_z[2] = {1.0, 0.0}, beta_z[2] = {first ? 0.0 : 1.0, 0.0};
    switch (op->domain) {
    case DOMAIN_F32:
        if (truncating && op->unit != UNIT_F32 && op->unit != UNIT_I8)
            product_truncating(op, a, a_transposed, b, b_transposed, rows, cols, k, sum, first);
        else
            cblas_sgemm(CblasColMajor, ta, tb, m, n, kk, 1.0f, a, lda, b, ldb, beta_c[0], sum, m);
        break;
    case DOMAIN_F64:
        cblas_dgemm(CblasColMajor, ta, tb, m, n, kk, 1.0, a, lda, b, ldb, beta_z[0], sum, m);
        break;
    case DOMAIN_C32:
        cblas_cgemm(CblasColMajor, ta, tb, m, n, kk, one_c, a, lda, b, ldb, beta_c, sum, m);
        break;
    case DOMAIN_C64:
        cblas_zgemm(CblasColMajor, ta, tb, m, n, kk, one_z, a, lda, b, ldb, beta_z, sum, m);
        break;
    case DOMAIN_I32:
        product_int(a, a_transposed, b, b_transposed, rows, cols, k, sum, first);
        break;
    }
}
