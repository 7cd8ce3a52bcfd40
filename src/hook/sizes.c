/* SPDX-License-Identifier: BSD-3-Clause
 * Where the SEEN functions of cuBLAS have their sizes. Grouped batches, whose sizes are arrays, and
 * level 3 of the API without a handle are left out. Constant. */
#include "config.h"
#include "hook/sizes.h"

#include <stdbool.h>

/* Positions of arguments; 0, where no size is, means none. */
struct shape {
    unsigned char m, n, k, batch;
    unsigned char flop; /* for each m n k: a complex product counts as 4 real ones */
    bool side;          /* k is m or n, as argument 1 says */
    bool wide;          /* sizes of 64 bits */
};

/* Names without "cublas": cublas_v2.h redirects some of the whole ones. */
#define ONE(_name, ...)  [REAL_SEEN_cublas##_name] = {__VA_ARGS__},
#define BOTH(_name, ...) ONE(_name, __VA_ARGS__) ONE(_name##_64, __VA_ARGS__, .wide = true)

#define GEMM(_name, _flop)         BOTH(_name, .m = 3, .n = 4, .k = 5, .flop = _flop)
#define GEMM_BATCHED(_name, _flop) BOTH(_name, .m = 3, .n = 4, .k = 5, .batch = 14, .flop = _flop)
#define GEMM_STRIDED(_name, _flop) BOTH(_name, .m = 3, .n = 4, .k = 5, .batch = 17, .flop = _flop)
#define GEMM_LEGACY(_name, _flop)  ONE(_name, .m = 2, .n = 3, .k = 4, .flop = _flop)
#define RANK_K(_name, _flop)       BOTH(_name, .m = 3, .n = 3, .k = 4, .flop = _flop)
#define SYMM(_name, _flop)         BOTH(_name, .m = 3, .n = 4, .side = true, .flop = _flop)
#define TRIANGULAR(_name, _flop)   BOTH(_name, .m = 5, .n = 6, .side = true, .flop = _flop)
#define TRIANGULAR_BATCHED(_name, _flop)                                                           \
    BOTH(_name, .m = 5, .n = 6, .batch = 12, .side = true, .flop = _flop)

#define ALL_TYPES(_t, _flop)                                                                       \
    RANK_K(_t##syrk_v2, _flop)                                                                     \
    RANK_K(_t##syrkx, _flop)                                                                       \
    RANK_K(_t##syr2k_v2, 2 * _flop)                                                                \
    SYMM(_t##symm_v2, 2 * _flop)                                                                   \
    TRIANGULAR(_t##trmm_v2, _flop)                                                                 \
    TRIANGULAR(_t##trsm_v2, _flop)                                                                 \
    TRIANGULAR_BATCHED(_t##trsmBatched, _flop)

#define COMPLEX_TYPES(_t)                                                                          \
    RANK_K(_t##herk_v2, 4)                                                                         \
    RANK_K(_t##herkx, 4)                                                                           \
    RANK_K(_t##her2k_v2, 8)                                                                        \
    SYMM(_t##hemm_v2, 8)                                                                           \
    GEMM(_t##gemm_v2, 8)                                                                           \
    GEMM_BATCHED(_t##gemmBatched, 8)                                                               \
    GEMM_STRIDED(_t##gemmStridedBatched, 8)                                                        \
    GEMM_LEGACY(_t##gemm, 8)                                                                       \
    GEMM(_t##gemm3m, 8)

static const struct shape shapes[REAL_SEEN] = {
    ALL_TYPES(S, 1)
    ALL_TYPES(D, 1)
    ALL_TYPES(C, 4)
    ALL_TYPES(Z, 4)
    COMPLEX_TYPES(C)
    COMPLEX_TYPES(Z)
    RANK_K(CsyrkEx, 4)
    RANK_K(Csyrk3mEx, 4)
    RANK_K(CherkEx, 4)
    RANK_K(Cherk3mEx, 4)
    GEMM(CgemmEx, 8)
    GEMM(Cgemm3mEx, 8)
    GEMM_BATCHED(Cgemm3mBatched, 8)
    GEMM_STRIDED(Cgemm3mStridedBatched, 8)
    GEMM(Dgemm_v2, 2)
    GEMM_BATCHED(DgemmBatched, 2)
    GEMM_STRIDED(DgemmStridedBatched, 2)
    GEMM_LEGACY(Dgemm, 2)
    GEMM_LEGACY(Sgemm, 2)
    GEMM(Hgemm, 2)
    GEMM_BATCHED(HgemmBatched, 2)
    GEMM_STRIDED(HgemmStridedBatched, 2)
};

static double size(const struct shape *s, const struct arguments *a, unsigned i)
{
    const uintptr_t x = argument(a, i);
    /* The upper half of an int's register or stack slot is anything. */
    const double value = s->wide ? (double)(int64_t)x : (double)(int32_t)x;
    return i == 0 ? 1 : value > 0 ? value : 0;
}

double sizes_flop(enum real_seen index, const struct arguments *arguments)
{
    const struct shape *s = &shapes[index];
    if (s->flop == 0)
        return 0;
    const bool left = (cublasSideMode_t)(int32_t)argument(arguments, 1) == CUBLAS_SIDE_LEFT;
    const double m = size(s, arguments, s->m), n = size(s, arguments, s->n);
    const double k = s->side ? (left ? m : n) : size(s, arguments, s->k);
    return s->flop * m * n * k * size(s, arguments, s->batch);
}
