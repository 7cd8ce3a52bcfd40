// SPDX-License-Identifier: BSD-3-Clause
// Arrays: made, described, copied to and from, in rectangles, in boxes and row after row.
#include "check.h"

#include <cstring>
#include <ctime>
#include <vector>

struct Cell {
    short x, y;
};
const size_t W = 13, H = 9, D = 4, CELL = sizeof(Cell);

static void descriptions()
{
    cudaArray_t array;
    cudaChannelFormatDesc wanted = cudaCreateChannelDesc<float4>(), got;
    cudaExtent extent;
    unsigned flags;
    OK(cudaMallocArray(&array, &wanted, W, H, cudaArraySurfaceLoadStore));
    OK(cudaArrayGetInfo(&got, &extent, &flags, array));
    CHECK(got.x == 32 && got.y == 32 && got.z == 32 && got.w == 32);
    CHECK(got.f == cudaChannelFormatKindFloat);
    CHECK(extent.width == W && extent.height == H && extent.depth == 0);
    CHECK(flags == cudaArraySurfaceLoadStore);
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(nullptr));
    wanted = cudaCreateChannelDesc<uchar2>();
    OK(cudaMalloc3DArray(&array, &wanted, make_cudaExtent(W, 0, D), cudaArrayLayered));
    OK(cudaGetChannelDesc(&got, array));
    CHECK(got.x == 8 && got.y == 8 && got.z == 0 && got.w == 0);
    CHECK(got.f == cudaChannelFormatKindUnsigned);
    OK(cudaFreeArray(array));
    cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    EXPECT(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &three, W));
    cudaChannelFormatDesc mixed = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindSigned);
    EXPECT(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &mixed, W));
    cudaChannelFormatDesc tiny = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat);
    EXPECT(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &tiny, W));
    EXPECT(cudaErrorInvalidValue, cudaMallocArray(&array, &wanted, 0));
    cudaGetLastError();
}

static cudaArray_t make(size_t depth)
{
    cudaArray_t array;
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<short2>();
    OK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(W, H, depth)));
    return array;
}

static std::vector<Cell> cells(size_t n)
{
    std::vector<Cell> all(n);
    for (Cell &cell : all)
        cell = {(short)std::rand(), (short)std::rand()};
    return all;
}

static bool same(const std::vector<Cell> &a, const std::vector<Cell> &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * CELL) == 0;
}

static std::vector<Cell> contents(cudaArray_t array)
{
    std::vector<Cell> got(W * H);
    OK(cudaMemcpy2DFromArray(got.data(), W * CELL, array, 0, 0, W * CELL, H,
                             cudaMemcpyDeviceToHost));
    return got;
}

static void rectangles()
{
    cudaArray_t a = make(0), b = make(0);
    std::vector<Cell> expected = cells(W * H), part = cells(5 * 4);
    OK(cudaMemcpy2DToArray(a, 0, 0, expected.data(), W * CELL, W * CELL, H,
                           cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DToArrayAsync(a, 3 * CELL, 2, part.data(), 5 * CELL, 5 * CELL, 4,
                                cudaMemcpyDefault, 0));
    OK(cudaDeviceSynchronize());
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 5; x++)
            expected[(2 + y) * W + 3 + x] = part[y * 5 + x];
    CHECK(same(contents(a), expected));
    OK(cudaMemcpy2DToArray(b, 0, 0, expected.data(), W * CELL, W * CELL, H,
                           cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DArrayToArray(b, CELL, 1, a, 3 * CELL, 2, 5 * CELL, 4));
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 5; x++)
            expected[(1 + y) * W + 1 + x] = part[y * 5 + x];
    CHECK(same(contents(b), expected));

    Cell *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, W * CELL, H));
    std::vector<Cell> got(W * H);
    OK(cudaMemcpy2DFromArrayAsync(p, pitch, b, 0, 0, W * CELL, H, cudaMemcpyDeviceToDevice, 0));
    OK(cudaMemcpy2D(got.data(), W * CELL, p, pitch, W * CELL, H, cudaMemcpyDeviceToHost));
    CHECK(same(got, expected));
    EXPECT(cudaErrorInvalidMemcpyDirection,
           cudaMemcpy2DToArray(a, 0, 0, got.data(), W * CELL, W * CELL, H, cudaMemcpyDeviceToHost));
    EXPECT(cudaErrorInvalidPitchValue,
           cudaMemcpy2DToArray(a, 0, 0, got.data(), CELL, W * CELL, H, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy2DToArray(a, CELL, 0, got.data(), W * CELL, W * CELL, H,
                                                      cudaMemcpyHostToDevice));
    cudaGetLastError();
    OK(cudaFree(p));
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
}

