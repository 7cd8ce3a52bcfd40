/* SPDX-License-Identifier: BSD-3-Clause
 * Module variables, and libraries: one image, one module in each context that uses it. */
#include "config.h"

#include "module_tests.h"

#include <stdlib.h>
#include <string.h>

static const char ptx_counter[] = PTX_HEAD(
    "9.0",
    "sm_90") ".visible .global .align 4 .u32 counter = 5;\n"
             ".visible .global .attribute(.managed) .align 8 .b8 box[24];\n"
             ".visible .const .align 4 .b8 table[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};\n"
             /* bump(p): p[0] = counter++; p[1] = table[2] */
             ".visible .entry bump(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<2>;\n"
             "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [counter];\nadd.s32 %r2, %r1, 1;\n"
             "st.global.u32 [counter], %r2;\nst.global.u32 [%d1], %r1;\n"
             "ld.const.u32 %r3, [table+8];\nst.global.u32 [%d1+4], %r3;\nret;\n}\n" PTX_STORE;

static uint32_t bump(CUfunction f)
{
    CUdeviceptr p = words();
    void *params[] = {&p};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ck_assert_uint_eq(word(p, 1), 3);
    return word(p, 0);
}

START_TEST(variables_have_address_size_and_value)
{
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    size_t bytes = 0;
    OK(cuModuleLoadData(&module, ptx_counter));
    OK(cuModuleGetFunction(&f, module, "bump"));
    OK(cuModuleGetGlobal(&p, &bytes, module, "counter"));
    ck_assert_uint_eq(bytes, 4);
    ck_assert_uint_eq(word(p, 0), 5);
    ck_assert_uint_eq(bump(f), 5);
    ck_assert_uint_eq(bump(f), 6);
    uint32_t v = 100;
    OK(cuMemcpyHtoD(p, &v, sizeof v));
    ck_assert_uint_eq(bump(f), 100);
    OK(cuModuleGetGlobal(NULL, &bytes, module, "table"));
    ck_assert_uint_eq(bytes, 12);
    OK(cuModuleGetGlobal(&p, NULL, module, "table"));
    ck_assert_uint_eq(word(p, 1), 2);
    FAILS(cuModuleGetGlobal(&p, &bytes, module, "bump"), NOT_FOUND);
    FAILS(cuModuleGetGlobal(NULL, NULL, module, "table"), INVALID_VALUE);
    OK(cuModuleUnload(module));
    FAILS(cuMemcpyHtoD(p, &v, sizeof v), INVALID_VALUE);
}
END_TEST

static CUlibrary load(const char *ptx)
{
    CUlibrary library;
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

START_TEST(variables_are_device_memory)
{
    CUmodule module;
    CUdeviceptr p, base;
    CUcontext owner;
    size_t bytes;
    unsigned type;
    unsigned long long id, other;
    OK(cuModuleLoadData(&module, ptx_counter));
    OK(cuModuleGetGlobal(&p, NULL, module, "box"));
    OK(cuMemGetAddressRange(&base, &bytes, p + 8));
    ck_assert_uint_eq(base, p);
    ck_assert_uint_eq(bytes, 24);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 8));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    ck_assert_ptr_eq(owner, context);
    OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
    OK(cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_BUFFER_ID, words()));
    ck_assert_uint_ne(id, other);
    FAILS(cuMemFree(p), INVALID_VALUE);
    OK(cuModuleUnload(module));
    FAILS(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, p), INVALID_VALUE);
}
END_TEST

START_TEST(kernels_are_found)
{
    CUlibrary library = load(ptx_counter), owner;
    CUkernel kernel, all[3] = {NULL};
    const char *name;
    unsigned n;
    OK(cuLibraryGetKernelCount(&n, library));
    ck_assert_uint_eq(n, 2);
    OK(cuLibraryGetKernel(&kernel, library, "store"));
    FAILS(cuLibraryGetKernel(&kernel, library, "storage"), NOT_FOUND);
    OK(cuKernelGetName(&name, kernel));
    ck_assert_str_eq(name, "store");
    OK(cuKernelGetLibrary(&owner, kernel));
    ck_assert_ptr_eq(owner, library);
    OK(cuLibraryEnumerateKernels(all, 3, library));
    ck_assert(all[0] == kernel || all[1] == kernel);
    ck_assert_ptr_null(all[2]);
    size_t offset, bytes;
    OK(cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
    ck_assert_uint_eq(offset, 8);
    ck_assert_uint_eq(bytes, 4);
    FAILS(cuKernelGetParamInfo(kernel, 2, &offset, &bytes), INVALID_VALUE);
}
END_TEST

START_TEST(each_context_has_its_own_variables)
{
    CUlibrary library = load(ptx_counter);
    CUkernel kernel;
    CUfunction here, there, again;
    CUcontext other, now;
    CUdeviceptr p, q;
    size_t bytes;
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    OK(cuKernelGetFunction(&here, kernel));
    OK(cuLibraryGetGlobal(&p, &bytes, library, "counter"));
    ck_assert_uint_eq(bump(here), 5);
    ck_assert_uint_eq(bump(here), 6);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuKernelGetFunction(&there, kernel));
    ck_assert_ptr_ne(there, here);
    ck_assert_uint_eq(bump(there), 5);
    OK(cuLibraryGetGlobal(&q, NULL, library, "counter"));
    ck_assert_uint_ne(p, q);
    CUdeviceptr r = words();
    void *params[] = {&r};
    FAILS(cuLaunchKernel(here, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), INVALID_HANDLE);
    OK(cuCtxPopCurrent(&now));
    OK(cuKernelGetFunction(&again, kernel));
    ck_assert_ptr_eq(again, here);
    /* A kernel can be launched itself; the context is the current one. */
    ck_assert_uint_eq(bump((CUfunction)kernel), 7);
    OK(cuCtxDestroy(other));
    ck_assert_uint_eq(bump((CUfunction)kernel), 8);
}
END_TEST

