/* SPDX-License-Identifier: BSD-3-Clause
 * cublasLtMatmul, its heuristics and its check: arguments to a product on the stream. */
#include "objects.h"

/* The alignment of an address: a power of two, at most 256. */
static uint32_t alignment_of(const void *p)
{
    const uintptr_t low = (uintptr_t)p & (~(uintptr_t)p + 1);
    return low == 0 || low > 256 ? 256 : (uint32_t)low;
}

static bool host_zero(const void *p, cudaDataType type)
{
    double d[2] = {0.0, 0.0};
    doubles_of(d, p, type_of_part(type), type_is_complex(type) ? 2 : 1);
    return d[0] == 0.0 && d[1] == 0.0;
}

static void set_scalars(struct gemm_op *op, const struct lt_desc *desc, const void *alpha,
                        const void *beta)
{
    const bool vector = desc->pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
    op->alpha.device = alpha;
    op->beta.device = beta;
    op->alpha.type = op->beta.type = op->scale_type;
    switch (desc->pointer_mode) {
    case CUBLASLT_POINTER_MODE_HOST:
        scalar_host(&op->alpha, alpha, op->scale_type);
        scalar_host(&op->beta, beta, op->scale_type);
        break;
    case CUBLASLT_POINTER_MODE_DEVICE:
        op->alpha.place = op->beta.place = PLACE_DEVICE;
        break;
    case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
        op->alpha.place = op->beta.place = PLACE_VECTOR;
        break;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO:
        op->alpha.place = PLACE_VECTOR;
        op->beta.place = PLACE_HOST; /* zero bytes are zero in every type */
        break;
    default:
        op->alpha.place = PLACE_VECTOR;
        scalar_host(&op->beta, beta, op->scale_type);
    }
    if (vector) {
        op->alpha.stride = desc->alpha_stride;
        op->beta.stride =
            desc->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? desc->alpha_stride : 0;
    }
}

static bool beta_needed(const struct lt_desc *desc)
{
    return desc->pointer_mode != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
}

static bool same_layout(const struct lt_layout *x, const struct lt_layout *y)
{
    return x->type == y->type && x->order == y->order && x->rows == y->rows && x->cols == y->cols &&
           x->ld == y->ld && x->batch == y->batch && x->stride == y->stride &&
           x->batch_mode == y->batch_mode;
}

static cublasStatus_t pick(const struct blas_base *base, const struct lt_desc *desc,
                           const struct gemm_op *op, const void *const data[4],
                           const cublasLtMatmulAlgo_t *opaque, size_t given, size_t *workspace_p)
{
    uint32_t align[4];
    for (int i = 0; i < 4; i++)
        align[i] = op->d.array ? 16 : alignment_of(data[i]); /* arrays: addresses unknown here */
    if (opaque == NULL) {
        const struct lt_preference any = {.workspace = given,
                                          .impl_mask = UINT64_MAX,
                                          .reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK};
        cublasLtMatmulHeuristicResult_t best;
        if (lt_algorithms(op, desc, align, &any, base->multiprocessors, &best, 1) == 0)
            return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmul", "no algorithm");
        *workspace_p = best.workspaceSize;
        return CUBLAS_STATUS_SUCCESS;
    }
    struct lt_algo algo;
    memcpy(&algo, opaque, sizeof algo);
    const cublasStatus_t status = lt_algo_check(&algo, op, desc, workspace_p);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    for (int i = 0; i < 4; i++)
        if (align[i] % algo.align[i] != 0)
            return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmul",
                              "an operand is less aligned than the algorithm needs");
    if (*workspace_p > given)
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul", "workspace too small");
    return CUBLAS_STATUS_SUCCESS;
}

static bool epilogue_pointers(const struct gemm_op *op, const struct lt_desc *desc)
{
    const unsigned kind = op->epilogue.kind;
    return !(((kind & (4 | 16 | 256 | 512)) && desc->bias == NULL) ||
             ((kind & 128) && desc->aux == NULL));
}

