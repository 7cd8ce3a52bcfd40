/* SPDX-License-Identifier: BSD-3-Clause
 * Matrices as strided views: which bytes they touch, and packing blocks of them. No state. */
#include "gemm.h"

#include <stdlib.h>

struct operand operand_of(const void *data, cudaDataType type, int64_t ld, int64_t stride,
                          cublasOperation_t op)
{
    return (struct operand){
        .data = data,
        .rs = op == CUBLAS_OP_N ? 1 : ld,
        .cs = op == CUBLAS_OP_N ? ld : 1,
        .stride = stride,
        .type = type,
        .conjugate = op == CUBLAS_OP_C && type_is_complex(type),
    };
}

size_t domain_bytes(enum domain domain)
{
    static const size_t bytes[] = {
        [DOMAIN_F32] = 4, [DOMAIN_F64] = 8, [DOMAIN_C32] = 8, [DOMAIN_C64] = 16, [DOMAIN_I32] = 4};
    return bytes[domain];
}

CUresult entry_data(const struct gpu *gpu, void *space, const struct operand *x, int64_t entry,
                    const char *who, char **data_p)
{
    if (!x->array) {
        *data_p = (char *)(uintptr_t)x->data + entry * x->stride * (int64_t)type_bytes(x->type);
        return CUDA_SUCCESS;
    }
    char *const *pointers = x->data;
    CUresult result = gpu->check(space, pointers + entry, sizeof *pointers, 0, who);
    if (result == CUDA_SUCCESS)
        *data_p = pointers[entry] + x->stride * (int64_t)type_bytes(x->type);
    return result;
}

CUresult view_check(const struct gpu *gpu, void *space, const struct operand *x, const void *data,
                    int64_t rows, int64_t cols, int write, int uplo, const char *who)
{
    const int64_t size = (int64_t)type_bytes(x->type);
    const size_t align = type_is_complex(x->type) ? (size_t)size / 2 : (size_t)size;
    if (rows == 0 || cols == 0)
        return CUDA_SUCCESS;
    if ((uintptr_t)data % align != 0)
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    const char *base = data;
    const bool by_rows = x->rs != 1;
    const int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    const int64_t step = by_rows ? x->rs : x->cs;
    const int64_t pitch = by_rows ? x->cs : x->rs;
    if (pitch == 1 && step == length && uplo == 0)
        return gpu->check(space, base, (size_t)(lines * length * size), write, who);
    const bool low = uplo != 0 && ((uplo == 'L') != by_rows); /* of line i: elements i.. */
    for (int64_t i = 0; i < lines; i++) {
        int64_t from = 0, to = length;
        if (uplo != 0 && low)
            from = i;
        else if (uplo != 0)
            to = i + 1 < length ? i + 1 : length;
        if (from >= to)
            continue;
        if (pitch == 1) {
            CUresult r = gpu->check(space, base + (i * step + from) * size,
                                    (size_t)((to - from) * size), write, who);
            if (r != CUDA_SUCCESS)
                return r;
            continue;
        }
        for (int64_t j = from; j < to; j++) {
            CUresult r =
                gpu->check(space, base + (i * step + j * pitch) * size, (size_t)size, write, who);
            if (r != CUDA_SUCCESS)
                return r;
        }
    }
    return CUDA_SUCCESS;
}

/* n elements in a row of memory, n parts for a real type and 2 n for a complex one */
static bool pack_line(const struct gemm_op *op, const struct operand *x, const char *from,
                      int64_t n, void *to)
{
    const cudaDataType part = type_of_part(x->type);
    const int64_t parts = type_is_complex(x->type) ? 2 * n : n;
    bool ok = true;
    if (op->domain == DOMAIN_F32 || op->domain == DOMAIN_C32) {
        float *y = to;
        ok = floats_of(y, from, part, parts);
        round_for_unit(y, op->unit, parts);
        if (x->conjugate)
            for (int64_t i = 1; i < parts; i += 2)
                y[i] = -y[i];
    } else if (op->domain == DOMAIN_I32) {
        const int8_t *s = (const int8_t *)from;
        int32_t *y = to;
        ok = part == CUDA_R_8I;
        for (int64_t i = 0; ok && i < parts; i++)
            y[i] = s[i];
    } else {
        double *y = to;
        ok = doubles_of(y, from, part, parts);
        if (x->conjugate)
            for (int64_t i = 1; i < parts; i += 2)
                y[i] = -y[i];
    }
    return ok;
}

bool view_pack(const struct gemm_op *op, const struct operand *x, const char *data, int64_t row,
               int64_t col, int64_t rows, int64_t cols, void *to, bool *transposed_p)
{
    const int64_t size = (int64_t)type_bytes(x->type), out = (int64_t)domain_bytes(op->domain);
    const bool by_rows = x->rs != 1;
    const int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    const int64_t step = by_rows ? x->rs : x->cs, pitch = by_rows ? x->cs : x->rs;
    const char *from = data + (row * x->rs + col * x->cs) * size;
    *transposed_p = by_rows;
    for (int64_t i = 0; i < lines; i++) {
        char *line = (char *)to + i * length * out;
        if (pitch == 1) {
            if (!pack_line(op, x, from + i * step * size, length, line))
                return false;
            continue;
        }
        for (int64_t j = 0; j < length; j++)
            if (!pack_line(op, x, from + (i * step + j * pitch) * size, 1, line + j * out))
                return false;
    }
    return true;
}
