/* SPDX-License-Identifier: BSD-3-Clause
 * The cost model: a roofline with tiles, waves and a split K for each matmul, plus the traffic and
 * the launches of the copies. Pure functions. */
#include "config.h"
#include "gemm/cost.h"

#include <math.h>

/* Dense flop per clock and multiprocessor with FP32 accumulation (architecture white papers; where
 * a compute capability is sold with and without halved rates, the halved one: it promises less),
 * boost clock in GHz and bandwidth per multiprocessor in GB/s of a typical part. */
static const struct {
    int compute_capability;
    double per_clock[COST_ARITHMETICS];
    double ghz, gb_per_multiprocessor;
} architectures[] = {
    {70, {128, 0, 1024, 0, 0}, 1.53, 11.2},            /* V100 */
    {75, {128, 0, 512, 0, 0}, 1.59, 8.0},              /* T4, RTX 20 */
    {80, {128, 1024, 2048, 2048, 0}, 1.41, 18.0},      /* A100 */
    {86, {256, 256, 512, 512, 0}, 1.70, 11.4},         /* RTX 30, A10, A40 */
    {89, {256, 256, 512, 512, 1024}, 2.52, 7.9},       /* RTX 40, L4, L40 */
    {90, {256, 2048, 4096, 4096, 8192}, 1.83, 32.0},   /* H100 25, H200 36 GB/s */
    {100, {256, 4096, 8192, 8192, 16384}, 1.85, 54.0}, /* B200 */
    {120, {256, 256, 512, 512, 1024}, 2.41, 10.5},     /* RTX 50 */
};

/* What large GEMMs and copies reach of these peaks; what one dependent kernel costs. */
static const double achieved_compute[COST_ARITHMETICS] = {0.84, 0.81, 0.76, 0.80, 0.71};
static const double achieved_bandwidth = 0.9, launch_seconds = 2.5e-6;

/* What gemm/cast.c stores for each element, and how much of K one matmul sums. */
static const struct {
    enum cost_arithmetic arithmetic;
    int pieces, bytes;
    bool scaled;
    int64_t k_limit; /* 0: none */
} paths[PATHS] = {
    [PATH_FORWARD] = {COST_FP32, 0, 4, false, 0},  [PATH_TF32] = {COST_TF32, 0, 4, false, 0},
    [PATH_FP16] = {COST_FP16, 1, 2, true, 0},      [PATH_BF16] = {COST_BF16, 1, 2, false, 0},
    [PATH_FP16X2] = {COST_FP16, 3, 2, true, 512},  [PATH_BF16X3] = {COST_BF16, 3, 2, false, 2048},
    [PATH_BF16X6] = {COST_BF16, 6, 2, false, 512}, [PATH_FP8] = {COST_FP8, 1, 1, true, 0},
    [PATH_FP8_E5M2_A] = {COST_FP8, 1, 1, true, 0}, [PATH_FP8_E5M2_B] = {COST_FP8, 1, 1, true, 0},
};

struct cost_model cost_model_of(const struct gpu *gpu)
{
    size_t i = sizeof architectures / sizeof architectures[0] - 1;
    while (i > 0 && architectures[i].compute_capability > gpu->compute_capability)
        i--;
    const double clock = architectures[i].ghz * 1e9 * gpu->multiprocessors;
    struct cost_model model = {
        .bandwidth = architectures[i].gb_per_multiprocessor * 1e9 * gpu->multiprocessors *
                     achieved_bandwidth,
        .launch = launch_seconds,
        .multiprocessors = gpu->multiprocessors,
    };
    for (int a = 0; a < COST_ARITHMETICS; a++)
        model.flops[a] = architectures[i].per_clock[a] * clock * achieved_compute[a];
    return model;
}

/* A block of threads computes tm x tn of C; alone on its multiprocessor it reaches but a share of
 * what that can do. */
struct tile {
    double tm, tn, efficiency, alone;
};

static const struct tile plain_tiles[] = {{128, 128, 1, 0.95}, {64, 128, 0.95, 0.75},
                                          {64, 64, 0.85, 0.5}, {32, 64, 0.6, 0.33},
                                          {32, 32, 0.35, 0.2}, {8, 128, 0.3, 0.25}};
static const struct tile tensor_tiles[] = {{128, 256, 1, 1},
                                           {128, 128, 0.89, 0.95},
                                           {64, 128, 0.72, 0.6},
                                           {64, 64, 0.47, 0.35},
                                           {16, 128, 0.3, 0.25}};
