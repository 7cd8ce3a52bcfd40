/* SPDX-License-Identifier: BSD-3-Clause
 * The release that a library claims to be; compiled once for each major version. */
#include "status.h"

#if BLAS_MAJOR == 11
const int blas_version[3] = {11, 11, 3};
#elif BLAS_MAJOR == 12
const int blas_version[3] = {12, 8, 4};
#else
const int blas_version[3] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
#endif
