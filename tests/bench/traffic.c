/* SPDX-License-Identifier: BSD-3-Clause
 * What 30 GEMMs do on the software GPU, counted, beside what a closed form says that their path
 * must do: launches, bytes that the kernels read and write, products, their operations and bytes.
 * Run under the preload; fails where a number differs. traffic PATH MULTIPROCESSORS */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 30, BLOCK_THREADS = 256, CHECK_BLOCKS_PER_MULTIPROCESSOR = 2 };
enum { TILE = 64, TILE_BLOCKS_PER_MULTIPROCESSOR = 4 };

struct path {
    const char *name, *cast, *check, *amax; /* kernels; NULL: none */
    const char *gemm;                       /* counter of its products */
    int pieces, piece_bytes;
    int64_t part; /* elements of K that one product sums over; 0: all */
    bool turned;  /* FP8: K is contiguous in both copies, every size a multiple of 16 */
};

static const struct path paths[] = {
    {"tf32", NULL, NULL, NULL, "gemm.tf32", 1, 4, 0, false},
    {"dynamic", "apex_cast_fp16", "apex_check_fp16", NULL, "gemm.f16", 1, 2, 0, false},
    {"exact", NULL, "apex_check_fp16", "apex_amax_f32", "gemm.f16", 1, 2, 0, false},
    {"bf16", "apex_cast_bf16", NULL, NULL, "gemm.bf16", 1, 2, 0, false},
    {"fp16x2", "apex_cast_fp16x2", "apex_check_fp16x2", NULL, "gemm.f16", 3, 2, 512, false},
    {"bf16x3", "apex_cast_bf16x3", NULL, NULL, "gemm.bf16", 3, 2, 2048, false},
    {"bf16x6", "apex_cast_bf16x6", NULL, NULL, "gemm.bf16", 6, 2, 512, false},
    {"fp8", "apex_cast_fp8", NULL, "apex_amax_f32", "gemm.fp8", 1, 1, 0, true},
};

struct shape {
    int64_t m, n, k;
    bool ta, tb;
};

/* What is counted; the closed form fills in the same. */
struct counts {
    uint64_t launches, cast, check, amax;
    uint64_t read, written; /* by kernels */
    uint64_t gemms, gemm_flop, gemm_bytes;
    uint64_t threads; /* an input of the closed form: the grid is the kernels' own choice */
};

static uint64_t (*counter)(const char *key);

static uint64_t count(const char *prefix, const char *name)
{
    char key[80];
    if (name == NULL)
        return 0;
    snprintf(key, sizeof key, "%s%s", prefix, name);
    return counter(key);
}

static struct counts now(const struct path *p)
{
    return (struct counts){
        .launches = counter("launches"),
        .cast = count("kernel.", p->cast),
        .check = count("kernel.", p->check),
        .amax = count("kernel.", p->amax),
        .read = counter("bytes.global_read"),
        .written = counter("bytes.global_write"),
        .gemms = count("", p->gemm),
        .gemm_flop = count(p->gemm, ".flop"),
        .gemm_bytes = count(p->gemm, ".bytes"),
        .threads = counter("threads"),
    };
}

