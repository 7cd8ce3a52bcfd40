/* SPDX-License-Identifier: BSD-3-Clause
 * Exact binary floating point by integers. Operands have at most 53 bits, so products fit 106 and
 * sums are formed in 126 with what falls below kept as a set lowest bit. No state. */
#include "num.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const struct num_format num_f16 = {"f16", 5, 10, 0, true, 0x7fff};
const struct num_format num_bf16 = {"bf16", 8, 7, 0, true, 0x7fff};
const struct num_format num_f32 = {"f32", 8, 23, 0, true, 0x7fffffff};
const struct num_format num_f64 = {"f64", 11, 52, 0, true, 0x7ff8000000000000};
const struct num_format num_tf32 = {"tf32", 8, 10, 13, true, 0x7fffffff};
const struct num_format num_e4m3 = {"e4m3", 4, 3, 0, false, 0x7f};
const struct num_format num_e5m2 = {"e5m2", 5, 2, 0, true, 0x7f};

const struct num_format *num_format_of(const char *type)
{
    static const struct num_format *const all[] = {&num_f16,  &num_bf16, &num_f32, &num_f64,
                                                   &num_tf32, &num_e4m3, &num_e5m2};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t n;

        if (type[0] != all[i]->name[0])
            continue;
        n = strlen(all[i]->name);
        if (strncmp(type, all[i]->name, n) == 0 && (!type[n] || strcmp(type + n, "x2") == 0))
            return all[i];
    }
    return NULL;
}

int num_bits(const struct num_format *f)
{
    return 1 + f->exp_bits + f->man_bits + f->low;
}

static int bias(const struct num_format *f)
{
    return (1 << (f->exp_bits - 1)) - 1;
}

static int length(num_u128 v)
{
    int n = 0;

    for (; v; v >>= 1)
        n++;
    return n;
}

uint64_t num_sign_bit(const struct num_format *f)
{
    return 1ull << (num_bits(f) - 1);
}

uint64_t num_largest(const struct num_format *f, bool neg)
{
    uint64_t exp = (1ull << f->exp_bits) - (f->has_inf ? 2 : 1);
    uint64_t man = (1ull << f->man_bits) - (f->has_inf ? 1 : 2);

    return (((exp << f->man_bits) | man) << f->low) | (neg ? num_sign_bit(f) : 0);
}

struct num num_decode(const struct num_format *f, uint64_t bits)
{
    struct num x = {NUM_FINITE, (bits & num_sign_bit(f)) != 0, 0, 0};
    uint64_t exp = bits >> (f->man_bits + f->low) & ((1ull << f->exp_bits) - 1);
    uint64_t man = bits >> f->low & ((1ull << f->man_bits) - 1);

    if (exp == (1ull << f->exp_bits) - 1) {
        if (f->has_inf) {
            bool low = (bits & ((1ull << f->low) - 1)) != 0;

            x.kind = man || low ? NUM_NAN : NUM_INF;
            return x;
        }
        if (man == (1ull << f->man_bits) - 1) {
            x.kind = NUM_NAN;
            return x;
        }
    }
    if (!exp && !man)
        x.kind = NUM_ZERO;
    x.man = exp ? man | 1ull << f->man_bits : man;
    x.exp = (exp ? (int)exp : 1) - bias(f) - f->man_bits;
    return x;
}

bool num_is_nan(const struct num_format *f, uint64_t bits)
{
    return num_decode(f, bits).kind == NUM_NAN;
}

bool num_is_subnormal(const struct num_format *f, uint64_t bits)
{
    struct num x = num_decode(f, bits);

    return x.kind == NUM_FINITE && !(x.man >> f->man_bits);
}

/* Should the magnitude grow by one unit? rest: the bits dropped, as a fraction of half a unit. */
static bool round_up(bool neg, bool odd, bool over_half, bool half, bool any, enum num_round mode)
{
    switch (mode) {
    case NUM_RN:
        return over_half || (half && odd);
    case NUM_RNA:
        return over_half || half;
    case NUM_RM:
        return any && neg;
    case NUM_RP:
        return any && !neg;
    default:
        return false;
    }
}

