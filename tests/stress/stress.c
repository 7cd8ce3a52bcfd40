/* SPDX-License-Identifier: BSD-3-Clause
 * Threads, streams and devices that all multiply through one place in the code, with shapes that
 * repeat and data whose scale jumps. Four threads use two streams on each of two devices: one of
 * their own and one that all threads share. Nothing waits within a round, so work of all streams
 * is in flight together. What a call computes depends on its thread, round and number alone: the
 * hashes that are printed are equal however the work is ordered. Knows nothing of the preload.
 * Usage: stress ROUNDS SEED [TOLERANCE]; with TOLERANCE also compares with a product in double. */
#include "conformance/random.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, DEVICES = 2, STREAMS = 2, CALLS = 12, BATCH = 3, LANES = DEVICES * STREAMS };
enum { MOST = 40 * 640 }; /* elements of a matrix, or of a batch of them */

#define MUST(_call)                                                                                \
    do {                                                                                           \
        int _status = (int)(_call);                                                                \
        if (_status != 0) {                                                                        \
            fprintf(stderr, "stress: line %d: %s: %d\n", __LINE__, #_call, _status);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Few, so that each is met again with data of another scale. */
static const struct shape {
    int m, n, k, batch;
    cublasOperation_t transa, transb;
} shapes[] = {
    {24, 17, 33, 1, CUBLAS_OP_N, CUBLAS_OP_N}, {24, 17, 33, 1, CUBLAS_OP_T, CUBLAS_OP_N},
    {40, 8, 64, 1, CUBLAS_OP_N, CUBLAS_OP_T},  {9, 31, 20, 1, CUBLAS_OP_T, CUBLAS_OP_T},
    {16, 16, 16, BATCH, CUBLAS_OP_N, CUBLAS_OP_N}, {5, 7, 600, 1, CUBLAS_OP_N, CUBLAS_OP_N},
};

/* One call: the numbers in pinned memory, from where they are copied in stream order. */
struct call {
    struct shape shape;
    int lane;
    bool device_scalars;
    float *a, *b, *c, *result, *scalars;
};

/* What a thread has on one stream of one device; all calls there use the same buffers. */
struct lane {
    int device;
    cudaStream_t stream;
    float *a, *b, *c, *scalars;
};

struct worker {
    pthread_t thread;
    int number, rounds;
    uint64_t seed;
    double tolerance, worst;
    struct lane lane[LANES];
    cublasHandle_t handle[DEVICES];
    struct call call[CALLS];
    uint64_t *hash; /* rounds x CALLS */
};

static float *pinned(size_t elements)
{
    void *p = NULL;
    MUST(cudaMallocHost(&p, elements * sizeof(float)));
    return p;
}

static float *on_device(size_t elements)
{
    void *p = NULL;
    MUST(cudaMalloc(&p, elements * sizeof(float)));
    return p;
}

static void fill(float *data, size_t elements, int exponent, uint64_t *random)
{
    for (size_t i = 0; i < elements; i++)
        data[i] = (float)ldexp(random_normal(random), exponent);
}

static size_t elements_of(const struct shape *s, int rows, int cols)
{
    return (size_t)rows * (size_t)cols * (size_t)s->batch;
}

/* Every other call has data of another scale, by up to 2^40. */
static int jump(uint64_t *random)
{
    return random_once_in(random, 2) ? 0 : (int)random_below(random, 41) - 20;
}

static void choose(struct call *call, uint64_t *random)
{
    call->shape = PICK(random, shapes);
    call->lane = (int)random_below(random, LANES);
    call->device_scalars = random_once_in(random, 2);
    const struct shape *s = &call->shape;
    const int exponent_a = jump(random), exponent_b = jump(random);
    /* The later entries of a batch are larger. */
    for (int e = 0; e < s->batch; e++)
        fill(call->a + e * s->m * s->k, (size_t)(s->m * s->k), exponent_a + 6 * e, random);
    fill(call->b, elements_of(s, s->k, s->n), exponent_b, random);
    fill(call->c, elements_of(s, s->m, s->n), exponent_a + exponent_b, random);
    call->scalars[0] = (float)random_normal(random);
    call->scalars[1] = random_once_in(random, 4) ? 0.0f : (float)random_normal(random);
}

/* The one place from which all products come. */
static void multiply(cublasHandle_t handle, const struct shape *s, const float *alpha,
                     const float *a, const float *b, const float *beta, float *c)
{
    const int lda = s->transa == CUBLAS_OP_N ? s->m : s->k;
    const int ldb = s->transb == CUBLAS_OP_N ? s->k : s->n;
    if (s->batch == 1)
        MUST(cublasSgemm_v2(handle, s->transa, s->transb, s->m, s->n, s->k, alpha, a, lda, b, ldb,
                            beta, c, s->m));
    else
        MUST(cublasSgemmStridedBatched(handle, s->transa, s->transb, s->m, s->n, s->k, alpha, a,
                                       lda, (long long)s->m * s->k, b, ldb, (long long)s->k * s->n,
                                       beta, c, s->m, (long long)s->m * s->n, s->batch));
}

static void submit(struct worker *w, struct call *call)
{
    const struct lane *l = &w->lane[call->lane];
    const struct shape *s = &call->shape;
    const size_t c_bytes = elements_of(s, s->m, s->n) * sizeof(float);
    cublasHandle_t handle = w->handle[l->device];
    MUST(cudaSetDevice(l->device));
    MUST(cudaMemcpyAsync(l->a, call->a, elements_of(s, s->m, s->k) * sizeof(float),
                         cudaMemcpyHostToDevice, l->stream));
    MUST(cudaMemcpyAsync(l->b, call->b, elements_of(s, s->k, s->n) * sizeof(float),
                         cudaMemcpyHostToDevice, l->stream));
    MUST(cudaMemcpyAsync(l->c, call->c, c_bytes, cudaMemcpyHostToDevice, l->stream));
    MUST(cudaMemcpyAsync(l->scalars, call->scalars, 2 * sizeof(float), cudaMemcpyHostToDevice,
                         l->stream));
    MUST(cublasSetStream_v2(handle, l->stream));
    MUST(cublasSetPointerMode_v2(handle, call->device_scalars ? CUBLAS_POINTER_MODE_DEVICE
                                                              : CUBLAS_POINTER_MODE_HOST));
    const float *scalars = call->device_scalars ? l->scalars : call->scalars;
    multiply(handle, s, scalars, l->a, l->b, scalars + 1, l->c);
    MUST(cudaMemcpyAsync(call->result, l->c, c_bytes, cudaMemcpyDeviceToHost, l->stream));
}

static uint64_t hash_of(const float *data, size_t elements)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < elements; i++) {
        uint32_t bits;
        memcpy(&bits, &data[i], sizeof bits);
        h = (h ^ bits) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* Largest difference from the product in double, against |alpha| |A| |B| + |beta C|. */
static double error_of(const struct call *call)
{
    const struct shape *s = &call->shape;
    double worst = 0;
    for (int e = 0; e < s->batch; e++)
        for (int j = 0; j < s->n; j++)
            for (int i = 0; i < s->m; i++) {
                const size_t at = (size_t)e * (size_t)(s->m * s->n) + (size_t)(j * s->m + i);
                double sum = 0, size = 0;
                for (int k = 0; k < s->k; k++) {
                    const int ia = s->transa == CUBLAS_OP_N ? k * s->m + i : i * s->k + k;
                    const int ib = s->transb == CUBLAS_OP_N ? j * s->k + k : k * s->n + j;
                    const double p = (double)call->a[e * s->m * s->k + ia] *
                                     (double)call->b[e * s->k * s->n + ib];
                    sum += p;
                    size += fabs(p);
                }
                const double rest = (double)call->scalars[1] * (double)call->c[at];
                const double alpha = (double)call->scalars[0];
                const double error = fabs((double)call->result[at] - (alpha * sum + rest)) /
                                     (fabs(alpha) * size + fabs(rest));
                worst = error <= worst ? worst : error; /* NaN stays */
            }
    return worst;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int round = 0; round < w->rounds; round++) {
        uint64_t random = (w->seed * 1000 + (uint64_t)(w->number * w->rounds + round)) * 2 + 1;
        for (int i = 0; i < 8; i++)
            random_next(&random);
        for (int i = 0; i < CALLS; i++) {
            choose(&w->call[i], &random);
            submit(w, &w->call[i]);
        }
        for (int i = 0; i < LANES; i++) {
            MUST(cudaSetDevice(w->lane[i].device));
            MUST(cudaStreamSynchronize(w->lane[i].stream));
        }
        for (int i = 0; i < CALLS; i++) {
            const struct call *call = &w->call[i];
            w->hash[round * CALLS + i] =
                hash_of(call->result, elements_of(&call->shape, call->shape.m, call->shape.n));
            const double error = w->tolerance > 0 ? error_of(call) : 0;
            w->worst = error <= w->worst ? w->worst : error;
        }
    }
    return NULL;
}

static void prepare(struct worker *w, cudaStream_t shared[DEVICES])
{
    for (int i = 0; i < LANES; i++) {
        struct lane *l = &w->lane[i];
        l->device = i / STREAMS;
        MUST(cudaSetDevice(l->device));
        l->stream = shared[l->device];
        if (i % STREAMS != 0)
            MUST(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
        else
            MUST(cublasCreate_v2(&w->handle[l->device]));
        l->a = on_device(MOST);
        l->b = on_device(MOST);
        l->c = on_device(MOST);
        l->scalars = on_device(2);
    }
    for (int i = 0; i < CALLS; i++) {
        struct call *call = &w->call[i];
        call->a = pinned(MOST);
        call->b = pinned(MOST);
        call->c = pinned(MOST);
        call->result = pinned(MOST);
        call->scalars = pinned(2);
    }
    w->hash = calloc((size_t)w->rounds * CALLS, sizeof *w->hash);
    MUST(w->hash == NULL);
}

int main(int argc, char **argv)
{
    static struct worker worker[THREADS];
    cudaStream_t shared[DEVICES];
    double worst = 0;
    const double tolerance = argc > 3 ? strtod(argv[3], NULL) : 0;
    MUST(argc < 3);
    for (int d = 0; d < DEVICES; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreateWithFlags(&shared[d], cudaStreamNonBlocking));
    }
    for (int t = 0; t < THREADS; t++) {
        worker[t].number = t;
        worker[t].rounds = atoi(argv[1]);
        worker[t].seed = strtoull(argv[2], NULL, 10);
        worker[t].tolerance = tolerance;
        prepare(&worker[t], shared);
    }
    for (int t = 0; t < THREADS; t++)
        MUST(pthread_create(&worker[t].thread, NULL, work, &worker[t]));
    for (int t = 0; t < THREADS; t++)
        MUST(pthread_join(worker[t].thread, NULL));
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < worker[t].rounds * CALLS; i++)
            printf("thread %d call %d %016llx\n", t, i, (unsigned long long)worker[t].hash[i]);
        worst = worker[t].worst <= worst ? worst : worker[t].worst;
    }
    if (tolerance > 0 && !(worst <= tolerance)) {
        fprintf(stderr, "stress: an error of %.3g of |A||B|\n", worst);
        return 1;
    }
    return 0;
}
