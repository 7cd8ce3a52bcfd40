/* SPDX-License-Identifier: BSD-3-Clause
 * Libraries of kernels that a program loads itself. Handles are the driver's. Owns no state. */
#include "cudart.h"

API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                    enum cudaJitOption *jit_options, void **jit_values,
                                    unsigned jit_n, enum cudaLibraryOption *options, void **values,
                                    unsigned n)
{
    FORWARD(cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)jit_options, jit_values,
                              jit_n, (CUlibraryOption *)options, values, n));
}

API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *file,
                                        enum cudaJitOption *jit_options, void **jit_values,
                                        unsigned jit_n, enum cudaLibraryOption *options,
                                        void **values, unsigned n)
{
    FORWARD(cuLibraryLoadFromFile((CUlibrary *)library, file, (CUjit_option *)jit_options,
                                  jit_values, jit_n, (CUlibraryOption *)options, values, n));
}

API cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    FORWARD(cuLibraryUnload((CUlibrary)library));
}

API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    cudaError_t error = kernel != NULL ? enter() : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = error_of(
            driver_of(false)->cuLibraryGetKernel((CUkernel *)kernel, (CUlibrary)library, name));
    if (error == cudaSuccess)
        kernel_note((CUkernel)*kernel);
    return record(error);
}

API cudaError_t cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t library)
{
    FORWARD(cuLibraryGetKernelCount(n, (CUlibrary)library));
}

API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned n,
                                            cudaLibrary_t library)
{
    unsigned count = 0;
    const struct driver *driver = driver_of(false);
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error =
            error_of(driver->cuLibraryEnumerateKernels((CUkernel *)kernels, n, (CUlibrary)library));
    if (error == cudaSuccess)
        error = error_of(driver->cuLibraryGetKernelCount(&count, (CUlibrary)library));
    for (unsigned i = 0; error == cudaSuccess && i < n && i < count; i++)
        kernel_note((CUkernel)kernels[i]);
    return record(error);
}

API cudaError_t cudaLibraryGetGlobal(void **p, size_t *bytes, cudaLibrary_t library,
                                     const char *name)
{
    FORWARD(cuLibraryGetGlobal((CUdeviceptr *)p, bytes, (CUlibrary)library, name));
}

API cudaError_t cudaLibraryGetManaged(void **p, size_t *bytes, cudaLibrary_t library,
                                      const char *name)
{
    FORWARD(cuLibraryGetManaged((CUdeviceptr *)p, bytes, (CUlibrary)library, name));
}

API cudaError_t cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library,
                                              const char *name)
{
    FORWARD(cuLibraryGetUnifiedFunction(function, (CUlibrary)library, name));
}
