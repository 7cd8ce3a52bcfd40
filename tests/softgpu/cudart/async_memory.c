/* SPDX-License-Identifier: BSD-3-Clause
 * Memory in stream order, prefetches. Compiled twice (see cudart.h). Owns no state. */
#include "cudart.h"

API cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
    if (p == NULL)
        return record(cudaErrorInvalidValue);
    *p = NULL;
    if (bytes == 0)
        return record(enter());
    FORWARD(cuMemAllocAsync((CUdeviceptr *)p, bytes, stream));
}

API cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    if (p == NULL)
        return record(cudaErrorInvalidValue);
    *p = NULL;
    if (bytes == 0)
        return record(enter());
    FORWARD(cuMemAllocFromPoolAsync((CUdeviceptr *)p, bytes, pool, stream));
}

API cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    if (p == NULL)
        return record(enter());
    FORWARD(cuMemFreeAsync((CUdeviceptr)p, stream));
}

API cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation location,
                                     unsigned flags, cudaStream_t stream)
{
    CUmemLocation where = {.type = (CUmemLocationType)location.type, .id = location.id};
    FORWARD(cuMemPrefetchAsync((CUdeviceptr)p, bytes, where, flags, stream));
}
