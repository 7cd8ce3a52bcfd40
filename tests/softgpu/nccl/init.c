/* SPDX-License-Identifier: BSD-3-Clause
 * Entry points that make communicators: by rank, all in one process, and from others. No state. */
#include "tests/softgpu/nccl/bootstrap.h"
#include "tests/softgpu/nccl/entry.h"
#include "tests/softgpu/nccl/group.h"

#include <stdlib.h>
#include <string.h>

struct join {
    ncclComm_t comm;
    ncclUniqueId id;
    ncclComm_t parent; /* from which the id is to be found out first */
    unsigned ticket;   /* among those of the parent */
    int color, key;
    const int *excluded;
    int nexcluded;
    ncclComm_t *slot; /* where the program expects the communicator; NULL: nobody waits */
};

static ncclResult_t join_end(struct join *j, ncclResult_t r)
{
    ncclComm_t comm = j->comm;
    bool blocking = comm->blocking;

    comm_met(comm);
    /* who is told of the failure by the call itself has nothing to destroy */
    if (r != ncclSuccess && blocking) {
        *j->slot = NULL;
        comm_close(comm);
    }
    return r;
}

static ncclResult_t join(void *arg)
{
    struct join *j = arg;
    ncclComm_t comm = j->comm;
    const char *transport = "";
    struct link *link = bootstrap_meet(&j->id, comm->nranks, comm->rank, &transport);

    if (link == NULL)
        return join_end(j, comm_fail(comm, ncclSystemError, "the ranks could not meet"));
    return join_end(j, comm_start(comm, link, transport));
}

/* What the ranks of the parent tell each other must come in the same order on all of them. */
static void take_ticket(void *arg)
{
    struct join *j = arg;

    j->ticket = comm_ticket(j->parent);
}

static ncclResult_t begin_join(ncclComm_t *out, const struct join *like, int nranks, int rank,
                               const ncclConfig_t *config, ncclResult_t (*fn)(void *arg))
{
    struct join *j = malloc(sizeof *j);
    ncclComm_t comm = comm_make(nranks, rank);

    if (comm == NULL || j == NULL) {
        free(j);
        return group_failed(ncclUnhandledCudaError);
    }
    if (config != NULL && config->blocking != NCCL_CONFIG_UNDEF_INT)
        comm->blocking = config->blocking;
    comm->meeting = true;
    *j = *like;
    j->comm = *out = comm;
    j->slot = comm->blocking ? out : NULL;
    return group_add_meeting(comm, like->parent ? take_ticket : NULL, fn, j);
}

static ncclResult_t init_rank(ncclComm_t *comm, int nranks, const ncclUniqueId *id, int rank,
                              const ncclConfig_t *config)
{
    struct join j = {.id = *id};

    if (comm == NULL || nranks < 1 || nranks > MAX_RANKS || rank < 0 || rank >= nranks ||
        (config != NULL && (config->magic != 0xcafebeef ||
                            (config->blocking != NCCL_CONFIG_UNDEF_INT && config->blocking & ~1))))
        return group_failed(ncclInvalidArgument);
    return begin_join(comm, &j, nranks, rank, config, join);
}

/* A call that may stand alone or in a group. */
#define GROUPED(_call)                                                                             \
    do {                                                                                           \
        ncclResult_t called_, ended_;                                                              \
        group_begin();                                                                             \
        called_ = (_call);                                                                         \
        ended_ = group_end();                                                                      \
        return called_ != ncclSuccess ? called_ : ended_;                                          \
    } while (0)

API ncclResult_t pncclGetUniqueId(ncclUniqueId *id)
{
    BEGIN("ncclGetUniqueId");
    return id == NULL ? ncclInvalidArgument : bootstrap_make_id(id);
}

API ncclResult_t pncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank)
{
    BEGIN("ncclCommInitRank");
    GROUPED(init_rank(comm, nranks, &id, rank, NULL));
}

API ncclResult_t pncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank,
                                         ncclConfig_t *config)
{
    BEGIN("ncclCommInitRankConfig");
    GROUPED(init_rank(comm, nranks, &id, rank, config));
}

