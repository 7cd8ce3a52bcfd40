/* SPDX-License-Identifier: BSD-3-Clause
 * Allocations of device memory: one that fails for want of memory is tried once more when the shim
 * had something to give back. Owns nothing. */
#include "config.h"
#include "device/scratch.h"
#include "hook/driver.h"

#define ALLOCATION(_stem, _parameters, _arguments)                                                 \
    WRAPPER(_stem, _parameters)                                                                    \
    {                                                                                              \
        ENTER(_stem, _parameters);                                                                 \
        const CUresult r = real _arguments;                                                        \
        const bool short_of = active && r == CUDA_ERROR_OUT_OF_MEMORY;                             \
        return short_of && scratch_relieve() ? real _arguments : r;                                \
    }

/* The first versions have sizes and addresses of 32 bits. */
ALLOCATION(MemAlloc, (unsigned *p, unsigned bytes), (p, bytes))
ALLOCATION(MemAlloc_v2, (CUdeviceptr *p, size_t bytes), (p, bytes))
ALLOCATION(MemAllocPitch,
           (unsigned *p, unsigned *pitch, unsigned width, unsigned height, unsigned element),
           (p, pitch, width, height, element))
ALLOCATION(MemAllocPitch_v2,
           (CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element),
           (p, pitch, width, height, element))
ALLOCATION(MemAllocManaged, (CUdeviceptr *p, size_t bytes, unsigned flags), (p, bytes, flags))
ALLOCATION(MemAllocAsync, (CUdeviceptr *p, size_t bytes, CUstream stream), (p, bytes, stream))
ALLOCATION(MemAllocAsync_ptsz, (CUdeviceptr *p, size_t bytes, CUstream stream), (p, bytes, stream))
ALLOCATION(MemAllocFromPoolAsync,
           (CUdeviceptr *p, size_t bytes, CUmemoryPool pool, CUstream stream),
           (p, bytes, pool, stream))
ALLOCATION(MemAllocFromPoolAsync_ptsz,
           (CUdeviceptr *p, size_t bytes, CUmemoryPool pool, CUstream stream),
           (p, bytes, pool, stream))
ALLOCATION(MemCreate,
           (CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
            unsigned long long flags),
           (handle, bytes, prop, flags))
/* Descriptions differ between versions, and are only passed on. */
ALLOCATION(ArrayCreate, (CUarray *array, const void *description), (array, description))
ALLOCATION(ArrayCreate_v2, (CUarray *array, const void *description), (array, description))
ALLOCATION(Array3DCreate, (CUarray *array, const void *description), (array, description))
ALLOCATION(Array3DCreate_v2, (CUarray *array, const void *description), (array, description))
ALLOCATION(MipmappedArrayCreate,
           (CUmipmappedArray *array, const void *description, unsigned levels),
           (array, description, levels))
