/* SPDX-License-Identifier: BSD-3-Clause
 * Launches: limits, how parameters arrive, faults, order on a stream, and the interface of CUDA 3.
 */
#include "config.h"

/* The old calls are marked as such in cuda.h; they are what is checked here. */
#define CUDA_ENABLE_DEPRECATED
#include "module_tests.h"

#include <dlfcn.h>
#include <string.h>

static const char ptx_launch[] = PTX_HEAD("9.0", "sm_90") PTX_STORE
    /* mixed(p, a, b, c, d): a byte, a word, three words and a float arrive unchanged */
    ".visible .entry mixed(.param .u64 p, .param .u8 a, .param .u32 b, .param .align 4 .b8 c[12],\n"
    ".param .f32 d)\n{\n.reg .b16 %h<2>;\n.reg .b32 %r<7>;\n.reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [p];\nld.param.u8 %h1, [a];\ncvt.u32.u16 %r1, %h1;\n"
    "st.global.u32 [%d1], %r1;\nld.param.u32 %r2, [b];\nst.global.u32 [%d1+4], %r2;\n"
    "ld.param.u32 %r3, [c];\nst.global.u32 [%d1+8], %r3;\nld.param.u32 %r4, [c+4];\n"
    "st.global.u32 [%d1+12], %r4;\nld.param.u32 %r5, [c+8];\nst.global.u32 [%d1+16], %r5;\n"
    "ld.param.u32 %r6, [d];\nst.global.u32 [%d1+20], %r6;\nret;\n}\n"
    ".visible .entry nothing()\n{\nret;\n}\n"
    ".visible .entry bounded()\n.maxntid 128, 1, 1\n{\nret;\n}\n"
    ".visible .entry stop()\n{\ntrap;\nret;\n}\n";

static CUmodule module;

static void setup(void)
{
    module_setup();
    OK(cuModuleLoadData(&module, ptx_launch));
}

static CUfunction function(const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUresult shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz)
{
    return cuLaunchKernel(function("nothing"), gx, gy, gz, bx, by, bz, 0, NULL, NULL, NULL);
}

START_TEST(shapes_have_limits)
{
    OK(shape(1, 1, 1, 1024, 1, 1));
    OK(shape(1, 1, 1, 1, 1024, 1));
    OK(shape(1, 1, 1, 16, 1, 64));
    OK(shape(1, 65535, 1, 1, 1, 1));
    OK(shape(1, 1, 65535, 1, 1, 1));
    FAILS(shape(0, 1, 1, 1, 1, 1), INVALID_VALUE);
    FAILS(shape(1, 0, 1, 1, 1, 1), INVALID_VALUE);
    FAILS(shape(1, 1, 1, 1, 1, 0), INVALID_VALUE);
    FAILS(shape(1, 1, 1, 1025, 1, 1), INVALID_VALUE);
    FAILS(shape(1, 1, 1, 1, 1025, 1), INVALID_VALUE);
    FAILS(shape(1, 1, 1, 1, 1, 65), INVALID_VALUE);
    FAILS(shape(1, 1, 1, 32, 33, 1), INVALID_VALUE);
    FAILS(shape(0x80000000u, 1, 1, 1, 1, 1), INVALID_VALUE);
    FAILS(shape(1, 65536, 1, 1, 1, 1), INVALID_VALUE);
    FAILS(shape(1, 1, 65536, 1, 1, 1), INVALID_VALUE);
    CUfunction f = function("bounded");
    OK(cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL));
    FAILS(cuLaunchKernel(f, 1, 1, 1, 129, 1, 1, 0, NULL, NULL, NULL), INVALID_VALUE);
    FAILS(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), INVALID_HANDLE);
    OK(cuCtxSynchronize()); /* a refused launch breaks nothing */
}
END_TEST

struct three {
    uint32_t v[3];
};

static void check_mixed(CUdeviceptr p)
{
    static const uint32_t expected[] = {0xab, 0x12345678, 1, 2, 3, 0x40490fdb};
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(word(p, i), expected[i]);
}

START_TEST(parameters_by_pointers)
{
    CUdeviceptr p = words();
    unsigned char a = 0xab;
    uint32_t b = 0x12345678;
    struct three c = {{1, 2, 3}};
    float d = 3.14159274f;
    void *params[] = {&p, &a, &b, &c, &d};
    CUfunction f = function("mixed");
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    check_mixed(p);
    FAILS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), INVALID_VALUE);
}
END_TEST

START_TEST(parameters_in_a_buffer)
{
    struct {
        CUdeviceptr p;
        unsigned char a;
        uint32_t b;
        struct three c;
        float d;
    } args = {words(), 0xab, 0x12345678, {{1, 2, 3}}, 3.14159274f};
    size_t bytes = sizeof args;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    void *params[] = {&args.p, &args.a, &args.b, &args.c, &args.d};
    CUfunction f = function("mixed");
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    check_mixed(args.p);
    FAILS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra), INVALID_VALUE);
    bytes = 31;
    FAILS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), INVALID_VALUE);
}
END_TEST

START_TEST(parameters_are_read_at_once)
{
    CUdeviceptr p = words();
    uint32_t v = 1;
    void *params[] = {&p, &v};
    CUfunction f = function("store");
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchKernel(f, 2, 1, 1, 8, 1, 1, 0, stream, params, NULL));
    v = 2;
    CUdeviceptr q = p;
    p += 16 * sizeof v;
    OK(cuLaunchKernel(f, 2, 1, 1, 8, 1, 1, 0, stream, params, NULL));
    p = 0;
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(word(q, 0), 1);
    ck_assert_uint_eq(word(q, 15), 1);
    ck_assert_uint_eq(word(q, 16), 2);
    ck_assert_uint_eq(word(q, 31), 2);
}
END_TEST