/* Several ids spread the load of the meeting; the first one will do. */
API ncclResult_t pncclCommInitRankScalable(ncclComm_t *comm, int nranks, int rank, int nids,
                                           ncclUniqueId *id, ncclConfig_t *config)
{
    BEGIN("ncclCommInitRankScalable");
    if (nids < 1 || id == NULL)
        return group_failed(ncclInvalidArgument);
    GROUPED(init_rank(comm, nranks, id, rank, config));
}

static ncclResult_t init_all(ncclComm_t *comm, int n, const int *devices)
{
    const struct gpu *gpu = gpu_get();
    CUcontext before = NULL;
    ncclUniqueId id;
    ncclResult_t r = ncclSuccess;
    int count = 0;

    if (comm == NULL || n < 1)
        return group_failed(ncclInvalidArgument);
    if (gpu == NULL || gpu->init(0) != CUDA_SUCCESS || gpu->device_count(&count) != CUDA_SUCCESS)
        return group_failed(ncclUnhandledCudaError);
    for (int k = 0; k < n; k++) {
        if ((devices ? devices[k] : k) < 0 || (devices ? devices[k] : k) >= count)
            return group_failed(ncclInvalidUsage);
        for (int m = 0; devices && m < k; m++)
            if (devices[m] == devices[k])
                return group_failed(ncclInvalidUsage);
    }
    r = bootstrap_make_id(&id);
    gpu->current(&before);
    for (int k = 0; k < n && r == ncclSuccess; k++) {
        CUcontext context;

        if (gpu->primary_retain(&context, devices ? devices[k] : k) != CUDA_SUCCESS ||
            gpu->set_current(context) != CUDA_SUCCESS)
            r = group_failed(ncclUnhandledCudaError);
        else
            r = init_rank(&comm[k], n, &id, k, NULL);
    }
    gpu->set_current(before);
    return r;
}

API ncclResult_t pncclCommInitAll(ncclComm_t *comm, int n, const int *devices)
{
    BEGIN("ncclCommInitAll");
    GROUPED(init_all(comm, n, devices));
}

/* Passes on an id from the leader to the other members over the parent's links. member: ranks of
 * the parent, in the new order. */
static ncclResult_t share_id(struct join *j, const int *member, int n, int own)
{
    struct task *task = calloc((size_t)n, sizeof *task);
    ncclResult_t r = task == NULL ? ncclSystemError : ncclSuccess;
    unsigned ntasks = 0;

    if (r == ncclSuccess && own == 0)
        r = bootstrap_make_id(&j->id);
    for (int k = 1; k < n && r == ncclSuccess; k++) {
        if (own != 0 && k != own)
            continue;
        task[ntasks++] = (struct task){.kind = own ? TASK_RECEIVE : TASK_SEND,
                                       .send = j->id.internal,
                                       .receive = j->id.internal,
                                       .count = sizeof j->id.internal,
                                       .type = ncclInt8,
                                       .peer = member[own ? 0 : k]};
    }
    if (r == ncclSuccess && ntasks > 0)
        r = comm_run_now(j->parent, task, ntasks);
    free(task);
    return r;
}

/* Which of the members this rank is, and the id by which they meet. */
static ncclResult_t agree(struct join *j, const int *member, int n)
{
    int own = 0;

    while (own < n && member[own] != j->parent->rank)
        own++;
    j->comm->nranks = n;
    j->comm->rank = own;
    return share_id(j, member, n, own);
}

/* The members, n of them (0: this rank is none), meet. r: whether they could agree. */
static ncclResult_t meet_members(struct join *j, int n, ncclResult_t r)
{
    comm_end_turn(j->parent);
    if (r != ncclSuccess)
        return join_end(j, comm_fail(j->comm, r, "the new ranks could not agree"));
    if (n > 0)
        return join(j);
    comm_met(j->comm);
    comm_close(j->comm);
    return ncclSuccess;
}

struct vote {
    int color, key;
};

static int color_of(const struct vote *vote, int rank)
{
    return vote[rank].color;
}

