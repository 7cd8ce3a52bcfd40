/* SPDX-License-Identifier: BSD-3-Clause
 * atom and red. Each lane's update is a real atomic operation on global memory, which other CPU
 * threads see; shared memory belongs to one block, so to one CPU thread. FP32 addition in global
 * memory flushes subnormals, as PTX documents; in shared memory it doesn't. */
#include "decode.h"
#include "fp.h"
#include "race.h"

/* Replaces *p by f(*p, b, c) and returns what was there. */
typedef uint64_t (*atom_fn)(void *p, uint64_t b, uint64_t c);

#define ATOM(_name, _t, _expr)                                                          \
    static uint64_t _name(void *p, uint64_t bb, uint64_t cc)                            \
    {                                                                                   \
        _t old = __atomic_load_n((_t *)p, __ATOMIC_RELAXED), new_;                      \
        const _t b = (_t)bb, c = (_t)cc;                                                \
                                                                                        \
        (void)b, (void)c;                                                               \
        do                                                                              \
            new_ = (_t)(_expr);                                                         \
        while (!__atomic_compare_exchange_n((_t *)p, &old, new_, true, __ATOMIC_SEQ_CST, \
                                            __ATOMIC_RELAXED));                         \
        return old;                                                                     \
    }
#define FETCH(_name, _t, _op)                                                           \
    static uint64_t _name(void *p, uint64_t b, uint64_t c)                              \
    {                                                                                   \
        (void)c;                                                                        \
        return _op((_t *)p, (_t)b, __ATOMIC_SEQ_CST);                                   \
    }
FETCH(add_32, uint32_t, __atomic_fetch_add)
FETCH(add_64, uint64_t, __atomic_fetch_add)
FETCH(and_32, uint32_t, __atomic_fetch_and)
FETCH(and_64, uint64_t, __atomic_fetch_and)
FETCH(or_32, uint32_t, __atomic_fetch_or)
FETCH(or_64, uint64_t, __atomic_fetch_or)
FETCH(xor_32, uint32_t, __atomic_fetch_xor)
FETCH(xor_64, uint64_t, __atomic_fetch_xor)
FETCH(exch_32, uint32_t, __atomic_exchange_n)
FETCH(exch_64, uint64_t, __atomic_exchange_n)
#define CAS(_name, _t)                                                                  \
    static uint64_t _name(void *p, uint64_t b, uint64_t c)                              \
    {                                                                                   \
        _t old = (_t)b;                                                                 \
                                                                                        \
        __atomic_compare_exchange_n((_t *)p, &old, (_t)c, false, __ATOMIC_SEQ_CST,      \
                                    __ATOMIC_SEQ_CST);                                  \
        return old;                                                                     \
    }
CAS(cas_16, uint16_t)
CAS(cas_32, uint32_t)
CAS(cas_64, uint64_t)
ATOM(inc_32, uint32_t, old >= b ? 0 : old + 1)
ATOM(dec_32, uint32_t, old == 0 || old > b ? b : old - 1)
ATOM(min_u32, uint32_t, old < b ? old : b)
ATOM(max_u32, uint32_t, old > b ? old : b)
ATOM(min_s32, uint32_t, (int32_t)old < (int32_t)b ? old : b)
ATOM(max_s32, uint32_t, (int32_t)old > (int32_t)b ? old : b)
ATOM(min_u64, uint64_t, old < b ? old : b)
ATOM(max_u64, uint64_t, old > b ? old : b)
ATOM(min_s64, uint64_t, (int64_t)old < (int64_t)b ? old : b)
ATOM(max_s64, uint64_t, (int64_t)old > (int64_t)b ? old : b)
ATOM(add_f32, uint32_t, f32_result(f32_from(old) + f32_from(b)))
ATOM(add_f32_ftz, uint32_t, f32_result(f32_flush(f32_flush(f32_from(old)) + f32_flush(f32_from(b)))))
ATOM(add_f64, uint64_t, f64_bits(f64_from(old) + f64_from(b)))

static uint32_t half_add(uint32_t x, uint32_t y)
{
    return f32_to_f16(f16_to_f32(x) + f16_to_f32(y));
}

static uint32_t bf16_add(uint32_t x, uint32_t y)
{
    return f64_to_bf16(f64_add_odd((double)bf16_to_f32(x), (double)bf16_to_f32(y)), 'n');
}

