/* SPDX-License-Identifier: BSD-3-Clause
 * Address arithmetic beyond 2^31 elements and 2^32 bytes: every entry point with one operand whose
 * columns or batch entries lie that far apart, most of the memory between them never touched. The
 * numbers are small integers, so that every arithmetic gives the exact result. Owns one large piece
 * of device memory. Usage: large --path PATH [--seed S]. */
#include "conformance/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 3, SMALL_BYTES = 4096, MOST_ENTRIES = 2 };
static const int64_t far_ld = INT64_C(0x7fffffff), far_ld_64 = INT64_C(0x80000005),
                     far_stride = INT64_C(0x100000001);

static struct {
    struct judge judge;
    uint64_t random;
    char *far, *near[3], *scalars, *arrays;
    long cases, failed, converted;
} test;

static const char operand_names[] = "ABC";

/* --- numbers on the device --- */

static char *address(const struct matrix *x, char *base, int64_t entry, int64_t row, int64_t col)
{
    return base + matrix_at(x, entry, row, col) * (int64_t)number_bytes(x->number);
}

static struct value draw_number(enum number number)
{
    struct value v = {(double)random_below(&test.random, 9) - 4, 0};
    if (number_complex(number))
        v.im = (double)random_below(&test.random, 9) - 4;
    return v;
}

static void put(const struct matrix *x, char *base, struct value v[MOST_ENTRIES][SIDE][SIDE])
{
    unsigned char bytes[16];
    for (int64_t i = 0; i < x->batch; i++)
        for (int64_t row = 0; row < SIDE; row++)
            for (int64_t col = 0; col < SIDE; col++) {
                v[i][row][col] = draw_number(x->number);
                number_store(x->number, bytes, v[i][row][col]);
                CUDA_OK(cudaMemcpy(address(x, base, i, row, col), bytes, number_bytes(x->number),
                                   cudaMemcpyHostToDevice));
            }
}

static struct value get(const struct matrix *x, const char *at)
{
    unsigned char bytes[16];
    CUDA_OK(cudaMemcpy(bytes, at, number_bytes(x->number), cudaMemcpyDeviceToHost));
    return number_load(x->number, bytes);
}

