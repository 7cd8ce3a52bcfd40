/* SPDX-License-Identifier: BSD-3-Clause
 * The usual loads and stores: 1 to 8 bytes per element, up to four elements. With all lanes
 * executing, each half of the warp mostly touches consecutive places or all the same one: then the
 * access is checked and copied as a whole. With some lanes, they are at least checked as a whole.
 * Everything else takes the general way of op_mem.c. The functions are inlined into one operation
 * for each case, where size, count and sign are constants. */
#include "lanes.h"
#include "memory.h"

enum { HALF = LANES / 2 };
enum pattern { IRREGULAR, UNIFORM, SEQUENCE };

#define INLINE static inline __attribute__((always_inline))

/* How the addresses of 16 lanes lie: _t is their type. */
#define PATTERN(_name, _t)                                                          \
    INLINE enum pattern _name(const _t *a, unsigned step)                           \
    {                                                                               \
        _t off = 0, differ = 0;                                                     \
                                                                                    \
        VECTOR for (int l = 0; l < HALF; l++) {                                     \
            off |= a[l] - a[0] - (_t)l * step;                                      \
            differ |= a[l] ^ a[0];                                                  \
        }                                                                           \
        return off == 0 ? SEQUENCE : differ == 0 ? UNIFORM : IRREGULAR;             \
    }
PATTERN(pattern64, uint64_t)
PATTERN(pattern32, uint32_t)

INLINE bool cached(const struct range *cache, uint64_t at, unsigned bytes, unsigned align)
{
    return at >= cache->lo && at < cache->hi && cache->hi - at >= bytes && !(at & (align - 1));
}

INLINE bool inside(const struct block *b, uint32_t at, unsigned bytes, unsigned align)
{
    return (uint64_t)at + bytes <= b->quick_bytes && !(at & (align - 1));
}

INLINE unsigned extent(enum pattern p, unsigned step)
{
    return p == SEQUENCE ? HALF * step : step;
}

/* One element at p, extended to 32 bits or all 64. */
INLINE uint64_t element(const char *p, unsigned size, bool sign)
{
    uint8_t b;
    uint16_t h;
    uint32_t r;
    uint64_t q;

    switch (size) {
    case 1:
        memcpy(&b, p, 1);
        return sign ? (uint32_t)(int8_t)b : b;
    case 2:
        memcpy(&h, p, 2);
        return sign ? (uint32_t)(int16_t)h : h;
    case 4:
        memcpy(&r, p, 4);
        return r;
    default:
        memcpy(&q, p, 8);
        return q;
    }
}

INLINE void put_lane(char *row, unsigned l, unsigned size, uint64_t v)
{
    if (size == 8)
        ((uint64_t *)(void *)row)[l] = v;
    else
        ((uint32_t *)(void *)row)[l] = (uint32_t)v;
}

INLINE void put_element(char *p, const char *row, unsigned l, unsigned size)
{
    memcpy(p, row + l * (size == 8 ? 8 : 4), size);
}

INLINE char *dest_row(const struct warp *w, const struct insn *i, unsigned n, unsigned k)
{
    return __builtin_assume_aligned(w->base[BASE_FRAME] + (n == 1 ? i->off[0] : i->list[k]), 64);
}

INLINE const char *value_row(const struct warp *w, const struct insn *i, unsigned n, unsigned k)
{
    return __builtin_assume_aligned(n == 1 ? w->base[i->base[2]] + i->off[2]
                                           : w->base[i->list[2 * k + 1] & 15] + i->list[2 * k], 64);
}

/* Half a warp's elements, from consecutive places or one place. */
INLINE void get_half(const struct warp *w, const struct insn *i, unsigned first, const char *from,
                     enum pattern p, unsigned size, unsigned n, bool sign)
{
    for (unsigned k = 0; k < n; k++) {
        char *d = dest_row(w, i, n, k);

        if (p == SEQUENCE && n == 1 && size >= 4) {
            memcpy(d + first * size, from, HALF * size);
        } else if (p == SEQUENCE) {
            VECTOR for (unsigned l = 0; l < HALF; l++)
                put_lane(d, first + l, size, element(from + (l * n + k) * size, size, sign));
        } else {
            uint64_t v = element(from + k * size, size, sign);

            VECTOR for (unsigned l = 0; l < HALF; l++)
                put_lane(d, first + l, size, v);
        }
    }
}

