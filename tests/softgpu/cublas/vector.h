/* SPDX-License-Identifier: BSD-3-Clause
 * What the routines beside GEMM share: complex numbers in double (products of FP32 numbers are
 * exact there), strided vectors in device memory, enqueueing, and results that go to the host. */
#ifndef BLAS_VECTOR_H
#define BLAS_VECTOR_H

#include "handle.h"

struct z {
    double re, im;
};

static inline struct z z_of(double re, double im)
{
    return (struct z){re, im};
}

static inline struct z z_add(struct z x, struct z y)
{
    return z_of(x.re + y.re, x.im + y.im);
}

static inline struct z z_sub(struct z x, struct z y)
{
    return z_of(x.re - y.re, x.im - y.im);
}

static inline struct z z_mul(struct z x, struct z y)
{
    return z_of(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
}

static inline struct z z_conj(struct z x, bool conjugate)
{
    return z_of(x.re, conjugate ? -x.im : x.im);
}

static inline bool z_zero(struct z x)
{
    return x.re == 0.0 && x.im == 0.0;
}

struct z z_div(struct z x, struct z y);

/* One element of any known type. */
struct z z_load(const void *from, cudaDataType type);
void z_store(void *to, cudaDataType type, struct z value);

/* n elements, a step of inc apart; a negative step begins at the far end, as in BLAS. */
struct vector {
    void *data;
    cudaDataType type;
    int64_t inc;
};

struct vector vector_of(const void *data, cudaDataType type, int64_t inc);
char *vector_at(const struct vector *x, int64_t n, int64_t i);
CUresult vector_check(const struct gpu *gpu, void *space, const struct vector *x, int64_t n,
                      int write, const char *who);
/* Elements i .. i + count - 1 as complex numbers. */
void vector_load(const struct vector *x, int64_t n, int64_t i, int64_t count, struct z *to);
void vector_store(const struct vector *x, int64_t n, int64_t i, int64_t count,
                  const struct z *from);

/* A scalar when its operation runs. */
CUresult scalar_read(const struct gpu *gpu, void *space, const struct scalar *s, const char *who,
                     struct z *value);

/* Where a result goes: the program's memory (the call then waits for it) or the device's. */
struct result {
    void *to;
    cudaDataType type; /* CUDA_R_32I, CUDA_R_64I too */
    bool device;
};

CUresult result_write(const struct gpu *gpu, void *space, const struct result *r, struct z value,
                      const char *who);

/* Enqueues fn(arg) as work of the handle's stream; memory-bound unless flop says otherwise. */
cublasStatus_t work_enqueue(cublasHandle_t handle, const char *who,
                            CUresult (*fn)(void *arg, void *space), const void *arg, size_t bytes,
                            uint64_t touched, uint64_t flop, cudaDataType type);
/* Waits where the pointer mode puts results on the host. */
cublasStatus_t work_wait(cublasHandle_t handle, cublasStatus_t status);

/* The handle of the interface without handles (cublasInit); an error is kept for cublasGetError. */
cublasHandle_t legacy_handle(void);
void legacy_status(cublasStatus_t status);
cublasOperation_t legacy_op(char letter);
cublasFillMode_t legacy_uplo(char letter);
cublasDiagType_t legacy_diag(char letter);
cublasSideMode_t legacy_side(char letter);

#endif
