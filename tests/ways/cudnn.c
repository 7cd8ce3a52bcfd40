/* SPDX-License-Identifier: BSD-3-Clause
 * A program that convolves by cuDNN: linked with it, and through dlsym. Each call must arrive, and
 * come back, once. Launches of its own are counted, cuDNN's are not. Has a cuBLAS handle too, so
 * that there is a summary. */
#include "config.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

enum { CALLS = 5 };

typedef int (*function)(void *, const void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                        uintptr_t, const float *);

extern int cudnnConvolutionForward(void *, const void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                                   uintptr_t, uintptr_t, const float *);
extern int cudnnBackendExecute(void *, const void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                               uintptr_t, uintptr_t, const float *);

static int wrong(function f, int i)
{
    const float last = (float)(1000 * i);
    return f((void *)(uintptr_t)i, NULL, 1, 10, 100, 1000, 10000, 100000, &last) !=
           654321 + 1001 * i;
}

int main(void)
{
    cublasHandle_t handle;
    void *library = dlopen("libcudnn.so.9", RTLD_NOW);
    function found;
    if (library == NULL || cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
        return 2;
    *(void **)&found = dlsym(library, "cudnnConvolutionForward");
    for (int i = 0; i < CALLS; i++)
        if (wrong(cudnnConvolutionForward, i) || wrong(cudnnBackendExecute, i) || wrong(found, i)) {
            fprintf(stderr, "a call gives another result\n");
            return 1;
        }
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    *(void **)&launch = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");
    if (launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == 0)
        return 1;
    cublasDestroy_v2(handle);
    printf("cudnn=%d launches=1\n", 3 * CALLS);
    return 0;
}
