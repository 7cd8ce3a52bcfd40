/* SPDX-License-Identifier: BSD-3-Clause
 * Arithmetic of halves and bfloat16, single and packed. A sum, difference or product of halves taken
 * in FP32 and rounded again is right (24 >= 2 * 11 + 2 digits); fused operations and all of bfloat16
 * go through double, rounded to odd on the way, so that the last rounding is the only one. */
#include "fp.h"
#include "lanes.h"

/* the float next to a double, its last bit odd when bits were lost */
static inline float odd_f32(double d)
{
    float f = (float)d;
    /* compared without signs; NaN is neither more nor less */
    double exact = f64_from(f64_bits(d) & ~((uint64_t)1 << 63));
    double near = (double)f32_from(f32_bits(f) & 0x7fffffffu);
    uint32_t u = f32_bits(f), even = (u & 1) ^ 1;

    return f32_from(u + (exact > near ? even : 0) - (exact < near ? even : 0));
}

static inline float max0(float f)
{
    return f != f ? f : f > 0.0f ? f : 0.0f;
}

/* half */
#define H(_v) f16_to_f32((_v) & 0xffff)
#define HZ(_v) ((_v) & 0x7c00 ? (_v) & 0xffff : (_v) & 0x8000)
#define H_ADD(_x, _y) f32_to_f16(H(_x) + H(_y))
#define H_SUB(_x, _y) f32_to_f16(H(_x) - H(_y))
#define H_MUL(_x, _y) f32_to_f16(H(_x) * H(_y))
#define H_FMA_F(_x, _y, _z) odd_f32((double)(H(_x) * H(_y)) + (double)H(_z))
#define H_FMA(_x, _y, _z) f32_to_f16(H_FMA_F(_x, _y, _z))
#define H_FMA_RELU(_x, _y, _z) f32_to_f16(max0(H_FMA_F(_x, _y, _z)))
#define H_SAT(_f) f32_to_f16(f32_saturate(_f))
#define H_ADD_SAT(_x, _y) H_SAT(H(_x) + H(_y))
#define H_SUB_SAT(_x, _y) H_SAT(H(_x) - H(_y))
#define H_MUL_SAT(_x, _y) H_SAT(H(_x) * H(_y))
#define H_FMA_SAT(_x, _y, _z) H_SAT(H_FMA_F(_x, _y, _z))
#define H_ADD_FTZ(_x, _y) HZ(H_ADD(HZ(_x), HZ(_y)))
#define H_SUB_FTZ(_x, _y) HZ(H_SUB(HZ(_x), HZ(_y)))
#define H_MUL_FTZ(_x, _y) HZ(H_MUL(HZ(_x), HZ(_y)))
#define H_FMA_FTZ(_x, _y, _z) HZ(H_FMA(HZ(_x), HZ(_y), HZ(_z)))
#define H_FMA_FTZ_RELU(_x, _y, _z) HZ(H_FMA_RELU(HZ(_x), HZ(_y), HZ(_z)))
#define H_ADD_FTZ_SAT(_x, _y) HZ(H_ADD_SAT(HZ(_x), HZ(_y)))
#define H_SUB_FTZ_SAT(_x, _y) HZ(H_SUB_SAT(HZ(_x), HZ(_y)))
#define H_MUL_FTZ_SAT(_x, _y) HZ(H_MUL_SAT(HZ(_x), HZ(_y)))
#define H_FMA_FTZ_SAT(_x, _y, _z) HZ(H_FMA_SAT(HZ(_x), HZ(_y), HZ(_z)))

/* bfloat16 */
#define B(_v) bf16_to_f32((_v) & 0xffff)
#define B_ADD(_x, _y) f32_to_bf16(odd_f32(f64_add_odd((double)B(_x), (double)B(_y))))
#define B_SUB(_x, _y) f32_to_bf16(odd_f32(f64_add_odd((double)B(_x), -(double)B(_y))))
#define B_MUL(_x, _y) f32_to_bf16(odd_f32((double)B(_x) * (double)B(_y)))
#define B_FMA_F(_x, _y, _z) odd_f32(f64_add_odd((double)B(_x) * (double)B(_y), (double)B(_z)))
#define B_FMA(_x, _y, _z) f32_to_bf16(B_FMA_F(_x, _y, _z))
#define B_FMA_RELU(_x, _y, _z) f32_to_bf16(max0(B_FMA_F(_x, _y, _z)))

