// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the character model. Activations are row-major, one row for each character.
// Kernels that work by rows give a warp to each row: blocks are 32 threads wide, ROWS high.
// Nothing is added by atomics, so that a run can be repeated bit for bit.
#ifndef CHARLM_KERNELS_CUH
#define CHARLM_KERNELS_CUH

#include <cuda_runtime.h>

enum { WARP = 32, ROWS = 8, COLUMN_ROWS = 32, FLAT = 256 };

static __device__ float warp_sum(float x)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

static __device__ float warp_max(float x)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
    return x;
}

static __device__ int row_of_warp(void)
{
    return blockIdx.x * ROWS + threadIdx.y;
}

// out = token embedding + position embedding
__global__ void embed_forward(float *out, const int *tokens, const float *token_table,
                              const float *position_table, int rows, int length, int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    const float *token = token_table + (long)tokens[row] * width;
    const float *position = position_table + (long)(row % length) * width;
    for (int c = threadIdx.x; c < width; c += WARP)
        out[(long)row * width + c] = token[c] + position[c];
}

// A block for each character of the vocabulary: `order` lists the rows in which it occurs, from
// first[character] to first[character + 1].
__global__ void embed_backward_tokens(float *table_grad, const float *grad, const int *first,
                                      const int *order, int width)
{
    int character = blockIdx.x;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float sum = 0;
        for (int i = first[character]; i < first[character + 1]; i++)
            sum += grad[(long)order[i] * width + c];
        table_grad[(long)character * width + c] += sum;
    }
}

// A block for each position.
__global__ void embed_backward_positions(float *table_grad, const float *grad, int batch,
                                         int length, int width)
{
    int position = blockIdx.x;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float sum = 0;
        for (int b = 0; b < batch; b++)
            sum += grad[((long)b * length + position) * width + c];
        table_grad[(long)position * width + c] += sum;
    }
}

// Keeps mean and 1 / standard deviation of each row for the way back.
__global__ void layernorm_forward(float *out, float *means, float *scales, const float *in,
                                  const float *gain, const float *shift, int rows, int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    const float *x = in + (long)row * width;
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < width; c += WARP)
        sum += x[c];
    float mean = warp_sum(sum) / width;
    for (int c = threadIdx.x; c < width; c += WARP)
        squares += (x[c] - mean) * (x[c] - mean);
    float scale = rsqrtf(warp_sum(squares) / width + 1e-5f);
    for (int c = threadIdx.x; c < width; c += WARP)
        out[(long)row * width + c] = (x[c] - mean) * scale * gain[c] + shift[c];
    if (threadIdx.x == 0) {
        means[row] = mean;
        scales[row] = scale;
    }
}

// Adds to in_grad, which already holds what flows past the layer norm.
__global__ void layernorm_backward(float *in_grad, const float *out_grad, const float *in,
                                   const float *means, const float *scales, const float *gain,
                                   int rows, int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    const float *x = in + (long)row * width, *dy = out_grad + (long)row * width;
    float *dx = in_grad + (long)row * width;
    float mean = means[row], scale = scales[row], sum = 0, projection = 0;
    for (int c = threadIdx.x; c < width; c += WARP) {
        float d = dy[c] * gain[c];
        sum += d;
        projection += d * (x[c] - mean) * scale;
    }
    sum = warp_sum(sum) / width;
    projection = warp_sum(projection) / width;
    for (int c = threadIdx.x; c < width; c += WARP)
        dx[c] += scale * (dy[c] * gain[c] - sum - (x[c] - mean) * scale * projection);
}

// Sum over the 32 x COLUMN_ROWS threads of a block along y; the result is valid where y is 0.
static __device__ float column_sum(float x)
{
    __shared__ float part[COLUMN_ROWS][WARP];
    part[threadIdx.y][threadIdx.x] = x;
    __syncthreads();
    for (int height = COLUMN_ROWS / 2; height > 0; height /= 2) {
        if (threadIdx.y < height)
            part[threadIdx.y][threadIdx.x] += part[threadIdx.y + height][threadIdx.x];
        __syncthreads();
    }
    float sum = part[0][threadIdx.x];
    __syncthreads();
    return sum;
}

