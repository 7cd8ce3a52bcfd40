/* SPDX-License-Identifier: BSD-3-Clause
 * Finds libcuda.so.1 and owns the two tables of its functions, filled once. The driver is reached
 * as NVIDIA's runtime reaches it: dlopen, dlsym of cuGetProcAddress_v2, and all else from that. */
#include "cudart.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { NEEDED = 13000 }; /* the oldest driver that this runtime works with */

typedef CUresult (*find_fn)(const char *, void **, int, cuuint64_t,
                            CUdriverProcAddressQueryResult *);

static find_fn find;
static struct driver tables[2];
static cudaError_t state;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static CUresult missing(const char *name)
{
    fprintf(stderr, "softgpu: cudart: libcuda.so.1 has no %s\n", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* One for each function of the driver, to take its place. Called through another type of pointer:
 * the arguments are left alone. */
#define DRIVER(_name, _type, _version)                                                             \
    static CUresult missing_##_name(void)                                                          \
    {                                                                                              \
        return missing(#_name);                                                                    \
    }
#include "driver.def"
#undef DRIVER

static void fill(struct driver *table, cuuint64_t flags)
{
    void *function;
    CUdriverProcAddressQueryResult result;
#define DRIVER(_name, _type, _version)                                                             \
    function = NULL;                                                                               \
    if (find(#_name, &function, _version, flags, &result) != CUDA_SUCCESS || function == NULL)     \
        function = (void *)missing_##_name;                                                        \
    *(void **)&table->_name = function;
#include "driver.def"
#undef DRIVER
}

static void load(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL)
        fprintf(stderr, "softgpu: cudart: %s\n", dlerror());
    else
        *(void **)&find = dlsym(lib, "cuGetProcAddress_v2");
    state = cudaErrorInsufficientDriver;
    if (find == NULL)
        return;
    fill(&tables[0], CU_GET_PROC_ADDRESS_DEFAULT);
    fill(&tables[1], CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    int version = 0;
    if (tables[0].cuDriverGetVersion(&version) != CUDA_SUCCESS || version < NEEDED)
        return;
    state = error_of(tables[0].cuInit(0));
}

const struct driver *driver_of(bool per_thread)
{
    pthread_once(&once, load);
    return &tables[per_thread];
}

cudaError_t driver_init(void)
{
    pthread_once(&once, load);
    return state;
}

CUresult driver_find(const char *name, void **function_p, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *result_p)
{
    pthread_once(&once, load);
    return find != NULL ? find(name, function_p, version, flags, result_p) : CUDA_ERROR_NOT_FOUND;
}

API cudaError_t cudaDriverGetVersion(int *version)
{
    if (version == NULL)
        return record(cudaErrorInvalidValue);
    *version = 0;
    driver_init();
    if (find != NULL)
        driver_of(false)->cuDriverGetVersion(version);
    return cudaSuccess;
}

API cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (version == NULL)
        return record(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}
