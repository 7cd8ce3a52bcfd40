/* SPDX-License-Identifier: BSD-3-Clause
 * Calls of the functions without a handle. Their header renames what cublas_v2.h declares, so they
 * have a file of their own. Owns nothing; the library keeps a handle of its own. */
#include "conformance/legacy.h"

#include <cublas.h>
#include <stdio.h>
#include <stdlib.h>

static void must(cublasStatus status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "%s: status %d\n", what, (int)status);
        exit(1);
    }
}

void legacy_open(void *stream)
{
    must(cublasInit(), "cublasInit");
    must(cublasSetKernelStream(stream), "cublasSetKernelStream");
}

void legacy_close(void)
{
    must(cublasShutdown(), "cublasShutdown");
}

int legacy_call(enum number number, char transa, char transb, const int size[6], struct value alpha,
                const void *a, const void *b, struct value beta, void *c)
{
    const int m = size[0], n = size[1], k = size[2], lda = size[3], ldb = size[4], ldc = size[5];
    (void)cublasGetError();
    switch (number) {
    case F32:
        cublasSgemm(transa, transb, m, n, k, (float)alpha.re, a, lda, b, ldb, (float)beta.re, c,
                    ldc);
        break;
    case F64:
        cublasDgemm(transa, transb, m, n, k, alpha.re, a, lda, b, ldb, beta.re, c, ldc);
        break;
    case C32:
        cublasCgemm(transa, transb, m, n, k, make_cuComplex((float)alpha.re, (float)alpha.im), a,
                    lda, b, ldb, make_cuComplex((float)beta.re, (float)beta.im), c, ldc);
        break;
    default:
        cublasZgemm(transa, transb, m, n, k, make_cuDoubleComplex(alpha.re, alpha.im), a, lda, b,
                    ldb, make_cuDoubleComplex(beta.re, beta.im), c, ldc);
        break;
    }
    return (int)cublasGetError();
}
