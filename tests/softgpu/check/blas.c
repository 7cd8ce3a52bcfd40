/* SPDX-License-Identifier: BSD-3-Clause
 * Shared parts of the checks of the cuBLAS stand-ins. Owns the handle and the random state. */
#include "blas.h"

#include "../driver/softgpu.h"

#include <math.h>
#include <stdio.h>

cublasHandle_t handle;
static uint64_t state = 88172645463325252u;

void blas_setup(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cublasCreate_v2(&handle));
}

void blas_teardown(void)
{
    OK(cublasDestroy_v2(handle));
}

uint64_t counter(const char *name)
{
    OK(cuCtxSynchronize());
    return softgpuCounter(name);
}

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

double uniform(void)
{
    return ((double)(next() >> 11) + 0.5) * 0x1p-52 - 1.0;
}

int64_t pick(int64_t from, int64_t to)
{
    return from + (int64_t)(next() % (uint64_t)(to - from + 1));
}

size_t size_of(cudaDataType type)
{
    switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_C_8I:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
        return 4;
    case CUDA_C_64F:
        return 16;
    default:
        return 8;
    }
}

bool complex_type(cudaDataType type)
{
    return type == CUDA_C_8I || type == CUDA_C_32F || type == CUDA_C_64F;
}

double round_bits(double x, int bits, int min_exponent, double largest)
{
    if (x == 0.0 || isnan(x) || isinf(x))
        return x;
    int exponent;
    frexp(x, &exponent);
    exponent = exponent - 1 < min_exponent ? min_exponent : exponent - 1;
    const double unit = ldexp(1.0, exponent - (bits - 1));
    const double y = rint(x / unit) * unit;
    return fabs(y) > largest ? copysign(INFINITY, x) : y;
}

double round_tf32(double x)
{
    if (x == 0.0 || isnan(x) || isinf(x))
        return x;
    int exponent;
    frexp(x, &exponent);
    exponent = exponent - 1 < -126 ? -126 : exponent - 1;
    const double unit = ldexp(1.0, exponent - 10);
    const double y = copysign(floor(fabs(x) / unit + 0.5), x) * unit;
    return fabs(y) > 3.4028234663852886e38 ? copysign(INFINITY, x) : y;
}

/* value of a binary format with sign, `e` exponent bits and `m` fraction bits */
static double decode_small(uint32_t x, int e, int m, bool has_inf)
{
    const uint32_t fraction = x & ((1u << m) - 1), exponent = x >> m & ((1u << e) - 1);
    const int bias = (1 << (e - 1)) - 1;
    const double sign = x >> (e + m) & 1 ? -1.0 : 1.0;
    if (has_inf && exponent == (1u << e) - 1)
        return fraction == 0 ? sign * INFINITY : NAN;
    if (!has_inf && (x & ((1u << (e + m)) - 1)) == (1u << (e + m)) - 1)
        return NAN;
    if (exponent == 0)
        return sign * ldexp((double)fraction, 1 - bias - m);
    return sign * ldexp((double)(fraction + (1u << m)), (int)exponent - bias - m);
}

static uint32_t encode_small(double x, int e, int m, double largest, bool saturate)
{
    const int bias = (1 << (e - 1)) - 1;
    const uint32_t sign = signbit(x) ? 1u << (e + m) : 0;
    if (isnan(x))
        return (1u << (e + m)) - 1;
    double a = fabs(round_bits(x, m + 1, 1 - bias, saturate ? INFINITY : largest));
    if (saturate && a > largest)
        a = largest;
    if (isinf(a))
        return sign | ((1u << e) - 1) << m;
    if (a == 0.0)
        return sign;
    int exponent;
    frexp(a, &exponent);
    exponent--;
    if (exponent < 1 - bias)
        return sign | (uint32_t)ldexp(a, bias - 1 + m);
    const uint32_t fraction = (uint32_t)(ldexp(a, m - exponent) - (double)(1u << m));
    return sign | (uint32_t)(exponent + bias) << m | fraction;
}

static double decode_part(cudaDataType type, const char *p)
{
    uint16_t h;
    float f;
    double d;
    int32_t w;
    switch (type) {
    case CUDA_R_8I:
    case CUDA_C_8I:
        return *(const int8_t *)p;
    case CUDA_R_8F_E4M3:
        return decode_small(*(const uint8_t *)p, 4, 3, false);
    case CUDA_R_8F_E5M2:
        return decode_small(*(const uint8_t *)p, 5, 2, true);
    case CUDA_R_16F:
        memcpy(&h, p, sizeof h);
        return decode_small(h, 5, 10, true);
    case CUDA_R_16BF:
        memcpy(&h, p, sizeof h);
        return decode_small(h, 8, 7, true);
    case CUDA_R_32F:
    case CUDA_C_32F:
        memcpy(&f, p, sizeof f);
        return (double)f;
    case CUDA_R_32I:
        memcpy(&w, p, sizeof w);
        return w;
    default:
        memcpy(&d, p, sizeof d);
        return d;
    }
}

