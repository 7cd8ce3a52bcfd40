/* SPDX-License-Identifier: BSD-3-Clause
 * The shim's own kernels in a context: loading and launching. */
#ifndef APEXSHIM_DEVICE_KERNELS_H
#define APEXSHIM_DEVICE_KERNELS_H

#include "device/context.h"
#include "kernels/kernels.h"

/* What is loaded into a context; does not change once it is published. */
struct kernels {
    CUfunction amax, compare;
    CUfunction cast[APEX_FORMATS], check[APEX_FORMATS];
    CUstream stream; /* the shim's own, for what must not be part of a capture */
    /* Totals of sites: on the device, the device's address of the host's copy, the host's copy.
     * NULL: there is no room for a copy, and nothing is kept. */
    struct apex_site *sites, *mirror;
    volatile struct apex_site *shown;
};

/* Loads the kernels unless that is done. False: they do not load on this GPU (said once). */
bool kernels_load(struct context *context);
/* What kernels_load has loaded; NULL: nothing. */
const struct kernels *kernels_of(const struct context *context);

/* How a grid covers a column-major matrix (rows x cols, batch of them; source->cols of the columns
 * exist); fills source->walk and returns the number of blocks. flat: a dense matrix may be walked
 * as one column. */
uint32_t kernels_plan_walk(const struct gpu *gpu, struct apex_source *source, int64_t rows,
                           int64_t cols, int64_t batch, bool flat);
/* Blocks that a GPU runs at once; enough for a kernel that mostly has nothing to do. */
uint32_t kernels_wave(const struct gpu *gpu);

CUresult kernels_launch(const struct context *context, CUfunction function, CUstream stream,
                        const void *params, uint32_t blocks);

#endif
