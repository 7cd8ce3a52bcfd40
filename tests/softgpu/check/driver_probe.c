/* SPDX-License-Identifier: BSD-3-Clause
 * A small program for driver_env.sh: does what its arguments say on the software GPU and prints one
 * line for each driver call that fails. Exit status 0 unless it cannot go on. */
#include "config.h"

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry axpy(.param .u64 y, .param .u64 x, .param .f32 a)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<5>; .reg .f32 %f<5>;\n"
    "ld.param.u64 %d1, [y];\nld.param.u64 %d2, [x];\nld.param.f32 %f1, [a];\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r1, %r2, 256, %r1;\n"
    "mul.wide.u32 %d3, %r1, 4;\n"
    "add.s64 %d1, %d1, %d3;\nadd.s64 %d2, %d2, %d3;\n"
    "ld.global.f32 %f2, [%d1];\nld.global.f32 %f3, [%d2];\nfma.rn.f32 %f2, %f1, %f3, %f2;\n"
    "st.global.f32 [%d1], %f2;\nret;\n}\n";

static CUfunction axpy;
static CUdeviceptr x, y;

/* Prints what failed; the program goes on, as a careless one does. */
static CUresult report(CUresult r, const char *call)
{
    if (r != CUDA_SUCCESS)
        printf("%s %d\n", call, (int)r);
    return r;
}
#define TRY(_call, _name) report(_call, _name)

static void launch(void)
{
    float a = 2;
    void *params[] = {&y, &x, &a};
    TRY(cuLaunchKernel(axpy, N / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL), "launch");
}

static void set_up(int device)
{
    CUcontext context;
    CUmodule module;
    if (TRY(cuInit(0), "init") != CUDA_SUCCESS ||
        TRY(cuCtxCreate(&context, NULL, 0, device), "context") != CUDA_SUCCESS ||
        TRY(cuModuleLoadData(&module, ptx), "module") != CUDA_SUCCESS ||
        TRY(cuModuleGetFunction(&axpy, module, "axpy"), "function") != CUDA_SUCCESS)
        exit(1);
}

static void work(int launches)
{
    float host[N];
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    TRY(cuMemAlloc(&x, sizeof host), "alloc x");
    TRY(cuMemAlloc(&y, sizeof host), "alloc y");
    TRY(cuMemcpyHtoD(x, host, sizeof host), "upload");
    TRY(cuMemsetD32(y, 0, N), "fill");
    for (int i = 0; i < launches; i++)
        launch();
    TRY(cuCtxSynchronize(), "synchronize");
    if (TRY(cuMemcpyDtoH(host, y, sizeof host), "download") == CUDA_SUCCESS)
        printf("sum %g\n", (double)host[1] + (double)host[N - 1]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int device = argc > 2 ? atoi(argv[2]) : 0;
    set_up(device);
    if (strcmp(what, "work") == 0) {
        work(3);
        TRY(cuMemFree(x), "free x");
        TRY(cuMemFree(y), "free y");
    } else if (strcmp(what, "leak") == 0) {
        work(1);
        TRY(cuMemFree(x), "free x");
    } else if (strcmp(what, "hold") == 0) {
        CUmemGenericAllocationHandle handle;
        CUmemAllocationProp prop = {
            .type = CU_MEM_ALLOCATION_TYPE_PINNED,
            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
        TRY(cuMemCreate(&handle, 2 << 20, &prop, 0), "create");
    } else if (strcmp(what, "again") == 0) {
        CUcontext context;
        work(3);
        TRY(cuCtxSynchronize(), "again");
        TRY(cuCtxCreate(&context, NULL, 0, device), "new context");
        set_up(1 - device);
        work(1);
    } else {
        fprintf(stderr, "usage: driver_probe work|leak|hold|again [DEVICE]\n");
        return 2;
    }
    return 0;
}