START_TEST(launches_with_a_configuration)
{
    CUdeviceptr p = words();
    uint32_t v = 9;
    void *params[] = {&p, &v};
    CUfunction f = function("store");
    CUlaunchAttribute attributes[3] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 0},
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}}};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = attributes,
                             .numAttrs = 3};
    OK(cuLaunchKernelEx(&config, f, params, NULL));
    ck_assert_uint_eq(word(p, 31), 9);
    config.gridDimX = 100000;
    FAILS(cuLaunchKernelEx(&config, f, params, NULL), COOPERATIVE_LAUNCH_TOO_LARGE);
    FAILS(cuLaunchKernelEx(NULL, f, params, NULL), INVALID_VALUE);
    config.attrs = NULL;
    FAILS(cuLaunchKernelEx(&config, f, params, NULL), INVALID_VALUE);
    OK(cuLaunchCooperativeKernel(function("nothing"), 132 * 2, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    FAILS(cuLaunchCooperativeKernel(function("nothing"), 132 * 2 + 1, 1, 1, 1024, 1, 1, 0, NULL,
                                    NULL),
          COOPERATIVE_LAUNCH_TOO_LARGE);
}
END_TEST

START_TEST(the_interface_of_cuda_3)
{
    CUdeviceptr p = words();
    CUfunction f = function("store");
    OK(cuParamSetv(f, 0, &p, sizeof p));
    OK(cuParamSeti(f, 8, 77));
    OK(cuParamSetSize(f, 12));
    OK(cuFuncSetBlockShape(f, 16, 1, 1));
    OK(cuFuncSetSharedSize(f, 64));
    OK(cuLaunch(f));
    ck_assert_uint_eq(word(p, 15), 77);
    ck_assert_uint_ne(word(p, 16), 77);
    OK(cuParamSetf(f, 8, 1.0f));
    OK(cuLaunchGrid(f, 2, 1));
    ck_assert_uint_eq(word(p, 31), 0x3f800000);
    FAILS(cuLaunchGridAsync(f, 0, 1, NULL), INVALID_VALUE);
    FAILS(cuParamSeti(f, 4096, 1), INVALID_VALUE);
    FAILS(cuParamSetSize(f, 4097), INVALID_VALUE);
    FAILS(cuFuncSetBlockShape(f, 0, 1, 1), INVALID_VALUE);
    OK(cuParamSetSize(f, 8));
    FAILS(cuLaunch(f), INVALID_VALUE);
}
END_TEST

static void note(void *data)
{
    *(int *)data += 1;
}

START_TEST(host_functions_take_their_turn)
{
    int called = 0;
    OK(cuLaunchHostFunc(NULL, note, &called));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, &called));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(called, 2);
    FAILS(cuLaunchHostFunc(NULL, NULL, NULL), INVALID_VALUE);
}
END_TEST

struct fault {
    const char *kernel;
    CUdeviceptr offset;
    CUresult error;
};

static const struct fault faults[] = {
    {"store", 1 << 20, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"store", 2, CUDA_ERROR_MISALIGNED_ADDRESS},
    {"stop", 0, CUDA_ERROR_LAUNCH_FAILED},
};

START_TEST(faults_make_the_context_unusable)
{
    const struct fault *fault = &faults[_i];
    CUdeviceptr p = words(), q = p + fault->offset;
    uint32_t v = 1;
    void *params[] = {&q, &v};
    CUfunction f = function(fault->kernel);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL)); /* told later */
    ck_assert_int_eq((int)cuCtxSynchronize(), (int)fault->error);
    ck_assert_int_eq((int)cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
                     (int)fault->error);
    ck_assert_int_eq((int)cuMemAlloc(&q, 4), (int)fault->error);
    ck_assert_int_eq((int)cuModuleUnload(module), (int)fault->error);
}
END_TEST

START_TEST(launches_are_counted)
{
    uint64_t (*counter)(const char *) =
        (uint64_t(*)(const char *))(uintptr_t)dlsym(RTLD_DEFAULT, "softgpuCounter");
    ck_assert(counter != NULL);
    CUdeviceptr p = words();
    uint32_t v = 1;
    void *params[] = {&p, &v};
    OK(cuLaunchKernel(function("store"), 2, 1, 1, 16, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(counter("launches"), 1);
    ck_assert_uint_eq(counter("kernel.store"), 1);
    ck_assert_uint_eq(counter("threads"), 32);
    ck_assert_uint_eq(counter("bytes.global_write"), 128);
    ck_assert_uint_eq(counter("bytes.global_read"), 0);
}
END_TEST

TCase *launch_tests(void)
{
    TCase *t = tcase_create("launch");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, shapes_have_limits);
    tcase_add_test(t, parameters_by_pointers);
    tcase_add_test(t, parameters_in_a_buffer);
    tcase_add_test(t, parameters_are_read_at_once);
    tcase_add_test(t, launches_with_a_configuration);
    tcase_add_test(t, the_interface_of_cuda_3);
    tcase_add_test(t, host_functions_take_their_turn);
    tcase_add_loop_test(t, faults_make_the_context_unusable, 0, 3);
    tcase_add_test(t, launches_are_counted);
    return t;
}
