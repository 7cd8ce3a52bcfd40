/* SPDX-License-Identifier: BSD-3-Clause
 * Functions: attributes, parameters, and how many blocks of one fit on a multiprocessor. No state
 * of its own; module_lock guards what it reads. */
#include "tests/softgpu/driver/module.h"

#include <string.h>

enum {
    WARP = 32,
    REGISTER_UNIT = 256, /* registers are given to a warp in such pieces */
    REGISTER_FILES = 4,  /* of a multiprocessor; a warp lives in one of them */
    MAX_REGISTERS = 255, /* of a thread */
    MIN_REGISTERS = 16,
    SHARED_UNIT = 128,
    SHARED_RESERVED = 1024, /* of each block, for the system */
};

static uint32_t round_up(uint32_t n, uint32_t unit)
{
    return (n + unit - 1) / unit * unit;
}

CUresult function_resolve(CUfunction handle, CUcontext context, CUfunction *function_p)
{
    CUresult r = CUDA_SUCCESS;
    if (context == NULL && (r = context_check(&context)) != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&module_lock);
    if (handle_is(handle, HANDLE_FUNCTION))
        *function_p = handle;
    else if (handle_is(handle, HANDLE_KERNEL))
        r = kernel_function((CUkernel)handle, context, function_p);
    else
        r = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_unlock(&module_lock);
    return r;
}

/* The engine only estimates registers. A compiler keeps them low enough for the largest block. */
int function_registers(const struct sg_kernel *code, const struct model *model)
{
    uint32_t most = (uint32_t)model->registers_per_sm / round_up(code->max_threads, WARP) / 8 * 8;
    uint32_t n = round_up(code->registers, 8);
    if (most > MAX_REGISTERS)
        most = MAX_REGISTERS;
    return (int)(n > most ? most : n < MIN_REGISTERS ? MIN_REGISTERS : n);
}

int function_dynamic_limit(const struct sg_kernel *code, const struct settings *settings,
                           const struct model *model)
{
    int standard = model->shared_per_block - (int)code->static_shared;
    return settings->dynamic_shared >= 0 ? settings->dynamic_shared : standard > 0 ? standard : 0;
}

CUresult function_attribute(int *value, CUfunction_attribute attribute,
                            const struct sg_kernel *code, const struct settings *settings,
                            const struct model *model, unsigned target)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)code->max_threads;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)code->static_shared;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)code->local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = function_registers(code, model);
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)target;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 10 * model->major + model->minor;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function_dynamic_limit(code, settings, model);
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = settings->carveout;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = settings->non_portable_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = settings->cluster_policy;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = 0;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult function_set(struct settings *settings, CUfunction_attribute attribute, int value,
                      const struct sg_kernel *code, const struct model *model)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > model->shared_per_block_optin - (int)code->static_shared)
            return CUDA_ERROR_INVALID_VALUE;
        settings->dynamic_shared = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        settings->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        settings->non_portable_cluster = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        settings->cluster_policy = value;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    CUfunction f;
    ENTER("cuFuncGetAttribute");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return function_attribute(value, attribute, f->code, &f->settings,
                              &f->module->context->device->model, f->module->target);
}

API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    CUfunction f;
    ENTER("cuFuncSetAttribute");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r != CUDA_SUCCESS)
        return r;
    return function_set(&f->settings, attribute, value, f->code,
                        &f->module->context->device->model);
}

/* Hints: checked, and of no effect. */
API CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    CUfunction f;
    ENTER("cuFuncSetCacheConfig");
    CUresult r = function_resolve(handle, NULL, &f);
    return r != CUDA_SUCCESS || (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL
               ? r
               : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config)
{
    CUfunction f;
    ENTER("cuFuncSetSharedMemConfig");
    CUresult r = function_resolve(handle, NULL, &f);
    return r != CUDA_SUCCESS || (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? r
               : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    CUfunction f;
    ENTER("cuFuncGetModule");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r == CUDA_SUCCESS && module == NULL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *module = f->module;
    return r;
}

API CUresult cuFuncGetName(const char **name, CUfunction handle)
{
    CUfunction f;
    ENTER("cuFuncGetName");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r == CUDA_SUCCESS && name == NULL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *name = f->code->name;
    return r;
}

API CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    CUfunction f;
    ENTER("cuFuncGetParamInfo");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r == CUDA_SUCCESS && (offset == NULL || index >= f->code->nparams))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    *offset = f->code->params[index].offset;
    if (bytes != NULL)
        *bytes = f->code->params[index].size;
    return CUDA_SUCCESS;
}

