/* SPDX-License-Identifier: BSD-3-Clause
 * Errors of cublasSgemm and cublasSgemmStridedBatched against products in double, beside those of a
 * product that is summed in FP32 in the order of K, as GPUs do. Before each product the same one is
 * made of data that is smaller by 2^20, so that all results come right after a jump. Knows nothing
 * of the preload; all state is local.
 * Usage: accuracy SEED K,K,... [FILE]; FILE holds operands that a program has written. A line for
 * each case: name, tab, K, then three pairs (of cuBLAS, of FP32): norm-wise ||E|| / ||C||, the same
 * of the worst row (of the worst entry of a batch), and max |e| / (|A||B|). Errors are taken over
 * finite elements; they are infinite where cuBLAS is finite and FP32 is not, or the reverse. */
#include "accuracy/data.h"
#include "conformance/random.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64 };

#define MUST(_call)                                                                                \
    do {                                                                                           \
        int _status = (int)(_call);                                                                \
        if (_status != 0) {                                                                        \
            fprintf(stderr, "accuracy: line %d: %s: %d\n", __LINE__, #_call, _status);             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Host memory of operands and results; device memory of the same sizes. */
struct room {
    float *a, *b, *c;
    float *device_a, *device_b, *device_c;
};

static size_t entry_a(const struct problem *p)
{
    return (size_t)p->m * (size_t)p->k;
}

static size_t entry_b(const struct problem *p)
{
    return (size_t)p->k * (size_t)p->n;
}

static size_t entry_c(const struct problem *p)
{
    return (size_t)p->m * (size_t)p->n;
}

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);
    MUST(p == NULL);
    return p;
}

static void *device_memory(size_t bytes)
{
    void *p = NULL;
    MUST(cudaMalloc(&p, bytes));
    return p;
}

static void upload(float *to, float *from, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++)
        from[i] *= scale;
    MUST(cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyHostToDevice));
}

static void multiply(cublasHandle_t handle, const struct problem *p, struct room *r, float scale)
{
    const float one = 1, zero = 0;
    const size_t batch = (size_t)p->batch;
    upload(r->device_a, r->a, entry_a(p) * batch, scale);
    upload(r->device_b, r->b, entry_b(p) * batch, scale);
    MUST(cudaMemset(r->device_c, 0xff, entry_c(p) * batch * sizeof(float)));
    if (batch == 1)
        MUST(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, p->m, p->n, p->k, &one, r->device_a,
                            p->m, r->device_b, p->k, &zero, r->device_c, p->m));
    else
        MUST(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, p->m, p->n, p->k, &one,
                                       r->device_a, p->m, (long long)entry_a(p), r->device_b, p->k,
                                       (long long)entry_b(p), &zero, r->device_c, p->m,
                                       (long long)entry_c(p), p->batch));
    MUST(cudaMemcpy(r->c, r->device_c, entry_c(p) * batch * sizeof(float), cudaMemcpyDeviceToHost));
}

/* Sums of squares of errors and of what is right, and the largest error of an element. */
struct part {
    double error, right;
};

struct errors {
    struct part all, row[MOST_ROWS], worst_entry;
    double element;
};

static double ratio(const struct part *p)
{
    return p->error == 0 ? 0 : sqrt(p->error / p->right);
}

static void add_element(struct errors *e, struct part *entry, int row, double got, double right,
                        double size)
{
    const double error = isfinite(right) ? got - right : isfinite(got) ? INFINITY : 0;
    const double value = isfinite(right) ? right : 0;
    struct part *parts[] = {&e->all, &e->row[row], entry};
    for (int i = 0; i < 3; i++) {
        parts[i]->error += error * error;
        parts[i]->right += value * value;
    }
    const double relative = error == 0 ? 0 : fabs(error) / size;
    e->element = relative <= e->element ? e->element : relative;
}

/* One column of an entry of C: in double, its size in double, and in FP32 in the order of K (an
 * addition in double that is rounded to FP32 is a fused multiply-add but for double rounding). */
static void reference(const struct problem *p, const float *a, const float *b, double *sum,
                      double *size, float *sequential)
{
    for (int i = 0; i < p->m; i++) {
        sum[i] = size[i] = 0;
        sequential[i] = 0;
    }
    for (int k = 0; k < p->k; k++) {
        const float *column = a + (size_t)k * (size_t)p->m;
        const double factor = (double)b[k];
        for (int i = 0; i < p->m; i++) {
            const double product = (double)column[i] * factor;
            sum[i] += product;
            size[i] += fabs(product);
            sequential[i] = (float)((double)sequential[i] + product);
        }
    }
}

