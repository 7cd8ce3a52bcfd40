/* SPDX-License-Identifier: BSD-3-Clause
 * What the copies share, copies between devices, and device variables by their host address. Owns
 * no state. */
#include "cudart.h"

#include <string.h>

static CUmemorytype side(enum cudaMemcpyKind kind, enum cudaMemcpyKind other_device)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyDeviceToDevice || kind == other_device ? CU_MEMORYTYPE_DEVICE
                                                                    : CU_MEMORYTYPE_HOST;
}

cudaError_t copy_types(enum cudaMemcpyKind kind, CUmemorytype *from_p, CUmemorytype *to_p)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    *from_p = side(kind, cudaMemcpyDeviceToHost);
    *to_p = side(kind, cudaMemcpyHostToDevice);
    return cudaSuccess;
}

/* Where one side of a copy lies in an array; extents and positions are then in elements. */
static cudaError_t array_side(cudaArray_t array, struct cudaPitchedPtr p, CUmemorytype *type,
                              size_t *element_p)
{
    struct array_shape shape;
    if (array == NULL)
        return cudaSuccess;
    if (p.ptr != NULL)
        return cudaErrorInvalidValue; /* an array or a pointer, not both */
    if (*type == CU_MEMORYTYPE_HOST)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = array_shape(array, &shape);
    if (error == cudaSuccess && *element_p != 1 && *element_p != shape.element)
        return cudaErrorInvalidValue;
    *element_p = shape.element;
    *type = CU_MEMORYTYPE_ARRAY;
    return error;
}

cudaError_t copy_3d(CUDA_MEMCPY3D *c, const struct cudaMemcpy3DParms *p)
{
    size_t element = 1;
    memset(c, 0, sizeof *c);
    if (p == NULL)
        return cudaErrorInvalidValue;
    cudaError_t error = copy_types(p->kind, &c->srcMemoryType, &c->dstMemoryType);
    if (error == cudaSuccess)
        error = array_side(p->srcArray, p->srcPtr, &c->srcMemoryType, &element);
    if (error == cudaSuccess)
        error = array_side(p->dstArray, p->dstPtr, &c->dstMemoryType, &element);
    if (error != cudaSuccess)
        return error;
    const size_t width = p->extent.width * element;
    if ((p->extent.height > 1 || p->extent.depth > 1) &&
        ((p->srcArray == NULL && p->srcPtr.pitch < width) ||
         (p->dstArray == NULL && p->dstPtr.pitch < width)))
        return cudaErrorInvalidPitchValue;
    c->srcXInBytes = p->srcPos.x * (p->srcArray != NULL ? element : 1);
    c->srcY = p->srcPos.y;
    c->srcZ = p->srcPos.z;
    c->srcArray = (CUarray)p->srcArray;
    c->srcHost = p->srcPtr.ptr;
    c->srcDevice = (CUdeviceptr)p->srcPtr.ptr;
    c->srcPitch = p->srcPtr.pitch;
    c->srcHeight = p->srcPtr.ysize;
    c->dstXInBytes = p->dstPos.x * (p->dstArray != NULL ? element : 1);
    c->dstY = p->dstPos.y;
    c->dstZ = p->dstPos.z;
    c->dstArray = (CUarray)p->dstArray;
    c->dstHost = p->dstPtr.ptr;
    c->dstDevice = (CUdeviceptr)p->dstPtr.ptr;
    c->dstPitch = p->dstPtr.pitch;
    c->dstHeight = p->dstPtr.ysize;
    c->WidthInBytes = width;
    c->Height = p->extent.height;
    c->Depth = p->extent.depth;
    return cudaSuccess;
}

cudaError_t symbol_part(const void *symbol, size_t offset, size_t bytes, void **p)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = variable_of(symbol, &base, &size);
    if (error == cudaSuccess && (offset > size || bytes > size - offset))
        error = cudaErrorInvalidValue;
    *p = (void *)(base + offset);
    return error;
}

API cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
    CUdeviceptr address = 0;
    size_t bytes;
    cudaError_t error = p != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = variable_of(symbol, &address, &bytes);
    if (error == cudaSuccess)
        *p = (void *)address;
    return record(error);
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    CUdeviceptr address;
    cudaError_t error = bytes != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = variable_of(symbol, &address, bytes);
    return record(error);
}

/* The contexts of the two devices of a peer copy. */
static cudaError_t peers(int dst_device, int src_device, CUcontext *dst_p, CUcontext *src_p)
{
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = device_context(dst_device, dst_p);
    if (error == cudaSuccess)
        error = device_context(src_device, src_p);
    return error;
}

API cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device,
                               size_t bytes)
{
    CUcontext to, from;
    cudaError_t error = peers(dst_device, src_device, &to, &from);
    if (error == cudaSuccess && bytes > 0)
        error = error_of(
            driver_of(false)->cuMemcpyPeer((CUdeviceptr)dst, to, (CUdeviceptr)src, from, bytes));
    return record(error);
}

API cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                    size_t bytes, cudaStream_t stream)
{
    CUcontext to, from;
    cudaError_t error = peers(dst_device, src_device, &to, &from);
    if (error == cudaSuccess && bytes > 0)
        error = error_of(driver_of(false)->cuMemcpyPeerAsync((CUdeviceptr)dst, to, (CUdeviceptr)src,
                                                             from, bytes, stream));
    return record(error);
}
