/* SPDX-License-Identifier: BSD-3-Clause
 * What a program may expect of the calls around its own, with or without a preload. Modes:
 * messages LIBRARY: dlerror has nothing to say after calls that succeeded;
 * calls LIBRARY: errno is the library's and the program's, not somebody else's;
 * absent -: cublasCreate where no cuBLAS is loaded;
 * lacking LIBRARY: a function that the library lacks is not found;
 * wrapper LIBRARY: a library that has a cublasSgemm_v2 of its own is asked for it by name. */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = 12345, N = 8 };

static bool wrong;

static void expect(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "wrong: %s\n", what);
        wrong = true;
    }
}

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(5);
    }
    return library;
}

struct blas {
    __typeof__(&cublasCreate_v2) create;
    __typeof__(&cublasDestroy_v2) destroy;
    __typeof__(&cublasSgemm_v2) sgemm;
};

static struct blas look_up(void *library)
{
    struct blas blas;
    *(void **)&blas.create = dlsym(library, "cublasCreate_v2");
    *(void **)&blas.sgemm = dlsym(library, "cublasSgemm_v2");
    *(void **)&blas.destroy = dlsym(library, "cublasDestroy_v2");
    if (blas.create == NULL || blas.sgemm == NULL || blas.destroy == NULL)
        exit(6);
    return blas;
}

static cublasStatus_t gemm(const struct blas *blas, cublasHandle_t handle)
{
    static float matrix[N * N];
    const float one = 1;
    return blas->sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, 0, &one, matrix, N, matrix, N, &one,
                       matrix, N);
}

static void messages(void *library)
{
    cublasHandle_t handle = NULL;
    const struct blas blas = look_up(library);
    expect(dlerror() == NULL, "dlerror after look-ups that succeeded");
    expect(blas.create(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    expect(dlerror() == NULL, "dlerror after cublasCreate");
    expect(gemm(&blas, handle) == CUBLAS_STATUS_SUCCESS, "cublasSgemm");
    expect(dlerror() == NULL, "dlerror after cublasSgemm");
    expect(blas.destroy(handle) == CUBLAS_STATUS_SUCCESS, "cublasDestroy");
    expect(dlerror() == NULL, "dlerror after cublasDestroy");
}

/* No cuBLAS at all. A preload that has the function may be found, but must not act. */
static void absent(void)
{
    __typeof__(&cublasCreate_v2) create;
    cublasHandle_t handle = NULL;
    *(void **)&create = dlsym(RTLD_DEFAULT, "cublasCreate_v2");
    if (create == NULL)
        return;
    (void)dlerror();
    errno = MARK;
    expect(create(&handle) == CUBLAS_STATUS_NOT_INITIALIZED, "cublasCreate without cuBLAS");
    expect(handle == NULL, "a handle without cuBLAS");
    expect(errno == MARK, "errno after cublasCreate without cuBLAS");
    expect(dlerror() == NULL, "dlerror after cublasCreate without cuBLAS");
}

static void calls(void *library)
{
    cublasHandle_t handle = NULL;
    errno = MARK;
    const struct blas blas = look_up(library);
    expect(errno == MARK, "errno after look-ups");
    expect(blas.create(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    expect(errno == MARK, "errno after cublasCreate");
    expect(gemm(&blas, handle) == CUBLAS_STATUS_SUCCESS, "cublasSgemm");
    expect(errno == MARK + 1, "errno that cublasSgemm finds, or leaves");
    errno = MARK;
    expect(blas.destroy(handle) == CUBLAS_STATUS_SUCCESS, "cublasDestroy");
    expect(errno == MARK, "errno after cublasDestroy");
}

static void lacking(void *library)
{
    (void)dlerror();
    expect(dlsym(library, "cublasSgemm_v2_64") == NULL, "a function was found that is not there");
    expect(dlerror() != NULL, "and dlerror has nothing to say");
    expect(dlvsym(library, "cublasSgemm_v2", "no such version") == NULL, "and a version");
    expect(dlerror() != NULL, "and dlerror has nothing to say of a version");
}

static void wrapper(void *library)
{
    __typeof__(&cublasSgemm_v2) sgemm;
    *(void **)&sgemm = dlsym(library, "cublasSgemm_v2");
    if (sgemm == NULL)
        exit(6);
    expect(sgemm(NULL, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, NULL, NULL, N, NULL, N, NULL, NULL, N) ==
               CUBLAS_STATUS_LICENSE_ERROR,
           "not the wrapper's own function");
}

int main(int argc, char **argv)
{
    const char *mode = getenv("WAYS_MODE");
    if (mode == NULL || argc != 2)
        return 2;
    if (strcmp(mode, "absent") == 0)
        absent();
    else if (strcmp(mode, "calls") == 0)
        calls(open_library(argv[1]));
    else if (strcmp(mode, "messages") == 0)
        messages(open_library(argv[1]));
    else if (strcmp(mode, "lacking") == 0)
        lacking(open_library(argv[1]));
    else if (strcmp(mode, "wrapper") == 0)
        wrapper(open_library(argv[1]));
    else
        return 2;
    return wrong;
}
