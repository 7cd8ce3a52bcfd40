/* SPDX-License-Identifier: BSD-3-Clause
 * One GEMM by a cuBLAS that calls itself (nested_cublas.c). */
#include <cublas_v2.h>

int main(void)
{
    static float matrix[64];
    const float one = 1;
    cublasHandle_t handle;
    return cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS ||
           cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, matrix, 8, matrix, 8,
                          &one, matrix, 8) != CUBLAS_STATUS_SUCCESS ||
           cublasDestroy_v2(handle) != CUBLAS_STATUS_SUCCESS;
}
