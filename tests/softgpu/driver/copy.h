/* SPDX-License-Identifier: BSD-3-Clause
 * Copies and fills: the forms that all entry points reduce to. */
#ifndef SOFTGPU_DRIVER_COPY_H
#define SOFTGPU_DRIVER_COPY_H

#include "tests/softgpu/driver/internal.h"

/* width bytes a row, height rows, depth slices; pitches and slices in bytes. */
struct copy_box {
    const char *from;
    char *to;
    size_t width, height, depth;
    size_t from_pitch, to_pitch, from_slice, to_slice;
    bool from_device, to_device; /* given as an address that the driver has to know */
    char *staged;                /* the operation's own copy of a pageable source */
};

/* width elements of element bytes a row. */
struct fill_box {
    char *to;
    size_t width, height, pitch;
    unsigned element;
    uint32_t value;
};

const struct op_kind *copy_op_kind(void);
const struct op_kind *fill_op_kind(void);
CUresult copy_submit(struct copy_box copy, CUstream stream, bool per_thread, bool wait);
CUresult fill_submit(struct fill_box fill, CUstream stream, bool per_thread);
CUresult copy_submit_3d(const CUDA_MEMCPY3D *p, CUstream stream, bool per_thread, bool wait);
/* From a CUDA_MEMCPY3D (2D is one with Depth 1); false: inconsistent (copy_box.c). */
bool copy_from_3d(const CUDA_MEMCPY3D *p, struct copy_box *copy);
/* The other way round, for the parameters of a graph node. */
void copy_to_3d(const struct copy_box *copy, CUDA_MEMCPY3D *p);

#endif
