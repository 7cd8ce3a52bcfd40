/* SPDX-License-Identifier: BSD-3-Clause
 * Attributes of functions and how many blocks fit. The GPU is the default one, an H200: what fits
 * is worked out here by hand from the CUDA C++ programming guide's table of compute capability 9.0
 * (2048 threads, 32 blocks, 65536 registers and 228 KiB of shared memory a multiprocessor, 1 KiB of
 * it reserved by each block; 227 KiB at most for a block). */
#include "config.h"

#include "module_tests.h"

#include <string.h>

enum { SMS = 132, KIB = 1024 };

static const char ptx_functions[] =
    PTX_HEAD("9.0", "sm_90") ".visible .entry plain(.param .u8 a, .param .u64 b, .param .u16 c, "
                             ".param .align 4 .b8 d[12],\n"
                             ".param .f32 e)\n{\nret;\n}\n"
                             ".visible .entry bounded()\n.maxntid 256, 1, 1\n{\nret;\n}\n"
                             ".visible .entry sharing()\n{\n.shared .align 4 .b8 tile[40960];\n"
                             ".local .align 8 .b8 frame[48];\n.reg .b64 %d<2>;\nmov.u64 %d1, "
                             "frame;\nst.local.u64 [%d1], 0;\n"
                             "mov.u64 %d1, tile;\nst.shared.u64 [%d1], 0;\nret;\n}\n";

static CUmodule module;

static void setup(void)
{
    module_setup();
    OK(cuModuleLoadData(&module, ptx_functions));
}

static CUfunction function(const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static int attribute(CUfunction f, CUfunction_attribute which)
{
    int value = -2;
    OK(cuFuncGetAttribute(&value, which, f));
    return value;
}

START_TEST(attributes_tell_what_the_code_needs)
{
    CUfunction f = function("sharing");
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 40960);
    ck_assert_int_ge(attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 48);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
                     48 * KIB - 40960);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION), 90);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA), 0);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), -1);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    ck_assert_int_eq(attribute(function("bounded"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 256);
    int registers = attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS);
    ck_assert(registers > 0 && registers <= 64); /* 1024 threads must fit */
    int value;
    FAILS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, f), INVALID_VALUE);
    FAILS(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, f), INVALID_VALUE);
    FAILS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL), INVALID_HANDLE);
    FAILS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, (CUfunction)context),
          INVALID_HANDLE);
}
END_TEST

START_TEST(parameters_lie_as_in_a_c_struct)
{
    static const size_t offset[] = {0, 8, 16, 20, 32}, bytes[] = {1, 8, 2, 12, 4};
    CUfunction f = function("plain");
    const char *name;
    size_t at, n;
    OK(cuFuncGetName(&name, f));
    ck_assert_str_eq(name, "plain");
    for (size_t i = 0; i < 5; i++) {
        OK(cuFuncGetParamInfo(f, i, &at, &n));
        ck_assert_uint_eq(at, offset[i]);
        ck_assert_uint_eq(n, bytes[i]);
    }
    OK(cuFuncGetParamInfo(f, 4, &at, NULL));
    FAILS(cuFuncGetParamInfo(f, 5, &at, &n), INVALID_VALUE);
    CUfunctionLoadingState loaded;
    OK(cuFuncLoad(f));
    OK(cuFuncIsLoaded(&loaded, f));
    ck_assert_int_eq((int)loaded, CU_FUNCTION_LOADING_STATE_LOADED);
}
END_TEST

static CUresult allow(CUfunction f, int bytes)
{
    return cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

static CUresult launch(CUfunction f, unsigned threads, unsigned shared)
{
    uint64_t args[8] = {0};
    void *params[] = {args, args, args, args, args};
    return cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, shared, NULL, params, NULL);
}

