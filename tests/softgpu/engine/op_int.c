/* SPDX-License-Identifier: BSD-3-Clause
 * Integer arithmetic. Everything is computed in unsigned types, where overflow wraps as PTX has it;
 * division by zero gives all ones (PTX leaves it open). Values of 16 bits live zero-extended. */
#include "lanes.h"

typedef __int128 s128;
typedef unsigned __int128 u128;

static inline uint32_t sat_s32(int64_t v)
{
    return (uint32_t)(int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* _n: name part, _u and _s: unsigned and signed type of the lane's value, _r: type of the row */
#define INT_OPS(_n, _u, _s, _r) \
    OP2(add_##_n, _r, _r, _r, (_u)(x + y)) \
    OP2(sub_##_n, _r, _r, _r, (_u)(x - y)) \
    OP2(min_u##_n, _r, _r, _r, (_u)x < (_u)y ? (_u)x : (_u)y) \
    OP2(max_u##_n, _r, _r, _r, (_u)x > (_u)y ? (_u)x : (_u)y) \
    OP2(min_s##_n, _r, _r, _r, (_s)x < (_s)y ? (_u)x : (_u)y) \
    OP2(max_s##_n, _r, _r, _r, (_s)x > (_s)y ? (_u)x : (_u)y) \
    OP1(abs_##_n, _r, _r, (_s)x < 0 ? (_u)(0 - (_u)x) : (_u)x) \
    OP1(neg_##_n, _r, _r, (_u)(0 - (_u)x)) \
    OP2(div_u##_n, _r, _r, _r, (_u)y ? (_u)((_u)x / (_u)y) : (_u)-1) \
    OP2(rem_u##_n, _r, _r, _r, (_u)y ? (_u)((_u)x % (_u)y) : (_u)x) \
    OP2(div_s##_n, _r, _r, _r, (_u)y == 0 ? (_u)-1 : (_s)y == -1 ? (_u)(0 - (_u)x) \
                                                  : (_u)((_s)x / (_s)y)) \
    OP2(rem_s##_n, _r, _r, _r, (_u)y == 0 ? (_u)x : (_s)y == -1 ? 0 : (_u)((_s)x % (_s)y)) \
    OP3(sad_u##_n, _r, _r, _r, _r, (_u)(z + ((_u)x < (_u)y ? (_u)y - (_u)x : (_u)x - (_u)y))) \
    OP3(sad_s##_n, _r, _r, _r, _r, (_u)(z + ((_s)x < (_s)y ? (_u)y - (_u)x : (_u)x - (_u)y)))

INT_OPS(16, uint16_t, int16_t, uint32_t)
INT_OPS(32, uint32_t, int32_t, uint32_t)
INT_OPS(64, uint64_t, int64_t, uint64_t)

OP2(add_sat_s32, uint32_t, uint32_t, uint32_t, sat_s32((int64_t)(int32_t)x + (int32_t)y))
OP2(sub_sat_s32, uint32_t, uint32_t, uint32_t, sat_s32((int64_t)(int32_t)x - (int32_t)y))
OP2(min_relu_s32, uint32_t, int32_t, int32_t, (uint32_t)((x < y ? x : y) < 0 ? 0 : x < y ? x : y))
OP2(max_relu_s32, uint32_t, int32_t, int32_t, (uint32_t)((x > y ? x : y) < 0 ? 0 : x > y ? x : y))

/* two halves of 16 bits */
#define PAIR(_t, _expr) \
    ({ const _t xl = (_t)x, yl = (_t)y, xh = (_t)(x >> 16), yh = (_t)(y >> 16); \
       uint32_t lo_, hi_; \
       { const _t p = xl, q = yl; lo_ = (uint16_t)(_expr); } \
       { const _t p = xh, q = yh; hi_ = (uint16_t)(_expr); } \
       lo_ | hi_ << 16; })
#define RELU(_v) ((_v) < 0 ? 0 : (_v))
OP2(add_x2, uint32_t, uint32_t, uint32_t, PAIR(uint16_t, p + q))
OP2(min_u16x2, uint32_t, uint32_t, uint32_t, PAIR(uint16_t, p < q ? p : q))
OP2(max_u16x2, uint32_t, uint32_t, uint32_t, PAIR(uint16_t, p > q ? p : q))
OP2(min_s16x2, uint32_t, uint32_t, uint32_t, PAIR(int16_t, p < q ? p : q))
OP2(max_s16x2, uint32_t, uint32_t, uint32_t, PAIR(int16_t, p > q ? p : q))
OP2(min_relu_s16x2, uint32_t, uint32_t, uint32_t, PAIR(int16_t, RELU(p < q ? p : q)))
OP2(max_relu_s16x2, uint32_t, uint32_t, uint32_t, PAIR(int16_t, RELU(p > q ? p : q)))

OP2(mul_lo_16, uint32_t, uint32_t, uint32_t, (uint16_t)(x * y))
OP2(mul_lo_32, uint32_t, uint32_t, uint32_t, x * y)
OP2(mul_lo_64, uint64_t, uint64_t, uint64_t, x * y)
OP2(mul_hi_u16, uint32_t, uint32_t, uint32_t, (uint16_t)((uint32_t)(uint16_t)x * (uint16_t)y >> 16))
OP2(mul_hi_s16, uint32_t, uint32_t, uint32_t, (uint16_t)((int32_t)(int16_t)x * (int16_t)y >> 16))
OP2(mul_hi_u32, uint32_t, uint32_t, uint32_t, (uint32_t)((uint64_t)x * y >> 32))
OP2(mul_hi_s32, uint32_t, int32_t, int32_t, (uint32_t)((int64_t)x * y >> 32))
OP2(mul_hi_u64, uint64_t, uint64_t, uint64_t, (uint64_t)((u128)x * y >> 64))
OP2(mul_hi_s64, uint64_t, int64_t, int64_t, (uint64_t)((s128)x * y >> 64))
OP2(mul_wide_u16, uint32_t, uint32_t, uint32_t, (uint32_t)(uint16_t)x * (uint16_t)y)
OP2(mul_wide_s16, uint32_t, uint32_t, uint32_t, (uint32_t)((int32_t)(int16_t)x * (int16_t)y))
OP2(mul_wide_u32, uint64_t, uint32_t, uint32_t, (uint64_t)x * y)
OP2(mul_wide_s32, uint64_t, int32_t, int32_t, (uint64_t)((int64_t)x * y))

OP3(mad_lo_16, uint32_t, uint32_t, uint32_t, uint32_t, (uint16_t)(x * y + z))
OP3(mad_lo_32, uint32_t, uint32_t, uint32_t, uint32_t, x * y + z)
OP3(mad_lo_64, uint64_t, uint64_t, uint64_t, uint64_t, x * y + z)
OP3(mad_hi_u16, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint16_t)(((uint32_t)(uint16_t)x * (uint16_t)y >> 16) + z))
OP3(mad_hi_s16, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint16_t)(((uint32_t)((int32_t)(int16_t)x * (int16_t)y) >> 16) + z))
OP3(mad_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)((uint64_t)x * y >> 32) + z)
OP3(mad_hi_s32, uint32_t, int32_t, int32_t, uint32_t, (uint32_t)((int64_t)x * y >> 32) + z)
OP3(mad_hi_sat_s32, uint32_t, int32_t, int32_t, int32_t, sat_s32(((int64_t)x * y >> 32) + z))
OP3(mad_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t, (uint64_t)((u128)x * y >> 64) + z)
OP3(mad_hi_s64, uint64_t, int64_t, int64_t, uint64_t, (uint64_t)((s128)x * y >> 64) + z)
OP3(mad_wide_u16, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(uint16_t)x * (uint16_t)y + z)
OP3(mad_wide_s16, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint32_t)((int32_t)(int16_t)x * (int16_t)y) + z)
OP3(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)x * y + z)
OP3(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)x * y) + z)

/* 24-bit operands, 48-bit product: lo is its bits 0..31, hi its bits 16..47 */
#define U24(_v) ((uint64_t)((_v) & 0xffffff))
#define S24(_v) ((int64_t)((int32_t)((uint32_t)(_v) << 8) >> 8))
OP2(mul24_lo_u32, uint32_t, uint32_t, uint32_t, (uint32_t)(U24(x) * U24(y)))
OP2(mul24_lo_s32, uint32_t, uint32_t, uint32_t, (uint32_t)(S24(x) * S24(y)))
OP2(mul24_hi_u32, uint32_t, uint32_t, uint32_t, (uint32_t)(U24(x) * U24(y) >> 16))
OP2(mul24_hi_s32, uint32_t, uint32_t, uint32_t, (uint32_t)(S24(x) * S24(y) >> 16))
OP3(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(U24(x) * U24(y)) + z)
OP3(mad24_lo_s32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(S24(x) * S24(y)) + z)
OP3(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(U24(x) * U24(y) >> 16) + z)
OP3(mad24_hi_s32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(S24(x) * S24(y) >> 16) + z)
OP3(mad24_hi_sat_s32, uint32_t, uint32_t, uint32_t, int32_t, sat_s32((S24(x) * S24(y) >> 16) + z))

#define B(_t, _v, _k) ((int32_t)(_t)((_v) >> 8 * (_k)))
#define DOT4(_ta, _tb) \
    (z + (uint32_t)(B(_ta, x, 0) * B(_tb, y, 0) + B(_ta, x, 1) * B(_tb, y, 1) + \
                    B(_ta, x, 2) * B(_tb, y, 2) + B(_ta, x, 3) * B(_tb, y, 3)))
#define DOT2(_ta, _tb, _k) \
    (z + (uint32_t)((_ta)x * (int64_t)B(_tb, y, _k) + (_ta)(x >> 16) * (int64_t)B(_tb, y, _k + 1)))
#define DOTS(_n, _a4, _b4, _a2) \
    OP3(dp4a_##_n, uint32_t, uint32_t, uint32_t, uint32_t, DOT4(_a4, _b4)) \
    OP3(dp2a_lo_##_n, uint32_t, uint32_t, uint32_t, uint32_t, DOT2(_a2, _b4, 0)) \
    OP3(dp2a_hi_##_n, uint32_t, uint32_t, uint32_t, uint32_t, DOT2(_a2, _b4, 2))
DOTS(u32_u32, uint8_t, uint8_t, uint16_t)
DOTS(u32_s32, uint8_t, int8_t, uint16_t)
DOTS(s32_u32, int8_t, uint8_t, int16_t)
DOTS(s32_s32, int8_t, int8_t, int16_t)

/* differences of packed values; .add sums them and c */
#define APART(_mask, _k) \
    ((x >> (_k) & (_mask)) > (y >> (_k) & (_mask)) ? (x >> (_k) & (_mask)) - (y >> (_k) & (_mask)) \
                                                   : (y >> (_k) & (_mask)) - (x >> (_k) & (_mask)))
OP2(absdiff4, uint32_t, uint32_t, uint32_t,
    APART(0xff, 0) | APART(0xff, 8) << 8 | APART(0xff, 16) << 16 | APART(0xff, 24) << 24)
OP3(absdiff4_add, uint32_t, uint32_t, uint32_t, uint32_t,
    APART(0xff, 0) + APART(0xff, 8) + APART(0xff, 16) + APART(0xff, 24) + z)
OP2(absdiff2, uint32_t, uint32_t, uint32_t, APART(0xffff, 0) | APART(0xffff, 16) << 16)
OP3(absdiff2_add, uint32_t, uint32_t, uint32_t, uint32_t, APART(0xffff, 0) + APART(0xffff, 16) + z)

#define BOTH(_op, _mid, _b, _fn, _sig) \
    {_op "." _mid "u" #_b, _fn, _sig, 0, 0}, {_op "." _mid "s" #_b, _fn, _sig, 0, 0}
#define SIGNS(_op, _mid, _b, _fn, _sig) \
    {_op "." _mid "u" #_b, _fn##u##_b, _sig, 0, 0}, {_op "." _mid "s" #_b, _fn##s##_b, _sig, 0, 0}
#define WIDTH_ROWS(_b, _2, _3, _1) \
    BOTH("add", "", _b, add_##_b, _2), BOTH("sub", "", _b, sub_##_b, _2), \
    SIGNS("min", "", _b, min_, _2), SIGNS("max", "", _b, max_, _2), \
    SIGNS("div", "", _b, div_, _2), SIGNS("rem", "", _b, rem_, _2), \
    SIGNS("sad", "", _b, sad_, _3), {"abs.s" #_b, abs_##_b, _1, 0, 0}, \
    {"neg.s" #_b, neg_##_b, _1, 0, 0}, BOTH("mul", "lo.", _b, mul_lo_##_b, _2), \
    SIGNS("mul", "hi.", _b, mul_hi_, _2), BOTH("mad", "lo.", _b, mad_lo_##_b, _3), \
    SIGNS("mad", "hi.", _b, mad_hi_, _3)
#define DOT_ROWS(_n, _m) \
    {"dp4a." _m, dp4a_##_n, "rrrr", 0, 0}, {"dp2a.lo." _m, dp2a_lo_##_n, "rrrr", 0, 0}, \
    {"dp2a.hi." _m, dp2a_hi_##_n, "rrrr", 0, 0}

const struct op_row ops_int[] = {
    WIDTH_ROWS(16, "hhh", "hhhh", "hh"),
    WIDTH_ROWS(32, "rrr", "rrrr", "rr"),
    WIDTH_ROWS(64, "qqq", "qqqq", "qq"),
    {"add.sat.s32", add_sat_s32, "rrr", 0, 0},
    {"sub.sat.s32", sub_sat_s32, "rrr", 0, 0},
    {"min.relu.s32", min_relu_s32, "rrr", 0, 0},
    {"max.relu.s32", max_relu_s32, "rrr", 0, 0},
    {"min.s32.relu", min_relu_s32, "rrr", 0, 0}, /* nvcc's order of the words */
    {"max.s32.relu", max_relu_s32, "rrr", 0, 0},
    {"min.s16x2.relu", min_relu_s16x2, "rrr", 0, 0},
    {"max.s16x2.relu", max_relu_s16x2, "rrr", 0, 0},
    {"vabsdiff4.u32.u32.u32", absdiff4, "rrrr", 0, 0},
    {"vabsdiff4.u32.u32.u32.add", absdiff4_add, "rrrr", 0, 0},
    {"vabsdiff2.u32.u32.u32", absdiff2, "rrrr", 0, 0},
    {"vabsdiff2.u32.u32.u32.add", absdiff2_add, "rrrr", 0, 0},
    {"add.u16x2", add_x2, "rrr", 0, 0},
    {"add.s16x2", add_x2, "rrr", 0, 0},
    {"min.u16x2", min_u16x2, "rrr", 0, 0},
    {"max.u16x2", max_u16x2, "rrr", 0, 0},
    {"min.s16x2", min_s16x2, "rrr", 0, 0},
    {"max.s16x2", max_s16x2, "rrr", 0, 0},
    {"min.relu.s16x2", min_relu_s16x2, "rrr", 0, 0},
    {"max.relu.s16x2", max_relu_s16x2, "rrr", 0, 0},
    SIGNS("mul", "wide.", 16, mul_wide_, "rhh"),
    SIGNS("mul", "wide.", 32, mul_wide_, "qrr"),
    SIGNS("mad", "wide.", 16, mad_wide_, "rhhr"),
    SIGNS("mad", "wide.", 32, mad_wide_, "qrrq"),
    {"mad.hi.sat.s32", mad_hi_sat_s32, "rrrr", 0, 0},
    SIGNS("mul24", "lo.", 32, mul24_lo_, "rrr"),
    SIGNS("mul24", "hi.", 32, mul24_hi_, "rrr"),
    SIGNS("mad24", "lo.", 32, mad24_lo_, "rrrr"),
    SIGNS("mad24", "hi.", 32, mad24_hi_, "rrrr"),
    {"mad24.hi.sat.s32", mad24_hi_sat_s32, "rrrr", 0, 0},
    DOT_ROWS(u32_u32, "u32.u32"),
    DOT_ROWS(u32_s32, "u32.s32"),
    DOT_ROWS(s32_u32, "s32.u32"),
    DOT_ROWS(s32_s32, "s32.s32"),
    {0},
};
