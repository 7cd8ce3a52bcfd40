/* SPDX-License-Identifier: BSD-3-Clause
 * Names of statuses and version properties, the same in both libraries. */
#ifndef BLAS_STATUS_H
#define BLAS_STATUS_H

#include "gpu.h"

const char *status_name(cublasStatus_t status);
const char *status_text(cublasStatus_t status);
cublasStatus_t status_property(libraryPropertyType type, int *value);

extern const int blas_version[3]; /* major, minor, patch */
int status_version(void);         /* the three in one number */

#endif
