/* SPDX-License-Identifier: BSD-3-Clause
 * The documented rules of cuBLAS that a random call does not meet: one function for each, named in
 * README.md beside the sentence that it stands for. The numbers are small integers, so that every
 * arithmetic gives the exact result and one program serves all paths. Owns its device memory.
 * Usage: rules [PATTERN]. */
#include "conformance/judge.h"
#include "conformance/legacy.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, ELEMENTS = N * N, BYTES = ELEMENTS * (int)sizeof(float) };

static struct {
    cublasHandle_t handle;
    cudaStream_t stream;
    uint64_t random;
    float *a, *b, *c, *scalars; /* of the device */
    float *pinned;              /* of the host, seen by the device too */
    float host_a[ELEMENTS], host_b[ELEMENTS], host_c[ELEMENTS], got[ELEMENTS];
} t = {.random = 1};

/* --- helpers --- */

static void draw(float *x)
{
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = (float)(random_below(&t.random, 9) - 4);
}

static void to_device(float *device, const float *host)
{
    CUDA_OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, t.stream));
}

static void fresh(void)
{
    draw(t.host_a);
    draw(t.host_b);
    draw(t.host_c);
    to_device(t.a, t.host_a);
    to_device(t.b, t.host_b);
    to_device(t.c, t.host_c);
    CUDA_OK(cudaStreamSynchronize(t.stream));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_HOST));
    BLAS_OK(cublasSetMathMode(t.handle, CUBLAS_DEFAULT_MATH));
    BLAS_OK(cublasSetStream(t.handle, t.stream));
}

static void fetch(void)
{
    CUDA_OK(cudaStreamSynchronize(t.stream));
    CUDA_OK(cudaMemcpy(t.got, t.c, BYTES, cudaMemcpyDeviceToHost));
}

/* C = alpha A B + beta C of the host's copies; 0 times anything is 0. */
static const char *judge_c(float alpha, float beta)
{
    static char why[128];
    fetch();
    for (int col = 0; col < N; col++)
        for (int row = 0; row < N; row++) {
            float sum = 0;
            for (int l = 0; l < N && alpha != 0; l++)
                sum += t.host_a[l * N + row] * t.host_b[col * N + l];
            const float old = beta != 0 ? beta * t.host_c[col * N + row] : 0;
            const float want = (alpha != 0 ? alpha * sum : 0) + old, got = t.got[col * N + row];
            if (got == want)
                continue;
            snprintf(why, sizeof why, "C(%d,%d) is %g, expected %g", row, col, (double)got,
                     (double)want);
            return why;
        }
    return NULL;
}

static cublasStatus_t sgemm(const float *alpha, const float *beta)
{
    return cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, alpha, t.a, N, t.b, N, beta,
                       t.c, N);
}

static const float zero = 0, one = 1, two = 2, minus_one = -1;

#define MUST(_condition)                                                                           \
    do {                                                                                           \
        if (!(_condition))                                                                         \
            return "not true: " #_condition;                                                       \
    } while (0)
#define WORKS(_call) MUST((_call) == CUBLAS_STATUS_SUCCESS)

/* --- arguments --- */

/* What every entry point must refuse. */
struct refusal {
    const char *what;
    cublasStatus_t status;
};
static const struct refusal refusals[] = {
    {"m < 0", CUBLAS_STATUS_INVALID_VALUE},     {"n < 0", CUBLAS_STATUS_INVALID_VALUE},
    {"k < 0", CUBLAS_STATUS_INVALID_VALUE},     {"lda", CUBLAS_STATUS_INVALID_VALUE},
    {"ldb", CUBLAS_STATUS_INVALID_VALUE},       {"ldc", CUBLAS_STATUS_INVALID_VALUE},
    {"transa", CUBLAS_STATUS_INVALID_VALUE},    {"transb", CUBLAS_STATUS_INVALID_VALUE},
    {"handle", CUBLAS_STATUS_NOT_INITIALIZED},  {"alpha NULL", CUBLAS_STATUS_INVALID_VALUE},
    {"beta NULL", CUBLAS_STATUS_INVALID_VALUE}, {"batch < 0", CUBLAS_STATUS_INVALID_VALUE},
};

