/* SPDX-License-Identifier: BSD-3-Clause
 * What the sister libraries (cuBLAS, NCCL stand-ins) use: work of their own on a stream, with a
 * modelled cost, and address checks inside it. */
#include "tests/softgpu/driver/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sister_work {
    CUresult (*fn)(void *arg, void *space);
    struct softgpu_cost cost;
    char name[96];
    char arg[];
};

/* What fn gets as its space. */
struct sister_space {
    struct sg_space space;
    CUcontext context;
};

static CUresult run_work(void *arg, CUcontext context, struct op_result *result)
{
    struct sister_work *w = arg;
    struct sister_space space = {context_space(context), context};
    char key[128];
    snprintf(key, sizeof key, "library.%s", w->name);
    count_add(key, 1);
    softgpuLog("cuda", "run %s", w->name);
    CUresult r = w->fn(w->arg, &space);
    if (r != CUDA_SUCCESS)
        context_fault(context, r, NULL);
    result->seconds = model_seconds(&context->device->model, &w->cost);
    return r;
}

static const struct op_kind work_kind = {"library work", run_work, NULL, CU_GRAPH_NODE_TYPE_KERNEL};

API CUresult softgpuEnqueue(CUstream stream, const char *name, CUresult (*fn)(void *, void *),
                            const void *arg, size_t arg_bytes, const struct softgpu_cost *cost)
{
    struct sister_work *w = calloc(1, sizeof *w + arg_bytes);
    if (w == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    w->fn = fn;
    w->cost = *cost;
    snprintf(w->name, sizeof w->name, "%s", name);
    memcpy(w->arg, arg, arg_bytes);
    CUresult r = stream_submit(stream, false, &work_kind, w, sizeof *w + arg_bytes);
    free(w);
    return r;
}

API CUresult softgpuCheck(void *opaque, const void *p, size_t bytes, int write, const char *who)
{
    const struct sister_space *s = opaque;
    struct sg_range near;
    char message[512];
    if (bytes == 0 || sg_space_check(&s->space, (uintptr_t)p, bytes))
        return CUDA_SUCCESS;
    int n = snprintf(message, sizeof message, "%s: %s of %zu bytes at %p is outside of every "
                     "allocation", who, write ? "write" : "read", bytes, p);
    if (n > 0 && (size_t)n < sizeof message &&
        sg_arena_nearest(s->space.arena[0], (uintptr_t)p, &near))
        snprintf(message + n, sizeof message - (size_t)n, "; the nearest is #%llu of %zu bytes at %p",
                 (unsigned long long)near.serial, near.bytes, (void *)near.base);
    return context_fault(s->context, CUDA_ERROR_ILLEGAL_ADDRESS, message);
}
