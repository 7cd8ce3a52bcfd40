/* SPDX-License-Identifier: BSD-3-Clause
 * The real functions of the CUDA libraries that the program has loaded. Nothing here ever loads a
 * library: what the program did not bring is answered with NULL. */
#ifndef APEXSHIM_REAL_H
#define APEXSHIM_REAL_H

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>

/* A member for each function of one library; the type is the vendor's own prototype. */
#define REAL_MEMBER(_sym)          __typeof__(&_sym) _sym;
#define REAL_IN_CUBLAS_CUBLAS(_s)  REAL_MEMBER(_s)
#define REAL_IN_CUBLAS_CUBLASLT(_s)
#define REAL_IN_CUBLAS_CUDA(_s)
#define REAL_IN_CUBLASLT_CUBLAS(_s)
#define REAL_IN_CUBLASLT_CUBLASLT(_s) REAL_MEMBER(_s)
#define REAL_IN_CUBLASLT_CUDA(_s)
#define REAL_IN_CUDA_CUBLAS(_s)
#define REAL_IN_CUDA_CUBLASLT(_s)
#define REAL_IN_CUDA_CUDA(_s) REAL_MEMBER(_s)

struct real_lt {
#define HOOK(_lib, _sym)            REAL_IN_CUBLASLT_##_lib(_sym)
#define IMPORT(_lib, _sym)          REAL_IN_CUBLASLT_##_lib(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) REAL_IN_CUBLASLT_##_lib(_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
};

struct real_blas {
#define HOOK(_lib, _sym)            REAL_IN_CUBLAS_##_lib(_sym)
#define IMPORT(_lib, _sym)          REAL_IN_CUBLAS_##_lib(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) REAL_IN_CUBLAS_##_lib(_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
    const struct real_lt *lt; /* the cuBLASLt of the same major; NULL: none, or it lacks a function */
    const char *path;         /* file name of the library */
};

struct real_cuda {
#define HOOK(_lib, _sym)            REAL_IN_CUDA_##_lib(_sym)
#define IMPORT(_lib, _sym)          REAL_IN_CUDA_##_lib(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) REAL_IN_CUDA_##_lib(_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
};

/* The libcublas that code at address caller uses: the only one loaded, else the one that the
 * caller's object needs, else the next in search order. NULL: none. Members that the library does
 * not have are NULL. Walks the loaded objects: not for every call (see device/handle.h). */
const struct real_blas *real_blas(const void *caller);

/* libcuda.so.1, or NULL when the program has not loaded it or it lacks a required function. */
const struct real_cuda *real_cuda(void);

#endif
