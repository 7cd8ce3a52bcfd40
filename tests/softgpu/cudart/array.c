/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays and their channel descriptions. Owns no state. */
#include "cudart.h"

#include <string.h>

enum { CHANNELS = 4 };

static CUarray handle(cudaArray_const_t array)
{
    return (CUarray)(uintptr_t)array;
}

/* The format of one channel; 0: none. */
static CUarray_format format_of(enum cudaChannelFormatKind kind, int bits)
{
    switch (kind) {
    case cudaChannelFormatKindSigned:
        return bits == 8    ? CU_AD_FORMAT_SIGNED_INT8
               : bits == 16 ? CU_AD_FORMAT_SIGNED_INT16
               : bits == 32 ? CU_AD_FORMAT_SIGNED_INT32
                            : (CUarray_format)0;
    case cudaChannelFormatKindUnsigned:
        return bits == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
               : bits == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
               : bits == 32 ? CU_AD_FORMAT_UNSIGNED_INT32
                            : (CUarray_format)0;
    case cudaChannelFormatKindFloat:
        return bits == 16 ? CU_AD_FORMAT_HALF : bits == 32 ? CU_AD_FORMAT_FLOAT : (CUarray_format)0;
    default:
        return (CUarray_format)0;
    }
}

/* Channels are of one width and follow each other: 1, 2 or 4 of them. */
static bool read_desc(const struct cudaChannelFormatDesc *desc, CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const int bits[CHANNELS] = {desc->x, desc->y, desc->z, desc->w};
    unsigned n = 0;
    while (n < CHANNELS && bits[n] == bits[0] && bits[n] != 0)
        n++;
    for (unsigned i = n; i < CHANNELS; i++)
        if (bits[i] != 0)
            return false;
    d->Format = format_of(desc->f, bits[0]);
    d->NumChannels = n;
    return d->Format != (CUarray_format)0 && (n == 1 || n == 2 || n == 4);
}

static int channel_bits(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 16;
    default:
        return 32;
    }
}

static struct cudaChannelFormatDesc write_desc(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const int bits = channel_bits(d->Format);
    struct cudaChannelFormatDesc desc = {.x = bits, .f = cudaChannelFormatKindUnsigned};
    if (d->NumChannels > 1)
        desc.y = bits;
    if (d->NumChannels > 2)
        desc.z = desc.w = bits;
    if (d->Format == CU_AD_FORMAT_HALF || d->Format == CU_AD_FORMAT_FLOAT)
        desc.f = cudaChannelFormatKindFloat;
    else if (d->Format == CU_AD_FORMAT_SIGNED_INT8 || d->Format == CU_AD_FORMAT_SIGNED_INT16 ||
             d->Format == CU_AD_FORMAT_SIGNED_INT32)
        desc.f = cudaChannelFormatKindSigned;
    return desc;
}

cudaError_t array_shape(cudaArray_const_t array, struct array_shape *shape)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t error = array != NULL ? enter() : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuArray3DGetDescriptor(&d, handle(array)));
    if (error == cudaSuccess) {
        shape->element = (size_t)channel_bits(d.Format) / 8 * d.NumChannels;
        shape->pitch = shape->element * d.Width;
    }
    return error;
}

API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                  struct cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (array == NULL || desc == NULL)
        return record(cudaErrorInvalidValue);
    *array = NULL;
    if (!read_desc(desc, &d))
        return record(cudaErrorInvalidChannelDescriptor);
    FORWARD(cuArray3DCreate((CUarray *)array, &d));
}

API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                size_t width, size_t height, unsigned flags)
{
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

API cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (array == NULL)
        return record(enter());
    FORWARD(cuArrayDestroy(handle(array)));
}

API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                 unsigned *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t error = array != NULL ? enter() : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuArray3DGetDescriptor(&d, handle(array)));
    if (error != cudaSuccess)
        return record(error);
    if (desc != NULL)
        *desc = write_desc(&d);
    if (extent != NULL)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags != NULL)
        *flags = d.Flags;
    return cudaSuccess;
}

API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    return desc != NULL ? cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)(uintptr_t)array)
                        : record(cudaErrorInvalidValue);
}