/* man * 2^exp as an integer multiple of 2^unit. */
static num_u128 quantise(struct num x, int unit, enum num_round mode)
{
    int shift = unit - x.exp;
    num_u128 kept, rest, half;

    if (shift <= 0)
        return x.man << -shift;
    if (shift > 127) {
        kept = 0;
        return round_up(x.neg, false, false, false, x.man != 0, mode);
    }
    kept = x.man >> shift;
    rest = x.man - (kept << shift);
    half = (num_u128)1 << (shift - 1);
    return kept + round_up(x.neg, kept & 1, rest > half, rest == half, rest != 0, mode);
}

uint64_t num_encode(const struct num_format *f, struct num x, enum num_round mode, bool *tiny_p)
{
    uint64_t sign = x.neg ? num_sign_bit(f) : 0;
    uint64_t inf = ((1ull << f->exp_bits) - 1) << (f->man_bits + f->low);
    int lowest = 1 - bias(f) - f->man_bits; /* exponent of a subnormal unit */
    int unit;
    num_u128 man;
    uint64_t bits;

    if (tiny_p)
        *tiny_p = false;
    if (x.kind == NUM_NAN)
        return f->nan;
    if (x.kind == NUM_INF)
        return f->has_inf ? sign | inf : f->nan | sign;
    if (x.kind == NUM_ZERO)
        return sign;
    unit = x.exp + length(x.man) - 1 - f->man_bits;
    if (unit < lowest) {
        unit = lowest;
        if (tiny_p)
            *tiny_p = true;
    }
    man = quantise(x, unit, mode);
    if (length(man) > f->man_bits + 1) { /* a carry: a power of two */
        man >>= 1;
        unit++;
    }
    bits = (uint64_t)man;
    if (man >> f->man_bits)
        bits += (uint64_t)(unit - lowest) << f->man_bits;
    if (unit > (1 << f->exp_bits) || bits << f->low > num_largest(f, false)) {
        if (mode == NUM_RZ || (mode == NUM_RM && !x.neg) || (mode == NUM_RP && x.neg))
            return num_largest(f, x.neg);
        return f->has_inf ? sign | inf : f->nan | sign;
    }
    return sign | bits << f->low;
}

struct num num_negate(struct num a)
{
    a.neg = !a.neg;
    return a;
}

static struct num make(enum num_kind kind, bool neg)
{
    return (struct num){kind, neg, 0, 0};
}

/* Leading bit to position 125. */
static struct num normalise(struct num x)
{
    int shift = 126 - length(x.man);

    if (shift >= 0) {
        x.man <<= shift;
    } else {
        bool lost = (x.man & (((num_u128)1 << -shift) - 1)) != 0;

        x.man = x.man >> -shift | lost;
    }
    x.exp -= shift;
    return x;
}

struct num num_add(struct num a, struct num b, enum num_round mode)
{
    int shift;

    if (a.kind == NUM_NAN || b.kind == NUM_NAN)
        return make(NUM_NAN, false);
    if (a.kind == NUM_INF || b.kind == NUM_INF) {
        if (a.kind == b.kind && a.neg != b.neg)
            return make(NUM_NAN, false);
        return a.kind == NUM_INF ? a : b;
    }
    if (a.kind == NUM_ZERO && b.kind == NUM_ZERO)
        return make(NUM_ZERO, a.neg == b.neg ? a.neg : mode == NUM_RM);
    if (a.kind == NUM_ZERO)
        return b;
    if (b.kind == NUM_ZERO)
        return a;
    a = normalise(a);
    b = normalise(b);
    if (a.exp < b.exp || (a.exp == b.exp && a.man < b.man)) {
        struct num t = a;

        a = b;
        b = t;
    }
    shift = a.exp - b.exp;
    if (shift > 126) {
        b.man = 1;
    } else if (shift) {
        bool lost = (b.man & (((num_u128)1 << shift) - 1)) != 0;

        b.man = b.man >> shift | lost;
    }
    if (a.neg == b.neg) {
        a.man += b.man;
        return a;
    }
    a.man -= b.man;
    return a.man ? a : make(NUM_ZERO, mode == NUM_RM);
}

