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

cudaError_t copy_3d(CUDA_MEMCPY3D *c, const struct cudaMemcpy3DParms *p)
{
    memset(c, 0, sizeof *c);
    if (p == NULL)
        return cudaErrorInvalidValue;
    if (p->srcArray != NULL || p->dstArray != NULL)
        return cudaErrorNotSupported;
    if (p->extent.height > 1 || p->extent.depth > 1) {
        if (p->srcPtr.pitch < p->extent.width || p->dstPtr.pitch < p->extent.width)
            return cudaErrorInvalidPitchValue;
    }
    c->srcXInBytes = p->srcPos.x;
    c->srcY = p->srcPos.y;
    c->srcZ = p->srcPos.z;
    c->srcHost = p->srcPtr.ptr;
    c->srcDevice = (CUdeviceptr)p->srcPtr.ptr;
    c->srcPitch = p->srcPtr.pitch;
    c->srcHeight = p->srcPtr.ysize;
    c->dstXInBytes = p->dstPos.x;
    c->dstY = p->dstPos.y;
    c->dstZ = p->dstPos.z;
    c->dstHost = p->dstPtr.ptr;
    c->dstDevice = (CUdeviceptr)p->dstPtr.ptr;
    c->dstPitch = p->dstPtr.pitch;
    c->dstHeight = p->dstPtr.ysize;
    c->WidthInBytes = p->extent.width;
    c->Height = p->extent.height;
    c->Depth = p->extent.depth;
    return copy_types(p->kind, &c->srcMemoryType, &c->dstMemoryType);
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
