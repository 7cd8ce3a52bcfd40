/* SPDX-License-Identifier: BSD-3-Clause
 * What is known of a cuBLAS or cuBLASLt handle: which library made it and in which context. Looked up at every
 * call, without a lock. */
#ifndef APEXSHIM_HANDLE_H
#define APEXSHIM_HANDLE_H

#include "base/real.h"

#include <stdbool.h>

struct context;

struct handle_info {
    const struct real_blas *real; /* NULL for a handle of cublasLtCreate */
    const struct real_lt *lt;
    struct context *context; /* NULL: unknown; calls with this handle are forwarded */
};

/* False: no room (thousands of live handles); the handle stays unknown. */
bool handle_add(const void *handle, struct handle_info info);
bool handle_find(const void *handle, struct handle_info *info_p);
void handle_remove(const void *handle);

#endif
