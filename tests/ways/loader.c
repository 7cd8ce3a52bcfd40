/* SPDX-License-Identifier: BSD-3-Clause
 * A program that is not linked with cuBLAS and finds it at run time, in the way that WAYS_MODE
 * names: plugin, deepbind (a plugin opened RTLD_LOCAL), deepbind_too (a second one before), dlsym,
 * dlvsym (by handle), default, next (by pseudo handle, library opened RTLD_GLOBAL), reload (dlsym,
 * dlclose, again), next_plugin (a plugin asks what comes behind it: that is cuBLAS itself). */
#include "config.h"
#include "gemm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum lookup { BY_HANDLE, BY_VERSION, BY_DEFAULT, BY_NEXT };

static void *find(enum lookup how, void *library, const char *version, const char *name)
{
    switch (how) {
    case BY_HANDLE:
        return dlsym(library, name);
    case BY_VERSION:
        return dlvsym(library, name, version);
    case BY_DEFAULT:
        return dlsym(RTLD_DEFAULT, name);
    default:
        return dlsym(RTLD_NEXT, name);
    }
}

static int by_name(enum lookup how, const char *soname, int flags)
{
    void *library = dlopen(soname, RTLD_NOW | flags);
    struct ways_blas blas;
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 5;
    }
    *(void **)&blas.create = find(how, library, soname, "cublasCreate_v2");
    *(void **)&blas.destroy = find(how, library, soname, "cublasDestroy_v2");
    *(void **)&blas.sgemm = find(how, library, soname, "cublasSgemm_v2");
    *(void **)&blas.set_stream = find(how, library, soname, "cublasSetStream_v2");
    if (blas.create == NULL || blas.destroy == NULL || blas.sgemm == NULL ||
        blas.set_stream == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 6;
    }
    int result = ways_gemm(&blas);
    dlclose(library);
    return result;
}

static int next_of_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *(*next)(const char *name);
    Dl_info info;
    if (plugin == NULL)
        return 5;
    *(void **)&next = dlsym(plugin, "plugin_next");
    void *found = next("cublasSgemm_v2");
    if (found == NULL || dladdr(found, &info) == 0 || strstr(info.dli_fname, "libcublas") == NULL) {
        fprintf(stderr, "not cuBLAS: %s\n", found != NULL ? info.dli_fname : "nothing");
        return 6;
    }
    return 0;
}

static int by_plugin(const char *path, int flags)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 5;
    }
    int (*run)(void);
    *(void **)&run = dlsym(plugin, "plugin_main");
    return run != NULL ? run() : 6;
}

int main(int argc, char **argv)
{
    const char *mode = getenv("WAYS_MODE");
    const char *object = argc > 1 ? argv[1] : "libcublas.so.13";
    if (mode == NULL)
        return 2;
    if (strcmp(mode, "plugin") == 0)
        return by_plugin(object, 0);
    if (strcmp(mode, "deepbind_too") == 0 && argc > 2) {
        const int covered = by_plugin(argv[2], 0);
        return covered != 0 ? covered : by_plugin(object, RTLD_DEEPBIND);
    }
    if (strcmp(mode, "deepbind") == 0)
        return by_plugin(object, RTLD_DEEPBIND);
    if (strcmp(mode, "next_plugin") == 0)
        return next_of_plugin(object);
    if (strcmp(mode, "dlsym") == 0)
        return by_name(BY_HANDLE, object, RTLD_LOCAL);
    if (strcmp(mode, "dlvsym") == 0)
        return by_name(BY_VERSION, object, RTLD_LOCAL);
    if (strcmp(mode, "default") == 0)
        return by_name(BY_DEFAULT, object, RTLD_GLOBAL);
    if (strcmp(mode, "next") == 0)
        return by_name(BY_NEXT, object, RTLD_GLOBAL);
    if (strcmp(mode, "reload") == 0) {
        for (int i = 0; i < 3; i++) {
            int result = by_name(BY_HANDLE, object, RTLD_LOCAL);
            if (result != 0)
                return result;
        }
        return 0;
    }
    return 2;
}
