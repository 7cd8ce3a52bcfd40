/* SPDX-License-Identifier: BSD-3-Clause
 * Logic, shifts, bit counting and bit fields, byte permutation, moves and selection. */
#include "lanes.h"

#define R2(_name, _expr) OP2(_name, uint32_t, uint32_t, uint32_t, _expr)
#define R3(_name, _expr) OP3(_name, uint32_t, uint32_t, uint32_t, uint32_t, _expr)
#define Q2(_name, _expr) OP2(_name, uint64_t, uint64_t, uint64_t, _expr)

R2(and_32, x & y)
R2(or_32, x | y)
R2(xor_32, x ^ y)
OP1(not_16, uint32_t, uint32_t, (uint16_t)~x)
OP1(not_32, uint32_t, uint32_t, ~x)
OP1(cnot_32, uint32_t, uint32_t, x == 0)
Q2(and_64, x & y)
Q2(or_64, x | y)
Q2(xor_64, x ^ y)
OP1(not_64, uint64_t, uint64_t, ~x)
OP1(cnot_64, uint64_t, uint64_t, x == 0)

#define PRED_OP(_name, _expr)                                             \
    OP(_name)                                                             \
    {                                                                     \
        uint32_t x = *PRED_OF(1), y = *PRED_OF(2), *d = PRED_OF(0), m = w->mask; \
        (void)y;                                                          \
        *d = (*d & ~m) | ((_expr) & m);                                   \
        return i + 1;                                                     \
    }
PRED_OP(and_p, x & y)
PRED_OP(or_p, x | y)
PRED_OP(xor_p, x ^ y)
PRED_OP(not_p, ~x)
PRED_OP(mov_p, x)

/* shift amounts past the width clamp to it */
R2(shl_16, y > 15 ? 0u : (uint16_t)(x << y))
R2(shl_32, y > 31 ? 0 : x << y)
OP2(shl_64, uint64_t, uint64_t, uint32_t, y > 63 ? 0 : x << y)
R2(shr_u16, y > 15 ? 0u : (uint32_t)(uint16_t)x >> y)
R2(shr_u32, y > 31 ? 0 : x >> y)
OP2(shr_u64, uint64_t, uint64_t, uint32_t, y > 63 ? 0 : x >> y)
R2(shr_s16, (uint16_t)((int16_t)x >> (y > 15 ? 15 : y)))
R2(shr_s32, (uint32_t)((int32_t)x >> (y > 31 ? 31 : y)))
OP2(shr_s64, uint64_t, uint64_t, uint32_t, (uint64_t)((int64_t)x >> (y > 63 ? 63 : y)))

static inline uint32_t funnel_l(uint32_t lo, uint32_t hi, uint32_t n)
{
    return (uint32_t)((((uint64_t)hi << 32 | lo) << n) >> 32);
}

static inline uint32_t funnel_r(uint32_t lo, uint32_t hi, uint32_t n)
{
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> n);
}

R3(shf_l_wrap, funnel_l(x, y, z & 31))
R3(shf_r_wrap, funnel_r(x, y, z & 31))
R3(shf_l_clamp, funnel_l(x, y, z > 32 ? 32 : z))
R3(shf_r_clamp, funnel_r(x, y, z > 32 ? 32 : z))

static inline uint32_t reverse32(uint32_t v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}

static inline uint64_t reverse64(uint64_t v)
{
    return (uint64_t)reverse32((uint32_t)v) << 32 | reverse32((uint32_t)(v >> 32));
}

OP1(popc_32, uint32_t, uint32_t, (uint32_t)__builtin_popcount(x))
OP1(popc_64, uint32_t, uint64_t, (uint32_t)__builtin_popcountll(x))
OP1(clz_32, uint32_t, uint32_t, x ? (uint32_t)__builtin_clz(x) : 32)
OP1(clz_64, uint32_t, uint64_t, x ? (uint32_t)__builtin_clzll(x) : 64)
OP1(brev_32, uint32_t, uint32_t, reverse32(x))
OP1(brev_64, uint64_t, uint64_t, reverse64(x))

