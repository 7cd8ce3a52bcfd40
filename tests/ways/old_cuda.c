/* SPDX-License-Identifier: BSD-3-Clause
 * A libcuda.so.1 that knows contexts and nothing else, and has no ids of them, as drivers before CUDA
 * 12. Devices have one primary context each, at an address that comes back. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum { DEVICES = 2 };

EXPORT uintptr_t old_current;    /* the context of the calling thread */
EXPORT int old_device;           /* its device */
EXPORT int old_primary[DEVICES]; /* how many hold the primary context; it lives while it is not 0 */
EXPORT int old_status;           /* what destroying answers */

EXPORT int cuCtxGetCurrent(uintptr_t *context);
int cuCtxGetCurrent(uintptr_t *context)
{
    *context = old_current;
    return 0;
}

EXPORT int cuCtxGetDevice(int *device);
int cuCtxGetDevice(int *device)
{
    *device = old_device;
    return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int which, int device);
int cuDeviceGetAttribute(int *value, int which, int device)
{
    (void)which;
    (void)device;
    *value = 9;
    return 0;
}

EXPORT int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetName(char *name, int bytes, int device)
{
    (void)device;
    if (bytes > 0)
        name[0] = '\0';
    return 0;
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = old_primary[device] > 0;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(uintptr_t *context, int device);
int cuDevicePrimaryCtxRetain(uintptr_t *context, int device)
{
    old_primary[device]++;
    *context = 0x10000u * (unsigned)(device + 1);
    return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device)
{
    old_primary[device] -= old_status == 0;
    return old_status;
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device);
int cuDevicePrimaryCtxReset_v2(int device)
{
    (void)device; /* who holds it holds on */
    return old_status;
}

EXPORT int cuCtxDestroy_v2(uintptr_t context);
int cuCtxDestroy_v2(uintptr_t context)
{
    (void)context;
    return old_status;
}
