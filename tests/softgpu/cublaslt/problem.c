/* SPDX-License-Identifier: BSD-3-Clause
 * From descriptors to a product: which shapes, types, orders, scalings and epilogues cuBLASLt takes
 * (as documented for compute capability 9.0), and what they mean as strided views. No state. */
#include "objects.h"

static bool is_fp8(int type)
{
    return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

static bool is_16bit(int type)
{
    return type == CUDA_R_16F || type == CUDA_R_16BF;
}

static bool fp8_types(int a, int b, int c, int d)
{
    if (!is_fp8(a) || !is_fp8(b) || (a == CUDA_R_8F_E5M2 && b == CUDA_R_8F_E5M2))
        return false;
    if (is_fp8(d))
        return is_16bit(c) && !(d == CUDA_R_8F_E5M2 && a == CUDA_R_8F_E4M3 && b == a);
    return c == d && (is_16bit(d) || d == CUDA_R_32F);
}

bool lt_types_known(int compute, int scale, int a, int b, int c, int d)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return scale == CUDA_R_16F && a == CUDA_R_16F && b == a && c == a && d == a;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        if (scale == CUDA_C_32F)
            return a == b && c == CUDA_C_32F && d == c && (a == CUDA_C_32F || a == CUDA_C_8I);
        if (scale != CUDA_R_32F)
            return false;
        if (is_fp8(a) || is_fp8(b))
            return compute == CUBLAS_COMPUTE_32F && fp8_types(a, b, c, d);
        if (a != b || c != d)
            return false;
        return (a == CUDA_R_32F && c == a) || (is_16bit(a) && (c == a || c == CUDA_R_32F)) ||
               (a == CUDA_R_8I && c == CUDA_R_32F);
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
        return (scale == CUDA_R_32F || scale == CUDA_C_32F) && a == scale && b == a && c == a &&
               d == a;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return (scale == CUDA_R_64F || scale == CUDA_C_64F) && a == scale && b == a && c == a &&
               d == a;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        if (a != CUDA_R_8I || b != a || c != d)
            return false;
        return (scale == CUDA_R_32I && c == CUDA_R_32I) || (scale == CUDA_R_32F && c == CUDA_R_8I);
    default:
        return false;
    }
}

static cublasStatus_t refuse(cublasStatus_t status, const char *why)
{
    return gpu_refuse(status, "cublasLt", why);
}

static cublasStatus_t layout_ok(const struct lt_layout *x, bool is_c)
{
    if (x->order != CUBLASLT_ORDER_COL && x->order != CUBLASLT_ORDER_ROW)
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "order");
    const uint64_t line = x->order == CUBLASLT_ORDER_COL ? x->rows : x->cols;
    if (is_c && x->ld == 0)
        return CUBLAS_STATUS_SUCCESS; /* one line for all */
    if (x->ld < 0 || (uint64_t)x->ld < (line == 0 ? 1 : line))
        return refuse(CUBLAS_STATUS_INVALID_VALUE, "leading dimension");
    return x->batch < 1 ? refuse(CUBLAS_STATUS_INVALID_VALUE, "batch count")
                        : CUBLAS_STATUS_SUCCESS;
}

static struct operand view_of(const struct lt_layout *x, int op)
{
    const bool swapped = (x->order == CUBLASLT_ORDER_ROW) != (op != CUBLAS_OP_N);
    struct operand view =
        operand_of(NULL, (cudaDataType)x->type, x->ld, x->batch > 1 ? x->stride : 0,
                   swapped ? CUBLAS_OP_T : CUBLAS_OP_N);
    view.conjugate = op == CUBLAS_OP_C && type_is_complex((cudaDataType)x->type);
    view.array = x->batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    if (view.array)
        view.stride = 0;
    return view;
}

/* The documented condition of the FP8 kernels of compute capability 9.0. */
static bool fp8_shape_ok(const struct lt_desc *desc, const struct lt_layout *a,
                         const struct lt_layout *b, const struct lt_layout *d,
                         const struct gemm_op *op)
{
    return desc->transa == CUBLAS_OP_T && desc->transb == CUBLAS_OP_N &&
           a->order == CUBLASLT_ORDER_COL && b->order == CUBLASLT_ORDER_COL &&
           d->order == CUBLASLT_ORDER_COL && op->m % 16 == 0 && op->k % 16 == 0 &&
           a->ld % 16 == 0 && b->ld % 16 == 0 && (uint64_t)d->ld * type_bytes(op->d.type) % 16 == 0;
}

