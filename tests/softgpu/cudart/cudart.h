/* SPDX-License-Identifier: BSD-3-Clause
 * Inside of the stand-in of libcudart: the driver's functions, the calling thread's device and last
 * error, and what programs have registered. Files that have functions with a per-thread-default-
 * stream form are compiled twice, the second time with CUDA_API_PER_THREAD_DEFAULT_STREAM, by which
 * the toolkit's header renames what they define. */
#ifndef SOFTGPU_CUDART_H
#define SOFTGPU_CUDART_H

#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

#define API __attribute__((visibility("default")))

struct driver {
#define DRIVER(_name, _type, _version) PFN_##_name##_v##_type _name;
#include "driver.def"
#undef DRIVER
};

/* driver.c: the functions of libcuda.so.1, in the form for the per-thread default stream or not.
 * Everything answers CUDA_ERROR_NOT_SUPPORTED where the driver lacks it. */
const struct driver *driver_of(bool per_thread);
/* cudaSuccess when libcuda is there and has been initialised. */
cudaError_t driver_init(void);
/* cuGetProcAddress_v2 itself. */
CUresult driver_find(const char *name, void **function_p, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *result_p);

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define DRIVER_FORM driver_of(true)
#else
#define DRIVER_FORM driver_of(false)
#endif

/* error.c */
cudaError_t error_of(CUresult result);
/* Remembers a failure as this thread's last error and returns it. */
cudaError_t record(cudaError_t error);
void error_forget(void);

/* context.c: makes sure that this thread has a context. */
cudaError_t enter(void);
int device_current(void); /* of this thread, whether or not it has a context */
cudaError_t device_check(int device);
/* The primary context of a device, made if it isn't there yet. */
cudaError_t device_context(int device, CUcontext *context_p);
/* Changes whenever a context that the runtime made ends. */
unsigned device_generation(void);

/* Bodies of entry points: one call of the driver, with a context; with the driver alone. */
#define FORWARD(_call)                                                                             \
    do {                                                                                           \
        cudaError_t error_ = enter();                                                              \
        return record(error_ != cudaSuccess ? error_ : error_of(DRIVER_FORM->_call));              \
    } while (0)
#define FORWARD_BARE(_call)                                                                        \
    do {                                                                                           \
        cudaError_t error_ = driver_init();                                                        \
        return record(error_ != cudaSuccess ? error_ : error_of(DRIVER_FORM->_call));              \
    } while (0)

/* registry.c: what nvcc's host code registers. Each of the following needs a context. */
cudaError_t kernel_of(const void *host_function, CUkernel *kernel_p);
/* The kernel's function in the current context; also takes a cudaKernel_t in place of the address.
 */
cudaError_t function_of(const void *host_function, CUfunction *function_p);
cudaError_t function_of_kernel(CUkernel kernel, CUfunction *function_p);
/* The host function of a driver's function, else the argument itself. */
void *host_function_of(CUfunction function);
cudaError_t variable_of(const void *host_variable, CUdeviceptr *address_p, size_t *bytes_p);
/* A kernel that a program got from a library: from now on it may be named by its handle. */
void kernel_note(CUkernel kernel);
/* Why the last look-up of a kernel on this thread failed. */
cudaError_t kernel_error(void);

/* symbol.c: which kind of memory a direction says the source and the destination are */
cudaError_t copy_types(enum cudaMemcpyKind kind, CUmemorytype *from_p, CUmemorytype *to_p);
/* Bytes of a row of an array and of an element; enters. */
struct array_shape {
    size_t pitch, element;
};
cudaError_t array_shape(cudaArray_const_t array, struct array_shape *shape);
/* The driver's form of a copy between pitched pointers and arrays. */
cudaError_t copy_3d(CUDA_MEMCPY3D *c, const struct cudaMemcpy3DParms *p);

/* Address of the part [offset, offset + bytes) of a device variable; enters. */
cudaError_t symbol_part(const void *symbol, size_t offset, size_t bytes, void **p);

/* Attributes have the same layout and numbers in the driver. */
static inline CUlaunchConfig launch_config(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
}

#endif
