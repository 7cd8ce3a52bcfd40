/* SPDX-License-Identifier: BSD-3-Clause
 * Groups of calls. All state is one thread's, from the first start to the last end. */
#include "tests/softgpu/nccl/group.h"

#include <stdlib.h>

struct entry {
    ncclComm_t comm;
    struct task task;
    bool taken;
};

struct meeting {
    ncclComm_t comm;
    void (*start)(void *arg);
    ncclResult_t (*fn)(void *arg);
    void *arg;
    ncclResult_t result;
    pthread_t thread;
    bool started;
};

static _Thread_local struct {
    unsigned depth;
    ncclResult_t result;
    struct entry *entry;
    unsigned n, room;
    struct meeting *meeting;
    unsigned nmeetings;
} group;

void group_begin(void)
{
    group.depth++;
}

bool group_open(void)
{
    return group.depth > 0;
}

ncclResult_t group_failed(ncclResult_t result)
{
    if (group.depth > 0 && group.result == ncclSuccess)
        group.result = result;
    return result;
}

ncclResult_t group_add_task(ncclComm_t comm, const struct task *task)
{
    if (group.n == group.room) {
        unsigned room = group.room ? 2 * group.room : 16;
        struct entry *bigger = realloc(group.entry, room * sizeof *bigger);

        if (bigger == NULL)
            return group_failed(ncclSystemError);
        group.entry = bigger;
        group.room = room;
    }
    group.entry[group.n++] = (struct entry){.comm = comm, .task = *task};
    return ncclSuccess;
}

ncclResult_t group_add_meeting(ncclComm_t comm, void (*start)(void *), ncclResult_t (*fn)(void *),
                               void *arg)
{
    struct meeting *bigger = realloc(group.meeting, (group.nmeetings + 1) * sizeof *bigger);

    if (bigger == NULL) {
        free(arg);
        return group_failed(ncclSystemError);
    }
    group.meeting = bigger;
    group.meeting[group.nmeetings++] =
        (struct meeting){.comm = comm, .start = start, .fn = fn, .arg = arg};
    return ncclSuccess;
}

static void *meet(void *arg)
{
    struct meeting *m = arg;

    m->result = m->fn(m->arg);
    free(m->arg);
    return NULL;
}

static void *meet_alone(void *arg)
{
    meet(arg);
    free(arg);
    return NULL;
}

/* One that nobody waits for: the program asks for its state. */
static ncclResult_t meet_later(const struct meeting *m)
{
    struct meeting *own = malloc(sizeof *own);
    pthread_t thread;

    if (own == NULL)
        return ncclSystemError;
    *own = *m;
    if (pthread_create(&thread, NULL, meet_alone, own) != 0) {
        free(own);
        return ncclSystemError;
    }
    pthread_detach(thread);
    return ncclInProgress;
}

static ncclResult_t run_meetings(struct meeting *all, unsigned n)
{
    ncclResult_t r = ncclSuccess;

    for (unsigned k = 0; k < n; k++) {
        if (all[k].start != NULL)
            all[k].start(all[k].arg);
        if (!all[k].comm->blocking)
            all[k].result = meet_later(&all[k]);
        else if (n == 1)
            meet(&all[k]);
        else
            all[k].started = pthread_create(&all[k].thread, NULL, meet, &all[k]) == 0;
        if (n > 1 && all[k].comm->blocking && !all[k].started)
            all[k].result = ncclSystemError;
    }
    for (unsigned k = 0; k < n; k++) {
        if (all[k].started)
            pthread_join(all[k].thread, NULL);
        if (r == ncclSuccess || r == ncclInProgress)
            r = all[k].result != ncclSuccess ? all[k].result : r;
    }
    return r;
}

/* The tasks of each communicator, in the order of the calls. */
static ncclResult_t launch(struct entry *entry, unsigned n)
{
    ncclResult_t r = ncclSuccess;

    for (unsigned k = 0; k < n && r == ncclSuccess; k++) {
        struct task *task;
        unsigned count = 0;

        if (entry[k].taken)
            continue;
        task = calloc(n - k, sizeof *task);
        if (task == NULL)
            return ncclSystemError;
        for (unsigned m = k; m < n; m++) {
            if (entry[m].comm != entry[k].comm)
                continue;
            entry[m].taken = true;
            task[count++] = entry[m].task;
        }
        r = comm_launch(entry[k].comm, task, count);
    }
    return r;
}

ncclResult_t group_end(void)
{
    struct entry *entry = group.entry;
    struct meeting *meeting = group.meeting;
    unsigned n = group.n, nmeetings = group.nmeetings;
    ncclResult_t r = group.result, launched;

    if (group.depth == 0)
        return ncclInvalidUsage;
    if (--group.depth > 0)
        return ncclSuccess;
    group.entry = NULL;
    group.meeting = NULL;
    group.n = group.room = group.nmeetings = 0;
    group.result = ncclSuccess;
    if (r == ncclSuccess)
        r = run_meetings(meeting, nmeetings);
    else
        for (unsigned k = 0; k < nmeetings; k++)
            free(meeting[k].arg);
    if (r == ncclSuccess || r == ncclInProgress) {
        launched = launch(entry, n);
        r = launched != ncclSuccess ? launched : r;
    }
    free(entry);
    free(meeting);
    return r;
}
