// SPDX-License-Identifier: BSD-3-Clause
// Device variables by the address of their host twin.
#include "check.h"

#include <cstring>

__device__ int counter = 5;
static __device__ float table[64];
__constant__ float factors[4] = {1, 2, 3, 4};

__global__ void use(float *out)
{
    int i = threadIdx.x;
    out[i] = table[i] * factors[i % 4];
    if (i == 0)
        counter++;
}

static int get_counter()
{
    int value;
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    return value;
}

int main()
{
    float x[64], y[64], *out;
    CHECK(get_counter() == 5);
    for (int i = 0; i < 64; i++)
        x[i] = (float)i;
    OK(cudaMalloc(&out, sizeof x));
    OK(cudaMemcpyToSymbol(table, x, sizeof x));
    use<<<1, 64>>>(out);
    OK(cudaMemcpy(y, out, sizeof y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        CHECK(y[i] == (float)(i * (i % 4 + 1)));
    CHECK(get_counter() == 6);

    // a part of a variable, in stream order
    const float tens[2] = {10, 20};
    OK(cudaMemcpyToSymbolAsync(factors, tens, sizeof tens, 2 * sizeof(float),
                               cudaMemcpyHostToDevice, 0));
    float now[4];
    OK(cudaMemcpyFromSymbolAsync(now, factors, sizeof now, 0, cudaMemcpyDeviceToHost, 0));
    OK(cudaStreamSynchronize(0));
    CHECK(now[0] == 1 && now[1] == 2 && now[2] == 10 && now[3] == 20);

    // between variables and other memory of the device
    OK(cudaMemcpyToSymbol(table, out, sizeof x, 0, cudaMemcpyDeviceToDevice));
    std::memset(y, 0, sizeof y);
    OK(cudaMemcpyFromSymbol(y, table, 4 * sizeof(float), 60 * sizeof(float)));
    CHECK(y[3] == 63 * 4);

    void *p;
    size_t bytes;
    OK(cudaGetSymbolAddress(&p, table));
    OK(cudaGetSymbolSize(&bytes, table));
    CHECK(bytes == sizeof x);
    OK(cudaMemset(p, 0, bytes));
    OK(cudaMemcpyFromSymbol(y, table, sizeof y));
    CHECK(y[1] == 0 && y[63] == 0);

    EXPECT(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, x, sizeof x, 4));
    EXPECT(cudaErrorInvalidMemcpyDirection,
           cudaMemcpyToSymbol(table, x, sizeof x, 0, cudaMemcpyDeviceToHost));
    EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&p, (const void *)x));
    EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, (const void *)x));

    // a reset puts the variables back
    OK(cudaDeviceReset());
    CHECK(get_counter() == 5);
    return 0;
}
