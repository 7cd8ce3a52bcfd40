/* SPDX-License-Identifier: BSD-3-Clause
 * A plugin that is not linked with cuBLAS and finds it by name. */
#include "gemm.h"

#include <dlfcn.h>

int plugin_main(void);

__attribute__((visibility("default"))) int plugin_main(void)
{
    void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
    struct ways_blas blas;
    if (library == NULL)
        return 5;
    *(void **)&blas.create = dlsym(library, "cublasCreate_v2");
    *(void **)&blas.destroy = dlsym(library, "cublasDestroy_v2");
    *(void **)&blas.sgemm = dlsym(library, "cublasSgemm_v2");
    *(void **)&blas.set_stream = dlsym(library, "cublasSetStream_v2");
    return ways_gemm(&blas);
}
