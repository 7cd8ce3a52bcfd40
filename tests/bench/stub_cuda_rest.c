/* SPDX-License-Identifier: BSD-3-Clause
 * What the shim imports from the driver and stub_cuda.c has no answer for: it does nothing, with
 * success. Weak, so that stub_cuda.c comes first. */
#include "bench/stub.h"

STUB_API int stub_nothing(void);

int stub_nothing(void)
{
    return 0;
}

#define NOTHING(_name)                                                                             \
    __asm__(".weak " _name "\n.type " _name ", %function\n.set " _name ", stub_nothing\n");
#define REST_CUDA(_name) NOTHING(_name)
#define REST_CUBLAS(_name)
#define REST_CUBLASLT(_name)
#define IMPORT(_library, _name)          REST_##_library(#_name)
#define IMPORT_OPTIONAL(_library, _name) REST_##_library(#_name)
#include "imports.def"
