/* SPDX-License-Identifier: BSD-3-Clause
 * Copies and fills, also those to and from device variables; of arrays those that describe boxes
 * (the others are in array_copy.c). Compiled twice (see cudart.h). Owns no state. */
#include "cudart.h"

#include <string.h>

static CUdeviceptr address(const void *p)
{
    return (CUdeviceptr)p;
}

static cudaError_t copy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    const struct driver *driver = DRIVER_FORM;
    if (bytes == 0)
        return (unsigned)kind > cudaMemcpyDefault ? cudaErrorInvalidMemcpyDirection : cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return error_of(driver->cuMemcpy(address(dst), address(src), bytes));
    case cudaMemcpyHostToDevice:
        return error_of(driver->cuMemcpyHtoD(address(dst), src, bytes));
    case cudaMemcpyDeviceToHost:
        return error_of(driver->cuMemcpyDtoH(dst, address(src), bytes));
    case cudaMemcpyDeviceToDevice:
        return error_of(driver->cuMemcpyDtoD(address(dst), address(src), bytes));
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

static cudaError_t copy_async(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    const struct driver *driver = DRIVER_FORM;
    if (bytes == 0)
        return (unsigned)kind > cudaMemcpyDefault ? cudaErrorInvalidMemcpyDirection : cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return error_of(driver->cuMemcpyAsync(address(dst), address(src), bytes, stream));
    case cudaMemcpyHostToDevice:
        return error_of(driver->cuMemcpyHtoDAsync(address(dst), src, bytes, stream));
    case cudaMemcpyDeviceToHost:
        return error_of(driver->cuMemcpyDtoHAsync(dst, address(src), bytes, stream));
    case cudaMemcpyDeviceToDevice:
        return error_of(driver->cuMemcpyDtoDAsync(address(dst), address(src), bytes, stream));
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

API cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = enter();
    return record(error != cudaSuccess ? error : copy(dst, src, bytes, kind));
}

API cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
                                cudaStream_t stream)
{
    cudaError_t error = enter();
    return record(error != cudaSuccess ? error : copy_async(dst, src, bytes, kind, stream));
}

static cudaError_t make_2d(CUDA_MEMCPY2D *c, void *dst, size_t dpitch, const void *src,
                           size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    memset(c, 0, sizeof *c);
    c->srcHost = src;
    c->srcDevice = address(src);
    c->srcPitch = spitch;
    c->dstHost = dst;
    c->dstDevice = address(dst);
    c->dstPitch = dpitch;
    c->WidthInBytes = width;
    c->Height = height;
    if (width > spitch || width > dpitch)
        return cudaErrorInvalidPitchValue;
    return copy_types(kind, &c->srcMemoryType, &c->dstMemoryType);
}

API cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D c;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = make_2d(&c, dst, dpitch, src, spitch, width, height, kind);
    if (error == cudaSuccess && width > 0 && height > 0)
        error = error_of(DRIVER_FORM->cuMemcpy2DUnaligned(&c));
    return record(error);
}

API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                  size_t width, size_t height, enum cudaMemcpyKind kind,
                                  cudaStream_t stream)
{
    CUDA_MEMCPY2D c;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = make_2d(&c, dst, dpitch, src, spitch, width, height, kind);
    if (error == cudaSuccess && width > 0 && height > 0)
        error = error_of(DRIVER_FORM->cuMemcpy2DAsync(&c, stream));
    return record(error);
}

API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D c;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = copy_3d(&c, p);
    if (error == cudaSuccess)
        error = error_of(DRIVER_FORM->cuMemcpy3D(&c));
    return record(error);
}

API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D c;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = copy_3d(&c, p);
    if (error == cudaSuccess)
        error = error_of(DRIVER_FORM->cuMemcpy3DAsync(&c, stream));
    return record(error);
}

