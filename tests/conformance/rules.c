/* SPDX-License-Identifier: BSD-3-Clause
 * The documented rules of cuBLAS that a random call does not meet: one function for each, named in
 * README.md beside the sentence that it stands for. The numbers are small integers, so that every
 * arithmetic gives the exact result and one program serves all paths. Owns its device memory.
 * Usage: rules [PATTERN]. */
#include "conformance/legacy.h"
#include "conformance/rules.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rules_memory t = {.random = 1};

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

void rules_fresh(void)
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

void rules_fetch(void)
{
    CUDA_OK(cudaStreamSynchronize(t.stream));
    CUDA_OK(cudaMemcpy(t.got, t.c, BYTES, cudaMemcpyDeviceToHost));
}

/* C = alpha A B + beta C of the host's copies; 0 times anything is 0. */
const char *rules_judge(float alpha, float beta)
{
    static char why[128];
    rules_fetch();
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
    rules_fresh();
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
    rules_fetch();
    MUST(memcmp(t.got, t.host_c, BYTES) == 0); /* nothing was computed */
    MUST(cudaPeekAtLastError() == cudaSuccess);
    return NULL;
}

static const char *legacy_refuses(void)
{
    const int size[] = {4, 4, 4, 3, 4, 4};
    rules_fresh();
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
    rules_fresh();
    WORKS(cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, N, N, &one, NULL, 1, NULL, N, &two,
                      NULL, 1));
    WORKS(cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, 0, N, &one, NULL, N, NULL, N, &two,
                      NULL, N));
    WORKS(cublasSgemmStridedBatched(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, t.a, N, 0,
                                    t.b, N, 0, &two, t.c, N, ELEMENTS, 0));
    return rules_judge(0, 1);
}

static const char *no_inner_size(void)
{
    rules_fresh();
    WORKS(cublasSgemm(t.handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, 0, &one, NULL, N, NULL, 1, &two,
                      t.c, N));
    return rules_judge(0, 2);
}

static const char *alpha_zero(void)
{
    rules_fresh();
    for (int i = 0; i < ELEMENTS; i++)
        t.got[i] = NAN;
    to_device(t.a, t.got);
    to_device(t.b, t.got);
    WORKS(sgemm(&zero, &minus_one));
    return rules_judge(0, -1);
}

static const char *beta_zero_on_device(void)
{
    const float both[] = {2, 0};
    rules_fresh();
    for (int i = 0; i < ELEMENTS; i++)
        t.got[i] = i % 2 ? NAN : INFINITY;
    to_device(t.c, t.got);
    CUDA_OK(cudaMemcpy(t.scalars, both, sizeof both, cudaMemcpyHostToDevice));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_DEVICE));
    WORKS(sgemm(t.scalars, t.scalars + 1));
    return rules_judge(2, 0);
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
    rules_fresh();
    float alpha = 2, beta = -1;
    WORKS(sgemm(&alpha, &beta));
    alpha = beta = NAN;
    return rules_judge(2, -1);
}

static const char *device_scalars_in_stream_order(void)
{
    const float garbage[] = {NAN, NAN};
    rules_fresh();
    CUDA_OK(cudaMemcpy(t.scalars, garbage, sizeof garbage, cudaMemcpyHostToDevice));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_DEVICE));
    t.pinned[0] = 2;
    t.pinned[1] = -1;
    t.pinned[2] = t.pinned[3] = NAN;
    CUDA_OK(cudaMemcpyAsync(t.scalars, t.pinned, 8, cudaMemcpyHostToDevice, t.stream));
    WORKS(sgemm(t.scalars, t.scalars + 1));
    CUDA_OK(cudaMemcpyAsync(t.scalars, t.pinned + 2, 8, cudaMemcpyHostToDevice, t.stream));
    return rules_judge(2, -1);
}

/* The mode decides, not what kind of memory it is. */
static const char *host_scalars_in_pinned_memory(void)
{
    rules_fresh();
    t.pinned[0] = 2;
    t.pinned[1] = -1;
    WORKS(sgemm(t.pinned, t.pinned + 1));
    t.pinned[0] = t.pinned[1] = NAN;
    return rules_judge(2, -1);
}

