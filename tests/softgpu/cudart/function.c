/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels as objects: the stack of launch configurations of each thread (<<<...>>> pushes, nvcc's
 * stub pops), handles, attributes, occupancy. */
#include "cudart.h"

#include <cuda_profiler_api.h>
#include <string.h>

#include "registry.h"

enum { MAX_DEPTH = 16 };

static _Thread_local struct {
    struct {
        dim3 grid, block;
        size_t shared;
        cudaStream_t stream;
    } at[MAX_DEPTH];
    int depth;
} pushed;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (pushed.depth == MAX_DEPTH)
        return 1;
    pushed.at[pushed.depth].grid = grid;
    pushed.at[pushed.depth].block = block;
    pushed.at[pushed.depth].shared = shared;
    pushed.at[pushed.depth].stream = stream;
    pushed.depth++;
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (pushed.depth == 0)
        return record(cudaErrorMissingConfiguration);
    pushed.depth--;
    *grid = pushed.at[pushed.depth].grid;
    *block = pushed.at[pushed.depth].block;
    *shared = pushed.at[pushed.depth].shared;
    *(cudaStream_t *)stream = pushed.at[pushed.depth].stream;
    return cudaSuccess;
}

/* The stub keeps this handle for the life of the process: it names no context. */
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    CUkernel found = NULL;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = kernel_of(host, &found);
    *kernel = (cudaKernel_t)found;
    return record(error);
}

API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    if (kernel == NULL)
        return record(cudaErrorInvalidValue);
    cudaError_t error = __cudaGetKernel(kernel, host);
    if (error == cudaSuccess)
        kernel_note((CUkernel)*kernel);
    return error;
}

API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host)
{
    cudaError_t error = function != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = function_of(host, (CUfunction *)function);
    return record(error);
}

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *host)
{
    CUfunction function;
    cudaError_t error = a != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = function_of(host, &function);
    if (error != cudaSuccess)
        return record(error);
    int value[CU_FUNC_ATTRIBUTE_MAX] = {0};
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX && error == cudaSuccess; i++) {
        CUresult result =
            driver_of(false)->cuFuncGetAttribute(&value[i], (CUfunction_attribute)i, function);
        if (result != CUDA_ERROR_INVALID_VALUE) /* one that this driver doesn't know counts as 0 */
            error = error_of(result);
    }
    memset(a, 0, sizeof *a);
    a->sharedSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
    a->constSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES];
    a->localSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES];
    a->maxThreadsPerBlock = value[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    a->numRegs = value[CU_FUNC_ATTRIBUTE_NUM_REGS];
    a->ptxVersion = value[CU_FUNC_ATTRIBUTE_PTX_VERSION];
    a->binaryVersion = value[CU_FUNC_ATTRIBUTE_BINARY_VERSION];
    a->cacheModeCA = value[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA];
    a->maxDynamicSharedSizeBytes = value[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    a->preferredShmemCarveout = value[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    a->clusterDimMustBeSet = value[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET];
    a->requiredClusterWidth = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    a->requiredClusterHeight = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT];
    a->requiredClusterDepth = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH];
    a->clusterSchedulingPolicyPreference =
        value[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE];
    a->nonPortableClusterSizeAllowed = value[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
    return record(error);
}

/* Body of an entry point: one call of the driver on the function of a kernel. */
#define FORWARD_FUNCTION(_host, _call)                                                             \
    do {                                                                                           \
        CUfunction function;                                                                       \
        cudaError_t error_ = enter();                                                              \
        if (error_ == cudaSuccess)                                                                 \
            error_ = function_of(_host, &function);                                                \
        return record(error_ != cudaSuccess ? error_ : error_of(driver_of(false)->_call));         \
    } while (0)

API cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value)
{
    FORWARD_FUNCTION(host, cuFuncSetAttribute(function, (CUfunction_attribute)attribute, value));
}

API cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
    FORWARD_FUNCTION(host, cuFuncSetCacheConfig(function, (CUfunc_cache)config));
}

API cudaError_t cudaFuncSetSharedMemConfig(const void *host, enum cudaSharedMemConfig config)
{
    FORWARD_FUNCTION(host, cuFuncSetSharedMemConfig(function, (CUsharedconfig)config));
}

API cudaError_t cudaFuncGetName(const char **name, const void *host)
{
    FORWARD_FUNCTION(host, cuFuncGetName(name, function));
}

API cudaError_t cudaFuncGetParamInfo(const void *host, size_t i, size_t *offset, size_t *bytes)
{
    FORWARD_FUNCTION(host, cuFuncGetParamInfo(function, i, offset, bytes));
}

API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                enum cudaFuncAttribute attribute, int value,
                                                int device)
{
    FORWARD(cuKernelSetAttribute((CUfunction_attribute)attribute, value, (CUkernel)kernel, device));
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *host, int block_size, size_t shared, unsigned flags)
{
    FORWARD_FUNCTION(host, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                               blocks, function, block_size, shared, flags));
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host,
                                                              int block_size, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, block_size, shared,
                                                                  0);
}

API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host,
                                                          int blocks, int block_size)
{
    FORWARD_FUNCTION(host,
                     cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size));
}

API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *host,
                                                     const cudaLaunchConfig_t *config)
{
    if (config == NULL)
        return record(cudaErrorInvalidValue);
    CUlaunchConfig c = launch_config(config);
    FORWARD_FUNCTION(host, cuOccupancyMaxPotentialClusterSize(size, function, &c));
}

API cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *host,
                                               const cudaLaunchConfig_t *config)
{
    if (config == NULL)
        return record(cudaErrorInvalidValue);
    CUlaunchConfig c = launch_config(config);
    FORWARD_FUNCTION(host, cuOccupancyMaxActiveClusters(n, function, &c));
}

API cudaError_t cudaProfilerStart(void)
{
    FORWARD(cuProfilerStart());
}

API cudaError_t cudaProfilerStop(void)
{
    FORWARD(cuProfilerStop());
}
