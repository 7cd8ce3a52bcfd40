/* SPDX-License-Identifier: BSD-3-Clause
 * Text that kernels print (print.c). */
#ifndef SOFTGPU_PRINT_H
#define SOFTGPU_PRINT_H

#include "machine.h"

/* vprintf of one lane: format and argument block by their generic addresses. The return value is
 * the number of arguments, or a negative one; on a bad address a fault is recorded. */
int device_print(struct warp *w, const struct insn *i, uint32_t lane, uint64_t format, uint64_t args);
/* A string in device memory, cut to room. Empty when it isn't readable. */
void device_text(struct warp *w, const struct insn *i, uint32_t lane, uint64_t address, char *text,
                 size_t room);

#endif
