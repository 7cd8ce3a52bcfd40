/* SPDX-License-Identifier: BSD-3-Clause
 * Algorithms of the software cuBLASLt: a made-up set with the properties that matter to a caller:
 * bound to types, some need alignment, some need workspace. All give the same numbers. */
#include "objects.h"

static const uint32_t MAGIC = 0x4c74416c; /* marks an algorithm that this library made */
enum { SPLIT = 4, SPLIT_FROM_K = 1024 };

struct kind {
    uint16_t id;
    bool tensor; /* for units other than plain FP32, FP64 */
    bool split_k;
    uint8_t align; /* bytes of A, B, C, D; 1: their element size */
    bool fp8;      /* takes FP8 */
    uint16_t tile[3], stages[3];
};

/* In the order of preference. */
static const struct kind kinds[] = {
    {66,
     true,
     false,
     16,
     true,
     {CUBLASLT_MATMUL_TILE_128x256, CUBLASLT_MATMUL_TILE_128x128, CUBLASLT_MATMUL_TILE_64x64},
     {CUBLASLT_MATMUL_STAGES_128xAUTO, CUBLASLT_MATMUL_STAGES_64xAUTO, 0}},
    {21,
     true,
     true,
     16,
     false,
     {CUBLASLT_MATMUL_TILE_128x128, CUBLASLT_MATMUL_TILE_128x64, CUBLASLT_MATMUL_TILE_64x64},
     {CUBLASLT_MATMUL_STAGES_32x4, CUBLASLT_MATMUL_STAGES_64x3, 0}},
    {6,
     true,
     true,
     1,
     false,
     {CUBLASLT_MATMUL_TILE_64x64, CUBLASLT_MATMUL_TILE_64x32, CUBLASLT_MATMUL_TILE_32x32},
     {CUBLASLT_MATMUL_STAGES_32x3, CUBLASLT_MATMUL_STAGES_16x3, 0}},
    {1,
     false,
     true,
     1,
     false,
     {CUBLASLT_MATMUL_TILE_128x64, CUBLASLT_MATMUL_TILE_64x64, CUBLASLT_MATMUL_TILE_32x32},
     {CUBLASLT_MATMUL_STAGES_8x4, CUBLASLT_MATMUL_STAGES_8x3, 0}},
    {0,
     false,
     false,
     1,
     false,
     {CUBLASLT_MATMUL_TILE_32x32, CUBLASLT_MATMUL_TILE_16x16, CUBLASLT_MATMUL_TILE_8x8},
     {CUBLASLT_MATMUL_STAGES_UNDEFINED, 0, 0}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const struct kind *kind_of(int id)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].id == id)
            return &kinds[i];
    return NULL;
}

static bool serves(const struct kind *kind, enum unit unit)
{
    if (unit == UNIT_F32 || unit == UNIT_F64)
        return !kind->tensor;
    return kind->tensor && (unit != UNIT_FP8 || kind->fp8);
}

static bool unit_of_types(int compute, int scale, int a, int b, int c, int d, struct gemm_op *op)
{
    memset(op, 0, sizeof *op);
    op->a.type = (cudaDataType)a;
    op->b.type = (cudaDataType)b;
    op->c.type = (cudaDataType)c;
    op->d.type = (cudaDataType)d;
    op->scale_type = (cudaDataType)scale;
    return lt_types_known(compute, scale, a, b, c, d) &&
           gemm_arithmetic(op, (cublasComputeType_t)compute);
}

static struct lt_algo make(const struct kind *kind, int compute, int scale, const int types[4])
{
    struct lt_algo algo = {.magic = MAGIC,
                           .compute = (int8_t)compute,
                           .scale_type = (int8_t)scale,
                           .id = kind->id,
                           .tile = kind->tile[0],
                           .stages = kind->stages[0],
                           .split_k = 1};
    for (int i = 0; i < 4; i++) {
        algo.type[i] = (int8_t)types[i];
        const size_t size = type_bytes((cudaDataType)types[i]);
        algo.align[i] = kind->align > size ? kind->align : (uint8_t)(size > 16 ? 16 : size);
    }
    return algo;
}