/* position of the top bit that differs from the sign; shiftamt: how far to shift it to the top */
#define FIND32(_v) ((_v) ? 31 - (uint32_t)__builtin_clz(_v) : ALL_LANES)
#define FIND64(_v) ((_v) ? 63 - (uint32_t)__builtin_clzll(_v) : ALL_LANES)
#define AMOUNT(_find, _top) ((_find) == ALL_LANES ? ALL_LANES : (_top) - (_find))
#define SIGN32 ((int32_t)x < 0 ? ~x : x)
#define SIGN64 ((int64_t)x < 0 ? ~x : x)
OP1(bfind_u32, uint32_t, uint32_t, FIND32(x))
OP1(bfind_s32, uint32_t, uint32_t, FIND32(SIGN32))
OP1(bfind_u64, uint32_t, uint64_t, FIND64(x))
OP1(bfind_s64, uint32_t, uint64_t, FIND64(SIGN64))
OP1(bfind_amt_u32, uint32_t, uint32_t, AMOUNT(FIND32(x), 31))
OP1(bfind_amt_s32, uint32_t, uint32_t, AMOUNT(FIND32(SIGN32), 31))
OP1(bfind_amt_u64, uint32_t, uint64_t, AMOUNT(FIND64(x), 63))
OP1(bfind_amt_s64, uint32_t, uint64_t, AMOUNT(FIND64(SIGN64), 63))

/* n-th set bit from a base position, upwards or downwards; counting starts at the base itself */
static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t n)
{
    int step = n < 0 ? -1 : 1;
    uint32_t left = n < 0 ? 0u - (uint32_t)n : (uint32_t)n;

    if (base > 31)
        return ALL_LANES;
    if (n == 0)
        return mask >> base & 1 ? base : ALL_LANES;
    for (int k = (int)base; k >= 0 && k < 32; k += step)
        if (mask >> k & 1 && --left == 0)
            return (uint32_t)k;
    return ALL_LANES;
}

R3(fns_b32, find_nth(x, y, (int32_t)z))

static inline uint64_t field(uint64_t v, uint32_t pos, uint32_t len, uint32_t top, bool sign)
{
    uint64_t r, ones;
    bool neg;

    pos &= 0xff;
    len &= 0xff;
    if (len == 0)
        return 0;
    /* the sign is the field's top bit, or the value's where the field reaches past it */
    neg = sign && v >> (pos + len - 1 > top ? top : pos + len - 1) & 1;
    r = pos > top ? 0 : v >> pos;
    if (len > top)
        len = top + 1;
    ones = len > 63 ? ~(uint64_t)0 : ((uint64_t)1 << len) - 1;
    r &= ones;
    if (neg) {
        uint32_t have = pos > top ? 0 : top + 1 - pos;

        if (have < len)
            ones = ((uint64_t)1 << have) - 1;
        r |= ~ones;
    }
    return r;
}

R3(bfe_u32, (uint32_t)field(x, y, z, 31, false))
R3(bfe_s32, (uint32_t)field(x, y, z, 31, true))
OP3(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, field(x, y, z, 63, false))
OP3(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, field(x, y, z, 63, true))

static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t width)
{
    uint64_t ones;

    pos &= 0xff;
    len &= 0xff;
    if (pos >= width || len == 0)
        return b;
    ones = (len > 63 ? ~(uint64_t)0 : ((uint64_t)1 << len) - 1) << pos;
    return (b & ~ones) | (a << pos & ones);
}

OP(bfi_b32)
{
    uint32_t *d = ROW_OF(uint32_t, 0);
    const uint32_t *a = ROW_OF(uint32_t, 1), *b = ROW_OF(uint32_t, 2), *c = ROW_OF(uint32_t, 3);
    const uint32_t *e = (const uint32_t *)(const void *)(w->base[i->n] + i->imm);

    LOOP(d, , (uint32_t)insert(a[l], b[l], c[l], e[l], 32));
    return i + 1;
}

OP(bfi_b64)
{
    uint64_t *d = ROW_OF(uint64_t, 0);
    const uint64_t *a = ROW_OF(uint64_t, 1), *b = ROW_OF(uint64_t, 2);
    const uint32_t *c = ROW_OF(uint32_t, 3);
    const uint32_t *e = (const uint32_t *)(const void *)(w->base[i->n] + i->imm);

    LOOP(d, , insert(a[l], b[l], c[l], e[l], 64));
    return i + 1;
}

