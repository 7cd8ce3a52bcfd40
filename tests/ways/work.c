/* SPDX-License-Identifier: BSD-3-Clause
 * Products of many kinds, whose floating-point operations the program adds up for itself: prints
 * what the summary must say of them. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 96, N = 64, K = 160, LD = 160, BATCH = 3 };

#define CHECK(_call)                                                                               \
    do {                                                                                           \
        if ((int)(_call) != 0) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_call);                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The header declares it for C++ alone. */
extern cublasStatus_t cublasHgemm(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const void *, const void *, int, const void *, int,
                                  const void *, void *, int);

static double converted, forwarded, level3;

static void lt(cublasHandle_t handle, cudaDataType type, void *a, void *c)
{
    const float one = 1, zero = 0;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, lc;
    CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK(cublasLtMatrixLayoutCreate(&la, type, M, K, LD));
    CHECK(cublasLtMatrixLayoutCreate(&lb, type, K, N, LD));
    CHECK(cublasLtMatrixLayoutCreate(&lc, type, M, N, LD));
    CHECK(cublasLtMatmul((cublasLtHandle_t)handle, desc, &one, a, la, a, lb, &zero, c, lc, c, lc,
                         NULL, NULL, 0, NULL));
    CHECK(cublasLtMatmulDescDestroy(desc));
    CHECK(cublasLtMatrixLayoutDestroy(la));
    CHECK(cublasLtMatrixLayoutDestroy(lb));
    CHECK(cublasLtMatrixLayoutDestroy(lc));
}

int main(void)
{
    const size_t bytes = 16 * (size_t)LD * LD * BATCH;
    const float one = 1, zero = 0;
    const double one_d = 1, zero_d = 0;
    const cuComplex one_c = {1, 0}, zero_c = {0, 0};
    const unsigned short one_h = 0x3c00, zero_h = 0;
    cublasHandle_t handle;
    void *a, *c;
    CHECK(cublasCreate_v2(&handle));
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&c, bytes));
    CHECK(cudaMemset(a, 0, bytes));
    CHECK(cudaMemset(c, 0, bytes));
    const double mnk = (double)M * N * K;

    CHECK(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, a, LD, a, LD, &zero, c,
                         LD));
    converted += 2 * mnk;
    CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, a, LD, LD * LD,
                                    a, LD, LD * LD, &zero, c, LD, LD * LD, BATCH));
    converted += 2 * mnk * BATCH;
    lt(handle, CUDA_R_32F, a, c);
    converted += 2 * mnk;
    lt(handle, CUDA_R_16F, a, c);
    forwarded += 2 * mnk;
    CHECK(cublasDgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one_d, a, LD, a, LD, &zero_d,
                         c, LD));
    forwarded += 2 * mnk;
    CHECK(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one_d, a, LD,
                                    LD * LD, a, LD, LD * LD, &zero_d, c, LD, LD * LD, BATCH));
    forwarded += 2 * mnk * BATCH;
    CHECK(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one_h, a, LD, a, LD, &zero_h, c,
                      LD));
    forwarded += 2 * mnk;
    CHECK(cublasCgemm_v2_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one_c, a, LD, a, LD,
                            &zero_c, c, LD));
    forwarded += 8 * mnk;
    CHECK(cublasSsyrk_v2(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, N, K, &one, a, LD, &zero, c,
                         LD));
    level3 += (double)N * N * K;
    CHECK(cublasSsymm_v2(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, M, N, &one, a, LD, a,
                         LD, &zero, c, LD));
    level3 += 2.0 * M * N * N;
    CHECK(cublasStrmm_v2(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                         CUBLAS_DIAG_UNIT, M, N, &one, a, LD, a, LD, c, LD));
    level3 += (double)M * M * N;
    CHECK(cudaDeviceSynchronize());
    CHECK(cublasDestroy_v2(handle));

    const double all = converted + forwarded + level3;
    printf("work seen: %.3g GFLOP (converted %.1f%%, forwarded %.1f%%, level3 %.1f%%); not GEMMs: "
           "level3=3\n",
           all / 1e9, 100 * converted / all, 100 * forwarded / all, 100 * level3 / all);
    return 0;
}
