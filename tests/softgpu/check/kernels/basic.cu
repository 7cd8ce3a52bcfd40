// SPDX-License-Identifier: BSD-3-Clause
// Elementwise kernels: floats, integers of all widths, bits, bytes, structures, vector types, loops
// whose length differs from lane to lane. check_basic.c knows their results.
#include <cstdint>

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void grid_stride(long n, double a, double b, const double *x, double *y)
{
    for (long i = GLOBAL_INDEX; i < n; i += (long)gridDim.x * blockDim.x)
        y[i] = __dadd_rn(__dmul_rn(a, x[i]), b);
}

// Quotients by variables and by constants.
extern "C" __global__ void int_division(int n, const int *a, const int *b, int *q, int *r,
                                        unsigned *by7)
{
    int i = GLOBAL_INDEX;

    if (i >= n || b[i] == 0)
        return;
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
    by7[i] = (unsigned)a[i] / 7 + (unsigned)(a[i] % 10);
}

extern "C" __global__ void long_arithmetic(int n, const long long *a, const long long *b,
                                           long long *out)
{
    int i = GLOBAL_INDEX;
    unsigned long long u, v;

    if (i >= n)
        return;
    u = (unsigned long long)a[i];
    v = (unsigned long long)b[i] | 1;
    out[4 * i] = (long long)(u * v + (u >> 7) - (v << 3));
    out[4 * i + 1] = (long long)(u / v ^ u % v);
    out[4 * i + 2] = (long long)__umul64hi(u, v);
    out[4 * i + 3] = __mul64hi(a[i], b[i]) + (a[i] < b[i] ? a[i] : b[i]);
}

extern "C" __global__ void bit_tricks(int n, const unsigned *x, unsigned *out)
{
    int i = GLOBAL_INDEX;
    unsigned v;

    if (i >= n)
        return;
    v = x[i];
    out[8 * i] = __popc(v);
    out[8 * i + 1] = __clz(v);
    out[8 * i + 2] = __brev(v);
    out[8 * i + 3] = __ffs(v);
    out[8 * i + 4] = __byte_perm(v, ~v, 0x5140);
    out[8 * i + 5] = __funnelshift_l(v, v * 3, i);
    out[8 * i + 6] = (v >> (i & 31)) & ((1u << (i & 15)) - 1);
    out[8 * i + 7] = __popcll((unsigned long long)v * 0x100000001ull) + __clzll(v) + __ffsll(v) +
                     __sad((int)v, i, 7u);
}

extern "C" __global__ void xorshift(int n, int rounds, unsigned *state)
{
    int i = GLOBAL_INDEX;
    unsigned x;

    if (i >= n)
        return;
    x = state[i];
    for (int k = 0; k < rounds; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    state[i] = x;
}

extern "C" __global__ void mandelbrot(int width, int height, int limit, int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k;
    float cr, ci, zr = 0, zi = 0;

    if (x >= width || y >= height)
        return;
    cr = __fadd_rn(__fmul_rn(__fdiv_rn((float)x, (float)width), 3.0f), -2.0f);
    ci = __fadd_rn(__fmul_rn(__fdiv_rn((float)y, (float)height), 2.0f), -1.0f);
    for (k = 0; k < limit; k++) {
        float r2 = __fmul_rn(zr, zr), i2 = __fmul_rn(zi, zi);

        if (__fadd_rn(r2, i2) > 4.0f)
            break;
        zi = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, zr), zi), ci);
        zr = __fadd_rn(__fsub_rn(r2, i2), cr);
    }
    out[y * width + x] = k;
}

extern "C" __global__ void collatz(int n, int *steps)
{
    int i = GLOBAL_INDEX, k = 0;
    long v = i + 1;

    if (i >= n)
        return;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        k++;
    }
    steps[i] = k;
}

struct particle {
    double mass;
    char tag;
    float position[3];
    short charge;
    unsigned long long id;
};

extern "C" __global__ void struct_parameter(int n, struct particle p, struct particle *out)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    p.mass += i;
    p.tag = (char)(p.tag + i % 5);
    for (int k = 0; k < 3; k++)
        p.position[k] *= (float)(i + k);
    p.charge = (short)(p.charge - i);
    p.id ^= (unsigned long long)i << 40;
    out[i] = p;
}

extern "C" __global__ void vector_types(int n, const float4 *a, const int2 *b, float4 *out,
                                        uchar4 *bytes)
{
    int i = GLOBAL_INDEX;
    float4 v;
    int2 w;

    if (i >= n)
        return;
    v = a[i];
    w = __ldg(&b[i]);
    out[i] = make_float4(v.w, v.x + (float)w.x, v.y * 2.0f, v.z - (float)w.y);
    bytes[i] = make_uchar4((unsigned char)w.x, (unsigned char)w.y, (unsigned char)(w.x >> 8), 255);
}

extern "C" __global__ void narrow_types(int n, const signed char *a, const unsigned char *b,
                                        short *c, unsigned short *d, signed char *e)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    c[i] = (short)(a[i] * b[i] - c[i]);
    d[i] = (unsigned short)(d[i] * 257u + b[i]);
    e[i] = (signed char)((a[i] << 1 | b[i] >> 7) / 3);
}

extern "C" __global__ void upper_case(int n, char *text, int *vowels)
{
    int i = GLOBAL_INDEX;
    char c;

    if (i >= n)
        return;
    c = text[i];
    if (c >= 'a' && c <= 'z')
        c = (char)(c - 'a' + 'A');
    text[i] = c;
    switch (c) {
    case 'A':
    case 'E':
    case 'I':
    case 'O':
    case 'U':
        atomicAdd(vowels, 1);
        break;
    default:
        break;
    }
}

// Every index of a three-dimensional launch, once.
extern "C" __global__ void indices(int *out, int *dimensions)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;

    out[(z * height + y) * width + x] += (x << 20) + (y << 10) + z;
    if (x == 0 && y == 0 && z == 0) {
        dimensions[0] = gridDim.x * 1000000 + gridDim.y * 1000 + gridDim.z;
        dimensions[1] = blockDim.x * 1000000 + blockDim.y * 1000 + blockDim.z;
        dimensions[2] = warpSize;
    }
}

// More blocks than any pool has threads, each with one small job.
extern "C" __global__ void big_grid(unsigned *marks)
{
    if (threadIdx.x == 0)
        marks[blockIdx.x] = blockIdx.x * 2654435761u;
}

extern "C" __global__ void conversions(int n, const float *x, const double *d, int *i32,
                                       unsigned *u32, long long *i64, float *f, unsigned char *u8)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    i32[i] =
        (int)x[i] + __float2int_rn(x[i]) * 3 + __float2int_ru(x[i]) * 5 + __float2int_rd(x[i]) * 7;
    u32[i] = (unsigned)fabsf(x[i]);
    i64[i] = (long long)d[i] + __double2ll_rn(d[i]);
    f[i] = (float)d[i] + rintf(x[i]) + floorf(x[i]) + truncf(x[i]);
    u8[i] = (unsigned char)fminf(fmaxf(x[i], 0.0f), 255.0f);
}
