/* SPDX-License-Identifier: BSD-3-Clause
 * A program without libcudart that reaches the driver as a statically linked one does: libcuda.so.1
 * opened at run time, cuGetProcAddress by dlsym, all else by cuGetProcAddress, itself included.
 * Launches one kernel and multiplies two matrices with cuBLAS. */
#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 40, VERSION = 12000 };

typedef CUresult (*get_address)(const char *, void **, int, cuuint64_t,
                                CUdriverProcAddressQueryResult *);

static get_address get;

static void *driver(const char *name)
{
    CUdriverProcAddressQueryResult result;
    void *function = NULL;
    if (get(name, &function, VERSION, 0, &result) != CUDA_SUCCESS || function == NULL) {
        fprintf(stderr, "cuGetProcAddress finds no %s\n", name);
        exit(5);
    }
    return function;
}

static const char *const text = ".version 6.4\n.target sm_75\n.address_size 64\n"
                                ".visible .entry nothing()\n{\nret;\n}\n";

#define DRIVER(_result, _name, ...)                                                                \
    _result (*_name)(__VA_ARGS__);                                                                 \
    *(void **)&_name = driver(#_name)

int main(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return 5;
    *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    if (get == NULL)
        return 5;
    *(void **)&get = driver("cuGetProcAddress");
    DRIVER(CUresult, cuInit, unsigned);
    DRIVER(CUresult, cuDevicePrimaryCtxRetain, CUcontext *, CUdevice);
    DRIVER(CUresult, cuCtxSetCurrent, CUcontext);
    DRIVER(CUresult, cuMemAlloc, CUdeviceptr *, size_t);
    DRIVER(CUresult, cuMemcpyHtoD, CUdeviceptr, const void *, size_t);
    DRIVER(CUresult, cuMemcpyDtoH, void *, CUdeviceptr, size_t);
    DRIVER(CUresult, cuModuleLoadData, CUmodule *, const void *);
    DRIVER(CUresult, cuModuleGetFunction, CUfunction *, CUmodule, const char *);
    DRIVER(CUresult, cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
           unsigned, unsigned, CUstream, void **, void **);
    CUcontext context;
    CUmodule module;
    CUfunction nothing;
    CUdeviceptr a, b, c;
    cublasHandle_t handle;
    const float one = 1, zero = 0;
    static float ha[N * N], hb[N * N], hc[N * N];
    srand((unsigned)time(NULL));
    for (int i = 0; i < N * N; i++) {
        ha[i] = (float)rand() / (float)RAND_MAX - 0.5f;
        hb[i] = (float)rand() / (float)RAND_MAX - 0.5f;
        hc[i] = NAN;
    }
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS ||
        cuModuleLoadData(&module, text) != CUDA_SUCCESS ||
        cuModuleGetFunction(&nothing, module, "nothing") != CUDA_SUCCESS ||
        cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUDA_SUCCESS)
        return 1;
    if (cuMemAlloc(&a, sizeof ha) != CUDA_SUCCESS || cuMemAlloc(&b, sizeof hb) != CUDA_SUCCESS ||
        cuMemAlloc(&c, sizeof hc) != CUDA_SUCCESS ||
        cuMemcpyHtoD(a, ha, sizeof ha) != CUDA_SUCCESS ||
        cuMemcpyHtoD(b, hb, sizeof hb) != CUDA_SUCCESS ||
        cuMemcpyHtoD(c, hc, sizeof hc) != CUDA_SUCCESS)
        return 2;
    if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS ||
        cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, (float *)a, N, (float *)b,
                       N, &zero, (float *)c, N) != CUBLAS_STATUS_SUCCESS ||
        cuMemcpyDtoH(hc, c, sizeof hc) != CUDA_SUCCESS ||
        cublasDestroy_v2(handle) != CUBLAS_STATUS_SUCCESS)
        return 3;
    for (int i = 0; i < N * N; i++) {
        double sum = 0;
        for (int k = 0; k < N; k++)
            sum += (double)ha[i % N + k * N] * (double)hb[k + i / N * N];
        if (!(fabs(sum - (double)hc[i]) < 0.01)) {
            fprintf(stderr, "element %d is %g, expected %g\n", i, (double)hc[i], sum);
            return 4;
        }
    }
    return 0;
}