static cudaError_t make_3d_peer(CUDA_MEMCPY3D_PEER *c, const struct cudaMemcpy3DPeerParms *p)
{
    CUDA_MEMCPY3D one;
    if (p == NULL)
        return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms parms = {
        .srcArray = p->srcArray,
        .srcPos = p->srcPos,
        .srcPtr = p->srcPtr,
        .dstArray = p->dstArray,
        .dstPos = p->dstPos,
        .dstPtr = p->dstPtr,
        .extent = p->extent,
        .kind = cudaMemcpyDeviceToDevice,
    };
    cudaError_t error = copy_3d(&one, &parms);
    memset(c, 0, sizeof *c);
    if (error == cudaSuccess)
        error = device_context(p->srcDevice, &c->srcContext);
    if (error == cudaSuccess)
        error = device_context(p->dstDevice, &c->dstContext);
    if (error != cudaSuccess)
        return error;
    c->srcXInBytes = one.srcXInBytes;
    c->srcY = one.srcY;
    c->srcZ = one.srcZ;
    c->srcMemoryType = one.srcMemoryType;
    c->srcDevice = one.srcDevice;
    c->srcArray = one.srcArray;
    c->srcPitch = one.srcPitch;
    c->srcHeight = one.srcHeight;
    c->dstXInBytes = one.dstXInBytes;
    c->dstY = one.dstY;
    c->dstZ = one.dstZ;
    c->dstMemoryType = one.dstMemoryType;
    c->dstDevice = one.dstDevice;
    c->dstArray = one.dstArray;
    c->dstPitch = one.dstPitch;
    c->dstHeight = one.dstHeight;
    c->WidthInBytes = one.WidthInBytes;
    c->Height = one.Height;
    c->Depth = one.Depth;
    return cudaSuccess;
}

API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    CUDA_MEMCPY3D_PEER c;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = make_3d_peer(&c, p);
    if (error == cudaSuccess)
        error = error_of(DRIVER_FORM->cuMemcpy3DPeer(&c));
    return record(error);
}

API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D_PEER c;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = make_3d_peer(&c, p);
    if (error == cudaSuccess)
        error = error_of(DRIVER_FORM->cuMemcpy3DPeerAsync(&c, stream));
    return record(error);
}

API cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    if (bytes == 0)
        return record(enter());
    FORWARD(cuMemsetD8(address(p), (unsigned char)value, bytes));
}

API cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    if (bytes == 0)
        return record(enter());
    FORWARD(cuMemsetD8Async(address(p), (unsigned char)value, bytes, stream));
}

API cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    if (width == 0 || height == 0)
        return record(enter());
    FORWARD(cuMemsetD2D8(address(p), pitch, (unsigned char)value, width, height));
}

API cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                                  cudaStream_t stream)
{
    if (width == 0 || height == 0)
        return record(enter());
    FORWARD(cuMemsetD2D8Async(address(p), pitch, (unsigned char)value, width, height, stream));
}

/* Layers that follow each other without a gap are one tall layer. */
API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                                  cudaStream_t stream)
{
    cudaError_t error = enter();
    if (extent.width == 0)
        return record(error);
    if (extent.height == p.ysize) {
        extent.height *= extent.depth;
        extent.depth = extent.height > 0;
    }
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = error_of(DRIVER_FORM->cuMemsetD2D8Async(address(p.ptr) + z * p.ysize * p.pitch,
                                                        p.pitch, (unsigned char)value, extent.width,
                                                        extent.height, stream));
    return record(error);
}

API cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
    return cudaMemset3DAsync(p, value, extent, NULL);
}

static bool to_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
           kind == cudaMemcpyDefault;
}

static bool from_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
           kind == cudaMemcpyDefault;
}

API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t error = symbol_part(symbol, offset, bytes, &p);
    if (error == cudaSuccess && !to_device(kind))
        error = cudaErrorInvalidMemcpyDirection;
    return record(error != cudaSuccess ? error : copy(p, src, bytes, kind));
}

API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
                                     enum cudaMemcpyKind kind)
{
    void *p;
    cudaError_t error = symbol_part(symbol, offset, bytes, &p);
    if (error == cudaSuccess && !from_device(kind))
        error = cudaErrorInvalidMemcpyDirection;
    return record(error != cudaSuccess ? error : copy(dst, p, bytes, kind));
}

API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
                                        size_t offset, enum cudaMemcpyKind kind,
                                        cudaStream_t stream)
{
    void *p;
    cudaError_t error = symbol_part(symbol, offset, bytes, &p);
    if (error == cudaSuccess && !to_device(kind))
        error = cudaErrorInvalidMemcpyDirection;
    return record(error != cudaSuccess ? error : copy_async(p, src, bytes, kind, stream));
}

API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes,
                                          size_t offset, enum cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    void *p;
    cudaError_t error = symbol_part(symbol, offset, bytes, &p);
    if (error == cudaSuccess && !from_device(kind))
        error = cudaErrorInvalidMemcpyDirection;
    return record(error != cudaSuccess ? error : copy_async(dst, p, bytes, kind, stream));
}
