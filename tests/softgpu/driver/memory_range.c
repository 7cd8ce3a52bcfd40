/* SPDX-License-Identifier: BSD-3-Clause
 * Hints about ranges of managed memory, which is plain memory here: they are checked and have no
 * effect but that of a discard, and what can be asked about a range is that nobody gave one. Also
 * the profiler's calls, which are hints to a tool, and batches of copies. */
#include "tests/softgpu/driver/copy.h"
#include "tests/softgpu/driver/memory.h"

#include <cudaProfiler.h>

static CUresult check_managed(CUdeviceptr p, size_t bytes)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find((void *)(uintptr_t)p);
    if (a == NULL || a->kind != MEMORY_MANAGED || bytes == 0 ||
        (uintptr_t)p - (uintptr_t)a->base + bytes > a->bytes)
        r = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static CUresult range_attribute(void *data, size_t bytes, CUmem_range_attribute attribute)
{
    if (data == NULL || bytes == 0 || bytes % sizeof(int) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *(int *)data = 0;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *(int *)data = CU_DEVICE_INVALID;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *(int *)data = CU_MEM_LOCATION_TYPE_INVALID;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        for (size_t i = 0; i < bytes / sizeof(int); i++)
            ((int *)data)[i] = CU_DEVICE_INVALID;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

API CUresult cuMemRangeGetAttribute(void *data, size_t bytes, CUmem_range_attribute attribute,
                                    CUdeviceptr p, size_t count)
{
    ENTER("cuMemRangeGetAttribute");
    CUresult r = check_managed(p, count);
    return r == CUDA_SUCCESS ? range_attribute(data, bytes, attribute) : r;
}

API CUresult cuMemRangeGetAttributes(void **data, size_t *bytes, CUmem_range_attribute *attributes,
                                     size_t n, CUdeviceptr p, size_t count)
{
    ENTER("cuMemRangeGetAttributes");
    CUresult r = data == NULL || bytes == NULL || attributes == NULL || n == 0
                     ? CUDA_ERROR_INVALID_VALUE
                     : check_managed(p, count);
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = range_attribute(data[i], bytes[i], attributes[i]);
    return r;
}

API CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice device);
API CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice device)
{
    ENTER("cuMemAdvise");
    return check_managed(p, bytes);
}

API CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice device, CUstream stream);
API CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice device, CUstream stream)
{
    ENTER("cuMemPrefetchAsync");
    return check_managed(p, bytes);
}

API CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr p, size_t bytes, CUdevice device, CUstream stream);
API CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr p, size_t bytes, CUdevice device, CUstream stream)
{
    ENTER("cuMemPrefetchAsync_ptsz");
    return check_managed(p, bytes);
}

/* ---- batches of hints */

/* Locations: each from which operation on it applies. */
static bool places_ok(const CUmemLocation *places, const size_t *first, size_t n_places, size_t n)
{
    if (places == NULL || first == NULL || n_places == 0 || n_places > n || first[0] != 0)
        return false;
    for (size_t i = 1; i < n_places; i++)
        if (first[i] <= first[i - 1] || first[i] >= n)
            return false;
    return true;
}

static CUresult check_ranges(const CUdeviceptr *p, const size_t *bytes, size_t n,
                             unsigned long long flags, CUstream stream, bool per_thread)
{
    CUresult r = p == NULL || bytes == NULL || n == 0 || flags != 0 ? CUDA_ERROR_INVALID_VALUE
                                                                    : CUDA_SUCCESS;
    if (r == CUDA_SUCCESS && (stream == CU_STREAM_LEGACY || (stream == NULL && !per_thread)))
        r = CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++)
        r = check_managed(p[i], bytes[i]);
    return r;
}

/* What is discarded is not worth reading: it becomes poison. */
static CUresult discard(const CUdeviceptr *p, const size_t *bytes, size_t n,
                        unsigned long long flags, CUstream stream, bool per_thread)
{
    CUresult r = check_ranges(p, bytes, n, flags, stream, per_thread);
    for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
        const struct fill_box f = {.to = (char *)(uintptr_t)p[i],
                                   .width = bytes[i],
                                   .height = 1,
                                   .element = 1,
                                   .value = 0xff};
        r = fill_submit(f, stream, per_thread);
    }
    return r;
}

#define PLACES CUmemLocation *places, size_t *first, size_t n_places

