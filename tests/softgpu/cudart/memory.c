/* SPDX-License-Identifier: BSD-3-Clause
 * Memory: allocation of all kinds, registration of host memory, what a pointer is. Owns no state.
 */
#include "cudart.h"

#include <string.h>

static CUdeviceptr address(const void *p)
{
    return (CUdeviceptr)p;
}

API cudaError_t cudaMalloc(void **p, size_t bytes)
{
    if (p == NULL)
        return record(cudaErrorInvalidValue);
    *p = NULL;
    if (bytes == 0)
        return record(enter());
    FORWARD(cuMemAlloc((CUdeviceptr *)p, bytes));
}

API cudaError_t cudaFree(void *p)
{
    if (p == NULL)
        return record(enter());
    FORWARD(cuMemFree(address(p)));
}

API cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    enum { ELEMENT = 4 };
    if (p == NULL || pitch == NULL)
        return record(cudaErrorInvalidValue);
    *p = NULL;
    *pitch = 0;
    if (width == 0 || height == 0)
        return record(enter());
    FORWARD(cuMemAllocPitch((CUdeviceptr *)p, pitch, width, height, ELEMENT));
}

API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent extent)
{
    if (p == NULL)
        return record(cudaErrorInvalidValue);
    *p = (struct cudaPitchedPtr){.xsize = extent.width, .ysize = extent.height};
    return cudaMallocPitch(&p->ptr, &p->pitch, extent.width, extent.height * extent.depth);
}

API cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
    if (p == NULL || bytes == 0)
        return record(cudaErrorInvalidValue);
    *p = NULL;
    FORWARD(cuMemAllocManaged((CUdeviceptr *)p, bytes, flags));
}

API cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    if (p == NULL)
        return record(cudaErrorInvalidValue);
    *p = NULL;
    if (bytes == 0)
        return record(enter());
    FORWARD(cuMemHostAlloc(p, bytes, flags));
}

API cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    return cudaHostAlloc(p, bytes, cudaHostAllocDefault);
}

API cudaError_t cudaFreeHost(void *p)
{
    if (p == NULL)
        return record(enter());
    FORWARD(cuMemFreeHost(p));
}

API cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    FORWARD(cuMemHostRegister(p, bytes, flags));
}

API cudaError_t cudaHostUnregister(void *p)
{
    FORWARD(cuMemHostUnregister(p));
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    FORWARD(cuMemHostGetDevicePointer((CUdeviceptr *)device, host, flags));
}

API cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    FORWARD(cuMemHostGetFlags(flags, p));
}

API cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    FORWARD(cuMemGetInfo(available, total));
}

API cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation location)
{
    CUmemLocation where = {.type = (CUmemLocationType)location.type, .id = location.id};
    FORWARD(cuMemAdvise(address(p), bytes, (CUmem_advise)advice, where));
}

API cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_bytes,
                                         enum cudaMemRangeAttribute attribute, const void *p,
                                         size_t bytes)
{
    FORWARD(cuMemRangeGetAttribute(data, data_bytes, (CUmem_range_attribute)attribute, address(p),
                                   bytes));
}

API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_bytes,
                                          enum cudaMemRangeAttribute *attributes, size_t n,
                                          const void *p, size_t bytes)
{
    FORWARD(cuMemRangeGetAttributes(data, data_bytes, (CUmem_range_attribute *)attributes, n,
                                    address(p), bytes));
}

API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    cudaError_t error = a != NULL ? enter() : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return record(error);
    unsigned memory = 0, managed = 0;
    int device = cudaInvalidDeviceId;
    CUdeviceptr on_device = 0;
    void *on_host = NULL;
    CUpointer_attribute name[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,
    };
    void *value[] = {&memory, &managed, &device, &on_device, &on_host};
    /* Unlike one attribute asked alone, a list is answered with zeros for an unknown pointer. */
    CUresult result = driver_of(false)->cuPointerGetAttributes(sizeof name / sizeof name[0], name,
                                                               value, address(p));
    memset(a, 0, sizeof *a);
    a->type = managed != 0                     ? cudaMemoryTypeManaged
              : memory == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
              : memory == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                               : cudaMemoryTypeUnregistered;
    if (a->type == cudaMemoryTypeUnregistered) {
        a->device = cudaInvalidDeviceId;
        a->hostPointer = (void *)p;
    } else {
        a->device = device;
        a->devicePointer = (void *)on_device;
        a->hostPointer = on_host;
    }
    return record(error_of(result));
}

API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p)
{
    FORWARD(cuIpcGetMemHandle((CUipcMemHandle *)handle, address(p)));
}

API cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned flags)
{
    CUipcMemHandle copy;
    memcpy(&copy, &handle, sizeof copy);
    FORWARD(cuIpcOpenMemHandle((CUdeviceptr *)p, copy, flags));
}

API cudaError_t cudaIpcCloseMemHandle(void *p)
{
    FORWARD(cuIpcCloseMemHandle(address(p)));
}

/* A description of what a texel holds, which programs make although there are no textures here. */
API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = kind};
}
