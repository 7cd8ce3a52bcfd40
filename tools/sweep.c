/* SPDX-License-Identifier: BSD-3-Clause
 * Times on the GPU by events. cuBLAS and the driver are opened here, so that the command needs no
 * CUDA library to start; the preload answers the look-up of cublasSgemm, as it does for any
 * program. Owns the process's context. */
#include "config.h"
#include "sweep.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    __typeof__(&cuInit) init;
    __typeof__(&cuDeviceGet) device_get;
    __typeof__(&cuDeviceGetName) device_name;
    __typeof__(&cuDeviceGetAttribute) device_attribute;
    __typeof__(&cuDevicePrimaryCtxRetain) retain;
    __typeof__(&cuCtxSetCurrent) set_current;
    __typeof__(&cuMemGetInfo) memory;
    __typeof__(&cuMemAlloc) allocate;
    __typeof__(&cuMemFree) release;
    __typeof__(&cuMemcpyHtoD) upload;
    __typeof__(&cuMemcpyDtoDAsync) copy;
    __typeof__(&cuStreamCreate) stream_create;
    __typeof__(&cuStreamSynchronize) stream_wait;
    __typeof__(&cuEventCreate) event_create;
    __typeof__(&cuEventRecord) event_record;
    __typeof__(&cuEventSynchronize) event_wait;
    __typeof__(&cuEventElapsedTime) event_elapsed;
    __typeof__(&cublasCreate) create;
    __typeof__(&cublasSetStream) set_stream;
    __typeof__(&cublasSgemm) sgemm;
} cu;

static cublasHandle_t handle;
static CUstream stream;
static CUevent from, to;

static bool find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    if (*(void **)function == NULL)
        fprintf(stderr, "apexshim: %s is missing\n", name);
    return *(void **)function != NULL;
}

