/* SPDX-License-Identifier: BSD-3-Clause
 * One GEMM of 48 x 40 x 56, on the device by cudart, checked on the host in double. */
#include "gemm.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { M = 48, N = 40, K = 56 };

int ways_gemm(const struct ways_blas *blas)
{
    const float alpha = 1, beta = 0;
    float *da, *db, *dc;
    cublasHandle_t handle;
    float ha[M * K], hb[K * N], hc[M * N];
    for (int i = 0; i < M * K; i++)
        ha[i] = (float)((i * 37) % 101 - 50) / 50;
    for (int i = 0; i < K * N; i++)
        hb[i] = (float)((i * 53) % 97 - 48) / 48;
    if (cudaMalloc((void **)&da, sizeof ha) != cudaSuccess ||
        cudaMalloc((void **)&db, sizeof hb) != cudaSuccess ||
        cudaMalloc((void **)&dc, sizeof hc) != cudaSuccess ||
        cudaMemcpy(da, ha, sizeof ha, cudaMemcpyHostToDevice) != cudaSuccess ||
        cudaMemcpy(db, hb, sizeof hb, cudaMemcpyHostToDevice) != cudaSuccess)
        return 1;
    if (blas->create(&handle) != CUBLAS_STATUS_SUCCESS ||
        blas->set_stream(handle, NULL) != CUBLAS_STATUS_SUCCESS)
        return 2;
    errno = 0;
    if (blas->sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, da, M, db, K, &beta, dc,
                    M) != CUBLAS_STATUS_SUCCESS)
        return 2;
    if (errno != 0) {
        fprintf(stderr, "cublasSgemm has set errno to %d\n", errno);
        return 5;
    }
    if (cudaMemcpy(hc, dc, sizeof hc, cudaMemcpyDeviceToHost) != cudaSuccess ||
        blas->destroy(handle) != CUBLAS_STATUS_SUCCESS)
        return 3;
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)ha[i + k * M] * (double)hb[k + j * K];
            if (!(fabs(sum - (double)hc[i + j * M]) < 0.02)) {
                fprintf(stderr, "C(%d,%d) is %g, expected %g\n", i, j, (double)hc[i + j * M], sum);
                return 4;
            }
        }
    return 0;
}
