// SPDX-License-Identifier: BSD-3-Clause
// The toolkit's mathematical functions, which nvcc writes out as PTX; half, bfloat16 and 8-bit
// floating point. check_math.c knows their results.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// One function a block row: y[row * n + i] = f(x[i]).
extern "C" __global__ void double_functions(int n, const double *x, double *y)
{
    int i = GLOBAL_INDEX;
    double v, r = 0;

    if (i >= n)
        return;
    v = x[i];
    switch (blockIdx.y) {
    case 0:
        r = exp(v);
        break;
    case 1:
        r = log(fabs(v));
        break;
    case 2:
        r = sin(v);
        break;
    case 3:
        r = cos(v);
        break;
    case 4:
        r = tan(v);
        break;
    case 5:
        r = erf(v);
        break;
    case 6:
        r = tanh(v);
        break;
    case 7:
        r = cbrt(v);
        break;
    case 8:
        r = pow(fabs(v), 1.7);
        break;
    case 9:
        r = atan2(v, 2.0);
        break;
    case 10:
        r = sqrt(fabs(v));
        break;
    case 11:
        r = 1.0 / v;
        break;
    case 12:
        r = fmod(v, 0.7);
        break;
    case 13:
        r = lgamma(fabs(v) + 0.5);
        break;
    case 14:
        r = floor(v) + ceil(v) * 2 + rint(v) * 4 + trunc(v) * 8;
        break;
    case 15:
        r = asin(v / 1000.0);
        break;
    }
    y[(long)blockIdx.y * n + i] = r;
}

extern "C" __global__ void float_functions(int n, const float *x, float *y)
{
    int i = GLOBAL_INDEX;
    float v, r = 0;

    if (i >= n)
        return;
    v = x[i];
    switch (blockIdx.y) {
    case 0:
        r = expf(v);
        break;
    case 1:
        r = logf(fabsf(v));
        break;
    case 2:
        r = sinf(v);
        break;
    case 3:
        r = cosf(v);
        break;
    case 4:
        r = tanf(v);
        break;
    case 5:
        r = erff(v);
        break;
    case 6:
        r = tanhf(v);
        break;
    case 7:
        r = cbrtf(v);
        break;
    case 8:
        r = powf(fabsf(v), 1.7f);
        break;
    case 9:
        r = atan2f(v, 2.0f);
        break;
    case 10:
        r = sqrtf(fabsf(v));
        break;
    case 11:
        r = 1.0f / v;
        break;
    case 12:
        r = fmodf(v, 0.7f);
        break;
    case 13:
        r = log1pf(fabsf(v));
        break;
    case 14:
        r = floorf(v) + ceilf(v) * 2 + rintf(v) * 4 + truncf(v) * 8;
        break;
    case 15:
        r = exp2f(v) + rsqrtf(fabsf(v)) + log10f(fabsf(v));
        break;
    }
    y[(long)blockIdx.y * n + i] = r;
}

extern "C" __global__ void fast_functions(int n, const float *x, float *y)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        y[i] = __expf(x[i] * 0.01f) + __sinf(x[i] * 0.01f) + __fdividef(1.0f, x[i]) +
               __logf(fabsf(x[i])) + __frcp_rn(x[i]) + __fsqrt_rz(fabsf(x[i])) + __saturatef(x[i]);
}

extern "C" __global__ void half_arithmetic(int n, const __half *a, const __half *b, __half *sum,
                                           __half *product, __half *fused, __half2 *pair,
                                           int *compare)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    sum[i] = __hadd_rn(a[i], b[i]);
    product[i] = __hmul_rn(a[i], b[i]);
    fused[i] = __hfma(a[i], b[i], a[i]);
    pair[i] =
        __hfma2(__halves2half2(a[i], b[i]), __halves2half2(b[i], a[i]), __float2half2_rn(0.5f));
    compare[i] =
        __hlt(a[i], b[i]) + 2 * __heq(a[i], b[i]) + 4 * __hisnan(a[i]) + 8 * __hgtu(a[i], b[i]);
}

extern "C" __global__ void half_conversions(int n, const float *x, __half *h, float *back,
                                            int *whole, __half *root)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    h[i] = __float2half_rn(x[i]);
    back[i] = __half2float(h[i]);
    whole[i] = __half2int_rn(h[i]) + __half2int_rz(h[i]);
    root[i] = __hadd_rn(__int2half_rn(i), __float2half_rz(x[i]));
}

extern "C" __global__ void bfloat_arithmetic(int n, const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                             __nv_bfloat16 *sum, __nv_bfloat16 *fused, float *wide)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    sum[i] = __hadd_rn(a[i], b[i]);
#if __CUDA_ARCH__ >= 800
    fused[i] = __hfma(a[i], b[i], a[i]);
#else
    fused[i] = __float2bfloat16_rn(
        fmaf(__bfloat162float(a[i]), __bfloat162float(b[i]), __bfloat162float(a[i])));
#endif
    wide[i] = __bfloat162float(a[i]) * __bfloat162float(b[i]);
}

extern "C" __global__ void fp8_conversions(int n, const float *x, unsigned char *e4m3,
                                           unsigned char *e5m2, __half *back)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    e4m3[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
    e5m2[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E5M2);
    back[i] = __half(__nv_cvt_fp8_to_halfraw(e4m3[i], __NV_E4M3));
}
