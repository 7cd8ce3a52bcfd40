/* SPDX-License-Identifier: BSD-3-Clause
 * Reads a program's matmul descriptor and layouts (by their GetAttribute functions only: they are
 * opaque), and computes the call with descriptors of the shim's own: scaled FP16 copies, or the
 * program's operands with the TF32 compute type. What is not understood is forwarded. */
#include "config.h"
#include "gemm/lt_call.h"
#include "base/caller.h"
#include "base/env.h"
#include "base/guard.h"
#include "base/stats.h"
#include "device/capture.h"
#include "device/context.h"
#include "device/kernels.h"
#include "gemm/cast.h"
#include "gemm/engine.h"
#include "gemm/gemm.h"
#include "gemm/lt.h"
#include "gemm/report.h"
#include "device/scratch.h"
#include "gemm/site.h"
#include "gemm/timing.h"
#include "gemm/verify.h"

#include <string.h>

/* One matrix: as the layout says, and as it lies in memory (rows contiguous). */
struct side {
    int32_t type, order, batch;
    uint64_t rows, cols;
    int64_t ld, stride;
};

/* The descriptor. */
struct settings {
    int32_t compute, scale, pointers, transa, transb, transc, fill;
    uint32_t epilogue;
    const void *bias;
    void *aux;
    int64_t bias_stride, aux_ld, aux_stride;
    int32_t bias_type, aux_type, sm_count;
};

enum { NO_TYPE = -1 }; /* the default: that of D */

enum { WORKSPACE_ALIGN = 256 }; /* what cuBLASLt demands since 12.9 */

static bool read_side(const struct real_lt *lt, cublasLtMatrixLayout_t layout, struct side *s)
{
    size_t n;
#define GET(_attribute, _member)                                                                   \
    (lt->cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_##_attribute,             \
                                          &s->_member, sizeof s->_member,                          \
                                          &n) == CUBLAS_STATUS_SUCCESS &&                          \
     n == sizeof s->_member)
    return layout != NULL && GET(TYPE, type) && GET(ORDER, order) && GET(ROWS, rows) &&
           GET(COLS, cols) && GET(LD, ld) && GET(BATCH_COUNT, batch) &&
           GET(STRIDED_BATCH_OFFSET, stride);
#undef GET
}

/* Attributes that this version of the library does not know keep their default. */
static void read_optional(const struct real_lt *lt, cublasLtMatmulDesc_t desc,
                          cublasLtMatmulDescAttributes_t attribute, void *value, size_t bytes)
{
    unsigned char buffer[16];
    size_t n;
    if (lt->cublasLtMatmulDescGetAttribute(desc, attribute, buffer, bytes, &n) ==
            CUBLAS_STATUS_SUCCESS &&
        n == bytes)
        memcpy(value, buffer, bytes);
}

/* False: the descriptor asks for something that the shim does not rebuild. */
static bool read_settings(const struct real_lt *lt, cublasLtMatmulDesc_t desc, struct settings *s)
{
    size_t n;
    memset(s, 0, sizeof *s);
    s->fill = CUBLAS_FILL_MODE_FULL;
    s->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    s->bias_type = s->aux_type = NO_TYPE;
#define GET(_attribute, _member)                                                                   \
    (lt->cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_##_attribute, &s->_member,      \
                                        sizeof s->_member, &n) == CUBLAS_STATUS_SUCCESS)
#define OPTIONAL(_attribute, _member)                                                              \
    read_optional(lt, desc, CUBLASLT_MATMUL_DESC_##_attribute, &s->_member, sizeof s->_member)
    if (desc == NULL || !(GET(COMPUTE_TYPE, compute) && GET(SCALE_TYPE, scale) &&
                          GET(POINTER_MODE, pointers) && GET(TRANSA, transa) && GET(TRANSB, transb)))
        return false;
    OPTIONAL(TRANSC, transc);
    OPTIONAL(FILL_MODE, fill);
    OPTIONAL(EPILOGUE, epilogue);
    OPTIONAL(BIAS_POINTER, bias);
    OPTIONAL(BIAS_BATCH_STRIDE, bias_stride);
    OPTIONAL(BIAS_DATA_TYPE, bias_type);
    OPTIONAL(EPILOGUE_AUX_POINTER, aux);
    OPTIONAL(EPILOGUE_AUX_LD, aux_ld);
    OPTIONAL(EPILOGUE_AUX_BATCH_STRIDE, aux_stride);
    OPTIONAL(EPILOGUE_AUX_DATA_TYPE, aux_type);
    OPTIONAL(SM_COUNT_TARGET, sm_count);
#undef GET
#undef OPTIONAL
    /* Scales and maxima belong to narrow types; a call that has them is not an FP32 one. */
    const cublasLtMatmulDescAttributes_t pointers[] = {
        CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_AMAX_D_POINTER};
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        const void *p = NULL;
        read_optional(lt, desc, pointers[i], &p, sizeof p);
        if (p != NULL)
            return false;
    }
    return s->transc == CUBLAS_OP_N && s->fill == CUBLAS_FILL_MODE_FULL;
}

