/* SPDX-License-Identifier: BSD-3-Clause
 * A plugin linked with cuBLAS, as Python extensions are. WAYS_PLUGIN=constructor or destructor: the
 * GEMM runs when it is loaded or unloaded, too. */
#include "gemm.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int plugin_main(void);
void *plugin_next(const char *name);

__attribute__((visibility("default"))) int plugin_main(void)
{
    const struct ways_blas linked = {cublasCreate_v2, cublasDestroy_v2, cublasSgemm_v2,
                                     cublasSetStream_v2};
    return ways_gemm(&linked);
}

/* What comes behind this object in search order. */
__attribute__((visibility("default"))) void *plugin_next(const char *name)
{
    void *volatile found = dlsym(RTLD_NEXT, name); /* not a jump: the caller counts */
    return found;
}

static void run_if(const char *when)
{
    const char *wanted = getenv("WAYS_PLUGIN");
    if (wanted != NULL && strcmp(wanted, when) == 0 && plugin_main() != 0)
        _Exit(9);
}

static void __attribute__((constructor)) early(void)
{
    run_if("constructor");
}

static void __attribute__((destructor)) late(void)
{
    run_if("destructor");
}