/* min, max of halves: NaN loses against a number */
static uint32_t half_pick(uint32_t x, uint32_t y, bool max, bool bf)
{
    float a = bf ? bf16_to_f32(x) : f16_to_f32(x), b = bf ? bf16_to_f32(y) : f16_to_f32(y);

    if (a != a)
        return b != b ? F16_NAN : y;
    if (b != b)
        return x;
    if (a == b)
        return max ? x & y : x | y;
    return (a < b) != max ? x : y;
}

#define BOTH16(_f, ...) \
    ((uint32_t)_f(old & 0xffff, b & 0xffff, ##__VA_ARGS__) | \
     (uint32_t)_f(old >> 16, b >> 16, ##__VA_ARGS__) << 16)
ATOM(add_f16, uint16_t, half_add(old, b))
ATOM(add_bf16, uint16_t, bf16_add(old, b))
ATOM(add_f16x2, uint32_t, BOTH16(half_add))
ATOM(add_bf16x2, uint32_t, BOTH16(bf16_add))
ATOM(min_f16, uint16_t, half_pick(old, b, false, false))
ATOM(max_f16, uint16_t, half_pick(old, b, true, false))
ATOM(min_bf16, uint16_t, half_pick(old, b, false, true))
ATOM(max_bf16, uint16_t, half_pick(old, b, true, true))
ATOM(min_f16x2, uint32_t, BOTH16(half_pick, false, false))
ATOM(max_f16x2, uint32_t, BOTH16(half_pick, true, false))
ATOM(min_bf16x2, uint32_t, BOTH16(half_pick, false, true))
ATOM(max_bf16x2, uint32_t, BOTH16(half_pick, true, true))

static const struct atom_row {
    const char *name;
    atom_fn fn, global; /* global: where it differs */
} rows[] = {
    {"add.u32", add_32, NULL}, {"add.s32", add_32, NULL}, {"add.u64", add_64, NULL},
    {"add.s64", add_64, NULL}, {"add.f32", add_f32, add_f32_ftz}, {"add.f64", add_f64, NULL},
    {"add.noftz.f16", add_f16, NULL}, {"add.noftz.f16x2", add_f16x2, NULL},
    {"add.noftz.bf16", add_bf16, NULL}, {"add.noftz.bf16x2", add_bf16x2, NULL},
    {"and.b32", and_32, NULL}, {"and.b64", and_64, NULL}, {"or.b32", or_32, NULL},
    {"or.b64", or_64, NULL}, {"xor.b32", xor_32, NULL}, {"xor.b64", xor_64, NULL},
    {"exch.b32", exch_32, NULL}, {"exch.b64", exch_64, NULL}, {"cas.b16", cas_16, NULL},
    {"cas.b32", cas_32, NULL}, {"cas.b64", cas_64, NULL}, {"inc.u32", inc_32, NULL},
    {"dec.u32", dec_32, NULL}, {"min.u32", min_u32, NULL}, {"min.s32", min_s32, NULL},
    {"min.u64", min_u64, NULL}, {"min.s64", min_s64, NULL}, {"max.u32", max_u32, NULL},
    {"max.s32", max_s32, NULL}, {"max.u64", max_u64, NULL}, {"max.s64", max_s64, NULL},
    {"min.noftz.f16", min_f16, NULL}, {"max.noftz.f16", max_f16, NULL},
    {"min.noftz.bf16", min_bf16, NULL}, {"max.noftz.bf16", max_bf16, NULL},
    {"min.noftz.f16x2", min_f16x2, NULL}, {"max.noftz.f16x2", max_f16x2, NULL},
    {"min.noftz.bf16x2", min_bf16x2, NULL}, {"max.noftz.bf16x2", max_bf16x2, NULL},
};

/* list: for each element, offset and base of b, of c, and the offset of d (or UINT32_MAX) */
OP(atomic)
{
    const struct atom_row *row = *(const struct atom_row *const *)(const void *)i->list;
    const uint32_t *list = i->list + 2;
    uint64_t address[LANES];
    enum where where = resolve_atomic(w, i, address, i->size * i->n);
    unsigned size = i->size, width = size == 8 ? 8 : 4;
    atom_fn fn = where == WHERE_GLOBAL && row->global ? row->global : row->fn;

    if (where == WHERE_FAULT)
        return STOP;
    race_strong(w);
    w->worker->counts.atomics += (uint64_t)__builtin_popcount(w->mask) * i->n;
    EACH_SET(w->mask) {
        for (unsigned k = 0; k < i->n; k++) {
            const uint32_t *e = list + 5 * k;
            uint64_t b = 0, c = 0, old;

            memcpy(&b, w->base[e[1]] + e[0] + l * width, width);
            memcpy(&c, w->base[e[3]] + e[2] + l * width, width);
            old = fn((char *)(uintptr_t)address[l] + k * size, b, c);
            if (e[4] != UINT32_MAX)
                memcpy(w->base[BASE_FRAME] + e[4] + l * width, &old, width);
        }
    }
    return i + 1;
}

static bool atom_form(struct form *f)
{
    static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel", NULL};
    static const char *const spaces[] = {"global", "shared", "shared::cta", "shared::cluster", NULL};
    static const char *const vectors[] = {"v2", "v4", "v8", NULL};
    const char *ops[] = {"add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max", NULL};
    int op, space, v;
    bool noftz;

    form_one(f, orders);
    space = form_one(f, spaces);
    f->flags = space < 0 ? 0 : space == 0 ? MEM_GLOBAL : MEM_SHARED;
    op = form_one(f, ops);
    noftz = form_take(f, "noftz");
    form_take_hints(f);
    v = form_one(f, vectors);
    f->n = v < 0 ? 1 : 2u << v;
    f->type = form_type(f);
    f->size = ptx_type_bytes(f->type);
    f->kind = op == 5; /* cas has a third operand */
    if (op < 0 || !f->type || !form_done(f))
        return false;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char name[32] = "";

        strcat(strcat(name, ops[op]), noftz ? ".noftz." : ".");
        strcat(name, ptx_type_names[f->type]);
        if (strcmp(rows[k].name, name) == 0) {
            f->row = &rows[k];
            break;
        }
    }
    if (v >= 0 && (op == 5 || (f->type != T_F32 && !noftz)))
        return false;
    return f->row;
}

static void atom_decode(struct decoder *d, const struct form *f)
{
    bool red = strcmp(f->insn->op, "red") == 0;
    unsigned at = red ? 0 : 1, width = f->size == 8 ? 8 : 4;
    const struct ptx_operand *to = red ? NULL : operand(d, f, 0), *b = operand(d, f, at + 1);
    const struct ptx_operand *c = f->kind ? operand(d, f, at + 2) : NULL;
    uint32_t *list = keep(d, sizeof f->row + 5 * f->n * sizeof *list);
    char letter = letter_of(f->type);
    struct address where;
    struct insn *i;

    memcpy(list, &f->row, sizeof f->row);
    memory_operand(d, operand(d, f, at), &where);
    for (unsigned k = 0; k < f->n; k++) {
        const struct ptx_operand *bk = b->kind == O_VECTOR ? &b->list[k] : b;
        const struct ptx_operand *tk = to && to->kind == O_VECTOR ? &to->list[k] : to;
        uint32_t *e = list + 2 + 5 * k;
        struct ref ref;

        if ((b->kind == O_VECTOR ? b->n : 1) != f->n || (to && to->kind == O_VECTOR && to->n != f->n))
            loader_fail(d->ld, d->line, "%s has %u elements", d->mnemonic, f->n);
        ref = ref_source(d, bk, letter);
        e[0] = e[2] = ref.off;
        e[1] = e[3] = ref.base;
        if (c) {
            ref = ref_source(d, c, letter);
            e[2] = ref.off;
            e[3] = ref.base;
        }
        e[4] = tk && tk->kind != O_SINK ? ref_dest(d, tk, width == 8 ? 'q' : 'r').off : UINT32_MAX;
    }
    i = emit(d, atomic, f->insn->line);
    insn_src(i, 1, where.ref);
    i->imm = where.imm;
    i->kind = (uint8_t)(where.flags | f->flags | MEM_STRONG);
    i->size = (uint8_t)f->size;
    i->n = (uint8_t)f->n;
    i->list = list;
    i->slot = d->program->nslots++;
    if (f->type == T_F32 || f->type == T_F64)
        count_flops(d, f->type == T_F32 ? FLOP_F32 : FLOP_F64, f->n);
}

const struct family atomic_families[] = {
    {"atom", atom_form, atom_decode, false},
    {"red", atom_form, atom_decode, false},
    {0},
};