BLAS_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t opaque_desc,
                                       const void *alpha, const void *A,
                                       cublasLtMatrixLayout_t a_layout, const void *B,
                                       cublasLtMatrixLayout_t b_layout, const void *beta,
                                       const void *C, cublasLtMatrixLayout_t c_layout, void *D,
                                       cublasLtMatrixLayout_t d_layout,
                                       const cublasLtMatmulAlgo_t *algo, void *workspace,
                                       size_t workspace_bytes, cudaStream_t stream)
{
    const struct lt_desc *desc = (const struct lt_desc *)opaque_desc;
    const struct lt_layout *a = (const struct lt_layout *)a_layout;
    const struct lt_layout *b = (const struct lt_layout *)b_layout;
    const struct lt_layout *d = (const struct lt_layout *)d_layout;
    const struct lt_layout *c = c_layout == NULL ? d : (const struct lt_layout *)c_layout;
    if (desc == NULL || a == NULL || b == NULL || d == NULL)
        ENTER("cublasLtMatmul", "%s", "?");
    else
        ENTER("cublasLtMatmul", "%d%d %llux%llu k=%llu batch=%d types %d %d %d %d", desc->transa,
              desc->transb, (unsigned long long)d->rows, (unsigned long long)d->cols,
              (unsigned long long)(desc->transa == CUBLAS_OP_N ? a->cols : a->rows), d->batch,
              a->type, b->type, c->type, d->type);
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (desc == NULL || a == NULL || b == NULL || d == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct gemm_op op;
    cublasStatus_t status = lt_problem(&handle->base, desc, a, b, c, d, &op);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (op.m == 0 || op.n == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || (beta == NULL && beta_needed(desc)))
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul", "alpha or beta is NULL");
    set_scalars(&op, desc, alpha, beta);
    const bool no_c = op.beta.place == PLACE_HOST && host_zero(op.beta.host, op.scale_type);
    if (C == NULL && no_c)
        C = D;
    if ((A == NULL || B == NULL) && op.k > 0)
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul", "A or B is NULL");
    if (C == NULL || D == NULL)
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul", "C or D is NULL");
    if (C == D && !no_c && !same_layout(c, d))
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul",
                          "in place, but the layouts of C and D differ");
    if (!epilogue_pointers(&op, desc))
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul",
                          "epilogue without pointer");
    if (workspace == NULL)
        workspace_bytes = 0;
    if (workspace_bytes > 0 && (uintptr_t)workspace % 256 != 0)
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul", "workspace alignment");
    op.a.data = A;
    op.b.data = B;
    op.c.data = C;
    op.d.data = D;
    const void *const data[4] = {A, B, C, D};
    status = pick(&handle->base, desc, &op, data, algo, workspace_bytes, &op.workspace_bytes);
    op.workspace = workspace;
    if (status == CUBLAS_STATUS_SUCCESS)
        status = gpu_use(&handle->base);
    return status == CUBLAS_STATUS_SUCCESS ? gemm_enqueue((CUstream)stream, &op, 1) : status;
}

BLAS_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t opaque_desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t opaque_preference, int max,
    cublasLtMatmulHeuristicResult_t results[], int *n_p)
{
    ENTER("cublasLtMatmulAlgoGetHeuristic", "%d", max);
    const struct lt_desc *desc = (const struct lt_desc *)opaque_desc;
    const struct lt_preference *preference = (const struct lt_preference *)opaque_preference;
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (max <= 0 || results == NULL || n_p == NULL || desc == NULL || a == NULL || b == NULL ||
        c == NULL || d == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *n_p = 0;
    struct gemm_op op;
    cublasStatus_t status =
        lt_problem(&handle->base, desc, (struct lt_layout *)a, (struct lt_layout *)b,
                   (struct lt_layout *)c, (struct lt_layout *)d, &op);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    const struct lt_preference none = {.impl_mask = UINT64_MAX,
                                       .reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK,
                                       .align = {256, 256, 256, 256}};
    if (preference == NULL)
        preference = &none;
    *n_p = lt_algorithms(&op, desc, preference->align, preference, handle->base.multiprocessors,
                         results, max);
    return *n_p == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle,
                                                cublasLtMatmulDesc_t opaque_desc,
                                                cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                const cublasLtMatmulAlgo_t *opaque,
                                                cublasLtMatmulHeuristicResult_t *result)
{
    ENTER("cublasLtMatmulAlgoCheck", "%s", "");
    const struct lt_desc *desc = (const struct lt_desc *)opaque_desc;
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (desc == NULL || a == NULL || b == NULL || c == NULL || d == NULL || opaque == NULL ||
        result == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct gemm_op op;
    struct lt_algo algo;
    size_t workspace = 0;
    memcpy(&algo, opaque, sizeof algo);
    cublasStatus_t status =
        lt_problem(&handle->base, desc, (struct lt_layout *)a, (struct lt_layout *)b,
                   (struct lt_layout *)c, (struct lt_layout *)d, &op);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = lt_algo_check(&algo, &op, desc, &workspace);
    result->state = status;
    result->workspaceSize = workspace;
    result->wavesCount = (float)op.batch;
    return status;
}
