// SPDX-License-Identifier: BSD-3-Clause
// Chunks of pinned memory go through four streams (upload, scale, sum, download) over two sets of
// device buffers, ordered by events alone. "pipeline NAME" leaves one kind of event out (uploaded,
// scaled, summed, or reuse: a buffer is written to again only when it was read): then the result is
// wrong wherever the streams drift apart. Exit status: 0 right, 1 wrong, 2 a call failed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr int CHUNKS = 12, N = 256, THREADS = 64, SETS = 2;

#define CUDA(_call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (_call);                                                              \
        if (error_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #_call,                    \
                         cudaGetErrorString(error_));                                              \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

enum Step { UPLOADED, SCALED, SUMMED, REUSE, STEPS };
static const char *const step_names[STEPS] = {"uploaded", "scaled", "summed", "reuse"};

__global__ void scale(const float *in, float *out, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = factor * in[i] + 1;
}

// One sum a block.
__global__ void sum_up(const float *in, float *sums)
{
    __shared__ float part[THREADS];
    part[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

// Device buffers of one chunk in flight, and what has to have happened to them.
struct Set {
    float *in, *scaled, *sums;
    cudaEvent_t uploaded, in_free, is_scaled, scaled_free, summed, sums_free;
};

int main(int argc, char **argv)
{
    int left_out = STEPS;
    for (int i = 0; argc == 2 && i < STEPS; i++)
        if (std::strcmp(argv[1], step_names[i]) == 0)
            left_out = i;
    if (argc > 2 || (argc == 2 && left_out == STEPS)) {
        std::fprintf(stderr, "usage: pipeline [uploaded|scaled|summed|reuse]\n");
        return 2;
    }
    constexpr int BLOCKS = N / THREADS;
    float *input, *output;
    CUDA(cudaMallocHost(&input, sizeof(float) * CHUNKS * N));
    CUDA(cudaMallocHost(&output, sizeof(float) * CHUNKS * BLOCKS));
    for (int i = 0; i < CHUNKS * N; i++)
        input[i] = (float)((i * 37) % 101) / 64; // all sums are exact
    cudaStream_t up, work, reduce, down;
    for (cudaStream_t *stream : {&up, &work, &reduce, &down})
        CUDA(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    Set sets[SETS];
    for (Set &set : sets) {
        CUDA(cudaMalloc(&set.in, sizeof(float) * N));
        CUDA(cudaMalloc(&set.scaled, sizeof(float) * N));
        CUDA(cudaMalloc(&set.sums, sizeof(float) * BLOCKS));
        for (cudaEvent_t *event : {&set.uploaded, &set.in_free, &set.is_scaled, &set.scaled_free,
                                   &set.summed, &set.sums_free})
            CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    }
    // An event that was never recorded holds nobody up: the first chunks start at once.
    auto wait = [=](Step step, cudaStream_t stream, cudaEvent_t event) {
        if (step != left_out)
            CUDA(cudaStreamWaitEvent(stream, event, 0));
    };
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        Set &set = sets[chunk % SETS];
        wait(REUSE, up, set.in_free);
        CUDA(cudaMemcpyAsync(set.in, input + chunk * N, sizeof(float) * N, cudaMemcpyHostToDevice,
                             up));
        CUDA(cudaEventRecord(set.uploaded, up));

        wait(UPLOADED, work, set.uploaded);
        wait(REUSE, work, set.scaled_free);
        scale<<<BLOCKS, THREADS, 0, work>>>(set.in, set.scaled, (float)(chunk + 1));
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(set.in_free, work));
        CUDA(cudaEventRecord(set.is_scaled, work));

        wait(SCALED, reduce, set.is_scaled);
        wait(REUSE, reduce, set.sums_free);
        sum_up<<<BLOCKS, THREADS, 0, reduce>>>(set.scaled, set.sums);
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(set.scaled_free, reduce));
        CUDA(cudaEventRecord(set.summed, reduce));

        wait(SUMMED, down, set.summed);
        CUDA(cudaMemcpyAsync(output + chunk * BLOCKS, set.sums, sizeof(float) * BLOCKS,
                             cudaMemcpyDeviceToHost, down));
        CUDA(cudaEventRecord(set.sums_free, down));
    }
    CUDA(cudaDeviceSynchronize());

    int wrong = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        for (int block = 0; block < BLOCKS; block++) {
            double want = 0;
            for (int i = 0; i < THREADS; i++)
                want += (chunk + 1.0) * input[chunk * N + block * THREADS + i] + 1;
            wrong += output[chunk * BLOCKS + block] != want;
        }
    }
    std::printf("pipeline: %d of %d sums are wrong\n", wrong, CHUNKS * BLOCKS);
    return wrong != 0;
}
