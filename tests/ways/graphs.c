/* SPDX-License-Identifier: BSD-3-Clause
 * Captures GEMMs into CUDA graphs, makes new graphs of those in the ways that there are, launches
 * them, and keeps count by itself. The first argument names the scenario. Prints what must have
 * been counted: launches, GEMMs in them, how many of those in FP32, and all GEMMs that ran in FP32
 * and in double. Each launch must give the bits of a direct call. Compiled twice, the second time
 * for the per-thread default stream. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 48, BYTES = N * N * (int)sizeof(float), MANY = 150 };

#define CHECK(_call)                                                                               \
    do {                                                                                           \
        if ((int)(_call) != 0) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_call);                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct work {
    long single, twice; /* GEMMs in FP32 and in double */
};

struct graph {
    cudaGraph_t graph;
    struct work work;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct work direct, replayed;
static long launches;

/* What one thread works with. */
struct place {
    cudaStream_t stream;
    cublasHandle_t handle;
    float *a, *b, *c;
    double *d;
    struct work *count; /* where GEMMs belong: direct, or the capture's */
    unsigned char expected[BYTES];
};

static void add(struct work *to, struct work n)
{
    pthread_mutex_lock(&lock);
    to->single += n.single;
    to->twice += n.twice;
    pthread_mutex_unlock(&lock);
}

static void sgemm(struct place *p)
{
    const float one = 1, zero = 0;
    CHECK(cublasSgemm_v2(p->handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &one, p->a, N, p->b, N,
                         &zero, p->c, N));
    add(p->count, (struct work){1, 0});
}

static void dgemm(struct place *p)
{
    const double one = 1, zero = 0;
    CHECK(cublasDgemm_v2(p->handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, p->d, N, p->d, N,
                         &zero, p->d + N * N, N));
    add(p->count, (struct work){0, 1});
}

static void gemv(struct place *p)
{
    const double one = 1, zero = 0;
    CHECK(cublasDgemv_v2(p->handle, CUBLAS_OP_N, N, N, &one, p->d, N, p->d, 1, &zero, p->d + N * N,
                         1));
}

static void fill(struct place *p, void *device, size_t bytes, unsigned seed, int is_double)
{
    unsigned char *host = malloc(bytes);
    for (size_t i = 0; i < bytes / (is_double ? sizeof(double) : sizeof(float)); i++) {
        seed = seed * 1664525u + 1013904223u;
        const double x = (double)seed / 4294967296.0 - 0.5;
        if (is_double)
            ((double *)(void *)host)[i] = x;
        else
            ((float *)(void *)host)[i] = (float)x;
    }
    /* Not on the legacy stream: another thread may be capturing. */
    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, p->stream));
    CHECK(cudaStreamSynchronize(p->stream));
    free(host);
}

