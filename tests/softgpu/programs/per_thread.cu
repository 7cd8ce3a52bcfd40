// SPDX-License-Identifier: BSD-3-Clause
// Two host threads that never name a stream: built with --default-stream per-thread, each has its
// own. A thread waits for its own work only, and its cuBLAS handle works on its stream.
#include "common.h"

#include <thread>

__global__ void axpb(float *x, int n, float a, float b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = a * x[i] + b;
}

static void work(unsigned number)
{
    const int n = 48, rounds = 4;
    const float one = 1, zero = 0;
    std::vector<float> a = random_values(n * n, 100 + number),
                       x = random_values(n * n, 200 + number);
    float *d_a = to_device(a), *d_x = to_device(x), *d_y;
    CUDA(cudaMalloc(&d_y, sizeof(float) * n * n));
    cublasHandle_t blas;
    BLAS(cublasCreate(&blas));
    BLAS(cublasSetStream(blas, cudaStreamPerThread));
    std::vector<double> want(x.begin(), x.end());
    for (int round = 0; round < rounds; round++) {
        const float b = 0.25f * (float)(number + 1);
        axpb<<<(n * n + 255) / 256, 256>>>(d_x, n * n, 0.5f, b);
        BLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, d_a, n, d_x, n, &zero, d_y,
                         n));
        CUDA(cudaMemcpyAsync(d_x, d_y, sizeof(float) * n * n, cudaMemcpyDeviceToDevice));
        std::vector<double> next(n * n, 0.0);
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                for (int i = 0; i < n; i++)
                    next[i + j * n] += a[i + l * n] * (0.5 * want[l + j * n] + b);
        want = next;
    }
    CUDA(cudaStreamSynchronize(0)); // this thread's stream
    std::vector<float> got = to_host(d_x, (size_t)n * n);
    double worst = 0, largest = 0;
    for (int i = 0; i < n * n; i++) {
        worst = std::fmax(worst, std::fabs(got[i] - want[i]));
        largest = std::fmax(largest, std::fabs(want[i]));
    }
    require(worst < 1e-5 * largest, "a thread's result");
    BLAS(cublasDestroy(blas));
    CUDA(cudaFree(d_a));
    CUDA(cudaFree(d_x));
    CUDA(cudaFree(d_y));
}

int main()
{
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
    std::printf("per_thread: two threads are right\n");
    return 0;
}
