/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the context and the module of the tests of the kernels. */
#include "kernels/gpu.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

extern const unsigned char apex_fatbin[];

static CUdevice device;
static CUmodule module;

void gpu_expect(CUresult result, const char *call, const char *file, int line)
{
    const char *name = "?";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    ck_abort_msg("%s:%d: %s: %s", file, line, call, name);
}

void gpu_start(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    const CUresult result = cuModuleLoadData(&module, apex_fatbin);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
        puts("the kernels are not built for this GPU");
        exit(77);
    }
    OK(result);
}

void gpu_stop(void)
{
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease(device));
}

CUfunction gpu_function(const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

CUdeviceptr gpu_sites(void)
{
    CUdeviceptr sites;
    size_t bytes;
    OK(cuModuleGetGlobal(&sites, &bytes, module, APEX_SITES_NAME));
    ck_assert_uint_eq(bytes, APEX_SITES * sizeof(struct apex_site));
    return sites;
}

CUdeviceptr gpu_new(const void *contents, size_t bytes)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, bytes));
    gpu_write(p, contents, bytes);
    return p;
}

void gpu_read(void *to, CUdeviceptr from, size_t bytes)
{
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(to, from, bytes));
}

void gpu_write(CUdeviceptr to, const void *from, size_t bytes)
{
    OK(cuMemcpyHtoD(to, from, bytes));
}

void gpu_free(CUdeviceptr p)
{
    OK(cuMemFree(p));
}

void gpu_launch(const char *name, const void *params, uint32_t blocks)
{
    void *arguments[] = {(void *)(uintptr_t)params};
    OK(cuLaunchKernel(gpu_function(name), blocks, 1, 1, APEX_BLOCK_THREADS, 1, 1, 0, NULL,
                      arguments, NULL));
}
