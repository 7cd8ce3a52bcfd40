// SPDX-License-Identifier: BSD-3-Clause
// What calls answer when something is wrong, each thread's last error, and a fault that stays.
#include "check.h"

#include <cstring>
#include <thread>

__global__ void store(int *p)
{
    *p = 1;
}

static void last_error()
{
    int device;
    OK(cudaGetLastError());
    EXPECT(cudaErrorInvalidDevice, cudaSetDevice(100));
    EXPECT(cudaErrorInvalidDevice, cudaPeekAtLastError());
    std::thread([] { OK(cudaPeekAtLastError()); }).join();
    OK(cudaGetDevice(&device)); // success doesn't clear it
    CHECK(device == 0);
    EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
    OK(cudaGetLastError());
}

static void bad_arguments()
{
    void *p = nullptr;
    int x = 0;
    EXPECT(cudaErrorInvalidValue, cudaMalloc(nullptr, 4));
    EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50));
    CHECK(p == nullptr);
    EXPECT(cudaErrorInvalidValue, cudaFree(&x));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(&x, nullptr, 4, cudaMemcpyDeviceToHost));
    EXPECT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(&x, &x, 4, (cudaMemcpyKind)9));
    EXPECT(cudaErrorInvalidValue, cudaMemset(&x, 0, 4));
    EXPECT(cudaErrorInvalidPitchValue, cudaMemcpy2D(&x, 4, &x, 4, 8, 2, cudaMemcpyHostToHost));
    EXPECT(cudaErrorInvalidConfiguration, (store<<<1, 2048>>>(nullptr), cudaGetLastError()));
    EXPECT(cudaErrorInvalidConfiguration, (store<<<0, 1>>>(nullptr), cudaGetLastError()));
    EXPECT(cudaErrorInvalidConfiguration,
           (store<<<dim3(1, 70000), 1>>>(nullptr), cudaGetLastError()));
    cudaGetLastError();

    // textures are not there
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    EXPECT(cudaErrorNotSupported,
           cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    EXPECT(cudaErrorNotSupported, cudaGetLastError());

    // nothing to do
    OK(cudaMalloc(&p, 0));
    CHECK(p == nullptr);
    OK(cudaFree(nullptr));
    OK(cudaFreeHost(nullptr));
    OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    OK(cudaMemset(nullptr, 0, 0));
}

static void names()
{
    CHECK(std::strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") ==
          0);
    CHECK(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    CHECK(std::strlen(cudaGetErrorString(cudaErrorIllegalAddress)) > 0);
    CHECK(std::strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);
}

// A fault makes the context unusable until the device is reset.
static void fault()
{
    int *p, *q, x = 0;
    OK(cudaMalloc(&p, sizeof *p));
    OK(cudaFree(p));
    store<<<1, 1>>>(p);
    EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaMalloc(&q, 4));
    EXPECT(cudaErrorIllegalAddress, cudaStreamSynchronize(0));
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    OK(cudaMalloc(&p, sizeof *p));
    store<<<1, 1>>>(p);
    OK(cudaMemcpy(&x, p, sizeof x, cudaMemcpyDeviceToHost));
    CHECK(x == 1);
    OK(cudaFree(p));
}

int main()
{
    last_error();
    bad_arguments();
    names();
    fault();
    return 0;
}
