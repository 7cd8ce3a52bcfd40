/* SPDX-License-Identifier: BSD-3-Clause
 * Every name that the real libcublas exports, weakly: what no other file defines answers
 * NOT_SUPPORTED and says so once. Includes no header of cuBLAS, whose prototypes would clash. */
int gpu_missing(const char *name, int *said); /* returns a cublasStatus_t */

#define NAME(_name)                                                                                \
    __attribute__((weak, visibility("default"))) int _name(void);                                  \
    int _name(void)                                                                                \
    {                                                                                              \
        static int said;                                                                           \
        return gpu_missing(#_name, &said);                                                         \
    }
#include "names_cublas.def"
