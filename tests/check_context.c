/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of the records of contexts, and of the hooks that end them, on a driver that has no ids of
 * contexts: a new context at an old address must get a new record, and only then. */
#include "device/context.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>

/* The hooks, by the names that programs call. */
extern CUresult hook_destroy(CUcontext context) __asm__("cuCtxDestroy_v2");
extern CUresult hook_release(CUdevice device) __asm__("cuDevicePrimaryCtxRelease_v2");
extern CUresult hook_reset(CUdevice device) __asm__("cuDevicePrimaryCtxReset_v2");

enum { DEVICE = 0, OTHER_DEVICE = 1 };
#define PRIMARY ((CUcontext)0x10000)
#define OTHER   ((CUcontext)0x500000)

/* The driver's state, which each test (a process of its own) finds as it was. */
extern uintptr_t old_current;
extern int old_device, old_primary[], old_status;

static struct context *in(CUcontext context, int device)
{
    old_current = (uintptr_t)context;
    old_device = device;
    return context_current();
}

START_TEST(release_ends_it_at_last)
{
    old_primary[DEVICE] = 2;
    struct context *first = in(PRIMARY, DEVICE);
    ck_assert_ptr_nonnull(first);
    ck_assert_int_eq(hook_release(DEVICE), CUDA_SUCCESS);
    ck_assert_int_eq(old_primary[DEVICE], 1);
    ck_assert_ptr_eq(in(PRIMARY, DEVICE), first);
    ck_assert_int_eq(context_enter(first), CONTEXT_CURRENT);
    ck_assert_int_eq(hook_release(DEVICE), CUDA_SUCCESS);
    ck_assert_int_eq(old_primary[DEVICE], 0);
    ck_assert_int_eq(context_enter(first), CONTEXT_OTHER);
    ck_assert_ptr_null(context_known());
    ck_assert(!context_on_device(DEVICE));
    ck_assert_ptr_ne(in(PRIMARY, DEVICE), first);
    ck_assert_ptr_nonnull(context_known());
    ck_assert(context_on_device(DEVICE));
}
END_TEST

START_TEST(reset_ends_it)
{
    old_primary[DEVICE] = 3;
    struct context *first = in(PRIMARY, DEVICE);
    old_status = CUDA_ERROR_INVALID_DEVICE;
    ck_assert_int_eq(hook_reset(DEVICE), CUDA_ERROR_INVALID_DEVICE);
    ck_assert_ptr_eq(in(PRIMARY, DEVICE), first);
    old_status = 0;
    old_primary[DEVICE] = 3;
    ck_assert_int_eq(hook_reset(DEVICE), CUDA_SUCCESS);
    ck_assert_int_eq(old_primary[DEVICE], 3);
    ck_assert_ptr_ne(in(PRIMARY, DEVICE), first);
}
END_TEST

START_TEST(destroy_ends_one)
{
    old_primary[DEVICE] = 1;
    struct context *primary = in(PRIMARY, DEVICE), *other = in(OTHER, DEVICE);
    ck_assert_ptr_ne(primary, other);
    old_status = CUDA_ERROR_INVALID_CONTEXT;
    ck_assert_int_eq(hook_destroy(OTHER), CUDA_ERROR_INVALID_CONTEXT);
    ck_assert_ptr_eq(in(OTHER, DEVICE), other);
    old_status = 0;
    ck_assert_int_eq(hook_destroy(OTHER), CUDA_SUCCESS);
    ck_assert_ptr_eq(in(PRIMARY, DEVICE), primary);
    struct context *again = in(OTHER, DEVICE);
    ck_assert_ptr_ne(again, other);
    /* The primary context's end is not that of others on its device. */
    ck_assert_int_eq(hook_release(DEVICE), CUDA_SUCCESS);
    ck_assert_ptr_eq(in(OTHER, DEVICE), again);
    ck_assert_ptr_ne(in(PRIMARY, DEVICE), primary);
}
END_TEST

/* Where nothing is known of a device, its primary context is not even asked for. */
START_TEST(unknown_devices_are_left_alone)
{
    struct context *first = in(PRIMARY, DEVICE);
    old_primary[DEVICE] = 1;
    old_primary[OTHER_DEVICE] = 1;
    ck_assert(!context_on_device(OTHER_DEVICE));
    ck_assert_int_eq(hook_release(OTHER_DEVICE), CUDA_SUCCESS);
    ck_assert_int_eq(old_primary[OTHER_DEVICE], 0);
    ck_assert_ptr_eq(in(PRIMARY, DEVICE), first);
}
END_TEST

static void visit(struct context *context, void *arg)
{
    ck_assert(!context->dead);
    ++*(int *)arg;
}

START_TEST(the_dead_are_not_visited)
{
    int n = 0;
    old_primary[DEVICE] = 1;
    for (int i = 0; i < 5; i++) {
        ck_assert_ptr_nonnull(in(PRIMARY, DEVICE));
        ck_assert_int_eq(hook_reset(DEVICE), CUDA_SUCCESS);
    }
    in(OTHER, DEVICE);
    context_each(visit, &n);
    ck_assert_int_eq(n, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("context");
    TCase *tests = tcase_create("context");
    tcase_add_test(tests, release_ends_it_at_last);
    tcase_add_test(tests, reset_ends_it);
    tcase_add_test(tests, destroy_ends_one);
    tcase_add_test(tests, unknown_devices_are_left_alone);
    tcase_add_test(tests, the_dead_are_not_visited);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