static size_t split_workspace(const struct gemm_op *op, const struct lt_algo *algo)
{
    if (algo->split_k <= 1)
        return 0;
    if (algo->reduction == CUBLASLT_REDUCTION_SCHEME_INPLACE)
        return 4096; /* counters */
    const size_t size = algo->reduction == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE
                            ? type_bytes(op->d.type)
                            : domain_bytes(op->domain);
    return (size_t)op->m * (size_t)op->n * (size_t)op->batch * size * algo->split_k;
}

/* The largest power of two, at most 16, that divides x. */
static uint32_t divisor(uint64_t x)
{
    const uint64_t low = x & (~x + 1);
    return x == 0 || low > 16 ? 16 : (uint32_t)low;
}

/* What the leading dimension and the batch stride leave of an operand's alignment. */
static uint32_t stride_alignment(const struct operand *x)
{
    const uint64_t size = type_bytes(x->type);
    const uint64_t ld = (uint64_t)(x->rs == 1 ? x->cs : x->rs);
    const uint32_t by_ld = divisor(ld * size);
    const uint32_t by_stride = divisor((uint64_t)x->stride * size);
    return by_ld < by_stride ? by_ld : by_stride;
}

static bool aligned(const struct lt_algo *algo, const struct gemm_op *op, const uint32_t align[4])
{
    const struct operand *x[] = {&op->a, &op->b, &op->c, &op->d};
    for (int i = 0; i < 4; i++)
        if (align[i] % algo->align[i] != 0 || stride_alignment(x[i]) < algo->align[i])
            return false;
    return true;
}

static float waves(const struct gemm_op *op, int multiprocessors)
{
    const double tiles =
        (double)((op->m + 127) / 128) * (double)((op->n + 127) / 128) * (double)op->batch;
    return (float)(tiles / (multiprocessors > 0 ? multiprocessors : 1));
}

static uint64_t impl_flags(const struct lt_algo *algo)
{
    struct gemm_op op;
    if (!unit_of_types(algo->compute, algo->scale_type, algo->type[0], algo->type[1], algo->type[2],
                       algo->type[3], &op))
        return 0;
    const bool tensor = kind_of(algo->id)->tensor;
    uint64_t flags =
        tensor ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA;
    switch (op.unit) {
    case UNIT_F32:
        flags |= CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
        break;
    case UNIT_TF32:
        flags |= CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32;
        break;
    case UNIT_F16:
        flags |= CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F;
        break;
    case UNIT_BF16:
        flags |= CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;
        break;
    case UNIT_F64:
        return flags | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F |
               CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F;
    case UNIT_FP8:
        flags |= algo->type[0] == CUDA_R_8F_E5M2 ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2
                                                 : CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3;
        break;
    default:
        return CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I |
               CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I;
    }
    return flags |
           (algo->compute == CUBLAS_COMPUTE_16F || algo->compute == CUBLAS_COMPUTE_16F_PEDANTIC
                ? CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F
                : CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F);
}

static bool allowed(const struct lt_algo *algo, const struct gemm_op *op,
                    const struct lt_preference *p, size_t workspace, float wave)
{
    if (workspace > p->workspace || (p->waves > 0.0f && wave > p->waves))
        return false;
    const uint64_t flags = impl_flags(algo), mask = p->impl_mask;
    if ((flags & mask) != flags)
        return false;
    return algo->reduction == 0 || (algo->reduction & p->reduction_mask) != 0;
}

