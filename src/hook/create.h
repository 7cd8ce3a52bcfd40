/* SPDX-License-Identifier: BSD-3-Clause
 * The functions that make handles, as dlsym hands them out. */
#ifndef APEXSHIM_CREATE_H
#define APEXSHIM_CREATE_H

#include "base/real.h"

/* A cublasCreate_v2 (cublasLtCreate) that makes handles of this library, whoever calls it. NULL:
 * too many libraries. */
const void *create_pinned(const struct real_blas *real);
const void *create_pinned_lt(const struct real_lt *lt);

#endif
