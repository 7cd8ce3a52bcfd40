/* SPDX-License-Identifier: BSD-3-Clause
 * Measures the engine on one CPU thread: nanoseconds of its CPU time per CUDA thread, the median of
 * several launches, for each of bench_kernels.cu, with every result checked.
 * Usage: bench bench_kernels.ptx [launches] */
#include "engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 20, SIDE = 1024, GEMM = 256, MAX_LAUNCHES = 99 };

static struct {
    struct sg_module *module;
    struct sg_space space;
    float *x, *y, *z;
    unsigned launches;
} bench;

static double now(void)
{
    struct timespec t;

    /* with one worker the caller's thread does everything */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Launches a kernel repeatedly and prints a line. goal: ns per thread that are aimed at. */
static void measure(const char *name, const uint32_t grid[2], const uint32_t block[2],
                    const void *params, double goal)
{
    struct sg_launch launch = {
        .kernel = sg_module_kernel(bench.module, name), .grid = {grid[0], grid[1], 1},
        .block = {block[0], block[1], 1}, .params = params, .space = &bench.space, .workers = 1,
    };
    double ns[MAX_LAUNCHES], threads;
    struct sg_counts counts;
    struct sg_fault fault;

    for (unsigned k = 0; k < bench.launches; k++) {
        double start = now();

        if (sg_launch_run(&launch, &counts, &fault)) {
            fprintf(stderr, "%s\n", fault.message);
            exit(1);
        }
        ns[k] = now() - start;
    }
    qsort(ns, bench.launches, sizeof *ns, by_value);
    threads = (double)counts.threads;
    printf("%-10s %9.0f %9.2f %9.1f %9.2f %9.2f %9.1f\n", name, threads,
           ns[bench.launches / 2] / threads, threads / ns[bench.launches / 2] * 1e3,
           ns[0] / threads, ns[bench.launches / 2] / (double)counts.warp_instructions, goal);
}

static void check(const char *name, size_t at, double got, double wanted)
{
    if (fabs(got - wanted) <= 1e-4 * (1.0 + fabs(wanted)))
        return;
    fprintf(stderr, "%s: element %zu is %g, not %g\n", name, at, got, wanted);
    exit(1);
}

static void fill(void)
{
    for (size_t k = 0; k < N; k++) {
        bench.x[k] = (float)((k * 2654435761u >> 7) % 1000) / 1000.0f;
        bench.y[k] = (float)(k % 13);
        bench.z[k] = 0.0f;
    }
}

static void run_saxpy(void)
{
    struct {
        int n;
        float a;
        float *x, *y;
    } params = {N, 0.5f, bench.x, bench.y};

    fill();
    measure("saxpy", (uint32_t[]){N / 256, 1}, (uint32_t[]){256, 1}, &params, 4.0);
    for (size_t k = 0; k < N; k++)
        check("saxpy", k, (double)bench.y[k],
              (double)(k % 13) + 0.5 * bench.launches * (double)bench.x[k]);
}

static void run_sums(const char *name, double goal)
{
    struct {
        float *x, *sum;
    } params = {bench.x, bench.y};

    fill();
    measure(name, (uint32_t[]){N / 256, 1}, (uint32_t[]){256, 1}, &params, goal);
    for (size_t b = 0; b < N / 256; b++) {
        double sum = 0.0;

        for (size_t k = 0; k < 256; k++)
            sum += (double)bench.x[b * 256 + k];
        check(name, b, (double)bench.y[b], sum);
    }
}

static void run_transpose(void)
{
    struct {
        float *x, *y;
        int n;
    } params = {bench.x, bench.y, SIDE};

    fill();
    measure("transpose", (uint32_t[]){SIDE / 16, SIDE / 16}, (uint32_t[]){16, 16}, &params, 28.0);
    for (size_t k = 0; k < N; k++)
        check("transpose", k, (double)bench.y[k], (double)bench.x[k % SIDE * SIDE + k / SIDE]);
}

static void run_sgemm(void)
{
    struct {
        float *a, *b, *c;
        int n;
    } params = {bench.x, bench.y, bench.z, GEMM};

    fill();
    measure("sgemm", (uint32_t[]){GEMM / 16, GEMM / 16}, (uint32_t[]){16, 16}, &params, 280.0);
    for (size_t k = 0; k < GEMM * GEMM; k++) {
        double sum = 0.0;

        for (size_t j = 0; j < GEMM; j++)
            sum += (double)bench.x[k / GEMM * GEMM + j] * (double)bench.y[j * GEMM + k % GEMM];
        check("sgemm", k, (double)bench.z[k], sum);
    }
}

static void run_softmax(void)
{
    struct {
        float *x, *y;
    } params = {bench.x, bench.y};

    fill();
    measure("softmax", (uint32_t[]){N / 1024, 1}, (uint32_t[]){256, 1}, &params, 120.0);
    for (size_t r = 0; r < N / 1024; r++) {
        double sum = 0.0;

        for (size_t k = 0; k < 1024; k++)
            sum += exp((double)bench.x[r * 1024 + k]);
        for (size_t k = 0; k < 1024; k++)
            check("softmax", r * 1024 + k, (double)bench.y[r * 1024 + k],
                  exp((double)bench.x[r * 1024 + k]) / sum);
    }
}

static char *read_file(const char *name, size_t *len_p)
{
    FILE *file = fopen(name, "rb");
    char *text = malloc(1 << 20);

    if (!file || !text) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    *len_p = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    struct sg_arena *arena = sg_arena_new("bench", (uint64_t)1 << 30);
    char *error = NULL, *text;
    size_t len;

    if (argc < 2 || !arena) {
        fprintf(stderr, "usage: bench PTX [launches]\n");
        return 2;
    }
    bench.launches = argc > 2 ? (unsigned)atoi(argv[2]) : 9;
    if (bench.launches < 1 || bench.launches > MAX_LAUNCHES)
        bench.launches = 9;
    text = read_file(argv[1], &len);
    bench.module = sg_module_load((const char *const *)&text, &len, 1, argv[1], arena, &error);
    if (!bench.module) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    bench.space = (struct sg_space){1, {arena}};
    bench.x = sg_arena_alloc(arena, N * sizeof(float));
    bench.y = sg_arena_alloc(arena, N * sizeof(float));
    bench.z = sg_arena_alloc(arena, N * sizeof(float));
    printf("%-10s %9s %9s %9s %9s %9s %9s\n", "kernel", "threads", "ns/thread", "M thr./s", "best",
           "ns/w.insn", "goal ns");
    run_saxpy();
    run_sums("reduce", 33.0);
    run_transpose();
    run_sgemm();
    run_sums("shuffle", 37.0);
    run_softmax();
    sg_module_unload(bench.module);
    sg_arena_delete(arena);
    free(text);
    return 0;
}
