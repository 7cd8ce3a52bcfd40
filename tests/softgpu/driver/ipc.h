/* SPDX-License-Identifier: BSD-3-Clause
 * What memory (ipc.c) and events (ipc_event.c) of other processes share: handles begin with the
 * process that made them and a file descriptor of it. */
#ifndef SOFTGPU_DRIVER_IPC_H
#define SOFTGPU_DRIVER_IPC_H

#include "tests/softgpu/driver/stream.h"

enum { IPC_MEMORY = 0x736d656d, IPC_EVENT = 0x73657674 };

struct ipc_origin {
    uint32_t magic;
    int32_t process, fd;
};

struct ipc_origin ipc_origin(uint32_t magic, int fd);
/* A file descriptor of our own for that of the other process; IPC is for other processes only. */
CUresult ipc_open(const struct ipc_origin *origin, uint32_t magic, int *fd_p);

/* An event that processes share, in memory that all of them map. */
struct ipc_event {
    uint64_t recorded; /* how many records have been put on a stream */
    uint64_t done;     /* the newest of them that has run */
};
/* With an event whose `shared` is set. */
CUresult ipc_event_record(CUevent event, CUstream stream, bool per_thread);
CUresult ipc_event_wait(CUevent event, CUstream stream, bool per_thread);
CUresult ipc_event_query(CUevent event);
CUresult ipc_event_synchronize(CUevent event);

#endif
