/* SPDX-License-Identifier: BSD-3-Clause
 * What nvcc's host code registers: fatbins, and in them kernels and variables by the address of
 * their host twin. Registering only records. A fatbin is loaded when one of its symbols is first
 * needed. Owns the list of fatbins and the table of symbols; one lock guards both. */
#include "cudart.h"

#include <pthread.h>
#include <stdlib.h>

#include "registry.h"

enum { BUCKETS = 4096 };

struct image {
    const void *fatbin;
    bool tried;
    CUlibrary library;
    cudaError_t error; /* of loading */
    struct symbol *symbols;
    struct image *next;
};

struct symbol {
    enum { KERNEL, VARIABLE, MANAGED } kind;
    const void *host; /* address of the host twin; of a managed variable, of the pointer to it */
    void *managed;    /* the value of that pointer */
    const char *name; /* on the device */
    struct image *image;
    CUkernel kernel;
    CUfunction function; /* in the context used last, which was: */
    CUcontext context;
    unsigned generation;
    struct symbol *in_image, *in_bucket;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static struct symbol *bucket[BUCKETS];
static CUkernel *noted; /* kernels that have no host twin */
static size_t noted_n;
static _Thread_local cudaError_t failure;

static unsigned hash(const void *p)
{
    uintptr_t x = (uintptr_t)p;
    return (unsigned)((x >> 4 ^ x >> 16) % BUCKETS);
}

static struct symbol *find(const void *host)
{
    for (struct symbol *s = bucket[hash(host)]; s != NULL; s = s->in_bucket)
        if (s->host == host)
            return s;
    return NULL;
}

static void add(void **handle, int kind, const void *host, const char *name)
{
    struct image *image = (struct image *)handle;
    struct symbol *s = calloc(1, sizeof *s);
    if (image == NULL || s == NULL) {
        free(s);
        return;
    }
    *s = (struct symbol){.kind = kind, .host = host, .name = name, .image = image};
    pthread_mutex_lock(&lock);
    s->in_image = image->symbols;
    image->symbols = s;
    s->in_bucket = bucket[hash(host)];
    bucket[hash(host)] = s;
    pthread_mutex_unlock(&lock);
}

API void **__cudaRegisterFatBinary(void *fatbin)
{
    struct image *image = calloc(1, sizeof *image);
    if (image == NULL)
        return NULL;
    image->fatbin = fatbin;
    pthread_mutex_lock(&lock);
    image->next = images;
    images = image;
    pthread_mutex_unlock(&lock);
    return (void **)image;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                int *warp)
{
    add(handle, KERNEL, host, name);
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                           size_t size, int constant, int global)
{
    add(handle, VARIABLE, host, name);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                  int ext, size_t size, int constant, int global)
{
    add(handle, MANAGED, host, name);
}

API void __cudaUnregisterFatBinary(void **handle)
{
    struct image *image = (struct image *)handle;
    if (image == NULL)
        return;
    pthread_mutex_lock(&lock);
    struct image **at = &images;
    while (*at != NULL && *at != image)
        at = &(*at)->next;
    if (*at != NULL)
        *at = image->next;
    for (struct symbol *s = image->symbols, *next; s != NULL; s = next) {
        next = s->in_image;
        struct symbol **in = &bucket[hash(s->host)];
        while (*in != s)
            in = &(*in)->in_bucket;
        *in = s->in_bucket;
        free(s);
    }
    CUlibrary library = image->library;
    free(image);
    pthread_mutex_unlock(&lock);
    if (library != NULL)
        driver_of(false)->cuLibraryUnload(library);
}

/* Loads the fatbin and tells the host where its managed variables are. The lock is held. */
static cudaError_t load(struct image *image)
{
    if (image->tried)
        return image->error;
    const struct driver *driver = driver_of(false);
    image->tried = true;
    image->error = error_of(
        driver->cuLibraryLoadData(&image->library, image->fatbin, NULL, NULL, 0, NULL, NULL, 0));
    for (struct symbol *s = image->symbols; s != NULL && image->error == cudaSuccess;
         s = s->in_image) {
        if (s->kind != MANAGED)
            continue;
        CUdeviceptr address = 0;
        size_t bytes;
        image->error =
            error_of(driver->cuLibraryGetManaged(&address, &bytes, image->library, s->name));
        s->managed = (void *)address;
        *(void **)s->host = s->managed;
    }
    return image->error;
}

API char __cudaInitModule(void **handle)
{
    cudaError_t error = handle != NULL ? enter() : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess) {
        pthread_mutex_lock(&lock);
        error = load((struct image *)handle);
        pthread_mutex_unlock(&lock);
    }
    record(error);
    return 1; /* what failed now would fail again: done */
}

