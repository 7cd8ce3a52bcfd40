/* SPDX-License-Identifier: BSD-3-Clause
 * Where the elements of arrays lie, for copies. These functions take driver_lock. */
#ifndef SOFTGPU_DRIVER_ARRAY_H
#define SOFTGPU_DRIVER_ARRAY_H

#include "tests/softgpu/driver/internal.h"
#include "tests/softgpu/driver/stream.h"

/* x and width in bytes. */
struct part {
    size_t x, y, z, width, height, depth;
};

struct array_place {
    char *base;
    size_t pitch, rows, element; /* bytes of a row, rows of a slice, bytes of an element */
};

/* Is the part whole elements of a live array? Then where the array lies. */
bool array_part(CUarray array, const struct part *part, struct array_place *place);
/* The array that an address is in, and the position there; NULL: none. */
CUarray array_at(const char *p, struct part *part);
/* Extents of arrays that device attributes tell (device.c). */
int device_limit(CUdevice_attribute attribute);

#endif
