/* SPDX-License-Identifier: BSD-3-Clause
 * Random operands and special values: of floating-point formats by their fields, of integers by
 * their width. No state but the caller's. */
#include "random.h"
#include "opcode.h"

#include <stdlib.h>
#include <string.h>

uint64_t random_bits(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)((random_bits(r) >> 32) * n >> 32);
}

uint64_t random_seed(void)
{
    const char *text = getenv("SOFTGPU_SEED");

    return text && *text ? strtoull(text, NULL, 0) : 20260101;
}

/* Special floating-point values by exponent and mantissa fields, each with both signs. */
enum { FLOAT_KINDS = 27 };

/* 3/2 of the least subnormal number of a narrower format, 2^least: a tie when it is converted. */
static uint64_t tie_of(const struct num_format *f, int least)
{
    int m = f->man_bits + f->low, bias = (1 << (f->exp_bits - 1)) - 1;
    int shift = least - 1 - (1 - bias - m);

    if (bias + least > 0)
        return (uint64_t)(bias + least) << m | 1ull << (m - 1);
    return shift >= 0 ? 3ull << shift : 0;
}

static uint64_t special_float(const struct num_format *f, size_t i)
{
    int m = f->man_bits + f->low;
    uint64_t one_exp = (1ull << (f->exp_bits - 1)) - 1;
    uint64_t top_exp = (1ull << f->exp_bits) - 1;
    uint64_t all = (1ull << m) - 1, half = 1ull << (m - 1);
    uint64_t table[FLOAT_KINDS] = {
        0,
        1,
        2,
        half,
        all, /* zero and subnormals */
        1ull << m,
        (1ull << m) + 1, /* smallest normal */
        (one_exp - 1) << m,
        one_exp << m,
        (one_exp << m) + 1,
        (one_exp << m) - 1,  /* 0.5, 1 */
        one_exp << m | half, /* 1.5: a tie as an integer */
        (one_exp + 1) << m,
        (one_exp + 1) << m | half >> 1,             /* 2, 2.5 */
        (one_exp + (uint64_t)f->man_bits) << m | 1, /* 2^man_bits + 1 */
        (one_exp - (uint64_t)f->man_bits - 1) << m, /* half a unit of 1 */
        num_largest(f, false) - 1,
        num_largest(f, false),
        top_exp << m, /* Inf */
        top_exp << m | half,
        top_exp << m | 1,
        top_exp << m | all, /* NaNs */
        tie_of(f, -9),      /* E4M3 */
        tie_of(f, -16),     /* E5M2 */
        tie_of(f, -24),     /* FP16 */
        tie_of(f, -133),    /* BF16 */
        tie_of(f, -149),    /* FP32 */
    };

    return table[i / 2] | (i & 1 ? num_sign_bit(f) : 0);
}

static uint64_t special_int(int bits, size_t i)
{
    uint64_t top = 1ull << (bits - 1);
    uint64_t table[] = {0,
                        1,
                        2,
                        3,
                        7,
                        31,
                        32,
                        33,
                        top,
                        top - 1,
                        top + 1,
                        ~0ull,
                        ~1ull,
                        0x5555555555555555,
                        0xaaaaaaaaaaaaaaaa,
                        1ull << bits / 2,
                        (1ull << bits / 2) - 1,
                        0x8080808080808080,
                        0x7f7f7f7f7f7f7f7f,
                        100,
                        ~99ull,
                        0x0123456789abcdef};

    return low_bits(table[i], bits);
}

size_t special_count(const char *type)
{
    if (strcmp(type, "pred") == 0)
        return 2;
    return num_format_of(type) ? 2 * FLOAT_KINDS : 22;
}

uint64_t special_value(const char *type, size_t i)
{
    const struct num_format *f = num_format_of(type);
    int bits;

    if (strcmp(type, "pred") == 0)
        return i & 1;
    if (!f)
        return special_int(type_bits(type), i);
    if (!type_is_pair(type))
        return special_float(f, i);
    bits = num_bits(f);
    /* the other half: another special value */
    return special_float(f, i) | special_float(f, (i * 7 + 3) % (2 * FLOAT_KINDS)) << bits;
}

static uint64_t random_float(struct random *r, const struct num_format *f, uint64_t near)
{
    int m = f->man_bits + f->low;
    uint64_t sign = random_bits(r) & 1 ? num_sign_bit(f) : 0;
    uint64_t man = random_bits(r) & ((1ull << m) - 1);
    uint64_t one_exp = (1ull << (f->exp_bits - 1)) - 1;
    uint64_t exp = random_bits(r) & ((1ull << f->exp_bits) - 1);

    switch (random_below(r, 8)) {
    case 0: /* the other operand, or its opposite, or a neighbour: cancellation */
        return (near ^ sign) + random_below(r, 4);
    case 1: /* few bits: ties */
        man &= ~(((1ull << m) - 1) >> random_below(r, 6));
        return sign | (one_exp + random_below(r, 12) - 4) << m | man;
    case 2:
        return special_float(f, random_below(r, 2 * FLOAT_KINDS));
    case 3: /* any exponent */
        return sign | exp << m | man;
    case 4: /* subnormal or nearly */
        return sign | (uint64_t)random_below(r, 3) << m | man >> random_below(r, (uint32_t)m);
    default: /* ordinary size */
        exp = one_exp + random_below(r, 8) - 4;
        return sign | exp << m | man;
    }
}

uint64_t random_count(struct random *r)
{
    switch (random_below(r, 8)) {
    case 0:
        return random_bits(r);
    case 1:
        return 28 + random_below(r, 8);
    case 2:
        return 60 + random_below(r, 8);
    default:
        return random_below(r, 40);
    }
}

uint64_t random_value(struct random *r, const char *type, uint64_t near)
{
    const struct num_format *f = num_format_of(type);
    int bits = type_bits(type);

    if (f && type_is_pair(type)) {
        int half = num_bits(f);
        uint64_t low = low_bits(random_float(r, f, low_bits(near, half)), half);

        return low | low_bits(random_float(r, f, near >> half), half) << half;
    }
    if (f)
        return low_bits(random_float(r, f, near), bits);
    switch (random_below(r, 8)) {
    case 0:
        return low_bits(near + random_below(r, 3) - 1, bits);
    case 1:
        return special_value(type, random_below(r, (uint32_t)special_count(type)));
    case 2: /* small, either sign */
        return low_bits((uint64_t)random_below(r, 200) - 100, bits);
    case 3: /* any length */
        return low_bits(random_bits(r), bits) >> random_below(r, (uint32_t)bits);
    default:
        return low_bits(random_bits(r), bits);
    }
}