/* bits alone */
#define NEG(_x) (((_x) ^ 0x8000) & 0xffff)
#define ABS(_x) ((_x) & 0x7fff)
#define NEG_FTZ(_x) NEG(HZ(_x))
#define ABS_FTZ(_x) ABS(HZ(_x))

/* One NaN: the other operand, unless .NaN; -0 is less than +0. inf: the bits of infinity. */
static inline uint32_t pick(uint32_t x, uint32_t y, bool max, bool nan, uint32_t inf)
{
    uint32_t xa = x & 0x7fff, ya = y & 0x7fff;
    /* as signed integers that order like the values */
    int32_t xi = x & 0x8000 ? -(int32_t)xa - 1 : (int32_t)xa;
    int32_t yi = y & 0x8000 ? -(int32_t)ya - 1 : (int32_t)ya;
    uint32_t r = (xi < yi) != max ? x : y;

    if (nan)
        return xa > inf || ya > inf ? F16_NAN : r;
    r = xa > inf ? y : r;
    r = ya > inf ? x : r;
    return xa > inf && ya > inf ? F16_NAN : r;
}

#define XS(_r, _x, _y) (((_r) & 0x7fff) | (((_x) ^ (_y)) & 0x8000))
#define LOW(_v) ((_v) & 0xffff)
#define PICK(_x, _y, _max, _nan, _inf) pick(LOW(_x), LOW(_y), _max, _nan, _inf)
#define H_MIN(_x, _y) PICK(_x, _y, false, false, 0x7c00)
#define H_MAX(_x, _y) PICK(_x, _y, true, false, 0x7c00)
#define H_MIN_NAN(_x, _y) PICK(_x, _y, false, true, 0x7c00)
#define H_MAX_NAN(_x, _y) PICK(_x, _y, true, true, 0x7c00)
#define H_MIN_FTZ(_x, _y) H_MIN(HZ(_x), HZ(_y))
#define H_MAX_FTZ(_x, _y) H_MAX(HZ(_x), HZ(_y))
#define H_MIN_FTZ_NAN(_x, _y) H_MIN_NAN(HZ(_x), HZ(_y))
#define H_MAX_FTZ_NAN(_x, _y) H_MAX_NAN(HZ(_x), HZ(_y))
/* with xorsign.abs a NaN result stays the canonical one but for its sign */
#define XSABS(_f, _x, _y) XS(_f(ABS(_x), ABS(_y)), _x, _y)
#define H_MIN_XS(_x, _y) XSABS(H_MIN, _x, _y)
#define H_MAX_XS(_x, _y) XSABS(H_MAX, _x, _y)
#define H_MIN_NAN_XS(_x, _y) XSABS(H_MIN_NAN, _x, _y)
#define H_MAX_NAN_XS(_x, _y) XSABS(H_MAX_NAN, _x, _y)
#define H_MIN_FTZ_XS(_x, _y) H_MIN_XS(HZ(_x), HZ(_y))
#define H_MAX_FTZ_XS(_x, _y) H_MAX_XS(HZ(_x), HZ(_y))
#define H_MIN_FTZ_NAN_XS(_x, _y) H_MIN_NAN_XS(HZ(_x), HZ(_y))
#define H_MAX_FTZ_NAN_XS(_x, _y) H_MAX_NAN_XS(HZ(_x), HZ(_y))
#define B_MIN(_x, _y) PICK(_x, _y, false, false, 0x7f80)
#define B_MAX(_x, _y) PICK(_x, _y, true, false, 0x7f80)
#define B_MIN_NAN(_x, _y) PICK(_x, _y, false, true, 0x7f80)
#define B_MAX_NAN(_x, _y) PICK(_x, _y, true, true, 0x7f80)
#define B_MIN_XS(_x, _y) XSABS(B_MIN, _x, _y)
#define B_MAX_XS(_x, _y) XSABS(B_MAX, _x, _y)
#define B_MIN_NAN_XS(_x, _y) XSABS(B_MIN_NAN, _x, _y)
#define B_MAX_NAN_XS(_x, _y) XSABS(B_MAX_NAN, _x, _y)