static void keep_worst(struct part *worst, const struct part *entry)
{
    if (!(ratio(entry) <= ratio(worst)))
        *worst = *entry;
}

static void judge(const struct problem *p, const struct room *r, struct errors e[2])
{
    double sum[MOST_ROWS], size[MOST_ROWS];
    float sequential[MOST_ROWS];
    memset(e, 0, 2 * sizeof *e);
    for (int b = 0; b < p->batch; b++) {
        struct part entry[2] = {{0, 0}, {0, 0}};
        for (int j = 0; j < p->n; j++) {
            const float *c = r->c + (size_t)b * entry_c(p) + (size_t)j * (size_t)p->m;
            reference(p, r->a + (size_t)b * entry_a(p),
                      r->b + (size_t)b * entry_b(p) + (size_t)j * (size_t)p->k, sum, size,
                      sequential);
            for (int i = 0; i < p->m; i++) {
                add_element(&e[0], &entry[0], i, (double)c[i], sum[i], size[i]);
                add_element(&e[1], &entry[1], i, (double)sequential[i], sum[i], size[i]);
            }
        }
        for (int s = 0; s < 2; s++)
            keep_worst(&e[s].worst_entry, &entry[s]);
    }
}

static double worst_part(const struct problem *p, const struct errors *e)
{
    struct part worst = e->worst_entry;
    for (int i = 0; p->batch == 1 && i < p->m; i++)
        keep_worst(&worst, &e->row[i]);
    return ratio(&worst);
}

static void measure(cublasHandle_t handle, const char *name, const struct problem *p,
                    struct room *r)
{
    struct errors e[2];
    multiply(handle, p, r, 0x1p-20f);
    multiply(handle, p, r, 0x1p+20f);
    judge(p, r, e);
    printf("%s\t%d", name, p->k);
    for (int s = 0; s < 2; s++)
        printf("\t%.4e\t%.4e\t%.4e", ratio(&e[s].all), worst_part(p, &e[s]), e[s].element);
    putchar('\n');
    fflush(stdout);
}

/* FILE: for each case a name of 32 bytes, m, n, k as int, A and B. */
static void measure_file(cublasHandle_t handle, const char *path, struct room *r, size_t most)
{
    FILE *file = fopen(path, "rb");
    char name[32];
    int sizes[3];
    MUST(file == NULL);
    while (fread(name, sizeof name, 1, file) == 1) {
        MUST(fread(sizes, sizeof sizes, 1, file) != 1);
        const struct problem p = {sizes[0], sizes[1], sizes[2], 1, r->a, r->b};
        MUST(p.m > MOST_ROWS || entry_a(&p) > most || entry_b(&p) > most || entry_c(&p) > most);
        MUST(fread(r->a, sizeof(float), entry_a(&p), file) != entry_a(&p));
        MUST(fread(r->b, sizeof(float), entry_b(&p), file) != entry_b(&p));
        measure(handle, name, &p, r);
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    cublasHandle_t handle;
    struct room r;
    if (argc < 3)
        return 2;
    uint64_t random = strtoull(argv[1], NULL, 10) * 2 + 1;
    int most_k = 1024;
    for (const char *at = argv[2]; at != NULL; at = strchr(at, ','), at = at ? at + 1 : NULL)
        most_k = atoi(at) > most_k ? atoi(at) : most_k;
    const size_t most = (size_t)MOST_ROWS * (size_t)most_k, bytes = most * sizeof(float);
    r = (struct room){memory(bytes),        memory(bytes),        memory(bytes),
                      device_memory(bytes), device_memory(bytes), device_memory(bytes)};
    MUST(cublasCreate_v2(&handle));
    for (int d = 0; d < distributions_n; d++)
        for (const char *at = argv[2]; at != NULL; at = strchr(at, ','), at = at ? at + 1 : NULL) {
            const int batch = distributions[d].batch;
            struct problem p = {64 / batch, 48, atoi(at), batch, r.a, r.b};
            if (batch > 1)
                p.m = p.n = 16;
            /* A batch of the longest K would be as long as all other cases together. */
            if ((size_t)p.k * 16 * (size_t)batch > most)
                continue;
            distributions[d].fill(&p, &random);
            measure(handle, distributions[d].name, &p, &r);
        }
    if (argc > 3)
        measure_file(handle, argv[3], &r, most);
    MUST(cublasDestroy_v2(handle));
    free(r.a);
    free(r.b);
    free(r.c);
    MUST(cudaFree(r.device_a));
    MUST(cudaFree(r.device_b));
    MUST(cudaFree(r.device_c));
    return 0;
}
