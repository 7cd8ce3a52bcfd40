/* SPDX-License-Identifier: BSD-3-Clause
 * Faults: which error a kernel gives, that it sticks to the context and to nothing else. */
#include "config.h"

#include "driver.h"

/* After a fault every call of the context answers with it. */
static void check_stuck(CUresult error)
{
    CUdeviceptr p;
    CUstream stream;
    CUevent event;
    size_t a, b;
    ck_assert_int_eq(cuCtxSynchronize(), error);
    ck_assert_int_eq(cuCtxSynchronize(), error);
    ck_assert_int_eq(cuMemAlloc(&p, 4), error);
    ck_assert_int_eq(cuStreamCreate(&stream, 0), error);
    ck_assert_int_eq(cuEventCreate(&event, 0), error);
    ck_assert_int_eq(cuMemGetInfo(&a, &b), error);
    ck_assert_int_eq(launch(fill, NULL, 0, 0, 1), error);
}

START_TEST(an_address_outside_is_illegal)
{
    CUdeviceptr p = words(64);
    OK(launch(fill, NULL, p, 1, 65));
    check_stuck(CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(freed_memory_is_illegal)
{
    CUdeviceptr p = words(64);
    OK(cuMemFree(p));
    OK(launch(fill, NULL, p, 1, 64));
    check_stuck(CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(null_is_illegal)
{
    OK(launch(fill, NULL, 0, 1, 64));
    check_stuck(CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(pageable_memory_is_illegal)
{
    static uint32_t host[64];
    OK(launch(fill, NULL, (CUdeviceptr)(uintptr_t)host, 1, 64));
    check_stuck(CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(a_crooked_address_is_misaligned)
{
    CUdeviceptr p = words(64);
    OK(launch(fill, NULL, p + 2, 1, 32));
    check_stuck(CUDA_ERROR_MISALIGNED_ADDRESS);
}
END_TEST

START_TEST(a_trap_ends_the_launch)
{
    OK(launch(trap, NULL, 0, 17, 64));
    check_stuck(CUDA_ERROR_LAUNCH_FAILED);
}
END_TEST

START_TEST(every_wait_tells_of_the_fault)
{
    CUstream stream;
    CUevent event;
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(launch(fill, stream, 0, 1, 64));
    FAILS(cuStreamSynchronize(stream), ILLEGAL_ADDRESS);
    FAILS(cuStreamQuery(stream), ILLEGAL_ADDRESS);
    FAILS(cuEventSynchronize(event), ILLEGAL_ADDRESS);
    FAILS(cuEventQuery(event), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(work_after_a_fault_does_not_run)
{
    CUcontext next;
    uint32_t *pinned;
    OK(cuMemAllocHost((void **)&pinned, 4));
    *pinned = 1;
    OK(launch(trap, NULL, 0, 0, 1));
    launch(fill, NULL, (CUdeviceptr)(uintptr_t)pinned, 2, 1);
    FAILS(cuCtxSynchronize(), LAUNCH_FAILED);
    ck_assert_uint_eq(*pinned, 1);
    OK(cuCtxCreate(&next, NULL, 0, 0));
    OK(cuCtxDestroy(next));
}
END_TEST

START_TEST(other_contexts_go_on)
{
    CUcontext other;
    OK(launch(fill, NULL, 0, 1, 64));
    FAILS(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    OK(cuCtxCreate(&other, NULL, 0, 1));
    CUdeviceptr p = words(64);
    OK(cuMemsetD32(p, 3, 64));
    WORD(p, 63, 3);
    OK(cuCtxDestroy(other));
    OK(cuCtxGetCurrent(&other));
    ck_assert_ptr_eq(other, context);
    FAILS(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    OK(cuCtxDestroy(context));
    OK(cuCtxCreate(&context, NULL, 0, 0));
    p = words(64);
    WORD(p, 63, 0);
}
END_TEST

START_TEST(a_reset_primary_context_works_again)
{
    CUcontext primary;
    CUmodule m;
    CUfunction f;
    static const char crash[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                ".visible .entry crash()\n{\ntrap;\nret;\n}\n";
    OK(cuDevicePrimaryCtxRetain(&primary, 1));
    OK(cuCtxPushCurrent(primary));
    OK(cuModuleLoadData(&m, crash));
    OK(cuModuleGetFunction(&f, m, "crash"));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    FAILS(cuCtxSynchronize(), LAUNCH_FAILED);
    OK(cuDevicePrimaryCtxReset(1));
    OK(cuCtxPopCurrent(NULL));
    OK(cuDevicePrimaryCtxRetain(&primary, 1));
    OK(cuCtxPushCurrent(primary));
    OK(cuCtxSynchronize());
    CUdeviceptr p = words(4);
    WORD(p, 3, 0);
    OK(cuCtxPopCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease(1));
}
END_TEST

START_TEST(errors_have_names_and_texts)
{
    const char *text;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    ck_assert_str_eq(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorName(CUDA_SUCCESS, &text));
    ck_assert_str_eq(text, "CUDA_SUCCESS");
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    ck_assert_uint_gt(strlen(text), 3);
    FAILS(cuGetErrorName((CUresult)123456, &text), INVALID_VALUE);
    ck_assert_ptr_null(text);
    FAILS(cuGetErrorString((CUresult)123456, &text), INVALID_VALUE);
}
END_TEST

Suite *suite_fault(void)
{
    Suite *suite = suite_create("fault");
    TCase *tests = tcase_create("faults");
    tcase_add_checked_fixture(tests, driver_setup, driver_teardown);
    tcase_add_test(tests, an_address_outside_is_illegal);
    tcase_add_test(tests, freed_memory_is_illegal);
    tcase_add_test(tests, null_is_illegal);
    tcase_add_test(tests, pageable_memory_is_illegal);
    tcase_add_test(tests, a_crooked_address_is_misaligned);
    tcase_add_test(tests, a_trap_ends_the_launch);
    tcase_add_test(tests, every_wait_tells_of_the_fault);
    tcase_add_test(tests, work_after_a_fault_does_not_run);
    tcase_add_test(tests, other_contexts_go_on);
    tcase_add_test(tests, a_reset_primary_context_works_again);
    tcase_add_test(tests, errors_have_names_and_texts);
    suite_add_tcase(suite, tests);
    return suite;
}