int lt_algorithms(const struct gemm_op *op, const struct lt_desc *desc, const uint32_t align[4],
                  const struct lt_preference *preference, int multiprocessors,
                  cublasLtMatmulHeuristicResult_t *results, int max)
{
    const int types[4] = {(int)op->a.type, (int)op->b.type, (int)op->c.type, (int)op->d.type};
    const float wave = waves(op, multiprocessors);
    const bool few_tiles = wave < 0.5f && op->k >= SPLIT_FROM_K && op->epilogue.kind == 0;
    int n = 0;
    /* a product with few tiles and a long sum gains from split-K, so that comes first there */
    for (int split = few_tiles; split >= 0 && n < max; split--)
        for (int i = 0; i < KINDS && n < max; i++) {
            if (!serves(&kinds[i], op->unit) || (split && !kinds[i].split_k))
                continue;
            struct lt_algo algo = make(&kinds[i], desc->compute, desc->scale_type, types);
            if (split) {
                algo.split_k = SPLIT;
                algo.reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
            }
            const size_t workspace = split_workspace(op, &algo);
            if (!aligned(&algo, op, align) || !allowed(&algo, op, preference, workspace, wave))
                continue;
            memset(&results[n], 0, sizeof results[n]);
            memcpy(&results[n].algo, &algo, sizeof algo);
            results[n].workspaceSize = workspace;
            results[n].state = CUBLAS_STATUS_SUCCESS;
            results[n].wavesCount = wave;
            n++;
        }
    return n;
}

cublasStatus_t lt_algo_check(const struct lt_algo *algo, const struct gemm_op *op,
                             const struct lt_desc *desc, size_t *workspace_p)
{
    const struct kind *kind = algo->magic == MAGIC ? kind_of(algo->id) : NULL;
    if (kind == NULL)
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLt", "not an algorithm");
    if (algo->compute != desc->compute || algo->scale_type != desc->scale_type ||
        algo->type[0] != (int)op->a.type || algo->type[1] != (int)op->b.type ||
        algo->type[2] != (int)op->c.type || algo->type[3] != (int)op->d.type)
        return gpu_refuse(CUBLAS_STATUS_INVALID_VALUE, "cublasLt",
                          "the algorithm was made for other types");
    if (!serves(kind, op->unit) || (algo->split_k > 1 && !kind->split_k) ||
        (algo->split_k > 1 && op->epilogue.kind != 0))
        return gpu_refuse(CUBLAS_STATUS_NOT_SUPPORTED, "cublasLt",
                          "the algorithm can't do this product");
    *workspace_p = split_workspace(op, algo);
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle,
                                                 cublasComputeType_t compute, cudaDataType_t scale,
                                                 cudaDataType_t a, cudaDataType_t b,
                                                 cudaDataType_t c, cudaDataType_t d, int max,
                                                 int ids[], int *n_p)
{
    ENTER("cublasLtMatmulAlgoGetIds", "%s", "");
    if (!gpu_valid(&handle->base))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (max <= 0 || ids == NULL || n_p == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct gemm_op op;
    *n_p = 0;
    if (!unit_of_types((int)compute, (int)scale, (int)a, (int)b, (int)c, (int)d, &op))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < KINDS && *n_p < max; i++)
        if (serves(&kinds[i], op.unit))
            ids[(*n_p)++] = kinds[i].id;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute,
                                               cudaDataType_t scale, cudaDataType_t a,
                                               cudaDataType_t b, cudaDataType_t c, cudaDataType_t d,
                                               int id, cublasLtMatmulAlgo_t *algo_p)
{
    ENTER("cublasLtMatmulAlgoInit", "%d", id);
    if (!gpu_valid(&handle->base))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const struct kind *kind = kind_of(id);
    if (algo_p == NULL || kind == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct gemm_op op;
    const int types[4] = {(int)a, (int)b, (int)c, (int)d};
    if (!unit_of_types((int)compute, (int)scale, (int)a, (int)b, (int)c, (int)d, &op) ||
        !serves(kind, op.unit))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    struct lt_algo algo = make(kind, (int)compute, (int)scale, types);
    algo.tile = CUBLASLT_MATMUL_TILE_UNDEFINED;
    algo.stages = CUBLASLT_MATMUL_STAGES_UNDEFINED;
    memset(algo_p, 0, sizeof *algo_p);
    memcpy(algo_p, &algo, sizeof algo);
    return CUBLAS_STATUS_SUCCESS;
}

#define CONFIG(_id, _field, _api, _read_only)                                                      \
    {                                                                                              \
        .id = CUBLASLT_ALGO_CONFIG_##_id, .offset = offsetof(struct lt_algo, _field),              \
        .width = sizeof(((struct lt_algo *)0)->_field), .api = _api, .read_only = _read_only       \
    }
static const struct attribute config_table[] = {
    CONFIG(ID, id, 4, true),
    CONFIG(TILE_ID, tile, 4, false),
    CONFIG(SPLITK_NUM, split_k, 4, false),
    CONFIG(REDUCTION_SCHEME, reduction, 4, false),
    CONFIG(CTA_SWIZZLING, swizzle, 4, false),
    CONFIG(CUSTOM_OPTION, custom, 4, false),
    CONFIG(STAGES_ID, stages, 4, false),
    CONFIG(INNER_SHAPE_ID, inner, 2, false),
    CONFIG(CLUSTER_SHAPE_ID, cluster, 2, false),
};
enum { CONFIGS = sizeof config_table / sizeof config_table[0] };
_Static_assert(sizeof(struct lt_algo) <= sizeof(cublasLtMatmulAlgo_t), "algorithm");

BLAS_API cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(
    cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, const void *buf,
    size_t bytes)
{
    ENTER("cublasLtMatmulAlgoConfigSetAttribute", "%d", (int)attr);
    return attribute_set(config_table, CONFIGS, algo, (int)attr, buf, bytes);
}

BLAS_API cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, void *buf,
    size_t bytes, size_t *written)
{
    ENTER("cublasLtMatmulAlgoConfigGetAttribute", "%d", (int)attr);
    return attribute_get(config_table, CONFIGS, algo, (int)attr, buf, bytes, written);
}

