/* SPDX-License-Identifier: BSD-3-Clause
 * The driver's functions for programs that ask the runtime for them. Compiled twice (see cudart.h):
 * the form for the per-thread default stream is the default in programs built for it. */
#include "cudart.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
enum { DEFAULT_FORM = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM };
#else
enum { DEFAULT_FORM = CU_GET_PROC_ADDRESS_DEFAULT };
#endif

API cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                                 unsigned version, unsigned long long flags,
                                                 enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    cudaError_t error = driver_init();
    if (error == cudaSuccess && (symbol == NULL || function == NULL))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return record(error);
    *function = NULL;
    CUresult result = driver_find(symbol, function, (int)version,
                                  flags == cudaEnableDefault ? DEFAULT_FORM : flags, &found);
    if (status != NULL)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    /* A caller who takes the status is told there what is missing. */
    if (status != NULL && result == CUDA_ERROR_NOT_FOUND)
        result = CUDA_SUCCESS;
    return record(error_of(result));
}

API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                        unsigned long long flags,
                                        enum cudaDriverEntryPointQueryResult *status)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
