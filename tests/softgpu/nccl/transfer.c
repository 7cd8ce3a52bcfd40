/* SPDX-License-Identifier: BSD-3-Clause
 * Messages between ranks: several at a time, in both directions, so that no order of calls within a
 * group can lock up. Each begins with what it belongs to: ranks that don't do the same are told. */
#include "tests/softgpu/nccl/comm.h"

#include <string.h>

enum { VAIN_WAITS = 3 };

/* Messages to oneself: each send to the receive of the same number. */
static ncclResult_t copy_own(ncclComm_t comm, struct transfer *t, unsigned n)
{
    unsigned at = 0;

    for (unsigned k = 0; k < n; k++) {
        if (t[k].peer != comm->rank || !t[k].send)
            continue;
        while (at < n && (t[at].peer != comm->rank || t[at].send))
            at++;
        if (at == n || t[at].bytes != t[k].bytes)
            return comm_fail(comm, ncclInvalidUsage,
                             "a message of %zu bytes to itself finds no receiver", t[k].bytes);
        memmove(t[at].p, t[k].p, t[k].bytes);
        at++;
    }
    for (; at < n; at++)
        if (t[at].peer == comm->rank && !t[at].send)
            return comm_fail(comm, ncclInvalidUsage, "nothing is sent to itself for a receive");
    return ncclSuccess;
}

static ncclResult_t check_header(ncclComm_t comm, const struct transfer *t, enum task_kind kind,
                                 uint32_t detail)
{
    const struct header *h = &t->header;
    /* a receive meets a send */
    uint32_t wanted = kind == TASK_RECEIVE ? TASK_SEND : kind;

    if (h->kind == wanted && h->detail == detail && h->bytes == t->bytes)
        return ncclSuccess;
    return comm_fail(
        comm, ncclInvalidUsage, "%s, %zu bytes from rank %d expected, meets %s, %llu bytes%s",
        task_names[wanted], t->bytes, t->peer,
        h->kind < TASK_KINDS ? task_names[h->kind] : "something else", (unsigned long long)h->bytes,
        h->kind == wanted && h->bytes == t->bytes ? " (another type, operation or turn)" : "");
}

static bool finished(const struct transfer *t)
{
    return t->header_done == sizeof t->header && t->done == t->bytes;
}

/* Moves what can be moved now: bytes, 0, or -1 when the peer is gone. */
static long advance(struct link *link, struct transfer *t)
{
    long sum = 0, n;

    while (!finished(t)) {
        bool head = t->header_done < sizeof t->header;
        char *p = head ? (char *)&t->header + t->header_done : t->p + t->done;
        size_t left = head ? sizeof t->header - t->header_done : t->bytes - t->done;

        n = t->send ? link->ops->send(link, t->peer, p, left)
                    : link->ops->receive(link, t->peer, p, left);
        if (n < 0)
            return sum > 0 ? sum : -1;
        if (n == 0)
            return sum;
        *(head ? &t->header_done : &t->done) += (size_t)n;
        sum += n;
        if (head && !t->send && t->header_done == sizeof t->header)
            return sum; /* to be checked before anything is written */
    }
    return sum;
}

/* One pass over all. Returns what moved, -1 for an error. */
static long pass(ncclComm_t comm, struct transfer *t, unsigned n, uint8_t *want, bool *all_p,
                 enum task_kind kind, uint32_t detail)
{
    long moved = 0;

    memset(want, 0, (size_t)comm->nranks);
    *all_p = true;
    for (unsigned k = 0; k < n; k++) {
        uint8_t direction = t[k].send ? WANT_SEND : WANT_RECEIVE;
        bool had_header = t[k].header_done == sizeof t[k].header;
        long one;

        if (t[k].peer == comm->rank || finished(&t[k]))
            continue;
        /* a message of a kind of its own: the first of a peer and direction goes first */
        if (want[t[k].peer] & direction) {
            *all_p = false;
            continue;
        }
        one = advance(comm->link, &t[k]);
        if (one < 0) {
            comm_fail(comm, ncclRemoteError, "rank %d is gone", t[k].peer);
            return -1;
        }
        if (!t[k].send && !had_header && t[k].header_done == sizeof t[k].header &&
            check_header(comm, &t[k], kind, detail) != ncclSuccess)
            return -1;
        moved += one;
        if (!finished(&t[k])) {
            want[t[k].peer] |= direction;
            *all_p = false;
        }
    }
    return moved;
}

ncclResult_t transfers_run(ncclComm_t comm, struct transfer *t, unsigned n, enum task_kind kind,
                           uint32_t detail)
{
    uint8_t want[MAX_RANKS];
    ncclResult_t r = copy_own(comm, t, n);
    unsigned vain = 0;
    bool all;

    if (r != ncclSuccess)
        return r;
    for (unsigned k = 0; k < n; k++) {
        t[k].done = t[k].header_done = 0;
        t[k].header = (struct header){kind == TASK_RECEIVE ? TASK_SEND : kind, detail, t[k].bytes};
    }
    for (;;) {
        long moved = pass(comm, t, n, want, &all, kind, detail);

        if (moved < 0)
            return (ncclResult_t)comm->result;
        if (all)
            return ncclSuccess;
        if (comm->aborted)
            return ncclInternalError;
        if (moved > 0) {
            vain = 0;
            continue;
        }
        /* what a peer sent before it ended has arrived by now */
        for (int k = 0; vain > VAIN_WAITS && k < comm->nranks; k++)
            if (want[k] && comm->link->ops->lost(comm->link, k))
                return comm_fail(comm, ncclRemoteError, "rank %d is gone", k);
        comm->link->ops->wait(comm->link, want);
        vain++;
    }
}
