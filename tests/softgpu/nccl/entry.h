/* SPDX-License-Identifier: BSD-3-Clause
 * What the entry points share. Each function is pncclX, and ncclX is a weak name for it, as in the
 * real library: whoever defines ncclX itself can still call the real one. */
#ifndef SOFTGPU_NCCL_ENTRY_H
#define SOFTGPU_NCCL_ENTRY_H

#include "tests/softgpu/nccl/comm.h"

#define API __attribute__((visibility("default")))
#define TWIN(_name)                                                                                \
    API __typeof__(pnccl##_name) nccl##_name __attribute__((weak, alias("pnccl" #_name)))

/* The header declares these without parameters. */
ncclResult_t pncclGroupStart(void);
ncclResult_t pncclGroupEnd(void);

/* Counts the call and writes it to the log; another result than ncclSuccess is an injected fault.
 */
ncclResult_t entry_begin(const char *name, void *caller);
#define BEGIN(_name)                                                                               \
    do {                                                                                           \
        ncclResult_t begun_ = entry_begin(_name, __builtin_return_address(0));                     \
        if (begun_ != ncclSuccess)                                                                 \
            return begun_;                                                                         \
    } while (0)

/* Is the communicator one, and ready? */
ncclResult_t entry_comm(ncclComm_t comm);

#endif
