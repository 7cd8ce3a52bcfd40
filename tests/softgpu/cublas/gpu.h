/* SPDX-License-Identifier: BSD-3-Clause
 * How the BLAS stand-ins reach the software GPU: libcuda.so.1 opened at run time, driver functions
 * by cuGetProcAddress (as NVIDIA's libraries do), its own services by dlsym; and the handle that
 * both libraries share (a cublasHandle_t may be used as a cublasLtHandle_t). */
#ifndef BLAS_GPU_H
#define BLAS_GPU_H

#include "../driver/softgpu.h"

#include <cublas_api.h>
#include <stdbool.h>

#define BLAS_API __attribute__((visibility("default")))

struct gpu {
    CUresult (*init)(unsigned flags);
    CUresult (*ctx_get_current)(CUcontext *context);
    CUresult (*ctx_set_current)(CUcontext context);
    CUresult (*ctx_get_device)(CUdevice *device);
    CUresult (*ctx_synchronize)(void);
    CUresult (*primary_retain)(CUcontext *context, CUdevice device);
    CUresult (*device_attribute)(int *value, CUdevice_attribute attribute, CUdevice device);
    CUresult (*stream_synchronize)(CUstream stream);
    CUresult (*mem_alloc)(CUdeviceptr *p, size_t bytes);
    CUresult (*mem_free)(CUdeviceptr p);
    CUresult (*memcpy_2d)(const CUDA_MEMCPY2D *copy);
    CUresult (*memcpy_2d_async)(const CUDA_MEMCPY2D *copy, CUstream stream);
    __typeof__(&softgpuEnqueue) enqueue;
    __typeof__(&softgpuCheck) check;
    __typeof__(&softgpuCount) count;
    __typeof__(&softgpuLog) log;
    __typeof__(&softgpuFail) fail;
};

/* NULL: there is no software GPU in this process. */
const struct gpu *gpu_get(void);

/* What every entry point does first: counts "calls.<name>", writes the log, injects a fault.
 * Returns the status to give up with, or CUBLAS_STATUS_SUCCESS. */
cublasStatus_t gpu_enter(const char *library, const char *name, void *caller, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));

/* One line on stderr, once for each flag. */
cublasStatus_t gpu_missing(const char *name, int *said);
/* One line on stderr: why a call was refused (SOFTGPU_VERBOSE=1 only). Returns status. */
cublasStatus_t gpu_refuse(cublasStatus_t status, const char *name, const char *why);

/* The common start of both handles. */
struct blas_base {
    uint64_t magic;
    CUcontext context; /* current at creation */
    CUdevice device;
    int compute_capability, multiprocessors;
};

cublasStatus_t gpu_open(struct blas_base *base);
bool gpu_valid(const struct blas_base *base);
/* Makes the handle's context current where the thread has none; refuses another one. */
cublasStatus_t gpu_use(const struct blas_base *base);
cublasStatus_t gpu_status(CUresult result);

#endif
