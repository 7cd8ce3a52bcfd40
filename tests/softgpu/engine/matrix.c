/* SPDX-License-Identifier: BSD-3-Clause
 * Element types, shapes and products of matrix fragments. */
#include "matrix.h"
#include "fp.h"
#include "sched.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name;
    uint8_t bytes;
} types[] = {
    [E_NONE] = {"", 0},     [E_F16] = {"f16", 2},   [E_BF16] = {"bf16", 2}, [E_TF32] = {"tf32", 4},
    [E_F32] = {"f32", 4},   [E_F64] = {"f64", 8},   [E_E4M3] = {"e4m3", 1}, [E_E5M2] = {"e5m2", 1},
    [E_S8] = {"s8", 1},     [E_U8] = {"u8", 1},     [E_S32] = {"s32", 4},
};

enum element element_of(const char *name)
{
    for (int e = E_F16; e <= E_S32; e++)
        if (strcmp(types[e].name, name) == 0)
            return (enum element)e;
    return E_NONE;
}

unsigned element_bytes(enum element e)
{
    return types[e].bytes;
}

bool element_is_int(enum element e)
{
    return e >= E_S8;
}

/* 8-bit floats: exponent bits, bias; E4M3 has no infinity and one NaN per sign */
static double small_float(uint32_t v, unsigned mantissa, int bias, bool e5m2)
{
    uint32_t e = (v & 0x7f) >> mantissa, m = v & ((1u << mantissa) - 1);
    double r;

    if (e5m2 && e == 31)
        return m ? NAN : v & 0x80 ? -INFINITY : INFINITY;
    if (!e5m2 && (v & 0x7f) == 0x7f)
        return NAN;
    r = e ? ldexp(1.0 + (double)m / (1u << mantissa), (int)e - bias)
          : ldexp((double)m / (1u << mantissa), 1 - bias);
    return v & 0x80 ? -r : r;
}

double element_read(enum element e, const void *p)
{
    uint64_t v = 0;

    memcpy(&v, p, types[e].bytes);
    switch (e) {
    case E_F16: return (double)f16_to_f32((uint32_t)v);
    case E_BF16: return (double)bf16_to_f32((uint32_t)v);
    case E_TF32: return (double)f32_from((uint32_t)v & ~0x1fffu); /* the low bits are ignored */
    case E_F32: return (double)f32_from((uint32_t)v);
    case E_F64: return f64_from(v);
    case E_E4M3: return small_float((uint32_t)v, 3, 7, false);
    case E_E5M2: return small_float((uint32_t)v, 2, 15, true);
    case E_S8: return (double)(int8_t)v;
    case E_U8: return (double)(uint8_t)v;
    case E_S32: return (double)(int32_t)v;
    default: return 0.0;
    }
}

void element_write(enum element e, void *p, double d)
{
    uint64_t v;

    switch (e) {
    case E_F16: v = f64_to_f16(d, 'n'); break;
    case E_BF16: v = f64_to_bf16(d, 'n'); break;
    case E_F32: case E_TF32: v = f32_result((float)d); break;
    case E_F64: v = f64_bits(d); break;
    default: v = (uint64_t)(int64_t)d; break;
    }
    memcpy(p, &v, types[e].bytes);
}

bool matrix_shape(const char *name, struct shape *out)
{
    unsigned m, n, k;
    char rest;

    if (sscanf(name, "m%un%uk%u%c", &m, &n, &k, &rest) != 3 || m > MAX_M || n > MAX_N || k > MAX_K)
        return false;
    *out = (struct shape){(uint8_t)m, (uint8_t)n, (uint8_t)k};
    return true;
}

void matrix_multiply(const struct shape *s, enum element d_type, bool saturate,
                     double a[MAX_M][MAX_K], double b[MAX_K][MAX_N], double c[MAX_M][MAX_N])
{
    for (unsigned m = 0; m < s->m; m++) {
        for (unsigned k = 0; k < s->k; k++) {
            double x = a[m][k];

            VECTOR for (unsigned n = 0; n < s->n; n++)
                c[m][n] += x * b[k][n];
        }
        for (unsigned n = 0; n < s->n && d_type == E_S32; n++) {
            double v = c[m][n];

            /* exact: at most 32 products of 16 bits */
            if (saturate)
                v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
            c[m][n] = (double)(int32_t)(uint32_t)(int64_t)v;
        }
    }
}

const struct insn *all_lanes(struct warp *w, const struct insn *i)
{
    if (w->mask == ALL_LANES)
        return NULL;
    if (w->alive != ALL_LANES)
        return fault(w, i, SG_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), 0, 0, false,
                     "a matrix instruction needs all 32 threads of the warp, %d are left",
                     __builtin_popcount(w->alive));
    return wait_for(w, i);
}