static inline uint32_t sign_zero_extend(uint32_t v, uint32_t n, bool sign)
{
    if (n > 31)
        return v;
    if (n == 0)
        return 0;
    v &= (1u << n) - 1;
    return sign && v >> (n - 1) ? v | ~0u << n : v;
}

R2(szext_clamp_u32, sign_zero_extend(x, y, false))
R2(szext_clamp_s32, sign_zero_extend(x, y, true))
R2(szext_wrap_u32, sign_zero_extend(x, y & 31, false))
R2(szext_wrap_s32, sign_zero_extend(x, y & 31, true))

static inline uint32_t bit_mask(uint32_t pos, uint32_t len)
{
    return pos > 31 || len == 0 ? 0 : (len > 31 ? ~0u : (1u << len) - 1) << pos;
}

R2(bmsk_clamp, bit_mask(x, y))
R2(bmsk_wrap, bit_mask(x & 31, y & 31))

/* the immediate is the truth table: its bit 4a + 2b + c */
OP(lop3_b32)
{
    uint32_t *d = ROW_OF(uint32_t, 0);
    const uint32_t *a = ROW_OF(uint32_t, 1), *b = ROW_OF(uint32_t, 2), *c = ROW_OF(uint32_t, 3);
    uint32_t t[8];

    for (unsigned k = 0; k < 8; k++)
        t[k] = i->imm >> k & 1 ? ALL_LANES : 0;
    LOOP(d, const uint32_t x = a[l]; const uint32_t y = b[l]; const uint32_t z = c[l],
         (t[0] & ~x & ~y & ~z) | (t[1] & ~x & ~y & z) | (t[2] & ~x & y & ~z) | (t[3] & ~x & y & z) |
         (t[4] & x & ~y & ~z) | (t[5] & x & ~y & z) | (t[6] & x & y & ~z) | (t[7] & x & y & z));
    return i + 1;
}

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t v = (uint64_t)b << 32 | a;
    uint32_t r = 0;

    for (unsigned k = 0; k < 4; k++) {
        uint32_t s = c >> 4 * k & 15, byte = v >> 8 * (s & 7) & 0xff;

        if (s & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * k;
    }
    return r;
}

/* With one selector for all lanes the bytes are picked by shifts of known widths. */
OP(prmt)
{
    uint32_t *d = ROW_OF(uint32_t, 0);
    const uint32_t *a = ROW_OF(uint32_t, 1), *b = ROW_OF(uint32_t, 2), *c = ROW_OF(uint32_t, 3);
    uint32_t shift[4], upper[4], fill[4], sel = c[0];

    if (i->base[3] != BASE_LAUNCH) {
        LOOP(d, , permute(a[l], b[l], c[l]));
        return i + 1;
    }
    for (unsigned k = 0; k < 4; k++) {
        uint32_t s = sel >> 4 * k & 15;

        shift[k] = 8 * (s & 3);
        upper[k] = s & 4 ? ALL_LANES : 0;
        fill[k] = s & 8 ? ALL_LANES : 0;
    }
#define PICK(_k) \
    ({ const uint32_t v_ = ((upper[_k] ? b[l] : a[l]) >> shift[_k]) & 0xff; \
       (((0u - (v_ >> 7)) & 0xff & fill[_k]) | (v_ & ~fill[_k])) << 8 * (_k); })
    LOOP(d, , PICK(0) | PICK(1) | PICK(2) | PICK(3));
    return i + 1;
}

/* the special modes, as selectors of the general one */
static const uint16_t select_f4e[4] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t select_b4e[4] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t select_rc8[4] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t select_ecl[4] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t select_ecr[4] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t select_rc16[4] = {0x1010, 0x3232, 0x1010, 0x3232};
R3(prmt_f4e, permute(x, y, select_f4e[z & 3]))
R3(prmt_b4e, permute(x, y, select_b4e[z & 3]))
R3(prmt_rc8, permute(x, y, select_rc8[z & 3]))
R3(prmt_ecl, permute(x, y, select_ecl[z & 3]))
R3(prmt_ecr, permute(x, y, select_ecr[z & 3]))
R3(prmt_rc16, permute(x, y, select_rc16[z & 3]))

#define MOVE(_n, _t) OP1(mov_##_n, _t, _t, x)
MOVE(32, uint32_t)
MOVE(64, uint64_t)

