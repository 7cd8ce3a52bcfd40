/* SPDX-License-Identifier: BSD-3-Clause
 * Libraries that come and go. Modes:
 * swap PLUGIN1 PLUGIN2: the two files are alike; each is loaded where the other was, used,
 * unloaded; moved: cuBLAS is unloaded and comes back at its old address, but its cuBLASLt at
 * another one; inside PLUGIN...: each is loaded, used and kept. */
#include "gemm.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 3 };

static void *open_object(const char *path)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(5);
    }
    return object;
}

static void *find(void *object, const char *name)
{
    void *function = dlsym(object, name);
    if (function == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(6);
    }
    return function;
}

static uintptr_t base_of(void *object)
{
    struct link_map *map;
    return dlinfo(object, RTLD_DI_LINKMAP, &map) == 0 ? map->l_addr : 0;
}

static int run_plugin(void *plugin)
{
    int (*run)(void);
    *(void **)&run = find(plugin, "plugin_main");
    return run();
}

static int swap(char **path)
{
    uintptr_t base = 0;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        void *plugin = open_object(path[i % 2]);
        if (base != 0 && base != base_of(plugin)) {
            fprintf(stderr, "%s was loaded at another address\n", path[i % 2]);
            return 7;
        }
        base = base_of(plugin);
        const int result = run_plugin(plugin);
        if (result != 0)
            return result;
        dlclose(plugin);
    }
    return 0;
}

static int use_cublas(void *cublas)
{
    struct ways_blas blas;
    *(void **)&blas.create = find(cublas, "cublasCreate_v2");
    *(void **)&blas.destroy = find(cublas, "cublasDestroy_v2");
    *(void **)&blas.sgemm = find(cublas, "cublasSgemm_v2");
    *(void **)&blas.set_stream = find(cublas, "cublasSetStream_v2");
    return ways_gemm(&blas);
}

/* Puts something where the file was mapped. */
static void occupy(uintptr_t base)
{
    if (mmap((void *)base, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
             -1, 0) == MAP_FAILED) {
        fprintf(stderr, "cuBLASLt is still there\n");
        exit(7);
    }
}

static int moved(char **path)
{
    void *cublas = open_object(path[0]), *lt = open_object(path[1]);
    const uintptr_t cublas_base = base_of(cublas), lt_base = base_of(lt);
    int result = use_cublas(cublas);
    if (result != 0)
        return result;
    dlclose(lt);
    dlclose(cublas);
    occupy(lt_base);
    cublas = open_object(path[0]);
    lt = open_object(path[1]);
    if (base_of(cublas) != cublas_base || base_of(lt) == lt_base) {
        fprintf(stderr, "not the layout that this test is about\n");
        return 7;
    }
    return use_cublas(cublas);
}

static int inside(char **path)
{
    for (; *path != NULL; path++) {
        const int result = run_plugin(open_object(*path));
        if (result != 0)
            return result;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = getenv("WAYS_MODE");
    if (mode == NULL || argc < 2)
        return 2;
    if (strcmp(mode, "inside") == 0)
        return inside(argv + 1);
    if (argc != 3)
        return 2;
    if (strcmp(mode, "swap") == 0)
        return swap(argv + 1);
    return strcmp(mode, "moved") == 0 ? moved(argv + 1) : 2;
}