static void open_place(struct place *p, cudaStream_t stream, unsigned seed)
{
    p->stream = stream;
    p->count = &direct;
    CHECK(cublasCreate_v2(&p->handle));
    CHECK(cublasSetStream_v2(p->handle, stream));
    CHECK(cudaMalloc((void **)&p->a, BYTES));
    CHECK(cudaMalloc((void **)&p->b, BYTES));
    CHECK(cudaMalloc((void **)&p->c, BYTES));
    CHECK(cudaMalloc((void **)&p->d, 4 * BYTES));
    fill(p, p->a, BYTES, seed, 0);
    fill(p, p->b, BYTES, seed + 1, 0);
    fill(p, p->d, 4 * BYTES, seed + 2, 1);
    sgemm(p); /* also: what may be captured has run before */
    dgemm(p);
    gemv(p);
    CHECK(cudaMemcpyAsync(p->expected, p->c, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static void close_place(struct place *p)
{
    CHECK(cublasDestroy_v2(p->handle));
    CHECK(cudaFree(p->a));
    CHECK(cudaFree(p->b));
    CHECK(cudaFree(p->c));
    CHECK(cudaFree(p->d));
    if (p->stream != NULL && p->stream != cudaStreamPerThread)
        CHECK(cudaStreamDestroy(p->stream));
}

static void begin(struct place *p, struct work *count)
{
    *count = (struct work){0, 0};
    p->count = count;
    CHECK(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeThreadLocal));
}

static cudaGraph_t end(struct place *p)
{
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(p->stream, &graph));
    p->count = &direct;
    return graph;
}

static struct graph capture(struct place *p, int singles, int twices)
{
    struct graph g;
    begin(p, &g.work);
    for (int i = 0; i < singles; i++)
        sgemm(p);
    for (int i = 0; i < twices; i++)
        dgemm(p);
    g.graph = end(p);
    return g;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void launch(struct place *p, cudaGraphExec_t exec, struct work work, int times)
{
    unsigned char got[BYTES];
    for (int i = 0; i < times; i++) {
        if (work.single > 0)
            CHECK(cudaMemsetAsync(p->c, 0xff, BYTES, p->stream));
        CHECK(cudaGraphLaunch(exec, p->stream));
        add(&replayed, work);
        pthread_mutex_lock(&lock);
        launches++;
        pthread_mutex_unlock(&lock);
    }
    CHECK(cudaMemcpyAsync(got, p->c, BYTES, cudaMemcpyDeviceToHost, p->stream));
    CHECK(cudaStreamSynchronize(p->stream));
    if (memcmp(got, p->expected, BYTES) != 0) {
        fprintf(stderr, "a launch gives other bits than the direct call\n");
        exit(1);
    }
}

static void run(struct place *p, cudaGraph_t graph, struct work work, int times)
{
    cudaGraphExec_t exec = instantiate(graph);
    launch(p, exec, work, times);
    CHECK(cudaGraphExecDestroy(exec));
}

static struct work plus(struct work a, struct work b)
{
    return (struct work){a.single + b.single, a.twice + b.twice};
}

static void plain(struct place *p)
{
    struct graph g = capture(p, 3, 1);
    cudaGraphExec_t exec = instantiate(g.graph);
    CHECK(cudaGraphDestroy(g.graph)); /* the executable goes on without it */
    launch(p, exec, g.work, 5);
    sgemm(p); /* between launches, not in them */
    launch(p, exec, g.work, 2);
    CHECK(cudaGraphExecDestroy(exec));
}

/* A second stream joins the capture by an event. */
static void streams(struct place *p)
{
    struct place other;
    cudaStream_t stream;
    cudaEvent_t fork, join;
    struct work work;
    CHECK(cudaStreamCreate(&stream));
    open_place(&other, stream, 7);
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    begin(p, &work);
    other.count = &work;
    sgemm(p);
    CHECK(cudaEventRecord(fork, p->stream));
    CHECK(cudaStreamWaitEvent(stream, fork, 0));
    sgemm(&other);
    dgemm(&other);
    CHECK(cudaEventRecord(join, stream));
    CHECK(cudaStreamWaitEvent(p->stream, join, 0));
    dgemm(p);
    cudaGraph_t graph = end(p);
    run(p, graph, work, 4);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    close_place(&other);
}

static void cloned(struct place *p)
{
    struct graph g = capture(p, 2, 1);
    cudaGraph_t copy, second;
    CHECK(cudaGraphClone(&copy, g.graph));
    CHECK(cudaGraphDestroy(g.graph));
    CHECK(cudaGraphClone(&second, copy));
    run(p, copy, g.work, 3);
    CHECK(cudaGraphDestroy(copy));
    run(p, second, g.work, 1);
    CHECK(cudaGraphDestroy(second));
}

static void child(struct place *p)
{
    struct graph g = capture(p, 2, 1), h = capture(p, 0, 3);
    cudaGraph_t parent, grand, inner;
    cudaGraphNode_t first, second, third;
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphAddChildGraphNode(&first, parent, NULL, 0, g.graph));
    CHECK(cudaGraphAddChildGraphNode(&second, parent, &first, 1, h.graph));
    run(p, parent, plus(g.work, h.work), 3);
    /* The same by the call for all kinds of nodes. */
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeGraph};
    params.graph.graph = g.graph;
    CHECK(cudaGraphAddNode(&third, parent, &second, NULL, 1, &params));
    CHECK(cudaGraphDestroy(g.graph));
    CHECK(cudaGraphDestroy(h.graph));
    run(p, parent, plus(plus(g.work, g.work), h.work), 2);
    /* A child of a child; the graph behind a node; a node taken out. */
    CHECK(cudaGraphCreate(&grand, 0));
    CHECK(cudaGraphAddChildGraphNode(&first, grand, NULL, 0, parent));
    run(p, grand, plus(plus(g.work, g.work), h.work), 2);
    CHECK(cudaGraphChildGraphNodeGetGraph(second, &inner));
    run(p, inner, h.work, 1);
    CHECK(cudaGraphDestroyNode(second));
    run(p, parent, plus(g.work, g.work), 2);
    CHECK(cudaGraphDestroy(parent));
    CHECK(cudaGraphDestroy(grand));
}

/* A and B have nodes of the same kinds, and another number of GEMMs. */
static cudaGraph_t two_nodes(struct place *p, struct work *work, int gemms)
{
    begin(p, work);
    for (int i = 0; i < 2; i++)
        if (i < gemms)
            dgemm(p);
        else
            gemv(p);
    return end(p);
}

