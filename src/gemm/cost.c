/* SPDX-License-Identifier: BSD-3-Clause
 * The cost model: a roofline with tile and wave quantisation. Pure functions. */
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
    {70, {128, 0, 1024}, 1.53, 11.2},    /* V100 */
    {75, {128, 0, 512}, 1.59, 8.0},      /* T4, RTX 20 */
    {80, {128, 1024, 2048}, 1.41, 18.0}, /* A100 */
    {86, {256, 256, 512}, 1.70, 11.4},   /* RTX 30, A10, A40 */
    {89, {256, 256, 512}, 2.52, 7.9},    /* RTX 40, L4, L40 */
    {90, {256, 2048, 4096}, 1.83, 32.0}, /* H100 25, H200 36 GB/s */
    {100, {256, 4096, 8192}, 1.85, 54.0}, /* B200 */
    {120, {256, 256, 512}, 2.41, 10.5},  /* RTX 50 */
};

static const double achieved_compute = 0.78, achieved_bandwidth = 0.9, launch_seconds = 2.5e-6;

struct cost_model cost_model_of(const struct gpu *gpu)
{
    size_t i = sizeof architectures / sizeof architectures[0] - 1;
    while (i > 0 && architectures[i].compute_capability > gpu->compute_capability)
        i--;
    const double clock = architectures[i].ghz * 1e9 * gpu->multiprocessors * achieved_compute;
    struct cost_model model = {
        .bandwidth = architectures[i].gb_per_multiprocessor * 1e9 * gpu->multiprocessors *
                     achieved_bandwidth,
        .launch = launch_seconds,
        .multiprocessors = gpu->multiprocessors,
    };
    for (int a = 0; a < COST_ARITHMETICS; a++)
        model.flops[a] = architectures[i].per_clock[a] * clock;
    return model;
}

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

/* One GEMM kernel: padded tiles, whole waves, K split where tiles are few; or its memory traffic. */
static double gemm_seconds(const struct cost_model *model, const struct cost_shape *s,
                           enum cost_arithmetic arithmetic, double element_bytes)
{
    static const double tile[COST_ARITHMETICS] = {64, 128, 128};
    static const double split_k[COST_ARITHMETICS] = {256, 512, 512};
    const double t = tile[arithmetic], m = (double)s->m, n = (double)s->n, k = (double)s->k;
    const double batch = (double)s->batch;
    const double thin = fmin(fmin(m, n), t); /* kernels exist with one short side */
    const double short_side = thin < t ? pow(2, ceil(log2(fmax(thin, 8)))) : t;
    const double tiles =
        (m < n ? ceil_div(m, short_side) * ceil_div(n, t) : ceil_div(m, t) * ceil_div(n, short_side)) *
        batch;
    const double splits = fmin(fmax(1, floor(k / split_k[arithmetic])),
                               fmax(1, floor(model->multiprocessors / tiles)));
    const double waves = ceil_div(tiles * splits, model->multiprocessors);
    const double per_tile = 2 * t * short_side * (k / splits);
    const double compute =
        waves * per_tile / (model->flops[arithmetic] / model->multiprocessors);
    const double bytes = batch * (element_bytes * (m * k + k * n) + sizeof(float) * m * n);
    return fmax(compute, bytes / model->bandwidth) + model->launch;
}

double cost_seconds(const struct cost_model *model, const struct cost_shape *shape,
                    enum cost_arithmetic arithmetic)
{
    if (model->flops[arithmetic] <= 0)
        return INFINITY;
    if (arithmetic != COST_FP16)
        return gemm_seconds(model, shape, arithmetic, sizeof(float));
    const double elements =
        (double)shape->batch * (double)shape->k * ((double)shape->m + (double)shape->n);
    return gemm_seconds(model, shape, COST_FP16, 2) + 10 * elements / model->bandwidth +
           2 * model->launch;
}