INLINE void put_half(const struct warp *w, const struct insn *i, unsigned first, char *to,
                     unsigned size, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        const char *v = value_row(w, i, n, k);

        if (n == 1 && size >= 4) {
            memcpy(to, v + first * size, HALF * size);
            continue;
        }
        VECTOR for (unsigned l = 0; l < HALF; l++)
            put_element(to + (l * n + k) * size, v, first + l, size);
    }
}

/* The lanes' elements: at offsets of base, or at addresses of their own. */
#define AT(_base, _where) ((char *)((uintptr_t)(_base) + (uintptr_t)(_where)))
#define SCATTERED(_t)                                                                       \
    INLINE void get_##_t(const struct warp *w, const struct insn *i, const char *base,      \
                         const _t *where, unsigned size, unsigned n, bool sign)             \
    {                                                                                       \
        const uint32_t mask = w->mask;                                                      \
                                                                                            \
        for (unsigned k = 0; k < n; k++) {                                                  \
            char *d = dest_row(w, i, n, k);                                                 \
                                                                                            \
            if (mask == ALL_LANES)                                                          \
                EACH_LANE put_lane(d, (unsigned)l, size,                                    \
                                   element(AT(base, where[l]) + k * size, size, sign));        \
            else                                                                            \
                EACH_SET(mask)                                                              \
                    put_lane(d, l, size, element(AT(base, where[l]) + k * size, size, sign));  \
        }                                                                                   \
    }                                                                                       \
    INLINE void put_##_t(const struct warp *w, const struct insn *i, char *base,            \
                         const _t *where, unsigned size, unsigned n)                        \
    {                                                                                       \
        const uint32_t mask = w->mask;                                                      \
                                                                                            \
        for (unsigned k = 0; k < n; k++) {                                                  \
            const char *v = value_row(w, i, n, k);                                          \
                                                                                            \
            EACH_SET(mask) put_element(AT(base, where[l]) + k * size, v, l, size);             \
        }                                                                                   \
    }
SCATTERED(uint64_t)
SCATTERED(uint32_t)

INLINE const struct insn *load_global(struct warp *w, const struct insn *i, unsigned size, unsigned n,
                                      bool sign)
{
    const uint64_t *a = ROW_OF(uint64_t, 1);
    const struct range *cache = &w->worker->range[i->slot];
    unsigned step = size * n;
    uint64_t address[LANES];
    enum where where;

    if (w->mask == ALL_LANES) {
        enum pattern p = pattern64(a, step), q = pattern64(a + HALF, step);
        uint64_t at = a[0] + (uint64_t)i->imm, too = a[HALF] + (uint64_t)i->imm;

        if (p && q && cached(cache, at, extent(p, step), step) &&
            cached(cache, too, extent(q, step), step)) {
            get_half(w, i, 0, (const char *)(uintptr_t)at, p, size, n, sign);
            get_half(w, i, HALF, (const char *)(uintptr_t)too, q, size, n, sign);
            w->worker->counts.global_read_bytes += i->kind & MEM_PARAM ? 0 : LANES * step;
            return i + 1;
        }
    }
    where = resolve(w, i, address, step, false);
    if (where == WHERE_FAULT || !checked_load(w, i, address, step, where))
        return STOP;
    get_uint64_t(w, i, NULL, address, size, n, sign);
    return i + 1;
}

INLINE const struct insn *store_global(struct warp *w, const struct insn *i, unsigned size, unsigned n)
{
    const uint64_t *a = ROW_OF(uint64_t, 1);
    const struct range *cache = &w->worker->range[i->slot];
    unsigned step = size * n;
    uint64_t address[LANES];
    enum where where;

    if (w->mask == ALL_LANES) {
        uint64_t at = a[0] + (uint64_t)i->imm, too = a[HALF] + (uint64_t)i->imm;

        if (pattern64(a, step) == SEQUENCE && pattern64(a + HALF, step) == SEQUENCE &&
            cached(cache, at, HALF * step, step) && cached(cache, too, HALF * step, step)) {
            put_half(w, i, 0, (char *)(uintptr_t)at, size, n);
            put_half(w, i, HALF, (char *)(uintptr_t)too, size, n);
            w->worker->counts.global_write_bytes += LANES * step;
            return i + 1;
        }
    }
    where = resolve(w, i, address, step, true);
    if (where == WHERE_FAULT || !checked_store(w, i, address, where))
        return STOP;
    put_uint64_t(w, i, NULL, address, size, n);
    return i + 1;
}

