/* SPDX-License-Identifier: BSD-3-Clause
 * FP32 and FP64 arithmetic, rounded to nearest (the other modes are in op_round.c). .ftz flushes
 * subnormal inputs and results, .sat clamps to [0, 1] and turns NaN into 0. A NaN result of FP32 is
 * 0x7fffffff. */
#include "fp.h"
#include "lanes.h"

#define F1(_name, _expr) OP1(_name, uint32_t, float, _expr)
#define F2(_name, _expr) OP2(_name, uint32_t, float, float, _expr)
#define F3(_name, _expr) OP3(_name, uint32_t, float, float, float, _expr)
#define D1(_name, _expr) OP1(_name, uint64_t, double, _expr)
#define D2(_name, _expr) OP2(_name, uint64_t, double, double, _expr)
#define D3(_name, _expr) OP3(_name, uint64_t, double, double, double, _expr)
#define Z(_v) f32_flush(_v)
#define SAT(_v) f32_bits(f32_saturate(_v))

/* plain, .ftz, .sat and .ftz.sat */
#define VARIANTS2(_name, _op) \
    F2(_name, f32_result(x _op y)) F2(_name##_ftz, f32_result(Z(Z(x) _op Z(y)))) \
    F2(_name##_sat, SAT(x _op y)) F2(_name##_ftz_sat, SAT(Z(Z(x) _op Z(y))))
VARIANTS2(add, +)
VARIANTS2(sub, -)
VARIANTS2(mul, *)
F3(fma_f32, f32_result(__builtin_fmaf(x, y, z)))
F3(fma_f32_ftz, f32_result(Z(__builtin_fmaf(Z(x), Z(y), Z(z)))))
F3(fma_f32_sat, SAT(__builtin_fmaf(x, y, z)))
F3(fma_f32_ftz_sat, SAT(Z(__builtin_fmaf(Z(x), Z(y), Z(z)))))
F2(div, f32_result(x / y))
F2(div_ftz, f32_result(Z(Z(x) / Z(y))))
F1(rcp, f32_result(1.0f / x))
F1(rcp_ftz, f32_result(Z(1.0f / Z(x))))
F1(sqrt_rn, f32_result(__builtin_sqrtf(x)))
F1(sqrt_rn_ftz, f32_result(Z(__builtin_sqrtf(Z(x)))))
F1(abs_f32, f32_bits(x) & 0x7fffffffu)
F1(abs_f32_ftz, f32_bits(Z(x)) & 0x7fffffffu)
F1(neg_f32, f32_bits(x) ^ 0x80000000u)
F1(neg_f32_ftz, f32_bits(Z(x)) ^ 0x80000000u)

/* One NaN: the other operand, unless .NaN. -0 is less than +0. */
static inline float least(float x, float y)
{
    float r = x < y ? x : y;

    r = x == y ? f32_from(f32_bits(x) | f32_bits(y)) : r;
    r = x != x ? y : r;
    return y != y ? x : r;
}

static inline float greatest(float x, float y)
{
    float r = x > y ? x : y;

    r = x == y ? f32_from(f32_bits(x) & f32_bits(y)) : r;
    r = x != x ? y : r;
    return y != y ? x : r;
}

static inline float least_nan(float x, float y)
{
    return x != x || y != y ? f32_from(F32_NAN) : least(x, y);
}

static inline float greatest_nan(float x, float y)
{
    return x != x || y != y ? f32_from(F32_NAN) : greatest(x, y);
}

#define ABS(_v) f32_from(f32_bits(_v) & 0x7fffffffu)
/* the sign of the result is the xor of the inputs' signs */
#define XORSIGN(_f, _x, _y) \
    f32_result(f32_from((f32_bits(_f(ABS(_x), ABS(_y))) & 0x7fffffffu) | \
                        ((f32_bits(_x) ^ f32_bits(_y)) & 0x80000000u)))
#define MIN_MAX(_name, _f) \
    F2(_name, f32_result(_f(x, y))) \
    F2(_name##_ftz, f32_result(_f(Z(x), Z(y)))) \
    F2(_name##_nan, f32_result(_f##_nan(x, y))) \
    F2(_name##_ftz_nan, f32_result(_f##_nan(Z(x), Z(y)))) \
    F2(_name##_xs, XORSIGN(_f, x, y)) \
    F2(_name##_ftz_xs, XORSIGN(_f, Z(x), Z(y))) \
    F2(_name##_nan_xs, XORSIGN(_f##_nan, x, y)) \
    F2(_name##_ftz_nan_xs, XORSIGN(_f##_nan, Z(x), Z(y))) \
    F3(_name##_3, f32_result(_f(_f(x, y), z))) \
    F3(_name##_3_ftz, f32_result(_f(_f(Z(x), Z(y)), Z(z)))) \
    F3(_name##_3_nan, f32_result(_f##_nan(_f##_nan(x, y), z))) \
    F3(_name##_3_ftz_nan, f32_result(_f##_nan(_f##_nan(Z(x), Z(y)), Z(z))))
MIN_MAX(min_f32, least)
MIN_MAX(max_f32, greatest)

D2(add_f64, f64_bits(x + y))
D2(sub_f64, f64_bits(x - y))
D2(mul_f64, f64_bits(x * y))
D3(fma_f64, f64_bits(__builtin_fma(x, y, z)))
D2(div_f64, f64_bits(x / y))
D1(rcp_f64, f64_bits(1.0 / x))
D1(sqrt_f64, f64_bits(__builtin_sqrt(x)))
D1(abs_f64, f64_bits(x) & ~((uint64_t)1 << 63))
D1(neg_f64, f64_bits(x) ^ (uint64_t)1 << 63)

static inline uint64_t least_f64(double x, double y)
{
    double r = x < y ? x : y;

    r = x == y ? f64_from(f64_bits(x) | f64_bits(y)) : r;
    r = x != x ? y : r;
    return f64_bits(y != y ? x : r);
}

static inline uint64_t greatest_f64(double x, double y)
{
    double r = x > y ? x : y;

    r = x == y ? f64_from(f64_bits(x) & f64_bits(y)) : r;
    r = x != x ? y : r;
    return f64_bits(y != y ? x : r);
}

D2(min_f64, least_f64(x, y))
D2(max_f64, greatest_f64(x, y))

/* copysign d, a, b: the sign of a on b */
F2(copysign_f32, (f32_bits(x) & 0x80000000u) | (f32_bits(y) & 0x7fffffffu))
D2(copysign_f64, (f64_bits(x) & (uint64_t)1 << 63) | (f64_bits(y) & ~((uint64_t)1 << 63)))

#define TESTP(_name, _t, _expr)                                             \
    OP(_name)                                                               \
    {                                                                       \
        const _t *a = ROW_OF(_t, 1);                                        \
        uint32_t bits = 0, *d = PRED_OF(0);                                 \
                                                                            \
        VECTOR EACH_LANE {                                                  \
            const _t x = a[l];                                              \
            bits |= (uint32_t)(_expr) << l;                                 \
        }                                                                   \
        *d = (*d & ~w->mask) | (bits & w->mask);                            \
        return i + 1;                                                       \
    }
#define M32 (x & 0x7fffffffu)
#define M64 (x & ~((uint64_t)1 << 63))
#define INF32 0x7f800000u
#define INF64 ((uint64_t)0x7ff << 52)
TESTP(finite_f32, uint32_t, M32 < INF32)
TESTP(infinite_f32, uint32_t, M32 == INF32)
TESTP(number_f32, uint32_t, M32 <= INF32)
TESTP(notanumber_f32, uint32_t, M32 > INF32)
/* zero counts as normal */
TESTP(normal_f32, uint32_t, M32 < INF32 && (M32 >= 0x00800000u || M32 == 0))
TESTP(subnormal_f32, uint32_t, M32 < 0x00800000u && M32)
TESTP(finite_f64, uint64_t, M64 < INF64)
TESTP(infinite_f64, uint64_t, M64 == INF64)
TESTP(number_f64, uint64_t, M64 <= INF64)
TESTP(notanumber_f64, uint64_t, M64 > INF64)
TESTP(normal_f64, uint64_t, M64 < INF64 && (M64 >= (uint64_t)1 << 52 || M64 == 0))
TESTP(subnormal_f64, uint64_t, M64 < (uint64_t)1 << 52 && M64)

#define SATS(_name, _fn, _sig, _n) \
    {_name ".f32", _fn, _sig, FLOP_F32, _n}, {_name ".ftz.f32", _fn##_ftz, _sig, FLOP_F32, _n}, \
    {_name ".sat.f32", _fn##_sat, _sig, FLOP_F32, _n}, \
    {_name ".ftz.sat.f32", _fn##_ftz_sat, _sig, FLOP_F32, _n}
#define FTZ(_name, _fn, _sig, _n) \
    {_name ".f32", _fn, _sig, FLOP_F32, _n}, {_name ".ftz.f32", _fn##_ftz, _sig, FLOP_F32, _n}
#define MIN_MAX_ROWS(_name, _fn) \
    {_name ".f32", _fn, "fff", FLOP_F32, 1}, {_name ".ftz.f32", _fn##_ftz, "fff", FLOP_F32, 1}, \
    {_name ".NaN.f32", _fn##_nan, "fff", FLOP_F32, 1}, \
    {_name ".ftz.NaN.f32", _fn##_ftz_nan, "fff", FLOP_F32, 1}, \
    {_name ".xorsign.abs.f32", _fn##_xs, "fff", FLOP_F32, 1}, \
    {_name ".ftz.xorsign.abs.f32", _fn##_ftz_xs, "fff", FLOP_F32, 1}, \
    {_name ".NaN.xorsign.abs.f32", _fn##_nan_xs, "fff", FLOP_F32, 1}, \
    {_name ".ftz.NaN.xorsign.abs.f32", _fn##_ftz_nan_xs, "fff", FLOP_F32, 1}
#define TESTP_ROWS(_c) \
    {"testp." #_c ".f32", _c##_f32, "pr", 0, 0}, {"testp." #_c ".f64", _c##_f64, "pq", 0, 0}

const struct op_row ops_float[] = {
    SATS("add", add, "fff", 1), SATS("add.rn", add, "fff", 1),
    SATS("sub", sub, "fff", 1), SATS("sub.rn", sub, "fff", 1),
    SATS("mul", mul, "fff", 1), SATS("mul.rn", mul, "fff", 1),
    SATS("fma.rn", fma_f32, "ffff", 2), SATS("mad.rn", fma_f32, "ffff", 2), SATS("mad", fma_f32, "ffff", 2),
    FTZ("div.rn", div, "fff", 1), FTZ("rcp.rn", rcp, "ff", 1), FTZ("sqrt.rn", sqrt_rn, "ff", 1),
    FTZ("abs", abs_f32, "ff", 1), FTZ("neg", neg_f32, "ff", 1),
    MIN_MAX_ROWS("min", min_f32), MIN_MAX_ROWS("max", max_f32),
    {"copysign.f32", copysign_f32, "fff", 0, 0},
    TESTP_ROWS(finite), TESTP_ROWS(infinite), TESTP_ROWS(number), TESTP_ROWS(notanumber),
    TESTP_ROWS(normal), TESTP_ROWS(subnormal),
    {0},
};

/* min and max of three (from sm_100) have the same names: found by their operand count */
const struct op_row ops_three[] = {
    {"min.f32", min_f32_3, "ffff", FLOP_F32, 2}, {"min.ftz.f32", min_f32_3_ftz, "ffff", FLOP_F32, 2},
    {"min.NaN.f32", min_f32_3_nan, "ffff", FLOP_F32, 2},
    {"min.ftz.NaN.f32", min_f32_3_ftz_nan, "ffff", FLOP_F32, 2},
    {"max.f32", max_f32_3, "ffff", FLOP_F32, 2}, {"max.ftz.f32", max_f32_3_ftz, "ffff", FLOP_F32, 2},
    {"max.NaN.f32", max_f32_3_nan, "ffff", FLOP_F32, 2},
    {"max.ftz.NaN.f32", max_f32_3_ftz_nan, "ffff", FLOP_F32, 2},
    {0},
};

const struct op_row ops_double[] = {
    {"add.f64", add_f64, "ddd", FLOP_F64, 1}, {"add.rn.f64", add_f64, "ddd", FLOP_F64, 1},
    {"sub.f64", sub_f64, "ddd", FLOP_F64, 1}, {"sub.rn.f64", sub_f64, "ddd", FLOP_F64, 1},
    {"mul.f64", mul_f64, "ddd", FLOP_F64, 1}, {"mul.rn.f64", mul_f64, "ddd", FLOP_F64, 1},
    {"fma.rn.f64", fma_f64, "dddd", FLOP_F64, 2}, {"mad.rn.f64", fma_f64, "dddd", FLOP_F64, 2},
    {"div.rn.f64", div_f64, "ddd", FLOP_F64, 1}, {"rcp.rn.f64", rcp_f64, "dd", FLOP_F64, 1},
    {"sqrt.rn.f64", sqrt_f64, "dd", FLOP_F64, 1}, {"abs.f64", abs_f64, "dd", FLOP_F64, 1},
    {"neg.f64", neg_f64, "dd", FLOP_F64, 1}, {"min.f64", min_f64, "ddd", FLOP_F64, 1},
    {"max.f64", max_f64, "ddd", FLOP_F64, 1}, {"copysign.f64", copysign_f64, "ddd", 0, 0},
    {0},
};