__global__ void layernorm_backward_weights(float *gain_grad, float *shift_grad,
                                           const float *out_grad, const float *in,
                                           const float *means, const float *scales, int rows,
                                           int width)
{
    int c = blockIdx.x * WARP + threadIdx.x;
    float gain = 0, shift = 0;
    if (c < width) {
        for (int row = threadIdx.y; row < rows; row += COLUMN_ROWS) {
            float d = out_grad[(long)row * width + c];
            gain += d * (in[(long)row * width + c] - means[row]) * scales[row];
            shift += d;
        }
    }
    gain = column_sum(gain);
    shift = column_sum(shift);
    if (threadIdx.y == 0 && c < width) {
        gain_grad[c] += gain;
        shift_grad[c] += shift;
    }
}

__global__ void add_bias(float *x, const float *bias, int rows, int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    for (int c = threadIdx.x; c < width; c += WARP)
        x[(long)row * width + c] += bias[c];
}

__global__ void bias_backward(float *bias_grad, const float *out_grad, int rows, int width)
{
    int c = blockIdx.x * WARP + threadIdx.x;
    float sum = 0;
    if (c < width)
        for (int row = threadIdx.y; row < rows; row += COLUMN_ROWS)
            sum += out_grad[(long)row * width + c];
    sum = column_sum(sum);
    if (threadIdx.y == 0 && c < width)
        bias_grad[c] += sum;
}

__global__ void residual_add(float *out, const float *a, const float *b, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}

// Where element c of a row lies once each sequence and head has a matrix of its own,
// length x (width / heads).
static __device__ long grouped(int row, int c, int length, int heads, int width)
{
    int head_width = width / heads, head = c / head_width;
    long matrix = (long)(row / length) * heads + head;
    return (matrix * length + row % length) * head_width + (c - head * head_width);
}

// Rows of (query, key, value), each `width` long, to one matrix for each sequence and head.
__global__ void split_heads(float *q, float *k, float *v, const float *joined, int rows, int length,
                            int heads, int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    const float *in = joined + (long)row * 3 * width;
    for (int c = threadIdx.x; c < width; c += WARP) {
        long to = grouped(row, c, length, heads, width);
        q[to] = in[c];
        k[to] = in[width + c];
        v[to] = in[2 * width + c];
    }
}

// The gradients of query, key and value back to rows.
__global__ void split_heads_backward(float *joined, const float *q, const float *k, const float *v,
                                     int rows, int length, int heads, int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    float *out = joined + (long)row * 3 * width;
    for (int c = threadIdx.x; c < width; c += WARP) {
        long from = grouped(row, c, length, heads, width);
        out[c] = q[from];
        out[width + c] = k[from];
        out[2 * width + c] = v[from];
    }
}

// The output of attention, a matrix for each head, to rows.
__global__ void join_heads(float *out, const float *heads_out, int rows, int length, int heads,
                           int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    for (int c = threadIdx.x; c < width; c += WARP)
        out[(long)row * width + c] = heads_out[grouped(row, c, length, heads, width)];
}

__global__ void join_heads_backward(float *heads_grad, const float *grad, int rows, int length,
                                    int heads, int width)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    for (int c = threadIdx.x; c < width; c += WARP)
        heads_grad[grouped(row, c, length, heads, width)] = grad[(long)row * width + c];
}

// In place, over the positions up to the row's own; later ones get 0.
__global__ void causal_softmax_forward(float *scores, int rows, int length)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    int last = row % length;
    float *p = scores + (long)row * length;
    float top = -INFINITY, sum = 0;
    for (int j = threadIdx.x; j <= last; j += WARP)
        top = fmaxf(top, p[j]);
    top = warp_max(top);
    for (int j = threadIdx.x; j <= last; j += WARP)
        sum += expf(p[j] - top);
    float scale = 1 / warp_sum(sum);
    for (int j = threadIdx.x; j < length; j += WARP)
        p[j] = j <= last ? expf(p[j] - top) * scale : 0;
}

