/* SPDX-License-Identifier: BSD-3-Clause
 * What the checks of the cuBLAS stand-ins share: device memory, numbers of every type as complex
 * doubles, and reference products in float64 by plain loops, written apart from the stand-ins. */
#ifndef CHECK_BLAS_H
#define CHECK_BLAS_H

#include <check.h>
#include <complex.h>
#include <cublasLt.h>
#include <cublas_api.h>
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OK(_call)              ck_assert_int_eq((int)(_call), 0)
#define STATUS(_call, _status) ck_assert_int_eq((int)(_call), (int)CUBLAS_STATUS_##_status)

typedef double complex number;

/* CMPLX of C11, which some compilers lack with this C library */
static inline number complex_of(double re, double im)
{
    const double parts[2] = {re, im};
    number x;
    memcpy(&x, parts, sizeof x);
    return x;
}

extern cublasHandle_t handle; /* made for each test by blas_setup */
void blas_setup(void);
void blas_teardown(void);
uint64_t counter(const char *name);

/* Numbers that are the same on every machine. */
double uniform(void);                   /* in (-1, 1) */
int64_t pick(int64_t from, int64_t to); /* both included */

size_t size_of(cudaDataType type);
bool complex_type(cudaDataType type);
number decode(cudaDataType type, const void *from);
void encode(cudaDataType type, number x, void *to); /* to nearest even, as stored */
/* Rounding of one part to a format: bits of significand, least exponent, largest number. */
double round_bits(double x, int bits, int min_exponent, double largest);
double round_tf32(double x); /* to nearest, ties away */

/* Device memory and a host image of it; elements of one type. */
struct array {
    cudaDataType type;
    int64_t n;
    char *host;
    CUdeviceptr device;
};
struct array array_new(cudaDataType type, int64_t n);    /* random numbers, on the device too */
struct array array_poison(cudaDataType type, int64_t n); /* bytes 0xff */
void array_put(const struct array *x);
void array_get(struct array *x);
void array_free(struct array *x);
number array_at(const struct array *x, int64_t i);
void array_set(struct array *x, int64_t i, number value);
#define PTR(_array) ((void *)(uintptr_t)(_array).device)

/* |got - want| within the bound; names the element otherwise. */
void close_to(number got, number want, double bound, const char *what, int64_t i, int64_t j);

/* Columns of the reference: op(A) element (i, p) and the like. */
int64_t at_op(cublasOperation_t op, int64_t i, int64_t j, int64_t ld);
number conj_op(cublasOperation_t op, number x);

Suite *suite_gemm(void);
Suite *suite_rules(void);
Suite *suite_lt(void);
Suite *suite_lt_rules(void);
Suite *suite_vector(void);
Suite *suite_matrix(void);
Suite *suite_misc(void);

#endif
