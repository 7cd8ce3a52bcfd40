/* SPDX-License-Identifier: BSD-3-Clause
 * Operations across the lanes of a warp: shuffles, votes, matches, reductions, election. Lanes wait
 * until those of their member mask that have not exited are at the same instruction. */
#include "decode.h"
#include "fp.h"
#include "race.h"
#include "sched.h"

enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

/* The executing lanes whose members are all here; the others are parked. NULL: go on executing;
 * else what the operation has to return. */
static const struct insn *gather(struct warp *w, const struct insn *i, const uint32_t *members)
{
    uint32_t ready = 0, rest;

    race_warp_met(w);
    if (w->mask == w->alive)
        return NULL;
    EACH_SET(w->mask) {
        if (!(members[l] & w->alive & ~w->mask))
            ready |= 1u << l;
    }
    if (!ready)
        return wait_for(w, i);
    rest = w->mask & ~ready;
    if (rest) {
        count_run(w, i);
        leave(w, rest, i);
        w->syncing |= rest;
        w->ahead = true;
    }
    return NULL;
}

/* sources: value, lane operand, clamp and segment; imm: offset of p, or -1; list: member row */
static const uint32_t *member_row(const struct warp *w, const struct insn *i)
{
    return (const uint32_t *)(const void *)(w->base[i->list[1]] + i->list[0]);
}

static void set_pred(struct warp *w, int64_t off, uint32_t v)
{
    uint32_t *d;

    if (off < 0)
        return;
    d = (uint32_t *)(void *)(w->base[BASE_FRAME] + off);
    *d = (*d & ~w->mask) | (v & w->mask);
}

/* from[l]: the lane to read, itself where j is outside the segment */
#define SOURCES(_j, _inside)                                                        \
    VECTOR for (uint32_t l = 0; l < LANES; l++) {                                   \
        uint32_t off = b[l] & 31, segment = c[l] >> 8 & 31, clamp = c[l] & 31;      \
        uint32_t least = l & segment, most = least | (clamp & ~segment), j = (_j);  \
        uint32_t in = (_inside);                                                    \
                                                                                    \
        (void)off, (void)least;                                                     \
        from[l] = in ? j & 31 : l;                                                  \
        inside |= in << l;                                                          \
    }

OP(shuffle)
{
    const struct insn *wait = gather(w, i, member_row(w, i));
    const uint32_t *b = ROW_OF(uint32_t, 2), *c = ROW_OF(uint32_t, 3);
    uint32_t *d = ROW_OF(uint32_t, 0), from[LANES], value[LANES], inside = 0;

    if (wait)
        return wait;
    memcpy(value, ROW_OF(uint32_t, 1), sizeof value);
    switch (i->kind) {
    case SHFL_UP: SOURCES(l - off, (int32_t)j >= (int32_t)most); break;
    case SHFL_DOWN: SOURCES(l + off, j <= most); break;
    case SHFL_BFLY: SOURCES(l ^ off, j <= most); break;
    default: SOURCES(least | (off & ~segment), j <= most); break;
    }
    LOOP(d, , value[from[l]]);
    set_pred(w, i->imm, inside);
    return i + 1;
}

/* source 2: the member row; source 3: the predicate */
OP(vote)
{
    const uint32_t *members = ROW_OF(uint32_t, 2);
    const struct insn *wait = gather(w, i, members);
    uint32_t p = *PRED_OF(3), bits = 0;

    if (wait)
        return wait;
    p = (i->neg ? ~p : p) & w->mask;
    if (i->kind == VOTE_BALLOT) {
        uint32_t *d = ROW_OF(uint32_t, 0);

        LOOP(d, , p & members[l]);
        return i + 1;
    }
    EACH_SET(w->mask) {
        uint32_t here = members[l] & w->mask, yes = p & members[l];
        bool r = i->kind == VOTE_ALL ? yes == here : i->kind == VOTE_ANY ? yes != 0
                 : yes == here || yes == 0;

        bits |= (uint32_t)r << l;
    }
    set_pred(w, i->off[0], bits);
    return i + 1;
}

