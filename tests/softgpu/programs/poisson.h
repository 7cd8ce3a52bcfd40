// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation on a square grid by five points, as a sparse matrix by rows: the problem that
// the programs with conjugate gradients solve. Owns its device memory until the program ends.
#ifndef SOFTGPU_PROGRAMS_POISSON_H
#define SOFTGPU_PROGRAMS_POISSON_H

#include "common.h"

constexpr int SIDE = 20, N = SIDE * SIDE;

struct Poisson {
    std::vector<int> starts, columns; // row i has entries starts[i] to starts[i + 1] - 1
    std::vector<float> entries, b;
    int *d_starts, *d_columns;
    float *d_entries;

    Poisson()
    {
        starts.push_back(0);
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                add(x, y - 1, -1);
                add(x - 1, y, -1);
                add(x, y, 4);
                add(x + 1, y, -1);
                add(x, y + 1, -1);
                starts.push_back((int)columns.size());
            }
        }
        b = random_values(N, 7);
        d_starts = to_device(starts);
        d_columns = to_device(columns);
        d_entries = to_device(entries);
    }

    // The norm of b - A x over the norm of b, in double.
    double residual(const std::vector<float> &x) const
    {
        double r2 = 0, b2 = 0;
        for (int i = 0; i < N; i++) {
            double r = b[i];
            for (int e = starts[i]; e < starts[i + 1]; e++)
                r -= (double)entries[e] * x[columns[e]];
            r2 += r * r;
            b2 += (double)b[i] * b[i];
        }
        return std::sqrt(r2 / b2);
    }

  private:
    void add(int x, int y, float value)
    {
        if (x >= 0 && x < SIDE && y >= 0 && y < SIDE) {
            columns.push_back(y * SIDE + x);
            entries.push_back(value);
        }
    }
};

// y = A x, one warp a row.
__global__ void multiply(const int *starts, const int *columns, const float *entries,
                         const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= N)
        return;
    float sum = 0;
    for (int e = starts[row] + lane; e < starts[row + 1]; e += 32)
        sum += entries[e] * x[columns[e]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}

static inline void multiply_on(const Poisson &p, const float *x, float *y, cudaStream_t stream)
{
    constexpr int ROWS = 4;
    multiply<<<(N + ROWS - 1) / ROWS, 32 * ROWS, 0, stream>>>(p.d_starts, p.d_columns, p.d_entries,
                                                              x, y);
    CUDA(cudaGetLastError());
}

#endif
