/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays: created, described, destroyed, and copied to and from. Their elements lie row by row in
 * device memory of which the program does not know the address. Textures and surfaces, which would
 * read them in kernels, do not exist here. Owns the list of arrays, dead ones too. */
#include "tests/softgpu/driver/array.h"
#include "tests/softgpu/driver/memory.h"

#include <stdlib.h>
#include <string.h>

struct CUarray_st {
    CUcontext context;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    char *base;
    size_t element; /* bytes */
    bool dead;
    struct CUarray_st *next;
};

static CUarray all;

/* With the lock held. */
static CUresult check_array(CUarray array)
{
    CUarray a = all;
    while (a != NULL && a != array)
        a = a->next;
    if (a == NULL || a->dead)
        return CUDA_ERROR_INVALID_HANDLE;
    return a->context->dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

static size_t at_least_one(size_t extent)
{
    return extent > 0 ? extent : 1;
}

/* Bytes of a channel; 0: not a format that exists here. */
static size_t channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

/* The kinds of arrays by which extents they have, and how large those may be. */
static bool extents_ok(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const bool layered = (d->Flags & CUDA_ARRAY3D_LAYERED) != 0;
    const bool cube = (d->Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    const size_t layers =
        (size_t)device_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS);
    CUdevice_attribute width, height = CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT;
    if (d->Width == 0 || (d->Depth > 0 && d->Height == 0 && !layered))
        return false;
    if (cube)
        return d->Height == d->Width && (layered ? d->Depth > 0 : d->Depth == 6) &&
               d->Depth % 6 == 0 && d->Depth <= layers &&
               d->Width <= (size_t)device_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
    if (layered) {
        width = d->Height > 0 ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH
                              : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH;
        return d->Depth > 0 && d->Depth <= layers && d->Width <= (size_t)device_limit(width) &&
               d->Height <= (size_t)device_limit(height);
    }
    if (d->Depth > 0)
        return d->Width <= (size_t)device_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH) &&
               d->Height <= (size_t)device_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT) &&
               d->Depth <= (size_t)device_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH);
    width = d->Height > 0 ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH
                          : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH;
    return d->Width <= (size_t)device_limit(width) &&
           d->Height <= (size_t)device_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT);
}

static CUresult create(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    enum {
        KNOWN = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                CUDA_ARRAY3D_TEXTURE_GATHER,
        ABSENT = CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING
    };
    CUcontext context;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS)
        r = capture_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    if (array == NULL || d == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & ABSENT)
        return CUDA_ERROR_NOT_SUPPORTED; /* as the device's attributes say */
    const size_t element = channel_bytes(d->Format) * d->NumChannels;
    if ((d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4) || element == 0 ||
        (d->Flags & ~(unsigned)KNOWN) != 0 || !extents_ok(d) ||
        ((d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && (d->Height == 0 || d->Depth > 0)))
        return CUDA_ERROR_INVALID_VALUE;
    CUarray a = calloc(1, sizeof *a);
    if (a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const size_t bytes = element * d->Width * at_least_one(d->Height) * at_least_one(d->Depth);
    pthread_mutex_lock(&driver_lock);
    void *base = NULL;
    r = memory_allocate(context, MEMORY_DEVICE, bytes, &base);
    if (r == CUDA_SUCCESS) {
        *a = (struct CUarray_st){
            .context = context, .desc = *d, .base = base, .element = element, .next = all};
        *array = all = a;
    } else {
        free(a);
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    ENTER("cuArray3DCreate_v2");
    return create(array, desc);
}

API CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    ENTER("cuArrayCreate_v2");
    if (desc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR d = {.Width = desc->Width,
                                       .Height = desc->Height,
                                       .Format = desc->Format,
                                       .NumChannels = desc->NumChannels};
    return create(array, &d);
}

/* After all work of the context, as cuMemFree. */
API CUresult cuArrayDestroy(CUarray array)
{
    ENTER("cuArrayDestroy");
    CUcontext context;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS)
        r = capture_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    r = check_array(array);
    if (r == CUDA_SUCCESS)
        array->dead = true;
    pthread_mutex_unlock(&driver_lock);
    if (r != CUDA_SUCCESS)
        return r;
    r = context_drain(array->context);
    pthread_mutex_lock(&driver_lock);
    memory_free(array->base);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray array)
{
    ENTER("cuArray3DGetDescriptor_v2");
    if (desc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = check_array(array);
    if (r == CUDA_SUCCESS)
        *desc = array->desc;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *desc, CUarray array)
{
    ENTER("cuArrayGetDescriptor_v2");
    if (desc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    CUresult r = check_array(array);
    if (r == CUDA_SUCCESS)
        *desc = (CUDA_ARRAY_DESCRIPTOR){.Width = array->desc.Width,
                                        .Height = array->desc.Height,
                                        .Format = array->desc.Format,
                                        .NumChannels = array->desc.NumChannels};
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* ---- for copies */
bool array_part(CUarray array, const struct part *part, struct array_place *place)
{
    pthread_mutex_lock(&driver_lock);
    bool ok = check_array(array) == CUDA_SUCCESS;
    if (ok) {
        const size_t rows = at_least_one(array->desc.Height);
        const size_t slices = at_least_one(array->desc.Depth);
        const size_t pitch = array->desc.Width * array->element;
        ok = part->x % array->element == 0 && part->width % array->element == 0 &&
             part->x <= pitch && part->width <= pitch - part->x && part->y <= rows &&
             part->height <= rows - part->y && part->z <= slices && part->depth <= slices - part->z;
        *place = (struct array_place){
            .base = array->base, .pitch = pitch, .rows = rows, .element = array->element};
    }
    pthread_mutex_unlock(&driver_lock);
    return ok;
}

CUarray array_at(const char *p, struct part *part)
{
    pthread_mutex_lock(&driver_lock);
    CUarray a = all;
    for (; a != NULL; a = a->next) {
        const size_t pitch = a->desc.Width * a->element, rows = at_least_one(a->desc.Height);
        const size_t offset = (uintptr_t)p - (uintptr_t)a->base;
        if (a->dead || a->context->dead || offset >= pitch * rows * at_least_one(a->desc.Depth))
            continue;
        part->x = offset % pitch;
        part->y = offset / pitch % rows;
        part->z = offset / pitch / rows;
        break;
    }
    pthread_mutex_unlock(&driver_lock);
    return a;
}
