/* SPDX-License-Identifier: BSD-3-Clause
 * Products in graphs against the same products made one by one, bit for bit, while the scale of the
 * data jumps from replay to replay. Knows nothing of the preload; all state is local.
 * Usage: graphs WHAT SEED [N]. WHAT is replay (100 times), flight (two graphs on two streams), fork
 * (branches on two streams of one capture), branches (branches made on one stream), moved
 * (the stream of the capture is gone), update (each capture goes into the same executable graph), or
 * flat (captures N times, prints the most device memory in use during each half). */
#include "conformance/random.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 24, N = 20, K = 40, REPLAYS = 100 };
enum { A = M * K, B = K * N, C = M * N, ALL = A + B + C + 2 };

#define MUST(_call)                                                                                \
    do {                                                                                           \
        int _status = (int)(_call);                                                                \
        if (_status != 0) {                                                                        \
            fprintf(stderr, "graphs: line %d: %s: %d\n", __LINE__, #_call, _status);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A stream with the operands of one product C = alpha A B + beta C and a second one that uses its
 * result, D = C^T C; the scalars lie on the device. */
struct chain {
    cudaStream_t stream;
    float *data, *square;            /* device: A, B, C, alpha, beta; D */
    float *input, *result, *expected; /* pinned: ALL; C and D */
};

static void *pinned(size_t elements)
{
    void *p = NULL;
    MUST(cudaMallocHost(&p, elements * sizeof(float)));
    return p;
}

static void chain_create(struct chain *c)
{
    void *p = NULL;
    MUST(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    MUST(cudaMalloc(&p, ALL * sizeof(float)));
    c->data = p;
    MUST(cudaMalloc(&p, N * N * sizeof(float)));
    c->square = p;
    c->input = pinned(ALL);
    c->result = pinned(C + N * N);
    c->expected = pinned(C + N * N);
}

/* New numbers, one time in two of a scale that is up to 2^40 away from the last. */
static void chain_fill(struct chain *c, uint64_t *random)
{
    const int a = random_once_in(random, 2) ? 0 : (int)random_below(random, 41) - 20;
    const int b = random_once_in(random, 2) ? 0 : (int)random_below(random, 41) - 20;
    for (int i = 0; i < ALL; i++) {
        const int exponent = i < A ? a : i < A + B ? b : i < A + B + C ? a + b : 0;
        c->input[i] = (float)ldexp(random_normal(random), exponent);
    }
}

static void upload(struct chain *c)
{
    MUST(cudaMemcpyAsync(c->data, c->input, ALL * sizeof(float), cudaMemcpyHostToDevice,
                         c->stream));
}

static void first_product(cublasHandle_t handle, struct chain *c)
{
    float *scalars = c->data + A + B + C;
    MUST(cublasSetStream_v2(handle, c->stream));
    MUST(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, scalars, c->data, M,
                        c->data + A, K, scalars + 1, c->data + A + B, M));
}

static void second_product(cublasHandle_t handle, struct chain *c, cudaStream_t stream)
{
    const float *scalars = c->data + A + B + C, *from = c->data + A + B;
    MUST(cublasSetStream_v2(handle, stream));
    MUST(cudaMemsetAsync(c->square, 0, N * N * sizeof(float), stream));
    MUST(cublasSgemm_v2(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, N, M, scalars, from, M, from, M,
                        scalars + 1, c->square, N));
}

static void products(cublasHandle_t handle, struct chain *c)
{
    first_product(handle, c);
    second_product(handle, c, c->stream);
}

static void download(struct chain *c, float *to)
{
    MUST(cudaMemcpyAsync(to, c->data + A + B, C * sizeof(float), cudaMemcpyDeviceToHost,
                         c->stream));
    MUST(cudaMemcpyAsync(to + C, c->square, N * N * sizeof(float), cudaMemcpyDeviceToHost,
                         c->stream));
}

/* The same input, call by call. */
static void eager(cublasHandle_t handle, struct chain *c)
{
    upload(c);
    products(handle, c);
    download(c, c->expected);
    MUST(cudaStreamSynchronize(c->stream));
}

static bool right(const struct chain *c, const char *what, int i)
{
    if (memcmp(c->result, c->expected, (C + N * N) * sizeof(float)) == 0)
        return true;
    fprintf(stderr, "graphs: %s: replay %d differs from the calls one by one\n", what, i);
    return false;
}

static void begin(struct chain *c)
{
    MUST(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeGlobal));
}

static cudaGraphExec_t finish(struct chain *c)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamEndCapture(c->stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

static cudaGraphExec_t capture(cublasHandle_t handle, struct chain *c)
{
    begin(c);
    upload(c);
    products(handle, c);
    download(c, c->result);
    return finish(c);
}

/* Replays with new data each time, and says whether all results were right. */
static bool replays(cublasHandle_t handle, struct chain *c, cudaGraphExec_t exec, const char *what,
                    uint64_t *random)
{
    bool ok = true;
    for (int i = 0; i < REPLAYS; i++) {
        chain_fill(c, random);
        eager(handle, c);
        memset(c->result, 0xff, (C + N * N) * sizeof(float));
        MUST(cudaGraphLaunch(exec, c->stream));
        MUST(cudaStreamSynchronize(c->stream));
        ok &= right(c, what, i);
    }
    MUST(cudaGraphExecDestroy(exec));
    return ok;
}

/* Two graphs that are in flight together, on other streams than those of their captures, while
 * products of a third chain are made on the stream where the first was captured. */
static bool flight(cublasHandle_t handle, struct chain c[3], uint64_t *random)
{
    bool ok = true;
    cudaGraphExec_t exec[2] = {capture(handle, &c[0]), capture(handle, &c[1])};
    const cudaStream_t third = c[2].stream;
    c[2].stream = c[0].stream;
    for (int i = 0; i < REPLAYS; i++) {
        for (int j = 0; j < 3; j++) {
            chain_fill(&c[j], random);
            eager(handle, &c[j]);
            memset(c[j].result, 0xff, (C + N * N) * sizeof(float));
        }
        for (int j = 0; j < 4; j++) {
            MUST(cudaGraphLaunch(exec[0], c[1].stream));
            MUST(cudaGraphLaunch(exec[1], third));
            upload(&c[2]);
            products(handle, &c[2]);
        }
        download(&c[2], c[2].result);
        MUST(cudaDeviceSynchronize());
        for (int j = 0; j < 3; j++)
            ok &= right(&c[j], "flight", i);
    }
    MUST(cudaGraphExecDestroy(exec[0]));
    MUST(cudaGraphExecDestroy(exec[1]));
    c[2].stream = third;
    return ok;
}

/* Two chains in one capture, in no order with each other: the second stream joins and leaves. */
static cudaGraphExec_t capture_fork(cublasHandle_t handle, struct chain c[2])
{
    cudaEvent_t forked, joined;
    MUST(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    begin(&c[0]);
    MUST(cudaEventRecord(forked, c[0].stream));
    MUST(cudaStreamWaitEvent(c[1].stream, forked, 0));
    for (int i = 0; i < 2; i++) {
        upload(&c[i]);
        products(handle, &c[i]);
        download(&c[i], c[i].result);
    }
    MUST(cudaEventRecord(joined, c[1].stream));
    MUST(cudaStreamWaitEvent(c[0].stream, joined, 0));
    cudaGraphExec_t exec = finish(&c[0]);
    MUST(cudaEventDestroy(forked));
    MUST(cudaEventDestroy(joined));
    return exec;
}

/* The driver's own functions, for what the runtime spells differently from version to version. */
static void *driver_function(const char *name)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    MUST(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    MUST(function == NULL);
    return function;
}

typedef CUresult get_info(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                          const CUgraphNode **, size_t *);
typedef CUresult set_dependencies(CUstream, CUgraphNode *, size_t, unsigned);

/* Two chains captured on one stream, whose dependencies are set back between them: branches. */
static cudaGraphExec_t capture_branches(cublasHandle_t handle, struct chain c[2])
{
    get_info *info = (get_info *)driver_function("cuStreamGetCaptureInfo");
    set_dependencies *set =
        (set_dependencies *)driver_function("cuStreamUpdateCaptureDependencies");
    struct chain other = c[1];
    CUgraphNode ends[8], none;
    const CUgraphNode *last;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    size_t n, ends_n = 0;
    other.stream = c[0].stream;
    begin(&c[0]);
    upload(&c[0]);
    products(handle, &c[0]);
    download(&c[0], c[0].result);
    MUST(info((CUstream)c[0].stream, &status, &id, &graph, &last, &n));
    for (size_t i = 0; i < n && ends_n < 8; i++)
        ends[ends_n++] = last[i];
    MUST(set((CUstream)c[0].stream, &none, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    upload(&other);
    products(handle, &other);
    download(&other, other.result);
    MUST(set((CUstream)c[0].stream, ends, ends_n, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    return finish(&c[0]);
}

/* The stream on which the graph was captured is gone before the graph runs, on another one. */
static bool moved(cublasHandle_t handle, struct chain *c, uint64_t *random)
{
    const cudaStream_t stream = c->stream;
    MUST(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    eager(handle, c);
    cudaGraphExec_t exec = capture(handle, c);
    MUST(cublasSetStream_v2(handle, stream));
    MUST(cudaStreamDestroy(c->stream));
    c->stream = stream;
    return replays(handle, c, exec, "moved", random);
}

/* A new capture each time, put into an executable graph that exists; others come and go. */
static bool update(cublasHandle_t handle, struct chain c[2], uint64_t *random)
{
    bool ok = true;
    cudaGraphExec_t exec = capture(handle, &c[0]);
    for (int i = 0; i < REPLAYS; i++) {
        cudaGraphExecUpdateResultInfo info;
        cudaGraph_t graph;
        chain_fill(&c[0], random);
        eager(handle, &c[0]);
        memset(c[0].result, 0xff, (C + N * N) * sizeof(float));
        begin(&c[0]);
        upload(&c[0]);
        products(handle, &c[0]);
        download(&c[0], c[0].result);
        MUST(cudaStreamEndCapture(c[0].stream, &graph));
        MUST(cudaGraphExecUpdate(exec, graph, &info));
        MUST(cudaGraphDestroy(graph));
        MUST(cudaGraphExecDestroy(capture(handle, &c[1])));
        MUST(cudaGraphLaunch(exec, c[0].stream));
        MUST(cudaStreamSynchronize(c[0].stream));
        ok &= right(&c[0], "update", i);
    }
    MUST(cudaGraphExecDestroy(exec));
    return ok;
}

static bool replay_pair(cublasHandle_t handle, struct chain c[2], cudaGraphExec_t exec,
                        const char *what, uint64_t *random)
{
    bool ok = true;
    for (int i = 0; i < REPLAYS; i++) {
        for (int j = 0; j < 2; j++) {
            chain_fill(&c[j], random);
            eager(handle, &c[j]);
            memset(c[j].result, 0xff, (C + N * N) * sizeof(float));
        }
        MUST(cudaGraphLaunch(exec, c[0].stream));
        MUST(cudaStreamSynchronize(c[0].stream));
        for (int j = 0; j < 2; j++)
            ok &= right(&c[j], what, i);
    }
    MUST(cudaGraphExecDestroy(exec));
    return ok;
}

static size_t used(void)
{
    size_t free_bytes, total;
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

/* Memory may be given back for many captures at once: what counts is the most that was in use. */
static bool flat(cublasHandle_t handle, struct chain *c, int captures)
{
    size_t most[2] = {0, 0};
    for (int i = 0; i < captures; i++) {
        cudaGraphExec_t exec = capture(handle, c);
        MUST(cudaGraphLaunch(exec, c->stream));
        MUST(cudaStreamSynchronize(c->stream));
        MUST(cudaGraphExecDestroy(exec));
        size_t *half = &most[2 * i / captures], now = used();
        *half = now > *half ? now : *half;
    }
    printf("%zu %zu\n", most[0], most[1]);
    return true;
}

int main(int argc, char **argv)
{
    cublasHandle_t handle;
    static struct chain c[3]; /* not freed: found at exit */
    bool ok = false;
    if (argc < 3)
        return 2;
    const char *what = argv[1];
    uint64_t random = strtoull(argv[2], NULL, 10) * 2 + 1;
    MUST(cublasCreate_v2(&handle));
    MUST(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE));
    for (int i = 0; i < 3; i++) {
        chain_create(&c[i]);
        chain_fill(&c[i], &random);
        eager(handle, &c[i]);
    }
    if (strcmp(what, "replay") == 0)
        ok = replays(handle, &c[0], capture(handle, &c[0]), what, &random);
    else if (strcmp(what, "flight") == 0)
        ok = flight(handle, c, &random);
    else if (strcmp(what, "fork") == 0)
        ok = replay_pair(handle, c, capture_fork(handle, c), what, &random);
    else if (strcmp(what, "branches") == 0)
        ok = replay_pair(handle, c, capture_branches(handle, c), what, &random);
    else if (strcmp(what, "moved") == 0)
        ok = moved(handle, &c[0], &random);
    else if (strcmp(what, "update") == 0)
        ok = update(handle, c, &random);
    else if (strcmp(what, "flat") == 0)
        ok = flat(handle, &c[0], argc > 3 ? atoi(argv[3]) : 1000);
    MUST(cublasDestroy_v2(handle));
    return ok ? 0 : 1;
}
