/* SPDX-License-Identifier: BSD-3-Clause
 * The fixture of the driver's checks; owns the context and the module of the running test. */
#include "config.h"

#include "driver.h"

#include <pthread.h>

CUcontext context;
CUmodule module;
CUfunction fill, add, copy, trap, madd;

/* clang-format off */
#define KERNEL(_name, _body)                                                                       \
    ".visible .entry " _name "(.param .u64 p, .param .u64 from, .param .u32 v, .param .u32 n)\n"   \
    "{\n"                                                                                          \
    ".reg .pred %q<3>; .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .f32 %f<4>;\n"                      \
    "ld.param.u64 %d1, [p];\nld.param.u64 %d4, [from];\n"                                          \
    "ld.param.u32 %r2, [v];\nld.param.u32 %r3, [n];\n"                                             \
    "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\nmov.u32 %r6, %tid.x;\n"                        \
    "mad.lo.s32 %r7, %r4, %r5, %r6;\n"                                                             \
    "setp.ge.u32 %q1, %r7, %r3;\n@%q1 bra DONE;\n"                                                 \
    "mul.wide.u32 %d2, %r7, 4;\nadd.s64 %d3, %d1, %d2;\n"                                          \
    _body                                                                                          \
    "DONE:\nret;\n}\n"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    KERNEL("fill",
           "st.global.u32 [%d3], %r2;\n")
    KERNEL("add",
           "ld.global.u32 %r8, [%d3];\nadd.s32 %r8, %r8, %r2;\nst.global.u32 [%d3], %r8;\n")
    KERNEL("copy",
           "add.s64 %d5, %d4, %d2;\nld.global.u32 %r8, [%d5];\nst.global.u32 [%d3], %r8;\n")
    KERNEL("stop",
           "setp.eq.u32 %q2, %r7, %r2;\n@%q2 trap;\n")
    KERNEL("madd",
           "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F000000;\n"
           "AGAIN:\nfma.rn.f32 %f2, %f2, %f1, %f1;\nsub.u32 %r2, %r2, 1;\n"
           "setp.ne.u32 %q2, %r2, 0;\n@%q2 bra AGAIN;\nst.global.f32 [%d1], %f2;\n");
/* clang-format on */

void driver_setup(void)
{
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&fill, module, "fill"));
    OK(cuModuleGetFunction(&add, module, "add"));
    OK(cuModuleGetFunction(&copy, module, "copy"));
    OK(cuModuleGetFunction(&trap, module, "stop"));
    OK(cuModuleGetFunction(&madd, module, "madd"));
}

void driver_teardown(void)
{
    CUcontext left;
    cuCtxDestroy(context);
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS)
        ;
    context = NULL;
}

void expect(CUresult got, CUresult want, const char *call, const char *file, int line)
{
    const char *got_name = "?", *want_name = "?";
    if (got == want)
        return;
    cuGetErrorName(got, &got_name);
    cuGetErrorName(want, &want_name);
    ck_abort_msg("%s:%d: %s answers %d (%s), not %d (%s)", file, line, call, got, got_name, want,
                 want_name);
}

static CUresult launch_any(CUfunction f, CUstream stream, CUdeviceptr p, CUdeviceptr from,
                           uint32_t v, uint32_t n)
{
    void *params[] = {&p, &from, &v, &n};
    unsigned blocks = (n + 127) / 128;
    CUresult r = cuLaunchKernel(f, blocks, 1, 1, 128, 1, 1, 0, stream, params, NULL);
    /* The driver has its own copy by now. */
    p = from = 0;
    v = n = 0;
    return r;
}

CUresult launch(CUfunction f, CUstream stream, CUdeviceptr p, uint32_t v, uint32_t n)
{
    return launch_any(f, stream, p, 0, v, n);
}

CUresult launch_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, uint32_t n)
{
    return launch_any(copy, stream, to, from, 0, n);
}

CUdeviceptr words(uint32_t n)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, (size_t)n * 4));
    OK(cuMemsetD32(p, 0, n));
    OK(cuCtxSynchronize());
    return p;
}

uint32_t word(CUdeviceptr p, uint32_t i)
{
    uint32_t value;
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(&value, p + 4 * (CUdeviceptr)i, 4));
    return value;
}

struct errand {
    CUresult (*fn)(void *arg);
    void *arg;
    CUresult result;
};

static void *run_errand(void *arg)
{
    struct errand *e = arg;
    e->result = cuCtxSetCurrent(context);
    if (e->result == CUDA_SUCCESS)
        e->result = e->fn(e->arg);
    return NULL;
}

CUresult elsewhere(CUresult (*fn)(void *arg), void *arg)
{
    struct errand e = {fn, arg, CUDA_SUCCESS};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run_errand, &e), 0);
    pthread_join(thread, NULL);
    return e.result;
}
