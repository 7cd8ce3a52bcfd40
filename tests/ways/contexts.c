/* SPDX-License-Identifier: BSD-3-Clause
 * Contexts that end under the shim's records: a device that is reset, a context that is destroyed
 * and one that is released, with GEMMs before and after by new handles. All must be converted, in
 * every round. */
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, ROUNDS = 4 };

#define CHECK(_call)                                                                               \
    do {                                                                                           \
        if ((int)(_call) != 0) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_call);                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void gemm(void)
{
    const float one = 1, zero = 0;
    cublasHandle_t handle;
    float *a;
    CHECK(cublasCreate_v2(&handle));
    CHECK(cudaMalloc((void **)&a, 2 * sizeof(float) * N * N));
    CHECK(cudaMemset(a, 0, 2 * sizeof(float) * N * N));
    CHECK(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, a, N, &zero,
                         a + N * N, N));
    CHECK(cudaDeviceSynchronize());
    CHECK(cublasDestroy_v2(handle));
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    for (int i = 0; i < ROUNDS; i++) {
        gemm();
        CHECK(cudaDeviceReset());
        CHECK(cuDevicePrimaryCtxRetain(&context, device));
        CHECK(cuCtxPushCurrent(context));
        gemm();
        CHECK(cuCtxPopCurrent(&context));
        CHECK(cuDevicePrimaryCtxRelease(device));
#if CUDA_VERSION >= 13000
        CHECK(cuCtxCreate(&context, NULL, 0, device));
#else
        CHECK(cuCtxCreate(&context, 0, device));
#endif
        gemm();
        CHECK(cuCtxDestroy(context));
        CHECK(cudaDeviceReset());
    }
    printf("seen=%d converted=%d\n", 3 * ROUNDS, 3 * ROUNDS);
    return 0;
}
