/* SPDX-License-Identifier: BSD-3-Clause
 * Streams as far as the default one may be meant, capture, recording of events. Compiled twice (see
 * cudart.h). Owns no state: a stream's handle is the driver's. */
#include "cudart.h"

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    FORWARD(cuStreamSynchronize(stream));
}

API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    FORWARD(cuStreamQuery(stream));
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    FORWARD(cuStreamWaitEvent(stream, event, flags));
}

API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    FORWARD(cuStreamGetFlags(stream, flags));
}

API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    FORWARD(cuStreamGetPriority(stream, priority));
}

API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    FORWARD(cuStreamGetId(stream, id));
}

API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    FORWARD(cuStreamGetDevice(stream, device));
}

API cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    FORWARD(cuStreamCopyAttributes(dst, src));
}

API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                       cudaLaunchAttributeValue *value)
{
    FORWARD(cuStreamGetAttribute(stream, (CUstreamAttrID)attribute, (CUstreamAttrValue *)value));
}

API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                       const cudaLaunchAttributeValue *value)
{
    FORWARD(
        cuStreamSetAttribute(stream, (CUstreamAttrID)attribute, (const CUstreamAttrValue *)value));
}

API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes, unsigned flags)
{
    FORWARD(cuStreamAttachMemAsync(stream, (CUdeviceptr)p, bytes, flags));
}

/* The driver passes its own error type, whose numbers are the runtime's. */
API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                      void *data, unsigned flags)
{
    FORWARD(cuStreamAddCallback(stream, (CUstreamCallback)(void *)callback, data, flags));
}

API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    FORWARD(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                              const cudaGraphNode_t *dependencies,
                                              const cudaGraphEdgeData *edges, size_t n,
                                              enum cudaStreamCaptureMode mode)
{
    FORWARD(cuStreamBeginCaptureToGraph(stream, graph, dependencies, (const CUgraphEdgeData *)edges,
                                        n, (CUstreamCaptureMode)mode));
}

API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    FORWARD(cuStreamEndCapture(stream, graph));
}

API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    FORWARD(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}

API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                         unsigned long long *id, cudaGraph_t *graph,
                                         const cudaGraphNode_t **dependencies,
                                         const cudaGraphEdgeData **edges, size_t *n)
{
    FORWARD(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph,
                                   dependencies, (const CUgraphEdgeData **)edges, n));
}

API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                    cudaGraphNode_t *dependencies,
                                                    const cudaGraphEdgeData *edges, size_t n,
                                                    unsigned flags)
{
    FORWARD(cuStreamUpdateCaptureDependencies(stream, dependencies, (const CUgraphEdgeData *)edges,
                                              n, flags));
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    FORWARD(cuEventRecord(event, stream));
}

API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    FORWARD(cuEventRecordWithFlags(event, stream, flags));
}

API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    FORWARD(cuGraphLaunch(exec, stream));
}

API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    FORWARD(cuGraphUpload(exec, stream));
}

API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                               cudaGraphInstantiateParams *params)
{
    FORWARD(cuGraphInstantiateWithParams(exec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)params));
}