static void encode_part(cudaDataType type, double x, char *p)
{
    const float f = (float)x;
    uint16_t h;
    const int32_t w = isnan(x) ? 0 : (int32_t)x;
    switch (type) {
    case CUDA_R_8I:
    case CUDA_C_8I:
        *p = (char)(int8_t)rint(x);
        break;
    case CUDA_R_8F_E4M3:
        *(uint8_t *)p = (uint8_t)encode_small(x, 4, 3, 448.0, true);
        break;
    case CUDA_R_8F_E5M2:
        *(uint8_t *)p = (uint8_t)encode_small(x, 5, 2, 57344.0, true);
        break;
    case CUDA_R_16F:
        h = (uint16_t)encode_small(x, 5, 10, 65504.0, false);
        memcpy(p, &h, sizeof h);
        break;
    case CUDA_R_16BF:
        h = (uint16_t)encode_small(x, 8, 7, 3.3895313892515355e38, false);
        memcpy(p, &h, sizeof h);
        break;
    case CUDA_R_32F:
    case CUDA_C_32F:
        memcpy(p, &f, sizeof f);
        break;
    case CUDA_R_32I:
        memcpy(p, &w, sizeof w);
        break;
    default:
        memcpy(p, &x, sizeof x);
    }
}

number decode(cudaDataType type, const void *from)
{
    const size_t part = size_of(type) / 2;
    if (!complex_type(type))
        return decode_part(type, from);
    return complex_of(decode_part(type, from), decode_part(type, (const char *)from + part));
}

void encode(cudaDataType type, number x, void *to)
{
    encode_part(type, creal(x), to);
    if (complex_type(type))
        encode_part(type, cimag(x), (char *)to + size_of(type) / 2);
}

static struct array array_alloc(cudaDataType type, int64_t n)
{
    struct array x = {.type = type, .n = n};
    const size_t bytes = (size_t)n * size_of(type);
    x.host = malloc(bytes + 16);
    ck_assert_ptr_nonnull(x.host);
    memset(x.host, 0xff, bytes + 16);
    OK(cuMemAlloc(&x.device, bytes == 0 ? 1 : bytes));
    return x;
}

struct array array_new(cudaDataType type, int64_t n)
{
    struct array x = array_alloc(type, n);
    const bool whole = type == CUDA_R_8I || type == CUDA_C_8I || type == CUDA_R_32I;
    for (int64_t i = 0; i < n; i++)
        array_set(&x, i,
                  whole ? complex_of((double)pick(-9, 9), (double)pick(-9, 9))
                        : complex_of(uniform(), uniform()));
    array_put(&x);
    return x;
}

struct array array_poison(cudaDataType type, int64_t n)
{
    struct array x = array_alloc(type, n);
    array_put(&x);
    return x;
}

void array_put(const struct array *x)
{
    if (x->n > 0)
        OK(cuMemcpyHtoD(x->device, x->host, (size_t)x->n * size_of(x->type)));
}

void array_get(struct array *x)
{
    OK(cuCtxSynchronize());
    if (x->n > 0)
        OK(cuMemcpyDtoH(x->host, x->device, (size_t)x->n * size_of(x->type)));
}

void array_free(struct array *x)
{
    OK(cuMemFree(x->device));
    free(x->host);
    x->host = NULL;
}

number array_at(const struct array *x, int64_t i)
{
    return decode(x->type, x->host + (size_t)i * size_of(x->type));
}

void array_set(struct array *x, int64_t i, number value)
{
    encode(x->type, value, x->host + (size_t)i * size_of(x->type));
}

void close_to(number got, number want, double bound, const char *what, int64_t i, int64_t j)
{
    const double error = fmax(fabs(creal(got) - creal(want)), fabs(cimag(got) - cimag(want)));
    if (!(error <= bound))
        ck_abort_msg("%s: element (%lld, %lld) is %.9g%+.9gi, should be %.9g%+.9gi within %.3g",
                     what, (long long)i, (long long)j, creal(got), cimag(got), creal(want),
                     cimag(want), bound);
}

int64_t at_op(cublasOperation_t op, int64_t i, int64_t j, int64_t ld)
{
    return op == CUBLAS_OP_N ? i + j * ld : j + i * ld;
}

number conj_op(cublasOperation_t op, number x)
{
    return op == CUBLAS_OP_C ? conj(x) : x;
}
