// SPDX-License-Identifier: BSD-3-Clause
// Numerical kernels on arrays and matrices. check_linear.c knows their results.
#include <cstdint>

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c)
{
    __shared__ float ta[16][16], tb[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;

    for (int t = 0; t < (k + 15) / 16; t++) {
        int ka = t * 16 + threadIdx.x, kb = t * 16 + threadIdx.y;

        ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
        tb[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

// One warp a row.
extern "C" __global__ void matrix_vector(int rows, int columns, const float *a, const float *x,
                                         float *y)
{
    int row = GLOBAL_INDEX / 32, lane = threadIdx.x % 32;
    float sum = 0;

    if (row >= rows)
        return;
    for (int j = lane; j < columns; j += 32)
        sum += a[row * columns + j] * __ldg(&x[j]);
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, k);
    if (lane == 0)
        y[row] = sum;
}

extern "C" __global__ void stencil(int width, int height, const float *in, float *out)
{
    __shared__ float tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    for (int dy = threadIdx.y; dy < 10; dy += 8)
        for (int dx = threadIdx.x; dx < 34; dx += 32) {
            int sx = min(max((int)blockIdx.x * 32 + dx - 1, 0), width - 1);
            int sy = min(max((int)blockIdx.y * 8 + dy - 1, 0), height - 1);

            tile[dy][dx] = in[sy * width + sx];
        }
    __syncthreads();
    if (x < width && y < height)
        out[y * width + x] =
            0.25f * (tile[threadIdx.y][threadIdx.x + 1] + tile[threadIdx.y + 2][threadIdx.x + 1] +
                     tile[threadIdx.y + 1][threadIdx.x] + tile[threadIdx.y + 1][threadIdx.x + 2]);
}

__constant__ float filter[9];

extern "C" __global__ void convolution(int n, const float *in, float *out)
{
    int i = GLOBAL_INDEX;
    float sum = 0;

    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int j = i + k - 4;

        if (j >= 0 && j < n)
            sum += filter[k] * in[j];
    }
    out[i] = sum;
}

extern "C" __global__ void floyd_warshall(int n, int k, int *distance)
{
    int j = GLOBAL_INDEX, i = blockIdx.y;

    if (j < n) {
        int through = distance[i * n + k] + distance[k * n + j];

        if (through < distance[i * n + j])
            distance[i * n + j] = through;
    }
}

extern "C" __global__ void n_body(int n, const float4 *body, float4 *force)
{
    __shared__ float4 near_by[64];
    int i = GLOBAL_INDEX;
    float4 me = body[i];
    float3 f = make_float3(0, 0, 0);

    for (int t = 0; t < n; t += 64) {
        near_by[threadIdx.x] = body[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            float dx = near_by[k].x - me.x, dy = near_by[k].y - me.y, dz = near_by[k].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = near_by[k].w * r * r * r;

            f.x += dx * s;
            f.y += dy * s;
            f.z += dz * s;
        }
        __syncthreads();
    }
    force[i] = make_float4(f.x, f.y, f.z, 0);
}

extern "C" __global__ void k_means(int n, int clusters, const float2 *point, const float2 *center,
                                   int *nearest, int *sizes)
{
    int i = GLOBAL_INDEX, best = 0;
    float least = 3.4e38f;

    if (i >= n)
        return;
    for (int c = 0; c < clusters; c++) {
        float dx = point[i].x - center[c].x, dy = point[i].y - center[c].y, d = dx * dx + dy * dy;

        if (d < least) {
            least = d;
            best = c;
        }
    }
    nearest[i] = best;
    atomicAdd(&sizes[best], 1);
}

extern "C" __global__ void softmax(int columns, const float *in, float *out)
{
    volatile __shared__ float part[4]; // clang 14 moves loads of a plain one across __syncthreads()
    const float *row = in + (size_t)blockIdx.x * columns;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float most = -3.4e38f, sum = 0;

    for (int j = threadIdx.x; j < columns; j += blockDim.x)
        most = fmaxf(most, row[j]);
    for (int k = 16; k > 0; k /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, k));
    if (lane == 0)
        part[warp] = most;
    __syncthreads();
    most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x)
        sum += expf(row[j] - most);
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, k);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    sum = part[0] + part[1] + part[2] + part[3];
    for (int j = threadIdx.x; j < columns; j += blockDim.x)
        out[(size_t)blockIdx.x * columns + j] = expf(row[j] - most) / sum;
}

extern "C" __global__ void layer_norm(int columns, const float *in, const float *gain,
                                      const float *bias, float *out)
{
    const float *row = in + (size_t)blockIdx.x * columns;
    int lane = threadIdx.x;
    float sum = 0, square = 0, mean, scale;

    for (int j = lane; j < columns; j += 32)
        sum += row[j];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, k);
    mean = sum / (float)columns;
    for (int j = lane; j < columns; j += 32)
        square += (row[j] - mean) * (row[j] - mean);
    for (int k = 16; k > 0; k /= 2)
        square += __shfl_xor_sync(0xffffffff, square, k);
    scale = rsqrtf(square / (float)columns + 1e-5f);
    for (int j = lane; j < columns; j += 32)
        out[(size_t)blockIdx.x * columns + j] = (row[j] - mean) * scale * gain[j] + bias[j];
}

extern "C" __global__ void gelu(int n, const float *in, float *out)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        out[i] = 0.5f * in[i] *
                 (1.0f + tanhf(0.7978845608f * (in[i] + 0.044715f * in[i] * in[i] * in[i])));
}

extern "C" __global__ void adam(int n, float *param, const float *grad, float *m, float *v,
                                float rate, float step)
{
    int i = GLOBAL_INDEX;
    float g, mean, variance;

    if (i >= n)
        return;
    g = grad[i];
    mean = m[i] = 0.9f * m[i] + 0.1f * g;
    variance = v[i] = 0.999f * v[i] + 0.001f * g * g;
    mean /= 1.0f - powf(0.9f, step);
    variance /= 1.0f - powf(0.999f, step);
    param[i] -= rate * (mean / (sqrtf(variance) + 1e-8f) + 0.01f * param[i]);
}