/* Are the places of the executing lanes in the window, and aligned? Puts offsets into off. */
INLINE bool all_inside(const struct warp *w, const struct insn *i, uint32_t *off, unsigned step)
{
    const uint32_t *a = ROW_OF(uint32_t, 1);
    uint32_t hi = 0, odd = 0, mask = w->mask, imm = (uint32_t)i->imm;

    VECTOR EACH_LANE {
        uint32_t at = a[l] + imm;

        at &= 0u - (mask >> l & 1);
        off[l] = at;
        hi = at > hi ? at : hi;
        odd |= at;
    }
    return (uint64_t)hi + step <= w->block->quick_bytes && !(odd & (step - 1));
}

INLINE const struct insn *load_shared(struct warp *w, const struct insn *i, unsigned size, unsigned n,
                                      bool sign)
{
    const uint32_t *a = ROW_OF(uint32_t, 1);
    const char *shared = w->block->shared;
    unsigned step = size * n;
    uint64_t address[LANES];
    uint32_t off[LANES];
    enum where where;

    if (w->mask == ALL_LANES) {
        enum pattern p = pattern32(a, step), q = pattern32(a + HALF, step);
        uint32_t at = a[0] + (uint32_t)i->imm, too = a[HALF] + (uint32_t)i->imm;

        if (p && q && inside(w->block, at, extent(p, step), step) &&
            inside(w->block, too, extent(q, step), step)) {
            get_half(w, i, 0, shared + at, p, size, n, sign);
            get_half(w, i, HALF, shared + too, q, size, n, sign);
            w->worker->counts.shared_bytes += LANES * step;
            return i + 1;
        }
    }
    if (all_inside(w, i, off, step)) {
        get_uint32_t(w, i, shared, off, size, n, sign);
        w->worker->counts.shared_bytes += (uint64_t)__builtin_popcount(w->mask) * step;
        return i + 1;
    }
    where = resolve(w, i, address, step, false);
    if (where == WHERE_FAULT || !checked_load(w, i, address, step, where))
        return STOP;
    get_uint64_t(w, i, NULL, address, size, n, sign);
    return i + 1;
}

INLINE const struct insn *store_shared(struct warp *w, const struct insn *i, unsigned size, unsigned n)
{
    const uint32_t *a = ROW_OF(uint32_t, 1);
    char *shared = w->block->shared;
    unsigned step = size * n;
    uint64_t address[LANES];
    uint32_t off[LANES];
    enum where where;

    if (w->mask == ALL_LANES) {
        uint32_t at = a[0] + (uint32_t)i->imm, too = a[HALF] + (uint32_t)i->imm;

        if (pattern32(a, step) == SEQUENCE && pattern32(a + HALF, step) == SEQUENCE &&
            inside(w->block, at, HALF * step, step) && inside(w->block, too, HALF * step, step)) {
            put_half(w, i, 0, shared + at, size, n);
            put_half(w, i, HALF, shared + too, size, n);
            w->worker->counts.shared_bytes += LANES * step;
            return i + 1;
        }
    }
    if (all_inside(w, i, off, step)) {
        put_uint32_t(w, i, shared, off, size, n);
        w->worker->counts.shared_bytes += (uint64_t)__builtin_popcount(w->mask) * step;
        return i + 1;
    }
    where = resolve(w, i, address, step, true);
    if (where == WHERE_FAULT || !checked_store(w, i, address, where))
        return STOP;
    put_uint64_t(w, i, NULL, address, size, n);
    return i + 1;
}

/* Local memory by 64-bit offsets: each lane's own lies local_bytes behind the one before. */
INLINE bool local_places(const struct warp *w, const struct insn *i, uint64_t *place, unsigned step)
{
    const uint64_t *a = ROW_OF(uint64_t, 1);
    uint64_t bits = 0, imm = (uint64_t)i->imm, each = w->program->local_bytes;
    uint32_t mask = w->mask;

    VECTOR EACH_LANE {
        uint64_t at = (a[l] + imm) & (0 - (uint64_t)(mask >> l & 1));

        bits |= at;
        place[l] = at + (uint64_t)l * each;
    }
    /* the union of the bits is no less than the highest offset */
    return bits + step <= each && bits < each && !(bits & (step - 1));
}

