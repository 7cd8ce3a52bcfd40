/* SPDX-License-Identifier: BSD-3-Clause
 * A burn test by the driver API alone, beside cuBLAS: the same product again and again into many
 * buffers, which a kernel of its own, loaded from PTX, compares with the first. One element is
 * spoilt at last: that must be found too. */
#include <cublas_v2.h>
#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, BUFFERS = 6, ROUNDS = 3, THREADS = 128 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    "// Counts the elements of the later buffers that differ from the first.\n"
    ".visible .entry compare(.param .u64 buffers, .param .u64 wrong, .param .u32 n,\n"
    ".param .u32 count)\n"
    "{\n"
    ".reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %d<8>; .reg .f32 %f<5>;\n"
    "ld.param.u64 %d1, [buffers];\nld.param.u64 %d2, [wrong];\n"
    "ld.param.u32 %r1, [n];\nld.param.u32 %r2, [count];\n"
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
    "mad.lo.u32 %r6, %r3, %r4, %r5;\n"
    "setp.ge.u32 %p1, %r6, %r1;\n@%p1 ret;\n"
    "mul.wide.u32 %d3, %r6, 4;\nadd.u64 %d4, %d1, %d3;\nmul.wide.u32 %d5, %r1, 4;\n"
    "ld.global.f32 %f1, [%d4];\nmov.u32 %r7, 1;\nmov.u32 %r8, 0;\n"
    "next:\nsetp.ge.u32 %p2, %r7, %r2;\n@%p2 bra done;\n"
    "add.u64 %d4, %d4, %d5;\nld.global.f32 %f2, [%d4];\nsub.f32 %f3, %f1, %f2;\nabs.f32 %f3, %f3;\n"
    "setp.leu.f32 %p3, %f3, 0f3727C5AC;\n@!%p3 add.u32 %r8, %r8, 1;\n" /* 1e-5 */
    "add.u32 %r7, %r7, 1;\nbra next;\n"
    "done:\nred.global.add.u32 [%d2], %r8;\nret;\n}\n";

static void check_result(int error, const char *what)
{
    if (error != 0) {
        fprintf(stderr, "burn: %s: error %d\n", what, error);
        exit(1);
    }
}
#define OK(_call) check_result((int)(_call), #_call)

static CUfunction compare;

static unsigned count_wrong(CUdeviceptr buffers, CUdeviceptr wrong)
{
    unsigned n = N * N, count = BUFFERS, result;
    void *params[] = {&buffers, &wrong, &n, &count};
    OK(cuMemsetD32(wrong, 0, 1));
    OK(cuLaunchKernel(compare, (n + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, params,
                      NULL));
    OK(cuMemcpyDtoH(&result, wrong, sizeof result));
    return result;
}

int main(void)
{
    static float a[N * N], b[N * N], c[N * N];
    const float one = 1, zero = 0;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr d_a, d_b, d_c, d_wrong;
    cublasHandle_t blas;
    size_t free_bytes, total_bytes;
    char name[100];
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDeviceGetName(name, sizeof name, device));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuMemGetInfo(&free_bytes, &total_bytes));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&compare, module, "compare"));
    OK(cuMemAlloc(&d_a, sizeof a));
    OK(cuMemAlloc(&d_b, sizeof b));
    OK(cuMemAlloc(&d_c, sizeof c * BUFFERS));
    OK(cuMemAlloc(&d_wrong, sizeof(unsigned)));
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i * 7 % 113) / 113 - 0.5f;
        b[i] = (float)(i * 11 % 127) / 127 - 0.5f;
    }
    OK(cuMemcpyHtoD(d_a, a, sizeof a));
    OK(cuMemcpyHtoD(d_b, b, sizeof b));
    OK(cublasCreate_v2(&blas));
    unsigned errors = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BUFFERS; i++)
            OK(cublasSgemm_v2(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, (float *)d_a, N,
                              (float *)d_b, N, &zero, (float *)(d_c + sizeof c * (size_t)i), N));
        errors += count_wrong(d_c, d_wrong);
    }
    OK(cuMemcpyDtoH(c, d_c + sizeof c * (BUFFERS - 1), sizeof c));
    double worst = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int k = 0; k < N; k++)
                want += (double)a[i + k * N] * b[k + j * N];
            worst = fmax(worst, fabs(c[i + j * N] - want));
        }
    }
    OK(cuMemsetD32(d_c + sizeof c * 2 + 4 * 77, 0x40a00000, 1)); /* 5 */
    unsigned spoilt = count_wrong(d_c, d_wrong);
    printf("burn: %s, %d products, %u errors, %u after one was spoilt, error %.2g\n", name,
           ROUNDS * BUFFERS, errors, spoilt, worst);
    OK(cublasDestroy_v2(blas));
    OK(cuMemFree(d_a));
    OK(cuMemFree(d_b));
    OK(cuMemFree(d_c));
    OK(cuMemFree(d_wrong));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease(device));
    return errors != 0 || spoilt != 1 || worst > 1e-5;
}
