/* SPDX-License-Identifier: BSD-3-Clause
 * FP32 and FP64 arithmetic in the directed rounding modes: the processor's mode is switched around
 * the loop. The barriers keep the compiler from moving arithmetic out of between. */
#include "fp.h"
#include "lanes.h"

#include <fenv.h>

#define BARRIER __asm__ volatile("" : : : "memory")

#define DIRECTED(_name, _mode, _td, _t, _sources, _compute, _finish)                \
    OP(_name)                                                                       \
    {                                                                               \
        _td *d = ROW_OF(_td, 0);                                                    \
        const _t *a = ROW_OF(_t, 1), *b = ROW_OF(_t, 2), *c = ROW_OF(_t, 3);        \
        _t raw[LANES];                                                              \
                                                                                    \
        (void)b, (void)c;                                                           \
        fesetround(_mode);                                                          \
        BARRIER;                                                                    \
        VECTOR EACH_LANE {                                                          \
            _sources;                                                               \
            raw[l] = (_compute);                                                    \
        }                                                                           \
        __asm__ volatile("" : : "r"(raw) : "memory");                               \
        fesetround(FE_TONEAREST);                                                   \
        LOOP(d, const _t r = raw[l], _finish);                                      \
        return i + 1;                                                               \
    }

#define S1(_t, _z) const _t x = _z(a[l])
#define S2(_t, _z) const _t x = _z(a[l]), y = _z(b[l])
#define S3(_t, _z) const _t x = _z(a[l]), y = _z(b[l]), z = _z(c[l])
#define SAME(_v) (_v)
#define F32_DONE f32_result(r)
#define F32_FTZ f32_result(f32_flush(r))
#define F32_SAT f32_bits(f32_saturate(r))
#define F32_FTZ_SAT f32_bits(f32_saturate(f32_flush(r)))
#define F64_DONE f64_bits(r)

#define F32_SATS(_n, _m, _s, _e) \
    DIRECTED(_n, _m, uint32_t, float, _s(float, SAME), _e, F32_DONE) \
    DIRECTED(_n##_ftz, _m, uint32_t, float, _s(float, f32_flush), _e, F32_FTZ) \
    DIRECTED(_n##_sat, _m, uint32_t, float, _s(float, SAME), _e, F32_SAT) \
    DIRECTED(_n##_ftz_sat, _m, uint32_t, float, _s(float, f32_flush), _e, F32_FTZ_SAT)
#define F32_FTZS(_n, _m, _s, _e) \
    DIRECTED(_n, _m, uint32_t, float, _s(float, SAME), _e, F32_DONE) \
    DIRECTED(_n##_ftz, _m, uint32_t, float, _s(float, f32_flush), _e, F32_FTZ)
#define F64(_n, _m, _s, _e) DIRECTED(_n, _m, uint64_t, double, _s(double, SAME), _e, F64_DONE)

#define MODE(_k, _m)                                        \
    F32_SATS(add_##_k, _m, S2, x + y)                       \
    F32_SATS(sub_##_k, _m, S2, x - y)                       \
    F32_SATS(mul_##_k, _m, S2, x * y)                       \
    F32_SATS(fma_##_k, _m, S3, __builtin_fmaf(x, y, z))     \
    F32_FTZS(div_##_k, _m, S2, x / y)                       \
    F32_FTZS(rcp_##_k, _m, S1, 1.0f / x)                    \
    F32_FTZS(sqrt_##_k, _m, S1, __builtin_sqrtf(x))         \
    F64(add_f64_##_k, _m, S2, x + y)                        \
    F64(sub_f64_##_k, _m, S2, x - y)                        \
    F64(mul_f64_##_k, _m, S2, x * y)                        \
    F64(fma_f64_##_k, _m, S3, __builtin_fma(x, y, z))       \
    F64(div_f64_##_k, _m, S2, x / y)                        \
    F64(rcp_f64_##_k, _m, S1, 1.0 / x)                      \
    F64(sqrt_f64_##_k, _m, S1, __builtin_sqrt(x))
MODE(rz, FE_TOWARDZERO)
MODE(rm, FE_DOWNWARD)
MODE(rp, FE_UPWARD)

#define SAT_ROWS(_op, _k, _fn, _sig, _n) \
    {_op "." _k ".f32", _fn, _sig, FLOP_F32, _n}, \
    {_op "." _k ".ftz.f32", _fn##_ftz, _sig, FLOP_F32, _n}, \
    {_op "." _k ".sat.f32", _fn##_sat, _sig, FLOP_F32, _n}, \
    {_op "." _k ".ftz.sat.f32", _fn##_ftz_sat, _sig, FLOP_F32, _n}
#define FTZ_ROWS(_op, _k, _fn, _sig) \
    {_op "." _k ".f32", _fn, _sig, FLOP_F32, 1}, {_op "." _k ".ftz.f32", _fn##_ftz, _sig, FLOP_F32, 1}
#define F64_ROW(_op, _k, _fn, _sig, _n) {_op "." _k ".f64", _fn, _sig, FLOP_F64, _n}
#define MODE_ROWS(_k) \
    SAT_ROWS("add", #_k, add_##_k, "fff", 1), SAT_ROWS("sub", #_k, sub_##_k, "fff", 1), \
    SAT_ROWS("mul", #_k, mul_##_k, "fff", 1), SAT_ROWS("fma", #_k, fma_##_k, "ffff", 2), \
    SAT_ROWS("mad", #_k, fma_##_k, "ffff", 2), FTZ_ROWS("div", #_k, div_##_k, "fff"), \
    FTZ_ROWS("rcp", #_k, rcp_##_k, "ff"), FTZ_ROWS("sqrt", #_k, sqrt_##_k, "ff"), \
    F64_ROW("add", #_k, add_f64_##_k, "ddd", 1), F64_ROW("sub", #_k, sub_f64_##_k, "ddd", 1), \
    F64_ROW("mul", #_k, mul_f64_##_k, "ddd", 1), F64_ROW("fma", #_k, fma_f64_##_k, "dddd", 2), \
    F64_ROW("mad", #_k, fma_f64_##_k, "dddd", 2), F64_ROW("div", #_k, div_f64_##_k, "ddd", 1), \
    F64_ROW("rcp", #_k, rcp_f64_##_k, "dd", 1), F64_ROW("sqrt", #_k, sqrt_f64_##_k, "dd", 1)

const struct op_row ops_round[] = {
    MODE_ROWS(rz),
    MODE_ROWS(rm),
    MODE_ROWS(rp),
    {0},
};
