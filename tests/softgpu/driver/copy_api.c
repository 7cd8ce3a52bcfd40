/* SPDX-License-Identifier: BSD-3-Clause
 * The entry points of copies and fills. Every one exists for the legacy default stream and, with
 * the suffix _ptds or _ptsz, for the per-thread one. */
#include "tests/softgpu/driver/copy.h"

#include <string.h>

static struct copy_box flat(const void *to, const void *from, size_t bytes)
{
    return (struct copy_box){
        .from = from, .to = (char *)(uintptr_t)to, .width = bytes, .height = 1, .depth = 1};
}

enum side { HOST_SIDE, DEVICE_SIDE, ANY_SIDE = HOST_SIDE };

static struct copy_box sided(const void *to, enum side to_side, const void *from,
                             enum side from_side, size_t bytes)
{
    struct copy_box c = flat(to, from, bytes);
    c.to_device = to_side == DEVICE_SIDE;
    c.from_device = from_side == DEVICE_SIDE;
    return c;
}

#define P(_address) ((void *)(uintptr_t)(_address))

/* Synchronous: on the default stream, then waits. */
#define COPY(_name, _to_type, _to_side, _from_type, _from_side)                                    \
    API CUresult _name(_to_type to, _from_type from, size_t bytes)                                 \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return copy_submit(sided(P(to), _to_side, P(from), _from_side, bytes), NULL, false, true); \
    }                                                                                              \
    API CUresult _name##_ptds(_to_type to, _from_type from, size_t bytes);                         \
    API CUresult _name##_ptds(_to_type to, _from_type from, size_t bytes)                          \
    {                                                                                              \
        ENTER(#_name "_ptds");                                                                     \
        return copy_submit(sided(P(to), _to_side, P(from), _from_side, bytes), NULL, true, true);  \
    }

#define COPY_ASYNC(_name, _to_type, _to_side, _from_type, _from_side)                              \
    API CUresult _name(_to_type to, _from_type from, size_t bytes, CUstream stream)                \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return copy_submit(sided(P(to), _to_side, P(from), _from_side, bytes), stream, false,      \
                           false);                                                                 \
    }                                                                                              \
    API CUresult _name##_ptsz(_to_type to, _from_type from, size_t bytes, CUstream stream);        \
    API CUresult _name##_ptsz(_to_type to, _from_type from, size_t bytes, CUstream stream)         \
    {                                                                                              \
        ENTER(#_name "_ptsz");                                                                     \
        return copy_submit(sided(P(to), _to_side, P(from), _from_side, bytes), stream, true,       \
                           false);                                                                 \
    }

COPY(cuMemcpy, CUdeviceptr, ANY_SIDE, CUdeviceptr, ANY_SIDE)
COPY(cuMemcpyHtoD_v2, CUdeviceptr, DEVICE_SIDE, const void *, HOST_SIDE)
COPY(cuMemcpyDtoH_v2, void *, HOST_SIDE, CUdeviceptr, DEVICE_SIDE)
COPY(cuMemcpyDtoD_v2, CUdeviceptr, DEVICE_SIDE, CUdeviceptr, DEVICE_SIDE)
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, ANY_SIDE, CUdeviceptr, ANY_SIDE)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr, DEVICE_SIDE, const void *, HOST_SIDE)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void *, HOST_SIDE, CUdeviceptr, DEVICE_SIDE)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr, DEVICE_SIDE, CUdeviceptr, DEVICE_SIDE)

CUresult copy_submit_3d(const CUDA_MEMCPY3D *p, CUstream stream, bool per_thread, bool wait)
{
    struct copy_box c;
    return p != NULL && copy_from_3d(p, &c) ? copy_submit(c, stream, per_thread, wait)
                                            : CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy_box_2d(const CUDA_MEMCPY2D *p, CUstream stream, bool per_thread, bool wait)
{
    CUDA_MEMCPY3D q;
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&q, 0, sizeof q);
    q.srcXInBytes = p->srcXInBytes;
    q.srcY = p->srcY;
    q.srcMemoryType = p->srcMemoryType;
    q.srcHost = p->srcHost;
    q.srcDevice = p->srcDevice;
    q.srcArray = p->srcArray;
    q.srcPitch = p->srcPitch;
    q.dstXInBytes = p->dstXInBytes;
    q.dstY = p->dstY;
    q.dstMemoryType = p->dstMemoryType;
    q.dstHost = p->dstHost;
    q.dstDevice = p->dstDevice;
    q.dstArray = p->dstArray;
    q.dstPitch = p->dstPitch;
    q.WidthInBytes = p->WidthInBytes;
    q.Height = p->Height;
    q.Depth = 1;
    return copy_submit_3d(&q, stream, per_thread, wait);
}

