/* SPDX-License-Identifier: BSD-3-Clause
 * Devices and contexts: which device a thread uses, the primary context that it gets at its first
 * need, reset. Owns the table of primary contexts retained and each thread's choice. */
#include "cudart.h"

#include <pthread.h>

enum { MAX_DEVICES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[MAX_DEVICES]; /* NULL: not retained */
static unsigned generation;

static _Thread_local struct {
    int device;
    CUcontext bound; /* what the runtime made current here, and when */
    unsigned generation;
} self;

unsigned device_generation(void)
{
    return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

cudaError_t device_check(int device)
{
    int n = 0;
    cudaError_t error = driver_init();
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuDeviceGetCount(&n));
    if (error == cudaSuccess && (device < 0 || device >= n || device >= MAX_DEVICES))
        error = cudaErrorInvalidDevice;
    return error;
}

static cudaError_t bind(int device)
{
    const struct driver *driver = driver_of(false);
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (primary[device] == NULL)
        result = driver->cuDevicePrimaryCtxRetain(&primary[device], device);
    CUcontext context = primary[device];
    self.generation = generation;
    pthread_mutex_unlock(&lock);
    if (result == CUDA_SUCCESS)
        result = driver->cuCtxSetCurrent(context);
    if (result == CUDA_SUCCESS)
        self.bound = context;
    return error_of(result);
}

cudaError_t enter(void)
{
    cudaError_t error = driver_init();
    if (error != cudaSuccess)
        return error;
    CUcontext current = NULL;
    CUresult result = driver_of(false)->cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS)
        return error_of(result);
    /* A context that the program itself made current serves as it is. */
    bool stale = current != NULL && current == self.bound && self.generation != device_generation();
    return current != NULL && !stale ? cudaSuccess : bind(self.device);
}

int device_current(void)
{
    CUcontext current = NULL;
    CUdevice device;
    if (driver_init() == cudaSuccess &&
        driver_of(false)->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != NULL &&
        current != self.bound && driver_of(false)->cuCtxGetDevice(&device) == CUDA_SUCCESS)
        return device;
    return self.device;
}

API cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = device_check(device);
    if (error == cudaSuccess)
        error = bind(device);
    if (error == cudaSuccess)
        self.device = device;
    return record(error);
}

API cudaError_t cudaGetDevice(int *device)
{
    if (device == NULL)
        return record(cudaErrorInvalidValue);
    cudaError_t error = driver_init();
    if (error == cudaSuccess)
        *device = device_current();
    return record(error);
}

API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    const struct driver *driver = driver_of(false);
    cudaError_t error = device_check(device);
    if (error == cudaSuccess && (flags & ~(unsigned)cudaInitDeviceFlagsAreValid) != 0)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && (flags & cudaInitDeviceFlagsAreValid) != 0)
        error = error_of(driver->cuDevicePrimaryCtxSetFlags(device, device_flags));
    if (error != cudaSuccess)
        return record(error);
    /* Only the device's context is wanted: this thread stays where it is. */
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (primary[device] == NULL)
        result = driver->cuDevicePrimaryCtxRetain(&primary[device], device);
    pthread_mutex_unlock(&lock);
    return record(error_of(result));
}

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    cudaError_t error = driver_init();
    if (error == cudaSuccess && (flags & ~(unsigned)cudaDeviceMask) != 0)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuDevicePrimaryCtxSetFlags(
            device_current(), flags & ~(unsigned)cudaDeviceMapHost));
    return record(error);
}

API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (flags == NULL)
        return record(cudaErrorInvalidValue);
    int active;
    cudaError_t error = driver_init();
    if (error == cudaSuccess)
        error = error_of(
            driver_of(false)->cuDevicePrimaryCtxGetState(device_current(), flags, &active));
    if (error == cudaSuccess)
        *flags |= cudaDeviceMapHost; /* always on where addresses are unified */
    return record(error);
}

API cudaError_t cudaSetValidDevices(int *devices, int n)
{
    if (devices == NULL ? n != 0 : n <= 0)
        return record(cudaErrorInvalidValue);
    for (int i = 0; i < n; i++) {
        cudaError_t error = device_check(devices[i]);
        if (error != cudaSuccess)
            return record(error);
    }
    if (n > 0)
        self.device = devices[0];
    return cudaSuccess;
}

API cudaError_t cudaDeviceReset(void)
{
    const struct driver *driver = driver_of(false);
    cudaError_t error = driver_init();
    if (error != cudaSuccess)
        return record(error);
    int device = device_current();
    CUresult result = driver->cuDevicePrimaryCtxReset(device);
    pthread_mutex_lock(&lock);
    bool retained = primary[device] != NULL;
    primary[device] = NULL;
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    if (retained) /* the reset leaves the reference */
        driver->cuDevicePrimaryCtxRelease(device);
    driver->cuCtxSetCurrent(NULL);
    self.bound = NULL;
    if (result == CUDA_SUCCESS)
        error_forget();
    return record(error_of(result));
}

API cudaError_t cudaDeviceSynchronize(void)
{
    FORWARD(cuCtxSynchronize());
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    FORWARD(cuCtxGetLimit(value, (CUlimit)limit));
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    FORWARD(cuCtxSetLimit((CUlimit)limit, value));
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    FORWARD(cuCtxGetCacheConfig((CUfunc_cache *)config));
}

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    FORWARD(cuCtxSetCacheConfig((CUfunc_cache)config));
}

API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    FORWARD(cuCtxGetSharedMemConfig((CUsharedconfig *)config));
}

API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    FORWARD(cuCtxSetSharedMemConfig((CUsharedconfig)config));
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    FORWARD(cuCtxGetStreamPriorityRange(least, greatest));
}

API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    FORWARD(cuCtxResetPersistingL2Cache());
}

cudaError_t device_context(int device, CUcontext *context_p)
{
    cudaError_t error = device_check(device);
    if (error == cudaSuccess)
        error = cudaInitDevice(device, 0, 0);
    pthread_mutex_lock(&lock);
    *context_p = error == cudaSuccess ? primary[device] : NULL;
    pthread_mutex_unlock(&lock);
    return error;
}

API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    CUcontext context;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = device_context(peer, &context);
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuCtxEnablePeerAccess(context, flags));
    return record(error);
}

API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    CUcontext context;
    cudaError_t error = enter();
    if (error == cudaSuccess)
        error = device_context(peer, &context);
    if (error == cudaSuccess)
        error = error_of(driver_of(false)->cuCtxDisablePeerAccess(context));
    return record(error);
}

API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                                   enum cudaFlushGPUDirectRDMAWritesScope scope)
{
    FORWARD(cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
                                       (CUflushGPUDirectRDMAWritesScope)scope));
}
