/* SPDX-License-Identifier: BSD-3-Clause
 * Captures of streams: tells device/capture when one begins and hands what it holds to its graph
 * when it ends. Owns nothing. */
#include "config.h"
#include "device/capture.h"
#include "hook/driver.h"

#define BEGIN(_stem, _per_thread, _parameters, _arguments)                                         \
    WRAPPER(_stem, _parameters)                                                                    \
    {                                                                                              \
        ENTER(_stem, _parameters);                                                                 \
        const CUresult r = real _arguments;                                                        \
        if (active && r == CUDA_SUCCESS)                                                           \
            capture_begun(driver_stream(stream, _per_thread));                                     \
        return r;                                                                                  \
    }

BEGIN(StreamBeginCapture, false, (CUstream stream), (stream))
BEGIN(StreamBeginCapture_ptsz, true, (CUstream stream), (stream))
BEGIN(StreamBeginCapture_v2, false, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
BEGIN(StreamBeginCapture_v2_ptsz, true, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
/* edges: an array of CUgraphEdgeData, which older headers do not have. */
BEGIN(StreamBeginCaptureToGraph, false,
      (CUstream stream, CUgraph graph, const CUgraphNode *deps, const void *edges, size_t n,
       CUstreamCaptureMode mode),
      (stream, graph, deps, edges, n, mode))
BEGIN(StreamBeginCaptureToGraph_ptsz, true,
      (CUstream stream, CUgraph graph, const CUgraphNode *deps, const void *edges, size_t n,
       CUstreamCaptureMode mode),
      (stream, graph, deps, edges, n, mode))

#define END(_stem, _per_thread)                                                                    \
    WRAPPER(_stem, (CUstream stream, CUgraph *graph))                                              \
    {                                                                                              \
        ENTER(_stem, (CUstream, CUgraph *));                                                       \
        const CUresult r = real(stream, graph);                                                    \
        if (!active)                                                                               \
            return r;                                                                              \
        const struct graph_work work = capture_ended(driver_stream(stream, _per_thread));          \
        if (r == CUDA_SUCCESS && graph != NULL)                                                    \
            graph_add_work(*graph, work);                                                          \
        capture_collect();                                                                         \
        return r;                                                                                  \
    }

END(StreamEndCapture, false)
END(StreamEndCapture_ptsz, true)
