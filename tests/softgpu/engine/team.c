/* SPDX-License-Identifier: BSD-3-Clause
 * The waiting threads are started when first wanted, are detached, and are forgotten by a child of
 * fork, which starts its own. All state is in `team`. */
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

enum { MAX_TEAM = 64 };

struct job {
    struct job *next;
    void (*fn)(void *);
    char *arg;
    size_t size;
    unsigned n, taken, done;
    pthread_cond_t finished;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct job *jobs;
    unsigned threads, idle;
    bool hooked;
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

unsigned team_size(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return n < 1 ? 1 : n > MAX_TEAM ? MAX_TEAM : (unsigned)n;
}

/* With the lock held: takes a part of the job, runs it without the lock. */
static void take_part(struct job *job)
{
    unsigned k = job->taken++;

    if (job->taken == job->n) {
        for (struct job **link = &team.jobs; *link; link = &(*link)->next) {
            if (*link == job) {
                *link = job->next;
                break;
            }
        }
    }
    pthread_mutex_unlock(&team.lock);
    job->fn(job->arg + k * job->size);
    pthread_mutex_lock(&team.lock);
    if (++job->done == job->n)
        pthread_cond_signal(&job->finished);
}

static void *member(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&team.lock);
    for (;;) {
        while (!team.jobs) {
            team.idle++;
            pthread_cond_wait(&team.work, &team.lock);
            team.idle--;
        }
        take_part(team.jobs);
    }
    return NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&team.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&team.lock);
}

static void in_child(void)
{
    pthread_mutex_init(&team.lock, NULL);
    pthread_cond_init(&team.work, NULL);
    team.jobs = NULL;
    team.threads = team.idle = 0;
}

/* With the lock held: one more member, which takes no signals of the program's. */
static bool hire(void)
{
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t id;
    bool ok;

    if (team.threads >= MAX_TEAM)
        return false;
    if (!team.hooked)
        team.hooked = pthread_atfork(before_fork, after_fork, in_child) == 0;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ok = team.hooked && pthread_create(&id, &attr, member, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    team.threads += ok;
    return ok;
}

void team_run(unsigned n, void (*fn)(void *), void *arg, size_t size)
{
    struct job job = {.fn = fn, .arg = arg, .size = size, .n = n};

    if (n == 1) {
        fn(arg);
        return;
    }
    pthread_cond_init(&job.finished, NULL);
    pthread_mutex_lock(&team.lock);
    job.next = team.jobs;
    team.jobs = &job;
    for (unsigned k = team.idle; k < n - 1 && hire(); k++)
        ;
    pthread_cond_broadcast(&team.work);
    while (job.taken < n)
        take_part(&job);
    while (job.done < n)
        pthread_cond_wait(&job.finished, &team.lock);
    pthread_mutex_unlock(&team.lock);
    pthread_cond_destroy(&job.finished);
}
