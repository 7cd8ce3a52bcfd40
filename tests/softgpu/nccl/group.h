/* SPDX-License-Identifier: BSD-3-Clause
 * Groups: what a thread calls between ncclGroupStart and ncclGroupEnd starts together. A call
 * outside of a group is a group of its own. State is the thread's. */
#ifndef SOFTGPU_NCCL_GROUP_H
#define SOFTGPU_NCCL_GROUP_H

#include "tests/softgpu/nccl/comm.h"

void group_begin(void);
/* Starts what was added, at the outermost end. */
ncclResult_t group_end(void);
bool group_open(void);
/* A call inside the group failed: its end will say so and start nothing. */
ncclResult_t group_failed(ncclResult_t result);
ncclResult_t group_add_task(ncclComm_t comm, const struct task *task);
/* Something that meets other ranks: fn runs on a thread of its own, after start, if any, has been
 * called in the order of the calls. arg is freed. */
ncclResult_t group_add_meeting(ncclComm_t comm, void (*start)(void *arg),
                               ncclResult_t (*fn)(void *arg), void *arg);

#endif