static cublasStatus_t give(uint64_t value, size_t width, void *buf, size_t bytes, size_t *written)
{
    if (bytes != 0 && bytes != width)
        return CUBLAS_STATUS_INVALID_VALUE;
    return attribute_copy(&value, width, buf, bytes, written); /* little endian */
}

static cublasStatus_t give_list(const uint16_t *list, void *buf, size_t bytes, size_t *written)
{
    uint32_t wide[3];
    size_t n = 1;
    wide[0] = list[0];
    while (n < 3 && list[n] != 0) {
        wide[n] = list[n];
        n++;
    }
    if (bytes != 0 && bytes < n * sizeof wide[0])
        n = bytes / sizeof wide[0];
    return attribute_copy(wide, n * sizeof wide[0], buf, bytes, written);
}

BLAS_API cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *opaque,
                                                          cublasLtMatmulAlgoCapAttributes_t attr,
                                                          void *buf, size_t bytes, size_t *written)
{
    ENTER("cublasLtMatmulAlgoCapGetAttribute", "%d", (int)attr);
    struct lt_algo algo;
    if (opaque == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&algo, opaque, sizeof algo);
    const struct kind *kind = algo.magic == MAGIC ? kind_of(algo.id) : NULL;
    if (kind == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    switch (attr) {
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
        return give(kind->split_k, 4, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
        return give(kind->split_k ? CUBLASLT_REDUCTION_SCHEME_MASK : 0, 4, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
    case CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT:
        return give(1, 4, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
    case CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT:
        return give(0, 4, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_TILE_IDS:
        return give_list(kind->tile, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_STAGES_IDS:
        return give_list(kind->stages, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
        return give(31, 4, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK:
        return give(1023, 4, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS:
        return give(impl_flags(&algo), 8, buf, bytes, written);
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES:
        return give(algo.align[attr - CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES], 4, buf, bytes,
                    written);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}
