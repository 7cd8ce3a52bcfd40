/* SPDX-License-Identifier: BSD-3-Clause
 * Elements of matrices by the name of their type. No state. */
#include "matrix_tests.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void put(struct writer *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->n, sizeof w->text - w->n, format, args);
    va_end(args);
    w->n += (size_t)n;
    ck_assert_uint_lt(w->n, sizeof w->text);
}

void put_list(struct writer *w, const char *name, int n)
{
    for (int i = 0; i < n; i++)
        put(w, "%s%%%s%d", i ? ", " : "{", name, i);
    put(w, "}");
}

int cell_bits(const char *type)
{
    const struct num_format *f = num_format_of(type);

    return f ? num_bits(f) : strcmp(type + 1, "8") == 0 ? 8 : 32;
}

bool cell_is_int(const char *type)
{
    return num_format_of(type) == NULL;
}

static uint64_t mask(int bits)
{
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

uint64_t cell_random(const char *type, struct random *r)
{
    const struct num_format *f = num_format_of(type);

    if (!f)
        return random_bits(r) & mask(cell_bits(type));
    return num_encode(f, num_from_int((int)random_below(r, 17) - 8), NUM_RN, NULL);
}

double cell_value(const char *type, uint64_t bits)
{
    const struct num_format *f = num_format_of(type);
    int n = cell_bits(type);

    if (f)
        return (double)num_value(num_decode(f, bits));
    return type[0] == 's' ? (double)((int64_t)(bits << (64 - n)) >> (64 - n)) : (double)bits;
}

uint64_t cell_sum(const char *type, double sum, bool saturate)
{
    const struct num_format *f = num_format_of(type);

    if (f)
        return num_encode(f, num_from_int((int64_t)sum), NUM_RN, NULL);
    if (saturate && sum > INT32_MAX)
        return INT32_MAX;
    if (saturate && sum < INT32_MIN)
        return (uint32_t)INT32_MIN;
    return (uint32_t)(int64_t)sum;
}

uint64_t cell_get(const void *p, size_t i, int bits)
{
    uint64_t v = 0;

    memcpy(&v, (const char *)p + i * (size_t)bits / 8, (size_t)bits / 8);
    return v;
}

void cell_put(void *p, size_t i, int bits, uint64_t v)
{
    memcpy((char *)p + i * (size_t)bits / 8, &v, (size_t)bits / 8);
}
