/* SPDX-License-Identifier: BSD-3-Clause
 * Loads and stores. Addresses of all executing lanes are checked together: their lowest and highest
 * against the allocation that the instruction met last, else one by one. The usual cases have forms
 * of their own in op_quick.c. */
#include "memory.h"
#include "lanes.h"
#include "race.h"
#include "sched.h"

/* The lane's element: from a 4- or 8-byte row or to it. */
static inline void element_copy(void *to, const void *from, unsigned bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
    }
}

bool space_find(const struct warp *w, uint64_t address, struct range *out)
{
    const struct run *run = w->worker->run;
    const struct sg_space *space = run->launch->space;
    struct sg_range r;

    for (unsigned k = 0; space && k < space->n; k++) {
        if (!sg_arena_owns(space->arena[k], address))
            continue;
        if (!sg_arena_find(space->arena[k], address, &r))
            return false;
        *out = (struct range){r.base, r.base + r.bytes};
        return true;
    }
    if (sg_arena_owns(w->program->vars, address) &&
        sg_arena_find(w->program->vars, address, &r)) {
        *out = (struct range){r.base, r.base + r.bytes};
        return true;
    }
    /* a kernel's parameters have generic addresses */
    if (address - (uintptr_t)run->params < w->program->kernel.param_bytes) {
        out->lo = (uintptr_t)run->params;
        out->hi = out->lo + w->program->kernel.param_bytes;
        return true;
    }
    if (run->launch->cooperative && address - (uintptr_t)run->workspace < WORKSPACE_BYTES) {
        *out = (struct range){(uintptr_t)run->workspace, (uintptr_t)run->workspace + WORKSPACE_BYTES};
        return true;
    }
    return false;
}

static const struct insn *bad_address(struct warp *w, const struct insn *i, unsigned lane,
                                      uint64_t address, unsigned bytes, bool write)
{
    return fault(w, i, SG_FAULT_ADDRESS, lane, address, bytes, write,
                 "%s of %u bytes at 0x%llx, out of any allocation", write ? "write" : "read", bytes,
                 (unsigned long long)address);
}

static const struct insn *misaligned(struct warp *w, const struct insn *i, unsigned lane,
                                     uint64_t address, unsigned bytes, bool write)
{
    return fault(w, i, SG_FAULT_MISALIGNED, lane, address, bytes, write,
                 "%s of %u bytes at 0x%llx, which is misaligned", write ? "write" : "read", bytes,
                 (unsigned long long)address);
}

static void address_of(struct warp *w, const struct insn *i, uint64_t *address)
{
    if (i->kind & MEM_ADDRESS_32) {
        const uint32_t *a = ROW_OF(uint32_t, 1);

        VECTOR EACH_LANE address[l] = (uint32_t)(a[l] + (uint32_t)i->imm);
    } else {
        const uint64_t *a = ROW_OF(uint64_t, 1);

        VECTOR EACH_LANE address[l] = a[l] + (uint64_t)i->imm;
    }
}

/* Replaces the addresses of lanes that don't execute, so that all 32 can be treated alike. */
static void settle(uint64_t *address, uint32_t mask)
{
    uint64_t lead = address[__builtin_ctz(mask)];

    if (mask == ALL_LANES)
        return;
    VECTOR EACH_LANE address[l] = lead ^ ((address[l] ^ lead) & (0 - (uint64_t)(mask >> l & 1)));
}

static bool lane_window(struct warp *w, const struct insn *i, unsigned lane, uint64_t *address,
                        unsigned bytes, bool write, enum window which)
{
    uint64_t off = *address - (windows_at + (uint64_t)which * WINDOW_BYTES);
    uint64_t limit = which == WINDOW_SHARED ? w->block->shared_bytes : w->program->local_bytes;

    if (off >= limit || off + bytes > limit) {
        fault(w, i, SG_FAULT_ADDRESS_SPACE, lane, off, bytes, write,
              "%s of %u bytes at offset 0x%llx of %llu bytes of %s memory",
              write ? "write" : "read", bytes, (unsigned long long)off, (unsigned long long)limit,
              which == WINDOW_SHARED ? "shared" : "local");
        return false;
    }
    if (which == WINDOW_SHARED)
        *address = (uintptr_t)w->block->shared + off;
    else
        *address = (uintptr_t)w->local + (uint64_t)lane * w->program->local_bytes + off;
    return true;
}

/* Lane by lane: each may be in another allocation or window. */
static enum where check_lanes(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes,
                              bool write)
{
    struct range *cache = &w->worker->range[i->slot];
    enum where where = WHERE_GLOBAL;

    EACH_SET(w->mask) {
        uint64_t a = address[l], win = a - windows_at;
        struct range r;

        if (a & (bytes - 1)) {
            misaligned(w, i, l, a, bytes, write);
            return WHERE_FAULT;
        }
        if (a >= cache->lo && a < cache->hi && cache->hi - a >= bytes)
            continue;
        if (win < (uint64_t)WINDOW_BYTES * WINDOW_CODE && !(i->kind & MEM_GLOBAL)) {
            bool shared = win < WINDOW_BYTES;

            if (!lane_window(w, i, l, &address[l], bytes, write,
                             shared ? WINDOW_SHARED : WINDOW_LOCAL))
                return WHERE_FAULT;
            where = shared && where != WHERE_LOCAL ? WHERE_SHARED : WHERE_LOCAL;
            continue;
        }
        if (!space_find(w, a, &r) || a + bytes > r.hi) {
            bad_address(w, i, l, a, bytes, write);
            return WHERE_FAULT;
        }
        /* device-side malloc memory can be freed while the kernel runs */
        if (!w->worker->run->shadow &&
            (!w->worker->run->launch->heap || !sg_arena_owns(w->worker->run->launch->heap, a)))
            *cache = r;
    }
    return where;
}

