/* SPDX-License-Identifier: BSD-3-Clause
 * The way of a GEMM: count it, ask whether anything speaks against converting it, ask the policy,
 * run an engine. Decides first and changes nothing until decided; any doubt forwards the call. */
#include "config.h"
#include "gemm/gemm.h"
#include "base/caller.h"
#include "base/env.h"
#include "base/guard.h"
#include "base/log.h"
#include "device/capture.h"
#include "device/context.h"
#include "device/handle.h"
#include "device/kernels.h"
#include "gemm/engine.h"
#include "gemm/report.h"
#include "gemm/site.h"
#include "gemm/timing.h"
#include "gemm/verify.h"

#include <errno.h>
#include <stdatomic.h>

static bool valid_op(cublasOperation_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static bool valid_matrix(const struct gemm *g, const struct gemm_matrix *m, int64_t rows)
{
    return m->data != NULL && (uintptr_t)m->data % sizeof(float) == 0 && m->ld >= rows &&
           (g->batch == 1 || m->stride >= 0);
}

/* The compute types that accept an error of 2^-11 per operand, FP32 itself being the mission. */
static enum reason check_compute(int compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
        return REASONS;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        return REASON_PEDANTIC;
    default:
        return REASON_COMPUTE;
    }
}

/* CUBLAS_GEMM_DEFAULT, ALGO0 to ALGO23, DEFAULT_TENSOR_OP, ALGO0_TENSOR_OP to ALGO15_TENSOR_OP, and
 * AUTOTUNE. */
static bool known_algo(int algo)
{
    return (algo >= -1 && algo <= 23) || (algo >= 99 && algo <= 115) || algo == 999;
}

enum reason gemm_check_arguments(const struct gemm *g)
{
    if (g->a.type != CUDA_R_32F || g->b.type != CUDA_R_32F || g->c.type != CUDA_R_32F)
        return REASON_TYPE;
    const enum reason compute = check_compute(g->compute);
    if (compute != REASONS)
        return compute;
    if (!valid_op(g->transa) || !valid_op(g->transb) || g->m <= 0 || g->n <= 0 || g->k <= 0 ||
        !known_algo(g->algo) || g->batch <= 0 || g->alpha == NULL || g->beta == NULL ||
        !valid_matrix(g, &g->a, g->transa == CUBLAS_OP_N ? g->m : g->k) ||
        !valid_matrix(g, &g->b, g->transb == CUBLAS_OP_N ? g->k : g->n) ||
        !valid_matrix(g, &g->c, g->m) || (g->batch > 1 && g->c.stride == 0 && !g->pointer_array))
        return REASON_ARGUMENT;
    return REASONS;
}

static bool is_fast_compute(int compute)
{
    return compute != CUBLAS_COMPUTE_32F;
}

/* What the handle says: its stream, pointer mode and math mode. */
static enum reason check_handle(struct gemm *g)
{
    cublasMath_t math;
    cublasPointerMode_t pointers;
    if (g->real->lt == NULL || g->real->cublasGetMathMode(g->handle, &math) != CUBLAS_STATUS_SUCCESS ||
        g->real->cublasGetPointerMode_v2(g->handle, &pointers) != CUBLAS_STATUS_SUCCESS ||
        g->real->cublasGetStream_v2(g->handle, &g->stream) != CUBLAS_STATUS_SUCCESS)
        return REASON_CONTEXT;
    const int mode = (int)math & ~(int)CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    if (mode == CUBLAS_PEDANTIC_MATH)
        return REASON_PEDANTIC;
    if (mode != CUBLAS_DEFAULT_MATH && mode != CUBLAS_TF32_TENSOR_OP_MATH &&
        mode != 1 /* CUBLAS_TENSOR_OP_MATH, deprecated */)
        return REASON_COMPUTE;
    g->device_scalars = pointers == CUBLAS_POINTER_MODE_DEVICE;
    g->tf32 = is_fast_compute(g->compute) || mode != CUBLAS_DEFAULT_MATH;
    /* alpha == 0: A and B must not be read, so that NaN in them does not show. */
    if (!g->device_scalars && *(const float *)g->alpha == 0.0f)
        return REASON_ARGUMENT;
    return REASONS;
}

