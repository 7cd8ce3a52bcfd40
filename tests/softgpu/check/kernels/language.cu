// SPDX-License-Identifier: BSD-3-Clause
// What C++ in kernels becomes: templates, calls through pointers, virtual calls, recursion, local
// arrays, module variables, printf, device memory. check_language.c knows their results.
#include <cassert>
#include <cstdint>
#include <cstdio>

#ifdef __clang__ // its attribute has no such name
#define __noinline__ __attribute__((noinline))
#endif

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

template <typename T, int K> __global__ void power(int n, const T *in, T *out)
{
    int i = GLOBAL_INDEX;
    T r = 1;

    if (i >= n)
        return;
    for (int k = 0; k < K; k++)
        r = (T)(r * in[i]);
    out[i] = r;
}

template __global__ void power<int, 3>(int, const int *, int *);
template __global__ void power<double, 4>(int, const double *, double *);
template __global__ void power<unsigned char, 2>(int, const unsigned char *, unsigned char *);

typedef int (*operation)(int, int);

__device__ __noinline__ int op_add(int a, int b)
{
    return a + b;
}

__device__ __noinline__ int op_sub(int a, int b)
{
    return a - b;
}

__device__ __noinline__ int op_mix(int a, int b)
{
    return a * 3 ^ b;
}

__device__ operation operations[3] = {op_add, op_sub, op_mix};

extern "C" __global__ void function_pointers(int n, const int *which, int *out)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        out[i] = operations[which[i]](i, 7);
}

struct shape {
    __device__ virtual float area() const = 0;
};

struct square : shape {
    float side;
    __device__ square(float s) : side(s)
    {
    }
    __device__ float area() const override
    {
        return side * side;
    }
};

struct circle : shape {
    float radius;
    __device__ circle(float r) : radius(r)
    {
    }
    __device__ float area() const override
    {
        return 3.0f * radius * radius;
    }
};

extern "C" __global__ void virtual_calls(int n, float *out)
{
    int i = GLOBAL_INDEX;
    square s((float)i);
    circle c((float)i);
    const shape *p = i % 3 ? (const shape *)&s : (const shape *)&c;

    if (i < n)
        out[i] = p->area();
}

__device__ __noinline__ long long fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int n, long long *out)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        out[i] = fibonacci(i % 15) * 1000 + ackermann(i % 3, i % 4);
}

// An array indexed by what is only known at run time: local memory.
extern "C" __global__ void local_arrays(int n, const int *in, int *out)
{
    int i = GLOBAL_INDEX, stack[24], top = 0, v;

    if (i >= n)
        return;
    for (v = in[i]; v > 0 && top < 24; v /= 3)
        stack[top++] = v % 3;
    v = 0;
    for (int k = 0; k < top; k++)
        v = v * 3 + stack[(k * 7 + i) % top];
    out[i] = v;
}

__constant__ short lookup[16] = {3, -1, 4, 1, -5, 9, 2, 6, 5, -3, 5, 8, 9, -7, 9, 32000};
__device__ int counter = 5;
__device__ double table[4] = {0.5, -1.25, 1e300, 3};
__constant__ float scale;
static __device__ const char *const words[2] = {"even", "odd"};

extern "C" __global__ void module_variables(int n, int *out, double *total)
{
    int i = GLOBAL_INDEX;

    if (i >= n)
        return;
    out[i] = lookup[i % 16] + (int)(scale * (float)i) + words[i % 2][1];
    atomicAdd(&counter, 1);
    if (i == 0)
        *total = table[0] + table[1] + table[3] + (table[2] > 1e299);
}

extern "C" __global__ void print_lines(int n)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        printf("thread %d of %u: %5.2f %s %c %lld %%\n", i, (unsigned)n, i * 0.25, words[i % 2],
               'a' + i, 1ll << (i * 13));
}

extern "C" __global__ void device_memory(int n, int **lists, int *sums)
{
    int i = GLOBAL_INDEX;
    int *p;

    if (i >= n)
        return;
    p = (int *)malloc((size_t)(i + 1) * sizeof *p);
    lists[i] = p;
    if (!p)
        return;
    for (int k = 0; k <= i; k++)
        p[k] = k * i;
    sums[i] = 0;
    for (int k = 0; k <= i; k++)
        sums[i] += p[k];
    if (i % 2)
        free(p);
}

extern "C" __global__ void fails_assert(int limit)
{
    int i = GLOBAL_INDEX;

    assert(i < limit);
}

extern "C" __global__ void traps(int at)
{
    if (GLOBAL_INDEX == (unsigned)at)
        __trap();
}

// A dense switch, which may become a jump table.
extern "C" __global__ void jump_table(int n, const int *in, int *out)
{
    int i = GLOBAL_INDEX, v;

    if (i >= n)
        return;
    v = in[i];
    switch (v % 12) {
    case 0:
        v += 17;
        break;
    case 1:
        v *= 3;
        break;
    case 2:
        v ^= 0x55;
        break;
    case 3:
        v = -v;
        break;
    case 4:
        v <<= 2;
        break;
    case 5:
        v >>= 1;
        break;
    case 6:
        v = v * v;
        break;
    case 7:
        v -= 1000;
        break;
    case 8:
        v |= 0x100;
        break;
    case 9:
        v &= 0xff;
        break;
    case 10:
        v = ~v;
        break;
    default:
        v = 1;
        break;
    }
    out[i] = v;
}

template <typename F> __device__ int apply(F f, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

extern "C" __global__ void lambdas(int n, int *out)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        out[i] = apply([i](int k) { return k % (i + 1); }, 20) +
                 apply([=](int k) { return k * n; }, i % 4);
}

struct matrix {
    double m[4][4];
};

// A structure by value through a call that is not inlined.
__device__ __noinline__ struct matrix multiply(struct matrix a, struct matrix b)
{
    struct matrix c;

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c.m[i][j] = 0;
            for (int k = 0; k < 4; k++)
                c.m[i][j] += a.m[i][k] * b.m[k][j];
        }
    return c;
}

extern "C" __global__ void struct_calls(int n, const struct matrix *a, struct matrix *out)
{
    int i = GLOBAL_INDEX;

    if (i < n)
        out[i] = multiply(a[i], multiply(a[i], a[(i + 1) % n]));
}
