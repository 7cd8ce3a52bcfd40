/* SPDX-License-Identifier: BSD-3-Clause
 * The meeting of a communicator's ranks. Everybody connects to the root, says who it is, and then
 * in each round sends one block and gets those of all. The root thread owns its listener and the
 * connections; an id that nobody uses keeps one for the length of the process. */
#include "tests/softgpu/nccl/bootstrap.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 3, STRANGERS = 1000 };
#define MAGIC UINT64_C(0x736f66746e63636c)

struct id {
    uint64_t magic, token;
    uint32_t address;
    uint16_t port;
};
_Static_assert(sizeof(struct id) <= sizeof(ncclUniqueId), "an id fits");

struct root {
    int listener;
    uint64_t token;
};

struct joins {
    uint64_t token;
    int32_t nranks, rank;
};

/* One rank's part of a round. */
struct block {
    struct peer peer;
    uint32_t ok;
};

static uint32_t own_address(void)
{
    const char *text = getenv("SOFTGPU_NCCL_ADDRESS");
    struct in_addr a;

    return text != NULL && inet_aton(text, &a) ? a.s_addr : htonl(INADDR_LOOPBACK);
}

/* Takes the ranks in as they come. Returns how many there are, or 0. */
static int gather_ranks(const struct root *root, int *fd)
{
    int nranks = 0, there = 0;

    for (int strangers = 0; nranks == 0 || there < nranks;) {
        struct joins joins;
        int one = tcp_accept(root->listener, -1);

        if (one < 0)
            return 0;
        if (!tcp_read(one, &joins, sizeof joins) || joins.token != root->token) {
            close(one);
            if (++strangers > STRANGERS)
                return 0;
            continue;
        }
        if (joins.nranks < 1 || joins.nranks > MAX_RANKS || (nranks && joins.nranks != nranks) ||
            joins.rank < 0 || joins.rank >= joins.nranks || fd[joins.rank] >= 0) {
            fprintf(stderr, "softgpu: nccl: rank %d of %d does not fit to the others\n",
                    (int)joins.rank, (int)joins.nranks);
            close(one);
            return 0;
        }
        nranks = joins.nranks;
        fd[joins.rank] = one;
        there++;
    }
    return nranks;
}

static void *serve(void *arg)
{
    struct root *root = arg;
    int fd[MAX_RANKS], nranks;
    struct block *all = NULL;
    bool ok;

    for (int k = 0; k < MAX_RANKS; k++)
        fd[k] = -1;
    nranks = gather_ranks(root, fd);
    all = calloc((size_t)nranks + 1, sizeof *all);
    ok = nranks > 0 && all != NULL;
    for (int round = 0; round < ROUNDS && ok; round++) {
        for (int k = 0; k < nranks && ok; k++)
            ok = tcp_read(fd[k], &all[k], sizeof *all);
        for (int k = 0; k < nranks && ok; k++)
            ok = tcp_write(fd[k], all, (size_t)nranks * sizeof *all);
    }
    for (int k = 0; k < MAX_RANKS; k++)
        if (fd[k] >= 0)
            close(fd[k]);
    close(root->listener);
    free(all);
    free(root);
    return NULL;
}

ncclResult_t bootstrap_make_id(ncclUniqueId *out)
{
    struct root *root = calloc(1, sizeof *root);
    struct id id = {.magic = MAGIC, .address = own_address()};
    pthread_t thread;

    if (root == NULL || getrandom(&id.token, sizeof id.token, 0) != sizeof id.token) {
        free(root);
        return ncclSystemError;
    }
    root->token = id.token;
    root->listener = tcp_listen(id.address, &id.port);
    if (root->listener < 0 || pthread_create(&thread, NULL, serve, root) != 0) {
        if (root->listener >= 0)
            close(root->listener);
        free(root);
        return ncclSystemError;
    }
    pthread_detach(thread);
    memset(out, 0, sizeof *out);
    memcpy(out, &id, sizeof id);
    return ncclSuccess;
}

/* Sends one block and gets all of them. False: somebody is missing, or somebody's is not ok. */
static bool do_round(int fd, const struct block *own, struct block *all, int nranks)
{
    bool ok = tcp_write(fd, own, sizeof *own) && tcp_read(fd, all, (size_t)nranks * sizeof *all);

    for (int k = 0; k < nranks && ok; k++)
        ok = all[k].ok;
    return ok;
}

static void describe_self(struct peer *peer, uint32_t address, uint16_t port)
{
    const char *transport = getenv("SOFTGPU_NCCL_TRANSPORT");
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

    memset(peer, 0, sizeof *peer);
    if (file != NULL) {
        (void)!fread(peer->host, 1, sizeof peer->host - 1, file);
        fclose(file);
    }
    peer->address = address;
    peer->port = port;
    peer->tcp = file == NULL || (transport != NULL && strcmp(transport, "tcp") == 0);
    peer->pid = (uint32_t)getpid();
}

static bool one_machine(const struct block *all, int nranks)
{
    for (int k = 0; k < nranks; k++)
        if (all[k].peer.tcp ||
            memcmp(all[k].peer.host, all[0].peer.host, sizeof all[0].peer.host) != 0)
            return false;
    return true;
}

/* Three rounds: who is there; rank 0 has made the shared memory; all have what they need. */
static struct link *meet(int root, const struct id *id, int nranks, int rank, int listener,
                         uint16_t port, const char **what_p)
{
    struct block *all = calloc((size_t)nranks, sizeof *all), own = {.ok = 1};
    struct peer *peers = calloc((size_t)nranks, sizeof *peers);
    struct link *link = NULL;
    char name[64];
    bool ok, shared;

    snprintf(name, sizeof name, "/softgpu-nccl-%016llx", (unsigned long long)id->token);
    describe_self(&own.peer, own_address(), port);
    ok = all != NULL && peers != NULL && do_round(root, &own, all, nranks);
    if (ok) {
        shared = one_machine(all, nranks);
        *what_p = shared ? "shared memory" : "TCP";
        for (int k = 0; k < nranks; k++)
            peers[k] = all[k].peer;
        if (shared && rank == 0)
            link = shm_open_link(name, nranks, rank);
        own.ok = !shared || rank != 0 || link != NULL;
        ok = do_round(root, &own, all, nranks);
        if (ok && !shared)
            link = tcp_open_link(listener, peers, nranks, rank, id->token);
        else if (ok && rank != 0)
            link = shm_open_link(name, nranks, rank);
        own.ok = link != NULL;
        ok = ok && do_round(root, &own, all, nranks);
        if (shared && rank == 0)
            shm_unlink_name(name);
    }
    if (!ok && link != NULL) {
        link->ops->close(link);
        link = NULL;
    }
    free(all);
    free(peers);
    return link;
}

struct link *bootstrap_meet(const ncclUniqueId *unique, int nranks, int rank, const char **what_p)
{
    struct joins joins = {.nranks = nranks, .rank = rank};
    struct link *link = NULL;
    struct id id;
    uint16_t port;
    int root, listener;

    memcpy(&id, unique, sizeof id);
    if (id.magic != MAGIC || nranks > MAX_RANKS)
        return NULL;
    joins.token = id.token;
    listener = tcp_listen(own_address(), &port);
    root = tcp_connect(id.address, id.port);
    if (listener >= 0 && root >= 0 && tcp_write(root, &joins, sizeof joins))
        link = meet(root, &id, nranks, rank, listener, port, what_p);
    if (root >= 0)
        close(root);
    if (listener >= 0)
        close(listener);
    return link;
}