static void update(struct place *p)
{
    struct work one, two;
    cudaGraph_t a = two_nodes(p, &one, 1), b = two_nodes(p, &two, 2);
    struct graph other = capture(p, 2, 2);
    cudaGraphExec_t exec = instantiate(a);
    cudaGraphExecUpdateResultInfo info;
    launch(p, exec, one, 3);
    CHECK(cudaGraphExecUpdate(exec, b, &info));
    launch(p, exec, two, 3);
    if (cudaGraphExecUpdate(exec, other.graph, &info) == cudaSuccess) /* another topology */
        exit(1);
    (void)cudaGetLastError();
    launch(p, exec, two, 2);
    CHECK(cudaGraphExecUpdate(exec, a, &info));
    launch(p, exec, one, 1);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(a));
    CHECK(cudaGraphDestroy(b));
    CHECK(cudaGraphDestroy(other.graph));
}

/* The child of an executable is replaced, by both calls that do it. */
static void update_child(struct place *p)
{
    struct work one, two, none;
    cudaGraph_t a = two_nodes(p, &one, 1), b = two_nodes(p, &two, 2), c = two_nodes(p, &none, 0);
    cudaGraph_t parent;
    cudaGraphNode_t first, second;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeGraph};
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphAddChildGraphNode(&first, parent, NULL, 0, a));
    CHECK(cudaGraphAddChildGraphNode(&second, parent, &first, 1, b));
    cudaGraphExec_t exec = instantiate(parent);
    launch(p, exec, plus(one, two), 1);
    CHECK(cudaGraphExecChildGraphNodeSetParams(exec, first, b));
    launch(p, exec, plus(two, two), 2);
    CHECK(cudaGraphExecChildGraphNodeSetParams(exec, first, c));
    launch(p, exec, two, 2);
    params.graph.graph = a;
    CHECK(cudaGraphExecNodeSetParams(exec, second, &params));
    launch(p, exec, one, 2);
    CHECK(cudaGraphExecDestroy(exec));
    run(p, parent, plus(one, two), 1); /* is as it was */
    CHECK(cudaGraphDestroy(parent));
    CHECK(cudaGraphDestroy(a));
    CHECK(cudaGraphDestroy(b));
    CHECK(cudaGraphDestroy(c));
}

/* An executable that is launched into a capture becomes a part of it. */
static void nested(struct place *p)
{
    struct graph g = capture(p, 1, 2);
    cudaGraphExec_t exec = instantiate(g.graph);
    struct work work;
    begin(p, &work);
    sgemm(p);
    CHECK(cudaGraphLaunch(exec, p->stream));
    CHECK(cudaGraphLaunch(exec, p->stream));
    cudaGraph_t graph = end(p);
    work = plus(work, plus(g.work, g.work));
    run(p, graph, work, 3);
    launch(p, exec, g.work, 1);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(g.graph));
    CHECK(cudaGraphDestroy(graph));
}

/* Two captures into one graph of the program's. */
static void to_graph(struct place *p)
{
    cudaGraph_t graph, same;
    struct work work = {0, 0};
    CHECK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamBeginCaptureToGraph(p->stream, graph, NULL, NULL, 0,
                                            cudaStreamCaptureModeThreadLocal));
        p->count = &work;
        sgemm(p);
        if (i == 1)
            dgemm(p);
        CHECK(cudaStreamEndCapture(p->stream, &same));
        p->count = &direct;
    }
    run(p, graph, work, 3);
    CHECK(cudaGraphDestroy(graph));
}

/* A capture that fails leaves nothing behind, neither on its stream nor in the next one. */
static void invalid(struct place *p)
{
    struct work lost;
    for (int i = 0; i < 3; i++) {
        cudaGraph_t graph;
        void *memory;
        begin(p, &lost);
        sgemm(p);
        if (cudaMalloc(&memory, 256) == cudaSuccess || /* not while capturing */
            cudaStreamEndCapture(p->stream, &graph) == cudaSuccess)
            exit(1);
        (void)cudaGetLastError();
        p->count = &direct;
        sgemm(p);
    }
    struct graph g = capture(p, 1, 1);
    run(p, g.graph, g.work, 2);
    CHECK(cudaGraphDestroy(g.graph));
}