/* Which member lanes have my value; all: everyone's mask if they agree, else 0. */
OP(match)
{
    const uint32_t *m = ROW_OF(uint32_t, 2);
    const struct insn *wait = gather(w, i, m);
    const char *a = w->base[i->base[1]] + i->off[1];
    uint64_t v[LANES] = {0};
    uint32_t *d = ROW_OF(uint32_t, 0), agree = 0;

    if (wait)
        return wait;
    EACH_LANE memcpy(&v[l], a + l * i->size, i->size);
    EACH_SET(w->mask) {
        uint32_t same = 0, here = m[l] & w->mask;

        for (uint32_t k = 0; k < LANES; k++)
            same |= (uint32_t)(v[k] == v[l]) << k;
        same &= here;
        if (same == here)
            agree |= 1u << l;
        d[l] = !i->kind ? same : same == here ? same : 0;
    }
    if (i->kind)
        set_pred(w, i->imm, agree);
    return i + 1;
}

static inline float f32_least(float x, float y, bool nan)
{
    if (x != x || y != y)
        return nan ? f32_from(F32_NAN) : x != x ? y : x;
    return x < y || (x == y && f32_bits(x) >> 31) ? x : y;
}

static uint32_t reduce(unsigned op, uint32_t x, uint32_t y, unsigned flags)
{
    float a = f32_from(flags & 1 ? x & 0x7fffffffu : x), b = f32_from(flags & 1 ? y & 0x7fffffffu : y);

    switch (op) {
    case 0: case 1: return x + y;
    case 2: return x < y ? x : y;
    case 3: return (int32_t)x < (int32_t)y ? x : y;
    case 4: return x > y ? x : y;
    case 5: return (int32_t)x > (int32_t)y ? x : y;
    case 6: return x & y;
    case 7: return x | y;
    case 8: return x ^ y;
    case 9: return f32_bits(f32_least(a, b, flags & 2));
    default: return f32_bits(f32_least(-a, -b, flags & 2)) ^ 0x80000000u;
    }
}

OP(redux)
{
    const uint32_t *m = ROW_OF(uint32_t, 2), *a = ROW_OF(uint32_t, 1);
    const struct insn *wait = gather(w, i, m);
    uint32_t *d = ROW_OF(uint32_t, 0), v[LANES], done = 0;

    if (wait)
        return wait;
    memcpy(v, a, sizeof v);
    EACH_SET(w->mask) {
        uint32_t group = m[l] & w->mask, sum = v[l];

        if (done >> l & 1)
            continue;
        /* l is the lowest lane of its group */
        for (uint32_t k = l + 1; k < LANES; k++)
            if (group >> k & 1)
                sum = reduce(i->kind, sum, v[k], i->n);
        if (i->n & 1)
            sum &= 0x7fffffffu;
        if (i->kind >= 9)
            sum = f32_result(f32_from(sum));
        for (uint32_t k = 0; k < LANES; k++)
            if (group >> k & 1 && m[k] == m[l])
                d[k] = sum;
        done |= group;
    }
    return i + 1;
}

OP(elect)
{
    const uint32_t *m = ROW_OF(uint32_t, 2);
    const struct insn *wait = gather(w, i, m);
    uint32_t *d = ROW_OF(uint32_t, 0), leaders = 0;

    if (wait)
        return wait;
    EACH_SET(w->mask) {
        uint32_t here = m[l] & w->mask, lead = here ? (uint32_t)__builtin_ctz(here) : l;

        d[l] = lead;
        leaders |= (uint32_t)(lead == l) << l;
    }
    set_pred(w, i->imm, leaders);
    return i + 1;
}

static int64_t second_pred(struct decoder *d, const struct ptx_operand *o)
{
    return o->second && o->second->kind != O_SINK ? (int64_t)ref_dest(d, o->second, 'p').off : -1;
}

static bool shfl_form(struct form *f)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx", NULL};
    int k;

    if (!form_take(f, "sync"))
        return false;
    k = form_one(f, modes);
    f->kind = (unsigned)k;
    return k >= 0 && form_take(f, "b32") && form_done(f);
}

static void shfl_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'r'), a = ref_source(d, operand(d, f, 1), 'r');
    struct ref b = ref_source(d, operand(d, f, 2), 'r'), c = ref_source(d, operand(d, f, 3), 'r');
    struct ref m = ref_source(d, operand(d, f, 4), 'r');
    int64_t p = second_pred(d, operand(d, f, 0));
    uint32_t *list = keep(d, 2 * sizeof *list);
    struct insn *i = emit(d, shuffle, f->insn->line);

    list[0] = m.off;
    list[1] = m.base;
    insn_src(i, 0, to);
    insn_src(i, 1, a);
    insn_src(i, 2, b);
    insn_src(i, 3, c);
    i->list = list;
    i->kind = (uint8_t)f->kind;
    i->imm = p;
}

