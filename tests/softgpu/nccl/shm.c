/* SPDX-License-Identifier: BSD-3-Clause
 * Links over shared memory: one ring of bytes for each ordered pair of ranks, and a futex for each
 * rank that rings when one of its rings changes. A rank that lives holds a lock on one byte of the
 * file, which the system drops when its process ends, however it ends. */
#include "tests/softgpu/nccl/link.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_BYTES = 128 << 10, LINE = 64, WAIT_NS = 20000000 };

struct ring {
    _Alignas(LINE) _Atomic uint64_t written;
    _Alignas(LINE) _Atomic uint64_t read;
    _Alignas(LINE) char data[RING_BYTES];
};

struct bell {
    _Alignas(LINE) _Atomic uint32_t rings;
};

struct shm {
    struct link link;
    int fd;
    size_t bytes;
    char *memory;
    struct bell *bell; /* nranks */
    struct ring *ring; /* nranks * nranks: from, to */
    uint32_t heard;
};

static struct shm *shm_of(struct link *link)
{
    return (struct shm *)link;
}

static struct ring *ring_of(struct shm *s, int from, int to)
{
    return &s->ring[from * s->link.nranks + to];
}

static void ring_bell(struct bell *bell)
{
    bell->rings++;
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A ring's bytes from a position on, as they lie: up to its end. */
static size_t straight(uint64_t at, size_t bytes)
{
    size_t left = RING_BYTES - at % RING_BYTES;

    return bytes < left ? bytes : left;
}

static bool shm_lost(struct link *link, int peer)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = peer, .l_len = 1};

    return fcntl(shm_of(link)->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

static long shm_send(struct link *link, int peer, const void *p, size_t bytes)
{
    struct shm *s = shm_of(link);
    struct ring *r = ring_of(s, link->rank, peer);
    uint64_t at = r->written;
    size_t room = RING_BYTES - (size_t)(at - r->read), n = bytes < room ? bytes : room, first;

    if (n == 0)
        return 0;
    first = straight(at, n);
    memcpy(r->data + at % RING_BYTES, p, first);
    memcpy(r->data, (const char *)p + first, n - first);
    r->written = at + n;
    ring_bell(&s->bell[peer]);
    return (long)n;
}

static long shm_receive(struct link *link, int peer, void *p, size_t bytes)
{
    struct shm *s = shm_of(link);
    struct ring *r = ring_of(s, peer, link->rank);
    uint64_t at = r->read;
    size_t there = (size_t)(r->written - at), n = bytes < there ? bytes : there, first;

    if (n == 0)
        return 0;
    first = straight(at, n);
    memcpy(p, r->data + at % RING_BYTES, first);
    memcpy((char *)p + first, r->data, n - first);
    r->read = at + n;
    ring_bell(&s->bell[peer]);
    return (long)n;
}

/* Whoever looked at the rings before has seen all that rang before `heard` was read. */
static void shm_wait(struct link *link, const uint8_t *want)
{
    struct shm *s = shm_of(link);
    struct timespec limit = {0, WAIT_NS};

    (void)want;
    syscall(SYS_futex, &s->bell[link->rank].rings, FUTEX_WAIT, s->heard, &limit, NULL, 0);
    s->heard = s->bell[link->rank].rings;
}

static void shm_poke(struct link *link)
{
    ring_bell(&shm_of(link)->bell[link->rank]);
}

static void shm_close(struct link *link)
{
    struct shm *s = shm_of(link);

    if (s->memory != NULL)
        munmap(s->memory, s->bytes);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
}

struct link *shm_open_link(const char *name, int nranks, int rank)
{
    static const struct link_ops ops = {shm_send, shm_receive, shm_wait,
                                        shm_poke, shm_lost,    shm_close};
    struct shm *s = calloc(1, sizeof *s);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
    size_t bells = (size_t)nranks * sizeof(struct bell);

    if (s == NULL)
        return NULL;
    s->link = (struct link){&ops, rank, nranks};
    s->bytes = bells + (size_t)nranks * (size_t)nranks * sizeof(struct ring);
    s->fd = shm_open(name, O_RDWR | O_CLOEXEC | (rank == 0 ? O_CREAT | O_EXCL : 0), 0600);
    if (s->fd >= 0 && (rank != 0 || ftruncate(s->fd, (off_t)s->bytes) == 0) &&
        fcntl(s->fd, F_OFD_SETLK, &lock) == 0) {
        void *p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);

        s->memory = p == MAP_FAILED ? NULL : p;
    }
    if (s->memory == NULL) {
        shm_close(&s->link);
        return NULL;
    }
    s->bell = (struct bell *)(void *)s->memory;
    s->ring = (struct ring *)(void *)(s->memory + bells);
    return &s->link;
}

void shm_unlink_name(const char *name)
{
    shm_unlink(name);
}
