/* SPDX-License-Identifier: BSD-3-Clause
 * Race checker. Each word of memory remembers its last write and its last two readers, with a time.
 * Two accesses by different threads conflict if one writes (a different value, for two writes) and
 * nothing orders them: a barrier of the block, a meeting of the warp, or the first thread publishing
 * (a fence or an atomic after its access) and the second observing (an atomic or volatile access
 * before its own). What is only perhaps ordered is not reported. */
#include "race.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BITS = 12, PAGE_CELLS = 1 << (PAGE_BITS - 2) };

struct access {
    uint64_t who;  /* block * 1024 + thread */
    uint32_t time; /* 0: none */
    uint32_t line : 28, mask : 4; /* bytes of the word */
};

struct cell {
    struct access write, read[2];
    uint32_t value; /* written */
};

struct page {
    uint64_t key; /* address >> PAGE_BITS, plus one */
    struct cell *cells;
};

struct shadow {
    uint32_t clock;
    struct page *page; /* open addressing */
    uint64_t npages, room;
    uint32_t *published; /* by block: when it last did */
    uint64_t nblocks;
};

static uint32_t *block_published(const struct shadow *s, uint64_t block)
{
    return &s->published[block < s->nblocks ? block : 0];
}

struct shadow *shadow_new(uint64_t nblocks)
{
    struct shadow *s = calloc(1, sizeof *s);
    void *p = mmap(NULL, nblocks * sizeof *s->published, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (!s || p == MAP_FAILED) {
        free(s);
        return NULL;
    }
    s->published = p;
    s->nblocks = nblocks;
    s->clock = 1;
    return s;
}

void shadow_delete(struct shadow *s)
{
    if (!s)
        return;
    for (uint64_t k = 0; k < s->room; k++)
        free(s->page[k].cells);
    free(s->page);
    munmap(s->published, s->nblocks * sizeof *s->published);
    free(s);
}

static struct page *page_slot(struct page *page, uint64_t room, uint64_t key)
{
    for (uint64_t k = key * 0x9e3779b97f4a7c15u >> 20;; k++) {
        struct page *p = &page[k & (room - 1)];

        if (p->key == key || !p->key)
            return p;
    }
}

/* The cell of a word. NULL: no memory, which leaves the access unchecked. */
static struct cell *cell_of(struct shadow *s, uint64_t address)
{
    uint64_t key = (address >> PAGE_BITS) + 1;
    struct page *p;

    if (2 * (s->npages + 1) > s->room) {
        uint64_t room = s->room ? 2 * s->room : 64;
        struct page *bigger = calloc(room, sizeof *bigger);

        if (!bigger)
            return NULL;
        for (uint64_t k = 0; k < s->room; k++)
            if (s->page[k].key)
                *page_slot(bigger, room, s->page[k].key) = s->page[k];
        free(s->page);
        s->page = bigger;
        s->room = room;
    }
    p = page_slot(s->page, s->room, key);
    if (!p->key) {
        p->cells = calloc(PAGE_CELLS, sizeof *p->cells);
        if (!p->cells)
            return NULL;
        p->key = key;
        s->npages++;
    }
    return &p->cells[address >> 2 & (PAGE_CELLS - 1)];
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Did what happened at prev happen before what lane does now? */
static bool ordered(const struct warp *w, uint32_t lane, const struct access *prev, enum where where)
{
    const struct block *b = w->block;
    uint64_t block = prev->who / 1024, thread = prev->who % 1024;
    uint32_t observed = later(w->observed[lane], b->observed);
    const struct warp *other;

    if (block != b->linear)
        return where == WHERE_SHARED ||
               (*block_published(w->worker->run->shadow, block) > prev->time && observed > prev->time);
    /* an earlier block's use of the same shared memory has the same number only if it is this one */
    if (prev->time < b->met || prev->time < b->began)
        return true;
    other = &b->warp[thread / LANES];
    if (other == w && prev->time < w->met)
        return true;
    return other->published[thread % LANES] > prev->time && observed > prev->time;
}

static bool report(struct warp *w, const struct insn *i, uint32_t lane, uint64_t address,
                   unsigned bytes, bool write, const struct access *prev, bool prev_write)
{
    const uint32_t *grid = w->worker->run->launch->grid, *dim = w->worker->run->launch->block;
    uint64_t block = prev->who / 1024;
    uint32_t t = prev->who % 1024;

    fault(w, i, SG_FAULT_RACE, lane, address, bytes, write,
          "%s of %u bytes at 0x%llx races with the %s at PTX line %u by block (%u,%u,%u), "
          "thread (%u,%u,%u)",
          write ? "write" : "read", bytes, (unsigned long long)address,
          prev_write ? "write" : "read", prev->line, (uint32_t)(block % grid[0]),
          (uint32_t)(block / grid[0] % grid[1]), (uint32_t)(block / grid[0] / grid[1]), t % dim[0],
          t / dim[0] % dim[1], t / dim[0] / dim[1]);
    return false;
}

static uint32_t byte_bits(uint32_t mask)
{
    return (mask & 1 ? 0xffu : 0) | (mask & 2 ? 0xff00u : 0) | (mask & 4 ? 0xff0000u : 0) |
           (mask & 8 ? 0xff000000u : 0);
}

/* One lane, one word: `mask` of its bytes; value as it lies in the word. */
static bool touch(struct warp *w, const struct insn *i, uint32_t lane, uint64_t address, uint32_t mask,
                  bool write, uint32_t value, enum where where)
{
    struct shadow *s = w->worker->run->shadow;
    struct cell *c = cell_of(s, address);
    struct access now = {.who = w->block->linear * 1024 + w->number * LANES + lane, .time = s->clock,
                         .line = i->line & 0xfffffffu, .mask = mask & 15};
    const struct access *prev;

    if (!c)
        return true;
    prev = &c->write;
    if (prev->time && prev->who != now.who && prev->mask & mask && !ordered(w, lane, prev, where) &&
        (!write || (c->value ^ value) & byte_bits(prev->mask & mask)))
        return report(w, i, lane, address, 4, write, prev, true);
    if (!write) {
        if (c->read[0].who != now.who || !c->read[0].time)
            c->read[1] = c->read[0];
        c->read[0] = now;
        return true;
    }
    for (int k = 0; k < 2; k++) {
        prev = &c->read[k];
        if (prev->time && prev->who != now.who && prev->mask & mask && !ordered(w, lane, prev, where))
            return report(w, i, lane, address, 4, true, prev, false);
    }
    c->write = now;
    c->value = (c->value & ~byte_bits(mask)) | (value & byte_bits(mask));
    return true;
}

/* All words of one lane's access; bytes: the values, or NULL for a read */
static bool touch_bytes(struct warp *w, const struct insn *i, uint32_t lane, uint64_t address,
                        unsigned bytes, const char *values, enum where where)
{
    for (unsigned done = 0; done < bytes;) {
        unsigned first = (unsigned)(address + done) & 3, n = 4 - first;
        char word[4] = {0};
        uint32_t value;

        n = n < bytes - done ? n : bytes - done;
        if (values)
            memcpy(word + first, values + done, n);
        memcpy(&value, word, sizeof value);
        if (!touch(w, i, lane, (address + done) & ~(uint64_t)3, ((1u << n) - 1) << first, values, value,
                   where))
            return false;
        done += n;
    }
    return true;
}

bool race_load(struct warp *w, const struct insn *i, const uint64_t *address, unsigned bytes,
               enum where where)
{
    struct shadow *s = w->worker->run->shadow;

