/* SPDX-License-Identifier: BSD-3-Clause
 * Two major versions of cuBLAS in one process: majors LIBRARY1 LIBRARY2. The stand-ins refuse a
 * handle of the other version, so every call must reach the library that it was meant for. Modes:
 * two (functions of both looked up by handle, then used in turns), two_threads (by two threads at
 * once), two_lt (cublasLt), two_legacy (the API without a handle), two_plugins (two plugins that
 * are linked with one each). */
#include "gemm.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIBRARIES = 2, ROUNDS = 3 };

static void *open_local(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(5);
    }
    return library;
}

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(6);
    }
    return function;
}

static struct ways_blas blas_of(void *library)
{
    struct ways_blas blas;
    *(void **)&blas.create = find(library, "cublasCreate_v2");
    *(void **)&blas.destroy = find(library, "cublasDestroy_v2");
    *(void **)&blas.sgemm = find(library, "cublasSgemm_v2");
    *(void **)&blas.set_stream = find(library, "cublasSetStream_v2");
    return blas;
}

/* All look-ups come first: what a function does must not depend on the last one. */
static int two(void *const *library)
{
    struct ways_blas blas[LIBRARIES];
    for (int i = 0; i < LIBRARIES; i++)
        blas[i] = blas_of(library[i]);
    for (int i = 0; i < ROUNDS * LIBRARIES; i++) {
        const int result = ways_gemm(&blas[(i + 1) % LIBRARIES]);
        if (result != 0)
            return result;
    }
    return 0;
}

static void *thread_main(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        const struct ways_blas blas = blas_of(arg);
        const int result = ways_gemm(&blas);
        if (result != 0)
            return (void *)(intptr_t)result;
    }
    return NULL;
}

static int two_threads(void *const *library)
{
    pthread_t thread[LIBRARIES];
    int failed = 0;
    for (int i = 0; i < LIBRARIES; i++)
        if (pthread_create(&thread[i], NULL, thread_main, library[i]) != 0)
            return 1;
    for (int i = 0; i < LIBRARIES; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed |= result != NULL;
    }
    return failed;
}

/* The heuristic is not intercepted: it must know the handle. An empty description is refused with
 * another status than a strange handle. */
static int two_lt(void *const *library)
{
    cublasLtHandle_t handle[LIBRARIES];
    __typeof__(&cublasLtCreate) create[LIBRARIES];
    __typeof__(&cublasLtMatmulAlgoGetHeuristic) ask[LIBRARIES];
    __typeof__(&cublasLtDestroy) destroy[LIBRARIES];
    for (int i = 0; i < LIBRARIES; i++) {
        *(void **)&create[i] = find(library[i], "cublasLtCreate");
        *(void **)&ask[i] = find(library[i], "cublasLtMatmulAlgoGetHeuristic");
        *(void **)&destroy[i] = find(library[i], "cublasLtDestroy");
    }
    for (int i = LIBRARIES - 1; i >= 0; i--)
        if (create[i](&handle[i]) != CUBLAS_STATUS_SUCCESS)
            return 2;
    for (int i = 0; i < LIBRARIES; i++)
        for (int j = 0; j < LIBRARIES; j++) {
            cublasLtMatmulHeuristicResult_t found;
            int n = 0;
            const bool refused = ask[i](handle[j], NULL, NULL, NULL, NULL, NULL, NULL, 1, &found,
                                        &n) == CUBLAS_STATUS_NOT_INITIALIZED;
            if (refused != (i != j)) {
                fprintf(stderr, "library %d and the handle of library %d: %s\n", i, j,
                        refused ? "refused" : "accepted");
                return 4;
            }
        }
    for (int i = 0; i < LIBRARIES; i++)
        if (destroy[i](handle[i]) != CUBLAS_STATUS_SUCCESS)
            return 3;
    return 0;
}

/* Only the second library is initialised: a call that reaches the first leaves C as it was. */
static int two_legacy(void *const *library)
{
    cublasStatus_t (*init)(void), (*get_error)(void), (*alloc)(int, int, void **);
    void (*sgemm)(char, char, int, int, int, float, const float *, int, const float *, int, float,
                  float *, int);
    enum { N = 8 };
    float host[N * N];
    void *c = NULL;
    *(void **)&init = find(library[1], "cublasInit");
    *(void **)&get_error = find(library[1], "cublasGetError");
    *(void **)&alloc = find(library[1], "cublasAlloc");
    *(void **)&sgemm = find(library[1], "cublasSgemm");
    if (init() != CUBLAS_STATUS_SUCCESS ||
        alloc(N * N, sizeof(float), &c) != CUBLAS_STATUS_SUCCESS ||
        cudaMemset(c, 0x3f, sizeof host) != cudaSuccess)
        return 2;
    sgemm('n', 'n', N, N, 0, 1, c, N, c, N, 0, c, N); /* an empty sum: C becomes 0 */
    if (get_error() != CUBLAS_STATUS_SUCCESS ||
        cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 3;
    for (int i = 0; i < N * N; i++)
        if (host[i] != 0) {
            fprintf(stderr, "the call has not reached its library\n");
            return 4;
        }
    return 0;
}

static int two_plugins(void *const *library)
{
    for (int i = 0; i < ROUNDS * LIBRARIES; i++) {
        int (*run)(void);
        *(void **)&run = find(library[(i + 1) % LIBRARIES], "plugin_main");
        const int result = run();
        if (result != 0)
            return result;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void *const *library);
    } modes[] = {{"two", two},
                 {"two_threads", two_threads},
                 {"two_lt", two_lt},
                 {"two_legacy", two_legacy},
                 {"two_plugins", two_plugins}};
    const char *mode = getenv("WAYS_MODE");
    void *library[LIBRARIES];
    if (argc != 1 + LIBRARIES || mode == NULL)
        return 2;
    for (int i = 0; i < LIBRARIES; i++)
        library[i] = open_local(argv[1 + i]);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].name, mode) == 0)
            return modes[i].run(library);
    return 2;
}