enum where check_global(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes,
                        bool write)
{
    const struct range *cache = &w->worker->range[i->slot];
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    uint64_t odd = 0;

    /* compared as signed numbers, which vectorises: an address of the upper half makes lo negative */
    settle(address, w->mask);
    VECTOR EACH_LANE {
        int64_t a = (int64_t)address[l];

        lo = a < lo ? a : lo;
        hi = a > hi ? a : hi;
        odd |= address[l];
    }
    if (lo >= (int64_t)cache->lo && hi < (int64_t)cache->hi && cache->hi - (uint64_t)hi >= bytes &&
        !(odd & (bytes - 1)))
        return WHERE_GLOBAL;
    return check_lanes(w, i, address, bytes, write);
}

enum where check_shared(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes,
                        bool write)
{
    uint64_t base = (uintptr_t)w->block->shared, limit = w->block->shared_bytes;
    uint64_t bits = 0;

    /* the union of the bits is no less than the highest address */
    settle(address, w->mask);
    VECTOR EACH_LANE bits |= address[l];
    if (bits < limit && bits + bytes <= limit && !(bits & (bytes - 1))) {
        VECTOR EACH_LANE address[l] += base;
        return WHERE_SHARED;
    }
    EACH_SET(w->mask) {
        if (address[l] & (bytes - 1)) {
            misaligned(w, i, l, address[l], bytes, write);
            return WHERE_FAULT;
        }
        if (address[l] >= limit || address[l] + bytes > limit) {
            address[l] += windows_at;
            lane_window(w, i, l, &address[l], bytes, write, WINDOW_SHARED);
            return WHERE_FAULT;
        }
        address[l] += base;
    }
    return WHERE_SHARED;
}

static enum where check_local(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes,
                              bool write)
{
    EACH_SET(w->mask) {
        if (address[l] & (bytes - 1)) {
            misaligned(w, i, l, address[l], bytes, write);
            return WHERE_FAULT;
        }
        address[l] += windows_at + WINDOW_BYTES;
        if (!lane_window(w, i, l, &address[l], bytes, write, WINDOW_LOCAL))
            return WHERE_FAULT;
    }
    return WHERE_LOCAL;
}

static enum where locate(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes,
                         bool write)
{
    address_of(w, i, address);
    if (i->kind & MEM_SHARED)
        return check_shared(w, i, address, bytes, write);
    if (i->kind & MEM_LOCAL)
        return check_local(w, i, address, bytes, write);
    return check_global(w, i, address, bytes, write);
}

enum where resolve(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes, bool write)
{
    enum where where = locate(w, i, address, bytes, write);
    uint64_t total = (uint64_t)__builtin_popcount(w->mask) * bytes;
    struct sg_counts *c = &w->worker->counts;

    if (where == WHERE_GLOBAL && !(i->kind & MEM_PARAM))
        *(write ? &c->global_write_bytes : &c->global_read_bytes) += total;
    else if (where == WHERE_SHARED)
        c->shared_bytes += total;
    return where;
}

enum where resolve_atomic(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes)
{
    return locate(w, i, address, bytes, true);
}

bool checked_load(struct warp *w, const struct insn *i, const uint64_t *address, unsigned bytes,
                         enum where where)
{
    if (!w->worker->run->shadow)
        return true;
    if (!(i->kind & MEM_STRONG))
        return race_load(w, i, address, bytes, where);
    race_strong(w);
    return true;
}

bool checked_store(struct warp *w, const struct insn *i, const uint64_t *address,
                          enum where where)
{
    if (!w->worker->run->shadow)
        return true;
    if (!(i->kind & MEM_STRONG))
        return race_store(w, i, address, where);
    race_strong(w);
    return true;
}

/* The general forms: any size, any vector length; list has a row per element. */
OP(load_any)
{
    uint64_t address[LANES];
    unsigned size = i->size, n = i->n;
    enum where where;

    where = resolve(w, i, address, size * n, false);
    if (where == WHERE_FAULT || !checked_load(w, i, address, size * n, where))
        return STOP;
    /* a loop that waits for another thread's store should soon let that one run */
    if (i->kind & MEM_STRONG)
        w->budget -= SLICE / 64;
    for (unsigned k = 0; k < n; k++) {
        char *d = w->base[BASE_FRAME] + i->list[k];
        unsigned width = i->list[n] >> k & 1 ? 8 : 4;

        if (i->list[k] == UINT32_MAX)
            continue;
        EACH_SET(w->mask) {
            uint64_t v = 0;

            element_copy(&v, (const char *)(uintptr_t)address[l] + k * size, size);
            if (i->kind & MEM_SIGNED)
                v = (uint64_t)((int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size));
            memcpy(d + l * width, &v, width == 8 ? 8 : 4);
        }
    }
    return i + 1;
}

OP(store_any)
{
    uint64_t address[LANES];
    unsigned size = i->size, n = i->n;
    enum where where = resolve(w, i, address, size * n, true);

    if (where == WHERE_FAULT || !checked_store(w, i, address, where))
        return STOP;
    EACH_SET(w->mask) {
        for (unsigned k = 0; k < n; k++) {
            uint32_t off = i->list[2 * k], base = i->list[2 * k + 1];
            unsigned width = base & 16 ? 8 : 4;

            element_copy((char *)(uintptr_t)address[l] + k * size,
                         w->base[base & 15] + off + l * width, size);
        }
    }
    return i + 1;
}

const op_fn op_load = load_any, op_store = store_any;
