/* SPDX-License-Identifier: BSD-3-Clause
 * A little device for the tests of the engine: memory, one module, launches. Each test owns one. */
#ifndef SOFTGPU_CHECK_DEVICE_H
#define SOFTGPU_CHECK_DEVICE_H

#include "tests/softgpu/engine/engine.h"

struct device {
    struct sg_arena *memory;
    struct sg_arena *heap;
    struct sg_space space;
    struct sg_module *module;
    struct sg_fault fault;   /* of the last launch */
    struct sg_counts counts; /* likewise */
    char printed[4096];      /* by device printf since device_open */
    size_t printed_bytes;
    /* how the next launches are made */
    unsigned workers;
    uint64_t order_seed;
    bool cooperative, check_races;
};

struct dim {
    uint32_t x, y, z;
};

#define DIM1(_x)         ((struct dim){(uint32_t)(_x), 1, 1})
#define DIM2(_x, _y)     ((struct dim){(uint32_t)(_x), (uint32_t)(_y), 1})
#define DIM3(_x, _y, _z) ((struct dim){(uint32_t)(_x), (uint32_t)(_y), (uint32_t)(_z)})

/* The module is PTX text, or a file of the test kernels ("basic", for architecture 75, 90 or 0:
 * clang's). A failure fails the running Check test. */
void device_open(struct device *dev, const char *ptx);
void device_open_file(struct device *dev, const char *name, int arch);
bool device_has_file(const char *name, int arch);
void device_close(struct device *dev);

/* Device memory, filled from host memory, or with zeros where from is NULL. */
void *device_alloc(struct device *dev, size_t bytes);
void *device_copy(struct device *dev, const void *from, size_t bytes);
/* A variable of the module. */
void *device_variable(struct device *dev, const char *name);

/* args: pointers to the parameters' values. name: whole, or a part of a mangled name that only one
 * kernel has. device_run demands success. */
enum sg_fault_kind device_try(struct device *dev, const char *name, struct dim grid,
                              struct dim block, uint32_t shared, const void *const *args);
void device_run(struct device *dev, const char *name, struct dim grid, struct dim block,
                uint32_t shared, const void *const *args);

#define ARGS(...) ((const void *const[]){__VA_ARGS__})

#endif
