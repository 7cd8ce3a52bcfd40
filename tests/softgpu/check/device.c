/* SPDX-License-Identifier: BSD-3-Clause
 * A little device for the tests of the engine. All state is the caller's. */
#include "device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KERNELS_DIR
#error KERNELS_DIR: where the PTX of the test kernels is
#endif

static void print(void *arg, const char *text, size_t len)
{
    struct device *dev = arg;
    size_t room = sizeof dev->printed - 1 - dev->printed_bytes;

    len = len < room ? len : room;
    memcpy(dev->printed + dev->printed_bytes, text, len);
    dev->printed_bytes += len;
    dev->printed[dev->printed_bytes] = '\0';
}

static void open_text(struct device *dev, const char *ptx, const char *origin)
{
    size_t length = strlen(ptx);
    char *error = NULL;

    memset(dev, 0, sizeof *dev);
    dev->workers = 1;
    dev->memory = sg_arena_new("device", 256 << 20);
    dev->heap = sg_arena_new("heap", 1 << 20);
    ck_assert(dev->memory && dev->heap);
    dev->space = (struct sg_space){.n = 2, .arena = {dev->memory, dev->heap}};
    dev->module = sg_module_load(&ptx, &length, 1, origin, dev->memory, &error);
    ck_assert_msg(dev->module != NULL, "%s", error ? error : "no message");
}

void device_open(struct device *dev, const char *ptx)
{
    open_text(dev, ptx, "test");
}

static void file_name(char path[512], const char *name, int arch)
{
    if (arch)
        snprintf(path, 512, "%s/%s.compute_%d.ptx", KERNELS_DIR, name, arch);
    else
        snprintf(path, 512, "%s/%s.clang.ptx", KERNELS_DIR, name);
}

bool device_has_file(const char *name, int arch)
{
    char path[512];
    FILE *file;

    file_name(path, name, arch);
    file = fopen(path, "r");
    if (file)
        fclose(file);
    return file != NULL;
}

void device_open_file(struct device *dev, const char *name, int arch)
{
    char path[512], *text;
    FILE *file;
    size_t n;

    file_name(path, name, arch);
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "can't open %s", path);
    text = malloc(4 << 20);
    ck_assert_ptr_nonnull(text);
    n = fread(text, 1, (4 << 20) - 1, file);
    text[n] = '\0';
    fclose(file);
    open_text(dev, text, path);
    free(text);
}

void device_close(struct device *dev)
{
    sg_module_unload(dev->module);
    sg_arena_delete(dev->memory);
    sg_arena_delete(dev->heap);
}

void *device_alloc(struct device *dev, size_t bytes)
{
    return device_copy(dev, NULL, bytes);
}

void *device_copy(struct device *dev, const void *from, size_t bytes)
{
    void *p = sg_arena_alloc(dev->memory, bytes);

    ck_assert_ptr_nonnull(p);
    if (from)
        memcpy(p, from, bytes);
    else
        memset(p, 0, bytes);
    return p;
}

void *device_variable(struct device *dev, const char *name)
{
    void *p = NULL;
    size_t bytes;

    ck_assert_msg(sg_module_global(dev->module, name, &p, &bytes), "no variable %s", name);
    return p;
}

static const struct sg_kernel *find(const struct device *dev, const char *name)
{
    const struct sg_kernel *kernel = sg_module_kernel(dev->module, name);

    for (unsigned i = 0; !kernel && i < sg_module_kernels(dev->module); i++)
        if (strstr(sg_module_kernel_at(dev->module, i)->name, name))
            kernel = sg_module_kernel_at(dev->module, i);
    ck_assert_msg(kernel != NULL, "no kernel %s", name);
    return kernel;
}

enum sg_fault_kind device_try(struct device *dev, const char *name, struct dim grid,
                              struct dim block, uint32_t shared, const void *const *args)
{
    const struct sg_kernel *kernel = find(dev, name);
    struct sg_launch launch = {
        .kernel = kernel,
        .grid = {grid.x, grid.y, grid.z},
        .block = {block.x, block.y, block.z},
        .dynamic_shared = shared,
        .space = &dev->space,
        .heap = dev->heap,
        .cooperative = dev->cooperative,
        .check_races = dev->check_races,
        .workers = dev->workers,
        .order_seed = dev->order_seed,
        .print = print,
        .print_arg = dev,
    };
    unsigned char *params = calloc(1, kernel->param_bytes + 1);
    enum sg_fault_kind kind;

    ck_assert_ptr_nonnull(params);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        memcpy(params + kernel->params[i].offset, args[i], kernel->params[i].size);
    launch.params = params;
    memset(&dev->fault, 0, sizeof dev->fault);
    memset(&dev->counts, 0, sizeof dev->counts);
    kind = sg_launch_run(&launch, &dev->counts, &dev->fault);
    free(params);
    return kind;
}

void device_run(struct device *dev, const char *name, struct dim grid, struct dim block,
                uint32_t shared, const void *const *args)
{
    enum sg_fault_kind kind = device_try(dev, name, grid, block, shared, args);

    ck_assert_msg(kind == SG_OK, "%s: fault %d: %s", name, kind, dev->fault.message);
}
