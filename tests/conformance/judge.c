/* SPDX-License-Identifier: BSD-3-Clause
 * Runs a problem on the device and judges it: the result against what is expected, element by
 * element; every byte that is not the call's to write, the handle's state and errno must be what
 * they were. */
#include "conformance/judge.h"
#include "conformance/legacy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_BYTES = 1 << 20, TEXT = 2048, WHY = 256 };

void judge_must(int status, const char *file, int line, const char *call)
{
    if (status == 0)
        return;
    fprintf(stderr, "%s:%d: %s: status %d\n", file, line, call, status);
    exit(1);
}

struct handle_state {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
    int sm_count;
};

static struct handle_state read_state(cublasHandle_t h)
{
    struct handle_state s;
    memset(&s, 0, sizeof s);
    BLAS_OK(cublasGetStream(h, &s.stream));
    BLAS_OK(cublasGetPointerMode(h, &s.pointers));
    BLAS_OK(cublasGetMathMode(h, &s.math));
    BLAS_OK(cublasGetAtomicsMode(h, &s.atomics));
    BLAS_OK(cublasGetSmCountTarget(h, &s.sm_count));
    return s;
}

static struct handle_state set_state(const struct judge *judge, const struct problem *p)
{
    struct handle_state s;
    memset(&s, 0, sizeof s);
    s.stream = judge->stream;
    s.pointers = p->device_scalars ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST;
    s.math = (cublasMath_t)p->math;
    s.atomics = (cublasAtomicsMode_t)p->atomics;
    s.sm_count = p->sm_count;
    BLAS_OK(cublasSetPointerMode(judge->handle, s.pointers));
    BLAS_OK(cublasSetMathMode(judge->handle, s.math));
    BLAS_OK(cublasSetAtomicsMode(judge->handle, s.atomics));
    BLAS_OK(cublasSetSmCountTarget(judge->handle, s.sm_count));
    return s;
}