START_TEST(much_shared_memory_needs_permission)
{
    CUfunction f = function("plain");
    OK(launch(f, 1, 48 * KIB));
    FAILS(launch(f, 1, 48 * KIB + 1), INVALID_VALUE);
    OK(allow(f, 227 * KIB));
    OK(launch(f, 1, 227 * KIB));
    FAILS(launch(f, 1, 227 * KIB + 1), INVALID_VALUE);
    FAILS(allow(f, 227 * KIB + 1), INVALID_VALUE);
    FAILS(allow(f, -1), INVALID_VALUE);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 227 * KIB);
    OK(allow(f, 100));
    FAILS(launch(f, 1, 101), INVALID_VALUE);
    CUfunction s = function("sharing");
    OK(allow(s, 227 * KIB - 40960));
    FAILS(allow(s, 227 * KIB - 40959), INVALID_VALUE);
    FAILS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 10), INVALID_VALUE);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    FAILS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
          INVALID_VALUE);
    OK(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_L1));
}
END_TEST

START_TEST(kernel_attributes_reach_every_context)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    int value;
    OK(cuLibraryLoadData(&library, ptx_functions, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "plain"));
    OK(cuKernelGetFunction(&f, kernel));
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * KIB, kernel, 0));
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
    ck_assert_int_eq(value, 100 * KIB);
    OK(launch(f, 1, 100 * KIB));
    OK(launch((CUfunction)kernel, 1, 100 * KIB));
    FAILS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1, kernel, 99),
          INVALID_DEVICE);
    CUcontext other;
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuKernelGetFunction(&f, kernel));
    OK(launch(f, 1, 100 * KIB));
    OK(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED, 0));
}
END_TEST

static int fit(CUfunction f, int threads, size_t shared)
{
    int blocks = -1;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, shared));
    return blocks;
}

START_TEST(blocks_that_fit)
{
    CUfunction f = function("plain"), s = function("sharing");
    ck_assert_int_eq(fit(f, 1024, 0), 2); /* threads */
    ck_assert_int_eq(fit(f, 1000, 0), 2); /* whole warps */
    ck_assert_int_eq(fit(f, 256, 0), 8);
    ck_assert_int_eq(fit(f, 32, 0), 32);       /* blocks */
    ck_assert_int_eq(fit(f, 32, 48 * KIB), 4); /* 228 / 49 */
    ck_assert_int_eq(fit(f, 32, 227 * KIB), 1);
    ck_assert_int_eq(fit(f, 32, 227 * KIB + 1), 0);
    ck_assert_int_eq(fit(s, 32, 0), 5); /* 228 / 41 */
    ck_assert_int_eq(fit(function("bounded"), 512, 0), 0);
    int blocks;
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0), INVALID_VALUE);
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 32, 0), INVALID_VALUE);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 512, 0,
                                                            CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
    ck_assert_int_eq(blocks, 4);
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 512, 0, 2),
          INVALID_VALUE);
}
END_TEST

static size_t one_kib_a_warp(int threads)
{
    return (size_t)threads / 32 * KIB;
}

START_TEST(the_best_block_size)
{
    CUfunction f = function("plain");
    int grid, threads;
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, f, NULL, 0, 0));
    ck_assert_int_eq(threads, 1024);
    ck_assert_int_eq(grid, 2 * SMS);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, f, NULL, 0, 300));
    ck_assert_int_eq(threads, 256); /* of 300, 288, 256: only 256 fills 2048 */
    ck_assert_int_eq(grid, 8 * SMS);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, f, one_kib_a_warp, 0, 0));
    ck_assert_int_eq(fit(f, threads, one_kib_a_warp(threads)) * threads, 2048);
    OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &threads, function("bounded"), NULL, 0, 0,
                                                 0));
    ck_assert_int_eq(threads, 256);
    size_t bytes;
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 2, 256));
    ck_assert_uint_eq(bytes, 113 * KIB); /* 228 / 2 less 1 */
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function("sharing"), 4, 256));
    ck_assert_uint_eq(bytes, 56 * KIB - 40960);
    FAILS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 3, 1024), INVALID_VALUE);
}
END_TEST

TCase *function_tests(void)
{
    TCase *t = tcase_create("function");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, attributes_tell_what_the_code_needs);
    tcase_add_test(t, parameters_lie_as_in_a_c_struct);
    tcase_add_test(t, much_shared_memory_needs_permission);
    tcase_add_test(t, kernel_attributes_reach_every_context);
    tcase_add_test(t, blocks_that_fit);
    tcase_add_test(t, the_best_block_size);
    return t;
}
