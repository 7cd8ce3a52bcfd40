/* SPDX-License-Identifier: BSD-3-Clause
 * The functions of the driver that the shim calls for itself, weakly: those that it intercepts too
 * are in spy_cuda.c. They all answer "not supported". */
#define IN_CUBLAS(_name)
#define IN_CUBLASLT(_name)
#define IN_CUDA(_name)                                                                             \
    __attribute__((weak, visibility("default"))) int _name(void);                                  \
    int _name(void)                                                                                \
    {                                                                                              \
        return 801;                                                                                \
    }
#define IMPORT(_lib, _name)          IN_##_lib(_name)
#define IMPORT_OPTIONAL(_lib, _name) IN_##_lib(_name)
#include "src/imports.def"