/* Handles come back: a graph without GEMMs must not be taken for one that had some. */
static void reuse(struct place *p)
{
    for (int i = 0; i < MANY; i++) {
        struct graph g = capture(p, i % 3 == 0, i % 3 == 1);
        struct work work = g.work;
        cudaGraph_t empty;
        run(p, g.graph, work, 1);
        CHECK(cudaGraphDestroy(g.graph));
        CHECK(cudaGraphCreate(&empty, 0));
        run(p, empty, (struct work){0, 0}, 1);
        CHECK(cudaGraphDestroy(empty));
    }
}

static size_t used(void)
{
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

/* Memory of graphs that are gone comes back; that of executables stays without their graphs. */
static void memory(struct place *p)
{
    static cudaGraphExec_t kept[MANY];
    size_t most[2] = {0, 0}; /* it comes back many blocks at a time: compare the peaks */
    for (int i = 0; i < 4 * MANY; i++) {
        struct graph g = capture(p, 1, 0);
        size_t *peak = &most[i / (2 * MANY)];
        run(p, g.graph, g.work, 1);
        CHECK(cudaGraphDestroy(g.graph));
        if (used() > *peak)
            *peak = used();
    }
    if (most[1] > most[0] + most[0] / 4) {
        fprintf(stderr, "memory of graphs grew from %zu to %zu bytes\n", most[0], most[1]);
        exit(1);
    }
    struct work work = {0, 0};
    for (int i = 0; i < MANY; i++) {
        struct graph g = capture(p, 1, 0);
        kept[i] = instantiate(g.graph);
        work = g.work;
        CHECK(cudaGraphDestroy(g.graph));
    }
    for (int i = 0; i < MANY; i++)
        launch(p, kept[i], work, 1);
    for (int i = 0; i < MANY; i++)
        CHECK(cudaGraphExecDestroy(kept[i]));
}

/* An executable that was updated holds the memory of its new graph, and not that of the old. */
static void memory_updated(struct place *p)
{
    struct graph g = capture(p, 1, 0);
    cudaGraphExec_t exec = instantiate(g.graph);
    launch(p, exec, g.work, 1);
    for (int i = 0; i < MANY; i++) {
        cudaGraphExecUpdateResultInfo info;
        CHECK(cudaGraphDestroy(g.graph));
        g = capture(p, 1, 0);
        CHECK(cudaGraphExecUpdate(exec, g.graph, &info));
    }
    const size_t before = used();
    CHECK(cudaGraphDestroy(g.graph));
    for (int i = 0; i < MANY; i++) {
        g = capture(p, 1, 0);
        CHECK(cudaGraphDestroy(g.graph));
    }
    if (used() > before + before / 4) {
        fprintf(stderr, "memory grew from %zu to %zu bytes\n", before, used());
        exit(1);
    }
    launch(p, exec, g.work, 2);
    CHECK(cudaGraphExecDestroy(exec));
}

/* Each thread captures on a stream of its own, all at once. */
static void *thread_main(void *arg)
{
    struct place p;
    cudaStream_t stream = cudaStreamPerThread;
#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
    arg = &p; /* it would wait for the legacy stream, which cublasCreate may use */
#endif
    if (arg != NULL)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    open_place(&p, stream, 11);
    for (int i = 0; i < 5; i++) {
        struct graph g = capture(&p, 1 + i % 2, 1);
        run(&p, g.graph, g.work, 2);
        CHECK(cudaGraphDestroy(g.graph));
    }
    close_place(&p);
    return NULL;
}

static void threads(struct place *p)
{
    pthread_t thread[4];
    (void)p;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, thread_main, i % 2 == 0 ? &thread : NULL) != 0)
            exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct place *p);
    } scenarios[] = {
        {"plain", plain},
        {"streams", streams},
        {"clone", cloned},
        {"child", child},
        {"update", update},
        {"update_child", update_child},
        {"nested", nested},
        {"to_graph", to_graph},
        {"invalid", invalid},
        {"reuse", reuse},
        {"memory", memory},
        {"memory_updated", memory_updated},
        {"threads", threads},
    };
    static struct place place;
    cudaStream_t stream = NULL; /* the calling thread's own, where that is the default stream */
#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
#endif
    open_place(&place, stream, 1);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    /* To cuBLAS, which is compiled otherwise, NULL is the legacy stream. */
    CHECK(cublasSetStream_v2(place.handle, cudaStreamPerThread));
#endif
    for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run(&place);
            CHECK(cudaDeviceSynchronize());
            printf("launches=%ld gemms=%ld single=%ld all_single=%ld all_twice=%ld\n", launches,
                   replayed.single + replayed.twice, replayed.single,
                   replayed.single + direct.single, replayed.twice + direct.twice);
            close_place(&place);
            return 0;
        }
    return 2;
}
