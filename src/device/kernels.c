/* SPDX-License-Identifier: BSD-3-Clause
 * Loads the embedded kernels into a context and launches them. The set of functions of a context
 * is published once and never changes. */
#include "config.h"
#include "device/kernels.h"
#include "base/log.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    VECTOR_BYTES = 16,
    BLOCKS_PER_MULTIPROCESSOR = 8, /* 8 x 256 threads fill a multiprocessor */
    TX_LOG2_MAX = 8
};

extern const unsigned char apex_fatbin[];

static CUresult load_functions(const struct real_cuda *cuda, CUmodule module,
                               struct kernels *kernels)
{
    static const char *const casts[APEX_FORMATS] = {APEX_KERNEL_CASTS};
    static const char *const checks[APEX_FORMATS] = {APEX_KERNEL_CHECKS};
    CUresult r = cuda->cuModuleGetFunction(&kernels->amax, module, APEX_KERNEL_AMAX);
    if (r == CUDA_SUCCESS)
        r = cuda->cuModuleGetFunction(&kernels->compare, module, APEX_KERNEL_COMPARE);
    for (int i = 0; i < APEX_FORMATS && r == CUDA_SUCCESS; i++)
        r = cuda->cuModuleGetFunction(&kernels->cast[i], module, casts[i]);
    for (int i = 0; i < APEX_FORMATS && r == CUDA_SUCCESS; i++)
        if (checks[i] != NULL)
            r = cuda->cuModuleGetFunction(&kernels->check[i], module, checks[i]);
    return r;
}

/* Without them calls are converted all the same, and the totals stay unknown. The host's copy is
 * the shim's own memory, so that it can be read when the driver is gone. */
static void find_sites(const struct real_cuda *cuda, CUmodule module, struct kernels *kernels)
{
    CUdeviceptr sites, mirror;
    size_t bytes;
    if (cuda->cuModuleGetGlobal_v2(&sites, &bytes, module, APEX_SITES_NAME) != CUDA_SUCCESS)
        return;
    void *shown = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shown == MAP_FAILED)
        return;
    const unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    if (cuda->cuMemHostRegister_v2(shown, bytes, flags) != CUDA_SUCCESS) {
        munmap(shown, bytes);
        return;
    }
    if (cuda->cuMemHostGetDevicePointer_v2(&mirror, shown, 0) != CUDA_SUCCESS)
        return;
    kernels->sites = (struct apex_site *)(uintptr_t)sites;
    kernels->mirror = (struct apex_site *)(uintptr_t)mirror;
    kernels->shown = shown;
}

static bool load_into(const struct context *context, struct kernels *kernels)
{
    const struct real_cuda *cuda = context->cuda;
    CUmodule module;
    CUresult r = cuda->cuModuleLoadData(&module, apex_fatbin);
    if (r == CUDA_SUCCESS)
        r = load_functions(cuda, module, kernels);
    if (r == CUDA_SUCCESS)
        r = cuda->cuStreamCreate(&kernels->stream, CU_STREAM_NON_BLOCKING);
    if (r == CUDA_SUCCESS)
        find_sites(cuda, module, kernels);
    else
        LOG_WARN("the kernels do not load on this GPU (CUDA error %d); no GEMM is converted to fp16",
                 (int)r);
    return r == CUDA_SUCCESS;
}

bool kernels_load(struct context *context)
{
    static const struct kernels unusable;
    const struct kernels *known = atomic_load_explicit(&context->kernels, memory_order_acquire);
    if (known != NULL)
        return known != &unusable;
    struct kernels *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return false;
    CUstreamCaptureMode mode = context_relax_capture(context);
    bool ok = load_into(context, fresh);
    context_restore_capture(context, mode);
    /* Two threads may have loaded at once: the first wins, the module of the other stays unused. */
    const struct kernels *expected = NULL;
    if (!atomic_compare_exchange_strong(&context->kernels, &expected, ok ? fresh : &unusable)) {
        free(fresh);
        return expected != &unusable;
    }
    if (!ok)
        free(fresh);
    return ok;
}

const struct kernels *kernels_of(const struct context *context)
{
    return atomic_load_explicit(&context->kernels, memory_order_acquire);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

uint32_t kernels_plan_walk(const struct gpu *gpu, struct apex_source *source, int64_t rows,
                           int64_t cols, int64_t batch, bool flat)
{
    struct apex_walk *walk = &source->walk;
    if (flat && source->ld == rows && (batch == 1 || source->stride == rows * cols)) {
        rows *= cols * batch;
        cols = batch = source->cols = 1;
    }
    walk->rows = rows;
    walk->cols = cols;
    walk->batch = batch;
    walk->vector = (uintptr_t)source->data % VECTOR_BYTES == 0 &&
                   (cols * batch == 1 || (source->ld * sizeof(float) % VECTOR_BYTES == 0 &&
                                          source->stride * sizeof(float) % VECTOR_BYTES == 0));
    walk->tx_log2 = 0;
    while (walk->tx_log2 < TX_LOG2_MAX && ((int64_t)APEX_VECTOR << walk->tx_log2) < rows)
        walk->tx_log2++;
    int64_t columns_at_once = APEX_BLOCK_THREADS >> walk->tx_log2;
    int64_t step = (int64_t)APEX_VECTOR << walk->tx_log2;
    int64_t column_blocks = ceil_div(cols * batch, columns_at_once);
    int64_t row_steps = ceil_div(rows, step);
    /* As many blocks as run at once; the columns are spread first, then the rows are cut. */
    int64_t wanted = (int64_t)gpu->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    int64_t groups = column_blocks < wanted ? column_blocks : wanted;
    int64_t segments = wanted / groups;
    if (segments > row_steps)
        segments = row_steps;
    walk->segment_rows = ceil_div(row_steps, segments) * step;
    walk->segments = (uint32_t)ceil_div(rows, walk->segment_rows);
    walk->groups = (uint32_t)groups;
    return walk->segments * walk->groups;
}

uint32_t kernels_wave(const struct gpu *gpu)
{
    return (uint32_t)gpu->multiprocessors * 2;
}

CUresult kernels_launch(const struct context *context, CUfunction function, CUstream stream,
                        const void *params, uint32_t blocks)
{
    void *arguments[] = {(void *)(uintptr_t)params};
    return context->cuda->cuLaunchKernel(function, blocks, 1, 1, APEX_BLOCK_THREADS, 1, 1, 0, stream,
                                         arguments, NULL);
}
