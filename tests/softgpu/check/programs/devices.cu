// SPDX-License-Identifier: BSD-3-Clause
// What is said of a device, and which one a thread uses. Runs with one device or more.
#include "check.h"

#include <cstring>
#include <cuda.h>
#include <thread>

__global__ void set(int *p, int value)
{
    *p = value;
}

static int attribute(cudaDeviceAttr a)
{
    int value = -1;
    OK(cudaDeviceGetAttribute(&value, a, 0));
    return value;
}

static void properties()
{
    cudaDeviceProp p;
    int version;
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == CUDART_VERSION);
    OK(cudaDriverGetVersion(&version));
    CHECK(version >= CUDART_VERSION);
    OK(cudaGetDeviceProperties(&p, 0));
    CHECK(std::strlen(p.name) > 0 && p.totalGlobalMem > 0 && p.warpSize == 32);
    CHECK(p.major == attribute(cudaDevAttrComputeCapabilityMajor));
    CHECK(p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
    CHECK((int)p.sharedMemPerBlock == attribute(cudaDevAttrMaxSharedMemoryPerBlock));
    CHECK((int)p.sharedMemPerBlockOptin == attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    CHECK(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64);
    CHECK(p.maxGridSize[0] == 0x7fffffff && p.maxGridSize[1] == 65535);
    CHECK(p.unifiedAddressing == 1 && p.managedMemory == 1 && p.cooperativeLaunch == 1);
    char id[32];
    int device = -1;
    OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    OK(cudaDeviceGetByPCIBusId(&device, id));
    CHECK(device == 0);
    OK(cudaChooseDevice(&device, &p));
    CHECK(device == 0);
    EXPECT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 99));
    size_t limit;
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit >= 4096);
    cudaGetLastError();
}

// Every device has its memory; a new thread starts on device 0.
static void choose(int devices)
{
    for (int d = 0; d < devices; d++) {
        int now = -1, value = 0, *p;
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&p, sizeof *p));
        set<<<1, 1>>>(p, 40 + d);
        OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
        CHECK(value == 40 + d);
        OK(cudaGetDevice(&now));
        CHECK(now == d);
        cudaPointerAttributes a;
        OK(cudaPointerGetAttributes(&a, p));
        CHECK(a.device == d);
        std::thread([] {
            int its = -1;
            OK(cudaGetDevice(&its));
            CHECK(its == 0);
        }).join();
        OK(cudaFree(p));
    }
    OK(cudaSetDevice(0));
}

static void peers(int devices)
{
    int can = -1, value = 0, *here, *there;
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0);
    if (devices < 2)
        return;
    OK(cudaMalloc(&here, sizeof *here));
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&there, sizeof *there));
    OK(cudaSetDevice(0));
    set<<<1, 1>>>(here, 7);
    OK(cudaMemcpyPeer(there, 1, here, 0, sizeof *there));
    OK(cudaMemcpy(&value, there, sizeof value, cudaMemcpyDefault));
    CHECK(value == 7);
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (can) {
        OK(cudaDeviceEnablePeerAccess(1, 0));
        EXPECT(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
        set<<<1, 1>>>(there, 8);
        OK(cudaMemcpy(&value, there, sizeof value, cudaMemcpyDefault));
        CHECK(value == 8);
        OK(cudaDeviceDisablePeerAccess(1));
        EXPECT(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
        cudaGetLastError();
    }
    OK(cudaFree(here));
    OK(cudaFree(there));
}

// A context that the program made by the driver API serves the runtime too.
static void driver_context()
{
    CUresult (*create)(CUcontext *, unsigned, CUdevice), (*destroy)(CUcontext);
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuCtxCreate", (void **)&create, 3020, cudaEnableDefault,
                                        &found));
    CHECK(found == cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuCtxDestroy", (void **)&destroy, 4000, cudaEnableDefault,
                                        &found));
    void *none;
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchCall", &none, 12000, cudaEnableDefault, &found));
    CHECK(found == cudaDriverEntryPointSymbolNotFound && none == nullptr);
    CUcontext context;
    CHECK(create(&context, 0, 0) == CUDA_SUCCESS);
    int value = 0, *p;
    OK(cudaMalloc(&p, sizeof *p));
    set<<<1, 1>>>(p, 3);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 3);
    OK(cudaFree(p));
    CHECK(destroy(context) == CUDA_SUCCESS);
    OK(cudaMalloc(&p, sizeof *p));
    OK(cudaFree(p));
}

int main()
{
    int devices = 0;
    OK(cudaGetDeviceCount(&devices));
    CHECK(devices >= 1);
    properties();
    choose(devices);
    peers(devices);
    driver_context();
    return 0;
}