START_TEST(a_library_outlives_its_context)
{
    CUlibrary library = load(ptx_counter);
    CUkernel kernel;
    CUfunction f;
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    OK(cuKernelGetFunction(&f, kernel));
    ck_assert_uint_eq(bump(f), 5);
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuCtxSetCurrent(NULL));
    const char *name;
    size_t offset;
    OK(cuKernelGetName(&name, kernel));
    ck_assert_str_eq(name, "bump");
    OK(cuKernelGetParamInfo(kernel, 0, &offset, NULL));
    module_setup();
    ck_assert_uint_eq(bump((CUfunction)kernel), 5);
    FAILS(cuFuncGetName(&name, f), INVALID_HANDLE);
}
END_TEST

START_TEST(no_context_is_needed_to_load)
{
    OK(cuCtxSetCurrent(NULL));
    CUlibrary library = load(ptx_counter);
    CUkernel kernel;
    CUfunction f;
    int registers;
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    OK(cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
    ck_assert_int_gt(registers, 0);
    FAILS(cuKernelGetFunction(&f, kernel), INVALID_CONTEXT);
    OK(cuCtxSetCurrent(context));
    OK(cuKernelGetFunction(&f, kernel));
    ck_assert_uint_eq(bump(f), 5);
    size_t before, loaded, after, all;
    OK(cuMemGetInfo(&before, &all));
    CUlibrary second = load(ptx_counter);
    OK(cuMemGetInfo(&loaded, &all));
    ck_assert_uint_lt(loaded, before);
    OK(cuLibraryUnload(second));
    OK(cuMemGetInfo(&after, &all));
    ck_assert_uint_eq(after, before);
}
END_TEST

START_TEST(modules_of_libraries)
{
    CUlibrary library = load(ptx_counter);
    CUmodule module, same;
    CUkernel kernel;
    CUfunction f, g;
    OK(cuLibraryGetModule(&module, library));
    FAILS(cuModuleUnload(module), NOT_PERMITTED);
    OK(cuModuleGetFunction(&f, module, "bump"));
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    OK(cuKernelGetFunction(&g, kernel));
    ck_assert_ptr_eq(f, g);
    OK(cuFuncGetModule(&same, f));
    ck_assert_ptr_eq(same, module);
    OK(cuLibraryUnload(library));
    FAILS(cuLibraryUnload(library), INVALID_HANDLE);
    FAILS(cuLibraryGetModule(&module, library), INVALID_HANDLE);
    FAILS(cuKernelGetFunction(&g, kernel), INVALID_HANDLE);
    FAILS(cuFuncLoad(f), INVALID_HANDLE);
}
END_TEST

START_TEST(managed_variables)
{
    CUlibrary library = load(ptx_counter);
    CUdeviceptr p;
    size_t bytes;
    void *function;
    OK(cuLibraryGetManaged(&p, &bytes, library, "box"));
    ck_assert_uint_eq(bytes, 24);
    *(volatile uint32_t *)(uintptr_t)p = 7; /* the host reaches it */
    ck_assert_uint_eq(word(p, 0), 7);
    FAILS(cuLibraryGetManaged(&p, &bytes, library, "counter"), NOT_FOUND);
    FAILS(cuLibraryGetUnifiedFunction(&function, library, "bump"), NOT_FOUND);
}
END_TEST

TCase *library_tests(void)
{
    TCase *t = tcase_create("library");
    tcase_add_checked_fixture(t, module_setup, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, variables_have_address_size_and_value);
    tcase_add_test(t, variables_are_device_memory);
    tcase_add_test(t, kernels_are_found);
    tcase_add_test(t, each_context_has_its_own_variables);
    tcase_add_test(t, a_library_outlives_its_context);
    tcase_add_test(t, no_context_is_needed_to_load);
    tcase_add_test(t, modules_of_libraries);
    tcase_add_test(t, managed_variables);
    return t;
}
