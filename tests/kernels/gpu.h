/* SPDX-License-Identifier: BSD-3-Clause
 * The kernels' module on the GPU at hand, through the driver API; memory whose every byte a test
 * knows. A failing call ends the test. */
#ifndef KERNELS_GPU_H
#define KERNELS_GPU_H

#include "kernels/kernels.h"

#include <cuda.h>
#include <stddef.h>

#define OK(_call) gpu_expect(_call, #_call, __FILE__, __LINE__)
void gpu_expect(CUresult result, const char *call, const char *file, int line);

/* Makes a context current and loads the fatbin that is embedded in the shim. */
void gpu_start(void);
void gpu_stop(void);
CUfunction gpu_function(const char *name);
CUdeviceptr gpu_sites(void); /* the module's APEX_SITES sites */

/* Exactly so many bytes: an access outside is a fault on the software GPU. */
CUdeviceptr gpu_new(const void *contents, size_t bytes);
void gpu_read(void *to, CUdeviceptr from, size_t bytes); /* after all that was launched */
void gpu_write(CUdeviceptr to, const void *from, size_t bytes);
void gpu_free(CUdeviceptr p);

/* APEX_BLOCK_THREADS threads a block; params is a parameter block of kernels.h. */
void gpu_launch(const char *name, const void *params, uint32_t blocks);

#endif
