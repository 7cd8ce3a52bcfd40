/* SPDX-License-Identifier: BSD-3-Clause
 * The formats of enum apex_format: how eight FP32 values become 16-bit pieces, and in which order
 * the pieces of A and of B lie along K:
 *   two pieces:   a1 b0 + a0 b1 + a0 b0              (Markidis et al. 2018; without a1 b1)
 *   three pieces: a0 b2 + a2 b0 + a1 b1 + a0 b1 + a1 b0 + a0 b0
 * Rounding is to nearest even. A piece after one that is not finite is 0: Inf - Inf would be NaN. */
#ifndef APEXSHIM_FORMAT_CUH
#define APEXSHIM_FORMAT_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels.h"

/* Two 16-bit values in a word; the first is the low half. */
struct apex_half {
    static __device__ __forceinline__ uint32_t pack(float low, float high)
    {
        __half2 pair = __floats2half2_rn(low, high);
        return *reinterpret_cast<uint32_t *>(&pair);
    }
    static __device__ __forceinline__ float2 unpack(uint32_t word)
    {
        return __half22float2(*reinterpret_cast<__half2 *>(&word));
    }
};

struct apex_bfloat {
    /* A finite value above the largest BF16 would round to Inf: it is cut to it. */
    static __device__ __forceinline__ float cut(float x)
    {
        const uint32_t largest = 0x7f7f0000u, bits = __float_as_uint(x) & 0x7fffffffu;
        return bits > largest && bits < 0x7f800000u ? copysignf(__uint_as_float(largest), x) : x;
    }
    static __device__ __forceinline__ uint32_t pack(float low, float high)
    {
        __nv_bfloat162 pair = __floats2bfloat162_rn(cut(low), cut(high));
        return *reinterpret_cast<uint32_t *>(&pair);
    }
    static __device__ __forceinline__ float2 unpack(uint32_t word)
    {
        return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
    }
};

template <class Element, int Distinct, bool Scaled> struct apex_pieces {
    using element = Element;
    static constexpr bool scaled = Scaled;
    static constexpr int distinct = Distinct; /* 1, 2 or 3 pieces that differ */
    static constexpr int pieces = Distinct == 1 ? 1 : Distinct == 2 ? 3 : 6; /* stored */

    /* Which distinct piece is the i-th stored one of A (operand 0) or B. */
    static __device__ __forceinline__ int order(int i, uint32_t operand)
    {
        constexpr int of_a[6] = {Distinct == 2, Distinct == 3 ? 2 : 0, Distinct == 3, 0, 1, 0};
        constexpr int of_b[6] = {Distinct == 3 ? 2 : 0, Distinct == 2, Distinct == 3, 1, 0, 0};
        return operand ? of_b[i] : of_a[i];
    }

    /* x is used up. */
    static __device__ __forceinline__ void encode(float (&x)[APEX_VECTOR],
                                                  uint4 (&out)[Distinct])
    {
#pragma unroll
        for (int piece = 0; piece < Distinct; piece++) {
            uint32_t word[APEX_VECTOR / 2];
#pragma unroll
            for (int i = 0; i < APEX_VECTOR / 2; i++) {
                word[i] = Element::pack(x[2 * i], x[2 * i + 1]);
                if (piece + 1 < Distinct) {
                    float2 y = Element::unpack(word[i]);
                    x[2 * i] = isfinite(y.x) ? x[2 * i] - y.x : 0.0f;
                    x[2 * i + 1] = isfinite(y.y) ? x[2 * i + 1] - y.y : 0.0f;
                }
            }
            out[piece] = make_uint4(word[0], word[1], word[2], word[3]);
        }
    }
};

using apex_fp16 = apex_pieces<apex_half, 1, true>;
using apex_fp16x2 = apex_pieces<apex_half, 2, true>;
using apex_bf16 = apex_pieces<apex_bfloat, 1, false>;
using apex_bf16x3 = apex_pieces<apex_bfloat, 2, false>;
using apex_bf16x6 = apex_pieces<apex_bfloat, 3, false>;

#endif