/* Members of the own color by key, then by rank. */
static int choose_members(const struct vote *vote, int nranks, int color, int *member)
{
    int n = 0;

    for (int k = 0; k < nranks; k++) {
        int at = n;

        if (color_of(vote, k) != color)
            continue;
        while (at > 0 && vote[member[at - 1]].key > vote[k].key) {
            member[at] = member[at - 1];
            at--;
        }
        member[at] = k;
        n++;
    }
    return n;
}

static ncclResult_t split(void *arg)
{
    struct join *j = arg;
    ncclComm_t parent = j->parent;
    struct vote own = {j->color, j->key}, *vote = calloc((size_t)parent->nranks, sizeof *vote);
    int *member = calloc((size_t)parent->nranks, sizeof *member), n = 0;
    struct task gather = {.kind = TASK_ALL_GATHER,
                          .send = (const char *)&own,
                          .receive = (char *)vote,
                          .count = sizeof own,
                          .type = ncclInt8};
    ncclResult_t r = vote != NULL && member != NULL ? ncclSuccess : ncclSystemError;

    comm_wait_turn(parent, j->ticket);
    if (r == ncclSuccess)
        r = comm_run_now(parent, &gather, 1);
    if (r == ncclSuccess && j->color != NCCL_SPLIT_NOCOLOR) {
        n = choose_members(vote, parent->nranks, j->color, member);
        r = agree(j, member, n);
    }
    free(vote);
    free(member);
    return meet_members(j, n, r);
}

static ncclResult_t begin_split(ncclComm_t parent, int color, int key, ncclComm_t *out,
                                const ncclConfig_t *config)
{
    struct join j = {.parent = parent, .color = color, .key = key};
    ncclResult_t r = entry_comm(parent);

    if (r == ncclSuccess && (out == NULL || (color < 0 && color != NCCL_SPLIT_NOCOLOR)))
        r = ncclInvalidArgument;
    if (r != ncclSuccess)
        return group_failed(r);
    r = begin_join(out, &j, 1, 0, config, split);
    if (r == ncclSuccess && color == NCCL_SPLIT_NOCOLOR)
        *out = NULL;
    return r;
}

API ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out,
                                ncclConfig_t *config)
{
    BEGIN("ncclCommSplit");
    GROUPED(begin_split(comm, color, key, out, config));
}

static bool excluded(const struct join *j, int rank)
{
    for (int k = 0; k < j->nexcluded; k++)
        if (j->excluded[k] == rank)
            return true;
    return false;
}

/* The ranks that are left meet; those left out don't take part. */
static ncclResult_t shrink(void *arg)
{
    struct join *j = arg;
    int *member = calloc((size_t)j->parent->nranks, sizeof *member), n = 0;
    ncclResult_t r = ncclSystemError;

    comm_wait_turn(j->parent, j->ticket);
    for (int k = 0; member != NULL && k < j->parent->nranks; k++)
        if (!excluded(j, k))
            member[n++] = k;
    if (member != NULL)
        r = agree(j, member, n);
    free(member);
    return meet_members(j, n, r);
}

static ncclResult_t begin_shrink(ncclComm_t parent, int *list, int n, ncclComm_t *out,
                                 const ncclConfig_t *config)
{
    struct join j = {.parent = parent, .excluded = list, .nexcluded = n};
    ncclResult_t r = entry_comm(parent);

    if (r == ncclSuccess && (out == NULL || n < 1 || list == NULL || excluded(&j, parent->rank)))
        r = ncclInvalidArgument;
    return r == ncclSuccess ? begin_join(out, &j, 1, 0, config, shrink) : group_failed(r);
}

API ncclResult_t pncclCommShrink(ncclComm_t comm, int *list, int n, ncclComm_t *out,
                                 ncclConfig_t *config, int flags)
{
    (void)flags;
    BEGIN("ncclCommShrink");
    GROUPED(begin_shrink(comm, list, n, out, config));
}

TWIN(GetUniqueId);
TWIN(CommInitRank);
TWIN(CommInitRankConfig);
TWIN(CommInitRankScalable);
TWIN(CommInitAll);
TWIN(CommSplit);
TWIN(CommShrink);
