/* SPDX-License-Identifier: BSD-3-Clause
 * Copies and fills as operations. A copy from pageable memory takes its data when it is called; one
 * to or from pinned memory moves when it runs, as a copy engine does. Owns nothing. */
#include "tests/softgpu/driver/copy.h"
#include "tests/softgpu/driver/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool range_ok(const struct sg_space *space, const void *p, size_t bytes)
{
    return memory_is_host(p) || sg_space_check(space, (uintptr_t)p, bytes);
}

static CUresult bad_range(CUcontext context, const char *what, const void *p, size_t bytes)
{
    char message[256];
    snprintf(message, sizeof message, "%s of %zu bytes at %p is outside of every allocation", what,
             bytes, p);
    return context_fault(context, CUDA_ERROR_ILLEGAL_ADDRESS, message);
}

/* Copies may reach other devices without peer access: the driver stages them. */
struct sg_space memory_everywhere(void)
{
    struct sg_space space = {.n = 0};
    space.arena[space.n++] = host_memory;
    for (int i = 0; i < device_count; i++)
        space.arena[space.n++] = devices[i].memory;
    return space;
}

static CUresult run_copy(void *arg, CUcontext context, struct op_result *result)
{
    const struct copy_box *c = arg;
    const struct sg_space space = memory_everywhere();
    const char *from = c->staged != NULL ? c->staged : c->from;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++) {
            const char *s = from + z * c->from_slice + y * c->from_pitch;
            char *d = c->to + z * c->to_slice + y * c->to_pitch;
            if (c->staged == NULL && !range_ok(&space, s, c->width))
                return bad_range(context, "copy", s, c->width);
            if (!range_ok(&space, d, c->width))
                return bad_range(context, "copy", d, c->width);
            memmove(d, s, c->width);
        }
    const size_t bytes = c->width * c->height * c->depth;
    const struct model *m = &context->device->model;
    const bool on_device = !memory_is_host(c->from) && !memory_is_host(c->to);
    const struct softgpu_cost cost = {.bytes = 2 * bytes, .type = SOFTGPU_F32};
    result->seconds =
        on_device ? model_seconds(m, &cost) : (double)bytes / m->copy_bandwidth + m->launch_seconds;
    count_add("bytes.copied", bytes);
    return CUDA_SUCCESS;
}

static void release_copy(void *arg)
{
    free(((struct copy_box *)arg)->staged);
}

static const struct op_kind copy_kind = {"copy", run_copy, release_copy, CU_GRAPH_NODE_TYPE_MEMCPY};

/* Doubles what is there until the row is full. */
static void fill_row(char *row, const struct fill_box *f)
{
    const size_t bytes = f->width * f->element;
    memcpy(row, &f->value, f->element);
    for (size_t done = f->element; done < bytes;) {
        const size_t part = done < bytes - done ? done : bytes - done;
        memcpy(row + done, row, part);
        done += part;
    }
}

static CUresult run_fill(void *arg, CUcontext context, struct op_result *result)
{
    const struct fill_box *f = arg;
    const struct sg_space space = memory_everywhere();
    for (size_t y = 0; y < f->height; y++) {
        char *row = f->to + y * f->pitch;
        if (!range_ok(&space, row, f->width * f->element))
            return bad_range(context, "fill", row, f->width * f->element);
        fill_row(row, f);
    }
    const struct softgpu_cost cost = {.bytes = f->width * f->height * f->element,
                                      .type = SOFTGPU_F32};
    result->seconds = model_seconds(&context->device->model, &cost);
    count_add("bytes.filled", cost.bytes);
    return CUDA_SUCCESS;
}

static const struct op_kind fill_kind = {"fill", run_fill, NULL, CU_GRAPH_NODE_TYPE_MEMSET};

const struct op_kind *copy_op_kind(void)
{
    return &copy_kind;
}

const struct op_kind *fill_op_kind(void)
{
    return &fill_kind;
}

/* A device address lies in memory of a device, or in host memory that the driver knows. */
static bool known(const void *p)
{
    return !memory_is_host(p) || memory_find(p) != NULL;
}

static bool box_ok(const struct copy_box *c)
{
    if ((c->from_device && !known(c->from)) || (c->to_device && !known(c->to)))
        return false;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            if (!memory_device_range(c->from + z * c->from_slice + y * c->from_pitch, c->width) ||
                !memory_device_range(c->to + z * c->to_slice + y * c->to_pitch, c->width))
                return false;
    return true;
}

/* Packs a pageable source into memory of the operation. */
static bool stage(struct copy_box *c)
{
    char *packed = malloc(c->width * c->height * c->depth + 1);
    if (packed == NULL)
        return false;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memcpy(packed + (z * c->height + y) * c->width,
                   c->from + z * c->from_slice + y * c->from_pitch, c->width);
    c->staged = packed;
    c->from_pitch = c->width;
    c->from_slice = c->width * c->height;
    return true;
}

CUresult copy_submit(struct copy_box c, CUstream stream, bool per_thread, bool wait)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS || c.width == 0 || c.height == 0 || c.depth == 0)
        return r;
    if (c.from == NULL || c.to == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUstream resolved;
    pthread_mutex_lock(&driver_lock);
    bool ok = box_ok(&c);
    bool from_pageable = memory_is_pageable(c.from), to_pageable = memory_is_pageable(c.to);
    r = stream_resolve(stream, per_thread, &resolved);
    bool capturing = r == CUDA_SUCCESS && resolved->capture != NULL;
    pthread_mutex_unlock(&driver_lock);
    if (r != CUDA_SUCCESS)
        return r;
    if (!ok)
        return CUDA_ERROR_INVALID_VALUE;
    if (wait && (r = capture_unsafe()) != CUDA_SUCCESS)
        return r;
    /* A graph keeps the address of pageable memory; without one the data are taken now. */
    if (from_pageable && !capturing && !stage(&c))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = stream_submit(stream, per_thread, &copy_kind, &c, sizeof c);
    if (r == CUDA_SUCCESS && (wait || (to_pageable && !capturing)))
        r = stream_drain(stream, per_thread);
    return r;
}

CUresult fill_submit(struct fill_box f, CUstream stream, bool per_thread)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS || f.width == 0 || f.height == 0)
        return r;
    if ((uintptr_t)f.to % f.element != 0 || f.pitch % f.element != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    bool ok = memory_find(f.to) != NULL || !memory_is_host(f.to);
    for (size_t y = 0; ok && y < f.height; y++)
        ok = memory_device_range(f.to + y * f.pitch, f.width * f.element);
    pthread_mutex_unlock(&driver_lock);
    return ok ? stream_submit(stream, per_thread, &fill_kind, &f, sizeof f)
              : CUDA_ERROR_INVALID_VALUE;
}
