/* SPDX-License-Identifier: BSD-3-Clause
 * Runs originals beside converted calls and launches the comparison. Owns nothing: scratch comes
 * from device/scratch, totals lie with those of the sites. */
#include "config.h"
#include "gemm/verify.h"
#include "device/kernels.h"
#include "device/scratch.h"
#include "gemm/engine.h"

#include <stdatomic.h>

/* Copies of C that one call may need: more entries than this are not copied one by one. */
enum { MOST_COPIES = 64 };

void verify_hand_on(struct site *site, enum path path)
{
    struct apex_site shown;
    if (site_shown(site, &shown) &&
        shown.verified != atomic_exchange(&site->verified, shown.verified))
        site_error(site, path, site_error_of(shown.last_error_bits));
}

bool verify_due(const struct env *env, struct site *site, enum path path)
{
    if (env->verify == 0)
        return false;
    verify_hand_on(site, path);
    /* The first call, then each of that many. */
    return (atomic_load_explicit(&site->calls, memory_order_relaxed) - 1) %
               (uint64_t)env->verify ==
           0;
}

bool verify_take(struct verify *v, const struct gemm *g, size_t bytes)
{
    *v = (struct verify){.context = g->context, .stream = g->stream, .site = g->site->index};
    if (context_capture_id(g->context, g->stream) != 0 || !kernels_load(g->context) ||
        kernels_of(g->context)->sites == NULL)
        return false;
    v->scratch = scratch_take(g->context, g->stream, 0, bytes);
    return v->scratch != NULL;
}

void verify_drop(struct verify *v)
{
    scratch_give_back(v->context, v->scratch);
    v->scratch = NULL;
}

static bool copy_c(const struct verify *v, const struct gemm *g)
{
    if (!g->device_scalars && *(const float *)g->beta == 0.0f)
        return true;
    if (g->batch > MOST_COPIES)
        return false;
    for (int64_t i = 0; i < g->batch; i++) {
        const CUDA_MEMCPY2D copy = {
            .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
            .srcDevice = (CUdeviceptr)(uintptr_t)((const float *)g->c.data + i * g->c.stride),
            .srcPitch = (size_t)g->c.ld * sizeof(float),
            .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
            .dstDevice = v->scratch->data + (CUdeviceptr)(i * g->m * g->n) * sizeof(float),
            .dstPitch = (size_t)g->m * sizeof(float),
            .WidthInBytes = (size_t)g->m * sizeof(float),
            .Height = (size_t)g->n,
        };
        if (v->context->cuda->cuMemcpy2DAsync_v2(&copy, v->stream) != CUDA_SUCCESS)
            return false;
    }
    return true;
}

void verify_original(struct verify *v, const struct gemm *g)
{
    cublasStatus_t status;
    if (g->pointer_array ||
        !verify_take(v, g, sizeof(float) * (size_t)g->m * (size_t)g->n * (size_t)g->batch)) {
        v->scratch = NULL;
        return;
    }
    const struct gemm_matrix c = {.data = (const void *)(uintptr_t)v->scratch->data,
                                  .type = CUDA_R_32F, .ld = g->m, .stride = g->m * g->n};
    v->original = (struct verify_matrix){c.data, g->m, g->n, g->batch, c.ld, c.stride};
    if (!copy_c(v, g) || engine_call(g, g->compute, &c, &status) != REASONS ||
        status != CUBLAS_STATUS_SUCCESS)
        verify_drop(v);
}

void verify_compare(struct verify *v, const struct verify_matrix *result)
{
    if (v->scratch == NULL)
        return;
    const struct kernels *kernels = kernels_of(v->context);
    struct scratch_state *state = (struct scratch_state *)(uintptr_t)v->scratch->state;
    const struct apex_compare_params params = {
        .result = result->data,
        .original = v->original.data,
        .rows = result->rows,
        .cols = result->cols,
        .batch = result->batch,
        .result_ld = result->ld,
        .result_stride = result->stride,
        .original_ld = v->original.ld,
        .original_stride = v->original.stride,
        .record = &state->record,
        .site = kernels->sites + v->site,
        .mirror = kernels->mirror + v->site,
    };
    if (kernels_launch(v->context, kernels->compare, v->stream, &params,
                       kernels_wave(&v->context->gpu)) != CUDA_SUCCESS)
        v->scratch->dirty = true;
    verify_drop(v);
}
