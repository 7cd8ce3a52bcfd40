/* SPDX-License-Identifier: BSD-3-Clause
 * Numbers, vectors, scalars and results of the routines beside GEMM. No state. */
#include "vector.h"

#include <math.h>

struct z z_div(struct z x, struct z y)
{
    if (y.im == 0.0)
        return z_of(x.re / y.re, x.im / y.re);
    if (fabs(y.re) >= fabs(y.im)) { /* Smith's way: no overflow on the way */
        const double r = y.im / y.re, d = y.re + y.im * r;
        return z_of((x.re + x.im * r) / d, (x.im - x.re * r) / d);
    }
    const double r = y.re / y.im, d = y.re * r + y.im;
    return z_of((x.re * r + x.im) / d, (x.im * r - x.re) / d);
}

static double load_part(const void *from, cudaDataType part)
{
    double d = 0.0;
    float f;
    if (doubles_of(&d, from, part, 1))
        return d;
    return floats_of(&f, from, part, 1) ? (double)f : 0.0;
}

struct z z_load(const void *from, cudaDataType type)
{
    const cudaDataType part = type_of_part(type);
    if (!type_is_complex(type))
        return z_of(load_part(from, part), 0.0);
    return z_of(load_part(from, part), load_part((const char *)from + type_bytes(part), part));
}

static void store_part(void *to, cudaDataType part, double value)
{
    const float f = (float)value;
    if (!doubles_to(to, &value, part, 1))
        floats_to(to, &f, part, 1);
}

void z_store(void *to, cudaDataType type, struct z value)
{
    const cudaDataType part = type_of_part(type);
    store_part(to, part, value.re);
    if (type_is_complex(type))
        store_part((char *)to + type_bytes(part), part, value.im);
}

struct vector vector_of(const void *data, cudaDataType type, int64_t inc)
{
    return (struct vector){.data = (void *)(uintptr_t)data, .type = type, .inc = inc};
}

char *vector_at(const struct vector *x, int64_t n, int64_t i)
{
    const int64_t at = x->inc >= 0 ? i * x->inc : (i + 1 - n) * x->inc;
    return (char *)x->data + at * (int64_t)type_bytes(x->type);
}

CUresult vector_check(const struct gpu *gpu, void *space, const struct vector *x, int64_t n,
                      int write, const char *who)
{
    const size_t size = type_bytes(x->type);
    const size_t align = type_is_complex(x->type) ? size / 2 : size;
    if (n <= 0)
        return CUDA_SUCCESS;
    if ((uintptr_t)x->data % align != 0)
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    if (x->inc == 1 || x->inc == -1)
        return gpu->check(space, x->data, (size_t)n * size, write, who);
    for (int64_t i = 0; i < n; i++) {
        CUresult result = gpu->check(space, vector_at(x, n, i), size, write, who);
        if (result != CUDA_SUCCESS || x->inc == 0)
            return result;
    }
    return CUDA_SUCCESS;
}

void vector_load(const struct vector *x, int64_t n, int64_t i, int64_t count, struct z *to)
{
    const bool single = x->inc == 1 && x->type == CUDA_R_32F;
    const float *f = (const float *)x->data + i;
    for (int64_t j = 0; j < count; j++)
        to[j] = single ? z_of((double)f[j], 0.0) : z_load(vector_at(x, n, i + j), x->type);
}

void vector_store(const struct vector *x, int64_t n, int64_t i, int64_t count, const struct z *from)
{
    for (int64_t j = 0; j < count; j++)
        z_store(vector_at(x, n, i + j), x->type, from[j]);
}

CUresult scalar_read(const struct gpu *gpu, void *space, const struct scalar *s, const char *who,
                     struct z *value)
{
    if (s->place == PLACE_DEVICE) {
        CUresult result = gpu->check(space, s->device, type_bytes(s->type), 0, who);
        if (result != CUDA_SUCCESS)
            return result;
    }
    *value = z_load(s->place == PLACE_DEVICE ? s->device : s->host, s->type);
    return CUDA_SUCCESS;
}

CUresult result_write(const struct gpu *gpu, void *space, const struct result *r, struct z value,
                      const char *who)
{
    const size_t size = r->type == CUDA_R_64I ? sizeof(int64_t) : type_bytes(r->type);
    if (r->device) {
        CUresult result = gpu->check(space, r->to, size, 1, who);
        if (result != CUDA_SUCCESS)
            return result;
    }
    const int64_t wide = (int64_t)value.re;
    const int32_t narrow = (int32_t)value.re;
    if (r->type == CUDA_R_64I)
        memcpy(r->to, &wide, sizeof wide);
    else if (r->type == CUDA_R_32I)
        memcpy(r->to, &narrow, sizeof narrow);
    else
        z_store(r->to, r->type, value);
    return CUDA_SUCCESS;
}

cublasStatus_t work_enqueue(cublasHandle_t handle, const char *who,
                            CUresult (*fn)(void *arg, void *space), const void *arg, size_t bytes,
                            uint64_t touched, uint64_t flop, cudaDataType type)
{
    const bool wide = type == CUDA_R_64F || type == CUDA_C_64F;
    const struct softgpu_cost cost = {
        .bytes = touched, .flop = flop, .type = wide ? SOFTGPU_F64 : SOFTGPU_F32};
    return gpu_status(gpu_get()->enqueue(handle->stream, who, fn, arg, bytes, &cost));
}

cublasStatus_t work_wait(cublasHandle_t handle, cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS || handle->pointer_mode != CUBLAS_POINTER_MODE_HOST)
        return status;
    return gpu_status(gpu_get()->stream_synchronize(handle->stream));
}