static cublasStatus_t refused_call(const struct routine *r, size_t i)
{
    static const unsigned char scalar[32] = {0};
    struct call c = {.handle = t.handle,
                     .parts = 1,
                     .alpha = scalar,
                     .beta = scalar + 16,
                     .a = t.a,
                     .b = t.b,
                     .c = t.c,
                     .algo = CUBLAS_GEMM_DEFAULT};
    c.ab_type = c.c_type = r->number == ANY ? CUDA_R_32F : number_type((enum number)r->number);
    c.compute = CUBLAS_COMPUTE_32F;
    c.part[0].m = c.part[0].n = c.part[0].k = 4;
    c.part[0].lda = c.part[0].ldb = c.part[0].ldc = 4;
    c.part[0].batch = 1;
    int64_t *const negative[] = {&c.part[0].m, &c.part[0].n, &c.part[0].k};
    int64_t *const lds[] = {&c.part[0].lda, &c.part[0].ldb, &c.part[0].ldc};
    if (i < 3)
        *negative[i] = -1;
    else if (i < 6)
        *lds[i - 3] = 3;
    else if (i < 8)
        *(i == 6 ? &c.part[0].transa : &c.part[0].transb) = (cublasOperation_t)7;
    else if (i == 8)
        c.handle = NULL;
    else if (i < 11)
        *(i == 9 ? &c.alpha : &c.beta) = NULL;
    else
        c.part[0].batch = -1;
    return r->make(&c);
}

static const char *invalid_arguments(void)
{
    static char why[128];
    fresh();
    for (int i = 0; i < routine_count; i++)
        for (size_t j = 0; j < sizeof refusals / sizeof refusals[0]; j++) {
            const struct routine *r = &routines[i];
            const bool groups = r->family == GROUPED || r->family == GROUPED_EX;
            if (r->make == NULL || (j == 11 && !family_batched(r->family)) || (groups && j >= 9))
                continue;
            const cublasStatus_t status = refused_call(r, j);
            if (status == refusals[j].status)
                continue;
            snprintf(why, sizeof why, "%s, %s: status %d", r->name, refusals[j].what, (int)status);
            return why;
        }
    fetch();
    MUST(memcmp(t.got, t.host_c, BYTES) == 0); /* nothing was computed */
    MUST(cudaPeekAtLastError() == cudaSuccess);
    return NULL;
}

static const char *legacy_refuses(void)
{
    const int size[] = {4, 4, 4, 3, 4, 4};
    fresh();
    MUST(legacy_call(F32, 'N', 'N', size, (struct value){1, 0}, t.a, t.b, (struct value){0, 0},
                     t.c) == CUBLAS_STATUS_INVALID_VALUE);
    return NULL;
}

static const char *no_c(void)
{
    MUST(cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, t.a, N, t.b, N, &zero, NULL,
                     N) == CUBLAS_STATUS_INVALID_VALUE);
    return NULL;
}

static const char *nothing_to_do(void)
{
    fresh();
    WORKS(cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, N, N, &one, NULL, 1, NULL, N, &two,
                      NULL, 1));
    WORKS(cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, 0, N, &one, NULL, N, NULL, N, &two,
                      NULL, N));
    WORKS(cublasSgemmStridedBatched(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, t.a, N, 0,
                                    t.b, N, 0, &two, t.c, N, ELEMENTS, 0));
    return judge_c(0, 1);
}

static const char *no_inner_size(void)
{
    fresh();
    WORKS(cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, 0, &one, NULL, N, NULL, 1, &two,
                      t.c, N));
    return judge_c(0, 2);
}

