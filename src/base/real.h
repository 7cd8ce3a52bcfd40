/* SPDX-License-Identifier: BSD-3-Clause
 * The real functions of the CUDA libraries that the program has loaded. Nothing here ever loads a
 * library: what the program did not bring is answered with NULL. */
#ifndef APEXSHIM_REAL_H
#define APEXSHIM_REAL_H

#include "base/vendor.h"

#include <stdbool.h>

/* cuda.h renames this to the second version; programs ask for the first one too. */
#undef cuGetProcAddress
extern CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags);

/* Its first version is enough, and in every driver that knows captures. */
#undef cuStreamGetCaptureInfo
extern CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
                                       cuuint64_t *id);

/* The oldest version that names the graph; newer headers declare only the newest. */
extern CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                          cuuint64_t *id, CUgraph *graph,
                                          const CUgraphNode **deps, size_t *n);

/* Likewise; cuda.h of CUDA 13 renames it. */
#undef cuEventElapsedTime
extern CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);

/* Index of each SEEN function, over all libraries. */
enum real_seen {
#define HOOK(_lib, _sym)
#define SEEN(_lib, _sym, _kind) REAL_SEEN_##_sym,
#include "symbols.def"
#undef HOOK
#undef SEEN
    REAL_SEEN
};

/* A member for each function of one library; the type is the vendor's own prototype. */
#define REAL_MEMBER(_sym) __typeof__(&_sym) _sym;
#define REAL_CUBLAS_IN_CUBLAS(_sym)     REAL_MEMBER(_sym)
#define REAL_CUBLAS_IN_CUBLASLT(_sym)
#define REAL_CUBLAS_IN_CUDA(_sym)
#define REAL_CUBLASLT_IN_CUBLAS(_sym)
#define REAL_CUBLASLT_IN_CUBLASLT(_sym) REAL_MEMBER(_sym)
#define REAL_CUBLASLT_IN_CUDA(_sym)
#define REAL_CUDA_IN_CUBLAS(_sym)
#define REAL_CUDA_IN_CUBLASLT(_sym)
#define REAL_CUDA_IN_CUDA(_sym)         REAL_MEMBER(_sym)
#define REAL_LIBC_IN_CUBLAS(_sym)
#define REAL_LIBC_IN_CUBLASLT(_sym)
#define REAL_LIBC_IN_CUDA(_sym)

struct real_lt {
#define SEEN(_lib, _sym, _kind)
#define HOOK(_lib, _sym)            REAL_##_lib##_IN_CUBLASLT(_sym)
#define IMPORT(_lib, _sym)          REAL_##_lib##_IN_CUBLASLT(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) REAL_##_lib##_IN_CUBLASLT(_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
    void *seen[REAL_SEEN]; /* by enum real_seen; those of other libraries are NULL */
    const char *path; /* file name of the library */
};

struct real_dnn {
    void *seen[REAL_SEEN]; /* by enum real_seen; those of other libraries are NULL */
};

struct real_blas {
#define HOOK(_lib, _sym)            REAL_##_lib##_IN_CUBLAS(_sym)
#define IMPORT(_lib, _sym)          REAL_##_lib##_IN_CUBLAS(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) REAL_##_lib##_IN_CUBLAS(_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
    void *seen[REAL_SEEN];    /* by enum real_seen; those of other libraries are NULL */
    const struct real_lt *lt; /* the cuBLASLt of the same major; NULL: none, or it lacks a function */
    const char *path;         /* file name of the library */
};

struct real_cuda {
#define HOOK(_lib, _sym)            REAL_##_lib##_IN_CUDA(_sym)
#define IMPORT(_lib, _sym)          REAL_##_lib##_IN_CUDA(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) REAL_##_lib##_IN_CUDA(_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef SEEN
#undef IMPORT
#undef IMPORT_OPTIONAL
    void *seen[REAL_SEEN]; /* by enum real_seen; those of other libraries are NULL */
    bool complete;         /* it has all that the shim needs for itself */
};

/* The libcublas that code at address caller uses: the only one loaded, else the one that the
 * caller's object needs, else the next in search order. NULL: none. Members that the library does
 * not have are NULL. Walks the loaded objects: not for every call (see device/handle.h). */
const struct real_blas *real_blas(const void *caller);

/* Likewise the libcublasLt that code at address caller uses. */
const struct real_lt *real_lt(const void *caller);

/* The library that holds a function which dlsym found; NULL: it is not in a libcublas (libcublasLt)
 * of the main namespace. *loaded_p: how many libcublas are loaded. */
const struct real_blas *real_blas_of(const void *function, unsigned *loaded_p);
const struct real_lt *real_lt_of(const void *function);

/* The libcudnn that code at address caller uses, or what is next in search order. From cuDNN 8 on
 * libcudnn looks the same names up in libraries of its own: those are not meant. */
const struct real_dnn *real_dnn(const void *caller);
/* Is the function, which dlsym found, in a libcudnn? */
bool real_dnn_holds(const void *function);

/* libcuda.so.1, or NULL when the program has not loaded it or it lacks a required function. */
const struct real_cuda *real_cuda(void);
/* Likewise, for calls that are only handed on: with what functions it has. */
const struct real_cuda *real_driver(void);

#endif