static struct value times(struct value x, struct value y)
{
    return (struct value){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static struct value element(struct value v[SIDE][SIDE], cublasOperation_t op, int row, int col)
{
    struct value x = op == CUBLAS_OP_N ? v[row][col] : v[col][row];
    if (op == CUBLAS_OP_C)
        x.im = -x.im;
    return x;
}

/* --- one case --- */

static struct matrix shape(enum number number, int64_t batch, bool row_order)
{
    return (struct matrix){.number = number,
                           .rows = SIDE,
                           .cols = SIDE,
                           .ld = SIDE + 1,
                           .stride = batch > 1 ? (SIDE + 1) * SIDE + 1 : 0,
                           .batch = batch,
                           .row_order = row_order};
}

static void make_problem(struct problem *p, const struct routine *routine, int which, bool strides)
{
    static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    struct part *part = &p->part[0];
    const bool wide = strstr(routine->name, "_64") != NULL || routine->family == LT;
    memset(p, 0, sizeof *p);
    p->routine = routine;
    p->parts = 1;
    p->ab = p->cd = p->scale = routine->number == ANY ? F32 : (enum number)routine->number;
    p->compute = CUBLAS_COMPUTE_32F;
    p->algo = CUBLAS_GEMM_DEFAULT;
    p->lt.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p->device_scalars = routine->family != LEGACY && routine->family != GROUPED &&
                        routine->family != GROUPED_EX && random_once_in(&test.random, 2);
    p->lt.pointers = p->device_scalars ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
    part->transa = PICK(&test.random, ops);
    part->transb = PICK(&test.random, ops);
    part->m = part->n = part->k = SIDE;
    part->batch = strides ? MOST_ENTRIES : 1;
    part->alpha = (struct value){2, 0};
    part->beta = (struct value){-1, 0};
    part->a = part->b = part->c = shape(p->ab, part->batch, routine->lt == LT_ROW);
    struct matrix *const all[] = {&part->a, &part->b, &part->c};
    if (strides)
        all[which]->stride = far_stride;
    else
        all[which]->ld = wide ? far_ld_64 : far_ld;
    part->d = part->c;
}

static bool compare(const struct problem *p, char *c, struct value a[MOST_ENTRIES][SIDE][SIDE],
                    struct value b[MOST_ENTRIES][SIDE][SIDE],
                    struct value old[MOST_ENTRIES][SIDE][SIDE])
{
    const struct part *part = &p->part[0];
    for (int i = 0; i < part->batch; i++)
        for (int row = 0; row < SIDE; row++)
            for (int col = 0; col < SIDE; col++) {
                struct value want = {-old[i][row][col].re, -old[i][row][col].im};
                for (int l = 0; l < SIDE; l++) {
                    const struct value x = times(element(a[i], part->transa, row, l),
                                                 element(b[i], part->transb, l, col));
                    want.re += 2 * x.re;
                    want.im += 2 * x.im;
                }
                const struct value got = get(&part->c, address(&part->c, c, i, row, col));
                if (got.re == want.re && got.im == want.im)
                    continue;
                printf("C[%d](%d,%d) is %g %g, expected %g %g: ", i, row, col, got.re, got.im,
                       want.re, want.im);
                return false;
            }
    return true;
}

static void fill_arrays(const struct problem *p, char *const base[3])
{
    const struct matrix *const all[] = {&p->part[0].a, &p->part[0].b, &p->part[0].c};
    void *pointers[3 * MOST_ENTRIES];
    const int64_t batch = p->part[0].batch;
    for (int64_t i = 0; i < 3 * batch; i++)
        pointers[i] = address(all[i / batch], base[i / batch], i % batch, 0, 0);
    CUDA_OK(cudaMemcpy(test.arrays, pointers, sizeof(void *) * (size_t)(3 * batch),
                       cudaMemcpyHostToDevice));
}

static void run_case(const struct routine *routine, int which, bool strides)
{
    struct problem p;
    struct value a[MOST_ENTRIES][SIDE][SIDE], b[MOST_ENTRIES][SIDE][SIDE],
        c[MOST_ENTRIES][SIDE][SIDE];
    unsigned char scalars[32];
    make_problem(&p, routine, which, strides);
    const struct part *part = &p.part[0];
    char *base[3] = {test.near[0], test.near[1], test.near[2]};
    base[which] = test.far;
    put(&part->a, base[0], a);
    put(&part->b, base[1], b);
    put(&part->c, base[2], c);
    number_store(p.scale, scalars, part->alpha);
    number_store(p.scale, scalars + 16, part->beta);
    CUDA_OK(cudaMemcpy(test.scalars, scalars, sizeof scalars, cudaMemcpyHostToDevice));
    const void *alpha = p.device_scalars ? (void *)test.scalars : scalars;
    struct device_pointers at = {
        alpha, (const char *)alpha + 16, base[0], base[1], base[2], base[2], NULL, NULL};
    if (family_array(routine->family)) {
        fill_arrays(&p, base);
        at.a = test.arrays;
        at.b = test.arrays + sizeof(void *) * (size_t)part->batch;
        at.d = test.arrays + 2 * sizeof(void *) * (size_t)part->batch;
    }
    BLAS_OK(cublasSetPointerMode(test.judge.handle, p.device_scalars ? CUBLAS_POINTER_MODE_DEVICE
                                                                     : CUBLAS_POINTER_MODE_HOST));
    const cublasStatus_t status = judge_call(&test.judge, &p, &at);
    CUDA_OK(cudaStreamSynchronize(test.judge.stream));
    test.cases++;
    test.converted += expect_converted(&p, test.judge.path);
    if (status != CUBLAS_STATUS_SUCCESS)
        printf("status %d: ", (int)status);
    else if (compare(&p, base[2], a, b, c))
        return;
    test.failed++;
    printf("FAILED %s, %s of %c beyond 2^31\n", routine->name, strides ? "stride" : "ld",
           operand_names[which]);
}

/* --- products with more than 2^31 of something else --- */

/* A row of many elements, each in a column of its own, times a column. */
static void many_columns(void)
{
    enum { K = 40000, LD = 65536 };
    const float one = 1, zero = 0;
    float *x = malloc(sizeof(float) * K), got, want = 0;
    if (x == NULL)
        exit(1);
    for (int i = 0; i < K; i++) {
        x[i] = (float)(random_below(&test.random, 9) - 4);
        want += x[i];
    }
    float *ones = NULL, *c = (float *)(void *)test.near[2];
    CUDA_OK(cudaMalloc((void **)&ones, sizeof(float) * K));
    CUDA_OK(cudaMemcpy2D(test.far, sizeof(float) * LD, x, sizeof(float), sizeof(float), K,
                         cudaMemcpyHostToDevice));
    for (int i = 0; i < K; i++)
        x[i] = 1;
    CUDA_OK(cudaMemcpy(ones, x, sizeof(float) * K, cudaMemcpyHostToDevice));
    BLAS_OK(cublasSetPointerMode(test.judge.handle, CUBLAS_POINTER_MODE_HOST));
    BLAS_OK(cublasSgemm(test.judge.handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, K, &one,
                        (float *)(void *)test.far, LD, ones, K, &zero, c, 1));
    CUDA_OK(cudaStreamSynchronize(test.judge.stream));
    CUDA_OK(cudaMemcpy(&got, c, sizeof got, cudaMemcpyDeviceToHost));
    test.cases++;
    test.converted++;
    if (got != want) {
        test.failed++;
        printf("FAILED lda * k = 2.6e9: %g, expected %g\n", (double)got, (double)want);
    }
    CUDA_OK(cudaFree(ones));
    free(x);
}

/* m * n * k > 2^31: sums of k ones and minus ones, by a formula. */
static void many_products(void)
{
    enum { N = 1300 };
    const float one = 1, zero = 0;
    const size_t bytes = sizeof(float) * N * N;
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes), *da, *db, *dc;
    if (a == NULL || b == NULL || c == NULL)
        exit(1);
    for (int col = 0; col < N; col++)
        for (int row = 0; row < N; row++) {
            a[col * N + row] = (float)(row % 7 - 3); /* constant along k */
            b[col * N + row] = (float)(col % 5 - 2);
        }
    CUDA_OK(cudaMalloc((void **)&da, bytes));
    CUDA_OK(cudaMalloc((void **)&db, bytes));
    CUDA_OK(cudaMalloc((void **)&dc, bytes));
    CUDA_OK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
    BLAS_OK(cublasSgemm(test.judge.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, da, N, db, N,
                        &zero, dc, N));
    CUDA_OK(cudaStreamSynchronize(test.judge.stream));
    CUDA_OK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int col = 0; col < N; col++)
        for (int row = 0; row < N; row++)
            wrong += c[col * N + row] != (float)(N * (row % 7 - 3) * (col % 5 - 2));
    test.cases++;
    test.converted++;
    if (wrong != 0) {
        test.failed++;
        printf("FAILED m * n * k = 2.2e9: %ld elements are wrong\n", wrong);
    }
    CUDA_OK(cudaFree(da));
    CUDA_OK(cudaFree(db));
    CUDA_OK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
}