static CUresult copy_box_peer(const CUDA_MEMCPY3D_PEER *p, CUstream stream, bool per_thread,
                              bool wait)
{
    CUDA_MEMCPY3D q;
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&q, 0, sizeof q);
    q.srcXInBytes = p->srcXInBytes;
    q.srcY = p->srcY;
    q.srcZ = p->srcZ;
    q.srcMemoryType = p->srcMemoryType;
    q.srcHost = p->srcHost;
    q.srcDevice = p->srcDevice;
    q.srcArray = p->srcArray;
    q.srcPitch = p->srcPitch;
    q.srcHeight = p->srcHeight;
    q.dstXInBytes = p->dstXInBytes;
    q.dstY = p->dstY;
    q.dstZ = p->dstZ;
    q.dstMemoryType = p->dstMemoryType;
    q.dstHost = p->dstHost;
    q.dstDevice = p->dstDevice;
    q.dstArray = p->dstArray;
    q.dstPitch = p->dstPitch;
    q.dstHeight = p->dstHeight;
    q.WidthInBytes = p->WidthInBytes;
    q.Height = p->Height;
    q.Depth = p->Depth;
    return copy_submit_3d(&q, stream, per_thread, wait);
}

#define BOX(_name, _type, _function)                                                               \
    API CUresult _name(const _type *p)                                                             \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return _function(p, NULL, false, true);                                                    \
    }                                                                                              \
    API CUresult _name##_ptds(const _type *p);                                                     \
    API CUresult _name##_ptds(const _type *p)                                                      \
    {                                                                                              \
        ENTER(#_name "_ptds");                                                                     \
        return _function(p, NULL, true, true);                                                     \
    }

#define BOX_ASYNC(_name, _type, _function)                                                         \
    API CUresult _name(const _type *p, CUstream stream)                                            \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return _function(p, stream, false, false);                                                 \
    }                                                                                              \
    API CUresult _name##_ptsz(const _type *p, CUstream stream);                                    \
    API CUresult _name##_ptsz(const _type *p, CUstream stream)                                     \
    {                                                                                              \
        ENTER(#_name "_ptsz");                                                                     \
        return _function(p, stream, true, false);                                                  \
    }

BOX(cuMemcpy2D_v2, CUDA_MEMCPY2D, copy_box_2d)
BOX(cuMemcpy2DUnaligned_v2, CUDA_MEMCPY2D, copy_box_2d)
BOX(cuMemcpy3D_v2, CUDA_MEMCPY3D, copy_submit_3d)
BOX(cuMemcpy3DPeer, CUDA_MEMCPY3D_PEER, copy_box_peer)
BOX_ASYNC(cuMemcpy2DAsync_v2, CUDA_MEMCPY2D, copy_box_2d)
BOX_ASYNC(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D, copy_submit_3d)
BOX_ASYNC(cuMemcpy3DPeerAsync, CUDA_MEMCPY3D_PEER, copy_box_peer)

API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                          CUcontext from_context, size_t bytes)
{
    ENTER("cuMemcpyPeer");
    return copy_submit(flat(P(to), P(from), bytes), NULL, false, true);
}

API CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes);
API CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes)
{
    ENTER("cuMemcpyPeer_ptds");
    return copy_submit(flat(P(to), P(from), bytes), NULL, true, true);
}

API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes, CUstream stream)
{
    ENTER("cuMemcpyPeerAsync");
    return copy_submit(flat(P(to), P(from), bytes), stream, false, false);
}

API CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                    CUcontext from_context, size_t bytes, CUstream stream);
API CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                    CUcontext from_context, size_t bytes, CUstream stream)
{
    ENTER("cuMemcpyPeerAsync_ptsz");
    return copy_submit(flat(P(to), P(from), bytes), stream, true, false);
}

