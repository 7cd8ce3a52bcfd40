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

/* Where the pieces of element k of K lie in a split format: the first, and how far apart. */
struct apex_place {
    int64_t first, step;
};

template <class Format>
static __device__ __forceinline__ apex_place apex_place_of(const apex_target &target, int64_t k)
{
    apex_place place = {k, 0};
    if (Format::pieces > 1) {
        int64_t start = k >> target.part_log2 << target.part_log2;
        place.first = start * Format::pieces + (k - start);
        place.step = min(target.k - start, (int64_t)1 << target.part_log2);
    }
    return place;
}

/* to: the first piece of the first of the vector's elements; step elements lie between pieces. */
template <class Format>
static __device__ __forceinline__ void apex_store(uint16_t *to, int64_t step, uint32_t operand,
                                                  const uint4 (&piece)[Format::distinct])
{
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
        apex_place across = apex_place_of<Format>(target, c.column);
        uint16_t *to = static_cast<uint16_t *>(target.data) + c.entry * target.stride +
                       (target.k_along_rows ? c.column : across.first) * target.ld;
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
            apex_place along = apex_place_of<Format>(target, row);
            apex_store<Format>(to + (target.k_along_rows ? along.first : row),
                               target.k_along_rows ? along.step : across.step * target.ld, operand,
                               piece);
        }
    }
    return met;
}

#endif