static void set_up(void)
{
    const size_t far_bytes = 16 * (size_t)(far_stride + 64);
    if (cudaMalloc((void **)&test.far, far_bytes) != cudaSuccess) {
        printf("skipped: no %zu bytes of device memory\n", far_bytes);
        exit(77);
    }
    for (int i = 0; i < 3; i++)
        CUDA_OK(cudaMalloc((void **)&test.near[i], SMALL_BYTES));
    CUDA_OK(cudaMalloc((void **)&test.scalars, 32));
    CUDA_OK(cudaMalloc((void **)&test.arrays, sizeof(void *) * 3 * MOST_ENTRIES));
    judge_open(&test.judge);
}

int main(int argc, char **argv)
{
    unsigned long seed = (unsigned long)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--path") == 0)
            test.judge.path = (enum path)path_named(argv[i + 1]);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoul(argv[i + 1], NULL, 10);
    }
    test.random = seed * 2 + 1;
    printf("seed %lu\n", seed);
    set_up();
    for (int i = 0; i < routine_count; i++) {
        const struct routine *r = &routines[i];
        if (r->family == LT && r->lt != LT_PLAIN && r->lt != LT_ROW)
            continue;
        for (int which = 0; which < 3; which++) {
            run_case(r, which, false);
            if (family_batched(r->family))
                run_case(r, which, true);
        }
    }
    many_columns();
    many_products();
    judge_close(&test.judge);
    printf("converted %ld of %ld calls expected\n", test.converted, test.cases);
    printf("%ld passed, %ld failed\n", test.cases - test.failed, test.failed);
    return test.failed != 0;
}
