/* SPDX-License-Identifier: BSD-3-Clause
 * Runs matrix products when their turn on the stream comes: checks what they touch, then computes D
 * tile by tile. Owns the tiles' memory for the time of one product. */
#include "gemm.h"

#include <stdio.h>
#include <stdlib.h>

/* A tile is at most TILE x TILE; sums over more than K_CHUNK products are made in pieces, so that
 * every size fits the 32-bit interface of OpenBLAS and the packed blocks stay small. */
enum { TILE = 1024, K_CHUNK = 1 << 15 };

static const char *const unit_names[UNITS] = {
    [UNIT_F32] = "f32", [UNIT_TF32] = "tf32", [UNIT_F16] = "f16", [UNIT_BF16] = "bf16",
    [UNIT_F64] = "f64", [UNIT_FP8] = "fp8",   [UNIT_I8] = "i8",
};

int tf32_override(void)
{
    const char *value = getenv("NVIDIA_TF32_OVERRIDE");
    return value == NULL || *value == '\0' ? -1 : *value != '0';
}

cudaDataType scale_type_of(cublasComputeType_t compute, cudaDataType c)
{
    const bool is_complex = type_is_complex(c);
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return is_complex ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return CUDA_R_32I;
    default:
        return is_complex ? CUDA_C_32F : CUDA_R_32F;
    }
}

void scalar_host(struct scalar *s, const void *value, cudaDataType type)
{
    s->place = PLACE_HOST;
    s->type = type;
    memcpy(s->host, value, type_bytes(type));
}

static enum unit unit_of_f32(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_16F:
        return UNIT_F16;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
        return UNIT_BF16;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        return tf32_override() == 0 ? UNIT_F32 : UNIT_TF32;
    case CUBLAS_COMPUTE_32F:
        return tf32_override() == 1 ? UNIT_TF32 : UNIT_F32;
    default:
        return UNIT_F32; /* pedantic; BF16x9 is native where the device lacks it */
    }
}

