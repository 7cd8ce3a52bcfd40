/* SPDX-License-Identifier: BSD-3-Clause
 * Conversions between FP32 and packed or narrow formats: two halves at once, TF32, the two 8-bit
 * formats, and packing of integers. d, a, b: a becomes the upper half. */
#include "decode.h"
#include "fp.h"

struct packed {
    const char *name;
    op_fn fn;
    const char *sig;
};

static inline float relu(float f)
{
    return f != f ? f : f > 0.0f ? f : 0.0f;
}

/* an infinity's place is taken by the largest finite value */
static inline double limited(float f, double max)
{
    return f > max ? max : f < -max ? -max : (double)f;
}

#define F16_MAX 65504.0
#define BF16_MAX 0x1.fep127
#define PAIR2(_name, _f) \
    OP2(_name, uint32_t, float, float, (_f(x)) << 16 | (_f(y)))
#define H_RN(_v) f32_to_f16(_v)
#define H_RZ(_v) f64_to_f16((double)(_v), 'z')
#define H_RN_RELU(_v) f32_to_f16(relu(_v))
#define H_RZ_RELU(_v) f64_to_f16((double)relu(_v), 'z')
#define H_RN_FIN(_v) f64_to_f16(limited(_v, F16_MAX), 'n')
#define H_RN_RELU_FIN(_v) f64_to_f16(limited(relu(_v), F16_MAX), 'n')
#define B_RN(_v) f32_to_bf16(_v)
#define B_RZ(_v) f64_to_bf16((double)(_v), 'z')
#define B_RN_RELU(_v) f32_to_bf16(relu(_v))
#define B_RZ_RELU(_v) f64_to_bf16((double)relu(_v), 'z')
#define B_RN_FIN(_v) f64_to_bf16(limited(_v, BF16_MAX), 'n')
#define B_RN_RELU_FIN(_v) f64_to_bf16(limited(relu(_v), BF16_MAX), 'n')
PAIR2(h2_rn, H_RN)
PAIR2(h2_rz, H_RZ)
PAIR2(h2_rn_relu, H_RN_RELU)
PAIR2(h2_rz_relu, H_RZ_RELU)
PAIR2(h2_rn_fin, H_RN_FIN)
PAIR2(h2_rn_relu_fin, H_RN_RELU_FIN)
PAIR2(b2_rn, B_RN)
PAIR2(b2_rz, B_RZ)
PAIR2(b2_rn_relu, B_RN_RELU)
PAIR2(b2_rz_relu, B_RZ_RELU)
PAIR2(b2_rn_fin, B_RN_FIN)
PAIR2(b2_rn_relu_fin, B_RN_RELU_FIN)

/* TF32: 11 digits in the place of an FP32, the low bits zero. rna: ties away from zero */
static inline uint32_t tf32_round(float f, char mode)
{
    uint32_t u = f32_bits(f), a = u & 0x7fffffffu;

    if (a > 0x7f800000u)
        return F32_NAN;
    if (a < 0x7f800000u && mode != 'z') {
        u += mode == 'a' ? 0x1000u : 0xfffu + (u >> 13 & 1);
    }
    return u & ~0x1fffu;
}

/* satfinite: an infinity, also one that came of rounding, gives the largest finite value */
static inline uint32_t tf32_finite(float f, char mode)
{
    uint32_t u = tf32_round(f, mode);

    return (u & 0x7fffffffu) == 0x7f800000u ? (u & 0x80000000u) | 0x7f7fe000u : u;
}
OP1(tf32_rna, uint32_t, float, tf32_round(x, 'a'))
OP1(tf32_rn, uint32_t, float, tf32_round(x, 'n'))
OP1(tf32_rz, uint32_t, float, tf32_round(x, 'z'))
OP1(tf32_rna_fin, uint32_t, float, tf32_finite(x, 'a'))
OP1(tf32_rn_fin, uint32_t, float, tf32_finite(x, 'n'))
OP1(tf32_rz_fin, uint32_t, float, tf32_finite(x, 'z'))
OP1(tf32_rn_relu, uint32_t, float, tf32_round(relu(x), 'n'))
OP1(tf32_rz_relu, uint32_t, float, tf32_round(relu(x), 'z'))
OP1(tf32_rn_relu_fin, uint32_t, float, tf32_finite(relu(x), 'n'))
OP1(tf32_rz_relu_fin, uint32_t, float, tf32_finite(relu(x), 'z'))

/* E4M3: no infinity, one NaN (0x7f), largest 448. E5M2: as a short half, largest 57344. These are
 * always satfinite: an infinity gives the largest value. */
