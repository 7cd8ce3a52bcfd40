/* SPDX-License-Identifier: BSD-3-Clause
 * What is known of a cuBLAS handle: which library made it and in which context. Looked up at every
 * call, without a lock. */
#ifndef APEXSHIM_HANDLE_H
#define APEXSHIM_HANDLE_H

#include "base/real.h"

#include <stdbool.h>

struct context;

struct handle_info {
    const struct real_blas *real;
    struct context *context; /* NULL: unknown; calls with this handle are forwarded */
};

/* False: no room (thousands of live handles); the handle stays unknown. */
bool handle_add(cublasHandle_t handle, struct handle_info info);
bool handle_find(cublasHandle_t handle, struct handle_info *info_p);
void handle_remove(cublasHandle_t handle);

#endif
