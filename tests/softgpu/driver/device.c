/* SPDX-License-Identifier: BSD-3-Clause
 * Devices and their attributes; owns the table of devices, filled once by cuInit from the
 * description and SOFTGPU_DEVICES. */
#include "tests/softgpu/driver/array.h"
#include "tests/softgpu/driver/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
struct device devices[MAX_DEVICES];
int device_count;
bool driver_ready;
struct sg_arena *host_memory;

#define HOST_MEMORY_BYTES ((uint64_t)64 << 30)

static void make_devices(void)
{
    const char *text = getenv("SOFTGPU_DEVICES");
    int n = text != NULL && text[0] != '\0' ? atoi(text) : 1;
    if (n < 0 || n > MAX_DEVICES) {
        fprintf(stderr, "softgpu: SOFTGPU_DEVICES=%s: 0 to %d\n", text, MAX_DEVICES);
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        char name[24];
        devices[i].ordinal = i;
        model_load(&devices[i].model);
        snprintf(name, sizeof name, "device %d", i);
        devices[i].memory = sg_arena_new(name, devices[i].model.memory_bytes);
    }
    host_memory = sg_arena_new("pinned host", HOST_MEMORY_BYTES);
    device_count = n;
    driver_ready = true;
}

API CUresult cuInit(unsigned flags)
{
    ENTER("cuInit");
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    mode_deferred(); /* a bad SOFTGPU_SEED is told now */
    pthread_mutex_lock(&driver_lock);
    if (!driver_ready)
        make_devices();
    pthread_mutex_unlock(&driver_lock);
    return device_count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

API CUresult cuDriverGetVersion(int *version)
{
    ENTER("cuDriverGetVersion");
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 13000;
    return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice device)
{
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0 || device >= device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    return devices[device].broken;
}

#define CHECK_DEVICE(_device, _pointer)                                                            \
    do {                                                                                           \
        CUresult bad_ = check_device(_device);                                                     \
        if (bad_ != CUDA_SUCCESS)                                                                  \
            return bad_;                                                                           \
        if ((_pointer) == NULL)                                                                    \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
    } while (0)

API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER("cuDeviceGet");
    CHECK_DEVICE(ordinal, device);
    *device = ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int *count)
{
    ENTER("cuDeviceGetCount");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = device_count;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int len, CUdevice device)
{
    ENTER("cuDeviceGetName");
    CHECK_DEVICE(device, name);
    if (len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "%s", devices[device].model.name);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    ENTER("cuDeviceGetUuid_v2");
    CHECK_DEVICE(device, uuid);
    memcpy(uuid->bytes, "softgpu device ", 15);
    uuid->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    ENTER("cuDeviceTotalMem_v2");
    CHECK_DEVICE(device, bytes);
    *bytes = (size_t)devices[device].model.memory_bytes;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    ENTER("cuDeviceComputeCapability");
    CHECK_DEVICE(device, major);
    *major = devices[device].model.major;
    *minor = devices[device].model.minor;
    return CUDA_SUCCESS;
}

/* Attributes that do not depend on the description. */
static bool constant_attribute(CUdevice_attribute attribute, int *value)
{
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } constants[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
        {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
        {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
        {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
        {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
        {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046},
        {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
        {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        if (constants[i].attribute == attribute) {
            *value = constants[i].value;
            return true;
        }
    return false;
}

int device_limit(CUdevice_attribute attribute)
{
    int value = 0;
    constant_attribute(attribute, &value);
    return value;
}

API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    ENTER("cuDeviceGetAttribute");
    CHECK_DEVICE(device, value);
    const struct model *m = &devices[device].model;
    if ((int)attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (constant_attribute(attribute, value))
        return CUDA_SUCCESS;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = m->major;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = m->minor;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = m->multiprocessors;
        break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = m->clock_mhz * 1000;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = m->shared_per_block;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = m->shared_per_block_optin;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        *value = m->shared_per_sm;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        *value = m->registers_per_sm;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = m->threads_per_sm;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        *value = m->blocks_per_sm;
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = m->l2_bytes;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *value = device + 1;
        break;
    default: /* a feature that this GPU does not have */
        *value = 0;
        break;
    }
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetPCIBusId(char *text, int len, CUdevice device)
{
    ENTER("cuDeviceGetPCIBusId");
    CHECK_DEVICE(device, text);
    if (len < 13)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(text, (size_t)len, "0000:%02x:00.0", device + 1);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    ENTER("cuDeviceGetByPCIBusId");
    unsigned bus;
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device == NULL || text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const char *colon = strrchr(text, ':');
    const char *start = strchr(text, ':') != colon ? strchr(text, ':') + 1 : text;
    if (colon == NULL || sscanf(start, "%x", &bus) != 1 || bus < 1 || (int)bus > device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = (CUdevice)bus - 1;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    ENTER("cuDeviceCanAccessPeer");
    CHECK_DEVICE(device, can);
    CHECK_DEVICE(peer, can);
    *can = device != peer;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device,
                                     CUdevice peer)
{
    ENTER("cuDeviceGetP2PAttribute");
    CHECK_DEVICE(device, value);
    CHECK_DEVICE(peer, value);
    if (device == peer)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
             attribute == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    return CUDA_SUCCESS;
}
