/* SPDX-License-Identifier: BSD-3-Clause
 * Graph nodes that allocate and free memory: an allocation node has one address for its life, which
 * ends with its last executable. Owns the sums of such memory, which driver_lock guards. */
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/memory.h"

#include <string.h>

API CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                    size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    ENTER("cuGraphAddMemAllocNode");
    CUcontext context;
    CUdeviceptr p;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS && (params == NULL || params->bytesize == 0))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    r = memory_allocate(context, MEMORY_ASYNC, params->bytesize, (void **)&p);
    if (r == CUDA_SUCCESS) {
        memory_find((void *)(uintptr_t)p)->of_graph = true;
        graph_memory_count(context->device, (int64_t)params->bytesize);
    }
    pthread_mutex_unlock(&driver_lock);
    if (r != CUDA_SUCCESS)
        return r;
    params->dptr = p;
    return graph_add_checked(
        node, graph, deps, n,
        body_make(NULL, copy_of(&p, sizeof p), sizeof p, CU_GRAPH_NODE_TYPE_MEM_ALLOC));
}

API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    ENTER("cuGraphMemAllocNodeGetParams");
    if (node == NULL || params == NULL || node->body->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return CUDA_ERROR_INVALID_VALUE;
    memset(params, 0, sizeof *params);
    params->dptr = *(const CUdeviceptr *)node->body->arg;
    params->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    pthread_mutex_lock(&driver_lock);
    struct allocation *a = memory_find((void *)(uintptr_t)params->dptr);
    if (a != NULL) {
        params->bytesize = a->bytes;
        params->poolProps.location.id = a->context->device->ordinal;
    }
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                   size_t n, CUdeviceptr p)
{
    ENTER("cuGraphAddMemFreeNode");
    if (p == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return graph_add_checked(
        node, graph, deps, n,
        body_make(NULL, copy_of(&p, sizeof p), sizeof p, CU_GRAPH_NODE_TYPE_MEM_FREE));
}

API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *p)
{
    ENTER("cuGraphMemFreeNodeGetParams");
    if (node == NULL || p == NULL || node->body->type != CU_GRAPH_NODE_TYPE_MEM_FREE)
        return CUDA_ERROR_INVALID_VALUE;
    *p = *(const CUdeviceptr *)node->body->arg;
    return CUDA_SUCCESS;
}

/* ---- what graphs use of a device; nothing is held back for later */
static struct {
    cuuint64_t used, high;
} totals[MAX_DEVICES];

void graph_memory_count(const struct device *device, int64_t bytes)
{
    totals[device->ordinal].used += (cuuint64_t)bytes;
    if (totals[device->ordinal].high < totals[device->ordinal].used)
        totals[device->ordinal].high = totals[device->ordinal].used;
}

static CUresult check_device(CUdevice device, const void *value)
{
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    return value == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                          void *value)
{
    ENTER("cuDeviceGetGraphMemAttribute");
    CUresult r = check_device(device, value);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&driver_lock);
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        *(cuuint64_t *)value = totals[device].used;
        break;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        *(cuuint64_t *)value = totals[device].high;
        break;
    default:
        r = CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}

/* The high marks begin anew. */
API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                          void *value)
{
    ENTER("cuDeviceSetGraphMemAttribute");
    CUresult r = check_device(device, value);
    if (r != CUDA_SUCCESS)
        return r;
    if ((attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
         attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) ||
        *(cuuint64_t *)value != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    totals[device].high = totals[device].used;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    ENTER("cuDeviceGraphMemTrim");
    return device < 0 || device >= device_count ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
