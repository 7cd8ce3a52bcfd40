/* SPDX-License-Identifier: BSD-3-Clause
 * Arenas: reserved address ranges with known live allocations. A table with one entry per granule of
 * SG_ALIGN bytes names the allocation that covers it, so a look-up is two loads without a lock.
 * Blocks, live and free, form a list in address order; a free granule follows each allocation, so
 * that an access past its end never lands in the next one. The arena owns all of it. */
#include "mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BLOCKS = 1 << 22, LARGE = 4 << 20, POISON = 0xff };

#define RESERVE_MAX ((size_t)256 << 30)
#define RESERVE_MIN ((size_t)1 << 30)

struct block {
    _Atomic uintptr_t base;
    _Atomic size_t bytes;     /* as requested; 0: free */
    _Atomic uint64_t serial;
    size_t extent;            /* bytes taken in the range, with the free granule behind */
    uint32_t prev, next;      /* in address order; 0: none */
};

/* Adopted ranges. Never changed once readers can see it: a change makes a new one. */
struct adopted {
    struct adopted *older;
    size_t n;
    struct sg_range range[];
};

struct sg_arena {
    pthread_mutex_t lock;     /* everything below but the two tables' lock-free reads */
    char name[32];
    uintptr_t base;
    size_t reserved;
    _Atomic uint64_t capacity, used;
    uint64_t serial;
    bool reuse;
    uintptr_t fresh;              /* nothing was ever allocated from here on */
    uint32_t last, blocks, spare; /* last block of the range; entries in use; head of the unused list */
    struct block *block;          /* by number; 0 is not used */
    _Atomic uint32_t *granule;    /* number of the live block that covers it */
    _Atomic(struct adopted *) adopted; /* NULL: none; older ones are kept for readers in progress */
};

/* A file of poison that large allocations map privately: untouched pages then cost nothing. */
static struct {
    pthread_mutex_t lock;
    int fd;
    size_t bytes;
} poison = {PTHREAD_MUTEX_INITIALIZER, -1, (size_t)16 << 20};

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_DONTDUMP);
    return p;
}

