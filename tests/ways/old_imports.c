/* SPDX-License-Identifier: BSD-3-Clause
 * What else the shim requires of a driver, weakly: the functions that old_cuda.c has are there. */
#define IN_CUBLAS(_name)
#define IN_CUBLASLT(_name)
#define IN_CUDA(_name)                                                                             \
    __attribute__((weak, visibility("default"))) int _name(void);                                  \
    int _name(void)                                                                                \
    {                                                                                              \
        return 801;                                                                                \
    }
#define IMPORT(_lib, _name) IN_##_lib(_name)
#define IMPORT_OPTIONAL(_lib, _name)
#include "src/imports.def"
