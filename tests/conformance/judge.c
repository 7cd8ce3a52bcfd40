/* SPDX-License-Identifier: BSD-3-Clause
 * Runs a problem on the device and judges it: the result against the reference, element by element;
 * padding, inputs and the handle's state must be what they were. */
#include "conformance/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_BYTES = 1 << 20, TEXT = 512 };

#define CUDA_OK(_call)                                                                             \
    do {                                                                                           \
        cudaError_t e_ = (_call);                                                                  \
        if (e_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #_call, cudaGetErrorString(e_)); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define BLAS_OK(_call)                                                                             \
    do {                                                                                           \
        cublasStatus_t s_ = (_call);                                                               \
        if (s_ != CUBLAS_STATUS_SUCCESS) {                                                         \
            fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #_call, (int)s_);        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct handle_state {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
};

static struct handle_state read_state(cublasHandle_t h)
{
    struct handle_state s;
    memset(&s, 0, sizeof s);
    BLAS_OK(cublasGetStream(h, &s.stream));
    BLAS_OK(cublasGetPointerMode(h, &s.pointers));
    BLAS_OK(cublasGetMathMode(h, &s.math));
    BLAS_OK(cublasGetAtomicsMode(h, &s.atomics));
    return s;
}

void judge_open(struct judge *judge)
{
    /* Not ordered with the default stream: work that strays there shows. */
    CUDA_OK(cudaStreamCreateWithFlags(&judge->stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&judge->workspace, WORKSPACE_BYTES));
    BLAS_OK(cublasCreate(&judge->handle));
    BLAS_OK(cublasSetStream(judge->handle, judge->stream));
    BLAS_OK(cublasSetWorkspace(judge->handle, judge->workspace, WORKSPACE_BYTES));
}

void judge_close(struct judge *judge)
{
    BLAS_OK(cublasDestroy(judge->handle));
    CUDA_OK(cudaFree(judge->workspace));
    CUDA_OK(cudaStreamDestroy(judge->stream));
}

static float *upload(const struct judge *judge, const float *data, int64_t elements, int offset)
{
    float *device;
    CUDA_OK(cudaMalloc((void **)&device, sizeof(float) * (size_t)(elements + offset + 1)));
    if (elements > 0)
        CUDA_OK(cudaMemcpyAsync(device + offset, data, sizeof(float) * (size_t)elements,
                                cudaMemcpyHostToDevice, judge->stream));
    return device;
}

static void download(const struct judge *judge, float *data, const float *device, int64_t elements,
                     int offset)
{
    if (elements > 0)
        CUDA_OK(cudaMemcpyAsync(data, device + offset, sizeof(float) * (size_t)elements,
                                cudaMemcpyDeviceToHost, judge->stream));
}

/* Runs p; fills the after copies. Returns the status of the call. */
static cublasStatus_t run(struct judge *judge, struct problem *p)
{
    float *a = upload(judge, p->a, p->elements_a, p->offset_a);
    float *b = upload(judge, p->b, p->elements_b, p->offset_b);
    float *c = upload(judge, p->c, p->elements_c, p->offset_c);
    float *scalars = NULL;
    float host_alpha = p->alpha, host_beta = p->beta;
    const float *alpha = &host_alpha, *beta = &host_beta;
    if (p->device_scalars) {
        const float both[] = {p->alpha, p->beta};
        scalars = upload(judge, both, 2, 0);
        alpha = scalars;
        beta = scalars + 1;
        CUDA_OK(cudaStreamSynchronize(judge->stream)); /* both is on this stack */
    }
    BLAS_OK(cublasSetPointerMode(judge->handle, p->device_scalars ? CUBLAS_POINTER_MODE_DEVICE
                                                                  : CUBLAS_POINTER_MODE_HOST));
    BLAS_OK(cublasSetMathMode(judge->handle,
                              p->pedantic ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH));
    cublasStatus_t status;
    float *bias = upload(judge, p->bias, p->m, 0);
    /* Another matrix for D, which begins as C does so that padding can be compared. */
    float *d = p->routine == R_LT_OUT ? upload(judge, p->c, p->elements_c, p->offset_c) : c;
    if (routine_is_lt(p->routine))
        status = lt_call(judge, p, alpha, beta, a + p->offset_a, b + p->offset_b, c + p->offset_c,
                         d + p->offset_c, bias);
    else
        status =
            routine_call(judge, p, alpha, beta, a + p->offset_a, b + p->offset_b, c + p->offset_c);
    host_alpha = host_beta = NAN; /* host scalars are the caller's again */
    download(judge, p->a_after, a, p->elements_a, p->offset_a);
    download(judge, p->b_after, b, p->elements_b, p->offset_b);
    download(judge, p->c_after, d, p->elements_c, p->offset_c);
    CUDA_OK(cudaStreamSynchronize(judge->stream));
    if (d != c)
        CUDA_OK(cudaFree(d));
    CUDA_OK(cudaFree(bias));
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(b));
    CUDA_OK(cudaFree(c));
    CUDA_OK(cudaFree(scalars));
    return status;
}

static bool element_ok(float got, struct ref_result want)
{
    if (isnan(want.value))
        return isnan(got);
    if (isinf(want.value) || isinf(want.bound))
        return isinf(want.value) ? got == want.value : true;
    if (fabs(want.value) > 3.4e38)
        return isinf(got) || fabs((double)got - want.value) <= want.bound;
    return fabs((double)got - want.value) <= want.bound;
}

static bool judge_result(const struct judge *judge, const struct problem *p, char *why)
{
    const bool skip_product = p->alpha == 0;
    struct ref_gemm g = {
        .transa = p->transa != CUBLAS_OP_N,
        .transb = p->transb != CUBLAS_OP_N,
        .m = p->m,
        .n = p->n,
        .k = skip_product ? 0 : p->k, /* BLAS: alpha = 0 does not read A and B */
        .batch = p->batch,
        .alpha = p->alpha,
        .beta = p->beta,
        .a = {p->a, p->lda, p->stride_a},
        .b = {p->b, p->ldb, p->stride_b},
        .c = {p->c, p->ldc, p->stride_c},
        .arithmetic = problem_convertible(p) ? judge->arithmetic : REF_FP32,
    };
    int64_t n = p->m * p->n * p->batch;
    struct ref_result *want = malloc(sizeof *want * (size_t)(n + 1));
    bool *inside = calloc((size_t)p->elements_c + 1, 1);
    bool ok = true;
    ref_gemm(&g, want);
    for (int64_t i = 0; p->routine == R_LT_BIAS && i < n; i++) {
        const double bias = p->bias[i % p->m];
        want[i].value += bias;
        want[i].bound += fabs(bias) * 0x1p-23;
    }
    for (int64_t i = 0, at = 0; i < p->batch && ok; i++)
        for (int64_t col = 0; col < p->n && ok; col++)
            for (int64_t row = 0; row < p->m && ok; row++, at++) {
                int64_t index = i * p->stride_c + col * p->ldc + row;
                inside[index] = true;
                ok = element_ok(p->c_after[index], want[at]);
                if (!ok)
                    snprintf(why, TEXT, "C[%lld](%lld,%lld) is %.9g, expected %.9g +- %.3g",
                             (long long)i, (long long)row, (long long)col, (double)p->c_after[index],
                             want[at].value, want[at].bound);
            }
    for (int64_t i = 0; i < p->elements_c && ok; i++)
        if (!inside[i] && memcmp(&p->c[i], &p->c_after[i], sizeof(float)) != 0) {
            ok = false;
            snprintf(why, TEXT, "padding of C at element %lld was written", (long long)i);
        }
    free(want);
    free(inside);
    return ok;
}

static bool unchanged(const float *before, const float *after, int64_t elements)
{
    return elements == 0 || memcmp(before, after, sizeof(float) * (size_t)elements) == 0;
}

bool judge_case(struct judge *judge, enum routine routine)
{
    struct problem p;
    char why[TEXT] = "", text[TEXT];
    problem_draw(judge, routine, &p);
    struct handle_state before = read_state(judge->handle);
    cublasStatus_t status = run(judge, &p);
    struct handle_state after = read_state(judge->handle);
    before.pointers = p.device_scalars ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST;
    before.math = p.pedantic ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH;
    judge->calls++;
    judge->convertible += problem_convertible(&p);
    bool ok = true;
    if (status != CUBLAS_STATUS_SUCCESS) {
        ok = false;
        snprintf(why, TEXT, "status %d", (int)status);
    } else if (!unchanged(p.a, p.a_after, p.elements_a) || !unchanged(p.b, p.b_after, p.elements_b)) {
        ok = false;
        snprintf(why, TEXT, "an input was written");
    } else if (memcmp(&before, &after, sizeof before) != 0) {
        ok = false;
        snprintf(why, TEXT, "the handle's state changed");
    } else {
        ok = judge_result(judge, &p, why);
    }
    if (!ok) {
        problem_describe(&p, text, sizeof text);
        printf("FAILED %s: %s\n", text, why);
    }
    problem_free(&p);
    return ok;
}