static const char *alpha_zero(void)
{
    fresh();
    for (int i = 0; i < ELEMENTS; i++)
        t.got[i] = NAN;
    to_device(t.a, t.got);
    to_device(t.b, t.got);
    WORKS(sgemm(&zero, &minus_one));
    return judge_c(0, -1);
}

static const char *beta_zero_on_device(void)
{
    const float both[] = {2, 0};
    fresh();
    for (int i = 0; i < ELEMENTS; i++)
        t.got[i] = i % 2 ? NAN : INFINITY;
    to_device(t.c, t.got);
    CUDA_OK(cudaMemcpy(t.scalars, both, sizeof both, cudaMemcpyHostToDevice));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_DEVICE));
    WORKS(sgemm(t.scalars, t.scalars + 1));
    return judge_c(2, 0);
}

static const char *groups_want_host_scalars(void)
{
    const cublasOperation_t op = CUBLAS_OP_N;
    const int n = 4, size = 1;
    float **arrays = NULL;
    CUDA_OK(cudaMalloc((void **)&arrays, 64));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_DEVICE));
    const cublasStatus_t status = cublasSgemmGroupedBatched(
        t.handle, &op, &op, &n, &n, &n, t.scalars, (const float *const *)arrays, &n,
        (const float *const *)arrays, &n, t.scalars, arrays, &n, 1, &size);
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_HOST));
    CUDA_OK(cudaFree(arrays));
    MUST(status == CUBLAS_STATUS_NOT_SUPPORTED);
    return NULL;
}

/* --- pointer modes --- */

static const char *host_scalars_at_once(void)
{
    fresh();
    float alpha = 2, beta = -1;
    WORKS(sgemm(&alpha, &beta));
    alpha = beta = NAN;
    return judge_c(2, -1);
}

static const char *device_scalars_in_stream_order(void)
{
    const float garbage[] = {NAN, NAN};
    fresh();
    CUDA_OK(cudaMemcpy(t.scalars, garbage, sizeof garbage, cudaMemcpyHostToDevice));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_DEVICE));
    t.pinned[0] = 2;
    t.pinned[1] = -1;
    t.pinned[2] = t.pinned[3] = NAN;
    CUDA_OK(cudaMemcpyAsync(t.scalars, t.pinned, 8, cudaMemcpyHostToDevice, t.stream));
    WORKS(sgemm(t.scalars, t.scalars + 1));
    CUDA_OK(cudaMemcpyAsync(t.scalars, t.pinned + 2, 8, cudaMemcpyHostToDevice, t.stream));
    return judge_c(2, -1);
}

/* The mode decides, not what kind of memory it is. */
static const char *host_scalars_in_pinned_memory(void)
{
    fresh();
    t.pinned[0] = 2;
    t.pinned[1] = -1;
    WORKS(sgemm(t.pinned, t.pinned + 1));
    t.pinned[0] = t.pinned[1] = NAN;
    return judge_c(2, -1);
}

static const char *device_scalars_in_pinned_memory(void)
{
    float *device = NULL;
    fresh();
    t.pinned[0] = 2;
    t.pinned[1] = -1;
    CUDA_OK(cudaHostGetDevicePointer((void **)&device, t.pinned, 0));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_DEVICE));
    WORKS(sgemm(device, device + 1));
    return judge_c(2, -1);
}

/* --- workspace, streams --- */

static const char *no_workspace(void)
{
    fresh();
    BLAS_OK(cublasSetWorkspace(t.handle, NULL, 0));
    WORKS(sgemm(&two, &minus_one));
    return judge_c(2, -1);
}

static const char *on_stream(cudaStream_t stream)
{
    fresh();
    BLAS_OK(cublasSetStream(t.handle, stream));
    WORKS(sgemm(&two, &minus_one));
    cudaStream_t after = NULL;
    BLAS_OK(cublasGetStream(t.handle, &after));
    MUST(after == stream);
    CUDA_OK(cudaStreamSynchronize(stream));
    return judge_c(2, -1);
}

