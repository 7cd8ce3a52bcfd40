/* SPDX-License-Identifier: BSD-3-Clause
 * Memory pools as objects. The structs and numbers are the driver's. Owns no state. */
#include "cudart.h"

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "same layout");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "same layout");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "same layout");

API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    FORWARD(cuDeviceGetDefaultMemPool(pool, device));
}

API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    FORWARD(cuDeviceGetMemPool(pool, device));
}

API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    FORWARD(cuDeviceSetMemPool(device, pool));
}

API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                         enum cudaMemAllocationType type)
{
    FORWARD(cuMemGetDefaultMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

API cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                  enum cudaMemAllocationType type)
{
    FORWARD(cuMemGetMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

API cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                                  cudaMemPool_t pool)
{
    FORWARD(cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, pool));
}

API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    FORWARD(cuMemPoolCreate(pool, (const CUmemPoolProps *)props));
}

API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    FORWARD(cuMemPoolDestroy(pool));
}

API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    FORWARD(cuMemPoolTrimTo(pool, bytes));
}

API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    FORWARD(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    FORWARD(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                     struct cudaMemLocation *location)
{
    FORWARD(cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location));
}

API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                     size_t n)
{
    FORWARD(cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)list, n));
}

API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                               void *value)
{
    FORWARD(cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}

API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                               void *value)
{
    FORWARD(cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}

API cudaError_t cudaDeviceGraphMemTrim(int device)
{
    FORWARD(cuDeviceGraphMemTrim(device));
}
