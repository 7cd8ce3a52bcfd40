/* SPDX-License-Identifier: BSD-3-Clause
 * Kernel launches: checks a configuration, packs the parameters, and runs the kernel when its turn
 * on the stream comes. Owns the heap that device-side malloc takes from, one of each context. */
#include "tests/softgpu/driver/module.h"
#include "tests/softgpu/driver/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GRID_YZ = 65535, MAX_BLOCK = 1024, MAX_BLOCK_Z = 64 };

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    struct heap {
        CUcontext context;
        struct sg_arena *arena;
        struct heap *next;
    } * heaps;
    bool check_races;
    unsigned workers;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void read_settings(void)
{
    const char *races = getenv("SOFTGPU_RACES"), *workers = getenv("SOFTGPU_WORKERS");
    state.check_races = races != NULL && strcmp(races, "1") == 0;
    state.workers = workers != NULL ? (unsigned)strtoul(workers, NULL, 10) : 0;
}

static struct sg_arena *heap_of(CUcontext context)
{
    pthread_mutex_lock(&state.lock);
    struct heap *h = state.heaps;
    while (h != NULL && h->context != context)
        h = h->next;
    if (h == NULL && (h = calloc(1, sizeof *h)) != NULL) {
        h->context = context;
        h->arena = sg_arena_new("device heap", context->limits[CU_LIMIT_MALLOC_HEAP_SIZE]);
        h->next = state.heaps;
        state.heaps = h;
    }
    pthread_mutex_unlock(&state.lock);
    return h != NULL ? h->arena : NULL;
}

void launch_release_context(CUcontext context)
{
    pthread_mutex_lock(&state.lock);
    for (struct heap **link = &state.heaps; *link != NULL; link = &(*link)->next)
        if ((*link)->context == context) {
            struct heap *h = *link;
            *link = h->next;
            sg_arena_delete(h->arena);
            free(h);
            break;
        }
    pthread_mutex_unlock(&state.lock);
}

/* ---- running */
static void print(void *arg, const char *text, size_t n)
{
    (void)arg;
    fwrite(text, 1, n, stdout);
}

static CUresult error_of_fault(enum sg_fault_kind kind)
{
    switch (kind) {
    case SG_OK:
        return CUDA_SUCCESS;
    case SG_FAULT_ADDRESS:
    case SG_FAULT_ADDRESS_SPACE:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SG_FAULT_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SG_FAULT_ASSERT:
        return CUDA_ERROR_ASSERT;
    case SG_FAULT_DEADLOCK:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case SG_FAULT_RESOURCES:
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case SG_FAULT_TRAP:
    case SG_FAULT_RACE:
        break;
    }
    return CUDA_ERROR_LAUNCH_FAILED;
}

static double seconds_of(const struct model *model, const struct sg_counts *counts)
{
    const uint64_t flop[] = {counts->flop_f32, counts->flop_f16, counts->flop_bf16,
                             counts->flop_f64};
    static const enum softgpu_type type[] = {SOFTGPU_F32, SOFTGPU_F16, SOFTGPU_BF16, SOFTGPU_F64};
    double most = 0;
    for (size_t i = 0; i < sizeof flop / sizeof flop[0]; i++) {
        struct softgpu_cost cost = {counts->global_read_bytes + counts->global_write_bytes, flop[i],
                                    type[i]};
        double seconds = model_seconds(model, &cost);
        if (seconds > most)
            most = seconds;
    }
    return most;
}

static uint64_t order_of_blocks(void)
{
    if (!mode_deferred())
        return 0;
    pthread_mutex_lock(&driver_lock);
    uint64_t seed = mode_random() | 1;
    pthread_mutex_unlock(&driver_lock);
    return seed;
}