void judge_open(struct judge *judge)
{
    /* Not ordered with the default stream: work that strays there shows. */
    CUDA_OK(cudaStreamCreateWithFlags(&judge->stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc(&judge->workspace, WORKSPACE_BYTES));
    BLAS_OK(cublasCreate(&judge->handle));
    BLAS_OK(cublasSetStream(judge->handle, judge->stream));
    BLAS_OK(cublasSetWorkspace(judge->handle, judge->workspace, WORKSPACE_BYTES));
    legacy_open(judge->stream);
}

void judge_close(struct judge *judge)
{
    legacy_close();
    BLAS_OK(cublasDestroy(judge->handle));
    CUDA_OK(cudaFree(judge->workspace));
    CUDA_OK(cudaStreamDestroy(judge->stream));
}

/* --- the device's memory --- */

static void *address(const struct problem *p, const struct matrix *x, int64_t entry)
{
    const struct buffer *b = &p->buffer[x->buffer];
    const int64_t place = x->backwards ? x->batch - 1 - entry : entry;
    return b->device + b->misaligned +
           (x->first + place * x->stride) * (int64_t)number_bytes(x->number);
}

/* The pointers of A of all parts, then those of B, then those of C. Returns how many of each. */
static int64_t make_arrays(struct problem *p)
{
    int64_t entries = 0, at = 0;
    for (int i = 0; i < p->parts; i++)
        entries += p->part[i].batch;
    buffer_allocate(&p->buffer[BUFFER_ARRAYS], sizeof(void *) * 3 * (size_t)entries);
    void **pointers = (void **)(void *)p->buffer[BUFFER_ARRAYS].before;
    for (int i = 0; i < p->parts; i++)
        for (int64_t entry = 0; entry < p->part[i].batch; entry++, at++) {
            pointers[at] = address(p, &p->part[i].a, entry);
            pointers[entries + at] = address(p, &p->part[i].b, entry);
            pointers[2 * entries + at] = address(p, &p->part[i].c, entry);
        }
    return entries;
}

static void upload(const struct judge *judge, struct buffer *b)
{
    if (b->before == NULL)
        return;
    CUDA_OK(cudaMalloc((void **)&b->device, b->bytes + b->misaligned + 1));
    if (b->bytes > 0)
        CUDA_OK(cudaMemcpyAsync(b->device + b->misaligned, b->before, b->bytes,
                                cudaMemcpyHostToDevice, judge->stream));
}

static void download(const struct judge *judge, struct buffer *b)
{
    if (b->before != NULL && b->bytes > 0)
        CUDA_OK(cudaMemcpyAsync(b->after, b->device + b->misaligned, b->bytes,
                                cudaMemcpyDeviceToHost, judge->stream));
}

/* --- the call --- */

static cublasStatus_t call_blas(const struct judge *judge, const struct problem *p,
                                const struct device_pointers *at)
{
    struct call c = {.handle = judge->handle,
                     .parts = p->parts,
                     .alpha = at->alpha,
                     .beta = at->beta,
                     .a = at->a,
                     .b = at->b,
                     .c = at->d,
                     .ab_type = number_type(p->ab),
                     .c_type = number_type(p->cd),
                     .compute = (cublasComputeType_t)p->compute,
                     .algo = (cublasGemmAlgo_t)p->algo};
    for (int i = 0; i < p->parts; i++) {
        const struct part *q = &p->part[i];
        c.part[i].transa = q->transa;
        c.part[i].transb = q->transb;
        c.part[i].m = q->m;
        c.part[i].n = q->n;
        c.part[i].k = q->k;
        c.part[i].batch = q->batch;
        c.part[i].lda = q->a.ld;
        c.part[i].ldb = q->b.ld;
        c.part[i].ldc = q->c.ld;
        c.part[i].stride_a = q->a.stride;
        c.part[i].stride_b = q->b.stride;
        c.part[i].stride_c = q->c.stride;
    }
    return p->routine->make(&c);
}

static cublasStatus_t call_legacy(const struct problem *p, const struct device_pointers *at)
{
    static const char ops[] = "NTC";
    const struct part *q = &p->part[0];
    const int size[] = {(int)q->m, (int)q->n, (int)q->k, (int)q->a.ld, (int)q->b.ld, (int)q->c.ld};
    return (cublasStatus_t)legacy_call(p->ab, ops[q->transa], ops[q->transb], size, q->alpha, at->a,
                                       at->b, q->beta, at->d);
}

cublasStatus_t judge_call(const struct judge *judge, const struct problem *p,
                          const struct device_pointers *at)
{
    if (p->routine->family == LEGACY)
        return call_legacy(p, at);
    if (p->routine->family == LT)
        return lt_call(judge, p, at);
    return call_blas(judge, p, at);
}

static void *start_of(const struct problem *p, enum buffer_name name)
{
    const struct buffer *b = &p->buffer[name];
    return b->before == NULL ? NULL : b->device + b->misaligned;
}

static struct device_pointers place(const struct problem *p, void *host_scalars)
{
    const struct part *q = &p->part[0];
    char *scalars = p->device_scalars ? start_of(p, BUFFER_SCALARS) : host_scalars;
    const size_t half = p->buffer[BUFFER_SCALARS].bytes / 2;
    struct device_pointers at = {
        .alpha = scalars,
        .beta = p->alias == SAME_SCALARS ? scalars : scalars + half,
        .a = address(p, &q->a, 0),
        .b = address(p, &q->b, 0),
        .c = address(p, &q->c, 0),
        .d = address(p, &q->d, 0),
        .bias = start_of(p, BUFFER_BIAS),
        .aux = start_of(p, BUFFER_AUX),
    };
    if (p->lt.pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST)
        at.beta = (char *)host_scalars + half;
    return at;
}

/* Runs p; fills the after copies. Returns the status of the call, and errno as it left it. */
static cublasStatus_t run(struct judge *judge, struct problem *p, int *error_p)
{
    for (int i = 0; i < BUFFER_ARRAYS; i++)
        upload(judge, &p->buffer[i]);
    /* The library may read host scalars during the call alone. */
    const size_t scalar_bytes = p->buffer[BUFFER_SCALARS].bytes;
    void *host_scalars = malloc(scalar_bytes + 1);
    if (host_scalars == NULL)
        exit(1);
    memcpy(host_scalars, p->buffer[BUFFER_SCALARS].before, scalar_bytes);
    struct device_pointers at = place(p, host_scalars);
    if (family_array(p->routine->family)) {
        const int64_t entries = make_arrays(p);
        upload(judge, &p->buffer[BUFFER_ARRAYS]);
        void **arrays = start_of(p, BUFFER_ARRAYS);
        at.a = arrays;
        at.b = arrays + entries;
        at.d = arrays + 2 * entries;
    }
    errno = p->error_number;
    const cublasStatus_t status = judge_call(judge, p, &at);
    *error_p = errno;
    memset(host_scalars, 0xff, scalar_bytes);
    free(host_scalars);
    for (int i = 0; i < BUFFERS; i++)
        download(judge, &p->buffer[i]);
    CUDA_OK(cudaStreamSynchronize(judge->stream));
    for (int i = 0; i < BUFFERS; i++)
        CUDA_OK(cudaFree(p->buffer[i].device));
    return status;
}

/* --- the judgement --- */

static bool judge_foreign_bytes(const struct problem *p, char *why)
{
    static const char *const names[] = {"A",    "B",   "C",        "D", "alpha and beta",
                                        "bias", "aux", "the array"};
    for (int i = 0; i < BUFFERS; i++) {
        const struct buffer *b = &p->buffer[i];
        if (b->before == NULL || memcmp(b->before, b->after, b->bytes) == 0)
            continue;
        for (size_t at = 0; at < b->bytes; at++)
            if (b->before[at] != b->after[at] && (b->ours == NULL || !b->ours[at])) {
                snprintf(why, WHY, "byte %zu of %s was written", at, names[i]);
                return false;
            }
    }
    return true;
}

static bool judge_matrix(const struct problem *p, const struct part *part, int64_t entry,
                         const struct want *want, char *why)
{
    const struct matrix *d = &part->d;
    for (int64_t col = 0; col < part->n; col++)
        for (int64_t row = 0; row < part->m; row++, want++) {
            const struct value got = problem_after(p, d, matrix_at(d, entry, row, col));
            if (expect_met(p->cd, *want, got))
                continue;
            snprintf(why, WHY,
                     "part %d, C[%lld](%lld,%lld) is %.9g %.9g, expected %.9g %.9g +- %.3g",
                     (int)(part - p->part), (long long)entry, (long long)row, (long long)col,
                     got.re, got.im, want->re, want->im, want->bound);
            return false;
        }
    return true;
}

static float after_float(const struct problem *p, enum buffer_name name, int64_t at)
{
    float f;
    memcpy(&f, p->buffer[name].after + (size_t)at * sizeof f, sizeof f);
    return f;
}

static bool judge_aux(const struct problem *p, int64_t entry, const struct want *want, char *why)
{
    const struct part *q = &p->part[0];
    for (int64_t col = 0; col < q->n; col++)
        for (int64_t row = 0; row < q->m; row++, want++) {
            const int64_t at = entry * p->lt.aux_stride + col * p->lt.aux_ld + row;
            struct value got = {0, 0};
            if (epilogue_has_mask(p->lt.epilogue))
                got.re = p->buffer[BUFFER_AUX].after[at / 8] >> (at % 8) & 1;
            else
                got.re = (double)after_float(p, BUFFER_AUX, at);
            if (expect_met(F32, *want, got))
                continue;
            snprintf(why, WHY, "aux[%lld](%lld,%lld) is %.9g, expected %.9g +- %.3g",
                     (long long)entry, (long long)row, (long long)col, got.re, want->re,
                     want->bound);
            return false;
        }
    return true;
}

static bool judge_bias(const struct problem *p, int64_t entry, const struct want *want, char *why)
{
    const struct part *q = &p->part[0];
    const int64_t length = p->lt.epilogue == CUBLASLT_EPILOGUE_BGRADB ? q->n : q->m;
    for (int64_t i = 0; i < length; i++) {
        const struct value got = {
            (double)after_float(p, BUFFER_BIAS, entry * p->lt.bias_stride + i), 0};
        if (expect_met(F32, want[i], got))
            continue;
        snprintf(why, WHY, "bias gradient [%lld](%lld) is %.9g, expected %.9g +- %.3g",
                 (long long)entry, (long long)i, got.re, want[i].re, want[i].bound);
        return false;
    }
    return true;
}

/* Do all results look as if this arithmetic had made them? */
static bool judge_as(const struct judge *judge, const struct problem *p, enum arithmetic arithmetic,
                     char *why)
{
    bool ok = true;
    for (int i = 0; i < p->parts && ok; i++) {
        const struct part *part = &p->part[i];
        const size_t elements = (size_t)(part->m * part->n + part->m + part->n + 1);
        struct want *want = malloc(sizeof *want * elements), *aux = malloc(sizeof *aux * elements);
        struct want *bias = malloc(sizeof *bias * elements);
        if (want == NULL || aux == NULL || bias == NULL)
            exit(1);
        const uint32_t epilogue = p->routine->family == LT ? p->lt.epilogue : 0;
        for (int64_t entry = 0; entry < part->batch && ok; entry++) {
            expect_product(p, part, entry, arithmetic, judge->loose, want);
            if (p->routine->lt == LT_EPILOGUE)
                expect_epilogue(p, entry, want, aux, bias);
            ok = judge_matrix(p, part, entry, want, why);
            if (ok && epilogue_has_aux(epilogue) && !epilogue_reads_aux(epilogue))
                ok = judge_aux(p, entry, aux, why);
            if (ok && epilogue_makes_bias(epilogue))
                ok = judge_bias(p, entry, bias, why);
        }
        free(want);
        free(aux);
        free(bias);
    }
    return ok;
}

static bool judge_result(const struct judge *judge, const struct problem *p, char *why)
{
    const unsigned set = expect_arithmetics(p, judge->path, judge->loose);
    for (int arithmetic = 0; arithmetic < ARITHMETICS; arithmetic++)
        if ((set >> arithmetic & 1) != 0 && judge_as(judge, p, (enum arithmetic)arithmetic, why))
            return true;
    return false;
}

bool judge_case(struct judge *judge, struct problem *p)
{
    char why[WHY] = "", text[TEXT];
    int error_number = 0;
    const struct handle_state before = set_state(judge, p);
    const cublasStatus_t status = run(judge, p, &error_number);
    const struct handle_state after = read_state(judge->handle);
    bool ok = false;
    judge->calls++;
    const bool common = p->ab == F32 && p->cd == F32 && p->routine->lt == LT_PLAIN;
    if (judge->loose && status == CUBLAS_STATUS_NOT_SUPPORTED && !common) {
        judge->refused++;
        return true;
    }
    judge->converted += expect_converted(p, judge->path);
    if (status != CUBLAS_STATUS_SUCCESS)
        snprintf(why, WHY, "status %d", (int)status);
    else if (cudaPeekAtLastError() != cudaSuccess)
        snprintf(why, WHY, "a CUDA error is left: %s", cudaGetErrorString(cudaPeekAtLastError()));
    else if (memcmp(&before, &after, sizeof before) != 0)
        snprintf(why, WHY, "the handle's state changed");
    else if (error_number != p->error_number && !judge->loose)
        snprintf(why, WHY, "errno is %d and was %d", error_number, p->error_number);
    else if (judge_foreign_bytes(p, why))
        ok = judge_result(judge, p, why);
    if (!ok) {
        problem_describe(p, text, sizeof text);
        printf("FAILED %s: %s\n", text, why);
    }
    return ok;
}