INLINE const struct insn *load_local(struct warp *w, const struct insn *i, unsigned size, unsigned n,
                                     bool sign)
{
    uint64_t place[LANES];

    if (!local_places(w, i, place, size * n))
        return op_load(w, i);
    get_uint64_t(w, i, w->local, place, size, n, sign);
    return i + 1;
}

INLINE const struct insn *store_local(struct warp *w, const struct insn *i, unsigned size, unsigned n)
{
    uint64_t place[LANES];

    if (!local_places(w, i, place, size * n))
        return op_store(w, i);
    put_uint64_t(w, i, w->local, place, size, n);
    return i + 1;
}

/* Every case: bytes, elements. */
#define CASES(_case) \
    _case(1, 1) _case(1, 2) _case(1, 4) _case(2, 1) _case(2, 2) _case(2, 4) _case(4, 1) _case(4, 2) \
    _case(4, 4) _case(8, 1) _case(8, 2)

#define FORMS(_s, _n)                                                                       \
    OP(ldg_##_s##_n) { return load_global(w, i, _s, _n, false); }                           \
    OP(lds_##_s##_n) { return load_shared(w, i, _s, _n, false); }                           \
    OP(ldl_##_s##_n) { return load_local(w, i, _s, _n, false); }                            \
    OP(stl_##_s##_n) { return store_local(w, i, _s, _n); }                                  \
    OP(stg_##_s##_n) { return store_global(w, i, _s, _n); }                                 \
    OP(sts_##_s##_n) { return store_shared(w, i, _s, _n); }
CASES(FORMS)
OP(ldg_s1) { return load_global(w, i, 1, 1, true); }
OP(ldg_s2) { return load_global(w, i, 2, 1, true); }
OP(lds_s1) { return load_shared(w, i, 1, 1, true); }
OP(lds_s2) { return load_shared(w, i, 2, 1, true); }
OP(ldl_s1) { return load_local(w, i, 1, 1, true); }
OP(ldl_s2) { return load_local(w, i, 2, 1, true); }

static const struct quick {
    uint8_t size, n;
    op_fn load_global, load_shared, load_local, store_global, store_shared, store_local;
} quick[] = {
#define ENTRY(_s, _n) {_s, _n, ldg_##_s##_n, lds_##_s##_n, ldl_##_s##_n, stg_##_s##_n, sts_##_s##_n, \
                       stl_##_s##_n},
    CASES(ENTRY)
};

/* The forms for an access. NULL: none, a row has another width or there is a sink. */
static const struct quick *find(unsigned kind, unsigned size, unsigned n, unsigned width)
{
    if (kind & MEM_CHECKED || width != (size == 8 ? 8u : 4u))
        return NULL;
    /* shared memory by 32-bit addresses, the others by 64-bit ones */
    if (!(kind & MEM_SHARED) != !(kind & MEM_ADDRESS_32))
        return NULL;
    for (size_t k = 0; k < sizeof quick / sizeof *quick; k++)
        if (quick[k].size == size && quick[k].n == n)
            return &quick[k];
    return NULL;
}

op_fn load_fn(unsigned kind, unsigned size, unsigned n, unsigned width)
{
    /* a loop that polls should give way, which only the general form does */
    const struct quick *q = kind & MEM_STRONG ? NULL : find(kind, size, n, width);

    if (q && kind & MEM_SIGNED && size < 4) {
        if (n > 1)
            return op_load;
        if (kind & MEM_SHARED)
            return size == 1 ? lds_s1 : lds_s2;
        if (kind & MEM_LOCAL)
            return size == 1 ? ldl_s1 : ldl_s2;
        return size == 1 ? ldg_s1 : ldg_s2;
    }
    return !q ? op_load : kind & MEM_SHARED ? q->load_shared
           : kind & MEM_LOCAL ? q->load_local : q->load_global;
}

op_fn store_fn(unsigned kind, unsigned size, unsigned n, unsigned width)
{
    const struct quick *q = find(kind, size, n, width);

    return !q ? op_store : kind & MEM_SHARED ? q->store_shared
           : kind & MEM_LOCAL ? q->store_local : q->store_global;
}
