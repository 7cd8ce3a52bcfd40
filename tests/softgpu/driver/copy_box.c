/* SPDX-License-Identifier: BSD-3-Clause
 * Copies between boxes of memory as the driver API describes them (CUDA_MEMCPY3D), and back again
 * for those who ask what a graph node copies. Owns nothing. */
#include "tests/softgpu/driver/array.h"
#include "tests/softgpu/driver/copy.h"
#include "tests/softgpu/driver/memory.h"

#include <string.h>

/* One side of a copy. */
struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height;
    struct part part;
};

struct place {
    char *start;
    size_t pitch, slice;
    size_t element; /* of an array; 0: no array */
};

static bool find_place(const struct side *s, struct place *place)
{
    struct array_place a;
    char *base;
    *place = (struct place){.pitch = s->pitch, .slice = s->pitch * s->height};
    switch (s->type) {
    case CU_MEMORYTYPE_HOST:
        base = (char *)(uintptr_t)s->host;
        break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        base = (char *)(uintptr_t)s->device;
        break;
    case CU_MEMORYTYPE_ARRAY:
        if (!array_part(s->array, &s->part, &a))
            return false;
        base = a.base;
        *place = (struct place){.pitch = a.pitch, .slice = a.pitch * a.rows, .element = a.element};
        break;
    default:
        return false;
    }
    place->start = base + s->part.x + s->part.y * place->pitch + s->part.z * place->slice;
    return s->part.height <= 1 || place->pitch >= s->part.width;
}

bool copy_from_3d(const CUDA_MEMCPY3D *p, struct copy_box *copy)
{
    const struct side source = {
        p->srcMemoryType,
        p->srcHost,
        p->srcDevice,
        p->srcArray,
        p->srcPitch,
        p->srcHeight,
        {p->srcXInBytes, p->srcY, p->srcZ, p->WidthInBytes, p->Height, p->Depth}};
    const struct side target = {
        p->dstMemoryType,
        p->dstHost,
        p->dstDevice,
        p->dstArray,
        p->dstPitch,
        p->dstHeight,
        {p->dstXInBytes, p->dstY, p->dstZ, p->WidthInBytes, p->Height, p->Depth}};
    struct place from, to;
    if (p->srcLOD != 0 || p->dstLOD != 0 || !find_place(&source, &from) ||
        !find_place(&target, &to))
        return false;
    if (from.element != 0 && to.element != 0 && from.element != to.element)
        return false;
    *copy = (struct copy_box){.from = from.start,
                              .to = to.start,
                              .width = p->WidthInBytes,
                              .height = p->Height,
                              .depth = p->Depth,
                              .from_pitch = from.pitch,
                              .to_pitch = to.pitch,
                              .from_slice = from.slice,
                              .to_slice = to.slice,
                              .from_device = p->srcMemoryType == CU_MEMORYTYPE_DEVICE,
                              .to_device = p->dstMemoryType == CU_MEMORYTYPE_DEVICE};
    return true;
}

/* What a side was described as. Positions are told where an array needs them. */
static struct side describe(const char *p, size_t pitch, size_t slice)
{
    struct side s = {.pitch = pitch, .height = pitch > 0 ? slice / pitch : 0};
    if (memory_is_host(p)) {
        s.type = CU_MEMORYTYPE_HOST;
        s.host = p;
    } else if ((s.array = array_at(p, &s.part)) != NULL) {
        s.type = CU_MEMORYTYPE_ARRAY;
    } else {
        s.type = CU_MEMORYTYPE_DEVICE;
        s.device = (CUdeviceptr)(uintptr_t)p;
    }
    return s;
}

void copy_to_3d(const struct copy_box *copy, CUDA_MEMCPY3D *p)
{
    const struct side from = describe(copy->from, copy->from_pitch, copy->from_slice);
    const struct side to = describe(copy->to, copy->to_pitch, copy->to_slice);
    memset(p, 0, sizeof *p);
    p->srcMemoryType = from.type;
    p->srcHost = from.host;
    p->srcDevice = from.device;
    p->srcArray = from.array;
    p->srcPitch = from.pitch;
    p->srcHeight = from.height;
    p->srcXInBytes = from.part.x;
    p->srcY = from.part.y;
    p->srcZ = from.part.z;
    p->dstMemoryType = to.type;
    p->dstHost = (void *)(uintptr_t)to.host;
    p->dstDevice = to.device;
    p->dstArray = to.array;
    p->dstPitch = to.pitch;
    p->dstHeight = to.height;
    p->dstXInBytes = to.part.x;
    p->dstY = to.part.y;
    p->dstZ = to.part.z;
    p->WidthInBytes = copy->width;
    p->Height = copy->height;
    p->Depth = copy->depth;
}
