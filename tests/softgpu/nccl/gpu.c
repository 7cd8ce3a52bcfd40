/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the table of functions taken from libcuda.so.1. */
#include "tests/softgpu/nccl/gpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ABI = 12000 }; /* from 13000 on some names mean functions with other parameters */

static struct gpu table;
static bool present;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        NULL;
    const struct {
        const char *name;
        void *slot;
    } driver[] =
        {
            {"cuInit", &table.init},
            {"cuDeviceGetCount", &table.device_count},
            {"cuDevicePrimaryCtxRetain", &table.primary_retain},
            {"cuCtxGetCurrent", &table.current},
            {"cuCtxSetCurrent", &table.set_current},
            {"cuCtxGetDevice", &table.context_device},
            {"cuCtxSynchronize", &table.synchronize},
            {"cuMemHostAlloc", &table.host_alloc},
            {"cuMemAlloc", &table.mem_alloc},
            {"cuMemFree", &table.mem_free},
            {"cuStreamIsCapturing", &table.is_capturing},
            {"cuStreamWaitValue32", &table.wait_value},
        },
      own[] = {
          {"softgpuEnqueue", &table.enqueue}, {"softgpuCheck", &table.check},
          {"softgpuCount", &table.count},     {"softgpuLog", &table.log},
          {"softgpuFail", &table.fail},
      };

    if (lib != NULL)
        *(void **)&get = dlsym(lib, "cuGetProcAddress_v2");
    if (get == NULL)
        return;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        void *f = dlsym(lib, own[i].name);

        if (f == NULL)
            return;
        memcpy(own[i].slot, &f, sizeof f);
    }
    for (size_t i = 0; i < sizeof driver / sizeof driver[0]; i++) {
        CUdriverProcAddressQueryResult found;
        void *f = NULL;

        if (get(driver[i].name, &f, ABI, 0, &found) != CUDA_SUCCESS || f == NULL) {
            fprintf(stderr, "softgpu: nccl: libcuda.so.1 has no %s\n", driver[i].name);
            return;
        }
        memcpy(driver[i].slot, &f, sizeof f);
    }
    present = true;
}

const struct gpu *gpu_get(void)
{
    pthread_once(&once, load);
    return present ? &table : NULL;
}
