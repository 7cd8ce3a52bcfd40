/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the table of functions taken from libcuda.so.1, filled once at the first use. */
#include "gpu.h"
#include "status.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MAGIC = UINT64_C(0x7367626c61733133);
enum { ABI = 12000 }; /* from 13000 on some names mean functions with other parameters */

static struct gpu table;
static bool present;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL)
        return;
    CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        NULL;
    *(void **)&get = dlsym(lib, "cuGetProcAddress_v2");
    if (get == NULL)
        return;
    const struct {
        const char *name;
        void *slot;
    } driver[] =
        {
            {"cuInit", &table.init},
            {"cuCtxGetCurrent", &table.ctx_get_current},
            {"cuCtxSetCurrent", &table.ctx_set_current},
            {"cuCtxGetDevice", &table.ctx_get_device},
            {"cuCtxSynchronize", &table.ctx_synchronize},
            {"cuDevicePrimaryCtxRetain", &table.primary_retain},
            {"cuDeviceGetAttribute", &table.device_attribute},
            {"cuStreamSynchronize", &table.stream_synchronize},
            {"cuMemAlloc", &table.mem_alloc},
            {"cuMemFree", &table.mem_free},
            {"cuMemcpy2DUnaligned", &table.memcpy_2d},
            {"cuMemcpy2DAsync", &table.memcpy_2d_async},
        },
      own[] = {
          {"softgpuEnqueue", &table.enqueue}, {"softgpuCheck", &table.check},
          {"softgpuCount", &table.count},     {"softgpuLog", &table.log},
          {"softgpuFail", &table.fail},
      };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        void *f = dlsym(lib, own[i].name);
        if (f == NULL)
            return;
        memcpy(own[i].slot, &f, sizeof f);
    }
    for (size_t i = 0; i < sizeof driver / sizeof driver[0]; i++) {
        void *f = NULL;
        CUdriverProcAddressQueryResult found;
        if (get(driver[i].name, &f, ABI, 0, &found) != CUDA_SUCCESS || f == NULL) {
            fprintf(stderr, "softgpu: cublas: libcuda.so.1 has no %s\n", driver[i].name);
            return;
        }
        memcpy(driver[i].slot, &f, sizeof f);
    }
    present = true;
}

const struct gpu *gpu_get(void)
{
    pthread_once(&once, load);
    return present ? &table : NULL;
}

cublasStatus_t gpu_enter(const char *library, const char *name, void *caller, const char *format,
                         ...)
{
    const struct gpu *gpu = gpu_get();
    if (gpu == NULL)
        return CUBLAS_STATUS_SUCCESS;
    char key[96], text[200];
    snprintf(key, sizeof key, "calls.%s", name);
    gpu->count(key, 1);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gpu->log(library, text[0] == '\0' ? "%s" : "%s %s", name, text);
    return (cublasStatus_t)gpu->fail(name, caller);
}

cublasStatus_t gpu_missing(const char *name, int *said)
{
    if (__atomic_exchange_n(said, 1, __ATOMIC_RELAXED) == 0)
        fprintf(stderr, "softgpu: %s is not implemented\n", name);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t gpu_refuse(cublasStatus_t status, const char *name, const char *why)
{
    const char *verbose = getenv("SOFTGPU_VERBOSE");
    if (verbose != NULL && *verbose != '\0' && *verbose != '0')
        fprintf(stderr, "softgpu: %s: status %d: %s\n", name, (int)status, why);
    return status;
}

cublasStatus_t gpu_open(struct blas_base *base)
{
    const struct gpu *gpu = gpu_get();
    if (gpu == NULL || gpu->init(0) != CUDA_SUCCESS)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (gpu->ctx_get_current(&base->context) != CUDA_SUCCESS)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (base->context == NULL && (gpu->primary_retain(&base->context, 0) != CUDA_SUCCESS ||
                                  gpu->ctx_set_current(base->context) != CUDA_SUCCESS))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    int major = 0, minor = 0;
    if (gpu->ctx_get_device(&base->device) != CUDA_SUCCESS ||
        gpu->device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, base->device) !=
            CUDA_SUCCESS ||
        gpu->device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, base->device) !=
            CUDA_SUCCESS ||
        gpu->device_attribute(&base->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                              base->device) != CUDA_SUCCESS)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    base->compute_capability = 10 * major + minor;
    base->magic = MAGIC + (uint64_t)blas_version[0];
    return CUBLAS_STATUS_SUCCESS;
}

bool gpu_valid(const struct blas_base *base)
{
    /* a handle of another major version is not ours */
    return base != NULL && base->magic == MAGIC + (uint64_t)blas_version[0];
}

cublasStatus_t gpu_use(const struct blas_base *base)
{
    const struct gpu *gpu = gpu_get();
    CUcontext current = NULL;
    if (gpu->ctx_get_current(&current) != CUDA_SUCCESS)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (current == NULL)
        return gpu_status(gpu->ctx_set_current(base->context));
    if (current == base->context)
        return CUBLAS_STATUS_SUCCESS;
    return gpu_refuse(CUBLAS_STATUS_EXECUTION_FAILED, "cuBLAS",
                      "the handle was made in another context");
}

cublasStatus_t gpu_status(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return CUBLAS_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return CUBLAS_STATUS_ALLOC_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
        return CUBLAS_STATUS_NOT_INITIALIZED;
    default:
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}
