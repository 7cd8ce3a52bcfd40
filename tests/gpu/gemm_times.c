/* SPDX-License-Identifier: BSD-3-Clause
 * Times square FP32 matrix products of cuBLAS with CUDA events and checks sampled entries against
 * float64. Knows nothing of a preload: tests/gpu/accept runs it with and without one. On the
 * software GPU the times are modelled. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 64, MAX_SAMPLES = 50, MIN_SAMPLES = 5, CHECKED = 256 };

#define SAMPLE_MS 1.0f   /* calls between two events: at least this long together */
#define ENOUGH_MS 300.0f /* samples of one size: about this long together */

struct options {
    cublasComputeType_t compute;
    int sizes[MAX_SIZES];
    int count;
    int once; /* one call a size: enough where times are modelled */
    const char *json;
};

struct result {
    int n;
    double us;    /* median time of one product */
    double error; /* root mean square error of the checked entries over that of their values */
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "gemm_times: %s: %s\n", what, why);
    exit(1);
}

static void cuda(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        fail(what, cudaGetErrorString(status));
}

static void blas(cublasStatus_t status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        fail(what, cublasGetStatusString(status));
}

/* Uniform in [-1, 1), the same for each run. */
static void fill(float *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void multiply(cublasHandle_t handle, const struct options *options, int n, const float *a,
                     const float *b, float *c)
{
    const float one = 1.0f, zero = 0.0f;

    blas(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_32F, n, b,
                      CUDA_R_32F, n, &zero, c, CUDA_R_32F, n, options->compute,
                      CUBLAS_GEMM_DEFAULT),
         "cublasGemmEx");
}

/* Milliseconds for `calls` products. */
static float elapsed(cublasHandle_t handle, const struct options *options, int n, const float *a,
                     const float *b, float *c, int calls, cudaEvent_t start, cudaEvent_t stop)
{
    float ms;

    cuda(cudaEventRecord(start, NULL), "cudaEventRecord");
    for (int i = 0; i < calls; i++)
        multiply(handle, options, n, a, b, c);
    cuda(cudaEventRecord(stop, NULL), "cudaEventRecord");
    cuda(cudaEventSynchronize(stop), "cudaEventSynchronize");
    cuda(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    return ms;
}

static double time_one(cublasHandle_t handle, const struct options *options, int n, const float *a,
                       const float *b, float *c)
{
    float samples[MAX_SAMPLES], total = 0.0f;
    int count = 0, calls = 1;
    cudaEvent_t start, stop;

    cuda(cudaEventCreate(&start), "cudaEventCreate");
    cuda(cudaEventCreate(&stop), "cudaEventCreate");
    elapsed(handle, options, n, a, b, c, 2, start, stop); /* the first calls load code */
    float once = elapsed(handle, options, n, a, b, c, 1, start, stop);
    if (options->once)
        samples[count++] = total = once;
    else if (once < SAMPLE_MS)
        calls = once > SAMPLE_MS / 64.0f ? (int)ceilf(SAMPLE_MS / once) : 64;
    while (!options->once && count < MAX_SAMPLES && (count < MIN_SAMPLES || total < ENOUGH_MS)) {
        float ms = elapsed(handle, options, n, a, b, c, calls, start, stop);
        samples[count++] = ms / (float)calls;
        total += ms;
    }
    qsort(samples, (size_t)count, sizeof(samples[0]), by_value);
    cuda(cudaEventDestroy(start), "cudaEventDestroy");
    cuda(cudaEventDestroy(stop), "cudaEventDestroy");
    return 1000.0 * (double)samples[count / 2];
}

static double sampled_error(int n, const float *a, const float *b, const float *c)
{
    double wrong = 0.0, right = 0.0;
    uint32_t seed = 1;
    size_t rows = (size_t)n;

    for (int sample = 0; sample < CHECKED; sample++) {
        seed = seed * 1664525u + 1013904223u;
        size_t i = (seed >> 8) % rows;
        seed = seed * 1664525u + 1013904223u;
        size_t j = (seed >> 8) % rows;
        double sum = 0.0;
        for (size_t k = 0; k < rows; k++)
            sum += (double)a[i + k * rows] * (double)b[k + j * rows];
        double got = (double)c[i + j * rows];
        wrong += (got - sum) * (got - sum);
        right += sum * sum;
    }
    return sqrt(wrong / right);
}

static void parse_sizes(struct options *options, const char *text)
{
    options->count = 0;
    while (*text && options->count < MAX_SIZES) {
        char *end;
        long n = strtol(text, &end, 10);
        if (end == text || n < 1 || n > 65536 || (*end && *end != ','))
            fail("--sizes", "wants numbers from 1 to 65536, separated by commas");
        options->sizes[options->count++] = (int)n;
        text = *end ? end + 1 : end;
    }
}

static struct options parse(int argc, char **argv)
{
    struct options options = {.compute = CUBLAS_COMPUTE_32F};

    parse_sizes(&options, "256,512,1024");
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--tf32") == 0) {
            options.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
            continue;
        }
        if (strcmp(argv[i], "--once") == 0) {
            options.once = 1;
            continue;
        }
        if (strcmp(argv[i], "--sizes") == 0 && value)
            parse_sizes(&options, value);
        else if (strcmp(argv[i], "--json") == 0 && value)
            options.json = value;
        else
            fail(argv[i], "usage: gemm_times [--tf32] [--once] [--sizes N,N,...] [--json FILE]");
        i++;
    }
    return options;
}

