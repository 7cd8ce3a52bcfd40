/* SPDX-License-Identifier: BSD-3-Clause
 * Connections between the ranks of a communicator: a byte stream each way between any two of them,
 * over shared memory where all are on one machine, else over TCP. One rank owns a link; only its
 * worker sends and receives, anybody may poke it. */
#ifndef SOFTGPU_NCCL_LINK_H
#define SOFTGPU_NCCL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_RANKS = 64 };

struct link;

/* What a rank tells the others before they connect. */
struct peer {
    char host[40];    /* of the machine's boot: equal where memory can be shared */
    uint32_t address; /* network order */
    uint16_t port;    /* where it listens, for TCP */
    uint16_t tcp;     /* it wants TCP */
    uint32_t pid;
};

enum { WANT_RECEIVE = 1, WANT_SEND = 2 };

struct link_ops {
    /* How many bytes went; 0: none now; -1: the peer is gone. */
    long (*send)(struct link *link, int peer, const void *p, size_t bytes);
    long (*receive)(struct link *link, int peer, void *p, size_t bytes);
    /* Until one of the wanted (by peer) may be possible, somebody pokes, or a while has passed. */
    void (*wait)(struct link *link, const uint8_t *want);
    void (*poke)(struct link *link);
    /* After a wait in vain: has the peer ended? */
    bool (*lost)(struct link *link, int peer);
    void (*close)(struct link *link);
};

struct link {
    const struct link_ops *ops;
    int rank, nranks;
};

/* name: of the shared memory, the same for all ranks. Rank 0 makes it, before the others open it.
 */
struct link *shm_open_link(const char *name, int nranks, int rank);
void shm_unlink_name(const char *name);

/* listener: the socket whose port the peers know; token: what a connection must begin with. */
struct link *tcp_open_link(int listener, const struct peer *peers, int nranks, int rank,
                           uint64_t token);

/* Sockets that the bootstrap needs too. All have a time limit; false, -1: failed. */
int tcp_listen(uint32_t address, uint16_t *port_p);
int tcp_connect(uint32_t address, uint16_t port);
int tcp_accept(int listener, int limit_ms);
bool tcp_write(int fd, const void *p, size_t bytes);
bool tcp_read(int fd, void *p, size_t bytes);

#endif