/* Epilogues that see D as FP32 does. BGRADA and BGRADB sum A or B: they would sum the copies. */
static bool epilogue_ok(const struct settings *s)
{
    switch (s->epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DGELU:
        break;
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
        if (s->bias == NULL)
            return false;
        break;
    default:
        return false;
    }
    return (s->bias_type == NO_TYPE || s->bias_type == CUDA_R_32F) &&
           (s->aux_type == NO_TYPE || s->aux_type == CUDA_R_32F ||
            s->epilogue == CUBLASLT_EPILOGUE_RELU_AUX ||
            s->epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
}

static bool uses_bias(const struct settings *s)
{
    return s->epilogue == CUBLASLT_EPILOGUE_BIAS || s->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
           s->epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS ||
           s->epilogue == CUBLASLT_EPILOGUE_GELU_BIAS ||
           s->epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS ||
           s->epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD ||
           s->epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD;
}

/* What is known of the call once it has been read. */
struct reading {
    struct settings settings;
    struct side a, b, c, d;
    struct gemm gemm; /* sizes and types, for the policy */
};

static bool valid_op(int32_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static bool plain_order(const struct side *s)
{
    return (s->order == CUBLASLT_ORDER_COL || s->order == CUBLASLT_ORDER_ROW) && s->stride >= 0 &&
           s->ld >= (int64_t)(s->order == CUBLASLT_ORDER_COL ? s->rows : s->cols);
}

static enum reason read_call(const struct lt_call *call, struct reading *r)
{
    const struct real_lt *lt = call->real;
    /* Cdesc may be absent: then C is laid out like D. */
    cublasLtMatrixLayout_t c_layout = call->c_layout != NULL ? call->c_layout : call->d_layout;
    if (!read_side(lt, call->a_layout, &r->a) || !read_side(lt, call->b_layout, &r->b) ||
        !read_side(lt, c_layout, &r->c) || !read_side(lt, call->d_layout, &r->d))
        return REASON_ARGUMENT;
    if (r->a.type != CUDA_R_32F || r->b.type != CUDA_R_32F || r->c.type != CUDA_R_32F ||
        r->d.type != CUDA_R_32F)
        return REASON_TYPE;
    if (!read_settings(lt, call->desc, &r->settings) || !epilogue_ok(&r->settings))
        return REASON_EPILOGUE;
    const struct settings *s = &r->settings;
    if (s->scale != CUDA_R_32F)
        return REASON_COMPUTE;
    if (!plain_order(&r->a) || !plain_order(&r->b) || !plain_order(&r->c) || !plain_order(&r->d))
        return REASON_LAYOUT;
    const bool ta = s->transa != CUBLAS_OP_N, tb = s->transb != CUBLAS_OP_N;
    r->gemm = (struct gemm){
        .routine = "cublasLtMatmul",
        .caller = call->caller,
        .m = (int64_t)(ta ? r->a.cols : r->a.rows),
        .n = (int64_t)(tb ? r->b.rows : r->b.cols),
        .k = (int64_t)(ta ? r->a.rows : r->a.cols),
        .batch = r->d.batch,
        .context = call->context,
        .stream = call->stream,
        .device_scalars = s->pointers != CUBLASLT_POINTER_MODE_HOST,
        .tf32 = s->compute != CUBLAS_COMPUTE_32F,
    };
    const struct gemm *g = &r->gemm;
    if (g->m <= 0 || g->n <= 0 || g->k <= 0 || g->batch <= 0 || r->a.batch != g->batch ||
        r->b.batch != g->batch || r->c.batch != g->batch ||
        (int64_t)(tb ? r->b.cols : r->b.rows) != g->k || (int64_t)r->d.rows != g->m ||
        (int64_t)r->d.cols != g->n || (int64_t)r->c.rows != g->m || (int64_t)r->c.cols != g->n ||
        !valid_op(s->transa) || !valid_op(s->transb) || call->alpha == NULL ||
        (call->beta == NULL &&
         s->pointers != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO) ||
        call->a == NULL || call->b == NULL || call->d == NULL ||
        (call->workspace_bytes > 0 && (uintptr_t)call->workspace % WORKSPACE_ALIGN != 0) ||
        (uintptr_t)call->a % sizeof(float) != 0 || (uintptr_t)call->b % sizeof(float) != 0 ||
        (uintptr_t)call->d % sizeof(float) != 0 || (g->batch > 1 && r->d.stride == 0))
        return REASON_ARGUMENT;
    switch (s->compute) {
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

/* The shape of the program's own call; the paths change operands and compute type. */
static struct lt_shape shape_of(const struct lt_call *call, const struct reading *r)
{
    const struct settings *s = &r->settings;
    const struct gemm *g = &r->gemm;
    return (struct lt_shape){
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .batch = g->batch,
        .lda = r->a.ld,
        .ldb = r->b.ld,
        .ldc = r->c.ld,
        .ldd = r->d.ld,
        .stride_a = r->a.stride,
        .stride_b = r->b.stride,
        .stride_c = r->c.stride,
        .stride_d = r->d.stride,
        .aux_ld = s->aux != NULL ? s->aux_ld : 0,
        .aux_stride = s->aux != NULL ? s->aux_stride : 0,
        .bias_stride = uses_bias(s) ? s->bias_stride : 0,
        .order_a = r->a.order,
        .order_b = r->b.order,
        .order_c = r->c.order,
        .order_d = r->d.order,
        .a_type = CUDA_R_32F,
        .b_type = CUDA_R_32F,
        .pointer_mode = s->pointers,
        .epilogue = (int32_t)s->epilogue,
        .sm_count = s->sm_count,
        .a_alignment = lt_alignment(call->a),
        .b_alignment = lt_alignment(call->b),
        .c_alignment = lt_alignment(call->c),
        .d_alignment = lt_alignment(call->d),
        .bias_alignment = uses_bias(s) ? lt_alignment(s->bias) : 0,
        .transa = s->transa == CUBLAS_OP_N ? CUBLAS_OP_N : CUBLAS_OP_T,
        .transb = s->transb == CUBLAS_OP_N ? CUBLAS_OP_N : CUBLAS_OP_T,
    };
}

static struct lt_library library_of(const struct lt_call *call)
{
    return (struct lt_library){call->handle, call->real, call->context};
}

static struct lt_epilogue pointers_of(const struct settings *s)
{
    return (struct lt_epilogue){uses_bias(s) ? s->bias : NULL, s->aux};
}

static bool has_pointers(const struct settings *s)
{
    return s->epilogue != CUBLASLT_EPILOGUE_DEFAULT;
}

/* The program's operands with a compute type, into d, with so much workspace of the program's. */
static enum reason run_own(const struct lt_call *call, const struct reading *r, int compute,
                           const void *c, void *d, size_t workspace_bytes, cublasStatus_t *status_p)
{
    struct lt_shape shape = shape_of(call, r);
    shape.compute = compute;
    shape.most_workspace = 1 + (uint64_t)workspace_bytes;
    shape.d_alignment = lt_alignment(d);
    shape.c_alignment = lt_alignment(c);
    const struct lt_library library = library_of(call);
    const struct lt_epilogue pointers = pointers_of(&r->settings);
    const struct plan *plan = lt_plan(&library, &shape);
    if (plan == NULL || !plan->usable)
        return REASON_ALGORITHM;
    *status_p = lt_matmul(&library, plan, has_pointers(&r->settings) ? &pointers : NULL, call->alpha,
                          call->a, call->b, call->beta, c, d, call->workspace, call->stream);
    return *status_p == CUBLAS_STATUS_SUCCESS ? REASONS : REASON_FAILURE;
}

static enum reason run_tf32(const struct lt_call *call, const struct reading *r,
                            cublasStatus_t *status_p)
{
    if (r->settings.compute != CUBLAS_COMPUTE_32F)
        return REASON_ALREADY;
    return run_own(call, r, CUBLAS_COMPUTE_32F_FAST_TF32, call->c, call->d,
                   call->workspace != NULL ? call->workspace_bytes : 0, status_p);
}

/* D as it lies in memory. */
static struct verify_matrix result_of(const struct lt_call *call, const struct reading *r)
{
    const bool row = r->d.order == CUBLASLT_ORDER_ROW;
    return (struct verify_matrix){.data = call->d,
                                  .rows = (int64_t)(row ? r->d.cols : r->d.rows),
                                  .cols = (int64_t)(row ? r->d.rows : r->d.cols),
                                  .batch = r->d.batch,
                                  .ld = r->d.ld,
                                  .stride = r->d.stride};
}

/* The original into scratch laid out like D. What its epilogue writes elsewhere, the converted call
 * writes again. */
static void run_original(const struct lt_call *call, const struct reading *r, struct verify *v)
{
    const struct verify_matrix d = result_of(call, r);
    const size_t bytes =
        sizeof(float) * (size_t)((d.batch - 1) * d.stride + (d.cols - 1) * d.ld + d.rows);
    cublasStatus_t status;
    if (!verify_take(v, &r->gemm, bytes))
        return;
    v->original = d;
    v->original.data = (const void *)(uintptr_t)v->scratch->data;
    const bool in_place = call->c == call->d;
    const CUdeviceptr from = (CUdeviceptr)(uintptr_t)call->d;
    if ((in_place && call->context->cuda->cuMemcpyDtoDAsync_v2(v->scratch->data, from, bytes,
                                                               call->stream) != CUDA_SUCCESS) ||
        run_own(call, r, r->settings.compute, in_place ? v->original.data : call->c,
                (void *)(uintptr_t)v->scratch->data, 0, &status) != REASONS)
        verify_drop(v);
}

/* k_is_rows: the matrix's rows (as the layout counts them) are what the GEMM sums over. */
static struct cast_operand operand_of(const void *data, const struct side *s, bool k_is_rows)
{
    const bool row = s->order == CUBLASLT_ORDER_ROW;
    return (struct cast_operand){.data = data,
                                 .rows = (int64_t)(row ? s->cols : s->rows),
                                 .cols = (int64_t)(row ? s->rows : s->cols),
                                 .ld = s->ld,
                                 .stride = s->stride,
                                 .batch = s->batch,
                                 .k_along_rows = k_is_rows != row};
}

static enum reason run_cast(const struct lt_call *call, const struct reading *r, enum path path,
                            cublasStatus_t *status_p)
{
    const struct settings *s = &r->settings;
    /* A vector of alphas would have to be scaled element by element. */
    if (s->pointers != CUBLASLT_POINTER_MODE_HOST && s->pointers != CUBLASLT_POINTER_MODE_DEVICE)
        return REASON_LAYOUT;
    const bool host = s->pointers == CUBLASLT_POINTER_MODE_HOST;
    struct cast cast = {
        .context = call->context,
        .stream = call->stream,
        .capture = context_capture_id(call->context, call->stream),
        .site = r->gemm.site->index,
        .k = r->gemm.k,
        .operand = {operand_of(call->a, &r->a, s->transa != CUBLAS_OP_N),
                    operand_of(call->b, &r->b, s->transb == CUBLAS_OP_N)},
        .alpha = call->alpha,
        .beta = call->beta,
        .device_scalars = !host,
    };
    if (cast.capture == CAPTURE_UNKNOWN)
        return REASON_CAPTURE;
    if (!cast_choose(&cast, path, r->gemm.site))
        return REASON_ENGINE;
    cast_plan(&cast);
    struct lt_shape shape = shape_of(call, r);
    shape.lda = cast.operand[0].copy_ld;
    shape.ldb = cast.operand[1].copy_ld;
    shape.stride_a = cast.operand[0].copy_stride;
    shape.stride_b = cast.operand[1].copy_stride;
    shape.a_alignment = shape.b_alignment = 0;
    const struct lt_library library = library_of(call);
    const struct lt_epilogue pointers = pointers_of(s);
    const struct engine_output output = {call->c, call->d, has_pointers(s) ? &pointers : NULL};
    return engine_multiply(&library, &shape, &cast, &output, status_p);
}

/* With the handle's context current. */
static enum reason convert(const struct env *env, const struct lt_call *call,
                           struct reading *r, cublasStatus_t *status_p)
{
    enum reason reason;
    if (r->settings.pointers == CUBLASLT_POINTER_MODE_HOST &&
        *(const float *)call->alpha == 0.0f)
        return REASON_ARGUMENT;
    struct site *site = site_decide(env, &r->gemm);
    const enum path path = site->path;
    if (path == PATH_FORWARD)
        return site->reason;
    struct verify verify = {.scratch = NULL};
    if (verify_due(env, site, path))
        run_original(call, r, &verify);
    if (path == PATH_TF32)
        reason = run_tf32(call, r, status_p);
    else
        reason = kernels_load(call->context) ? run_cast(call, r, path, status_p) : REASON_GPU;
    const struct verify_matrix result = result_of(call, r);
    verify_compare(&verify, &result);
    if (reason == REASONS)
        site_count_converted(site, path);
    return reason;
}

/* A call, and its operations where its sizes had to be read anyhow. */
struct counted_call {
    struct lt_call call;
    double flop; /* 0: not known */
};

static enum reason decide_and_run(void *argument, cublasStatus_t *status_p)
{
    struct counted_call *counted = argument;
    const struct lt_call *call = &counted->call;
    const struct env *env = env_get();
    struct reading r;
    if (!env->converts && !report_on())
        return REASON_OFF;
    enum reason reason = read_call(call, &r);
    if (reason != REASONS)
        return env->converts ? reason : REASON_OFF;
    const struct gemm *g = &r.gemm;
    counted->flop = 2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->batch;
    if (!env->converts)
        return site_observe(&r.gemm, REASON_OFF);
    if (env->tf32_vetoed)
        return site_observe(&r.gemm, REASON_VETO);
    if (env->opt_level == OPT_O0) {
        stats_count_eligible();
        return site_observe(&r.gemm, REASON_OBSERVE);
    }
    const enum context_entry entry =
        call->context != NULL ? context_enter(call->context) : CONTEXT_OTHER;
    if (entry == CONTEXT_OTHER)
        return REASON_CONTEXT;
    reason = convert(env, call, &r, status_p);
    context_leave(call->context, entry);
    return reason;
}

static uint64_t layout_value(const struct lt_call *call, cublasLtMatrixLayout_t layout,
                             cublasLtMatrixLayoutAttribute_t which)
{
    uint64_t value = 0;
    size_t written;
    if (layout == NULL || call->real->cublasLtMatrixLayoutGetAttribute(
                              layout, which, &value, sizeof value, &written) !=
                              CUBLAS_STATUS_SUCCESS)
        return 0;
    return value;
}

/* 2 m n k of each entry, whatever the types, and which way A lies: it has m k elements, and D n
 * columns. */
static double flop_of(const struct lt_call *call)
{
    int32_t batch = 1;
    size_t written;
    if (call->d_layout == NULL)
        return 0;
    (void)call->real->cublasLtMatrixLayoutGetAttribute(
        call->d_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch, &written);
    return 2.0 * batch * (double)layout_value(call, call->a_layout, CUBLASLT_MATRIX_LAYOUT_ROWS) *
           (double)layout_value(call, call->a_layout, CUBLASLT_MATRIX_LAYOUT_COLS) *
           (double)layout_value(call, call->d_layout, CUBLASLT_MATRIX_LAYOUT_COLS);
}

bool lt_call_run(const struct lt_call *call, cublasStatus_t *status_p)
{
    /* cuBLAS computes many of its GEMMs by cublasLtMatmul: those have been counted there. */
    if (!env_get()->enabled || guard_active() || caller_excluded(call->caller))
        return false;
    struct counted_call counted = {*call, 0};
    if (report_on()) {
        report_tick();
        timing_begin(call->context, call->stream);
    }
    const bool done = gemm_account(decide_and_run, &counted, status_p);
    if (done)
        timing_end();
    stats_count_flop(done ? STATS_FLOP_CONVERTED : STATS_FLOP_FORWARDED,
                     counted.flop > 0 ? counted.flop : flop_of(call));
    if (capture_any())
        capture_add(call->stream, (struct graph_work){1, done});
    return done;
}