static CUresult run_launch(void *arg, CUcontext context, struct op_result *result)
{
    struct launch *l = arg;
    const struct sg_kernel *code = l->function->code;
    struct sg_counts counts = {0};
    struct sg_fault fault = {0};
    if (code == NULL)
        return context_fault(context, CUDA_ERROR_INVALID_HANDLE,
                             "a kernel was to run after its module was unloaded");
    pthread_once(&state.once, read_settings);
    struct sg_space space = context_space(context);
    struct sg_arena *heap = heap_of(context);
    if (heap != NULL)
        space.arena[space.n++] = heap;
    struct sg_launch launch = {
        .kernel = code,
        .grid = {l->grid[0], l->grid[1], l->grid[2]},
        .block = {l->block[0], l->block[1], l->block[2]},
        .dynamic_shared = l->shared,
        .params = l->params,
        .space = &space,
        .heap = heap,
        .cooperative = l->cooperative,
        .check_races = state.check_races,
        .workers = state.workers,
        .order_seed = order_of_blocks(),
        .sms = (uint32_t)context->device->model.multiprocessors,
        .print = print,
    };
    enum sg_fault_kind kind = sg_launch_run(&launch, &counts, &fault);
    count_launch(code->name, &counts);
    result->seconds = seconds_of(&context->device->model, &counts);
    return kind == SG_OK ? CUDA_SUCCESS
                         : context_fault(context, error_of_fault(kind), fault.message);
}

const struct op_kind kernel_launch_kind = {"kernel", run_launch, NULL, CU_GRAPH_NODE_TYPE_KERNEL};