static cudaError_t kernel_of_symbol(struct symbol *s, CUkernel *kernel_p)
{
    cudaError_t error = load(s->image);
    if (error == cudaSuccess && s->kernel == NULL)
        error =
            error_of(driver_of(false)->cuLibraryGetKernel(&s->kernel, s->image->library, s->name));
    *kernel_p = s->kernel;
    return error;
}

cudaError_t kernel_of(const void *host_function, CUkernel *kernel_p)
{
    *kernel_p = NULL;
    pthread_mutex_lock(&lock);
    struct symbol *s = find(host_function);
    cudaError_t error = s != NULL && s->kind == KERNEL ? kernel_of_symbol(s, kernel_p)
                                                       : cudaErrorInvalidDeviceFunction;
    pthread_mutex_unlock(&lock);
    failure = error;
    return error;
}

cudaError_t kernel_error(void)
{
    return failure != cudaSuccess ? failure : cudaErrorInvalidDeviceFunction;
}

/* A program launches the same kernels again and again, in one context mostly. */
static cudaError_t function_of_symbol(struct symbol *s, CUfunction *function_p)
{
    const struct driver *driver = driver_of(false);
    CUcontext context = NULL;
    CUresult result = driver->cuCtxGetCurrent(&context);
    if (result == CUDA_SUCCESS &&
        (s->function == NULL || s->context != context || s->generation != device_generation())) {
        result = driver->cuKernelGetFunction(&s->function, s->kernel);
        s->context = result == CUDA_SUCCESS ? context : NULL;
        s->generation = device_generation();
    }
    *function_p = s->function;
    return error_of(result);
}

cudaError_t function_of_kernel(CUkernel kernel, CUfunction *function_p)
{
    *function_p = NULL;
    if (kernel == NULL)
        return kernel_error();
    return error_of(driver_of(false)->cuKernelGetFunction(function_p, kernel));
}

void kernel_note(CUkernel kernel)
{
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < noted_n && noted[i] != kernel)
        i++;
    CUkernel *grown = i == noted_n ? realloc(noted, (noted_n + 1) * sizeof *noted) : NULL;
    if (grown != NULL) {
        noted = grown;
        noted[noted_n++] = kernel;
    }
    pthread_mutex_unlock(&lock);
}

cudaError_t function_of(const void *host_function, CUfunction *function_p)
{
    CUkernel kernel;
    cudaError_t error = cudaErrorInvalidDeviceFunction;
    *function_p = NULL;
    pthread_mutex_lock(&lock);
    struct symbol *s = find(host_function);
    if (s != NULL && s->kind == KERNEL) {
        error = kernel_of_symbol(s, &kernel);
        if (error == cudaSuccess)
            error = function_of_symbol(s, function_p);
    } else {
        for (size_t i = 0; i < noted_n; i++)
            if ((const void *)noted[i] == host_function)
                error = function_of_kernel(noted[i], function_p);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

void *host_function_of(CUfunction function)
{
    void *host = function;
    pthread_mutex_lock(&lock);
    for (struct image *image = images; image != NULL; image = image->next)
        for (struct symbol *s = image->symbols; s != NULL; s = s->in_image) {
            CUfunction f;
            if (s->kind == KERNEL && s->kernel != NULL &&
                driver_of(false)->cuKernelGetFunction(&f, s->kernel) == CUDA_SUCCESS &&
                f == function)
                host = (void *)s->host;
        }
    pthread_mutex_unlock(&lock);
    return host;
}

/* A program names a managed variable by its address, which is not where its pointer lies. */
static struct symbol *find_managed(const void *address)
{
    for (struct image *image = images; image != NULL; image = image->next)
        for (struct symbol *s = image->symbols; s != NULL; s = s->in_image)
            if (s->kind == MANAGED && s->managed == address)
                return s;
    return NULL;
}

cudaError_t variable_of(const void *host_variable, CUdeviceptr *address_p, size_t *bytes_p)
{
    const struct driver *driver = driver_of(false);
    cudaError_t error = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&lock);
    struct symbol *s = host_variable != NULL ? find(host_variable) : NULL;
    if (s == NULL && host_variable != NULL)
        s = find_managed(host_variable);
    if (s != NULL && s->kind != KERNEL)
        error = load(s->image);
    if (s != NULL && error == cudaSuccess)
        error = error_of(
            s->kind == MANAGED
                ? driver->cuLibraryGetManaged(address_p, bytes_p, s->image->library, s->name)
                : driver->cuLibraryGetGlobal(address_p, bytes_p, s->image->library, s->name));
    pthread_mutex_unlock(&lock);
    return error == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : error;
}
