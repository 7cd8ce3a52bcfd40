/* SPDX-License-Identifier: BSD-3-Clause
 * apex_cast_fp8*: after apex_amax_f32, the FP8 copies of A and B, both with K contiguous, which is
 * the only layout that FP8 tensor cores take; an operand that lies the other way is transposed in
 * shared memory. E4M3 has no Inf: it becomes NaN, as does NaN. Exponents change in steps of one, since
 * the format has few binades. The last block leaves what the check kernels leave (check.cu). */
#include <cuda_fp8.h>

#include "finish.cuh"
#include "reduce.cuh"
#include "scale.cuh"
#include "walk.cuh"

enum { APEX_TILE = 64, APEX_TILE_PITCH = APEX_TILE + 16, APEX_QUAD = 4 };

struct apex_e4m3 {
    static constexpr int top = 7; /* scaled maxima below 2^8, of at most 448 */
    static __device__ __forceinline__ float least_normal() { return 0.015625f; }
    static __device__ __forceinline__ uint8_t encode(float x)
    {
        return isfinite(x) ? __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3) : 0x7f;
    }
};

struct apex_e5m2 {
    static constexpr int top = 14;
    static __device__ __forceinline__ float least_normal() { return APEX_LEAST_NORMAL; }
    static __device__ __forceinline__ uint8_t encode(float x)
    {
        if (isfinite(x))
            return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
        return isnan(x) ? 0x7f : x > 0 ? 0x7c : 0xfc;
    }
};

/* A tile of the source into shared memory, element (row, column) where its K is contiguous. */
template <class Type>
static __device__ __forceinline__ uint32_t
apex_read_tile(const apex_source &source, int64_t entry, int64_t row0, int64_t column0,
               bool k_along_rows, apex_factors factors, uint8_t (&tile)[APEX_TILE][APEX_TILE_PITCH])
{
    const int per_column = APEX_TILE / APEX_QUAD;
    const int row = (int)threadIdx.x % per_column * APEX_QUAD;
    uint32_t lost = 0;
    for (int column = (int)threadIdx.x / per_column; column < APEX_TILE;
         column += APEX_BLOCK_THREADS / per_column) {
        float x[APEX_QUAD] = {0, 0, 0, 0};
        const float *from = source.data + entry * source.stride +
                            (column0 + column) * source.ld + row0 + row;
        const int64_t count =
            column0 + column < source.cols ? source.walk.rows - row0 - row : (int64_t)0;
        if (source.walk.vector && count >= APEX_QUAD) {
            float4 v = __ldg(reinterpret_cast<const float4 *>(from));
            x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
        } else {
#pragma unroll
            for (int i = 0; i < APEX_QUAD; i++)
                x[i] = i < count ? __ldg(from + i) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < APEX_QUAD; i++) {
            float scaled = apex_ldexp(factors, x[i]);
            lost += x[i] != 0.0f && fabsf(scaled) < Type::least_normal();
            uint8_t byte = Type::encode(scaled);
            if (k_along_rows)
                tile[column][row + i] = byte;
            else
                tile[row + i][column] = byte;
        }
    }
    return lost;
}

template <class Type>
static __device__ __forceinline__ uint32_t apex_quantise(const apex_source &source,
                                                         const apex_target &target, uint32_t number,
                                                         int exponent)
{
    __shared__ __align__(16) uint8_t tile[APEX_TILE][APEX_TILE_PITCH];
    const uint32_t down = (uint32_t)((source.walk.rows + APEX_TILE - 1) / APEX_TILE);
    const uint32_t across = (uint32_t)((source.walk.cols + APEX_TILE - 1) / APEX_TILE);
    const int64_t entry = number / (down * across);
    const uint32_t within = number % (down * across);
    const int64_t row0 = (int64_t)(within % down) * APEX_TILE;
    const int64_t column0 = (int64_t)(within / down) * APEX_TILE;
    const bool along = target.k_along_rows != 0;
    __syncthreads(); /* the tile before has been stored */
    uint32_t lost = apex_read_tile<Type>(source, entry, row0, column0, along,
                                         apex_ldexp_factors(exponent), tile);
    __syncthreads();
    /* 64 runs of K, four threads of 16 bytes each. */
    const int run = (int)threadIdx.x / 4, byte = (int)threadIdx.x % 4 * 16;
    const int64_t column = (along ? column0 : row0) + run, k = (along ? row0 : column0) + byte;
    if (column < (along ? source.walk.cols : source.walk.rows) && k < target.k)
        *reinterpret_cast<uint4 *>(static_cast<uint8_t *>(target.data) + entry * target.stride +
                                   column * target.ld + k) =
            *reinterpret_cast<const uint4 *>(&tile[run][byte]);
    return lost;
}

template <class A, class B>
static __device__ __forceinline__ void apex_cast_to_fp8(const apex_cast_params &params)
{
    apex_record *record = params.record;
    float alpha = params.alpha_device != nullptr ? *params.alpha_device : params.alpha;
    apex_exponents e = {params.fixed[0], params.fixed[1]};
    if (params.mode != APEX_FIXED) {
        e.a = apex_exponent(record->amax_bits[0], A::top, 1);
        e.b = apex_exponent(record->amax_bits[1], B::top, 1);
        e = apex_clamp_exponents(e, alpha);
    }
    unsigned long long lost[2] = {0, 0};
    for (uint32_t number = blockIdx.x; number < params.blocks; number += gridDim.x) {
        if (number < params.blocks_of_a)
            lost[0] += apex_quantise<A>(params.source[0], params.target[0], number, e.a);
        else
            lost[1] += apex_quantise<B>(params.source[1], params.target[1],
                                        number - params.blocks_of_a, e.b);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        unsigned long long sum = apex_block_sum(lost[i]);
        if (threadIdx.x == 0 && sum != 0)
            atomicAdd((unsigned long long *)&record->lost[1][i], sum);
    }
    apex_end_block(params, e, alpha, true, true);
}

#define APEX_CAST_FP8(_name, _a, _b)                                                               \
    extern "C" __global__ void __launch_bounds__(APEX_BLOCK_THREADS)                               \
        _name(const __grid_constant__ apex_cast_params params)                                     \
    {                                                                                              \
        apex_cast_to_fp8<_a, _b>(params);                                                          \
    }

APEX_CAST_FP8(apex_cast_fp8, apex_e4m3, apex_e4m3)
APEX_CAST_FP8(apex_cast_fp8_e5m2_a, apex_e5m2, apex_e4m3)
APEX_CAST_FP8(apex_cast_fp8_e5m2_b, apex_e4m3, apex_e5m2)
