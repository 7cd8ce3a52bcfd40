// SPDX-License-Identifier: BSD-3-Clause
// Threads that work together: reductions, scans, sorting, histograms, transposition, through shared
// memory, shuffles, votes and atomics. check_collect.c knows their results.
#include <cstdint>

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void reduce_shared(int n, const int *in, int *out)
{
    __shared__ int part[256];
    int i = GLOBAL_INDEX;

    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_dynamic(int n, const double *in, double *out)
{
    extern __shared__ double part_dynamic[];
    double sum = 0;

    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    part_dynamic[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part_dynamic[threadIdx.x] += part_dynamic[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = part_dynamic[0];
}

__device__ static float warp_max(float v)
{
    for (int k = 16; k > 0; k /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, k));
    return v;
}

extern "C" __global__ void reduce_max(int n, const float *in, float *out)
{
    __shared__ float part[32];
    int i = GLOBAL_INDEX, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = warp_max(i < n ? in[i] : -INFINITY);

    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = warp_max(lane < (int)blockDim.x / 32 ? part[lane] : -INFINITY);
        if (lane == 0)
            out[blockIdx.x] = v;
    }
}

extern "C" __global__ void reduce_atomic(int n, const int *in, unsigned long long *sum, int *low,
                                         int *high, unsigned *bits)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    atomicAdd(sum, (unsigned long long)in[i]);
    atomicMin(low, in[i]);
    atomicMax(high, in[i]);
    atomicXor(bits, (unsigned)in[i]);
}

// Largest value and where it first stands, packed for one 64-bit atomic.
extern "C" __global__ void argmax(int n, const float *in, unsigned long long *best)
{
    int i = GLOBAL_INDEX;
    unsigned key;

    if (i >= n)
        return;
    key = __float_as_uint(in[i]);
    key = key >> 31 ? ~key : key | 0x80000000u;
    atomicMax(best, (unsigned long long)key << 32 | (unsigned)(n - i));
}

extern "C" __global__ void scan_block(int n, const int *in, int *out)
{
    __shared__ int a[2][256];
    int i = GLOBAL_INDEX, from = 0;

    a[0][threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < (int)blockDim.x; step *= 2) {
        int v = a[from][threadIdx.x];

        if ((int)threadIdx.x >= step)
            v += a[from][threadIdx.x - step];
        a[1 - from][threadIdx.x] = v;
        from = 1 - from;
        __syncthreads();
    }
    if (i < n)
        out[i] = a[from][threadIdx.x];
}

extern "C" __global__ void scan_warp(int n, const int *in, int *out)
{
    int i = GLOBAL_INDEX, lane = threadIdx.x % 32, v = i < n ? in[i] : 0;

    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, v, step);

        if (lane >= step)
            v += other;
    }
    if (i < n)
        out[i] = v;
}

// Even values of each warp to the front, in order.
extern "C" __global__ void compact_warp(const int *in, int *out, int *counts)
{
    int i = GLOBAL_INDEX, lane = threadIdx.x % 32, v = in[i];
    unsigned even = __ballot_sync(0xffffffff, v % 2 == 0), below = even & ((1u << lane) - 1);

    if (v % 2 == 0)
        out[i - lane + __popc(below)] = v;
    if (lane == 0)
        counts[i / 32] = __popc(even);
}

extern "C" __global__ void histogram(int n, const unsigned char *in, unsigned *bins)
{
    __shared__ unsigned local[256];

    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = GLOBAL_INDEX; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b])
            atomicAdd(&bins[b], local[b]);
}

extern "C" __global__ void bitonic_sort(unsigned *data)
{
    __shared__ unsigned a[512];
    unsigned t = threadIdx.x;

    a[t] = data[blockIdx.x * 512 + t];
    __syncthreads();
    for (unsigned size = 2; size <= 512; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned other = t ^ step;

            if (other > t) {
                bool up = (t & size) == 0;

                if ((a[t] > a[other]) == up) {
                    unsigned v = a[t];

                    a[t] = a[other];
                    a[other] = v;
                }
            }
            __syncthreads();
        }
    data[blockIdx.x * 512 + t] = a[t];
}

extern "C" __global__ void transpose(int rows, int columns, const float *in, float *out)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;

    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < columns)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

// Addition of doubles by compare-and-swap.
extern "C" __global__ void cas_add(int n, const double *in, unsigned long long *sum)
{
    int i = GLOBAL_INDEX;
    unsigned long long old, seen;

    if (i >= n)
        return;
    old = *(volatile unsigned long long *)sum;
    do {
        seen = old;
        old = atomicCAS(sum, seen,
                        (unsigned long long)__double_as_longlong(
                            __longlong_as_double((long long)seen) + in[i]));
    } while (old != seen);
}

// A lock per bucket, taken by one lane at a time.
extern "C" __global__ void spin_lock(int buckets, int *locks, int *counts)
{
    int b = GLOBAL_INDEX % buckets;
    bool done = false;

    while (!done) {
        if (atomicCAS(&locks[b], 0, 1) == 0) {
            *(volatile int *)&counts[b] = *(volatile int *)&counts[b] + 1;
            __threadfence();
            atomicExch(&locks[b], 0);
            done = true;
        }
    }
}

// The last block to finish adds up what the others left.
extern "C" __global__ void last_block(int n, const int *in, int *parts, unsigned *arrived,
                                      int *total)
{
    __shared__ bool last;
    int i = GLOBAL_INDEX, v = i < n ? in[i] : 0;

    for (int k = 16; k > 0; k /= 2)
        v += __shfl_down_sync(0xffffffff, v, k);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = v;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;

        for (unsigned b = 0; b < gridDim.x; b++)
            sum += *(volatile int *)&parts[b];
        *total = sum;
    }
}

// One warp writes, another waits for its flag.
extern "C" __global__ void volatile_flag(int *out)
{
    __shared__ volatile int flag, value;

    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        value = 40 + (int)blockIdx.x;
        __threadfence_block();
        flag = 1;
    }
    if (threadIdx.x == 0) {
        while (!flag)
            ;
        out[blockIdx.x] = value + 2;
    }
}

extern "C" __global__ void barrier_votes(int n, const int *in, int *out)
{
    int i = GLOBAL_INDEX, v = i < n ? in[i] : 0;
    int count = __syncthreads_count(v > 0), all = __syncthreads_and(v > -100),
        any = __syncthreads_or(v > 95);

    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = count;
        out[3 * blockIdx.x + 1] = all != 0;
        out[3 * blockIdx.x + 2] = any != 0;
    }
}

extern "C" __global__ void match_lanes(const int *in, unsigned *any, unsigned *all)
{
    int i = GLOBAL_INDEX, same;

    any[i] = __match_any_sync(0xffffffff, in[i]);
    all[i] = __match_all_sync(0xffffffff, in[i] / 100, &same);
    all[i] -= same ? 2u : 0u;
}
