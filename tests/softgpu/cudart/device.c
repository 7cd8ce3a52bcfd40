/* SPDX-License-Identifier: BSD-3-Clause
 * What a device is and can do, asked from the driver; peers. Owns no state. */
#include "cudart.h"

#include <stdint.h>
#include <string.h>

API cudaError_t cudaGetDeviceCount(int *n)
{
    if (n == NULL)
        return record(cudaErrorInvalidValue);
    *n = 0;
    FORWARD_BARE(cuDeviceGetCount(n));
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    /* The numbers are the driver's. */
    FORWARD_BARE(cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

API cudaError_t cudaDeviceGetPCIBusId(char *id, int n, int device)
{
    FORWARD_BARE(cuDeviceGetPCIBusId(id, n, device));
}

API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    FORWARD_BARE(cuDeviceGetByPCIBusId(device, id));
}

/* An attribute that this driver doesn't know counts as 0. */
static int get(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return driver_of(false)->cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value
                                                                                             : 0;
}

static void fill_texture(struct cudaDeviceProp *p, CUdevice device)
{
    static const struct {
        size_t offset;
        CUdevice_attribute attribute;
    } row[] = {
#define ROW(_field, _name)                                                                         \
    {offsetof(struct cudaDeviceProp, _field), CU_DEVICE_ATTRIBUTE_MAXIMUM_##_name}
        ROW(maxTexture1D, TEXTURE1D_WIDTH),
        ROW(maxTexture1DMipmap, TEXTURE1D_MIPMAPPED_WIDTH),
        ROW(maxTexture2D[0], TEXTURE2D_WIDTH),
        ROW(maxTexture2D[1], TEXTURE2D_HEIGHT),
        ROW(maxTexture2DMipmap[0], TEXTURE2D_MIPMAPPED_WIDTH),
        ROW(maxTexture2DMipmap[1], TEXTURE2D_MIPMAPPED_HEIGHT),
        ROW(maxTexture2DLinear[0], TEXTURE2D_LINEAR_WIDTH),
        ROW(maxTexture2DLinear[1], TEXTURE2D_LINEAR_HEIGHT),
        ROW(maxTexture2DLinear[2], TEXTURE2D_LINEAR_PITCH),
        ROW(maxTexture2DGather[0], TEXTURE2D_GATHER_WIDTH),
        ROW(maxTexture2DGather[1], TEXTURE2D_GATHER_HEIGHT),
        ROW(maxTexture3D[0], TEXTURE3D_WIDTH),
        ROW(maxTexture3D[1], TEXTURE3D_HEIGHT),
        ROW(maxTexture3D[2], TEXTURE3D_DEPTH),
        ROW(maxTexture3DAlt[0], TEXTURE3D_WIDTH_ALTERNATE),
        ROW(maxTexture3DAlt[1], TEXTURE3D_HEIGHT_ALTERNATE),
        ROW(maxTexture3DAlt[2], TEXTURE3D_DEPTH_ALTERNATE),
        ROW(maxTextureCubemap, TEXTURECUBEMAP_WIDTH),
        ROW(maxTexture1DLayered[0], TEXTURE1D_LAYERED_WIDTH),
        ROW(maxTexture1DLayered[1], TEXTURE1D_LAYERED_LAYERS),
        ROW(maxTexture2DLayered[0], TEXTURE2D_LAYERED_WIDTH),
        ROW(maxTexture2DLayered[1], TEXTURE2D_LAYERED_HEIGHT),
        ROW(maxTexture2DLayered[2], TEXTURE2D_LAYERED_LAYERS),
        ROW(maxTextureCubemapLayered[0], TEXTURECUBEMAP_LAYERED_WIDTH),
        ROW(maxTextureCubemapLayered[1], TEXTURECUBEMAP_LAYERED_LAYERS),
        ROW(maxSurface1D, SURFACE1D_WIDTH),
        ROW(maxSurface2D[0], SURFACE2D_WIDTH),
        ROW(maxSurface2D[1], SURFACE2D_HEIGHT),
        ROW(maxSurface3D[0], SURFACE3D_WIDTH),
        ROW(maxSurface3D[1], SURFACE3D_HEIGHT),
        ROW(maxSurface3D[2], SURFACE3D_DEPTH),
        ROW(maxSurface1DLayered[0], SURFACE1D_LAYERED_WIDTH),
        ROW(maxSurface1DLayered[1], SURFACE1D_LAYERED_LAYERS),
        ROW(maxSurface2DLayered[0], SURFACE2D_LAYERED_WIDTH),
        ROW(maxSurface2DLayered[1], SURFACE2D_LAYERED_HEIGHT),
        ROW(maxSurface2DLayered[2], SURFACE2D_LAYERED_LAYERS),
        ROW(maxSurfaceCubemap, SURFACECUBEMAP_WIDTH),
        ROW(maxSurfaceCubemapLayered[0], SURFACECUBEMAP_LAYERED_WIDTH),
        ROW(maxSurfaceCubemapLayered[1], SURFACECUBEMAP_LAYERED_LAYERS),
#undef ROW
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        *(int *)((char *)p + row[i].offset) = get(device, row[i].attribute);
}

static void fill_int(struct cudaDeviceProp *p, CUdevice device)
{
    static const struct {
        size_t offset;
        CUdevice_attribute attribute;
    } row[] = {
#define ROW(_field, _name) {offsetof(struct cudaDeviceProp, _field), CU_DEVICE_ATTRIBUTE_##_name}
        ROW(regsPerBlock, MAX_REGISTERS_PER_BLOCK),
        ROW(warpSize, WARP_SIZE),
        ROW(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
        ROW(maxThreadsDim[0], MAX_BLOCK_DIM_X),
        ROW(maxThreadsDim[1], MAX_BLOCK_DIM_Y),
        ROW(maxThreadsDim[2], MAX_BLOCK_DIM_Z),
        ROW(maxGridSize[0], MAX_GRID_DIM_X),
        ROW(maxGridSize[1], MAX_GRID_DIM_Y),
        ROW(maxGridSize[2], MAX_GRID_DIM_Z),
        ROW(major, COMPUTE_CAPABILITY_MAJOR),
        ROW(minor, COMPUTE_CAPABILITY_MINOR),
        ROW(multiProcessorCount, MULTIPROCESSOR_COUNT),
        ROW(integrated, INTEGRATED),
        ROW(canMapHostMemory, CAN_MAP_HOST_MEMORY),
        ROW(concurrentKernels, CONCURRENT_KERNELS),
        ROW(ECCEnabled, ECC_ENABLED),
        ROW(pciBusID, PCI_BUS_ID),
        ROW(pciDeviceID, PCI_DEVICE_ID),
        ROW(pciDomainID, PCI_DOMAIN_ID),
        ROW(tccDriver, TCC_DRIVER),
        ROW(asyncEngineCount, ASYNC_ENGINE_COUNT),
        ROW(unifiedAddressing, UNIFIED_ADDRESSING),
        ROW(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
        ROW(l2CacheSize, L2_CACHE_SIZE),
        ROW(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE),
        ROW(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
        ROW(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
        ROW(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED),
        ROW(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED),
        ROW(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
        ROW(managedMemory, MANAGED_MEMORY),
        ROW(isMultiGpuBoard, MULTI_GPU_BOARD),
        ROW(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID),
        ROW(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
        ROW(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
        ROW(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
        ROW(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
        ROW(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
        ROW(cooperativeLaunch, COOPERATIVE_LAUNCH),
        ROW(pageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
        ROW(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
        ROW(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
        ROW(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE),
        ROW(hostRegisterSupported, HOST_REGISTER_SUPPORTED),
        ROW(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED),
        ROW(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED),
        ROW(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED),
        ROW(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
        ROW(gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED),
        ROW(gpuDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS),
        ROW(gpuDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING),
        ROW(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES),
        ROW(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED),
        ROW(ipcEventSupported, IPC_EVENT_SUPPORTED),
        ROW(clusterLaunch, CLUSTER_LAUNCH),
        ROW(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS),
        ROW(deviceNumaConfig, NUMA_CONFIG),
        ROW(deviceNumaId, NUMA_ID),
        ROW(mpsEnabled, MPS_ENABLED),
        ROW(hostNumaId, HOST_NUMA_ID),
        ROW(gpuPciDeviceID, GPU_PCI_DEVICE_ID),
        ROW(gpuPciSubsystemID, GPU_PCI_SUBSYSTEM_ID),
        ROW(hostNumaMultinodeIpcSupported, HOST_NUMA_MULTINODE_IPC_SUPPORTED),
#undef ROW
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        *(int *)((char *)p + row[i].offset) = get(device, row[i].attribute);
}

static void fill_size(struct cudaDeviceProp *p, CUdevice device)
{
    static const struct {
        size_t offset;
        CUdevice_attribute attribute;
    } row[] = {
#define ROW(_field, _name) {offsetof(struct cudaDeviceProp, _field), CU_DEVICE_ATTRIBUTE_##_name}
        ROW(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
        ROW(memPitch, MAX_PITCH),
        ROW(totalConstMem, TOTAL_CONSTANT_MEMORY),
        ROW(textureAlignment, TEXTURE_ALIGNMENT),
        ROW(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT),
        ROW(surfaceAlignment, SURFACE_ALIGNMENT),
        ROW(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        ROW(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        ROW(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK),
#undef ROW
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        *(size_t *)((char *)p + row[i].offset) = (size_t)get(device, row[i].attribute);
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    if (p == NULL)
        return record(cudaErrorInvalidValue);
    cudaError_t error = device_check(device);
    if (error != cudaSuccess)
        return record(error);
    const struct driver *driver = driver_of(false);
    memset(p, 0, sizeof *p);
    CUresult result = driver->cuDeviceGetName(p->name, sizeof p->name, device);
    if (result == CUDA_SUCCESS)
        result = driver->cuDeviceTotalMem(&p->totalGlobalMem, device);
    if (result == CUDA_SUCCESS)
        result = driver->cuDeviceGetUuid((CUuuid *)&p->uuid, device);
    fill_int(p, device);
    fill_size(p, device);
    fill_texture(p, device);
    return record(error_of(result));
}

/* Which device has most of what is asked for, where it is asked for. */
API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    int n = 0, best = -1, most = -1;
    cudaError_t error = cudaGetDeviceCount(&n);
    if (error != cudaSuccess)
        return error;
    if (device == NULL || wanted == NULL)
        return record(cudaErrorInvalidValue);
    for (int i = 0; i < n; i++) {
        struct cudaDeviceProp p;
        error = cudaGetDeviceProperties(&p, i);
        if (error != cudaSuccess)
            return error;
        int score = (p.major * 10 + p.minor >= wanted->major * 10 + wanted->minor) +
                    (p.totalGlobalMem >= wanted->totalGlobalMem) +
                    (p.multiProcessorCount >= wanted->multiProcessorCount) +
                    (wanted->name[0] != '\0' && strcmp(p.name, wanted->name) == 0);
        if (score > most) {
            most = score;
            best = i;
        }
    }
    if (best < 0)
        return record(cudaErrorNoDevice);
    *device = best;
    return cudaSuccess;
}

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    FORWARD_BARE(cuDeviceCanAccessPeer(can, device, peer));
}

API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device,
                                          int peer)
{
    FORWARD_BARE(cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, device, peer));
}
