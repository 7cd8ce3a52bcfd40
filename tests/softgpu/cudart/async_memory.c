/* SPDX-License-Identifier: BSD-3-Clause
 * Memory in stream order, prefetches, batches of copies. Compiled twice (see cudart.h). Owns no
 * state. */
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

API cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool,
                                        cudaStream_t stream)
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

API cudaError_t cudaMemPrefetchBatchAsync(void **p, size_t *bytes, size_t n,
                                          struct cudaMemLocation *locations, size_t *first,
                                          size_t n_locations, unsigned long long flags,
                                          cudaStream_t stream)
{
    FORWARD(cuMemPrefetchBatchAsync((CUdeviceptr *)p, bytes, n, (CUmemLocation *)locations, first,
                                    n_locations, flags, stream));
}

API cudaError_t cudaMemDiscardBatchAsync(void **p, size_t *bytes, size_t n,
                                         unsigned long long flags, cudaStream_t stream)
{
    FORWARD(cuMemDiscardBatchAsync((CUdeviceptr *)p, bytes, n, flags, stream));
}

API cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **p, size_t *bytes, size_t n,
                                                    struct cudaMemLocation *locations,
                                                    size_t *first, size_t n_locations,
                                                    unsigned long long flags, cudaStream_t stream)
{
    FORWARD(cuMemDiscardAndPrefetchBatchAsync(
        (CUdeviceptr *)p, bytes, n, (CUmemLocation *)locations, first, n_locations, flags, stream));
}

API cudaError_t cudaMemcpyBatchAsync(void *const *dst, const void *const *src, const size_t *bytes,
                                     size_t n, struct cudaMemcpyAttributes *attributes,
                                     size_t *first, size_t n_attributes, cudaStream_t stream)
{
    FORWARD(cuMemcpyBatchAsync((CUdeviceptr *)dst, (CUdeviceptr *)src, (size_t *)bytes, n,
                               (CUmemcpyAttributes *)attributes, first, n_attributes, stream));
}