static bool vote_form(struct form *f)
{
    static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
    int k;

    if (!form_take(f, "sync"))
        return false;
    k = form_one(f, modes);
    f->kind = (unsigned)k;
    return k >= 0 && form_take(f, k == VOTE_BALLOT ? "b32" : "pred") && form_done(f);
}

static void vote_decode(struct decoder *d, const struct form *f)
{
    uint8_t neg;
    struct ref to = ref_dest(d, operand(d, f, 0), f->kind == VOTE_BALLOT ? 'r' : 'p');
    struct ref p = pred_source(d, operand(d, f, 1), &neg);
    struct ref m = ref_source(d, operand(d, f, 2), 'r');
    struct insn *i = emit(d, vote, f->insn->line);

    insn_src(i, 0, to);
    insn_src(i, 2, m);
    insn_src(i, 3, p);
    i->neg = neg;
    i->kind = (uint8_t)f->kind;
}

static bool match_form(struct form *f)
{
    static const char *const modes[] = {"any", "all", NULL};
    int k = form_one(f, modes);

    f->kind = (unsigned)k;
    if (k < 0 || !form_take(f, "sync"))
        return false;
    f->type = form_type(f);
    return (f->type == T_B32 || f->type == T_B64) && form_done(f);
}

static void match_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'r');
    struct ref a = ref_source(d, operand(d, f, 1), letter_of(f->type));
    struct ref m = ref_source(d, operand(d, f, 2), 'r');
    int64_t p = second_pred(d, operand(d, f, 0));
    struct insn *i = emit(d, match, f->insn->line);

    insn_src(i, 0, to);
    insn_src(i, 1, a);
    insn_src(i, 2, m);
    i->size = (uint8_t)ptx_type_bytes(f->type);
    i->kind = (uint8_t)f->kind;
    i->imm = p;
}

static bool redux_form(struct form *f)
{
    static const struct {
        const char *op, *type;
        unsigned kind;
    } known[] = {
        {"add", "u32", 0}, {"add", "s32", 1}, {"min", "u32", 2}, {"min", "s32", 3}, {"max", "u32", 4},
        {"max", "s32", 5}, {"and", "b32", 6}, {"or", "b32", 7}, {"xor", "b32", 8}, {"min", "f32", 9},
        {"max", "f32", 10},
    };

    if (!form_take(f, "sync"))
        return false;
    f->flags = form_take(f, "abs") ? 1 : 0;
    f->flags |= form_take(f, "NaN") ? 2 : 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        uint32_t used = f->used;

        if (form_take(f, known[k].op) && form_take(f, known[k].type)) {
            f->kind = known[k].kind;
            return (f->kind >= 9 || !f->flags) && form_done(f);
        }
        f->used = used;
    }
    return false;
}

static void redux_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'r'), a = ref_source(d, operand(d, f, 1), 'r');
    struct ref m = ref_source(d, operand(d, f, 2), 'r');
    struct insn *i = emit(d, redux, f->insn->line);

    insn_src(i, 0, to);
    insn_src(i, 1, a);
    insn_src(i, 2, m);
    i->kind = (uint8_t)f->kind;
    i->n = (uint8_t)f->flags;
}

static bool elect_form(struct form *f)
{
    return form_take(f, "sync") && form_done(f);
}

static void elect_decode(struct decoder *d, const struct form *f)
{
    struct ref to = ref_dest(d, operand(d, f, 0), 'r'), m = ref_source(d, operand(d, f, 1), 'r');
    int64_t p = second_pred(d, operand(d, f, 0));
    struct insn *i = emit(d, elect, f->insn->line);

    insn_src(i, 0, to);
    insn_src(i, 2, m);
    i->imm = p;
}

const struct family warp_families[] = {
    {"shfl", shfl_form, shfl_decode, true},
    {"vote", vote_form, vote_decode, true},
    {"match", match_form, match_decode, true},
    {"redux", redux_form, redux_decode, true},
    {"elect", elect_form, elect_decode, true},
    {0},
};
