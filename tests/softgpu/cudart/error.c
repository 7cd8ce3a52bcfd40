/* SPDX-License-Identifier: BSD-3-Clause
 * Errors: from the driver's numbers to the runtime's, names and texts, and each thread's last
 * error. */
#include "cudart.h"

#include <stdio.h>

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define ERROR(_name, _text) {_name, #_name, _text},
#include "error.def"
#undef ERROR
};
enum { ERRORS = sizeof errors / sizeof errors[0] };

static _Thread_local cudaError_t last;

static int find(cudaError_t error)
{
    for (int i = 0; i < ERRORS; i++)
        if (errors[i].error == error)
            return i;
    return -1;
}

cudaError_t error_of(CUresult result)
{
    /* Equal numbers, but for one name that the runtime lacks. */
    if (result == CUDA_SUCCESS)
        return cudaSuccess;
    return find((cudaError_t)result) < 0 ? cudaErrorUnknown : (cudaError_t)result;
}

/* Errors that leave the context unusable: cudaGetLastError doesn't clear them. */
static bool sticky(cudaError_t error)
{
    switch ((int)error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
        return true;
    default:
        return false;
    }
}

cudaError_t record(cudaError_t error)
{
    if (error != cudaSuccess && !sticky(last))
        last = error;
    return error;
}

void error_forget(void)
{
    last = cudaSuccess;
}

API cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;
    if (!sticky(last))
        last = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

API const char *cudaGetErrorName(cudaError_t error)
{
    int i = find(error);
    return i < 0 ? "unrecognized error code" : errors[i].name;
}

API const char *cudaGetErrorString(cudaError_t error)
{
    int i = find(error);
    return i < 0 ? "unrecognized error code" : errors[i].text;
}

int cudart_missing(const char *name, int *said);
int cudart_missing(const char *name, int *said)
{
    if (__atomic_exchange_n(said, 1, __ATOMIC_RELAXED) == 0)
        fprintf(stderr, "softgpu: cudart: %s is not implemented\n", name);
    return (int)record(cudaErrorNotSupported);
}