static struct counts minus(struct counts a, struct counts b)
{
    return (struct counts){
        a.launches - b.launches, a.cast - b.cast,           a.check - b.check,
        a.amax - b.amax,         a.read - b.read,           a.written - b.written,
        a.gemms - b.gemms,       a.gemm_flop - b.gemm_flop, a.gemm_bytes - b.gemm_bytes,
        a.threads - b.threads};
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static int64_t round8(int64_t x)
{
    return round_up(x, 8);
}

/* K as the product sees it, before it is split. */
static int64_t whole_k(const struct path *p, const struct shape *s)
{
    return p->turned ? round_up(s->k, 16) : p->pieces > 1 ? round8(s->k) : s->k;
}

/* Elements that the copies hold: whole vectors, and whole vectors of K where it is split. */
static int64_t copied(const struct path *p, const struct shape *s)
{
    const int64_t k = whole_k(p, s);
    if (p->turned)
        return k * (s->m + s->n);
    const int64_t a = s->ta ? round8(s->k) * s->m : round8(s->m) * k;
    const int64_t b = s->tb ? round8(s->n) * k : round8(s->k) * s->n;
    return p->pieces * (a + b);
}

/* Threads of the kernel that ends a call. Blocks of a check run at most two to a multiprocessor,
 * unless it has all to do; those of FP8 share out tiles. */
static uint64_t threads_of_last(const struct path *p, const struct shape *s, uint64_t threads,
                                int multiprocessors)
{
    const uint64_t blocks = (uint64_t)multiprocessors * BLOCK_THREADS;
    if (p->turned) {
        const int64_t k = round_up(s->k, TILE) / TILE;
        const uint64_t tiles =
            (uint64_t)(k * (round_up(s->m, TILE) / TILE + round_up(s->n, TILE) / TILE));
        const uint64_t most = blocks * TILE_BLOCKS_PER_MULTIPROCESSOR;
        return tiles * BLOCK_THREADS < most ? tiles * BLOCK_THREADS : most;
    }
    if (p->check == NULL)
        return 0;
    const uint64_t most = blocks * CHECK_BLOCKS_PER_MULTIPROCESSOR;
    return p->amax != NULL || threads / 2 < most ? threads / 2 : most;
}

/* Beyond elements and copies: each thread of a cast reads two predictions, each of the last
 * kernel the two maxima and, where there was a guess, the two exponents used; one thread reads the
 * two counts of what was lost and writes once: exponents used (8 bytes), and at the end exponents,
 * alpha, beta, 1 (20), predictions (8), three totals for the host (24), a clean record (44). */
static struct counts closed_form(const struct path *p, const struct shape *s, uint64_t threads,
                                 int multiprocessors)
{
    const uint64_t m = (uint64_t)s->m, n = (uint64_t)s->n, k = (uint64_t)s->k;
    const uint64_t elements = m * k + k * n;
    const bool cast = p->cast != NULL, check = p->check != NULL, amax = p->amax != NULL;
    const uint64_t passes = cast + amax + (uint64_t)(amax && check);
    const uint64_t kk = (uint64_t)whole_k(p, s);
    const uint64_t parts = p->part == 0 ? 1 : (kk + (uint64_t)p->part - 1) / (uint64_t)p->part;
    const uint64_t last = threads_of_last(p, s, threads, multiprocessors);
    struct counts c = {
        .cast = cast,
        .check = check,
        .amax = amax,
        .read = passes * 4 * elements,
        .gemms = parts,
        .gemm_flop = 2 * m * n * kk * (uint64_t)p->pieces,
        /* Later parts read C, which they add to. */
        .gemm_bytes = (uint64_t)p->piece_bytes * (uint64_t)p->pieces * kk * (m + n) +
                      4 * m * n * (2 * parts - 1),
        .threads = threads,
    };
    c.launches = c.cast + c.check + c.amax;
    if (c.launches != 0)
        c.written = (uint64_t)(p->piece_bytes * copied(p, s)) + (cast && !p->turned ? 8 : 0) + 20;
    if (check || p->turned) {
        c.read += (amax ? 8 : 16) * last + 16;
        c.written += 8 + 24 + 44;
    }
    if (check && cast)
        c.read += 8 * (threads - last);
    /* The scalars lie on the device: C is read as if beta were not 0. */
    if (c.launches != 0)
        c.gemm_bytes += 4 * m * n;
    return c;
}

static float *matrix(int64_t elements)
{
    float *host = malloc((size_t)elements * sizeof *host), *device;
    /* Maxima in [1/2, 8), which is the first guess, and nothing that could be lost. */
    for (int64_t i = 0; i < elements; i++)
        host[i] = (0.5f + (float)rand() / (float)RAND_MAX) * (rand() % 2 != 0 ? 1.0f : -1.0f);
    if (cudaMalloc((void **)&device, (size_t)elements * sizeof *device) != cudaSuccess ||
        cudaMemcpy(device, host, (size_t)elements * sizeof *host, cudaMemcpyHostToDevice) !=
            cudaSuccess)
        exit(1);
    free(host);
    return device;
}

static void multiply(cublasHandle_t handle, const struct shape *s)
{
    const float one = 1, zero = 0;
    float *a = matrix(s->m * s->k), *b = matrix(s->k * s->n), *c = matrix(s->m * s->n);
    if (cublasSgemm_v2(handle, s->ta ? CUBLAS_OP_T : CUBLAS_OP_N, s->tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                       (int)s->m, (int)s->n, (int)s->k, &one, a, (int)(s->ta ? s->k : s->m), b,
                       (int)(s->tb ? s->n : s->k), &zero, c, (int)s->m) != CUBLAS_STATUS_SUCCESS ||
        cudaDeviceSynchronize() != cudaSuccess)
        exit(1);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

static struct shape shape_of(int i)
{
    static const int64_t sizes[] = {1, 7, 8, 9, 16, 31, 64, 65, 96, 127, 128, 200, 256};
    struct shape s = {.ta = i % 4 / 2 != 0, .tb = i % 2 != 0};
    int64_t *const size[] = {&s.m, &s.n, &s.k};
    for (int j = 0; j < 3; j++)
        *size[j] = sizes[rand() % (int)(sizeof sizes / sizeof sizes[0])];
    if (i % 10 == 9) /* several parts of K */
        s.k = 1000 + rand() % 2000;
    return s;
}

static bool same(const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        printf("  %s: counted %" PRIu64 ", the closed form says %" PRIu64 "\n", what, got, want);
    return got == want;
}

static bool report(const struct shape *s, const struct counts *got, const struct counts *want)
{
    const double elements = (double)(s->m * s->k + s->k * s->n);
    printf("%5" PRId64 " %5" PRId64 " %5" PRId64 "  %c%c %8" PRIu64 " %12" PRIu64 " %12" PRIu64
           " %10.2f %6" PRIu64 " %13" PRIu64 " %13" PRIu64 "\n",
           s->m, s->n, s->k, s->ta ? 'T' : 'N', s->tb ? 'T' : 'N', got->launches, got->read,
           got->written, (double)(got->read + got->written) / elements, got->gemms, got->gemm_flop,
           got->gemm_bytes);
    const struct {
        const char *what;
        uint64_t got, want;
    } numbers[] = {
        {"launches", got->launches, want->launches},
        {"casts", got->cast, want->cast},
        {"checks", got->check, want->check},
        {"amax", got->amax, want->amax},
        {"bytes read", got->read, want->read},
        {"bytes written", got->written, want->written},
        {"products", got->gemms, want->gemms},
        {"flop", got->gemm_flop, want->gemm_flop},
        {"bytes of products", got->gemm_bytes, want->gemm_bytes},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        ok = same(numbers[i].what, numbers[i].got, numbers[i].want) && ok;
    return ok;
}

int main(int argc, char **argv)
{
    cublasHandle_t handle;
    const struct path *path = NULL;
    bool ok = true;
    for (size_t i = 0; argc == 3 && i < sizeof paths / sizeof paths[0]; i++)
        if (strcmp(argv[1], paths[i].name) == 0)
            path = &paths[i];
    if (path == NULL || cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
        return 2;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY); /* the one that the runtime has loaded */
    void *symbol = driver != NULL ? dlsym(driver, "softgpuCounter") : NULL;
    memcpy(&counter, &symbol, sizeof counter);
    if (counter == NULL)
        return 77;
    printf("%s, counted on the software GPU\n", path->name);
    printf("%5s %5s %5s  %2s %8s %12s %12s %10s %6s %13s %13s\n", "m", "n", "k", "op", "launches",
           "read", "written", "B/element", "GEMMs", "flop", "bytes");
    for (int i = 0; i < SHAPES; i++) {
        struct shape s = shape_of(i);
        if (path->turned) {
            s.m = round_up(s.m, 16);
            s.n = round_up(s.n, 16);
        }
        const struct counts before = now(path);
        multiply(handle, &s);
        const struct counts got = minus(now(path), before);
        const struct counts want = closed_form(path, &s, got.threads, atoi(argv[2]));
        ok = report(&s, &got, &want) && ok;
    }
    cublasDestroy_v2(handle);
    printf("%s\n", ok ? "all equal to the closed form" : "not equal to the closed form");
    return !ok;
}