static cublasStatus_t scales(const struct lt_desc *desc, struct gemm_op *op)
{
    struct epilogue *e = &op->epilogue;
    const bool fp8 = op->unit == UNIT_FP8;
    bool any = desc->d_amax != NULL || desc->aux_amax != NULL;
    for (int i = 0; i < 5; i++)
        any = any || desc->scale[i] != NULL || desc->scale_mode[i] != 0;
    if (!fp8)
        return any ? refuse(CUBLAS_STATUS_NOT_SUPPORTED, "scales need FP8 operands")
                   : CUBLAS_STATUS_SUCCESS;
    const bool a_outer = desc->scale_mode[0] == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    const bool b_outer = desc->scale_mode[1] == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    if (a_outer != b_outer || (!a_outer && (desc->scale_mode[0] != 0 || desc->scale_mode[1] != 0)))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "scale mode");
    if (a_outer && (desc->scale[0] == NULL || desc->scale[1] == NULL || is_fp8((int)op->d.type)))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "outer vector scales");
    const bool narrow_d = is_fp8((int)op->d.type);
    if (!narrow_d && (desc->scale[3] != NULL || desc->d_amax != NULL))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "scale or amax of a D that is not FP8");
    if (desc->scale[2] != NULL && !is_fp8((int)op->c.type))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "scale of a C that is not FP8");
    e->a_mode = a_outer ? SCALE_OUTER : desc->scale[0] != NULL ? SCALE_TENSOR : SCALE_NONE;
    e->b_mode = b_outer ? SCALE_OUTER : desc->scale[1] != NULL ? SCALE_TENSOR : SCALE_NONE;
    e->a_scale = desc->scale[0];
    e->b_scale = desc->scale[1];
    e->d_scale = desc->scale[3];
    e->aux_scale = desc->scale[4];
    e->d_amax = desc->d_amax;
    e->aux_amax = desc->aux_amax;
    return CUBLAS_STATUS_SUCCESS;
}

static bool epilogue_known(int kind)
{
    switch (kind) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB:
        return true;
    default:
        return false;
    }
}

enum { HAS_BIAS = 4, HAS_BGRAD = 16 | 256 | 512, HAS_RELU_MASK = 2 | 8, HAS_AUX = 128 };

static bool int8_output(const struct gemm_op *op)
{
    return op->domain == DOMAIN_I32 && op->scale_type == CUDA_R_32F;
}

static int usual_bias_type(const struct gemm_op *op)
{
    const int d = (int)op->d.type;
    if (int8_output(op))
        return CUDA_R_32F;
    if (op->unit == UNIT_FP8 && (is_fp8(d) || d == CUDA_R_32F))
        return op->c.type == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF;
    return d;
}

static bool bias_type_ok(const struct gemm_op *op, int type)
{
    const int d = (int)op->d.type;
    if (int8_output(op))
        return type == CUDA_R_32F;
    if (op->unit == UNIT_FP8 && is_fp8(d))
        return is_16bit(type);
    if (op->unit == UNIT_FP8)
        return type == (d == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF);
    return type == d || (d == CUDA_R_32F && is_16bit(type) && type == (int)op->a.type);
}

