/* SPDX-License-Identifier: BSD-3-Clause
 * The shim's own kernels in a context: loading and launching. */
#ifndef APEXSHIM_DEVICE_KERNELS_H
#define APEXSHIM_DEVICE_KERNELS_H

#include "device/context.h"
#include "kernels/kernels.h"

/* Loads the kernels unless that is done. False: they do not load on this GPU (said once). */
bool kernels_load(struct context *context);

/* How a grid covers a column-major matrix (rows x cols, batch of them); fills source->walk and
 * returns the number of blocks. A dense matrix is walked as one column. */
uint32_t kernels_plan_walk(const struct gpu *gpu, struct apex_source *source, int64_t rows,
                           int64_t cols, int64_t batch, struct apex_target *target);

CUresult kernels_launch_amax(const struct context *context, CUstream stream,
                             const struct apex_amax_params *params, uint32_t blocks);
CUresult kernels_launch_cast(const struct context *context, CUstream stream,
                             const struct apex_cast_params *params, uint32_t blocks);

#endif