static const char *device_scalars_in_pinned_memory(void)
{
    float *device = NULL;
    rules_fresh();
    t.pinned[0] = 2;
    t.pinned[1] = -1;
    CUDA_OK(cudaHostGetDevicePointer((void **)&device, t.pinned, 0));
    BLAS_OK(cublasSetPointerMode(t.handle, CUBLAS_POINTER_MODE_DEVICE));
    WORKS(sgemm(device, device + 1));
    return rules_judge(2, -1);
}

/* --- workspace, streams --- */

static const char *no_workspace(void)
{
    rules_fresh();
    BLAS_OK(cublasSetWorkspace(t.handle, NULL, 0));
    WORKS(sgemm(&two, &minus_one));
    return rules_judge(2, -1);
}

static const char *on_stream(cudaStream_t stream)
{
    rules_fresh();
    BLAS_OK(cublasSetStream(t.handle, stream));
    WORKS(sgemm(&two, &minus_one));
    cudaStream_t after = NULL;
    BLAS_OK(cublasGetStream(t.handle, &after));
    MUST(after == stream);
    CUDA_OK(cudaStreamSynchronize(stream));
    return rules_judge(2, -1);
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
    rules_fresh();
    memcpy(t.pinned, t.host_b, BYTES);
    CUDA_OK(cudaMemsetAsync(t.b, 0xff, BYTES, t.stream));
    CUDA_OK(cudaMemcpyAsync(t.b, t.pinned, BYTES, cudaMemcpyHostToDevice, t.stream));
    WORKS(sgemm(&two, &minus_one));
    CUDA_OK(cudaMemsetAsync(t.a, 0xff, BYTES, t.stream));
    CUDA_OK(cudaMemsetAsync(t.b, 0xff, BYTES, t.stream));
    return rules_judge(2, -1);
}

static const char *same_bits(void)
{
    static float first[ELEMENTS];
    static const float other[] = {0x1p-60f, 0x1p60f, 1};
    rules_fresh();
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
        rules_fetch();
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
    rules_fresh();
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
        why = rules_judge(2, beta);
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

static const char *int8(void)
{
    enum { M = 16, K = 32 };
    signed char threes[M * K];
    int32_t got[M * M];
    const int32_t alpha = 1, beta = 0;
    rules_fresh();
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

static const struct rule rules[] = {
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
    RULE(int8),
};

static int run(const struct rule *all, int count, const char *pattern)
{
    int failed = 0;
    for (int i = 0; i < count; i++) {
        if (fnmatch(pattern, all[i].name, 0) != 0)
            continue;
        const char *why = all[i].run();
        printf("%s %s%s%s\n", why == NULL ? "ok" : "FAILED", all[i].name, why == NULL ? "" : ": ",
               why == NULL ? "" : why);
        failed += why != NULL;
    }
    return failed;
}

int main(int argc, char **argv)
{
    CUDA_OK(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&t.a, BYTES));
    CUDA_OK(cudaMalloc((void **)&t.b, BYTES));
    CUDA_OK(cudaMalloc((void **)&t.c, BYTES));
    CUDA_OK(cudaMalloc((void **)&t.scalars, 1024));
    CUDA_OK(cudaHostAlloc((void **)&t.pinned, BYTES, cudaHostAllocMapped));
    BLAS_OK(cublasCreate(&t.handle));
    legacy_open(t.stream);
    const int count = sizeof rules / sizeof rules[0];
    const char *pattern = argc > 1 ? argv[1] : "*";
    const int failed = run(rules, count, pattern) + run(lt_rules, lt_rule_count, pattern);
    legacy_close();
    BLAS_OK(cublasDestroy(t.handle));
    CUDA_OK(cudaFreeHost(t.pinned));
    CUDA_OK(cudaFree(t.a));
    CUDA_OK(cudaFree(t.b));
    CUDA_OK(cudaFree(t.c));
    CUDA_OK(cudaFree(t.scalars));
    CUDA_OK(cudaStreamDestroy(t.stream));
    printf("%d rules, %d failed\n", count + lt_rule_count, failed);
    return failed != 0;
}