static int poison_file(void)
{
    pthread_mutex_lock(&poison.lock);
    if (poison.fd < 0) {
        int fd = memfd_create("softgpu-poison", MFD_CLOEXEC);

        if (fd >= 0 && ftruncate(fd, (off_t)poison.bytes) == 0) {
            void *p = mmap(NULL, poison.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

            if (p != MAP_FAILED) {
                memset(p, POISON, poison.bytes);
                munmap(p, poison.bytes);
                poison.fd = fd;
            }
        }
        if (poison.fd < 0 && fd >= 0)
            close(fd);
    }
    pthread_mutex_unlock(&poison.lock);
    return poison.fd;
}

static void fill(uintptr_t base, size_t bytes)
{
    int fd = bytes >= LARGE ? poison_file() : -1;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), done = 0;
    uintptr_t inner = (base + page - 1) & ~(page - 1), end = (base + bytes) & ~(page - 1);

    if (fd < 0) {
        memset((void *)base, POISON, bytes);
        return;
    }
    for (size_t n = end - inner; done < n;) {
        size_t step = n - done < poison.bytes ? n - done : poison.bytes;

        if (mmap((void *)(inner + done), step, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
            break;
        done += step;
    }
    memset((void *)base, POISON, inner - base);
    memset((void *)(inner + done), POISON, base + bytes - (inner + done));
}

/* Gives the pages inside of a large allocation back to the system: [*inner_p, *end_p), then zeros. */
static bool drop(uintptr_t base, size_t bytes, uintptr_t *inner_p, uintptr_t *end_p)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *inner_p = (base + page - 1) & ~(page - 1);
    *end_p = (base + bytes) & ~(page - 1);
    return bytes >= LARGE &&
           mmap((void *)*inner_p, *end_p - *inner_p, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static uint32_t block_new(struct sg_arena *a)
{
    uint32_t k = a->spare;

    if (k) {
        a->spare = a->block[k].next;
        return k;
    }
    return a->blocks + 1 < MAX_BLOCKS ? ++a->blocks : 0;
}

static void block_drop(struct sg_arena *a, uint32_t k)
{
    a->block[k].next = a->spare;
    a->spare = k;
}

struct sg_arena *sg_arena_new(const char *name, uint64_t capacity)
{
    struct sg_arena *a = calloc(1, sizeof *a);
    void *p = NULL;
    struct block *all;

    if (!a)
        return NULL;
    for (a->reserved = RESERVE_MAX; a->reserved >= RESERVE_MIN; a->reserved /= 2)
        if ((p = reserve(a->reserved)))
            break;
    a->base = (uintptr_t)p;
    a->block = reserve(MAX_BLOCKS * sizeof *a->block);
    a->granule = p ? reserve(a->reserved / SG_ALIGN * sizeof *a->granule) : NULL;
    if (!a->granule || !a->block) {
        sg_arena_delete(a);
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    strncpy(a->name, name, sizeof a->name - 1);
    atomic_init(&a->capacity, capacity);
    a->reuse = true;
    a->last = block_new(a);
    all = &a->block[a->last];
    atomic_init(&all->base, a->base);
    all->extent = a->reserved;
    return a;
}

void sg_arena_delete(struct sg_arena *a)
{
    if (!a)
        return;
    for (struct adopted *all = a->adopted, *older; all; all = older) {
        older = all->older;
        free(all);
    }
    if (a->base)
        munmap((void *)a->base, a->reserved);
    if (a->block)
        munmap(a->block, MAX_BLOCKS * sizeof *a->block);
    if (a->granule) {
        munmap((void *)a->granule, a->reserved / SG_ALIGN * sizeof *a->granule);
        pthread_mutex_destroy(&a->lock);
    }
    free(a);
}

static void cover(struct sg_arena *a, uintptr_t base, size_t bytes, uint32_t number)
{
    size_t first = (base - a->base) / SG_ALIGN, n = (bytes + SG_ALIGN - 1) / SG_ALIGN;

    for (size_t k = 0; k < n; k++)
        atomic_store_explicit(&a->granule[first + k], number, memory_order_release);
}

/* Cuts block k after extent bytes; what remains becomes block rest, free. */
static void split(struct sg_arena *a, uint32_t k, uint32_t rest, size_t extent)
{
    struct block *b = &a->block[k], *r = &a->block[rest];

    r->base = b->base + extent;
    r->bytes = 0;
    r->extent = b->extent - extent;
    r->prev = k;
    r->next = b->next;
    if (b->next)
        a->block[b->next].prev = rest;
    else
        a->last = rest;
    b->next = rest;
    b->extent = extent;
}

/* Without reuse the last block must begin where nothing was before. */
static void keep_used(struct sg_arena *a)
{
    struct block *b = &a->block[a->last];
    uint32_t rest;

    if (b->bytes || b->base >= a->fresh || a->fresh - b->base >= b->extent)
        return;
    rest = block_new(a);
    if (rest)
        split(a, a->last, rest, a->fresh - b->base);
}

/* The free block to take from: the lowest that fits, or without reuse the one at the end. */
static uint32_t fit(const struct sg_arena *a, size_t extent)
{
    uint32_t k = a->last, best = 0;

    if (!a->reuse && !a->block[k].bytes && a->block[k].extent >= extent)
        return k;
    for (; k; k = a->block[k].prev)
        if (!a->block[k].bytes && a->block[k].extent >= extent)
            best = k;
    return best;
}

void *sg_arena_alloc(struct sg_arena *a, size_t bytes)
{
    size_t extent = (bytes + SG_ALIGN - 1) / SG_ALIGN * SG_ALIGN + SG_ALIGN;
    uint32_t k, rest;
    struct block *b;
    uintptr_t base;

    if (bytes == 0 || bytes > a->reserved)
        return NULL;
    pthread_mutex_lock(&a->lock);
    if (!a->reuse)
        keep_used(a);
    k = a->used + bytes <= a->capacity ? fit(a, extent) : 0;
    rest = k && a->block[k].extent > extent ? block_new(a) : 0;
    if (!k || (a->block[k].extent > extent && !rest)) {
        pthread_mutex_unlock(&a->lock);
        return NULL;
    }
    b = &a->block[k];
    base = b->base;
    if (rest)
        split(a, k, rest, extent);
    if (a->fresh < base + extent)
        a->fresh = base + extent;
    b->serial = ++a->serial;
    b->bytes = bytes;
    a->used += bytes;
    fill(base, bytes);
    cover(a, base, bytes, k);
    pthread_mutex_unlock(&a->lock);
    return (void *)base;
}

void sg_arena_clear(struct sg_arena *a, void *p)
{
    uintptr_t inner, end;
    struct sg_range r;

    if (!sg_arena_find(a, (uintptr_t)p, &r))
        return;
    if (drop(r.base, r.bytes, &inner, &end)) {
        memset((void *)r.base, 0, inner - r.base);
        memset((void *)end, 0, r.base + r.bytes - end);
    } else {
        memset((void *)r.base, 0, r.bytes);
    }
}

/* Joins block k with its free successor. */
static void join(struct sg_arena *a, uint32_t k)
{
    struct block *b = &a->block[k];
    uint32_t n = b->next;

    if (!n || b->bytes || a->block[n].bytes)
        return;
    b->extent += a->block[n].extent;
    b->next = a->block[n].next;
    if (b->next)
        a->block[b->next].prev = k;
    else
        a->last = k;
    block_drop(a, n);
}

int sg_arena_free(struct sg_arena *a, void *p)
{
    uintptr_t addr = (uintptr_t)p, inner, end;
    uint32_t k;
    size_t bytes;

    if (addr - a->base >= a->reserved)
        return -1;
    pthread_mutex_lock(&a->lock);
    k = a->granule[(addr - a->base) / SG_ALIGN];
    if (!k || a->block[k].base != addr) {
        pthread_mutex_unlock(&a->lock);
        return -1;
    }
    bytes = a->block[k].bytes;
    cover(a, addr, bytes, 0);
    drop(addr, bytes, &inner, &end);
    a->used -= bytes;
    a->block[k].bytes = 0;
    join(a, k);
    if (a->block[k].prev)
        join(a, a->block[k].prev);
    pthread_mutex_unlock(&a->lock);
    return 0;
}

void sg_arena_set_reuse(struct sg_arena *a, bool reuse)
{
    pthread_mutex_lock(&a->lock);
    a->reuse = reuse;
    pthread_mutex_unlock(&a->lock);
}

uint64_t sg_arena_used(const struct sg_arena *a)
{
    return a->used;
}

uint64_t sg_arena_capacity(const struct sg_arena *a)
{
    return a->capacity;
}

void sg_arena_set_capacity(struct sg_arena *a, uint64_t capacity)
{
    a->capacity = capacity;
}

static bool find_adopted(const struct sg_arena *a, uintptr_t addr, struct sg_range *out)
{
    const struct adopted *all = atomic_load_explicit(&a->adopted, memory_order_acquire);

    for (size_t k = 0; all && k < all->n; k++)
        if (addr - all->range[k].base < all->range[k].bytes) {
            *out = all->range[k];
            return true;
        }
    return false;
}

static bool in_reserved(const struct sg_arena *a, uintptr_t addr)
{
    return addr - a->base < a->reserved;
}

/* With the lock held: publishes the ranges without number skip (n: none) and with one more. */
static int publish(struct sg_arena *a, size_t skip, const struct sg_range *more)
{
    struct adopted *old = a->adopted;
    size_t n = old ? old->n : 0;
    struct adopted *all = malloc(sizeof *all + (n + 1) * sizeof *all->range);

    if (!all)
        return -1;
    all->older = old;
    all->n = 0;
    for (size_t k = 0; k < n; k++)
        if (k != skip)
            all->range[all->n++] = old->range[k];
    if (more)
        all->range[all->n++] = *more;
    atomic_store_explicit(&a->adopted, all, memory_order_release);
    return 0;
}

int sg_arena_adopt(struct sg_arena *a, void *p, size_t bytes)
{
    uintptr_t base = (uintptr_t)p;
    int r = bytes == 0 || base + bytes < base || in_reserved(a, base) ? -1 : 0;

    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; a->adopted && k < a->adopted->n && !r; k++) {
        const struct sg_range *other = &a->adopted->range[k];

        if (base < other->base + other->bytes && other->base < base + bytes)
            r = -1;
    }
    if (!r)
        r = publish(a, SIZE_MAX, &(struct sg_range){base, bytes, ++a->serial});
    pthread_mutex_unlock(&a->lock);
    return r;
}

int sg_arena_disown(struct sg_arena *a, void *p)
{
    int r = -1;

    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; a->adopted && k < a->adopted->n && r; k++)
        if (a->adopted->range[k].base == (uintptr_t)p) {
            r = publish(a, k, NULL);
            break;
        }
    pthread_mutex_unlock(&a->lock);
    return r;
}

bool sg_arena_owns(const struct sg_arena *a, uintptr_t addr)
{
    struct sg_range r;

    return in_reserved(a, addr) || find_adopted(a, addr, &r);
}

bool sg_arena_find(const struct sg_arena *a, uintptr_t addr, struct sg_range *out)
{
    const struct block *b;
    uint32_t k;

    if (!in_reserved(a, addr))
        return find_adopted(a, addr, out);
    k = atomic_load_explicit(&a->granule[(addr - a->base) / SG_ALIGN], memory_order_acquire);
    if (!k)
        return false;
    b = &a->block[k];
    out->base = atomic_load_explicit(&b->base, memory_order_relaxed);
    out->bytes = atomic_load_explicit(&b->bytes, memory_order_relaxed);
    out->serial = atomic_load_explicit(&b->serial, memory_order_relaxed);
    return addr - out->base < out->bytes;
}

bool sg_arena_nearest(const struct sg_arena *a, uintptr_t addr, struct sg_range *out)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&a->lock;
    uintptr_t best = UINTPTR_MAX;

    pthread_mutex_lock(lock);
    for (uint32_t k = a->last; k; k = a->block[k].prev) {
        const struct block *b = &a->block[k];
        uintptr_t away;

        if (!b->bytes)
            continue;
        away = addr < b->base ? b->base - addr
                              : addr - b->base < b->bytes ? 0 : addr - (b->base + b->bytes) + 1;
        if (away < best) {
            best = away;
            *out = (struct sg_range){b->base, b->bytes, b->serial};
        }
    }
    pthread_mutex_unlock(lock);
    return best != UINTPTR_MAX;
}

void sg_arena_each(const struct sg_arena *a, void (*fn)(const struct sg_range *, void *), void *arg)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&a->lock;
    struct sg_range *all;
    size_t n = 0, k = 0;

    /* copied under the lock, so that fn may call back into the arena */
    pthread_mutex_lock(lock);
    for (uint32_t b = a->last; b; b = a->block[b].prev)
        n += a->block[b].bytes != 0;
    all = malloc((n + 1) * sizeof *all);
    for (uint32_t b = a->last; b && all; b = a->block[b].prev)
        if (a->block[b].bytes)
            all[k++] = (struct sg_range){a->block[b].base, a->block[b].bytes, a->block[b].serial};
    pthread_mutex_unlock(lock);
    while (k-- > 0)
        fn(&all[k], arg);
    free(all);
}

bool sg_space_check(const struct sg_space *space, uintptr_t addr, size_t bytes)
{
    struct sg_range r;

    for (unsigned k = 0; k < space->n; k++)
        if (sg_arena_find(space->arena[k], addr, &r))
            return bytes <= r.bytes - (addr - r.base);
    return false;
}
