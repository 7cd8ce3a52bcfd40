/* SPDX-License-Identifier: BSD-3-Clause
 * The table behind cuGetProcAddress: which exported function a base name means from which CUDA
 * release on. Includes no header of CUDA, which would redirect some of the names. */
#include "tests/softgpu/driver/proc_table.h"

#define PROC(_base, _release, _kind, _symbol) int _symbol(void);
#include "tests/softgpu/driver/procs.def"
#undef PROC

#define PROC(_base, _release, _kind, _symbol) {#_base, _release, _kind, _symbol},
const struct proc proc_table[] = {
#include "tests/softgpu/driver/procs.def"
};
const unsigned proc_count = sizeof proc_table / sizeof proc_table[0];
