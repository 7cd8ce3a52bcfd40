/* SPDX-License-Identifier: BSD-3-Clause
 * How the NCCL stand-in reaches the software GPU: libcuda.so.1 opened at run time, driver functions
 * by cuGetProcAddress, its own services by dlsym. The table is filled once. */
#ifndef SOFTGPU_NCCL_GPU_H
#define SOFTGPU_NCCL_GPU_H

#include "tests/softgpu/driver/softgpu.h"

struct gpu {
    CUresult (*init)(unsigned flags);
    CUresult (*device_count)(int *n);
    CUresult (*primary_retain)(CUcontext *context, CUdevice device);
    CUresult (*current)(CUcontext *context);
    CUresult (*set_current)(CUcontext context);
    CUresult (*context_device)(CUdevice *device);
    CUresult (*synchronize)(void);
    CUresult (*host_alloc)(void **p, size_t bytes, unsigned flags);
    CUresult (*mem_alloc)(CUdeviceptr *p, size_t bytes);
    CUresult (*mem_free)(CUdeviceptr p);
    CUresult (*is_capturing)(CUstream stream, CUstreamCaptureStatus *status);
    CUresult (*wait_value)(CUstream stream, CUdeviceptr p, cuuint32_t value, unsigned flags);
    __typeof__(&softgpuEnqueue) enqueue;
    __typeof__(&softgpuCheck) check;
    __typeof__(&softgpuCount) count;
    __typeof__(&softgpuLog) log;
    __typeof__(&softgpuFail) fail;
};

/* NULL: there is no software GPU in this process. */
const struct gpu *gpu_get(void);

#endif