static const char *default_stream(void)
{
    return on_stream(NULL);
}

static const char *legacy_stream(void)
{
    return on_stream(cudaStreamLegacy);
}

static const char *per_thread_stream(void)
{
    return on_stream(cudaStreamPerThread);
}

/* What the stream does next comes after the product, what it did before comes first. */
static const char *in_stream_order(void)
{
    fresh();
    memcpy(t.pinned, t.host_b, BYTES);
    CUDA_OK(cudaMemsetAsync(t.b, 0xff, BYTES, t.stream));
    CUDA_OK(cudaMemcpyAsync(t.b, t.pinned, BYTES, cudaMemcpyHostToDevice, t.stream));
    WORKS(sgemm(&two, &minus_one));
    CUDA_OK(cudaMemsetAsync(t.a, 0xff, BYTES, t.stream));
    CUDA_OK(cudaMemsetAsync(t.b, 0xff, BYTES, t.stream));
    return judge_c(2, -1);
}

static const char *same_bits(void)
{
    static float first[ELEMENTS];
    static const float other[] = {0x1p-60f, 0x1p60f, 1};
    fresh();
    for (int i = 0; i < ELEMENTS; i++) { /* rounding matters */
        t.host_a[i] = (float)random_normal(&t.random);
        t.host_b[i] = (float)random_normal(&t.random);
    }
    for (size_t i = 0; i < 1 + sizeof other / sizeof other[0]; i++) {
        if (i > 0) { /* something of another size in between */
            for (int j = 0; j < ELEMENTS; j++)
                t.got[j] = other[i - 1] * t.host_a[j];
            to_device(t.a, t.got);
            WORKS(sgemm(&one, &zero));
            CUDA_OK(cudaStreamSynchronize(t.stream));
        }
        to_device(t.a, t.host_a);
        to_device(t.b, t.host_b);
        WORKS(sgemm(&one, &zero));
        fetch();
        if (i == 0)
            memcpy(first, t.got, BYTES);
        MUST(memcmp(first, t.got, BYTES) == 0);
    }
    return NULL;
}

/* --- capture --- */

static const char *captured(bool warm, bool device_scalars)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    const float both[] = {2, -1};
    const float *alpha = device_scalars ? t.scalars : both;
    fresh();
    CUDA_OK(cudaMemcpy(t.scalars, both, sizeof both, cudaMemcpyHostToDevice));
    BLAS_OK(cublasSetPointerMode(t.handle, device_scalars ? CUBLAS_POINTER_MODE_DEVICE
                                                          : CUBLAS_POINTER_MODE_HOST));
    if (warm)
        WORKS(sgemm(alpha, alpha + 1));
    CUDA_OK(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeGlobal));
    WORKS(sgemm(alpha, alpha + 1));
    CUDA_OK(cudaStreamEndCapture(t.stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    const char *why = NULL;
    for (int i = 0; i < 3 && why == NULL; i++) {
        const float beta = device_scalars && i == 2 ? 2 : -1;
        draw(t.host_a); /* of another magnitude each time */
        for (int j = 0; j < ELEMENTS; j++)
            t.host_a[j] = ldexpf(t.host_a[j], 4 * i);
        draw(t.host_c);
        to_device(t.a, t.host_a);
        to_device(t.c, t.host_c);
        CUDA_OK(
            cudaMemcpyAsync(t.scalars + 1, &beta, sizeof beta, cudaMemcpyHostToDevice, t.stream));
        CUDA_OK(cudaGraphLaunch(exec, t.stream));
        why = judge_c(2, beta);
    }
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
    return why;
}

static const char *captured_cold(void)
{
    return captured(false, false);
}

static const char *captured_warm(void)
{
    return captured(true, false);
}

static const char *captured_device_scalars(void)
{
    return captured(true, true);
}

/* --- cublasLt --- */

static cublasLtMatrixLayout_t lt_layout(cudaDataType type, int rows, int cols)
{
    cublasLtMatrixLayout_t l;
    BLAS_OK(cublasLtMatrixLayoutCreate(&l, type, (uint64_t)rows, (uint64_t)cols, rows));
    return l;
}

static cublasLtMatmulDesc_t lt_descriptor(cublasOperation_t transa)
{
    cublasLtMatmulDesc_t desc;
    const int32_t op = transa;
    BLAS_OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op));
    return desc;
}

