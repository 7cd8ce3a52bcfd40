/* SPDX-License-Identifier: BSD-3-Clause
 * Who calls: vendor libraries that use cuBLAS inside (cuSOLVER, cuDNN, cuBLAS itself) are left
 * alone. An LU factorisation must not lose precision because its GEMMs pass by. */
#ifndef APEXSHIM_CALLER_H
#define APEXSHIM_CALLER_H

#include <stdbool.h>
#include <stdint.h>

/* Is the code at this address in a library that APEXSHIM_EXCLUDE names? Cached; takes no lock when
 * the address has been seen before. */
bool caller_excluded(const void *address);

/* Objects were unloaded: their addresses may come back in others. */
void caller_forget(void);

/* Grows when objects are unloaded: what was derived from an address before may be wrong. */
uint32_t caller_epoch(void);

/* The file name of the object that holds the address, or "?". For logs and rules. */
const char *caller_object(const void *address, char *buffer, unsigned bytes);
/* Also where in the object the address is. */
const char *caller_place(const void *address, char *buffer, unsigned bytes, uint64_t *offset_p);

#endif
