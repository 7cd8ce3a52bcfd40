/* SPDX-License-Identifier: BSD-3-Clause
 * How the ranks of a communicator meet: whoever makes a unique id listens at the address in it, and
 * passes on what the ranks tell each other until all are connected. */
#ifndef SOFTGPU_NCCL_BOOTSTRAP_H
#define SOFTGPU_NCCL_BOOTSTRAP_H

#include "tests/softgpu/nccl/link.h"

#include <nccl.h>

/* Makes an id and starts the thread that serves it, which ends with the meeting. */
ncclResult_t bootstrap_make_id(ncclUniqueId *id);

/* Meets the other ranks. NULL: not all came, or they don't agree on how many they are. On success
 * *what_p says what the link is ("shared memory", "TCP"). */
struct link *bootstrap_meet(const ncclUniqueId *id, int nranks, int rank, const char **what_p);

#endif