static enum reason run_path(struct gemm *g, enum path path, cublasStatus_t *status_p)
{
    if (path == PATH_TF32)
        return g->tf32 ? REASON_ALREADY : engine_tf32(g, status_p);
    return kernels_load(g->context) ? engine_cast(g, path, status_p) : REASON_GPU;
}

/* With the handle's context current. */
static enum reason convert(const struct env *env, struct gemm *g, cublasStatus_t *status_p)
{
    enum reason reason = check_handle(g);
    if (reason != REASONS)
        return reason;
    struct site *site = site_decide(env, g);
    const enum path path = site->path;
    if (path == PATH_FORWARD)
        return site->reason;
    struct verify verify = {.scratch = NULL};
    if (verify_due(env, site, path))
        verify_original(&verify, g);
    reason = run_path(g, path, status_p);
    verify_compare(&verify, &(struct verify_matrix){g->c.data, g->m, g->n, g->batch, g->c.ld,
                                                    g->c.stride});
    if (reason == REASONS)
        site_count_converted(site, path);
    return reason;
}

/* REASONS: done. */
static enum reason decide_and_run(void *call, cublasStatus_t *status_p)
{
    struct gemm *g = call;
    const struct env *env = env_get();
    if (!env->converts)
        return site_observe(g, REASON_OFF);
    const enum reason arguments = gemm_check_arguments(g);
    if (arguments != REASONS)
        return arguments;
    if (env->tf32_vetoed)
        return site_observe(g, REASON_VETO);
    if (caller_excluded(g->caller))
        return REASON_EXCLUDED;
    if (env->opt_level == OPT_O0) {
        stats_count_eligible();
        return site_observe(g, REASON_OBSERVE);
    }
    const enum context_entry entry =
        g->context != NULL ? context_enter(g->context) : CONTEXT_OTHER;
    if (entry == CONTEXT_OTHER)
        return REASON_CONTEXT;
    const enum reason reason = convert(env, g, status_p);
    context_leave(g->context, entry);
    return reason;
}

static atomic_flag failure_said = ATOMIC_FLAG_INIT;

bool gemm_account(enum reason (*decide)(void *call, cublasStatus_t *status_p), void *call,
                  cublasStatus_t *status_p)
{
    const int saved = errno;
    stats_count_seen();
    guard_enter();
    const enum reason reason = decide(call, status_p);
    guard_leave();
    errno = saved;
    if (reason == REASONS)
        return true;
    if (reason == REASON_FAILURE && !atomic_flag_test_and_set(&failure_said))
        LOG_WARN("%s: the call was forwarded; later ones are only counted", reason_text(reason));
    stats_count_forwarded(reason);
    return false;
}

static void begin_timing(const struct gemm *g)
{
    cudaStream_t stream;
    const int saved = errno;
    report_tick();
    if (g->real->cublasGetStream_v2 != NULL &&
        g->real->cublasGetStream_v2(g->handle, &stream) == CUBLAS_STATUS_SUCCESS)
        timing_begin(g->context, stream);
    errno = saved;
}

bool gemm_run(struct gemm *g, cublasStatus_t *status_p)
{
    const struct env *env = env_get();
    struct handle_info info;
    if (handle_find(g->handle, &info)) {
        g->real = info.real;
        g->context = info.context;
    } else {
        g->real = real_blas(g->caller);
        g->context = NULL;
    }
    if (!env->enabled || g->real == NULL || guard_active())
        return false;
    if (report_on())
        begin_timing(g);
    const bool done = gemm_account(decide_and_run, g, status_p);
    if (done)
        timing_end();
    stats_count_flop(done ? STATS_FLOP_CONVERTED : STATS_FLOP_FORWARDED,
                     2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->batch);
    if (capture_any())
        capture_add_gemm(g->real, g->handle, done);
    return done;
}

void gemm_forwarded(void)
{
    /* A call that cuBLAS makes within another is over before that one is. */
    if (!guard_active())
        timing_end();
}

void gemm_handle_ends(void)
{
    report_flush();
}