/* The list: name, type, macro, operands, operations counted. It makes the loops and the table. */
#define U16(_v) ((uint32_t)(uint16_t)(_v))
#define LOOP1(_id, _f) \
    OP1(_id, uint32_t, uint32_t, U16(_f(x))) \
    OP1(_id##_x2, uint32_t, uint32_t, U16(_f(x >> 16)) << 16 | U16(_f(x)))
#define LOOP2(_id, _f) \
    OP2(_id, uint32_t, uint32_t, uint32_t, U16(_f(x, y))) \
    OP2(_id##_x2, uint32_t, uint32_t, uint32_t, U16(_f(x >> 16, y >> 16)) << 16 | U16(_f(x, y)))
#define LOOP3(_id, _f) \
    OP3(_id, uint32_t, uint32_t, uint32_t, uint32_t, U16(_f(x, y, z))) \
    OP3(_id##_x2, uint32_t, uint32_t, uint32_t, uint32_t, \
        U16(_f(x >> 16, y >> 16, z >> 16)) << 16 | U16(_f(x, y, z)))
#define ROW1(_id, _name, _t, _k) \
    {_name "." _t, _id, "hh", _k, 1}, {_name "." _t "x2", _id##_x2, "rr", _k, 2}
#define ROW2(_id, _name, _t, _k) \
    {_name "." _t, _id, "hhh", _k, 1}, {_name "." _t "x2", _id##_x2, "rrr", _k, 2}
#define ROW3(_id, _name, _t, _k) \
    {_name "." _t, _id, "hhhh", _k, 2}, {_name "." _t "x2", _id##_x2, "rrrr", _k, 4}

#define MIN_MAX_LIST(_2, _p, _P, _t, _k) \
    _2(_p##_min, _P##_MIN, "min", _t, _k) _2(_p##_max, _P##_MAX, "max", _t, _k) \
    _2(_p##_min_nan, _P##_MIN_NAN, "min.NaN", _t, _k) \
    _2(_p##_max_nan, _P##_MAX_NAN, "max.NaN", _t, _k) \
    _2(_p##_min_xs, _P##_MIN_XS, "min.xorsign.abs", _t, _k) \
    _2(_p##_max_xs, _P##_MAX_XS, "max.xorsign.abs", _t, _k) \
    _2(_p##_min_nan_xs, _P##_MIN_NAN_XS, "min.NaN.xorsign.abs", _t, _k) \
    _2(_p##_max_nan_xs, _P##_MAX_NAN_XS, "max.NaN.xorsign.abs", _t, _k)

#define LIST(_1, _2, _3) \
    _2(h_add, H_ADD, "add", "f16", FLOP_F16) _2(h_sub, H_SUB, "sub", "f16", FLOP_F16) \
    _2(h_mul, H_MUL, "mul", "f16", FLOP_F16) _3(h_fma, H_FMA, "fma.rn", "f16", FLOP_F16) \
    _2(h_add_sat, H_ADD_SAT, "add.sat", "f16", FLOP_F16) \
    _2(h_sub_sat, H_SUB_SAT, "sub.sat", "f16", FLOP_F16) \
    _2(h_mul_sat, H_MUL_SAT, "mul.sat", "f16", FLOP_F16) \
    _3(h_fma_sat, H_FMA_SAT, "fma.rn.sat", "f16", FLOP_F16) \
    _3(h_fma_relu, H_FMA_RELU, "fma.rn.relu", "f16", FLOP_F16) \
    _2(h_add_ftz, H_ADD_FTZ, "add.ftz", "f16", FLOP_F16) \
    _2(h_sub_ftz, H_SUB_FTZ, "sub.ftz", "f16", FLOP_F16) \
    _2(h_mul_ftz, H_MUL_FTZ, "mul.ftz", "f16", FLOP_F16) \
    _3(h_fma_ftz, H_FMA_FTZ, "fma.rn.ftz", "f16", FLOP_F16) \
    _2(h_add_ftz_sat, H_ADD_FTZ_SAT, "add.ftz.sat", "f16", FLOP_F16) \
    _2(h_sub_ftz_sat, H_SUB_FTZ_SAT, "sub.ftz.sat", "f16", FLOP_F16) \
    _2(h_mul_ftz_sat, H_MUL_FTZ_SAT, "mul.ftz.sat", "f16", FLOP_F16) \
    _3(h_fma_ftz_sat, H_FMA_FTZ_SAT, "fma.rn.ftz.sat", "f16", FLOP_F16) \
    _3(h_fma_ftz_relu, H_FMA_FTZ_RELU, "fma.rn.ftz.relu", "f16", FLOP_F16) \
    _1(h_neg, NEG, "neg", "f16", FLOP_F16) _1(h_abs, ABS, "abs", "f16", FLOP_F16) \
    _1(h_neg_ftz, NEG_FTZ, "neg.ftz", "f16", FLOP_F16) \
    _1(h_abs_ftz, ABS_FTZ, "abs.ftz", "f16", FLOP_F16) \
    MIN_MAX_LIST(_2, h, H, "f16", FLOP_F16) \
    _2(h_min_ftz, H_MIN_FTZ, "min.ftz", "f16", FLOP_F16) \
    _2(h_max_ftz, H_MAX_FTZ, "max.ftz", "f16", FLOP_F16) \
    _2(h_min_ftz_nan, H_MIN_FTZ_NAN, "min.ftz.NaN", "f16", FLOP_F16) \
    _2(h_max_ftz_nan, H_MAX_FTZ_NAN, "max.ftz.NaN", "f16", FLOP_F16) \
    _2(h_min_ftz_xs, H_MIN_FTZ_XS, "min.ftz.xorsign.abs", "f16", FLOP_F16) \
    _2(h_max_ftz_xs, H_MAX_FTZ_XS, "max.ftz.xorsign.abs", "f16", FLOP_F16) \
    _2(h_min_ftz_nan_xs, H_MIN_FTZ_NAN_XS, "min.ftz.NaN.xorsign.abs", "f16", FLOP_F16) \
    _2(h_max_ftz_nan_xs, H_MAX_FTZ_NAN_XS, "max.ftz.NaN.xorsign.abs", "f16", FLOP_F16) \
    _2(b_add, B_ADD, "add", "bf16", FLOP_BF16) _2(b_sub, B_SUB, "sub", "bf16", FLOP_BF16) \
    _2(b_mul, B_MUL, "mul", "bf16", FLOP_BF16) _3(b_fma, B_FMA, "fma.rn", "bf16", FLOP_BF16) \
    _3(b_fma_relu, B_FMA_RELU, "fma.rn.relu", "bf16", FLOP_BF16) \
    _1(b_neg, NEG, "neg", "bf16", FLOP_BF16) _1(b_abs, ABS, "abs", "bf16", FLOP_BF16) \
    MIN_MAX_LIST(_2, b, B, "bf16", FLOP_BF16)

#define AS_LOOP1(_id, _f, _name, _t, _k) LOOP1(_id, _f)
#define AS_LOOP2(_id, _f, _name, _t, _k) LOOP2(_id, _f)
#define AS_LOOP3(_id, _f, _name, _t, _k) LOOP3(_id, _f)
LIST(AS_LOOP1, AS_LOOP2, AS_LOOP3)

#define AS_ROW1(_id, _f, _name, _t, _k) ROW1(_id, _name, _t, _k),
#define AS_ROW2(_id, _f, _name, _t, _k) ROW2(_id, _name, _t, _k),
#define AS_ROW3(_id, _f, _name, _t, _k) ROW3(_id, _name, _t, _k),
/* .rn may be written out */
#define RN(_id, _op, _v, _t, _k) ROW2(_id, _op ".rn" _v, _t, _k)

const struct op_row ops_half[] = {
    LIST(AS_ROW1, AS_ROW2, AS_ROW3)
    RN(h_add, "add", "", "f16", FLOP_F16), RN(h_sub, "sub", "", "f16", FLOP_F16),
    RN(h_mul, "mul", "", "f16", FLOP_F16), RN(h_add_sat, "add", ".sat", "f16", FLOP_F16),
    RN(h_sub_sat, "sub", ".sat", "f16", FLOP_F16), RN(h_mul_sat, "mul", ".sat", "f16", FLOP_F16),
    RN(h_add_ftz, "add", ".ftz", "f16", FLOP_F16), RN(h_sub_ftz, "sub", ".ftz", "f16", FLOP_F16),
    RN(h_mul_ftz, "mul", ".ftz", "f16", FLOP_F16),
    RN(h_add_ftz_sat, "add", ".ftz.sat", "f16", FLOP_F16),
    RN(h_sub_ftz_sat, "sub", ".ftz.sat", "f16", FLOP_F16),
    RN(h_mul_ftz_sat, "mul", ".ftz.sat", "f16", FLOP_F16),
    RN(b_add, "add", "", "bf16", FLOP_BF16), RN(b_sub, "sub", "", "bf16", FLOP_BF16),
    RN(b_mul, "mul", "", "bf16", FLOP_BF16),
    {0},
};
