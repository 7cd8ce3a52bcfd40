/* SPDX-License-Identifier: BSD-3-Clause
 * Allocations of the software driver; driver_lock is held for all of these. */
#ifndef SOFTGPU_DRIVER_MEMORY_H
#define SOFTGPU_DRIVER_MEMORY_H

#include "tests/softgpu/driver/internal.h"
#include "tests/softgpu/driver/stream.h"

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_ASYNC, /* stream-ordered */
    MEMORY_MANAGED,
    MEMORY_PINNED,
    MEMORY_REGISTERED,
    MEMORY_IMPORTED /* of another process */
};

struct allocation {
    void *base;
    size_t bytes;
    enum memory_kind kind;
    CUcontext context;      /* NULL: mapped memory (virtual.c) */
    struct device *device;  /* NULL: registered host memory */
    CUmemoryPool pool;      /* of stream-ordered memory */
    bool ending;            /* a stream will free it */
    bool of_graph;          /* made by a node */
    struct sg_arena *arena; /* NULL: registered host memory */
    uint64_t buffer_id;
    bool shared; /* its pages may be mapped by other processes (ipc.c) */
    int process; /* imported: from which, by which id there, and how often it was opened */
    uint64_t remote_id;
    unsigned opened;
    struct allocation *next;
};

struct allocation *memory_find(const void *p); /* the one that holds p; NULL */
bool memory_is_host(const void *p);
bool memory_is_pageable(const void *p);
/* Is a range that begins in device memory inside one allocation? True for host memory. */
bool memory_device_range(const void *p, size_t bytes);
struct sg_space memory_everywhere(void); /* of all devices, and pinned (copy.c) */
CUresult memory_allocate(CUcontext context, enum memory_kind kind, size_t bytes, void **p);
CUresult memory_free(void *p);
/* For ipc.c: does shared memory reach into this page? Memory of another process, once opened. */
bool memory_in_shared_page(uintptr_t page);
CUresult memory_import(CUcontext context, struct device *device, void *p, size_t bytes, int process,
                       uint64_t id);
struct allocation *memory_imported(CUcontext context, int process, uint64_t id);
void ipc_unmap(void *base, size_t bytes);
/* For memory that is not in the list (physical.c). */
void memory_count(size_t bytes);
void memory_uncount(size_t bytes);
uint64_t memory_new_id(void);
bool memory_wants_zeros(void); /* in place of poison */
/* physical.c: adds what is left to n and bytes */
void physical_leaks(size_t *n_p, size_t *bytes_p);
/* virtual.c: is this a reserved address, mapped or not? No lock is needed. */
bool virtual_owns(const void *p);
/* The mapping at an address, described in *found; false: none. */
bool virtual_find(const void *p, struct allocation *found);
/* graph_memory.c: taken by graphs, or given back */
void graph_memory_count(const struct device *device, int64_t bytes);
void pool_count(CUmemoryPool pool, int64_t bytes); /* pool.c: taken from it, or given back */

#endif
