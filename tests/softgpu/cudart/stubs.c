/* SPDX-License-Identifier: BSD-3-Clause
 * Every name that the real libcudart exports, weakly: what no other file defines answers
 * cudaErrorNotSupported and says so once. Includes no header of CUDA, whose prototypes clash. */
int cudart_missing(const char *name, int *said); /* returns a cudaError_t */

#define NAME(_name)                                                                                \
    __attribute__((weak, visibility("default"))) int _name(void);                                  \
    int _name(void)                                                                                \
    {                                                                                              \
        static int said;                                                                           \
        return cudart_missing(#_name, &said);                                                      \
    }
#include "names.def"
