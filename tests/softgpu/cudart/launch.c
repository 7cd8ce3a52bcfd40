/* SPDX-License-Identifier: BSD-3-Clause
 * Launches. Compiled twice (see cudart.h). Owns no state. */
#include "cudart.h"

#include "registry.h"

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "same layout");
_Static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue), "same layout");

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define LAUNCH_BY_HANDLE __cudaLaunchKernel_ptsz
#else
#define LAUNCH_BY_HANDLE __cudaLaunchKernel
#endif

/* The driver calls a shape that no device allows an invalid value; the runtime, a configuration. */
static cudaError_t launch_error(CUresult result, dim3 grid, dim3 block)
{
    bool empty =
        grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0;
    bool huge = (unsigned long long)block.x * block.y * block.z > 1024 || block.z > 64 ||
                grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535;
    return result == CUDA_ERROR_INVALID_VALUE && (empty || huge) ? cudaErrorInvalidConfiguration
                                                                 : error_of(result);
}

static cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void **args, size_t shared,
                          cudaStream_t stream)
{
    return launch_error(DRIVER_FORM->cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x,
                                                    block.y, block.z, (unsigned)shared, stream,
                                                    args, NULL),
                        grid, block);
}

API cudaError_t LAUNCH_BY_HANDLE(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                 size_t shared, cudaStream_t stream)
{
    CUfunction function;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = function_of_kernel((CUkernel)kernel, &function);
    return record(error != cudaSuccess ? error
                                       : launch(function, grid, block, args, shared, stream));
}

API cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **args,
                                 size_t shared, cudaStream_t stream)
{
    CUfunction function;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = function_of(host, &function);
    return record(error != cudaSuccess ? error
                                       : launch(function, grid, block, args, shared, stream));
}

API cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args,
                                            size_t shared, cudaStream_t stream)
{
    CUfunction function;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = function_of(host, &function);
    if (error == cudaSuccess)
        error = launch_error(DRIVER_FORM->cuLaunchCooperativeKernel(
                                 function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                 (unsigned)shared, stream, args),
                             grid, block);
    return record(error);
}

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host, void **args)
{
    CUfunction function;
    cudaError_t error = config != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = function_of(host, &function);
    if (error != cudaSuccess)
        return record(error);
    CUlaunchConfig driver_config = launch_config(config);
    return record(launch_error(DRIVER_FORM->cuLaunchKernelEx(&driver_config, function, args, NULL),
                               config->gridDim, config->blockDim));
}

API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    FORWARD(cuLaunchHostFunc(stream, function, data));
}