#define HINTS(_suffix, _per_thread)                                                                \
    API CUresult cuMemPrefetchBatchAsync##_suffix(CUdeviceptr *p, size_t *bytes, size_t n, PLACES, \
                                                  unsigned long long flags, CUstream stream);      \
    API CUresult cuMemPrefetchBatchAsync##_suffix(CUdeviceptr *p, size_t *bytes, size_t n, PLACES, \
                                                  unsigned long long flags, CUstream stream)       \
    {                                                                                              \
        ENTER("cuMemPrefetchBatchAsync" #_suffix);                                                 \
        return places_ok(places, first, n_places, n)                                               \
                   ? check_ranges(p, bytes, n, flags, stream, _per_thread)                         \
                   : CUDA_ERROR_INVALID_VALUE;                                                     \
    }                                                                                              \
    API CUresult cuMemDiscardBatchAsync##_suffix(CUdeviceptr *p, size_t *bytes, size_t n,          \
                                                 unsigned long long flags, CUstream stream);       \
    API CUresult cuMemDiscardBatchAsync##_suffix(CUdeviceptr *p, size_t *bytes, size_t n,          \
                                                 unsigned long long flags, CUstream stream)        \
    {                                                                                              \
        ENTER("cuMemDiscardBatchAsync" #_suffix);                                                  \
        return discard(p, bytes, n, flags, stream, _per_thread);                                   \
    }                                                                                              \
    API CUresult cuMemDiscardAndPrefetchBatchAsync##_suffix(                                       \
        CUdeviceptr *p, size_t *bytes, size_t n, PLACES, unsigned long long flags,                 \
        CUstream stream);                                                                          \
    API CUresult cuMemDiscardAndPrefetchBatchAsync##_suffix(                                       \
        CUdeviceptr *p, size_t *bytes, size_t n, PLACES, unsigned long long flags,                 \
        CUstream stream)                                                                           \
    {                                                                                              \
        ENTER("cuMemDiscardAndPrefetchBatchAsync" #_suffix);                                       \
        return places_ok(places, first, n_places, n)                                               \
                   ? discard(p, bytes, n, flags, stream, _per_thread)                              \
                   : CUDA_ERROR_INVALID_VALUE;                                                     \
    }

HINTS(, false)
HINTS(_ptsz, true)

/* ---- batches: the copies of one may run in any order, so that one after the other is right */
static CUresult copy_batch(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t n,
                           CUstream stream, bool per_thread, size_t *failed)
{
    if (to == NULL || from == NULL || bytes == NULL || n == 0)
        return CUDA_ERROR_INVALID_VALUE;
    /* The legacy stream takes no batches. */
    if (stream == CU_STREAM_LEGACY || (stream == NULL && !per_thread))
        return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < n; i++) {
        struct copy_box c = {.from = (const char *)(uintptr_t)from[i],
                             .to = (char *)(uintptr_t)to[i],
                             .width = bytes[i],
                             .height = 1,
                             .depth = 1};
        CUresult r = copy_submit(c, stream, per_thread, false);
        if (r != CUDA_SUCCESS) {
            if (failed != NULL)
                *failed = i;
            return r;
        }
    }
    return CUDA_SUCCESS;
}

#define BATCH(_suffix, _per_thread)                                                                \
    API CUresult cuMemcpyBatchAsync##_suffix(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,    \
                                             size_t n, CUmemcpyAttributes *attributes,             \
                                             size_t *indices, size_t n_attributes, size_t *failed, \
                                             CUstream stream);                                     \
    API CUresult cuMemcpyBatchAsync##_suffix(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,    \
                                             size_t n, CUmemcpyAttributes *attributes,             \
                                             size_t *indices, size_t n_attributes, size_t *failed, \
                                             CUstream stream)                                      \
    {                                                                                              \
        ENTER("cuMemcpyBatchAsync" #_suffix);                                                      \
        return copy_batch(to, from, bytes, n, stream, _per_thread, failed);                        \
    }                                                                                              \
    API CUresult cuMemcpyBatchAsync_v2##_suffix(                                                   \
        CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t n,                               \
        CUmemcpyAttributes *attributes, size_t *indices, size_t n_attributes, CUstream stream);    \
    API CUresult cuMemcpyBatchAsync_v2##_suffix(                                                   \
        CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t n,                               \
        CUmemcpyAttributes *attributes, size_t *indices, size_t n_attributes, CUstream stream)     \
    {                                                                                              \
        ENTER("cuMemcpyBatchAsync_v2" #_suffix);                                                   \
        return copy_batch(to, from, bytes, n, stream, _per_thread, NULL);                          \
    }

BATCH(, false)
BATCH(_ptsz, true)

/* ---- profiler */
API CUresult cuProfilerInitialize(const char *config, const char *output, CUoutput_mode mode);
API CUresult cuProfilerInitialize(const char *config, const char *output, CUoutput_mode mode)
{
    ENTER("cuProfilerInitialize");
    return CUDA_ERROR_NOT_SUPPORTED; /* as every driver since CUDA 11 */
}

API CUresult cuProfilerStart(void)
{
    ENTER("cuProfilerStart");
    CUcontext context;
    return context_check(&context);
}

API CUresult cuProfilerStop(void)
{
    ENTER("cuProfilerStop");
    CUcontext context;
    return context_check(&context);
}
