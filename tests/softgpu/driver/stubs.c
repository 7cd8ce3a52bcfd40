/* SPDX-License-Identifier: BSD-3-Clause
 * Every name that the real libcuda exports, weakly: what no other file defines answers
 * CUDA_ERROR_NOT_SUPPORTED and says so once. Includes no header of CUDA, whose prototypes would
 * clash. */
int proc_missing(const char *name, void *caller, int *said); /* returns a CUresult */

#define NAME(_name)                                                                                \
    __attribute__((weak, visibility("default"))) int _name(void);                                  \
    int _name(void)                                                                                \
    {                                                                                              \
        static int said;                                                                           \
        return proc_missing(#_name, __builtin_return_address(0), &said);                           \
    }
#include "tests/softgpu/driver/names.def"
