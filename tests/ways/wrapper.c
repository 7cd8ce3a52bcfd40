/* SPDX-License-Identifier: BSD-3-Clause
 * A library with a cublasSgemm_v2 of its own. Preloaded, it is another interposer: it says so and
 * calls the next one; without a handle it answers with a status that cuBLAS would not. */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdio.h>

__attribute__((visibility("default"))) cublasStatus_t
cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
               int n, int k, const float *alpha, const float *A, int lda, const float *B, int ldb,
               const float *beta, float *C, int ldc)
{
    __typeof__(&cublasSgemm_v2) next;
    if (handle == NULL)
        return CUBLAS_STATUS_LICENSE_ERROR;
    *(void **)&next = dlsym(RTLD_NEXT, "cublasSgemm_v2");
    fprintf(stderr, "wrapper: cublasSgemm\n");
    return next(handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
