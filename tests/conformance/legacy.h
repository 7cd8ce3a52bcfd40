/* SPDX-License-Identifier: BSD-3-Clause
 * Calls of the functions without a handle, apart from cublas_v2.h, which excludes their header. */
#ifndef CONFORMANCE_LEGACY_H
#define CONFORMANCE_LEGACY_H

#include "conformance/number.h"

void legacy_open(void *stream);
void legacy_close(void);
/* size: m, n, k, lda, ldb, ldc. Returns the status that cublasGetError tells. */
int legacy_call(enum number number, char transa, char transb, const int size[6], struct value alpha,
                const void *a, const void *b, struct value beta, void *c);

#endif