static uint32_t to_e4m3(double d)
{
    uint32_t sign = (uint32_t)(f64_bits(d) >> 56 & 0x80);
    double a = f64_from(f64_bits(d) & ~((uint64_t)1 << 63)), r;
    int e;

    if (d != d)
        return 0x7f;
    r = f64_round_to(a, 4, -6, 'n');
    if (a > 448.0 || r > 448.0)
        return sign | 0x7e;
    if (r < 0x1p-6)
        return sign | (uint32_t)(r * 0x1p9);
    e = (int)(f64_bits(r) >> 52) - 1023;
    return sign | (uint32_t)(e + 7) << 3 | (uint32_t)(f64_bits(r) >> 49 & 7);
}

static uint32_t to_e5m2(double d)
{
    uint32_t sign = (uint32_t)(f64_bits(d) >> 56 & 0x80);
    double a = f64_from(f64_bits(d) & ~((uint64_t)1 << 63)), r;
    int e;

    if (d != d)
        return 0x7f;
    r = f64_round_to(a, 3, -14, 'n');
    if (a > 57344.0 || r > 57344.0)
        return sign | 0x7b;
    if (r < 0x1p-14)
        return sign | (uint32_t)(r * 0x1p16);
    e = (int)(f64_bits(r) >> 52) - 1023;
    return sign | (uint32_t)(e + 15) << 2 | (uint32_t)(f64_bits(r) >> 50 & 3);
}

static uint32_t e4m3_to_f16(uint32_t v)
{
    uint32_t sign = (v & 0x80) << 8, e = v >> 3 & 15, m = v & 7;

    if ((v & 0x7f) == 0x7f)
        return F16_NAN;
    if (e == 0)
        return sign | f32_to_f16((float)m * 0x1p-9f);
    return sign | (e + 8) << 10 | m << 7;
}

static uint32_t e5m2_to_f16(uint32_t v)
{
    return (v & 0x7f) > 0x7c ? F16_NAN : v << 8 & 0xff00;
}

#define LOW(_v) ((double)f16_to_f32((_v) & 0xffff))
#define HIGH(_v) ((double)f16_to_f32((_v) >> 16))
#define RELU_D(_v) ((double)relu((float)(_v)))
OP2(e4m3_f32, uint32_t, float, float, to_e4m3((double)x) << 8 | to_e4m3((double)y))
OP2(e5m2_f32, uint32_t, float, float, to_e5m2((double)x) << 8 | to_e5m2((double)y))
OP2(e4m3_f32_relu, uint32_t, float, float, to_e4m3((double)relu(x)) << 8 | to_e4m3((double)relu(y)))
OP2(e5m2_f32_relu, uint32_t, float, float, to_e5m2((double)relu(x)) << 8 | to_e5m2((double)relu(y)))
OP1(e4m3_f16, uint32_t, uint32_t, to_e4m3(HIGH(x)) << 8 | to_e4m3(LOW(x)))
OP1(e5m2_f16, uint32_t, uint32_t, to_e5m2(HIGH(x)) << 8 | to_e5m2(LOW(x)))
OP1(e4m3_f16_relu, uint32_t, uint32_t, to_e4m3(RELU_D(HIGH(x))) << 8 | to_e4m3(RELU_D(LOW(x))))
OP1(e5m2_f16_relu, uint32_t, uint32_t, to_e5m2(RELU_D(HIGH(x))) << 8 | to_e5m2(RELU_D(LOW(x))))
#define RELU_H(_h) ((_h) & 0x8000 && ((_h) & 0x7fff) <= 0x7c00 ? 0 : (_h))
OP1(f16_e4m3, uint32_t, uint32_t, e4m3_to_f16(x >> 8 & 0xff) << 16 | e4m3_to_f16(x & 0xff))
OP1(f16_e5m2, uint32_t, uint32_t, e5m2_to_f16(x >> 8 & 0xff) << 16 | e5m2_to_f16(x & 0xff))
OP1(f16_e4m3_relu, uint32_t, uint32_t,
    RELU_H(e4m3_to_f16(x >> 8 & 0xff)) << 16 | RELU_H(e4m3_to_f16(x & 0xff)))
OP1(f16_e5m2_relu, uint32_t, uint32_t,
    RELU_H(e5m2_to_f16(x >> 8 & 0xff)) << 16 | RELU_H(e5m2_to_f16(x & 0xff)))

/* cvt.pack.sat: a and b saturated to the narrow type; 8-bit ones push c's bytes up */
static inline uint32_t clamp(uint32_t v, bool sign, int32_t lo, int32_t hi)
{
    if (!sign)
        return v > (uint32_t)hi ? (uint32_t)hi : v;
    return (uint32_t)((int32_t)v < lo ? lo : (int32_t)v > hi ? hi : (int32_t)v);
}
#define PACK16(_v, _lo, _hi) (clamp(_v, true, _lo, _hi) & 0xffff)
#define PACK8(_v, _lo, _hi) (clamp(_v, true, _lo, _hi) & 0xff)
OP2(pack_s16, uint32_t, uint32_t, uint32_t,
    PACK16(x, -32768, 32767) << 16 | PACK16(y, -32768, 32767))