static struct fill_box area(CUdeviceptr to, size_t pitch, size_t width, size_t height,
                            unsigned element, uint32_t value)
{
    return (struct fill_box){.to = P(to),
                             .width = width,
                             .height = height,
                             .pitch = pitch,
                             .element = element,
                             .value = value};
}

/* memset does not wait for device memory; the order of the stream is enough. */
#define FILL(_name, _element, _value_type)                                                         \
    API CUresult cuMemset##_name##_v2(CUdeviceptr to, _value_type value, size_t n)                 \
    {                                                                                              \
        ENTER("cuMemset" #_name "_v2");                                                            \
        return fill_submit(area(to, 0, n, 1, _element, value), NULL, false);                       \
    }                                                                                              \
    API CUresult cuMemset##_name##_v2_ptds(CUdeviceptr to, _value_type value, size_t n);           \
    API CUresult cuMemset##_name##_v2_ptds(CUdeviceptr to, _value_type value, size_t n)            \
    {                                                                                              \
        ENTER("cuMemset" #_name "_v2_ptds");                                                       \
        return fill_submit(area(to, 0, n, 1, _element, value), NULL, true);                        \
    }                                                                                              \
    API CUresult cuMemset##_name##Async(CUdeviceptr to, _value_type value, size_t n, CUstream s)   \
    {                                                                                              \
        ENTER("cuMemset" #_name "Async");                                                          \
        return fill_submit(area(to, 0, n, 1, _element, value), s, false);                          \
    }                                                                                              \
    API CUresult cuMemset##_name##Async_ptsz(CUdeviceptr to, _value_type value, size_t n,          \
                                             CUstream s);                                          \
    API CUresult cuMemset##_name##Async_ptsz(CUdeviceptr to, _value_type value, size_t n,          \
                                             CUstream s)                                           \
    {                                                                                              \
        ENTER("cuMemset" #_name "Async_ptsz");                                                     \
        return fill_submit(area(to, 0, n, 1, _element, value), s, true);                           \
    }

FILL(D8, 1, unsigned char)
FILL(D16, 2, unsigned short)
FILL(D32, 4, unsigned int)

#define FILL_2D(_name, _element, _value_type)                                                      \
    API CUresult cuMemset##_name##_v2(CUdeviceptr to, size_t pitch, _value_type value, size_t w,   \
                                      size_t h)                                                    \
    {                                                                                              \
        ENTER("cuMemset" #_name "_v2");                                                            \
        return fill_submit(area(to, pitch, w, h, _element, value), NULL, false);                   \
    }                                                                                              \
    API CUresult cuMemset##_name##_v2_ptds(CUdeviceptr to, size_t pitch, _value_type value,        \
                                           size_t w, size_t h);                                    \
    API CUresult cuMemset##_name##_v2_ptds(CUdeviceptr to, size_t pitch, _value_type value,        \
                                           size_t w, size_t h)                                     \
    {                                                                                              \
        ENTER("cuMemset" #_name "_v2_ptds");                                                       \
        return fill_submit(area(to, pitch, w, h, _element, value), NULL, true);                    \
    }                                                                                              \
    API CUresult cuMemset##_name##Async(CUdeviceptr to, size_t pitch, _value_type value, size_t w, \
                                        size_t h, CUstream s)                                      \
    {                                                                                              \
        ENTER("cuMemset" #_name "Async");                                                          \
        return fill_submit(area(to, pitch, w, h, _element, value), s, false);                      \
    }                                                                                              \
    API CUresult cuMemset##_name##Async_ptsz(CUdeviceptr to, size_t pitch, _value_type value,      \
                                             size_t w, size_t h, CUstream s);                      \
    API CUresult cuMemset##_name##Async_ptsz(CUdeviceptr to, size_t pitch, _value_type value,      \
                                             size_t w, size_t h, CUstream s)                       \
    {                                                                                              \
        ENTER("cuMemset" #_name "Async_ptsz");                                                     \
        return fill_submit(area(to, pitch, w, h, _element, value), s, true);                       \
    }

FILL_2D(D2D8, 1, unsigned char)
FILL_2D(D2D16, 2, unsigned short)
FILL_2D(D2D32, 4, unsigned int)