    if (!s || where == WHERE_LOCAL)
        return true;
    s->clock++;
    for (uint32_t l = 0; l < LANES; l++)
        if (w->mask >> l & 1 && !touch_bytes(w, i, l, address[l], bytes, NULL, where))
            return false;
    return true;
}

bool race_store(struct warp *w, const struct insn *i, const uint64_t *address, enum where where)
{
    struct shadow *s = w->worker->run->shadow;

    if (!s || where == WHERE_LOCAL)
        return true;
    s->clock++;
    for (uint32_t l = 0; l < LANES; l++) {
        for (unsigned k = 0; w->mask >> l & 1 && k < i->n; k++) {
            uint32_t off = i->list[2 * k], base = i->list[2 * k + 1];
            const char *value = w->base[base & 15] + off + l * (base & 16 ? 8 : 4);

            if (!touch_bytes(w, i, l, address[l] + k * i->size, i->size, value, where))
                return false;
        }
    }
    return true;
}

bool race_wrote(struct warp *w, const struct insn *i, uint32_t lane, uint64_t address, unsigned bytes,
                enum where where)
{
    struct shadow *s = w->worker->run->shadow;

    if (!s || where == WHERE_LOCAL)
        return true;
    s->clock++;
    return touch_bytes(w, i, lane, address, bytes, (const char *)(uintptr_t)address, where);
}

void race_strong(struct warp *w)
{
    struct shadow *s = w->worker->run->shadow;

    if (!s)
        return;
    s->clock += 2;
    for (uint32_t l = 0; l < LANES; l++)
        if (w->mask >> l & 1)
            w->observed[l] = w->published[l] = s->clock - 1;
    w->block->last_observed = s->clock - 1;
    *block_published(s, w->block->linear) = s->clock - 1;
}

void race_warp_met(struct warp *w)
{
    struct shadow *s = w->worker->run->shadow;

    if (s)
        w->met = ++s->clock;
}

void race_block_met(struct block *b)
{
    struct shadow *s = b->worker->run->shadow;

    if (!s)
        return;
    b->met = ++s->clock;
    b->observed = b->last_observed;
}

void race_block_begins(struct block *b)
{
    struct shadow *s = b->worker->run->shadow;

    if (!s)
        return;
    b->began = ++s->clock;
    b->met = b->observed = b->last_observed = 0;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        b->warp[k].met = 0;
        memset(b->warp[k].observed, 0, sizeof b->warp[k].observed);
        memset(b->warp[k].published, 0, sizeof b->warp[k].published);
    }
}
