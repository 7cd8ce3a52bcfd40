// SPDX-License-Identifier: BSD-3-Clause
// Cooperative groups: tiles, coalesced lanes, the whole grid. Only nvcc compiles their header.
// check_groups.c knows the results.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void reduce_groups(int n, const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int i = GLOBAL_INDEX, v = i < n ? in[i] : 0;
    int sum = cg::reduce(tile, v, cg::plus<int>()), most = cg::reduce(tile, v, cg::greater<int>());

    if (tile.thread_rank() == 0) {
        out[2 * (i / 16)] = sum;
        out[2 * (i / 16) + 1] = most;
    }
}

// Active lanes of a divergent branch count themselves.
extern "C" __global__ void coalesced(int n, const int *in, int *total, int *leaders)
{
    int i = GLOBAL_INDEX;

    if (i < n && in[i] % 3 == 0) {
        cg::coalesced_group g = cg::coalesced_threads();

        if (g.thread_rank() == 0) {
            atomicAdd(total, (int)g.size());
            atomicAdd(leaders, 1);
        }
    }
}

extern "C" __global__ void grid_sync(int n, int *a, int *b)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank();

    if (i < n)
        a[i] = i * i;
    grid.sync();
    if (i < n)
        b[i] = a[n - 1 - i] - a[i];
    grid.sync();
    if (i < n)
        a[i] = b[(i + 1) % n];
}

// Tiles of more than a warp: they keep their barriers in shared memory that the system reserves.
extern "C" __global__ void wide_tiles(int n, const int *in, int *out)
{
    __shared__ cg::block_tile_memory<256> memory; // of use before compute_80 alone
    __shared__ int last[4];
    cg::thread_block_tile<64> tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
    int i = GLOBAL_INDEX, v = i < n ? in[i] : 0;
    int sum = cg::reduce(tile, v, cg::plus<int>());

    if (tile.thread_rank() == 63)
        last[threadIdx.x / 64] = sum;
    tile.sync();
    out[i] = last[threadIdx.x / 64] + tile.shfl(v, 40);
}