/* ---- making a launch */
static CUresult check_shape(const struct sg_kernel *code, const uint32_t grid[3],
                            const uint32_t block[3])
{
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || block[i] == 0)
            return CUDA_ERROR_INVALID_VALUE;
    if (grid[0] > INT32_MAX || grid[1] > MAX_GRID_YZ || grid[2] > MAX_GRID_YZ ||
        block[0] > MAX_BLOCK || block[1] > MAX_BLOCK || block[2] > MAX_BLOCK_Z ||
        block[0] * block[1] * block[2] > code->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult check_cooperative(const struct sg_kernel *code, const struct model *model,
                                  const uint32_t grid[3], const uint32_t block[3], uint32_t shared)
{
    uint64_t resident = (uint64_t)occupancy(code, model, block[0] * block[1] * block[2], shared) *
                        (uint64_t)model->multiprocessors;
    return (uint64_t)grid[0] * grid[1] * grid[2] <= resident
               ? CUDA_SUCCESS
               : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* Finds the buffer in the "extra" list. */
static CUresult read_extra(void **extra, const void **buffer_p, size_t *bytes_p)
{
    const size_t *bytes = NULL;
    *buffer_p = NULL;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer_p = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = extra[i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    *bytes_p = bytes != NULL ? *bytes : 0;
    return CUDA_SUCCESS;
}

static CUresult pack(const struct sg_kernel *code, void **params, void **extra, unsigned char *to)
{
    const void *buffer;
    size_t bytes;
    if (code->nparams == 0)
        return CUDA_SUCCESS;
    if ((params == NULL) == (extra == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (params != NULL) {
        for (uint32_t i = 0; i < code->nparams; i++) {
            if (params[i] == NULL)
                return CUDA_ERROR_INVALID_VALUE;
            memcpy(to + code->params[i].offset, params[i], code->params[i].size);
        }
        return CUDA_SUCCESS;
    }
    CUresult r = read_extra(extra, &buffer, &bytes);
    if (r != CUDA_SUCCESS || buffer == NULL || bytes < code->param_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, buffer, code->param_bytes);
    return CUDA_SUCCESS;
}

CUresult launch_make(CUfunction handle, CUcontext context, const uint32_t grid[3],
                     const uint32_t block[3], uint32_t shared, bool cooperative, void **params,
                     void **extra, struct launch **launch_p, size_t *bytes_p)
{
    CUfunction f;
    CUresult r = function_resolve(handle, context, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (f->module->context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    const struct sg_kernel *code = f->code;
    const struct model *model = &context->device->model;
    if ((r = check_shape(code, grid, block)) != CUDA_SUCCESS)
        return r;
    if (shared > (uint32_t)function_dynamic_limit(code, &f->settings, model))
        return CUDA_ERROR_INVALID_VALUE;
    if (cooperative && (r = check_cooperative(code, model, grid, block, shared)) != CUDA_SUCCESS)
        return r;
    *bytes_p = sizeof(struct launch) + code->param_bytes;
    struct launch *l = calloc(1, *bytes_p);
    if (l == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    l->function = f;
    memcpy(l->grid, grid, sizeof l->grid);
    memcpy(l->block, block, sizeof l->block);
    l->shared = shared;
    l->cooperative = cooperative;
    l->param_bytes = code->param_bytes;
    if ((r = pack(code, params, extra, l->params)) != CUDA_SUCCESS)
        free(l);
    else
        *launch_p = l;
    return r;
}

static CUresult context_of_stream(CUstream handle, bool per_thread, CUcontext *context_p)
{
    CUstream stream;
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, &stream);
    if (r == CUDA_SUCCESS)
        *context_p = stream->context;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult launch(CUfunction handle, const uint32_t grid[3], const uint32_t block[3],
                       uint32_t shared, CUstream stream, bool per_thread, bool cooperative,
                       void **params, void **extra)
{
    CUcontext context;
    struct launch *l;
    size_t bytes;
    CUresult r = context_of_stream(stream, per_thread, &context);
    if (r == CUDA_SUCCESS)
        r = launch_make(handle, context, grid, block, shared, cooperative, params, extra, &l,
                        &bytes);
    if (r != CUDA_SUCCESS)
        return r;
    softgpuLog("cuda", "launch %s grid (%u,%u,%u) block (%u,%u,%u) shared %u",
               l->function->code->name, grid[0], grid[1], grid[2], block[0], block[1], block[2],
               shared);
    r = stream_submit(stream, per_thread, &kernel_launch_kind, l, bytes);
    free(l);
    return r;
}

/* ---- the entry points; each exists for both kinds of default stream */
#define LAUNCH_KERNEL(_name, _per_thread, _cooperative, _extra, ...)                               \
    API CUresult _name(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,           \
                       unsigned by, unsigned bz, unsigned shared, CUstream stream,                 \
                       void **params __VA_ARGS__)                                                  \
    {                                                                                              \
        const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};                            \
        ENTER(#_name);                                                                             \
        return launch(f, grid, block, shared, stream, _per_thread, _cooperative, params, _extra);  \
    }

LAUNCH_KERNEL(cuLaunchKernel, false, false, extra, , void **extra)
LAUNCH_KERNEL(cuLaunchKernel_ptsz, true, false, extra, , void **extra)
LAUNCH_KERNEL(cuLaunchCooperativeKernel, false, true, NULL)
LAUNCH_KERNEL(cuLaunchCooperativeKernel_ptsz, true, true, NULL)

static CUresult read_attributes(const CUlaunchConfig *config, bool *cooperative_p)
{
    *cooperative_p = false;
    if (config->numAttrs > 0 && config->attrs == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];
        switch (a->id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            *cooperative_p = a->value.cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            if (a->value.clusterDim.x * a->value.clusterDim.y * a->value.clusterDim.z != 1) {
                driver_message("a launch with clusters: this GPU has none");
                return CUDA_ERROR_NOT_SUPPORTED;
            }
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            driver_message("launch attribute %d is not there", (int)a->id);
            return CUDA_ERROR_NOT_SUPPORTED;
        default: /* hints, or looser order than the one that kernels are run in */
            if ((unsigned)a->id >= CU_LAUNCH_ATTRIBUTE_MAX)
                return CUDA_ERROR_INVALID_VALUE;
            break;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult launch_ex(const CUlaunchConfig *config, bool per_thread, CUfunction f,
                          void **params, void **extra)
{
    bool cooperative;
    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = read_attributes(config, &cooperative);
    if (r != CUDA_SUCCESS)
        return r;
    const uint32_t grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const uint32_t block[3] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    return launch(f, grid, block, config->sharedMemBytes, config->hStream, per_thread, cooperative,
                  params, extra);
}

API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params,
                              void **extra)
{
    ENTER("cuLaunchKernelEx");
    return launch_ex(config, false, f, params, extra);
}

API CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params,
                                   void **extra)
{
    ENTER("cuLaunchKernelEx_ptsz");
    return launch_ex(config, true, f, params, extra);
}

static CUresult run_host_call(void *arg, CUcontext context, struct op_result *result)
{
    const struct host_call *call = arg;
    (void)context;
    (void)result;
    call->function(call->data);
    return CUDA_SUCCESS;
}

const struct op_kind host_call_kind = {"host function", run_host_call, NULL,
                                       CU_GRAPH_NODE_TYPE_HOST};

static CUresult host_function(CUstream stream, bool per_thread, CUhostFn function, void *data)
{
    struct host_call call = {function, data};
    return function != NULL ? stream_submit(stream, per_thread, &host_call_kind, &call, sizeof call)
                            : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    ENTER("cuLaunchHostFunc");
    return host_function(stream, false, function, data);
}

API CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *data)
{
    ENTER("cuLaunchHostFunc_ptsz");
    return host_function(stream, true, function, data);
}

/* ---- the interface of CUDA 3, which keeps shape and arguments in the function */
static CUresult old_params(CUfunction handle, int offset, const void *from, size_t bytes)
{
    CUfunction f;
    CUresult r = function_resolve(handle, NULL, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (offset < 0 || bytes > OLD_PARAM_BYTES || (size_t)offset > OLD_PARAM_BYTES - bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (f->old_params == NULL && (f->old_params = calloc(1, OLD_PARAM_BYTES)) == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes > 0)
        memcpy(f->old_params + offset, from, bytes);
    return CUDA_SUCCESS;
}

API CUresult cuParamSetv(CUfunction f, int offset, void *from, unsigned bytes)
{
    ENTER("cuParamSetv");
    return from != NULL ? old_params(f, offset, from, bytes) : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuParamSeti(CUfunction f, int offset, unsigned value)
{
    ENTER("cuParamSeti");
    return old_params(f, offset, &value, sizeof value);
}

API CUresult cuParamSetf(CUfunction f, int offset, float value)
{
    ENTER("cuParamSetf");
    return old_params(f, offset, &value, sizeof value);
}

API CUresult cuParamSetSize(CUfunction handle, unsigned bytes)
{
    CUfunction f;
    ENTER("cuParamSetSize");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r == CUDA_SUCCESS && bytes > OLD_PARAM_BYTES)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        f->old_bytes = bytes;
    return r;
}

API CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z)
{
    CUfunction f;
    ENTER("cuFuncSetBlockShape");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r == CUDA_SUCCESS && (x <= 0 || y <= 0 || z <= 0))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    f->old_block[0] = (uint32_t)x;
    f->old_block[1] = (uint32_t)y;
    f->old_block[2] = (uint32_t)z;
    return CUDA_SUCCESS;
}

API CUresult cuFuncSetSharedSize(CUfunction handle, unsigned bytes)
{
    CUfunction f;
    ENTER("cuFuncSetSharedSize");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r == CUDA_SUCCESS)
        f->old_shared = bytes;
    return r;
}

static CUresult old_launch(CUfunction handle, int width, int height, CUstream stream)
{
    CUfunction f;
    CUresult r = function_resolve(handle, NULL, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (width <= 0 || height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    const uint32_t grid[3] = {(uint32_t)width, (uint32_t)height, 1};
    if ((r = old_params(f, 0, NULL, 0)) != CUDA_SUCCESS)
        return r;
    size_t bytes = f->old_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, f->old_params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    return launch(f, grid, f->old_block, f->old_shared, stream, false, false, NULL, extra);
}

API CUresult cuLaunch(CUfunction f)
{
    ENTER("cuLaunch");
    return old_launch(f, 1, 1, NULL);
}

API CUresult cuLaunchGrid(CUfunction f, int width, int height)
{
    ENTER("cuLaunchGrid");
    return old_launch(f, width, height, NULL);
}

API CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream)
{
    ENTER("cuLaunchGridAsync");
    return old_launch(f, width, height, stream);
}