static cublasStatus_t add_epilogue(const struct lt_desc *desc, const struct lt_layout *d,
                                   struct gemm_op *op)
{
    struct epilogue *e = &op->epilogue;
    if (!epilogue_known(desc->epilogue))
        return refuse(CUBLAS_STATUS_INVALID_VALUE, "epilogue");
    if (desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT)
        return CUBLAS_STATUS_SUCCESS;
    e->kind = (unsigned)desc->epilogue;
    if (op->domain != DOMAIN_F32 && !int8_output(op))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "epilogue with this compute type");
    if (d->order != CUBLASLT_ORDER_COL)
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "epilogue with row order");
    const bool fp8 = op->unit == UNIT_FP8, narrow_d = is_fp8((int)op->d.type);
    const int d_type = (int)op->d.type;
    if (fp8 && (e->kind & (8 | 64 | HAS_BGRAD)))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "gradients with FP8");
    if ((e->kind & 0x300) && (op->unit != UNIT_F16 && op->unit != UNIT_BF16 &&
                              op->unit != UNIT_TF32 && op->unit != UNIT_F32))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "BGRAD with these operands");
    if (e->kind & (HAS_BIAS | HAS_BGRAD)) {
        const int type = desc->bias_type < 0 ? usual_bias_type(op) : desc->bias_type;
        if (!bias_type_ok(op, type))
            return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "bias type");
        e->bias = desc->bias;
        e->bias_type = (cudaDataType)type;
        e->bias_stride = desc->bias_stride;
    }
    if (e->kind & HAS_AUX) {
        const bool mask = (e->kind & HAS_RELU_MASK) != 0;
        const int type =
            desc->aux_type < 0 ? (narrow_d ? (int)op->c.type : d_type) : desc->aux_type;
        if (!mask && type != d_type && !(fp8 && (is_16bit(type) || is_fp8(type))))
            return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "aux type");
        if (desc->aux_ld < op->m || desc->aux_ld % (mask ? 128 : 8) != 0)
            return refuse(CUBLAS_STATUS_INVALID_VALUE, "aux leading dimension");
        if (desc->aux_stride % (mask ? 128 : 8) != 0)
            return refuse(CUBLAS_STATUS_INVALID_VALUE, "aux stride");
        e->aux = desc->aux;
        e->aux_type = (cudaDataType)type;
        e->aux_ld = desc->aux_ld;
        e->aux_stride = desc->aux_stride;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t shapes(const struct lt_desc *desc, const struct lt_layout *a,
                             const struct lt_layout *b, const struct lt_layout *c,
                             const struct lt_layout *d, struct gemm_op *op)
{
    const int trans[3] = {desc->transa, desc->transb, desc->transc};
    for (int i = 0; i < 3; i++)
        if (trans[i] < CUBLAS_OP_N || trans[i] > CUBLAS_OP_C)
            return refuse(CUBLAS_STATUS_INVALID_VALUE, "transposition");
    if (desc->transc != CUBLAS_OP_N || desc->fill != CUBLAS_FILL_MODE_FULL)
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "transposed C or fill mode");
    const struct lt_layout *all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        const cublasStatus_t status = layout_ok(all[i], i == 2);
        if (status != CUBLAS_STATUS_SUCCESS)
            return status;
        if (all[i]->batch != d->batch || all[i]->batch_mode != d->batch_mode)
            return refuse(CUBLAS_STATUS_INVALID_VALUE, "batch counts or modes differ");
        if (all[i]->batch_mode != CUBLASLT_BATCH_MODE_STRIDED &&
            all[i]->batch_mode != CUBLASLT_BATCH_MODE_POINTER_ARRAY)
            return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "batch mode");
    }
    op->m = (int64_t)(desc->transa == CUBLAS_OP_N ? a->rows : a->cols);
    op->k = (int64_t)(desc->transa == CUBLAS_OP_N ? a->cols : a->rows);
    op->n = (int64_t)(desc->transb == CUBLAS_OP_N ? b->cols : b->rows);
    const int64_t b_k = (int64_t)(desc->transb == CUBLAS_OP_N ? b->rows : b->cols);
    if (b_k != op->k || (int64_t)d->rows != op->m || (int64_t)d->cols != op->n ||
        c->rows != d->rows || c->cols != d->cols)
        return refuse(CUBLAS_STATUS_INVALID_VALUE, "shapes don't match");
    op->batch = d->batch;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t lt_problem(const struct blas_base *base, const struct lt_desc *desc,
                          const struct lt_layout *a, const struct lt_layout *b,
                          const struct lt_layout *c, const struct lt_layout *d, struct gemm_op *op)
{
    memset(op, 0, sizeof *op);
    op->who = "cublasLtMatmul";
    cublasStatus_t status = shapes(desc, a, b, c, d, op);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    op->a = view_of(a, desc->transa);
    op->b = view_of(b, desc->transb);
    op->c = view_of(c, CUBLAS_OP_N);
    op->d = view_of(d, CUBLAS_OP_N);
    op->scale_type = (cudaDataType)desc->scale_type;
    if (!lt_types_known(desc->compute, desc->scale_type, a->type, b->type, c->type, d->type) ||
        !gemm_arithmetic(op, (cublasComputeType_t)desc->compute))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "types");
    if ((op->unit == UNIT_BF16 || op->unit == UNIT_TF32) && base->compute_capability < 80)
        return refuse(CUBLAS_STATUS_ARCH_MISMATCH, "the device lacks this type");
    if (op->unit == UNIT_FP8 && base->compute_capability < 89)
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "the device lacks FP8");
    if (op->unit == UNIT_FP8 && !fp8_shape_ok(desc, a, b, d, op))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "FP8 is TN only, in multiples of 16");
    if (op->domain == DOMAIN_I32 && (a->ld % 4 != 0 || b->ld % 4 != 0))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "INT8 needs leading dimensions of 4");
    if (desc->pointer_mode < CUBLASLT_POINTER_MODE_HOST ||
        desc->pointer_mode > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST)
        return refuse(CUBLAS_STATUS_INVALID_VALUE, "pointer mode");
    if (desc->pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR &&
        ((op->domain != DOMAIN_F32 && op->domain != DOMAIN_F64 &&
          !(op->domain == DOMAIN_I32 && op->scale_type == CUDA_R_32F)) ||
         d->order != CUBLASLT_ORDER_COL))
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "vector of scalars with these types");
    if (desc->pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO &&
        desc->alpha_stride != 0)
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "alpha stride in this pointer mode");
    status = scales(desc, op);
    return status == CUBLAS_STATUS_SUCCESS ? add_epilogue(desc, d, op) : status;
}
