/* SPDX-License-Identifier: BSD-3-Clause
 * Operands of the decoder: where registers, constants, special registers and names are found when
 * the program runs, and the modifiers of a mnemonic. */
#include "decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool form_take(struct form *f, const char *mod)
{
    for (unsigned k = 0; k < f->insn->nmods; k++) {
        if (!(f->used >> k & 1) && strcmp(f->insn->mod[k], mod) == 0) {
            f->used |= 1u << k;
            return true;
        }
    }
    return false;
}

int form_one(struct form *f, const char *const *mods)
{
    for (int k = 0; mods[k]; k++)
        if (form_take(f, mods[k]))
            return k;
    return -1;
}

enum ptx_type form_type(struct form *f)
{
    for (unsigned k = 0; k < f->insn->nmods; k++) {
        enum ptx_type t = f->used >> k & 1 ? T_NONE : ptx_type_of(f->insn->mod[k]);

        if (t) {
            f->used |= 1u << k;
            return t;
        }
    }
    return T_NONE;
}

bool form_done(const struct form *f)
{
    return f->used == (1u << f->insn->nmods) - 1;
}

void form_take_hints(struct form *f)
{
    static const char *const hints[] = {
        "cta", "cluster", "gpu", "sys", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
        "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
        "L1::no_allocate", "L2::cache_hint", "L2::64B", "L2::128B", "L2::256B", "L2::evict_last",
        "L2::evict_normal", "L2::evict_first", NULL,
    };

    while (form_one(f, hints) >= 0)
        ;
}

void *keep(struct decoder *d, size_t bytes)
{
    struct kept *k = bytes < d->ld->pool.limit ? calloc(1, sizeof *k + bytes) : NULL;

    if (!k)
        loader_fail(d->ld, d->line, "out of memory");
    k->next = d->program->kept;
    d->program->kept = k;
    d->ld->kept += bytes;
    if (d->ld->kept > d->ld->pool.limit)
        loader_fail(d->ld, d->line, "the module's programs need too much memory");
    return k->data;
}

bool in_var(const struct ptx_var *var, int64_t off, uint64_t bytes)
{
    return off >= 0 && bytes <= var->bytes && (uint64_t)off <= var->bytes - bytes;
}

unsigned reg_width(const struct decoder *d, unsigned reg)
{
    unsigned bytes = ptx_type_bytes(d->func->reg[reg]);

    return bytes == 0 ? 0 : bytes <= 4 ? 4 : bytes;
}

char letter_of(enum ptx_type type)
{
    switch (type) {
    case T_F32: case T_TF32: return 'f';
    case T_F64: return 'd';
    case T_PRED: return 'p';
    default: break;
    }
    switch (ptx_type_bytes(type)) {
    case 8: return 'q';
    case 4: return 'r';
    default: return 'h';
    }
}

static unsigned letter_width(char letter)
{
    return letter == 'p' ? 0 : letter == 'Q' ? 16 : letter == 'q' || letter == 'd' ? 8 : 4;
}

static struct ref reg_ref(struct decoder *d, unsigned reg)
{
    struct reg_place *r = &d->reg[reg];

    if (!r->placed) {
        r->placed = true;
        r->ref = ref_temp(d, reg_width(d, reg));
    }
    return r->ref;
}

struct ref ref_temp(struct decoder *d, unsigned width)
{
    struct ref ref = {d->frame_bytes, BASE_FRAME};

    if (d->frame_bytes > MAX_STACK)
        loader_fail(d->ld, d->line, "%s needs too many registers", d->func->name);
    d->frame_bytes += width * LANES;
    return ref;
}

struct ref ref_fill(struct decoder *d, struct fill fill)
{
    char key[64];
    uintptr_t at;
    struct fill *slot;

    snprintf(key, sizeof key, "%d/%llx/%u/%u/%d", fill.kind, (unsigned long long)fill.value,
             fill.width, fill.bytes, fill.sign);
    at = (uintptr_t)map_get(&d->fills, key);
    if (!at) {
        slot = pool_push(&d->ld->pool, (void **)&d->fill, &d->nfills, &d->fills_room, sizeof fill);
        *slot = fill;
        slot->off = d->program->launch_bytes;
        d->program->launch_bytes += fill.width * LANES;
        at = slot->off + 1;
        map_put(&d->fills, &d->ld->pool, pool_strndup(&d->ld->pool, key, strlen(key)), (void *)at);
    }
    return (struct ref){(uint32_t)(at - 1), BASE_LAUNCH};
}