// grad: in, the gradient of the probabilities; out, that of the scores.
__global__ void causal_softmax_backward(float *grad, const float *probabilities, int rows,
                                        int length)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    int last = row % length;
    const float *p = probabilities + (long)row * length;
    float *d = grad + (long)row * length, sum = 0;
    for (int j = threadIdx.x; j <= last; j += WARP)
        sum += p[j] * d[j];
    sum = warp_sum(sum);
    for (int j = threadIdx.x; j < length; j += WARP)
        d[j] = j <= last ? p[j] * (d[j] - sum) : 0;
}

// GELU in its tanh form: x * (1 + tanh(z)) / 2 with z = sqrt(2 / pi) * (x + 0.044715 x^3)
static __device__ float gelu_tanh(float x)
{
    return tanhf(0.79788456f * (x + 0.044715f * x * x * x));
}

__global__ void gelu_forward(float *out, const float *in, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + gelu_tanh(in[i]));
}

// grad: in, the gradient of the output; out, that of the input.
__global__ void gelu_backward(float *grad, const float *in, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], t = gelu_tanh(x);
    float slope = 0.79788456f * (1 + 3 * 0.044715f * x * x);
    grad[i] *= 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * slope;
}

// losses[row] = -log softmax(logits)[target]. Where gradient_scale is not 0 the logits become
// their gradients, times gradient_scale.
__global__ void cross_entropy(float *losses, float *logits, const int *targets,
                              float gradient_scale, int rows, int vocabulary)
{
    int row = row_of_warp();
    if (row >= rows)
        return;
    float *x = logits + (long)row * vocabulary;
    float top = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < vocabulary; c += WARP)
        top = fmaxf(top, x[c]);
    top = warp_max(top);
    for (int c = threadIdx.x; c < vocabulary; c += WARP)
        sum += expf(x[c] - top);
    sum = warp_sum(sum);
    int target = targets[row];
    if (threadIdx.x == 0)
        losses[row] = logf(sum) + top - x[target];
    __syncwarp();
    if (gradient_scale == 0)
        return;
    for (int c = threadIdx.x; c < vocabulary; c += WARP)
        x[c] = (expf(x[c] - top) / sum - (c == target)) * gradient_scale;
}

// One block.
__global__ void mean_loss(float *mean, const float *losses, int n)
{
    __shared__ float part[FLAT];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += FLAT)
        sum += losses[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = FLAT / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *mean = part[0] / n;
}

// b1_corr = 1 - b1^t, b2_corr = 1 - b2^t; the decay wd is decoupled from the moments.
static __device__ void adamw_element(float *params, const float *grads, float *m, float *v, long i,
                                     float lr, float b1, float b2, float b1_corr, float b2_corr,
                                     float eps, float wd)
{
    float g = grads[i];
    float first = b1 * m[i] + (1 - b1) * g;
    float second = b2 * v[i] + (1 - b2) * g * g;
    m[i] = first;
    v[i] = second;
    params[i] -= lr * (first / b1_corr / (sqrtf(second / b2_corr) + eps) + wd * params[i]);
}

__global__ void adamw(float *params, float *grads, float *m, float *v, long n, float lr, float b1,
                      float b2, float b1_corr, float b2_corr, float eps, float wd)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        adamw_element(params, grads, m, v, i, lr, b1, b2, b1_corr, b2_corr, eps, wd);
}

// The same in a graph, which cannot be told other numbers: lr, b1_corr and b2_corr are in memory.
__global__ void adamw_scheduled(float *params, float *grads, float *m, float *v, long n,
                                const float *schedule, float b1, float b2, float eps, float wd)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        adamw_element(params, grads, m, v, i, schedule[0], b1, b2, schedule[1], schedule[2], eps,
                      wd);
}

__global__ void multiply_by(float *x, float factor, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

#endif