static const char *lt_shapes_differ(void)
{
    fresh();
    const cublasLtMatmulDesc_t desc = lt_descriptor(CUBLAS_OP_N);
    const cublasLtMatrixLayout_t l = lt_layout(CUDA_R_32F, N, N),
                                 bad = lt_layout(CUDA_R_32F, N, N - 1);
    const cublasStatus_t status =
        cublasLtMatmul((cublasLtHandle_t)t.handle, desc, &one, t.a, l, t.b, l, &zero, t.c, bad, t.c,
                       bad, NULL, NULL, 0, t.stream);
    BLAS_OK(cublasLtMatrixLayoutDestroy(l));
    BLAS_OK(cublasLtMatrixLayoutDestroy(bad));
    BLAS_OK(cublasLtMatmulDescDestroy(desc));
    MUST(status == CUBLAS_STATUS_INVALID_VALUE);
    return judge_c(0, 1);
}

/* What cublasLtMatmul says of a square product with this transposition and this beta. */
static cublasStatus_t lt_square(int32_t transa, const float *beta)
{
    const cublasLtMatmulDesc_t desc = lt_descriptor(CUBLAS_OP_N);
    const cublasLtMatrixLayout_t l = lt_layout(CUDA_R_32F, N, N);
    cublasStatus_t status =
        cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transa, sizeof transa);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmul((cublasLtHandle_t)t.handle, desc, &two, t.a, l, t.b, l, beta, t.c,
                                l, t.c, l, NULL, NULL, 0, t.stream);
    BLAS_OK(cublasLtMatrixLayoutDestroy(l));
    BLAS_OK(cublasLtMatmulDescDestroy(desc));
    return status;
}

static const char *lt_no_such_operation(void)
{
    fresh();
    MUST(lt_square(7, &zero) == CUBLAS_STATUS_INVALID_VALUE);
    return judge_c(0, 1);
}

static const char *lt_no_beta(void)
{
    fresh();
    MUST(lt_square(CUBLAS_OP_N, NULL) == CUBLAS_STATUS_INVALID_VALUE);
    return judge_c(0, 1);
}

static const char *lt_in_place(void)
{
    fresh();
    MUST(lt_square(CUBLAS_OP_N, &minus_one) == CUBLAS_STATUS_SUCCESS);
    return judge_c(2, -1);
}

