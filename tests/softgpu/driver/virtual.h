/* SPDX-License-Identifier: BSD-3-Clause
 * Virtual memory management: memory without an address (physical.c), and addresses to which it is
 * mapped (virtual.c). driver_lock guards both. */
#ifndef SOFTGPU_DRIVER_VIRTUAL_H
#define SOFTGPU_DRIVER_VIRTUAL_H

#include "tests/softgpu/driver/memory.h"

#define GRANULARITY ((size_t)2 << 20)

/* What a CUmemGenericAllocationHandle means. */
struct physical {
    struct device *device;
    CUmemAllocationProp prop;
    size_t bytes;
    int fd;            /* of the memory */
    bool imported;     /* not taken from the device of this process */
    unsigned refs;     /* of the handle, by the program */
    unsigned mappings; /* to addresses */
    struct physical *next;
};

/* The live handle; NULL. */
struct physical *physical_find(CUmemGenericAllocationHandle handle);
/* Is nobody left who uses it? Then it is freed. */
void physical_settle(struct physical *memory);

#endif