static void write_json(const char *path, const char *device, const struct result *results,
                       int count)
{
    FILE *file = fopen(path, "w");

    if (!file)
        fail(path, "cannot be written");
    fprintf(file, "{\"device\": \"%s\", \"results\": [", device);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s\n  {\"n\": %d, \"us\": %.3f, \"error\": %.3e}", i ? "," : "",
                results[i].n, results[i].us, results[i].error);
    fprintf(file, "]}\n");
    if (fclose(file) != 0)
        fail(path, "cannot be written");
}

int main(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct result results[MAX_SIZES];
    struct cudaDeviceProp device;
    cublasHandle_t handle;
    float *host[3], *gpu[3]; /* A, B, C; smaller products use the beginning */
    size_t largest = 0;

    for (int i = 0; i < options.count; i++) {
        size_t elements = (size_t)options.sizes[i] * (size_t)options.sizes[i];
        largest = elements > largest ? elements : largest;
    }
    cuda(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    blas(cublasCreate(&handle), "cublasCreate");
    for (int i = 0; i < 3; i++) {
        host[i] = malloc(largest * sizeof(float));
        if (!host[i])
            fail("malloc", "out of memory");
        cuda(cudaMalloc((void **)&gpu[i], largest * sizeof(float)), "cudaMalloc");
        if (i == 2)
            break;
        fill(host[i], largest, 7u + (uint32_t)i);
        cuda(cudaMemcpy(gpu[i], host[i], largest * sizeof(float), cudaMemcpyHostToDevice),
             "cudaMemcpy");
    }
    printf("%s\n%8s %14s %12s %10s\n", device.name, "n", "us", "TFLOP/s", "error");
    for (int i = 0; i < options.count; i++) {
        int n = options.sizes[i];
        double us = time_one(handle, &options, n, gpu[0], gpu[1], gpu[2]);
        cuda(cudaMemcpy(host[2], gpu[2], (size_t)n * (size_t)n * sizeof(float),
                        cudaMemcpyDeviceToHost),
             "cudaMemcpy");
        results[i] = (struct result){n, us, sampled_error(n, host[0], host[1], host[2])};
        printf("%8d %14.2f %12.2f %10.2e\n", n, us, 2e-6 * pow(n, 3) / us, results[i].error);
    }
    if (options.json)
        write_json(options.json, device.name, results, options.count);
    blas(cublasDestroy(handle), "cublasDestroy");
    for (int i = 0; i < 3; i++) {
        cuda(cudaFree(gpu[i]), "cudaFree");
        free(host[i]);
    }
    return 0;
}
