/* SPDX-License-Identifier: BSD-3-Clause
 * Totals of a site: added up on the device and shown to the host without a copy or a wait. The
 * host's mirror may be written by kernels on several streams: each repeats until what it has
 * shown is the total, so that the last one to add leaves the newest. */
#ifndef APEXSHIM_SITE_CUH
#define APEXSHIM_SITE_CUH

#include "kernels.h"

extern "C" {
__device__ apex_site apex_sites[APEX_SITES];
}

enum { APEX_SHOW_AGAIN = 8 };

static __device__ void apex_site_add(uint64_t *total, uint64_t *mirror, uint64_t count)
{
    unsigned long long *sum = reinterpret_cast<unsigned long long *>(total);
    unsigned long long now = atomicAdd(sum, (unsigned long long)count) + count;
    for (int i = 0; i < APEX_SHOW_AGAIN; i++) {
        *reinterpret_cast<volatile unsigned long long *>(mirror) = now;
        __threadfence_system();
        unsigned long long newer = atomicAdd(sum, 0ull);
        if (newer == now)
            break;
        now = newer;
    }
}

#endif