struct ref ref_const(struct decoder *d, uint64_t value, unsigned width)
{
    if (width < 8)
        value &= 0xffffffffu;
    return ref_fill(d, (struct fill){.kind = FILL_CONST, .value = value,
                                     .width = width == 8 ? 8 : 4});
}

static uint64_t immediate_bits(const struct ptx_operand *o, char letter)
{
    uint64_t bits = o->bits;
    double wide;
    float f;
    uint32_t low = (uint32_t)bits;

    memcpy(&wide, &bits, sizeof wide);
    if (letter == 'd' && o->float_kind == IMM_F32) {
        memcpy(&f, &low, sizeof f);
        wide = (double)f;
        memcpy(&bits, &wide, sizeof bits);
    } else if (letter == 'f' && o->float_kind == IMM_F64) {
        f = (float)wide;
        memcpy(&low, &f, sizeof low);
        bits = low;
    }
    return letter == 'h' ? bits & 0xffff : bits;
}

uint64_t function_handle(const struct ptx_func *func)
{
    return window_base(WINDOW_CODE) + 16 * (func->index + 1);
}

bool symbol_ref(struct decoder *d, const struct ptx_operand *o, unsigned width, struct ref *out)
{
    struct ptx_var *var = o->var ? o->var : map_get(&d->module->vars, o->name);
    struct ptx_func *func = var ? NULL : map_get(&d->module->funcs, o->name);

    if (func) {
        *out = ref_const(d, function_handle(func), width);
        return true;
    }
    if (!var)
        return false;
    switch (var->space) {
    case SPACE_GLOBAL:
    case SPACE_CONST:
        *out = ref_const(d, var->address + (uint64_t)o->off, width);
        return true;
    case SPACE_SHARED:
        *out = ref_const(d, var->offset + (uint64_t)o->off, width);
        return true;
    case SPACE_LOCAL:
        /* in a device function it depends on the caller's */
        *out = ref_const(d, var->offset + (uint64_t)o->off, width);
        return d->func->entry;
    case SPACE_PARAM:
        if (var->in_buffer)
            *out = ref_fill(d, (struct fill){.kind = FILL_PARAM_ADDRESS, .width = (uint8_t)width,
                                             .value = var->offset + (uint64_t)o->off});
        else
            *out = ref_const(d, var->offset / ROW * 4 + (uint64_t)o->off, width);
        return true;
    default:
        return false;
    }
}

static int dimension(const char *name, const char *stem)
{
    size_t n = strlen(stem);

    if (strncmp(name, stem, n) || name[n] != '.' || name[n + 1] < 'x' || name[n + 1] > 'z' ||
        name[n + 2])
        return -1;
    return name[n + 1] - 'x';
}

/* Registers 1 and 2 hold the two halves of the address of the grid barrier's memory. */
static bool envreg_fill(const char *name, struct fill *fill)
{
    int k = atoi(name + 7);

    if (k == 1 || k == 2) {
        fill->kind = FILL_GRID_BARRIER;
        fill->value = (uint64_t)(2 - k);
    }
    return k >= 0 && k < 32;
}

