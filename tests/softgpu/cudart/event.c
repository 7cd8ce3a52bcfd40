/* SPDX-License-Identifier: BSD-3-Clause
 * Events, and streams as objects. Their handles are the driver's. Owns no state. */
#include "cudart.h"

#include <string.h>

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    FORWARD(cuEventCreate(event, flags));
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    FORWARD(cuEventDestroy(event));
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    FORWARD(cuEventQuery(event));
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    FORWARD(cuEventSynchronize(event));
}

API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    FORWARD(cuEventElapsedTime(ms, start, end));
}

API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    FORWARD(cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
}

API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle copy;
    memcpy(&copy, &handle, sizeof copy);
    FORWARD(cuIpcOpenEventHandle(event, copy));
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    FORWARD(cuStreamCreate(stream, flags));
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    FORWARD(cuStreamCreateWithPriority(stream, flags, priority));
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    FORWARD(cuStreamDestroy(stream));
}

API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    FORWARD_BARE(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}
