/* SPDX-License-Identifier: BSD-3-Clause
 * The entry points of copies to and from rows of arrays. Owns nothing. */
#include "tests/softgpu/driver/copy.h"

#include <string.h>

struct end {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t offset; /* in the array */
};

static CUresult copy(struct end to, struct end from, size_t bytes, CUstream stream, bool per_thread,
                     bool wait)
{
    CUDA_MEMCPY3D p;
    memset(&p, 0, sizeof p);
    p.srcMemoryType = from.type;
    p.srcHost = from.host;
    p.srcDevice = from.device;
    p.srcArray = from.array;
    p.srcXInBytes = from.offset;
    p.dstMemoryType = to.type;
    p.dstHost = (void *)(uintptr_t)to.host;
    p.dstDevice = to.device;
    p.dstArray = to.array;
    p.dstXInBytes = to.offset;
    p.WidthInBytes = bytes;
    p.Height = p.Depth = 1;
    return copy_submit_3d(&p, stream, per_thread, wait);
}

static struct end in_array(CUarray array, size_t offset)
{
    return (struct end){.type = CU_MEMORYTYPE_ARRAY, .array = array, .offset = offset};
}

static struct end on_device(CUdeviceptr p)
{
    return (struct end){.type = CU_MEMORYTYPE_DEVICE, .device = p};
}

static struct end on_host(const void *p)
{
    return (struct end){.type = CU_MEMORYTYPE_HOST, .host = p};
}

#define UNPACK(...) __VA_ARGS__

/* The form for the legacy default stream, and with _ptds that for the per-thread one. */
#define COPY(_name, _parameters, _to, _from)                                                       \
    API CUresult _name(UNPACK _parameters, size_t bytes)                                           \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return copy(_to, _from, bytes, NULL, false, true);                                         \
    }                                                                                              \
    API CUresult _name##_ptds(UNPACK _parameters, size_t bytes);                                   \
    API CUresult _name##_ptds(UNPACK _parameters, size_t bytes)                                    \
    {                                                                                              \
        ENTER(#_name "_ptds");                                                                     \
        return copy(_to, _from, bytes, NULL, true, true);                                          \
    }

#define COPY_ASYNC(_name, _parameters, _to, _from)                                                 \
    API CUresult _name(UNPACK _parameters, size_t bytes, CUstream stream)                          \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return copy(_to, _from, bytes, stream, false, false);                                      \
    }                                                                                              \
    API CUresult _name##_ptsz(UNPACK _parameters, size_t bytes, CUstream stream);                  \
    API CUresult _name##_ptsz(UNPACK _parameters, size_t bytes, CUstream stream)                   \
    {                                                                                              \
        ENTER(#_name "_ptsz");                                                                     \
        return copy(_to, _from, bytes, stream, true, false);                                       \
    }

COPY(cuMemcpyHtoA_v2, (CUarray array, size_t offset, const void *from), in_array(array, offset),
     on_host(from))
COPY(cuMemcpyDtoA_v2, (CUarray array, size_t offset, CUdeviceptr from), in_array(array, offset),
     on_device(from))
COPY(cuMemcpyAtoH_v2, (void *to, CUarray array, size_t offset), on_host(to),
     in_array(array, offset))
COPY(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray array, size_t offset), on_device(to),
     in_array(array, offset))
COPY(cuMemcpyAtoA_v2, (CUarray to, size_t to_offset, CUarray from, size_t from_offset),
     in_array(to, to_offset), in_array(from, from_offset))
COPY_ASYNC(cuMemcpyHtoAAsync_v2, (CUarray array, size_t offset, const void *from),
           in_array(array, offset), on_host(from))
COPY_ASYNC(cuMemcpyAtoHAsync_v2, (void *to, CUarray array, size_t offset), on_host(to),
           in_array(array, offset))
