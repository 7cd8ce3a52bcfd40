/* SPDX-License-Identifier: BSD-3-Clause
 * Attributes of streams, which are hints here but for the priority, and small questions about
 * streams: device, context. Also the first forms of the capture calls. */
#include "tests/softgpu/driver/stream.h"

#include <string.h>

static CUresult resolve(CUstream handle, bool per_thread, CUstream *stream)
{
    pthread_mutex_lock(&driver_lock);
    CUresult r = stream_resolve(handle, per_thread, stream);
    pthread_mutex_unlock(&driver_lock);
    return r;
}

static bool is_attribute(CUstreamAttrID id)
{
    return id == CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
           id == CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY || id == CU_STREAM_ATTRIBUTE_PRIORITY ||
           id == CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
           id == CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

static CUresult get(CUstream handle, bool per_thread, CUstreamAttrID id, CUstreamAttrValue *value)
{
    CUstream stream;
    CUresult r = resolve(handle, per_thread, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (value == NULL || !is_attribute(id))
        return CUDA_ERROR_INVALID_VALUE;
    *value = stream->attributes[id];
    if (id == CU_STREAM_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    return CUDA_SUCCESS;
}

static CUresult set(CUstream handle, bool per_thread, CUstreamAttrID id,
                    const CUstreamAttrValue *value)
{
    CUstream stream;
    CUresult r = resolve(handle, per_thread, &stream);
    if (r != CUDA_SUCCESS)
        return r;
    if (value == NULL || !is_attribute(id))
        return CUDA_ERROR_INVALID_VALUE;
    stream->attributes[id] = *value;
    if (id == CU_STREAM_ATTRIBUTE_PRIORITY)
        stream->priority = value->priority;
    return CUDA_SUCCESS;
}

static CUresult copy(CUstream to_handle, CUstream from_handle, bool per_thread)
{
    CUstream to, from;
    CUresult r = resolve(to_handle, per_thread, &to);
    if (r == CUDA_SUCCESS)
        r = resolve(from_handle, per_thread, &from);
    if (r == CUDA_SUCCESS && to != from) {
        memcpy(to->attributes, from->attributes, sizeof to->attributes);
        to->priority = from->priority;
    }
    return r;
}

static CUresult device_of(CUstream handle, bool per_thread, CUdevice *device)
{
    CUstream stream;
    CUresult r = device != NULL ? resolve(handle, per_thread, &stream) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *device = stream->context->device->ordinal;
    return r;
}

static CUresult context_of(CUstream handle, bool per_thread, CUcontext *context, CUgreenCtx *green)
{
    CUstream stream;
    CUresult r = context != NULL ? resolve(handle, per_thread, &stream) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *context = stream->context;
    if (r == CUDA_SUCCESS && green != NULL)
        *green = NULL;
    return r;
}

/* Managed memory is plain memory here: to attach it changes nothing. */
static CUresult attach(CUstream handle, bool per_thread)
{
    CUstream stream;
    return resolve(handle, per_thread, &stream);
}

/* Each call exists for the legacy default stream and for the per-thread one. */
#define BOTH(_name, _parameters, _legacy_call, _per_thread_call)                                   \
    API CUresult _name _parameters;                                                                \
    API CUresult _name _parameters                                                                 \
    {                                                                                              \
        ENTER(#_name);                                                                             \
        return _legacy_call;                                                                       \
    }                                                                                              \
    API CUresult _name##_ptsz _parameters;                                                         \
    API CUresult _name##_ptsz _parameters                                                          \
    {                                                                                              \
        ENTER(#_name "_ptsz");                                                                     \
        return _per_thread_call;                                                                   \
    }

BOTH(cuStreamGetAttribute, (CUstream s, CUstreamAttrID id, CUstreamAttrValue *value),
     get(s, false, id, value), get(s, true, id, value))
BOTH(cuStreamSetAttribute, (CUstream s, CUstreamAttrID id, const CUstreamAttrValue *value),
     set(s, false, id, value), set(s, true, id, value))
BOTH(cuStreamCopyAttributes, (CUstream to, CUstream from), copy(to, from, false),
     copy(to, from, true))
BOTH(cuStreamGetDevice, (CUstream s, CUdevice *device), device_of(s, false, device),
     device_of(s, true, device))
BOTH(cuStreamGetCtx_v2, (CUstream s, CUcontext *context, CUgreenCtx *green),
     context_of(s, false, context, green), context_of(s, true, context, green))
BOTH(cuStreamAttachMemAsync, (CUstream s, CUdeviceptr p, size_t bytes, unsigned flags),
     attach(s, false), attach(s, true))
BOTH(cuStreamBeginCapture, (CUstream s), cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL),
     cuStreamBeginCapture_v2(s == NULL ? CU_STREAM_PER_THREAD : s, CU_STREAM_CAPTURE_MODE_GLOBAL))
BOTH(cuStreamGetCaptureInfo, (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id),
     cuStreamGetCaptureInfo_v2(s, status, id, NULL, NULL, NULL),
     cuStreamGetCaptureInfo_v2(s == NULL ? CU_STREAM_PER_THREAD : s, status, id, NULL, NULL, NULL))