static bool is_fp8(cudaDataType type)
{
    return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

bool gemm_arithmetic(struct gemm_op *op, cublasComputeType_t compute)
{
    const cudaDataType a = op->a.type, b = op->b.type;
    const bool same =
        a == b || (is_fp8(a) && is_fp8(b) && !(a == CUDA_R_8F_E5M2 && b == CUDA_R_8F_E5M2));
    if (!same || type_is_complex(a) != type_is_complex(op->d.type))
        return false;
    switch (a) {
    case CUDA_R_64F:
    case CUDA_C_64F:
        op->unit = UNIT_F64;
        op->domain = a == CUDA_R_64F ? DOMAIN_F64 : DOMAIN_C64;
        return true;
    case CUDA_R_32F:
    case CUDA_C_32F:
        op->unit = unit_of_f32(compute);
        break;
    case CUDA_R_16F:
    case CUDA_C_16F:
        op->unit = UNIT_F16;
        break;
    case CUDA_R_16BF:
    case CUDA_C_16BF:
        op->unit = UNIT_BF16;
        break;
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
        op->unit = UNIT_FP8;
        break;
    case CUDA_R_8I:
    case CUDA_C_8I:
        op->unit = UNIT_I8;
        break;
    default:
        return false;
    }
    op->domain = type_is_complex(a) ? DOMAIN_C32 : DOMAIN_F32;
    if (compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC)
        op->domain = DOMAIN_I32;
    return true;
}

static void read_scalar(const void *from, cudaDataType type, double to[2])
{
    float f[2] = {0.0f, 0.0f};
    const cudaDataType part = type_of_part(type);
    const int64_t parts = type_is_complex(type) ? 2 : 1;
    to[0] = to[1] = 0.0;
    if (part == CUDA_R_64F || part == CUDA_R_32I) {
        doubles_of(to, from, part, parts);
        return;
    }
    floats_of(f, from, part, parts);
    to[0] = (double)f[0];
    to[1] = (double)f[1];
}

static CUresult resolve_scalar(const struct gemm_op *op, const struct gpu *gpu, void *space,
                               const struct scalar *s, int64_t entry, double to[2],
                               const void **vector_p)
{
    const size_t size = type_bytes(s->type);
    const char *at = (const char *)s->host;
    *vector_p = NULL;
    to[0] = to[1] = 0.0;
    if (s->place != PLACE_HOST) {
        at = (const char *)s->device + entry * s->stride * (int64_t)size;
        const size_t bytes = s->place == PLACE_VECTOR ? (size_t)op->m * size : size;
        CUresult result = gpu->check(space, at, bytes, 0, op->who);
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (s->place == PLACE_VECTOR)
        *vector_p = at;
    else
        read_scalar(at, s->type, to);
    if (s->conjugate)
        to[1] = -to[1];
    return CUDA_SUCCESS;
}

static bool is_zero(const double x[2])
{
    return x[0] == 0.0 && x[1] == 0.0;
}

static CUresult read_scale(const struct gpu *gpu, void *space, const float *p, const char *who,
                           float *product)
{
    if (p == NULL)
        return CUDA_SUCCESS;
    CUresult result = gpu->check(space, p, sizeof *p, 0, who);
    if (result == CUDA_SUCCESS)
        *product *= *p;
    return result;
}

static CUresult resolve(const struct gemm_op *op, const struct gpu *gpu, void *space, int64_t entry,
                        struct resolved *s)
{
    const struct epilogue *e = &op->epilogue;
    *s = (struct resolved){.scale = 1, .c_scale = 1, .d_scale = 1, .aux_scale = 1};
    CUresult result = resolve_scalar(op, gpu, space, &op->alpha, entry, s->alpha, &s->alpha_vector);
    if (result == CUDA_SUCCESS)
        result = resolve_scalar(op, gpu, space, &op->beta, entry, s->beta, &s->beta_vector);
    s->product = op->k > 0 && (s->alpha_vector != NULL || !is_zero(s->alpha));
    s->reads_c = s->beta_vector != NULL || !is_zero(s->beta);
    if (result == CUDA_SUCCESS && e->a_mode == SCALE_TENSOR)
        result = read_scale(gpu, space, e->a_scale, op->who, &s->scale);
    if (result == CUDA_SUCCESS && e->b_mode == SCALE_TENSOR)
        result = read_scale(gpu, space, e->b_scale, op->who, &s->scale);
    if (result == CUDA_SUCCESS && e->a_mode == SCALE_OUTER) {
        s->row_scale = e->a_scale;
        result = gpu->check(space, e->a_scale, (size_t)op->m * sizeof(float), 0, op->who);
    }
    if (result == CUDA_SUCCESS && e->b_mode == SCALE_OUTER) {
        s->col_scale = e->b_scale;
        result = gpu->check(space, e->b_scale, (size_t)op->n * sizeof(float), 0, op->who);
    }
    if (result == CUDA_SUCCESS)
        result = read_scale(gpu, space, e->c_scale, op->who, &s->c_scale);
    if (result == CUDA_SUCCESS)
        result = read_scale(gpu, space, e->d_scale, op->who, &s->d_scale);
    if (result == CUDA_SUCCESS)
        result = read_scale(gpu, space, e->aux_scale, op->who, &s->aux_scale);
    return result;
}

static CUresult check_epilogue(const struct gemm_op *op, const struct gpu *gpu, void *space,
                               int64_t entry)
{
    const struct epilogue *e = &op->epilogue;
    CUresult result = CUDA_SUCCESS;
    if (e->bias != NULL) {
        const int64_t size = (int64_t)type_bytes(e->bias_type);
        const int64_t length = e->kind == 512 /* BGRADB */ ? op->n : op->m;
        result = gpu->check(space, (char *)e->bias + entry * e->bias_stride * size,
                            (size_t)(length * size), (e->kind & 0x310) != 0, op->who);
    }
    if (result == CUDA_SUCCESS && e->aux != NULL) {
        const bool mask = (e->kind & (2 | 8)) != 0;
        const int64_t size = (int64_t)type_bytes(e->aux_type);
        const bool writes = (e->kind & (8 | 64)) == 0;
        const int64_t line = mask ? (op->m + 7) / 8 : op->m * size;
        const int64_t pitch = mask ? e->aux_ld / 8 : e->aux_ld * size;
        const int64_t skip = mask ? e->aux_stride / 8 : e->aux_stride * size;
        for (int64_t j = 0; j < op->n && result == CUDA_SUCCESS; j++)
            result = gpu->check(space, (char *)e->aux + entry * skip + j * pitch, (size_t)line,
                                writes, op->who);
    }
    if (result == CUDA_SUCCESS && e->d_amax != NULL)
        result = gpu->check(space, e->d_amax, sizeof(float), 1, op->who);
    if (result == CUDA_SUCCESS && e->aux_amax != NULL)
        result = gpu->check(space, e->aux_amax, sizeof(float), 1, op->who);
    return result;
}

struct buffers {
    void *a, *b, *sum;
    double *row_sums, d_amax, aux_amax;
};

static bool outside(int uplo, const struct tile *t)
{
    return (uplo == 'L' && t->row + t->rows <= t->col) ||
           (uplo == 'U' && t->col + t->cols <= t->row);
}

static bool make_tile(const struct gemm_op *op, const struct resolved *s, struct tile *t,
                      const char *a, const char *b, struct buffers *work)
{
    bool ta, tb;
    for (int64_t p = 0; s->product && p < op->k; p += K_CHUNK) {
        const int64_t k = op->k - p < K_CHUNK ? op->k - p : K_CHUNK;
        if (!view_pack(op, &op->a, a, t->row, p, t->rows, k, work->a, &ta) ||
            !view_pack(op, &op->b, b, p, t->col, k, t->cols, work->b, &tb))
            return false;
        product_add(op, work->a, ta, work->b, tb, t->rows, t->cols, k, work->sum, p == 0);
    }
    t->sum = work->sum;
    t->row_sums = work->row_sums;
    t->d_amax = &work->d_amax;
    t->aux_amax = &work->aux_amax;
    return true;
}

/* BGRADA, BGRADB: sums of op(A) or op(B) over k, in double. */
static void bias_gradient(const struct gemm_op *op, const char *data, bool of_a, void *bias)
{
    const struct operand *x = of_a ? &op->a : &op->b;
    const int64_t size = (int64_t)type_bytes(x->type), length = of_a ? op->m : op->n;
    const int64_t along = of_a ? x->rs : x->cs, over = of_a ? x->cs : x->rs;
    const int64_t out = (int64_t)type_bytes(op->epilogue.bias_type);
    for (int64_t i = 0; i < length; i++) {
        double sum = 0.0, v;
        for (int64_t p = 0; p < op->k; p++) {
            doubles_of(&v, data + (i * along + p * over) * size, x->type, 1);
            sum += v;
        }
        doubles_to((char *)bias + i * out, &sum, op->epilogue.bias_type, 1);
    }
}

static CUresult run_entry(const struct gemm_op *op, const struct gpu *gpu, void *space,
                          int64_t entry, struct buffers *work)
{
    struct resolved s;
    char *a = NULL, *b = NULL, *c = NULL, *d = NULL;
    const char *who = op->who;
    CUresult result = resolve(op, gpu, space, entry, &s);
    const bool reads_ab = s.product || (op->epilogue.kind & 0x300) != 0;
    if (result == CUDA_SUCCESS && reads_ab)
        result = entry_data(gpu, space, &op->a, entry, who, &a);
    if (result == CUDA_SUCCESS && reads_ab)
        result = entry_data(gpu, space, &op->b, entry, who, &b);
    if (result == CUDA_SUCCESS)
        result = entry_data(gpu, space, &op->d, entry, who, &d);
    if (result == CUDA_SUCCESS && s.reads_c)
        result = entry_data(gpu, space, &op->c, entry, who, &c);
    if (result == CUDA_SUCCESS && reads_ab)
        result = view_check(gpu, space, &op->a, a, op->m, op->k, 0, 0, who);
    if (result == CUDA_SUCCESS && reads_ab)
        result = view_check(gpu, space, &op->b, b, op->k, op->n, 0, 0, who);
    if (result == CUDA_SUCCESS && s.reads_c)
        result = view_check(gpu, space, &op->c, c, op->m, op->n, 0, op->uplo, who);
    if (result == CUDA_SUCCESS)
        result = view_check(gpu, space, &op->d, d, op->m, op->n, 1, op->uplo, who);
    if (result == CUDA_SUCCESS)
        result = check_epilogue(op, gpu, space, entry);
    if (result != CUDA_SUCCESS)
        return result;

    struct tile t = {.entry = entry};
    for (t.col = 0; t.col < op->n; t.col += TILE)
        for (t.row = 0; t.row < op->m; t.row += TILE) {
            t.rows = op->m - t.row < TILE ? op->m - t.row : TILE;
            t.cols = op->n - t.col < TILE ? op->n - t.col : TILE;
            if (outside(op->uplo, &t))
                continue;
            if (!make_tile(op, &s, &t, a, b, work))
                return CUDA_ERROR_INVALID_VALUE;
            tile_finish(op, &s, &t, c, d);
        }
    const struct epilogue *e = &op->epilogue;
    const int64_t size = (int64_t)type_bytes(e->bias_type);
    char *bias = e->bias == NULL ? NULL : (char *)e->bias + entry * e->bias_stride * size;
    if (work->row_sums != NULL) {
        doubles_to(bias, work->row_sums, e->bias_type, op->m);
        memset(work->row_sums, 0, (size_t)op->m * sizeof *work->row_sums);
    }
    if (e->kind == 256 || e->kind == 512)
        bias_gradient(op, e->kind == 256 ? a : b, e->kind == 256, bias);
    return CUDA_SUCCESS;
}

static CUresult run_op(const struct gemm_op *op, const struct gpu *gpu, void *space)
{
    const size_t size = domain_bytes(op->domain);
    const size_t m = (size_t)(op->m < TILE ? op->m : TILE),
                 n = (size_t)(op->n < TILE ? op->n : TILE);
    const size_t k = (size_t)(op->k < K_CHUNK ? op->k : K_CHUNK);
    const bool sums = (op->epilogue.kind & 16) != 0;
    struct buffers work = {.a = malloc(m * k * size + 1),
                           .b = malloc(n * k * size + 1),
                           .sum = calloc(m * n + 1, size),
                           .row_sums = sums ? calloc((size_t)op->m + 1, sizeof(double)) : NULL};
    CUresult result = CUDA_SUCCESS;
    if (work.a == NULL || work.b == NULL || work.sum == NULL || (sums && work.row_sums == NULL))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS && op->workspace_bytes > 0) {
        result = gpu->check(space, op->workspace, op->workspace_bytes, 1, op->who);
        if (result == CUDA_SUCCESS)
            memset(op->workspace, 0xff, op->workspace_bytes);
    }
    for (int64_t i = 0; i < op->batch && result == CUDA_SUCCESS; i++)
        result = run_entry(op, gpu, space, i, &work);
    if (result == CUDA_SUCCESS && op->epilogue.d_amax != NULL)
        *op->epilogue.d_amax = (float)work.d_amax;
    if (result == CUDA_SUCCESS && op->epilogue.aux_amax != NULL)
        *op->epilogue.aux_amax = (float)work.aux_amax;
    free(work.a);
    free(work.b);
    free(work.sum);
    free(work.row_sums);
    return result;
}

static void add_cost(const struct gemm_op *op, struct softgpu_cost *cost)
{
    static const enum softgpu_type types[UNITS] = {
        [UNIT_F32] = SOFTGPU_F32,   [UNIT_TF32] = SOFTGPU_TF32, [UNIT_F16] = SOFTGPU_F16,
        [UNIT_BF16] = SOFTGPU_BF16, [UNIT_F64] = SOFTGPU_F64,   [UNIT_FP8] = SOFTGPU_FP8,
        [UNIT_I8] = SOFTGPU_I8,
    };
    const uint64_t m = (uint64_t)op->m, n = (uint64_t)op->n, k = (uint64_t)op->k;
    const uint64_t batch = (uint64_t)op->batch;
    const bool beta = op->beta.place != PLACE_HOST || op->beta.host[0] != 0 ||
                      memcmp(op->beta.host, op->beta.host + 1, sizeof op->beta.host - 1) != 0;
    const uint64_t a_batch = op->a.stride == 0 && !op->a.array ? 1 : batch;
    const uint64_t b_batch = op->b.stride == 0 && !op->b.array ? 1 : batch;
    cost->bytes += m * k * type_bytes(op->a.type) * a_batch +
                   k * n * type_bytes(op->b.type) * b_batch +
                   m * n * batch * (type_bytes(op->d.type) + (beta ? type_bytes(op->c.type) : 0));
    cost->flop +=
        2 * m * n * k * batch * (type_is_complex(op->a.type) ? 4 : 1) / (op->uplo ? 2 : 1);
    cost->type = types[op->unit];
}

struct enqueued {
    int n;
    struct gemm_op op[];
};

static CUresult run(void *arg, void *space)
{
    const struct enqueued *all = arg;
    const struct gpu *gpu = gpu_get();
    const struct gemm_op *first = &all->op[0];
    CUresult result = CUDA_SUCCESS;
    char key[48];
    uint64_t entries = 0;
    struct softgpu_cost cost = {0};
    for (int i = 0; i < all->n && result == CUDA_SUCCESS; i++) {
        result = run_op(&all->op[i], gpu, space);
        entries += (uint64_t)all->op[i].batch;
        add_cost(&all->op[i], &cost);
    }
    const char *name = unit_names[first->unit];
    const bool is_complex = first->domain == DOMAIN_C32 || first->domain == DOMAIN_C64;
    if (is_complex && first->unit == UNIT_F32)
        name = "c32";
    else if (is_complex && first->unit == UNIT_F64)
        name = "c64";
    snprintf(key, sizeof key, "%s.%s%s", first->family == NULL ? "gemm" : first->family,
             is_complex && first->unit == UNIT_TF32 ? "c" : "", name);
    gpu->count(key, 1);
    char *const end = key + strlen(key);
    const size_t room = sizeof key - strlen(key);
    snprintf(end, room, ".entries");
    gpu->count(key, entries);
    snprintf(end, room, ".flop");
    gpu->count(key, cost.flop);
    snprintf(end, room, ".bytes");
    gpu->count(key, cost.bytes);
    return result;
}

cublasStatus_t gemm_enqueue(CUstream stream, const struct gemm_op *op, int n)
{
    const size_t bytes = sizeof(struct enqueued) + (size_t)n * sizeof *op;
    struct enqueued *all = malloc(bytes);
    if (all == NULL)
        return CUBLAS_STATUS_ALLOC_FAILED;
    all->n = n;
    memcpy(all->op, op, (size_t)n * sizeof *op);
    struct softgpu_cost cost = {0};
    for (int i = 0; i < n; i++)
        add_cost(&op[i], &cost);
    CUresult result = gpu_get()->enqueue(stream, op[0].who, run, all, bytes, &cost);
    free(all);
    return gpu_status(result);
}
