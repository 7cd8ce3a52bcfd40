/* SPDX-License-Identifier: BSD-3-Clause
 * Arithmetic of reductions, in the data's own type: each step is rounded to it, as on a GPU. */
#ifndef SOFTGPU_NCCL_ARITHMETIC_H
#define SOFTGPU_NCCL_ARITHMETIC_H

#include <nccl.h>
#include <stdbool.h>

enum { MAX_ELEMENT = 8 };

size_t data_bytes(ncclDataType_t type); /* of one element; 0: no such type */
bool data_is_float(ncclDataType_t type);
/* to[i] = to[i] op from[i]; op is a built-in one other than ncclAvg. */
void reduce_into(void *to, const void *from, size_t n, ncclDataType_t type, ncclRedOp_t op);
/* p[i] *= *factor, which has the same type. */
void scale_by(void *p, size_t n, ncclDataType_t type, const void *factor);
/* What ncclAvg multiplies floating-point data by: 1 / nranks in the type. */
void reciprocal(void *factor, ncclDataType_t type, int nranks);
/* p[i] /= nranks, toward zero: what ncclAvg does to sums of integers. */
void divide_by(void *p, size_t n, ncclDataType_t type, int nranks);

#endif
