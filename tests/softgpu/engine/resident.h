/* SPDX-License-Identifier: BSD-3-Clause
 * Memory of resident blocks (resident.c). */
#ifndef SOFTGPU_RESIDENT_H
#define SOFTGPU_RESIDENT_H

#include "machine.h"

/* NULL: no memory. To be freed by the thread that made it, or any other. */
struct block *block_new(struct worker *wk);
void block_free(struct block *b);

#endif