OP(selp_32)
{
    uint32_t *d = ROW_OF(uint32_t, 0), p = *PRED_OF(3);
    const uint32_t *a = ROW_OF(uint32_t, 1), *b = ROW_OF(uint32_t, 2);

    LOOP(d, , p >> l & 1 ? a[l] : b[l]);
    return i + 1;
}

OP(selp_64)
{
    uint64_t *d = ROW_OF(uint64_t, 0);
    const uint64_t *a = ROW_OF(uint64_t, 1), *b = ROW_OF(uint64_t, 2);
    uint32_t p = *PRED_OF(3);

    LOOP(d, , p >> l & 1 ? a[l] : b[l]);
    return i + 1;
}

/* slct d, a, b, c: a where c >= 0 */
#define SLCT(_name, _t, _tc, _expr) OP3(_name, _t, _t, _t, _tc, (_expr) ? x : y)
SLCT(slct_32_s, uint32_t, int32_t, z >= 0)
SLCT(slct_64_s, uint64_t, int32_t, z >= 0)
SLCT(slct_32_f, uint32_t, float, z >= 0.0f)
SLCT(slct_64_f, uint64_t, float, z >= 0.0f)
/* .ftz: a negative subnormal is a zero */
SLCT(slct_32_z, uint32_t, float, z > -0x1p-126f)
SLCT(slct_64_z, uint64_t, float, z > -0x1p-126f)

