/* SPDX-License-Identifier: BSD-3-Clause
 * Copies to and from arrays: of rectangles, and of bytes that go on from row to row. Compiled twice
 * (see cudart.h). Owns no state. */
#include "cudart.h"

#include <stdint.h>
#include <string.h>

/* One side of a copy: an array and a place in it (x in bytes), or memory. */
struct end {
    cudaArray_const_t array;
    size_t x, y;
    const void *p;
    size_t pitch;
};

struct way {
    bool async;
    cudaStream_t stream;
};

static const struct way now;

static cudaError_t submit(const CUDA_MEMCPY2D *c, struct way way)
{
    if (c->WidthInBytes == 0 || c->Height == 0)
        return cudaSuccess;
    return error_of(way.async ? DRIVER_FORM->cuMemcpy2DAsync(c, way.stream)
                              : DRIVER_FORM->cuMemcpy2DUnaligned(c));
}

static cudaError_t copy_rectangle(struct end to, struct end from, size_t width, size_t height,
                                  enum cudaMemcpyKind kind, struct way way)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = copy_types(kind, &c.srcMemoryType, &c.dstMemoryType);
    if (error != cudaSuccess)
        return error;
    /* An array lies on the device, whatever the direction says. */
    if ((to.array != NULL && c.dstMemoryType == CU_MEMORYTYPE_HOST) ||
        (from.array != NULL && c.srcMemoryType == CU_MEMORYTYPE_HOST))
        return cudaErrorInvalidMemcpyDirection;
    if ((to.array == NULL && to.pitch < width) || (from.array == NULL && from.pitch < width))
        return cudaErrorInvalidPitchValue;
    if (to.array != NULL)
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    if (from.array != NULL)
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = (CUarray)(uintptr_t)to.array;
    c.dstXInBytes = to.x;
    c.dstY = to.y;
    c.dstHost = (void *)(uintptr_t)to.p;
    c.dstDevice = (CUdeviceptr)to.p;
    c.dstPitch = to.pitch;
    c.srcArray = (CUarray)(uintptr_t)from.array;
    c.srcXInBytes = from.x;
    c.srcY = from.y;
    c.srcHost = from.p;
    c.srcDevice = (CUdeviceptr)from.p;
    c.srcPitch = from.pitch;
    c.WidthInBytes = width;
    c.Height = height;
    return submit(&c, way);
}

static struct end in_array(cudaArray_const_t array, size_t x, size_t y)
{
    return (struct end){.array = array, .x = x, .y = y};
}

static struct end in_memory(const void *p, size_t pitch)
{
    return (struct end){.p = p, .pitch = pitch};
}

API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src,
                                    size_t pitch, size_t width, size_t height,
                                    enum cudaMemcpyKind kind)
{
    return record(
        copy_rectangle(in_array(dst, x, y), in_memory(src, pitch), width, height, kind, now));
}

API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                         size_t pitch, size_t width, size_t height,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct way way = {true, stream};
    return record(
        copy_rectangle(in_array(dst, x, y), in_memory(src, pitch), width, height, kind, way));
}

API cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_const_t src, size_t x,
                                      size_t y, size_t width, size_t height,
                                      enum cudaMemcpyKind kind)
{
    return record(
        copy_rectangle(in_memory(dst, pitch), in_array(src, x, y), width, height, kind, now));
}

API cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, cudaArray_const_t src, size_t x,
                                           size_t y, size_t width, size_t height,
                                           enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct way way = {true, stream};
    return record(
        copy_rectangle(in_memory(dst, pitch), in_array(src, x, y), width, height, kind, way));
}

API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                         cudaArray_const_t src, size_t src_x, size_t src_y,
                                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return record(copy_rectangle(in_array(dst, dst_x, dst_y), in_array(src, src_x, src_y), width,
                                 height, kind, now));
}

/* Bytes that are left in the row of an array; as many as one likes in memory. */
static size_t left_in_row(const struct end *end, const struct array_shape *shape)
{
    if (end->array == NULL)
        return SIZE_MAX;
    return end->x < shape->pitch ? shape->pitch - end->x : 0;
}

static void advance(struct end *end, const struct array_shape *shape, size_t bytes)
{
    if (end->array == NULL) {
        end->p = (const char *)end->p + bytes;
        return;
    }
    end->x += bytes;
    if (end->x == shape->pitch) {
        end->x = 0;
        end->y++;
    }
}

/* Bytes from a place on, row after row. Each piece ends where a row of one side ends. */
static cudaError_t copy_bytes(struct end to, struct end from, size_t bytes,
                              enum cudaMemcpyKind kind, struct way way)
{
    struct array_shape to_shape = {0, 0}, from_shape = {0, 0};
    cudaError_t error = cudaSuccess;
    if (to.array != NULL)
        error = array_shape(to.array, &to_shape);
    if (error == cudaSuccess && from.array != NULL)
        error = array_shape(from.array, &from_shape);
    while (error == cudaSuccess && bytes > 0) {
        const size_t a = left_in_row(&to, &to_shape), b = left_in_row(&from, &from_shape);
        size_t piece = a < b ? a : b;
        piece = piece < bytes ? piece : bytes;
        if (piece == 0)
            return cudaErrorInvalidValue;
        to.pitch = from.pitch = piece;
        error = copy_rectangle(to, from, piece, 1, kind, way);
        advance(&to, &to_shape, piece);
        advance(&from, &from_shape, piece);
        bytes -= piece;
    }
    return error;
}

API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src,
                                  size_t bytes, enum cudaMemcpyKind kind)
{
    return record(copy_bytes(in_array(dst, x, y), in_memory(src, 0), bytes, kind, now));
}

API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                       size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct way way = {true, stream};
    return record(copy_bytes(in_array(dst, x, y), in_memory(src, 0), bytes, kind, way));
}

API cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y,
                                    size_t bytes, enum cudaMemcpyKind kind)
{
    return record(copy_bytes(in_memory(dst, 0), in_array(src, x, y), bytes, kind, now));
}

API cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t x, size_t y,
                                         size_t bytes, enum cudaMemcpyKind kind,
                                         cudaStream_t stream)
{
    const struct way way = {true, stream};
    return record(copy_bytes(in_memory(dst, 0), in_array(src, x, y), bytes, kind, way));
}

API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                       cudaArray_const_t src, size_t src_x, size_t src_y,
                                       size_t bytes, enum cudaMemcpyKind kind)
{
    return record(
        copy_bytes(in_array(dst, dst_x, dst_y), in_array(src, src_x, src_y), bytes, kind, now));
}
