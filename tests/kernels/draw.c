/* SPDX-License-Identifier: BSD-3-Clause
 * splitmix64, and data that is likely to hit something. Owns the state of the generator. */
#include "kernels/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state;

uint64_t draw_start(void)
{
    const char *given = getenv("KERNELS_SEED");
    state = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    return state;
}

uint64_t draw_bits(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t draw_int(int64_t low, int64_t high)
{
    return low + (int64_t)(draw_bits() % (uint64_t)(high - low + 1));
}

bool draw_one_in(int n)
{
    return draw_int(1, n) == 1;
}

double draw_normal(void)
{
    const double u = ((double)(draw_bits() >> 11) + 1) / 0x1p53, v = (double)(draw_bits() >> 11);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v / 0x1p53);
}

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float special(void)
{
    static const uint32_t bits[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                    0xffffffff, 0,          0x80000000, 0x00000001};
    return from_bits(bits[draw_int(0, 7)]);
}

/* 1.xxxxxxx or 1.xxxxxxxxxx, plus half a unit in the last place or one FP32 step beside it. */
static float tie(int exponent)
{
    const uint32_t half = draw_one_in(2) ? 0x8000 : 0x1000;
    const uint32_t fraction = ((uint32_t)draw_bits() & 0x7fffff & ~(2 * half - 1)) | half;
    const uint32_t beside = (uint32_t)draw_int(-1, 1);
    const float x = from_bits(((uint32_t)(127 + exponent) << 23 | fraction) + beside);
    return draw_one_in(2) ? x : -x;
}

static float element(enum data kind, int scale)
{
    switch (kind) {
    case DATA_WIDE:
        return (float)ldexp(draw_normal(), scale - (int)draw_int(0, 70));
    case DATA_ZERO:
        return draw_one_in(2) ? 0.0f : -0.0f;
    case DATA_DENORMAL:
        return from_bits((uint32_t)draw_bits() & 0x807fffff);
    case DATA_SPECIAL:
        return draw_one_in(6) ? special() : (float)ldexp(draw_normal(), scale);
    case DATA_BITS:
        return from_bits((uint32_t)draw_bits());
    case DATA_TIES:
        return tie(scale / 2 - (int)draw_int(0, 30));
    case DATA_NOT_FINITE:
        return from_bits(0x7f800000 | ((uint32_t)draw_bits() & 0x807fffff));
    default:
        return (float)ldexp(draw_normal(), scale);
    }
}

void draw_data(enum data kind, float *x, size_t n)
{
    const int scale = (int)draw_int(-60, 60);
    for (size_t i = 0; i < n; i++)
        x[i] = element(kind, scale);
    const size_t place = (size_t)draw_int(0, (int64_t)n - 1);
    if (kind == DATA_OUTLIER)
        x[place] = (float)ldexp(draw_normal(), scale + 30);
    if (kind == DATA_BORDER) {
        const float limit = (float)ldexp(1, scale + 8); /* beyond every normal number drawn */
        x[place] = draw_one_in(2) ? limit : nextafterf(limit, 0);
    }
}