API CUresult cuFuncIsLoaded(CUfunctionLoadingState *loaded, CUfunction handle)
{
    CUfunction f;
    ENTER("cuFuncIsLoaded");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r == CUDA_SUCCESS && loaded == NULL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *loaded = CU_FUNCTION_LOADING_STATE_LOADED;
    return r;
}

API CUresult cuFuncLoad(CUfunction handle)
{
    CUfunction f;
    ENTER("cuFuncLoad");
    return function_resolve(handle, NULL, &f);
}

/* ---- occupancy */
static uint32_t shared_of_block(const struct sg_kernel *code, size_t dynamic)
{
    return round_up(code->static_shared + (uint32_t)dynamic, SHARED_UNIT) + SHARED_RESERVED;
}

int occupancy(const struct sg_kernel *code, const struct model *model, uint32_t threads,
              size_t dynamic_shared)
{
    if (threads == 0 || threads > code->max_threads ||
        dynamic_shared + code->static_shared > (size_t)model->shared_per_block_optin)
        return 0;
    uint32_t warps = round_up(threads, WARP) / WARP;
    uint32_t registers = round_up((uint32_t)function_registers(code, model) * WARP, REGISTER_UNIT);
    uint32_t by_registers =
        (uint32_t)model->registers_per_sm / REGISTER_FILES / registers * REGISTER_FILES / warps;
    uint32_t by_shared = (uint32_t)model->shared_per_sm / shared_of_block(code, dynamic_shared);
    uint32_t n = (uint32_t)model->threads_per_sm / (warps * WARP);
    if (n > (uint32_t)model->blocks_per_sm)
        n = (uint32_t)model->blocks_per_sm;
    if (n > by_registers)
        n = by_registers;
    return (int)(n > by_shared ? by_shared : n);
}

static CUresult max_blocks(int *blocks, CUfunction handle, int threads, size_t dynamic,
                           unsigned flags)
{
    CUfunction f;
    CUresult r = function_resolve(handle, NULL, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (blocks == NULL || threads <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = occupancy(f->code, &f->module->context->device->model, (uint32_t)threads, dynamic);
    return CUDA_SUCCESS;
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads,
                                                         size_t dynamic)
{
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return max_blocks(blocks, f, threads, dynamic, 0);
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f,
                                                                  int threads, size_t dynamic,
                                                                  unsigned flags)
{
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
    return max_blocks(blocks, f, threads, dynamic, flags);
}

static CUresult best_block(int *min_grid, int *threads, CUfunction handle,
                           CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit, unsigned flags)
{
    CUfunction f;
    CUresult r = function_resolve(handle, NULL, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (min_grid == NULL || threads == NULL || limit < 0 ||
        flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    const struct model *m = &f->module->context->device->model;
    int largest = (int)f->code->max_threads, best = 0;
    if (limit > 0 && limit < largest)
        largest = limit;
    *threads = 0;
    *min_grid = 0;
    /* The largest block of those that keep most threads resident. */
    for (int n = largest; n > 0; n = (n - 1) / WARP * WARP) {
        int blocks =
            occupancy(f->code, m, (uint32_t)n, dynamic_of != NULL ? dynamic_of(n) : dynamic);
        if (blocks * n > best) {
            best = blocks * n;
            *threads = n;
            *min_grid = blocks * m->multiprocessors;
        }
    }
    return CUDA_SUCCESS;
}

API CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *threads, CUfunction f,
                                              CUoccupancyB2DSize dynamic_of, size_t dynamic,
                                              int limit)
{
    ENTER("cuOccupancyMaxPotentialBlockSize");
    return best_block(min_grid, threads, f, dynamic_of, dynamic, limit, 0);
}

API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *threads, CUfunction f,
                                                       CUoccupancyB2DSize dynamic_of,
                                                       size_t dynamic, int limit, unsigned flags)
{
    ENTER("cuOccupancyMaxPotentialBlockSizeWithFlags");
    return best_block(min_grid, threads, f, dynamic_of, dynamic, limit, flags);
}

API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction handle, int blocks,
                                                     int threads)
{
    CUfunction f;
    ENTER("cuOccupancyAvailableDynamicSMemPerBlock");
    CUresult r = function_resolve(handle, NULL, &f);
    if (r != CUDA_SUCCESS)
        return r;
    if (bytes == NULL || blocks <= 0 || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    const struct model *m = &f->module->context->device->model;
    int share = m->shared_per_sm / blocks / SHARED_UNIT * SHARED_UNIT - SHARED_RESERVED;
    if (share > m->shared_per_block_optin)
        share = m->shared_per_block_optin;
    share -= (int)f->code->static_shared;
    *bytes = share > 0 ? (size_t)share : 0;
    return occupancy(f->code, m, (uint32_t)threads, *bytes) >= blocks ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_INVALID_VALUE;
}
