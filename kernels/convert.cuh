/* SPDX-License-Identifier: BSD-3-Clause
 * One block's share of a conversion: read FP32, scale, encode, write; on the way the largest finite
 * magnitude and the number of elements that the format loses. */
#ifndef APEXSHIM_CONVERT_CUH
#define APEXSHIM_CONVERT_CUH

#include "format.cuh"
#include "reduce.cuh"
#include "scale.cuh"
#include "walk.cuh"

struct apex_met {
    uint32_t max_bits;
    uint32_t lost; /* elements != 0 that became 0 or subnormal in FP16 */
};

/* One instruction: written as an assignment, the compiler may cut it into four. */
static __device__ __forceinline__ void apex_store_16_bytes(uint16_t *to, uint4 value)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(__cvta_generic_to_global(to)), "r"(value.x), "r"(value.y), "r"(value.z),
                   "r"(value.w)
                 : "memory");
}

template <class Format>
static __device__ __forceinline__ void apex_store(uint16_t *column, const apex_target &target,
                                                  int64_t row, uint32_t operand,
                                                  const uint4 (&piece)[Format::distinct])
{
    int64_t step = target.k_along_rows ? APEX_VECTOR : target.ld * APEX_VECTOR;
    uint16_t *to = column + (target.k_along_rows ? row * Format::pieces : row);
#pragma unroll
    for (int i = 0; i < Format::pieces; i++) {
        uint4 value = piece[0];
        if (Format::distinct > 1 && Format::order(i, operand) == 1)
            value = piece[Format::distinct > 1 ? 1 : 0];
        if (Format::distinct > 2 && Format::order(i, operand) == 2)
            value = piece[Format::distinct > 2 ? 2 : 0];
        apex_store_16_bytes(to + i * step, value);
    }
}

/* block counts from 0 within the operand; the copy holds x * 2^exponent. */
template <class Format>
static __device__ __forceinline__ apex_met apex_convert(const apex_source &source,
                                                        const apex_target &target, uint32_t block,
                                                        uint32_t operand, int exponent)
{
    apex_met met = {0, 0};
    apex_factors factors = apex_ldexp_factors(exponent);
    apex_position p = apex_start(source.walk, block);
    for (; p.column < p.columns; p.column += p.column_step) {
        apex_column c = apex_locate(source.walk, p.column);
        const float *from = source.data + c.entry * source.stride + c.column * source.ld;
        /* With K along the columns, eight of them share PIECES groups of eight. */
        int64_t first = target.k_along_rows || Format::pieces == 1
                            ? c.column
                            : (c.column & ~(int64_t)(APEX_VECTOR - 1)) * Format::pieces +
                                  (c.column & (APEX_VECTOR - 1));
        uint16_t *to = static_cast<uint16_t *>(target.data) + c.entry * target.stride +
                       first * target.ld;
        for (int64_t row = p.row; row < p.row_end; row += p.row_step) {
            float x[APEX_VECTOR];
            int64_t count = c.column < source.cols ? min(p.row_end - row, (int64_t)APEX_VECTOR) : 0;
            apex_load(from + row, count, source.walk.vector != 0, x);
            if (Format::scaled) {
#pragma unroll
                for (int i = 0; i < APEX_VECTOR; i++) {
                    met.max_bits = max(met.max_bits, apex_finite_magnitude(x[i]));
                    float scaled = apex_ldexp(factors, x[i]);
                    met.lost += x[i] != 0.0f && fabsf(scaled) < APEX_LEAST_NORMAL;
                    x[i] = scaled;
                }
            }
            uint4 piece[Format::distinct];
            Format::encode(x, piece);
            apex_store<Format>(to, target, row, operand, piece);
        }
    }
    return met;
}

#endif