/* Below this much of K a block is not split further. */
static const double least_k[COST_ARITHMETICS] = {64, 128, 256, 256, 512};
static const double block_seconds = 0.6e-6; /* its start and end */

/* The multiprocessors' time with one tile and K split into parts. */
static double tile_seconds(const struct cost_model *model, const struct cost_shape *s,
                           enum cost_arithmetic arithmetic, const struct tile *tile, double parts)
{
    const double sm = model->multiprocessors, m = (double)s->m, n = (double)s->n;
    const double rate = model->flops[arithmetic] / sm * tile->efficiency;
    const double tm = m < n ? tile->tm : tile->tn, tn = m < n ? tile->tn : tile->tm;
    const double blocks = ceil(m / tm) * ceil(n / tn) * (double)s->batch * parts;
    const double waves = ceil(blocks / sm), per_block = 2 * tm * tn * (double)s->k / parts;
    double seconds = fmax(waves * per_block / rate, per_block / (rate * tile->alone));
    seconds += block_seconds * fmin(waves, 3);
    if (parts > 1) /* partial sums go out and come back, through the cache */
        seconds += 2 * parts * sizeof(float) * m * n * (double)s->batch / (1.6 * model->bandwidth) +
                   block_seconds;
    return seconds;
}

/* One matmul: the best tile, or its memory traffic. c_passes: 1 where C is only written. */
static double matmul_seconds(const struct cost_model *model, const struct cost_shape *s,
                             enum cost_arithmetic arithmetic, double element_bytes, int c_passes)
{
    const bool plain = arithmetic == COST_FP32;
    const struct tile *tiles = plain ? plain_tiles : tensor_tiles;
    const size_t n_tiles = plain ? sizeof plain_tiles / sizeof plain_tiles[0]
                                 : sizeof tensor_tiles / sizeof tensor_tiles[0];
    const double m = (double)s->m, n = (double)s->n, k = (double)s->k, batch = (double)s->batch;
    double best = INFINITY;
    for (size_t i = 0; i < n_tiles; i++)
        for (double parts = 1; parts <= 16; parts *= 2)
            if (parts == 1 || k / parts >= least_k[arithmetic])
                best = fmin(best, tile_seconds(model, s, arithmetic, &tiles[i], parts));
    const double bytes =
        batch * (element_bytes * (m * k + k * n) + c_passes * sizeof(float) * m * n);
    return fmax(best, bytes / model->bandwidth);
}

static int64_t parts_of(const struct cost_shape *shape, enum path path)
{
    int64_t limit = paths[path].k_limit;
    if (path == PATH_FP16X2 && shape->k >= 4096 && shape->k < 8192) /* why: gemm/cast.c */
        limit /= 2;
    return limit == 0 ? 1 : 1 + (shape->k - 1) / limit;
}

int cost_bytes_per_element(enum path path, int scale)
{
    if (paths[path].pieces == 0)
        return 0;
    const int read = paths[path].scaled && scale == SCALE_EXACT ? 2 : 1;
    return 4 * read + paths[path].bytes * paths[path].pieces;
}

double cost_launches(const struct cost_shape *shape, enum path path, int scale)
{
    /* Scaled: the maxima and the cast, or the cast and what corrects it. */
    int casts = 0;
    if (paths[path].pieces > 0)
        casts = paths[path].scaled && scale != SCALE_FIXED ? 2 : 1;
    return casts + (double)parts_of(shape, path);
}

double cost_seconds(const struct cost_model *model, const struct cost_shape *shape, enum path path,
                    int scale)
{
    const enum cost_arithmetic arithmetic = paths[path].arithmetic;
    if (model->flops[arithmetic] <= 0)
        return INFINITY;
    const int64_t parts = parts_of(shape, path);
    const int pieces = paths[path].pieces > 0 ? paths[path].pieces : 1;
    struct cost_shape part = *shape;
    part.k = (1 + (shape->k - 1) / parts) * pieces;
    double seconds = matmul_seconds(model, &part, arithmetic, paths[path].bytes, 1);
    if (parts > 1) /* C is read and written once more for each */
        seconds +=
            (double)(parts - 1) * matmul_seconds(model, &part, arithmetic, paths[path].bytes, 2);
    const double elements =
        (double)shape->batch * (double)shape->k * ((double)shape->m + (double)shape->n);
    return seconds + elements * cost_bytes_per_element(path, scale) / model->bandwidth +
           cost_launches(shape, path, scale) * model->launch;
}
