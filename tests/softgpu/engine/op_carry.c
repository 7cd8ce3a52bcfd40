/* SPDX-License-Identifier: BSD-3-Clause
 * Additions and multiply-additions in a carry chain: CC.CF is one bit per lane, w->carry. For
 * subtraction it holds the borrow, as PTX has it. */
#include "lanes.h"

typedef unsigned __int128 u128;

/* The sum of two or three terms of width _bits, carry in and out. */
#define CHAIN(_name, _t, _wide, _bits, _in, _out, _expr)                                     \
    OP(_name)                                                                                \
    {                                                                                        \
        _t *d = ROW_OF(_t, 0);                                                               \
        const _t *a = ROW_OF(_t, 1), *b = ROW_OF(_t, 2), *c = ROW_OF(_t, 3);                 \
        uint32_t out = 0;                                                                    \
        EACH_SET(w->mask) {                                                                  \
            const _wide x = a[l], y = b[l], z = c[l], cf = (_in) ? w->carry >> l & 1 : 0;    \
            const _wide r = (_expr);                                                         \
            d[l] = (_t)r;                                                                    \
            out |= (uint32_t)(r >> (_bits) & 1) << l;                                        \
            (void)y, (void)z, (void)cf;                                                      \
        }                                                                                    \
        if (_out)                                                                            \
            w->carry = (w->carry & ~w->mask) | out;                                          \
        return i + 1;                                                                        \
    }

/* the product's half that takes part */
#define LO32 ((x * y) & 0xffffffffu)
#define HI_U32 ((x * y) >> 32)
#define HI_S32 ((uint64_t)((int64_t)(int32_t)x * (int32_t)y) >> 32)
#define LO64 ((x * y) & (u128)UINT64_MAX)
#define HI_U64 ((x * y) >> 64)
#define HI_S64 ((u128)((__int128)(int64_t)x * (int64_t)y) >> 64)

#define CHAINS(_b, _t, _wide, _lo, _hu, _hs)                              \
    CHAIN(add_cc_##_b, _t, _wide, _b, 0, 1, x + y)                        \
    CHAIN(addc_##_b, _t, _wide, _b, 1, 0, x + y + cf)                     \
    CHAIN(addc_cc_##_b, _t, _wide, _b, 1, 1, x + y + cf)                  \
    CHAIN(sub_cc_##_b, _t, _wide, _b, 0, 1, x - y)                        \
    CHAIN(subc_##_b, _t, _wide, _b, 1, 0, x - y - cf)                     \
    CHAIN(subc_cc_##_b, _t, _wide, _b, 1, 1, x - y - cf)                  \
    CHAIN(mad_lo_cc_##_b, _t, _wide, _b, 0, 1, _lo + z)                   \
    CHAIN(madc_lo_##_b, _t, _wide, _b, 1, 0, _lo + z + cf)                \
    CHAIN(madc_lo_cc_##_b, _t, _wide, _b, 1, 1, _lo + z + cf)             \
    CHAIN(mad_hi_cc_u##_b, _t, _wide, _b, 0, 1, _hu + z)                  \
    CHAIN(madc_hi_u##_b, _t, _wide, _b, 1, 0, _hu + z + cf)               \
    CHAIN(madc_hi_cc_u##_b, _t, _wide, _b, 1, 1, _hu + z + cf)            \
    CHAIN(mad_hi_cc_s##_b, _t, _wide, _b, 0, 1, (_t)_hs + z)              \
    CHAIN(madc_hi_s##_b, _t, _wide, _b, 1, 0, (_t)_hs + z + cf)           \
    CHAIN(madc_hi_cc_s##_b, _t, _wide, _b, 1, 1, (_t)_hs + z + cf)

CHAINS(32, uint32_t, uint64_t, LO32, HI_U32, HI_S32)
CHAINS(64, uint64_t, u128, LO64, HI_U64, HI_S64)

#define PAIR_ROWS(_name, _u, _s, _sig, _b) \
    {_name ".u" #_b, _u, _sig, 0, 0}, {_name ".s" #_b, _s, _sig, 0, 0}
#define CHAIN_ROWS(_b, _2, _3) \
    PAIR_ROWS("add.cc", add_cc_##_b, add_cc_##_b, _2, _b), \
    PAIR_ROWS("addc", addc_##_b, addc_##_b, _2, _b), \
    PAIR_ROWS("addc.cc", addc_cc_##_b, addc_cc_##_b, _2, _b), \
    PAIR_ROWS("sub.cc", sub_cc_##_b, sub_cc_##_b, _2, _b), \
    PAIR_ROWS("subc", subc_##_b, subc_##_b, _2, _b), \
    PAIR_ROWS("subc.cc", subc_cc_##_b, subc_cc_##_b, _2, _b), \
    PAIR_ROWS("mad.lo.cc", mad_lo_cc_##_b, mad_lo_cc_##_b, _3, _b), \
    PAIR_ROWS("madc.lo", madc_lo_##_b, madc_lo_##_b, _3, _b), \
    PAIR_ROWS("madc.lo.cc", madc_lo_cc_##_b, madc_lo_cc_##_b, _3, _b), \
    PAIR_ROWS("mad.hi.cc", mad_hi_cc_u##_b, mad_hi_cc_s##_b, _3, _b), \
    PAIR_ROWS("madc.hi", madc_hi_u##_b, madc_hi_s##_b, _3, _b), \
    PAIR_ROWS("madc.hi.cc", madc_hi_cc_u##_b, madc_hi_cc_s##_b, _3, _b)

const struct op_row ops_carry[] = {
    CHAIN_ROWS(32, "rrr", "rrrr"),
    CHAIN_ROWS(64, "qqq", "qqqq"),
    {0},
};
