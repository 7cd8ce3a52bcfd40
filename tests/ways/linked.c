/* SPDX-License-Identifier: BSD-3-Clause
 * A program linked with cuBLAS. Modes: plain; nothing (does not call it); handle (only makes one);
 * constructor and exit: the GEMM runs in a constructor or an exit handler; threads: eight threads
 * initialise cuBLAS at once; with_plugin PATH: a plugin and the program take turns. */
#include "gemm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8 };

static const struct ways_blas linked = {cublasCreate_v2, cublasDestroy_v2, cublasSgemm_v2,
                                        cublasSetStream_v2};

static void __attribute__((constructor)) early(void)
{
    const char *mode = getenv("WAYS_MODE");
    if (mode != NULL && strcmp(mode, "constructor") == 0 && ways_gemm(&linked) != 0)
        _Exit(1);
}

static void late(void)
{
    if (ways_gemm(&linked) != 0)
        _Exit(1);
}

static pthread_barrier_t barrier;

static void *thread_main(void *arg)
{
    pthread_barrier_wait(&barrier);
    return (void *)(intptr_t)ways_gemm(&linked);
}

static int threads(void)
{
    pthread_t thread[THREADS];
    int failed = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, thread_main, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed |= result != NULL;
    }
    return failed;
}

/* This program is linked with one version, the plugin with another. */
static int with_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*run)(void);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 5;
    }
    *(void **)&run = dlsym(plugin, "plugin_main");
    for (int i = 0; i < 2; i++) {
        const int result = run != NULL ? run() : 6;
        if (result != 0)
            return result;
        if (ways_gemm(&linked) != 0)
            return 7;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = getenv("WAYS_MODE");
    if (mode == NULL)
        return 2;
    if (strcmp(mode, "nothing") == 0)
        return 0;
    if (strcmp(mode, "handle") == 0) {
        cublasHandle_t handle;
        return linked.create(&handle) != CUBLAS_STATUS_SUCCESS ||
               linked.destroy(handle) != CUBLAS_STATUS_SUCCESS;
    }
    if (strcmp(mode, "plain") == 0)
        return ways_gemm(&linked);
    if (strcmp(mode, "with_plugin") == 0 && argc == 2)
        return with_plugin(argv[1]);
    if (strcmp(mode, "threads") == 0)
        return threads();
    if (strcmp(mode, "exit") == 0)
        return atexit(late);
    return strcmp(mode, "constructor") != 0;
}
