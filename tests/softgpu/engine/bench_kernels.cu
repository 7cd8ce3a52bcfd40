// SPDX-License-Identifier: BSD-3-Clause
// Kernels whose speed in the engine bench.c measures: one of each usual kind.

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

// One sum per block of 256 threads, through shared memory.
extern "C" __global__ void reduce(const float *x, float *sum)
{
    __shared__ float s[256];
    int t = threadIdx.x;

    s[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0)
        sum[blockIdx.x] = s[0];
}

// A square of n x n, a thread per element, tiles of 16 x 16.
extern "C" __global__ void transpose(const float *x, float *y, int n)
{
    __shared__ float s[16][17];
    int bx = blockIdx.x * 16, by = blockIdx.y * 16;

    s[threadIdx.y][threadIdx.x] = x[(by + threadIdx.y) * n + bx + threadIdx.x];
    __syncthreads();
    y[(bx + threadIdx.y) * n + by + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}

// C = A B, n x n, a thread per element of C, tiles of 16 x 16.
extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int n)
{
    __shared__ float sa[16][16], sb[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;

    for (int k = 0; k < n; k += 16) {
        sa[y][x] = a[row * n + k + x];
        sb[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += sa[y][j] * sb[j][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// One sum per block of 256 threads, by shuffles: in each warp, then over the warps.
extern "C" __global__ void shuffle(const float *x, float *sum)
{
    __shared__ float s[8];
    float v = x[blockIdx.x * 256 + threadIdx.x];

    for (int k = 16; k > 0; k >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[threadIdx.x % 8];
    for (int k = 16; k > 0; k >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, k);
    if (threadIdx.x == 0)
        sum[blockIdx.x] = v / 4;
}

// A row of 1024 per block of 256 threads: maximum, exponentials, sum.
extern "C" __global__ void softmax(const float *x, float *y)
{
    __shared__ float s[256];
    const float *row = x + blockIdx.x * 1024;
    int t = threadIdx.x;
    float m = -1e30f, sum = 0.0f;

    for (int k = t; k < 1024; k += 256)
        m = fmaxf(m, row[k]);
    s[t] = m;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k)
            s[t] = fmaxf(s[t], s[t + k]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    for (int k = t; k < 1024; k += 256)
        sum += expf(row[k] - m);
    s[t] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    for (int k = t; k < 1024; k += 256)
        y[blockIdx.x * 1024 + k] = expf(row[k] - m) / s[0];
}
