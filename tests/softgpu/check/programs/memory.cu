// SPDX-License-Identifier: BSD-3-Clause
// Memory: pitched copies, copies between devices, registered and mapped host memory, pools.
#include "check.h"

#include <cstring>
#include <vector>

__global__ void increment(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i]++;
}

static void two_dimensions()
{
    const size_t width = 37, height = 11;
    unsigned char from[height][width], to[height][width + 3];
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            from[y][x] = (unsigned char)(y * 16 + x);
    void *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, width, height));
    CHECK(pitch >= width && pitch % 32 == 0);
    OK(cudaMemset2D(p, pitch, 0xee, width, height));
    OK(cudaMemcpy2D(p, pitch, from, width, width, height - 1, cudaMemcpyHostToDevice));
    std::memset(to, 0, sizeof to);
    OK(cudaMemcpy2DAsync(to, width + 3, p, pitch, width, height, cudaMemcpyDeviceToHost, 0));
    OK(cudaStreamSynchronize(0));
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++)
            CHECK(to[y][x] == (y < height - 1 ? from[y][x] : 0xee));
        CHECK(to[y][width] == 0);
    }
    OK(cudaFree(p));
}

static void three_dimensions()
{
    const cudaExtent extent = make_cudaExtent(20, 6, 4);
    std::vector<unsigned char> from(20 * 6 * 4), to(from.size(), 1);
    for (size_t i = 0; i < from.size(); i++)
        from[i] = (unsigned char)i;
    cudaPitchedPtr p;
    OK(cudaMalloc3D(&p, extent));
    OK(cudaMemset3D(p, 7, extent));
    cudaMemcpy3DParms in = {};
    in.srcPtr = make_cudaPitchedPtr(from.data(), 20, 20, 6);
    in.dstPtr = p;
    in.dstPos = make_cudaPos(0, 0, 1);
    in.extent = make_cudaExtent(20, 6, 3);
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    cudaMemcpy3DParms out = {};
    out.srcPtr = p;
    out.dstPtr = make_cudaPitchedPtr(to.data(), 20, 20, 6);
    out.extent = extent;
    out.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&out, 0));
    OK(cudaStreamSynchronize(0));
    for (size_t i = 0; i < to.size(); i++)
        CHECK(to[i] == (i < 120 ? 7 : from[i - 120]));
    OK(cudaFree(p.ptr));
}

static void host_memory()
{
    const int n = 300;
    int *pinned, *registered, *seen;
    OK(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < n; i++)
        pinned[i] = i;
    OK(cudaHostGetDevicePointer((void **)&seen, pinned, 0));
    increment<<<2, 256>>>(seen, n);
    OK(cudaDeviceSynchronize());
    CHECK(pinned[0] == 1 && pinned[n - 1] == n);
    unsigned flags;
    OK(cudaHostGetFlags(&flags, pinned));
    CHECK((flags & cudaHostAllocMapped) != 0);

    std::vector<int> plain(4096, 5);
    OK(cudaHostRegister(plain.data(), plain.size() * sizeof(int), cudaHostRegisterDefault));
    EXPECT(cudaErrorHostMemoryAlreadyRegistered,
           cudaHostRegister(plain.data(), plain.size() * sizeof(int), cudaHostRegisterDefault));
    OK(cudaMemcpyAsync(plain.data(), pinned, n * sizeof(int), cudaMemcpyHostToHost, 0));
    OK(cudaStreamSynchronize(0));
    CHECK(plain[0] == 1 && plain[n - 1] == n && plain[n] == 5);
    OK(cudaHostGetDevicePointer((void **)&registered, plain.data(), 0));
    increment<<<16, 256>>>(registered, 4096);
    OK(cudaDeviceSynchronize());
    CHECK(plain[0] == 2 && plain[4095] == 6);
    OK(cudaHostUnregister(plain.data()));
    EXPECT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(plain.data()));
    cudaGetLastError();

    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, pinned + 1));
    CHECK(a.type == cudaMemoryTypeHost && a.hostPointer == pinned + 1);
    OK(cudaPointerGetAttributes(&a, plain.data()));
    CHECK(a.type == cudaMemoryTypeUnregistered && a.devicePointer == nullptr);
    OK(cudaFreeHost(pinned));
}

static void device_memory()
{
    const int n = 1000;
    int *p, *q;
    size_t before, after, total;
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&p, 1 << 20));
    OK(cudaMemGetInfo(&after, &total));
    CHECK(before - after >= 1 << 20 && after <= total);
    OK(cudaMalloc(&q, n * sizeof *q));
    std::vector<int> x(n, 3), y(n);
    OK(cudaMemcpy(p, x.data(), n * sizeof *p, cudaMemcpyDefault));
    OK(cudaMemcpy(q, p, n * sizeof *p, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyPeer(p, 0, q, 0, n * sizeof *p));
    OK(cudaMemcpy(y.data(), p, n * sizeof *p, cudaMemcpyDefault));
    CHECK(x == y);
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == p);
    OK(cudaFree(p));
    OK(cudaFree(q));
    EXPECT(cudaErrorInvalidValue, cudaFree(q));
    cudaGetLastError();
}

static void batch()
{
    const int n = 3;
    int x[n] = {1, 2, 3}, y[n] = {}, *p;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&p, sizeof x));
    void *to[n];
    const void *from[n];
    size_t bytes[n], first = 0;
    for (int i = 0; i < n; i++) {
        to[i] = p + i;
        from[i] = x + n - 1 - i;
        bytes[i] = sizeof(int);
    }
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    OK(cudaMemcpyBatchAsync(to, from, bytes, n, &attributes, &first, 1, stream));
    OK(cudaMemcpyAsync(y, p, sizeof y, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(y[0] == 3 && y[1] == 2 && y[2] == 1);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(p));
}

static void pools()
{
    cudaStream_t stream;
    cudaMemPool_t pool, mine;
    int *p, *q;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocAsync(&p, 4096, stream));
    OK(cudaMemsetAsync(p, 0, 4096, stream));
    increment<<<4, 256, 0, stream>>>(p, 1024);
    int x[1024];
    OK(cudaMemcpyAsync(x, p, sizeof x, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(p, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(x[0] == 1 && x[1023] == 1);

    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long keep = 1 << 20, got = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    CHECK(got == keep);
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&mine, &props));
    OK(cudaMallocFromPoolAsync(&q, 100, mine, stream));
    OK(cudaFreeAsync(q, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolTrimTo(mine, 0));
    OK(cudaMemPoolDestroy(mine));
    OK(cudaStreamDestroy(stream));
}

int main()
{
    two_dimensions();
    three_dimensions();
    host_memory();
    device_memory();
    batch();
    pools();
    return 0;
}