/* Special registers that one cluster of one block makes constant, and those of a real launch. */
static bool sreg_fill(const char *name, struct fill *fill)
{
    static const struct {
        const char *name;
        enum fill_kind kind;
        uint64_t value;
    } plain[] = {
        {"%nwarpid", FILL_NWARPID, 0}, {"%nsmid", FILL_NSMID, 0}, {"%gridid", FILL_GRID, 0},
        {"%dynamic_smem_size", FILL_DYNAMIC_SHARED, 0}, {"%total_smem_size", FILL_TOTAL_SHARED, 0},
        {"%aggr_smem_size", FILL_TOTAL_SHARED, 0}, {"%reserved_smem_offset_begin", FILL_CONST, 0},
        {"%reserved_smem_offset_end", FILL_CONST, RESERVED_SHARED},
        {"%reserved_smem_offset_cap", FILL_CONST, RESERVED_SHARED},
        {"%reserved_smem_offset_0", FILL_CONST, 0},
        {"%reserved_smem_offset_1", FILL_CONST, RESERVED_SHARED / 2},
        {"%cluster_ctarank", FILL_CONST, 0}, {"%cluster_nctarank", FILL_CONST, 1},
    };
    int k;

    for (unsigned n = 0; n < sizeof plain / sizeof *plain; n++) {
        if (strcmp(name, plain[n].name) == 0) {
            fill->kind = plain[n].kind;
            fill->value = plain[n].value;
            return true;
        }
    }
    if ((k = dimension(name, "%ntid")) >= 0)
        fill->kind = FILL_NTID;
    else if ((k = dimension(name, "%nctaid")) >= 0 || (k = dimension(name, "%nclusterid")) >= 0)
        fill->kind = FILL_NCTAID;
    else if ((k = dimension(name, "%cluster_ctaid")) >= 0)
        k = 0;
    else if ((k = dimension(name, "%cluster_nctaid")) >= 0)
        k = 1;
    else if (strncmp(name, "%envreg", 7) == 0)
        return envreg_fill(name, fill);
    else
        return false;
    fill->value = (uint64_t)k;
    return true;
}

bool sreg_ref(struct decoder *d, const char *name, unsigned width, struct ref *out)
{
    static const char *const warp_rows[WARP_ROWS] = {
        "%tid.x", "%tid.y", "%tid.z", "%laneid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
        "%lanemask_ge", "%lanemask_gt", "%warpid",
    };
    static const char *const block_rows[BLOCK_ROWS] = {"%ctaid.x", "%ctaid.y", "%ctaid.z", "%smid"};
    struct fill fill = {.kind = FILL_CONST, .width = (uint8_t)width};

    if (sreg_fill(name, &fill)) {
        *out = ref_fill(d, fill);
        return true;
    }
    if (width != 4)
        return false;
    for (uint32_t k = 0; k < WARP_ROWS; k++) {
        if (strcmp(name, warp_rows[k]) == 0) {
            *out = (struct ref){k * ROW, BASE_WARP};
            return true;
        }
    }
    for (uint32_t k = 0; k < BLOCK_ROWS; k++) {
        if (strcmp(name, block_rows[k]) == 0) {
            *out = (struct ref){k * ROW, BASE_BLOCK};
            return true;
        }
    }
    if (dimension(name, "%clusterid") >= 0) {
        *out = (struct ref){(uint32_t)dimension(name, "%clusterid") * ROW, BASE_BLOCK};
        return true;
    }
    return false;
}

static _Noreturn void bad_operand(struct decoder *d, const struct ptx_operand *o)
{
    loader_fail(d->ld, d->line, "%s: operand %s does not fit", d->mnemonic,
                o->name ? o->name : o->kind == O_IMM ? "constant" : "list");
}

struct ref ref_source(struct decoder *d, const struct ptx_operand *o, char letter)
{
    unsigned width = letter_width(letter);
    struct ref ref;

    switch (o->kind) {
    case O_REG:
        if (reg_width(d, o->reg) == width && !(o->neg && letter != 'p'))
            return reg_ref(d, o->reg);
        break;
    case O_IMM:
        if (letter == 'p')
            return ref_const(d, o->bits ? ALL_LANES : 0, 4);
        if (width <= 8)
            return ref_const(d, immediate_bits(o, letter), width);
        break;
    case O_SREG:
        if (letter != 'p' && sreg_ref(d, o->name, width, &ref))
            return ref;
        break;
    case O_SYMBOL:
        if (letter != 'p' && symbol_ref(d, o, width, &ref))
            return ref;
        break;
    default:
        break;
    }
    bad_operand(d, o);
}

struct ref ref_dest(struct decoder *d, const struct ptx_operand *o, char letter)
{
    if (o->kind == O_SINK)
        return ref_temp(d, letter == 'p' ? 4 : letter_width(letter));
    if (o->kind != O_REG || reg_width(d, o->reg) != letter_width(letter))
        bad_operand(d, o);
    return reg_ref(d, o->reg);
}

struct ref pred_source(struct decoder *d, const struct ptx_operand *o, uint8_t *neg_p)
{
    *neg_p = o->neg;
    return ref_source(d, o, 'p');
}
