/* SPDX-License-Identifier: BSD-3-Clause
 * The end of contexts: their records are forgotten, so that a later context at the same address is
 * not taken for them. Owns nothing. */
#include "config.h"
#include "device/context.h"
#include "hook/driver.h"

#define DESTROY(_stem)                                                                             \
    WRAPPER(_stem, (CUcontext context))                                                            \
    {                                                                                              \
        ENTER(_stem, (CUcontext));                                                                 \
        const CUresult r = real(context);                                                          \
        if (active && r == CUDA_SUCCESS)                                                           \
            context_forget(context);                                                               \
        return r;                                                                                  \
    }

DESTROY(CtxDestroy)
DESTROY(CtxDestroy_v2)
/* Ends the context unless somebody else is attached; then the next call makes a new record. */
DESTROY(CtxDetach)

static bool primary_active(const struct real_cuda *cuda, CUdevice device)
{
    unsigned flags;
    int is_active = 0;
    return cuda->cuDevicePrimaryCtxGetState != NULL &&
           cuda->cuDevicePrimaryCtxGetState(device, &flags, &is_active) == CUDA_SUCCESS &&
           is_active;
}

/* The device's primary context, if there is one and something is known of a context there. */
static CUcontext primary_of(CUdevice device)
{
    const struct real_cuda *cuda = real_cuda();
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*release)(CUdevice);
    CUcontext context = NULL;
    /* To ask for one that does not exist would make it. */
    if (!context_on_device(device) || !primary_active(cuda, device) ||
        !driver_real(REAL_SEEN_cuDevicePrimaryCtxRetain, &retain) ||
        !driver_real(REAL_SEEN_cuDevicePrimaryCtxRelease_v2, &release) ||
        retain(&context, device) != CUDA_SUCCESS)
        return NULL;
    (void)release(device);
    return context;
}

#define RELEASE_PRIMARY(_stem)                                                                     \
    WRAPPER(_stem, (CUdevice device))                                                              \
    {                                                                                              \
        ENTER(_stem, (CUdevice));                                                                  \
        const CUcontext context = active ? primary_of(device) : NULL;                              \
        const CUresult r = real(device);                                                           \
        if (context != NULL && r == CUDA_SUCCESS && !primary_active(real_cuda(), device))          \
            context_forget(context);                                                               \
        return r;                                                                                  \
    }

RELEASE_PRIMARY(DevicePrimaryCtxRelease)
RELEASE_PRIMARY(DevicePrimaryCtxRelease_v2)

/* Ends the context whoever else holds it. */
#define RESET_PRIMARY(_stem)                                                                       \
    WRAPPER(_stem, (CUdevice device))                                                              \
    {                                                                                              \
        ENTER(_stem, (CUdevice));                                                                  \
        const CUcontext context = active ? primary_of(device) : NULL;                              \
        const CUresult r = real(device);                                                           \
        if (context != NULL && r == CUDA_SUCCESS)                                                  \
            context_forget(context);                                                               \
        return r;                                                                                  \
    }

RESET_PRIMARY(DevicePrimaryCtxReset)
RESET_PRIMARY(DevicePrimaryCtxReset_v2)
