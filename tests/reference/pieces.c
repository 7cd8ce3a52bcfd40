/* SPDX-License-Identifier: BSD-3-Clause
 * Reference of the split formats. */
#include "reference/pieces.h"
#include "reference/round.h"

#include <math.h>

static const struct {
    int distinct, stored;
    bool half;
    const char *of_a, *of_b;
} formats[REF_FORMATS] = {
    [REF_1_FP16] = {1, 1, true, "0", "0"},
    [REF_2_FP16] = {2, 3, true, "100", "010"},
    [REF_1_BF16] = {1, 1, false, "0", "0"},
    [REF_2_BF16] = {2, 3, false, "100", "010"},
    [REF_3_BF16] = {3, 6, false, "021010", "201100"},
};

int ref_distinct(enum ref_format format)
{
    return formats[format].distinct;
}

int ref_stored(enum ref_format format)
{
    return formats[format].stored;
}

int ref_piece_at(enum ref_format format, int operand, int i)
{
    return (operand == 0 ? formats[format].of_a : formats[format].of_b)[i] - '0';
}

int64_t ref_place(enum ref_format format, int64_t k, int64_t part, int64_t at, int i)
{
    const int stored = formats[format].stored;
    int64_t before = 0; /* of the parts before */
    while (before + part <= at)
        before += part;
    const int64_t length = before + part <= k ? part : k - before;
    return before * stored + i * length + (at - before);
}

static double round_bf16(double x)
{
    const double y = ref_round_bf16(x);
    return isfinite(x) && isinf(y) ? copysign(0x1.fep127, x) : y;
}

void ref_split(enum ref_format format, float x, int exponent, uint16_t piece[3])
{
    double left = ldexp(x, exponent);
    for (int i = 0; i < formats[format].distinct; i++) {
        const double y = formats[format].half ? ref_round_fp16(left) : round_bf16(left);
        piece[i] = formats[format].half ? ref_encode_fp16(y) : ref_encode_bf16(y);
        left = isfinite(y) ? left - y : 0;
    }
}

static bool is_nan(enum ref_format format, uint16_t x)
{
    return (x & 0x7fff) > (formats[format].half ? 0x7c00 : 0x7f80);
}

bool ref_same(enum ref_format format, int p, uint16_t a, uint16_t b)
{
    return a == b || (p > 0 && ((a | b) & 0x7fff) == 0) || (is_nan(format, a) && is_nan(format, b));
}
