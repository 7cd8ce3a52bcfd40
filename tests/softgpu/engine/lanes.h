/* SPDX-License-Identifier: BSD-3-Clause
 * How an operation is written: an expression over one lane becomes a loop over 32 that the compiler
 * vectorises, once for a full mask and once blended. Rows never overlap partly, so a destination
 * that is also a source is safe lane by lane: hence the ivdep. */
#ifndef SOFTGPU_LANES_H
#define SOFTGPU_LANES_H

#include "machine.h"

#include <string.h>

#if defined __clang__
#define VECTOR _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop it can't vectorise is all right */
#else
#define VECTOR _Pragma("GCC ivdep")
#if defined __OPTIMIZE__
#pragma GCC optimize("O3")
#endif
#endif

#define ROW_OF(_type, _k) \
    ((_type *)__builtin_assume_aligned(w->base[i->base[_k]] + i->off[_k], 64))
#define PRED_OF(_k) ((uint32_t *)(void *)(w->base[i->base[_k]] + i->off[_k]))

#define EACH_LANE for (int l = 0; l < LANES; l++)
/* Runs the statement for each set lane of a mask. */
#define EACH_SET(_mask) for (uint32_t set_ = (_mask), l = 0; \
                             set_ && (l = (uint32_t)__builtin_ctz(set_), 1); set_ &= set_ - 1)

#define OP(_name) static const struct insn *_name(struct warp *w, const struct insn *i)

/* d[l] = _expr for the lanes of w->mask; x, y, z are the sources. */
#define LOOP(_d, _sources, _expr)                               \
    do {                                                        \
        const uint32_t m = w->mask;                             \
        if (m == ALL_LANES) {                                   \
            VECTOR EACH_LANE { _sources; (_d)[l] = (_expr); }   \
        } else {                                                \
            VECTOR EACH_LANE {                                  \
                _sources;                                       \
                (_d)[l] = m >> l & 1 ? (_expr) : (_d)[l];       \
            }                                                   \
        }                                                       \
    } while (0)

#define OP1(_name, _td, _ta, _expr)                             \
    OP(_name)                                                   \
    {                                                           \
        _td *d = ROW_OF(_td, 0);                                \
        const _ta *a = ROW_OF(_ta, 1);                          \
        LOOP(d, const _ta x = a[l], _expr);                     \
        return i + 1;                                           \
    }

#define OP2(_name, _td, _ta, _tb, _expr)                        \
    OP(_name)                                                   \
    {                                                           \
        _td *d = ROW_OF(_td, 0);                                \
        const _ta *a = ROW_OF(_ta, 1);                          \
        const _tb *b = ROW_OF(_tb, 2);                          \
        LOOP(d, const _ta x = a[l]; const _tb y = b[l], _expr); \
        return i + 1;                                           \
    }

#define OP3(_name, _td, _ta, _tb, _tc, _expr)                   \
    OP(_name)                                                   \
    {                                                           \
        _td *d = ROW_OF(_td, 0);                                \
        const _ta *a = ROW_OF(_ta, 1);                          \
        const _tb *b = ROW_OF(_tb, 2);                          \
        const _tc *c = ROW_OF(_tc, 3);                          \
        LOOP(d, const _ta x = a[l]; const _tb y = b[l]; const _tc z = c[l], _expr); \
        return i + 1;                                           \
    }

/* A row of an operation table: the full mnemonic, the function, and one letter per operand, the
 * destination first: h 16, r 32, q 64 bits as integers; f f32, d f64; p predicate. */
enum flop_kind { FLOP_NONE, FLOP_F16, FLOP_BF16, FLOP_F32, FLOP_F64 };

struct op_row {
    const char *name;
    op_fn fn;
    const char *sig;
    uint8_t flop_kind, flops;
};

/* Tables, each ended by a NULL name. ops_three: for three sources, beside a row for two. */
extern const struct op_row ops_int[], ops_bits[], ops_carry[], ops_float[], ops_double[], ops_half[],
    ops_approx[], ops_round[], ops_three[];

#endif