struct num num_mul(struct num a, struct num b)
{
    bool neg = a.neg != b.neg;

    if (a.kind == NUM_NAN || b.kind == NUM_NAN)
        return make(NUM_NAN, false);
    if (a.kind == NUM_INF || b.kind == NUM_INF)
        return make(a.kind == NUM_ZERO || b.kind == NUM_ZERO ? NUM_NAN : NUM_INF, neg);
    if (a.kind == NUM_ZERO || b.kind == NUM_ZERO)
        return make(NUM_ZERO, neg);
    return (struct num){NUM_FINITE, neg, a.exp + b.exp, a.man * b.man};
}

struct num num_div(struct num a, struct num b)
{
    bool neg = a.neg != b.neg;
    num_u128 dividend, quotient;
    int shift;

    if (a.kind == NUM_NAN || b.kind == NUM_NAN || (a.kind == NUM_INF && b.kind == NUM_INF) ||
        (a.kind == NUM_ZERO && b.kind == NUM_ZERO))
        return make(NUM_NAN, false);
    if (a.kind == NUM_INF || b.kind == NUM_ZERO)
        return make(NUM_INF, neg);
    if (a.kind == NUM_ZERO || b.kind == NUM_INF)
        return make(NUM_ZERO, neg);
    shift = 126 - length(a.man); /* 73 bits of quotient or more */
    dividend = a.man << shift;
    quotient = dividend / b.man;
    quotient = quotient << 1 | (quotient * b.man != dividend);
    return (struct num){NUM_FINITE, neg, a.exp - shift - b.exp - 1, quotient};
}

struct num num_sqrt(struct num a)
{
    num_u128 root = 0;
    int shift;

    if (a.kind == NUM_NAN || a.kind == NUM_ZERO)
        return a;
    if (a.neg)
        return make(NUM_NAN, false);
    if (a.kind == NUM_INF)
        return a;
    shift = 126 - length(a.man);
    shift -= (a.exp - shift) & 1; /* an even exponent */
    a.man <<= shift;
    a.exp -= shift;
    for (int bit = 63; bit >= 0; bit--) {
        num_u128 next = root | (num_u128)1 << bit;

        if (next * next <= a.man)
            root = next;
    }
    return (struct num){NUM_FINITE, false, a.exp / 2 - 1, root << 1 | (root * root != a.man)};
}

int num_compare(struct num a, struct num b)
{
    struct num d;

    if (a.kind == NUM_INF && b.kind == NUM_INF)
        return a.neg == b.neg ? 0 : a.neg ? -1 : 1;
    d = num_add(a, num_negate(b), NUM_RN);
    return d.kind == NUM_ZERO ? 0 : d.neg ? -1 : 1;
}

struct num num_from_int(num_i128 v)
{
    if (!v)
        return make(NUM_ZERO, false);
    return (struct num){NUM_FINITE, v < 0, 0, v < 0 ? -(num_u128)v : (num_u128)v};
}

num_i128 num_to_int(struct num a, enum num_round mode, bool *huge_p)
{
    num_u128 man;

    *huge_p = false;
    if (a.kind == NUM_ZERO)
        return 0;
    if (a.kind == NUM_INF || a.exp + length(a.man) > 100) {
        *huge_p = true;
        return a.neg ? -1 : 1;
    }
    man = quantise(a, 0, mode);
    return a.neg ? -(num_i128)man : (num_i128)man;
}

long double num_value(struct num a)
{
    long double v;

    if (a.kind == NUM_NAN)
        return NAN;
    if (a.kind == NUM_INF)
        return a.neg ? -INFINITY : INFINITY;
    if (a.kind == NUM_ZERO)
        return a.neg ? -0.0L : 0.0L;
    v = ldexpl((long double)(uint64_t)(a.man >> 64), 64) + (long double)(uint64_t)a.man;
    v = ldexpl(v, a.exp);
    return a.neg ? -v : v;
}
