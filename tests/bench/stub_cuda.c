/* SPDX-License-Identifier: BSD-3-Clause
 * A driver that does nothing: one device, one context, memory that nobody may touch. Enough for the
 * shim to convert a GEMM, so that only its own work is measured. */
#include "bench/stub.h"

#include <cuda.h>
#include <stdint.h>

enum { MEMORY = 1 << 30 };

static _Thread_local struct stub_calls calls __attribute__((tls_model("initial-exec")));
static int context, stream, module, function; /* their addresses are the handles */

STUB_API struct stub_calls stub_cuda_calls(void)
{
    return calls;
}

static CUresult done(void)
{
    calls.other++;
    return CUDA_SUCCESS;
}

STUB_API CUresult cuCtxGetCurrent(CUcontext *current)
{
    *current = (CUcontext)&context;
    return done();
}

STUB_API CUresult cuCtxGetId(CUcontext ctx, unsigned long long *id)
{
    *id = 1;
    return done();
}

STUB_API CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return done();
}

STUB_API CUresult cuCtxPushCurrent(CUcontext ctx)
{
    return done();
}

STUB_API CUresult cuCtxPopCurrent(CUcontext *ctx)
{
    *ctx = (CUcontext)&context;
    return done();
}

/* An H200's figures where the shim asks; 1 for all else. */
STUB_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
             : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 132
                                                                         : 1;
    return done();
}

STUB_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return done();
}

#undef cuStreamGetCaptureInfo
STUB_API CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id);
STUB_API CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    *id = 0;
    return done();
}

STUB_API CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
    *s = (CUstream)&stream;
    return done();
}

STUB_API CUresult cuStreamSynchronize(CUstream s)
{
    return done();
}

STUB_API CUresult cuStreamGetId(CUstream s, unsigned long long *id)
{
    *id = (uintptr_t)s;
    return done();
}

STUB_API CUresult cuModuleLoadData(CUmodule *loaded, const void *image)
{
    *loaded = (CUmodule)&module;
    return done();
}

STUB_API CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
    *f = (CUfunction)&function;
    return done();
}

STUB_API CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name)
{
    *p = 4096;
    *bytes = 65536;
    return done();
}

STUB_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, CUstream s,
                                 void **params, void **extra)
{
    calls.launches++;
    return CUDA_SUCCESS;
}

STUB_API CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = (size_t)64 * MEMORY;
    return done();
}

static CUresult allocate(CUdeviceptr *p)
{
    static uint64_t next = (uint64_t)MEMORY;
    *p = __atomic_fetch_add(&next, MEMORY, __ATOMIC_RELAXED);
    return done();
}

STUB_API CUresult cuMemAlloc(CUdeviceptr *p, size_t bytes)
{
    return allocate(p);
}

STUB_API CUresult cuMemAllocAsync(CUdeviceptr *p, size_t bytes, CUstream s)
{
    return allocate(p);
}

STUB_API CUresult cuMemFree(CUdeviceptr p)
{
    return done();
}

STUB_API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
    return done();
}

STUB_API CUresult cuMemHostRegister(void *p, size_t bytes, unsigned flags)
{
    return done();
}

STUB_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *p, void *host, unsigned flags)
{
    *p = (CUdeviceptr)(uintptr_t)host;
    return done();
}

STUB_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream s)
{
    return done();
}

STUB_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
    return done();
}

STUB_API CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t bytes, CUstream s)
{
    return done();
}
