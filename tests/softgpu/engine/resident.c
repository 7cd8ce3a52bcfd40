/* SPDX-License-Identifier: BSD-3-Clause
 * The memory of a resident block: its warps, their registers and local memory, shared memory, laid out
 * in one mapping. Each CPU thread keeps the last one for its next launch. */
#include "resident.h"
#include "lanes.h"

#include <pthread.h>
#include <sys/mman.h>

/* more than this is given back at once */
enum { KEEP_BYTES = 64 << 20 };

static _Thread_local struct {
    void *memory;
    size_t bytes;
} kept;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void drop(void *unused)
{
    (void)unused;
    if (kept.memory)
        munmap(kept.memory, kept.bytes);
    kept.memory = NULL;
}

static void make_key(void)
{
    pthread_key_create(&key, drop);
}

/* At least *bytes_p of memory, which is set to how much it is. */
static void *take(size_t *bytes_p)
{
    void *p = kept.memory;

    if (p && kept.bytes >= *bytes_p) {
        *bytes_p = kept.bytes;
        kept.memory = NULL;
        return p;
    }
    p = mmap(NULL, *bytes_p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void block_free(struct block *b)
{
    size_t bytes = b->bytes;
    void *p = b;

    if (bytes > KEEP_BYTES || (kept.memory && kept.bytes >= bytes)) {
        munmap(p, bytes);
        return;
    }
    drop(NULL);
    kept.memory = p;
    kept.bytes = bytes;
    /* the destructor runs only where the key has a value */
    pthread_once(&once, make_key);
    pthread_setspecific(key, &kept);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void thread_rows(const struct run *run, struct warp *w)
{
    const uint32_t *dim = run->launch->block;
    uint32_t *row = (uint32_t *)(void *)w->base[BASE_WARP];

    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t t = w->number * LANES + l;

        row[WARP_TID_X * LANES + l] = t % dim[0];
        row[WARP_TID_Y * LANES + l] = t / dim[0] % dim[1];
        row[WARP_TID_Z * LANES + l] = t / dim[0] / dim[1];
        row[WARP_LANEID * LANES + l] = l;
        row[WARP_EQ * LANES + l] = 1u << l;
        row[WARP_LE * LANES + l] = (2u << l) - 1;
        row[WARP_LT * LANES + l] = (1u << l) - 1;
        row[WARP_GE * LANES + l] = ~((1u << l) - 1);
        row[WARP_GT * LANES + l] = ~((2u << l) - 1);
        row[WARP_WARPID * LANES + l] = w->number;
    }
}

/* Memory for one resident block, laid out once; blocks that follow reuse it. */
struct block *block_new(struct worker *wk)
{
    const struct run *run = wk->run;
    const struct program *p = run->program;
    size_t head = round_up(sizeof(struct block), 64);
    size_t warps = round_up(run->nwarps * sizeof(struct warp), 64);
    size_t shared = round_up(run->shared_bytes + 64, 64);
    size_t rows = (size_t)ROW * (BLOCK_ROWS + WARP_ROWS * run->nwarps);
    size_t stack = round_up(p->stack_bytes, 64) + 64, local = round_up(p->local_bytes, 16);
    size_t bytes = head + warps + shared + rows + run->nwarps * (stack + LANES * local);
    char *at = take(&bytes);
    struct block *b = (struct block *)(void *)at;

    if (!at)
        return NULL;
    memset(at, 0, head + warps);
    b->bytes = bytes;
    b->worker = wk;
    b->nwarps = run->nwarps;
    b->nthreads = run->nthreads;
    b->shared_bytes = run->shared_bytes;
    b->quick_bytes = run->shadow ? 0 : run->shared_bytes;
    b->warp = (struct warp *)(void *)(at += head);
    b->rows = (at += warps);
    at += ROW * BLOCK_ROWS;
    for (uint32_t k = 0; k < run->nwarps; k++) {
        struct warp *w = &b->warp[k];

        w->number = k;
        w->worker = wk;
        w->block = b;
        w->program = p;
        w->base[BASE_LAUNCH] = run->rows;
        w->base[BASE_BLOCK] = b->rows;
        w->base[BASE_WARP] = at;
        thread_rows(run, w);
        at += ROW * WARP_ROWS;
    }
    b->shared = at;
    at += shared;
    for (uint32_t k = 0; k < run->nwarps; k++) {
        b->warp[k].frames = at;
        b->warp[k].frames_end = at + stack;
        b->warp[k].local = at + stack;
        at += stack + LANES * local;
    }
    return b;
}