#define LOGIC_ROWS(_op, _fn) \
    {_op ".pred", _fn##_p, "ppp", 0, 0}, {_op ".b16", _fn##_32, "hhh", 0, 0}, \
    {_op ".b32", _fn##_32, "rrr", 0, 0}, {_op ".b64", _fn##_64, "qqq", 0, 0}
#define SHIFT_ROWS(_op, _mid, _fn) \
    {_op "." _mid "16", _fn##16, "hhr", 0, 0}, {_op "." _mid "32", _fn##32, "rrr", 0, 0}, \
    {_op "." _mid "64", _fn##64, "qqr", 0, 0}
#define MOVE_ROWS(_op, _f32, _f64, _h, _r, _q, _f, _d) \
    {_op ".b16", _f32, _h, 0, 0}, {_op ".u16", _f32, _h, 0, 0}, {_op ".s16", _f32, _h, 0, 0}, \
    {_op ".b32", _f32, _r, 0, 0}, {_op ".u32", _f32, _r, 0, 0}, {_op ".s32", _f32, _r, 0, 0}, \
    {_op ".b64", _f64, _q, 0, 0}, {_op ".u64", _f64, _q, 0, 0}, {_op ".s64", _f64, _q, 0, 0}, \
    {_op ".f16", _f32, _h, 0, 0}, {_op ".f32", _f32, _f, 0, 0}, {_op ".f64", _f64, _d, 0, 0}
#define SLCT_ROWS(_t, _w, _int, _flt) \
    {"slct." _t ".s32", slct_##_w##_s, _int, 0, 0}, {"slct." _t ".f32", slct_##_w##_f, _flt, 0, 0}, \
    {"slct.ftz." _t ".f32", slct_##_w##_z, _flt, 0, 0}

const struct op_row ops_bits[] = {
    LOGIC_ROWS("and", and), LOGIC_ROWS("or", or), LOGIC_ROWS("xor", xor),
    {"not.pred", not_p, "pp", 0, 0},
    {"not.b16", not_16, "hh", 0, 0},
    {"not.b32", not_32, "rr", 0, 0},
    {"not.b64", not_64, "qq", 0, 0},
    {"cnot.b16", cnot_32, "hh", 0, 0},
    {"cnot.b32", cnot_32, "rr", 0, 0},
    {"cnot.b64", cnot_64, "qq", 0, 0},
    SHIFT_ROWS("shl", "b", shl_), SHIFT_ROWS("shr", "b", shr_u), SHIFT_ROWS("shr", "u", shr_u),
    SHIFT_ROWS("shr", "s", shr_s),
    {"shf.l.wrap.b32", shf_l_wrap, "rrrr", 0, 0},
    {"shf.r.wrap.b32", shf_r_wrap, "rrrr", 0, 0},
    {"shf.l.clamp.b32", shf_l_clamp, "rrrr", 0, 0},
    {"shf.r.clamp.b32", shf_r_clamp, "rrrr", 0, 0},
    {"popc.b32", popc_32, "rr", 0, 0},
    {"popc.b64", popc_64, "rq", 0, 0},
    {"clz.b32", clz_32, "rr", 0, 0},
    {"clz.b64", clz_64, "rq", 0, 0},
    {"brev.b32", brev_32, "rr", 0, 0},
    {"brev.b64", brev_64, "qq", 0, 0},
    {"bfind.u32", bfind_u32, "rr", 0, 0},
    {"bfind.s32", bfind_s32, "rr", 0, 0},
    {"bfind.u64", bfind_u64, "rq", 0, 0},
    {"bfind.s64", bfind_s64, "rq", 0, 0},
    {"bfind.shiftamt.u32", bfind_amt_u32, "rr", 0, 0},
    {"bfind.shiftamt.s32", bfind_amt_s32, "rr", 0, 0},
    {"bfind.shiftamt.u64", bfind_amt_u64, "rq", 0, 0},
    {"bfind.shiftamt.s64", bfind_amt_s64, "rq", 0, 0},
    {"fns.b32", fns_b32, "rrrr", 0, 0},
    {"bfe.u32", bfe_u32, "rrrr", 0, 0},
    {"bfe.s32", bfe_s32, "rrrr", 0, 0},
    {"bfe.u64", bfe_u64, "qqrr", 0, 0},
    {"bfe.s64", bfe_s64, "qqrr", 0, 0},
    {"bfi.b32", bfi_b32, "rrrrr", 0, 0},
    {"bfi.b64", bfi_b64, "qqqrr", 0, 0},
    {"szext.clamp.u32", szext_clamp_u32, "rrr", 0, 0},
    {"szext.clamp.s32", szext_clamp_s32, "rrr", 0, 0},
    {"szext.wrap.u32", szext_wrap_u32, "rrr", 0, 0},
    {"szext.wrap.s32", szext_wrap_s32, "rrr", 0, 0},
    {"bmsk.clamp.b32", bmsk_clamp, "rrr", 0, 0},
    {"bmsk.wrap.b32", bmsk_wrap, "rrr", 0, 0},
    {"lop3.b32", lop3_b32, "rrrri", 0, 0},
    {"prmt.b32", prmt, "rrrr", 0, 0},
    {"prmt.b32.f4e", prmt_f4e, "rrrr", 0, 0},
    {"prmt.b32.b4e", prmt_b4e, "rrrr", 0, 0},
    {"prmt.b32.rc8", prmt_rc8, "rrrr", 0, 0},
    {"prmt.b32.ecl", prmt_ecl, "rrrr", 0, 0},
    {"prmt.b32.ecr", prmt_ecr, "rrrr", 0, 0},
    {"prmt.b32.rc16", prmt_rc16, "rrrr", 0, 0},
    {"mov.pred", mov_p, "pp", 0, 0},
    MOVE_ROWS("mov", mov_32, mov_64, "hh", "rr", "qq", "ff", "dd"),
    {"mov.bf16", mov_32, "hh", 0, 0},
    {"mov.f16x2", mov_32, "rr", 0, 0},
    {"mov.bf16x2", mov_32, "rr", 0, 0},
    SLCT_ROWS("b16", 32, "hhhr", "hhhf"), SLCT_ROWS("u16", 32, "hhhr", "hhhf"),
    SLCT_ROWS("s16", 32, "hhhr", "hhhf"), SLCT_ROWS("b32", 32, "rrrr", "rrrf"),
    SLCT_ROWS("u32", 32, "rrrr", "rrrf"), SLCT_ROWS("s32", 32, "rrrr", "rrrf"),
    SLCT_ROWS("f32", 32, "fffr", "ffff"), SLCT_ROWS("b64", 64, "qqqr", "qqqf"),
    SLCT_ROWS("u64", 64, "qqqr", "qqqf"), SLCT_ROWS("s64", 64, "qqqr", "qqqf"),
    SLCT_ROWS("f64", 64, "dddr", "dddf"),
    MOVE_ROWS("selp", selp_32, selp_64, "hhhp", "rrrp", "qqqp", "fffp", "dddp"),
    {0},
};