static bool open_libraries(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *blas = NULL;
    if (driver == NULL) {
        fprintf(stderr, "apexshim: there is no driver: %s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0] && blas == NULL; i++)
        blas = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (blas == NULL) {
        fprintf(stderr, "apexshim: there is no cuBLAS 11, 12 or 13 in the library path: %s\n",
                dlerror());
        return false;
    }
    return find(driver, "cuInit", &cu.init) && find(driver, "cuDeviceGet", &cu.device_get) &&
           find(driver, "cuDeviceGetName", &cu.device_name) &&
           find(driver, "cuDeviceGetAttribute", &cu.device_attribute) &&
           find(driver, "cuDevicePrimaryCtxRetain", &cu.retain) &&
           find(driver, "cuCtxSetCurrent", &cu.set_current) &&
           find(driver, "cuMemGetInfo_v2", &cu.memory) &&
           find(driver, "cuMemAlloc_v2", &cu.allocate) &&
           find(driver, "cuMemFree_v2", &cu.release) &&
           find(driver, "cuMemcpyHtoD_v2", &cu.upload) &&
           find(driver, "cuMemcpyDtoDAsync_v2", &cu.copy) &&
           find(driver, "cuStreamCreate", &cu.stream_create) &&
           find(driver, "cuStreamSynchronize", &cu.stream_wait) &&
           find(driver, "cuEventCreate", &cu.event_create) &&
           find(driver, "cuEventRecord", &cu.event_record) &&
           find(driver, "cuEventSynchronize", &cu.event_wait) &&
           find(driver, "cuEventElapsedTime", &cu.event_elapsed) &&
           find(blas, "cublasCreate_v2", &cu.create) &&
           find(blas, "cublasSetStream_v2", &cu.set_stream) &&
           find(blas, "cublasSgemm_v2", &cu.sgemm);
}

static bool start(void)
{
    CUdevice device;
    CUcontext context;
    char name[80];
    int major, minor, sms;
    if (cu.init(0) != CUDA_SUCCESS || cu.device_get(&device, 0) != CUDA_SUCCESS ||
        cu.device_name(name, sizeof name, device) != CUDA_SUCCESS ||
        cu.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
            CUDA_SUCCESS ||
        cu.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) !=
            CUDA_SUCCESS ||
        cu.device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) !=
            CUDA_SUCCESS ||
        cu.retain(&context, device) != CUDA_SUCCESS || cu.set_current(context) != CUDA_SUCCESS ||
        cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        cu.event_create(&from, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        cu.event_create(&to, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        cu.create(&handle) != CUBLAS_STATUS_SUCCESS ||
        cu.set_stream(handle, stream) != CUBLAS_STATUS_SUCCESS)
        return false;
    printf("gpu %d %d %s\n", 10 * major + minor, sms, name);
    return true;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A buffer of small numbers that are not alike: what is multiplied costs power, and so clock. */
static CUdeviceptr new_buffer(size_t floats)
{
    CUdeviceptr p = 0;
    float *host = malloc(floats * sizeof *host);
    uint32_t x = 12345;
    for (size_t i = 0; host != NULL && i < floats; i++) {
        x = x * 1664525 + 1013904223;
        host[i] = (float)(int32_t)x * 0x1p-31f;
    }
    if (host != NULL && cu.allocate(&p, floats * sizeof *host) == CUDA_SUCCESS &&
        cu.upload(p, host, floats * sizeof *host) != CUDA_SUCCESS) {
        (void)cu.release(p);
        p = 0;
    }
    free(host);
    return p;
}

struct product {
    int m, n, k;
    CUdeviceptr a, b, c;
    size_t copy_bytes; /* not 0: a copy instead */
};

static bool enqueue(const struct product *p)
{
    static const float one = 1, zero = 0;
    if (p->copy_bytes != 0)
        return cu.copy(p->c, p->a, p->copy_bytes, stream) == CUDA_SUCCESS;
    return cu.sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p->m, p->n, p->k, &one,
                    (const float *)(uintptr_t)p->a, p->m, (const float *)(uintptr_t)p->b, p->k,
                    &zero, (float *)(uintptr_t)p->c, p->m) == CUBLAS_STATUS_SUCCESS;
}

/* Seconds of each of count calls, one behind the other; negative: failed. */
static double time_calls(const struct product *p, int count)
{
    float ms = 0;
    if (cu.event_record(from, stream) != CUDA_SUCCESS)
        return -1;
    for (int i = 0; i < count; i++)
        if (!enqueue(p))
            return -1;
    if (cu.event_record(to, stream) != CUDA_SUCCESS || cu.event_wait(to) != CUDA_SUCCESS ||
        cu.event_elapsed(&ms, from, to) != CUDA_SUCCESS)
        return -1;
    return 1e-3 * (double)ms / count;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; *wall_p: what one call takes on the host's clock. */
static double measure(const struct product *p, double *wall_p)
{
    enum { REPEATS = 5 };
    double times[REPEATS];
    for (int warm = 0; warm < 2; warm++) { /* plans, kernels, clocks; then the time */
        const double start_time = now();
        if (time_calls(p, 1) < 0)
            return -1;
        *wall_p = now() - start_time;
    }
    const double fit = 20e-3 / (*wall_p + 1e-9);
    const int count = fit < 1 ? 1 : fit > 20 ? 20 : (int)fit;
    for (int i = 0; i < REPEATS; i++)
        if ((times[i] = time_calls(p, count)) < 0)
            return -1;
    qsort(times, REPEATS, sizeof times[0], by_size);
    return times[REPEATS / 2];
}

static bool fits(int m, int n, int k)
{
    size_t free_bytes = 0, total = 0;
    const double wanted = sizeof(float) * ((double)m * k + (double)k * n + (double)m * n);
    return cu.memory(&free_bytes, &total) == CUDA_SUCCESS && wanted < 0.3 * (double)free_bytes;
}

/* False: this is as large as it gets. */
static bool sweep_one(int m, int n, int k, double seconds)
{
    struct product p = {.m = m, .n = n, .k = k};
    double wall = 0, time = -1;
    if (!fits(m, n, k))
        return false;
    p.a = new_buffer((size_t)m * (size_t)k);
    p.b = new_buffer((size_t)k * (size_t)n);
    p.c = new_buffer((size_t)m * (size_t)n);
    if (p.a != 0 && p.b != 0 && p.c != 0)
        time = measure(&p, &wall);
    (void)cu.stream_wait(stream);
    (void)cu.release(p.a);
    (void)cu.release(p.b);
    (void)cu.release(p.c);
    if (time > 0)
        printf("gemm %d %d %d %.9g\n", m, n, k, time);
    fflush(stdout);
    return time > 0 && wall < seconds;
}

static void sweep_copy(void)
{
    enum { FLOATS = 16 << 20 };
    double wall;
    struct product p = {.copy_bytes = FLOATS * sizeof(float)};
    p.a = new_buffer(FLOATS);
    p.c = new_buffer(FLOATS);
    const double time = p.a != 0 && p.c != 0 ? measure(&p, &wall) : -1;
    (void)cu.release(p.a);
    (void)cu.release(p.c);
    if (time > 0)
        printf("copy %zu %.9g\n", p.copy_bytes, time);
}

int sweep(double seconds)
{
    static const int sizes[] = {128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192};
    int largest = 0;
    if (!open_libraries())
        return 1;
    if (!start()) {
        fprintf(stderr, "apexshim: no GPU can be used\n");
        return 1;
    }
    sweep_copy();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!sweep_one(sizes[i], sizes[i], sizes[i], seconds))
            break;
        largest = sizes[i];
    }
    /* Thin ones, of no more work than the largest. */
    if (largest >= 256) {
        (void)sweep_one(16, largest, largest, seconds);
        (void)sweep_one(largest / 8, largest, largest, seconds);
        (void)sweep_one(largest, largest, 64, seconds);
    }
    return 0;
}