// Bytes go on in the next row; the ends lie within rows.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void bytes()
{
    cudaArray_t a = make(0), b = make(0);
    std::vector<Cell> expected = cells(W * H), line = cells(3 * W), got(3 * W);
    OK(cudaMemcpyToArray(a, 0, 0, expected.data(), W * H * CELL, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArray(b, 0, 0, expected.data(), W * H * CELL, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArrayAsync(a, 4 * CELL, 1, line.data(), (2 * W + 7) * CELL,
                              cudaMemcpyHostToDevice, 0));
    OK(cudaDeviceSynchronize());
    std::memcpy(&expected[W + 4], line.data(), (2 * W + 7) * CELL);
    CHECK(same(contents(a), expected));
    OK(cudaMemcpyFromArray(got.data(), a, 5 * CELL, 1, 3 * W * CELL, cudaMemcpyDeviceToHost));
    CHECK(std::memcmp(got.data(), &expected[W + 5], 3 * W * CELL) == 0);
    OK(cudaMemcpyArrayToArray(b, 2 * CELL, 5, a, 11 * CELL, 2, (W + 3) * CELL));
    std::vector<Cell> other = contents(b);
    CHECK(std::memcmp(&other[5 * W + 2], &expected[2 * W + 11], (W + 3) * CELL) == 0);
    EXPECT(cudaErrorInvalidValue,
           cudaMemcpyToArray(a, 2 * CELL, H - 1, line.data(), W * CELL, cudaMemcpyHostToDevice));
    cudaGetLastError();
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
}

// Extents and positions of an array are in elements.
static void boxes()
{
    cudaArray_t array = make(D);
    std::vector<Cell> expected = cells(W * H * D), part = cells(6 * 5 * 2), got(W * H * D);
    cudaMemcpy3DParms in = {};
    in.srcPtr = make_cudaPitchedPtr(expected.data(), W * CELL, W, H);
    in.dstArray = array;
    in.extent = make_cudaExtent(W, H, D);
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    in.srcPtr = make_cudaPitchedPtr(part.data(), 6 * CELL, 6, 5);
    in.dstPos = make_cudaPos(2, 3, 1);
    in.extent = make_cudaExtent(6, 5, 2);
    OK(cudaMemcpy3DAsync(&in, 0));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 5; y++)
            std::memcpy(&expected[((1 + z) * H + 3 + y) * W + 2], &part[(z * 5 + y) * 6], 6 * CELL);
    cudaMemcpy3DParms out = {};
    out.srcArray = array;
    out.dstPtr = make_cudaPitchedPtr(got.data(), W * CELL, W, H);
    out.extent = make_cudaExtent(W, H, D);
    out.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&out));
    CHECK(same(got, expected));

    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaMemcpy3DParms params;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &in));
    OK(cudaGraphMemcpyNodeGetParams(node, &params));
    CHECK(params.dstArray == array && params.dstPtr.ptr == nullptr && params.srcArray == nullptr);
    CHECK(params.dstPos.x == 2 && params.dstPos.y == 3 && params.dstPos.z == 1);
    CHECK(params.extent.width == 6 && params.extent.height == 5 && params.extent.depth == 2);
    OK(cudaGraphMemcpyNodeSetParams(node, &params));
    OK(cudaGraphDestroy(graph));

    in.dstPos = make_cudaPos(W - 5, 0, 0);
    EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(&in));
    in.dstPos = make_cudaPos(0, 0, 0);
    in.kind = cudaMemcpyDeviceToHost;
    EXPECT(cudaErrorInvalidMemcpyDirection, cudaMemcpy3D(&in));
    in.kind = cudaMemcpyHostToDevice;
    in.dstPtr = make_cudaPitchedPtr(got.data(), W * CELL, W, H);
    EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(&in));
    cudaGetLastError();
    OK(cudaFreeArray(array));
}

int main()
{
    std::srand((unsigned)std::time(nullptr));
    descriptions();
    rectangles();
    bytes();
    boxes();
    return 0;
}
