/* SPDX-License-Identifier: BSD-3-Clause
 * Exact binary floating point of any small format, by integers alone: the judge of the engine's
 * arithmetic. It shares nothing with the engine and uses no floating-point unit. No state. */
#ifndef SOFTGPU_CHECK_NUM_H
#define SOFTGPU_CHECK_NUM_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 num_u128;
__extension__ typedef __int128 num_i128;

/* bits: of the container; the format's own bits are its upper ones when low is not 0 (TF32). */
struct num_format {
    const char *name;
    int exp_bits, man_bits, low;
    bool has_inf; /* e4m3 has none, and its largest exponent holds numbers */
    uint64_t nan; /* the canonical one */
};

extern const struct num_format num_f16, num_bf16, num_f32, num_f64, num_tf32, num_e4m3, num_e5m2;
const struct num_format *num_format_of(const char *type); /* also of "f16x2" etc.; NULL: none */

enum num_round { NUM_RN, NUM_RZ, NUM_RM, NUM_RP, NUM_RNA }; /* RNA: to nearest, ties away */

enum num_kind { NUM_ZERO, NUM_FINITE, NUM_INF, NUM_NAN };

/* (neg ? -1 : 1) * man * 2^exp. The lowest bit of man may stand for lost bits below it
 * ("round to odd"); man then has so many bits that no rounding to a format can go wrong. */
struct num {
    enum num_kind kind;
    bool neg;
    int exp;
    num_u128 man;
};

int num_bits(const struct num_format *f); /* of the container */
struct num num_decode(const struct num_format *f, uint64_t bits);
/* Rounds. *tiny_p (may be NULL): below the smallest normal number before rounding.
 * A NaN becomes the canonical one; overflow gives Inf or the largest number as the mode says. */
uint64_t num_encode(const struct num_format *f, struct num x, enum num_round mode, bool *tiny_p);
uint64_t num_largest(const struct num_format *f, bool neg);
uint64_t num_sign_bit(const struct num_format *f);
bool num_is_nan(const struct num_format *f, uint64_t bits);
bool num_is_subnormal(const struct num_format *f, uint64_t bits);

/* mode decides the sign of an exact zero sum. */
struct num num_add(struct num a, struct num b, enum num_round mode);
struct num num_mul(struct num a, struct num b);
struct num num_div(struct num a, struct num b);
struct num num_sqrt(struct num a);
struct num num_negate(struct num a);
int num_compare(struct num a, struct num b); /* -1, 0, 1; neither is NaN; -0 == 0 */
struct num num_from_int(num_i128 v);
/* Rounded to an integer; *inf_p: not representable in 100 bits (sign in the result). Not NaN. */
num_i128 num_to_int(struct num a, enum num_round mode, bool *huge_p);
/* Nearest long double, for tolerances. */
long double num_value(struct num a);

#endif