OP2(pack_u16, uint32_t, uint32_t, uint32_t, PACK16(x, 0, 65535) << 16 | PACK16(y, 0, 65535))
OP3(pack_s8, uint32_t, uint32_t, uint32_t, uint32_t,
    z << 16 | PACK8(x, -128, 127) << 8 | PACK8(y, -128, 127))
OP3(pack_u8, uint32_t, uint32_t, uint32_t, uint32_t, z << 16 | PACK8(x, 0, 255) << 8 | PACK8(y, 0, 255))

static const struct packed table[] = {
    {"rn.f16x2.f32", h2_rn, "rff"}, {"rz.f16x2.f32", h2_rz, "rff"},
    {"rn.relu.f16x2.f32", h2_rn_relu, "rff"}, {"rz.relu.f16x2.f32", h2_rz_relu, "rff"},
    {"rn.satfinite.f16x2.f32", h2_rn_fin, "rff"},
    {"rn.relu.satfinite.f16x2.f32", h2_rn_relu_fin, "rff"},
    {"rn.bf16x2.f32", b2_rn, "rff"}, {"rz.bf16x2.f32", b2_rz, "rff"},
    {"rn.relu.bf16x2.f32", b2_rn_relu, "rff"}, {"rz.relu.bf16x2.f32", b2_rz_relu, "rff"},
    {"rn.satfinite.bf16x2.f32", b2_rn_fin, "rff"},
    {"rn.relu.satfinite.bf16x2.f32", b2_rn_relu_fin, "rff"},
    {"rna.tf32.f32", tf32_rna, "rf"}, {"rn.tf32.f32", tf32_rn, "rf"}, {"rz.tf32.f32", tf32_rz, "rf"},
    {"rna.satfinite.tf32.f32", tf32_rna_fin, "rf"}, {"rn.satfinite.tf32.f32", tf32_rn_fin, "rf"},
    {"rz.satfinite.tf32.f32", tf32_rz_fin, "rf"}, {"rn.relu.tf32.f32", tf32_rn_relu, "rf"},
    {"rz.relu.tf32.f32", tf32_rz_relu, "rf"}, {"rn.relu.satfinite.tf32.f32", tf32_rn_relu_fin, "rf"},
    {"rz.relu.satfinite.tf32.f32", tf32_rz_relu_fin, "rf"},
    {"rn.satfinite.e4m3x2.f32", e4m3_f32, "hff"}, {"rn.satfinite.e5m2x2.f32", e5m2_f32, "hff"},
    {"rn.satfinite.relu.e4m3x2.f32", e4m3_f32_relu, "hff"},
    {"rn.satfinite.relu.e5m2x2.f32", e5m2_f32_relu, "hff"},
    {"rn.satfinite.e4m3x2.f16x2", e4m3_f16, "hr"}, {"rn.satfinite.e5m2x2.f16x2", e5m2_f16, "hr"},
    {"rn.satfinite.relu.e4m3x2.f16x2", e4m3_f16_relu, "hr"},
    {"rn.satfinite.relu.e5m2x2.f16x2", e5m2_f16_relu, "hr"},
    {"rn.f16x2.e4m3x2", f16_e4m3, "rh"}, {"rn.f16x2.e5m2x2", f16_e5m2, "rh"},
    {"rn.relu.f16x2.e4m3x2", f16_e4m3_relu, "rh"}, {"rn.relu.f16x2.e5m2x2", f16_e5m2_relu, "rh"},
    {"pack.sat.s16.s32", pack_s16, "rrr"}, {"pack.sat.u16.s32", pack_u16, "rrr"},
    {"pack.sat.s8.s32.b32", pack_s8, "rrrr"}, {"pack.sat.u8.s32.b32", pack_u8, "rrrr"},
};

bool packed_form(struct form *f)
{
    const char *mods = strchr(f->insn->mnemonic, '.');

    for (size_t k = 0; mods && k < sizeof table / sizeof *table; k++) {
        if (strcmp(mods + 1, table[k].name) == 0) {
            f->row = &table[k];
            return true;
        }
    }
    return false;
}

void packed_decode(struct decoder *d, const struct form *f)
{
    const struct packed *p = f->row;
    const struct op_row row = {f->insn->mnemonic, p->fn, p->sig, 0, 0};

    emit_row(d, &row, f->insn);
}