/* Narrow operands are the program's own choice: they stay. */
static const char *lt_fp8(void)
{
    enum { M = 16, K = 32 };
    unsigned char ones[M * K];
    fresh();
    memset(ones, 0x38, sizeof ones); /* 1 as E4M3 */
    CUDA_OK(cudaMemcpy(t.a, ones, sizeof ones, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(t.b, ones, sizeof ones, cudaMemcpyHostToDevice));
    const cublasLtMatmulDesc_t desc = lt_descriptor(CUBLAS_OP_T);
    const cublasLtMatrixLayout_t ab = lt_layout(CUDA_R_8F_E4M3, K, M),
                                 c = lt_layout(CUDA_R_32F, M, M);
    const cublasStatus_t status =
        cublasLtMatmul((cublasLtHandle_t)t.handle, desc, &two, t.a, ab, t.b, ab, &zero, t.c, c, t.c,
                       c, NULL, NULL, 0, t.stream);
    BLAS_OK(cublasLtMatrixLayoutDestroy(ab));
    BLAS_OK(cublasLtMatrixLayoutDestroy(c));
    BLAS_OK(cublasLtMatmulDescDestroy(desc));
    WORKS(status);
    fetch();
    for (int i = 0; i < M * M; i++)
        MUST(t.got[i] == 2 * K);
    return NULL;
}

static const char *int8(void)
{
    enum { M = 16, K = 32 };
    signed char threes[M * K];
    int32_t got[M * M];
    const int32_t alpha = 1, beta = 0;
    fresh();
    memset(threes, 3, sizeof threes);
    CUDA_OK(cudaMemcpy(t.a, threes, sizeof threes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(t.b, threes, sizeof threes, cudaMemcpyHostToDevice));
    WORKS(cublasGemmEx(t.handle, CUBLAS_OP_T, CUBLAS_OP_N, M, M, K, &alpha, t.a, CUDA_R_8I, K, t.b,
                       CUDA_R_8I, K, &beta, t.c, CUDA_R_32I, M, CUBLAS_COMPUTE_32I,
                       CUBLAS_GEMM_DEFAULT));
    CUDA_OK(cudaStreamSynchronize(t.stream));
    CUDA_OK(cudaMemcpy(got, t.c, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * M; i++)
        MUST(got[i] == 9 * K);
    return NULL;
}

/* --- all of them --- */

static const struct rule {
    const char *name;
    const char *(*run)(void); /* NULL, or what is wrong */
} rules[] = {
#define RULE(_name)                                                                                \
    {                                                                                              \
#_name, _name                                                                              \
    }
    RULE(invalid_arguments),
    RULE(legacy_refuses),
    RULE(no_c),
    RULE(nothing_to_do),
    RULE(no_inner_size),
    RULE(alpha_zero),
    RULE(beta_zero_on_device),
    RULE(groups_want_host_scalars),
    RULE(host_scalars_at_once),
    RULE(device_scalars_in_stream_order),
    RULE(host_scalars_in_pinned_memory),
    RULE(device_scalars_in_pinned_memory),
    RULE(no_workspace),
    RULE(default_stream),
    RULE(legacy_stream),
    RULE(per_thread_stream),
    RULE(in_stream_order),
    RULE(same_bits),
    RULE(captured_cold),
    RULE(captured_warm),
    RULE(captured_device_scalars),
    RULE(lt_shapes_differ),
    RULE(lt_no_such_operation),
    RULE(lt_no_beta),
    RULE(lt_in_place),
    RULE(lt_fp8),
    RULE(int8),
};

int main(int argc, char **argv)
{
    int failed = 0;
    CUDA_OK(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&t.a, BYTES));
    CUDA_OK(cudaMalloc((void **)&t.b, BYTES));
    CUDA_OK(cudaMalloc((void **)&t.c, BYTES));
    CUDA_OK(cudaMalloc((void **)&t.scalars, 64));
    CUDA_OK(cudaHostAlloc((void **)&t.pinned, BYTES, cudaHostAllocMapped));
    BLAS_OK(cublasCreate(&t.handle));
    legacy_open(t.stream);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (argc > 1 && fnmatch(argv[1], rules[i].name, 0) != 0)
            continue;
        const char *why = rules[i].run();
        printf("%s %s%s%s\n", why == NULL ? "ok" : "FAILED", rules[i].name, why == NULL ? "" : ": ",
               why == NULL ? "" : why);
        failed += why != NULL;
    }
    legacy_close();
    BLAS_OK(cublasDestroy(t.handle));
    CUDA_OK(cudaFreeHost(t.pinned));
    CUDA_OK(cudaFree(t.a));
    CUDA_OK(cudaFree(t.b));
    CUDA_OK(cudaFree(t.c));
    CUDA_OK(cudaFree(t.scalars));
    CUDA_OK(cudaStreamDestroy(t.stream));
    printf("%zu rules, %d failed\n", sizeof rules / sizeof rules[0], failed);
    return failed != 0;
}
