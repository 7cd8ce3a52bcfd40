/* SPDX-License-Identifier: BSD-3-Clause
 * Devices, primary and explicit contexts, the stack of contexts, limits, peers. */
#include "config.h"

#include "driver.h"

#include <pthread.h>

START_TEST(nothing_works_before_init)
{
    ck_assert_int_eq(before_init, CUDA_ERROR_NOT_INITIALIZED);
}
END_TEST

START_TEST(devices_are_as_described)
{
    int n, value;
    char name[64];
    size_t bytes;
    CUdevice device;
    OK(cuDriverGetVersion(&n));
    ck_assert_int_ge(n, 13000);
    OK(cuDeviceGetCount(&n));
    ck_assert_int_eq(n, GPU_DEVICES);
    for (int i = 0; i < n; i++) {
        OK(cuDeviceGet(&device, i));
        OK(cuDeviceGetName(name, sizeof name, device));
        ck_assert_str_eq(name, "Check GPU");
        OK(cuDeviceTotalMem(&bytes, device));
        ck_assert_uint_eq(bytes, (size_t)GPU_MEMORY_MIB << 20);
        OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
        ck_assert_int_eq(value, 8);
        OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
        ck_assert_int_eq(value, 6);
        OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
        ck_assert_int_eq(value, GPU_SMS);
        OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
        ck_assert_int_eq(value, 32);
    }
    FAILS(cuDeviceGet(&device, n), INVALID_DEVICE);
    FAILS(cuDeviceGet(&device, -1), INVALID_DEVICE);
    FAILS(cuDeviceGetAttribute(&value, (CUdevice_attribute)0, 0), INVALID_VALUE);
    FAILS(cuDeviceGetCount(NULL), INVALID_VALUE);
    CUuuid a, b;
    OK(cuDeviceGetUuid(&a, 0));
    OK(cuDeviceGetUuid(&b, 1));
    ck_assert_mem_ne(&a, &b, sizeof a);
}
END_TEST

START_TEST(pci_ids_name_devices)
{
    char id[32];
    CUdevice device;
    for (int i = 0; i < GPU_DEVICES; i++) {
        OK(cuDeviceGetPCIBusId(id, sizeof id, i));
        OK(cuDeviceGetByPCIBusId(&device, id));
        ck_assert_int_eq(device, i);
    }
}
END_TEST

START_TEST(creation_pushes_and_destruction_pops)
{
    CUcontext now, other, popped;
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, context);
    CUctxCreateParams nothing = {0};
    OK(cuCtxCreate(&other, &nothing, 0, 1));
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, other);
    CUdevice device;
    OK(cuCtxGetDevice(&device));
    ck_assert_int_eq(device, 1);
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, other);
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, context);
    OK(cuCtxPushCurrent(other));
    OK(cuCtxDestroy(other));
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, context);
}
END_TEST

START_TEST(the_stack_is_last_in_first_out)
{
    CUcontext a, b, popped;
    OK(cuCtxCreate(&a, NULL, 0, 0));
    OK(cuCtxCreate(&b, NULL, 0, 1));
    OK(cuCtxPushCurrent(a));
    OK(cuCtxPushCurrent(a));
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, a);
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, a);
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, b);
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, a);
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, context);
    FAILS(cuCtxPopCurrent(&popped), INVALID_CONTEXT);
    OK(cuCtxDestroy(a));
    OK(cuCtxDestroy(b));
    OK(cuCtxSetCurrent(context));
}
END_TEST

static CUresult see_current(void *arg)
{
    return cuCtxGetCurrent(arg);
}

static void *see_current_bare(void *arg)
{
    return cuCtxGetCurrent(arg) == CUDA_SUCCESS ? arg : NULL;
}

START_TEST(each_thread_has_its_own_current_context)
{
    CUcontext there = context;
    pthread_t thread;
    void *returned;
    ck_assert_int_eq(pthread_create(&thread, NULL, see_current_bare, &there), 0);
    pthread_join(thread, &returned);
    ck_assert_ptr_nonnull(returned);
    ck_assert_ptr_null(there);
    OK(elsewhere(see_current, &there));
    ck_assert_ptr_eq(there, context);
}
END_TEST

START_TEST(work_needs_a_context)
{
    CUcontext popped;
    CUdeviceptr p;
    CUstream stream;
    CUevent event;
    CUdevice device;
    OK(cuCtxPopCurrent(&popped));
    FAILS(cuMemAlloc(&p, 4), INVALID_CONTEXT);
    FAILS(cuStreamCreate(&stream, 0), INVALID_CONTEXT);
    FAILS(cuEventCreate(&event, 0), INVALID_CONTEXT);
    FAILS(cuCtxGetDevice(&device), INVALID_CONTEXT);
    OK(cuCtxSetCurrent(popped));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(NULL));
    FAILS(cuMemAlloc(&p, 4), INVALID_CONTEXT);
    OK(cuCtxSetCurrent(popped));
}
END_TEST

START_TEST(the_primary_context_lives_while_retained)
{
    CUcontext a, b;
    unsigned flags;
    int active;
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 0);
    OK(cuDevicePrimaryCtxRetain(&a, 1));
    OK(cuDevicePrimaryCtxRetain(&b, 1));
    ck_assert_ptr_eq(a, b);
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 1);
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 0);
    FAILS(cuDevicePrimaryCtxRelease(1), INVALID_CONTEXT);
    FAILS(cuDevicePrimaryCtxRetain(&a, GPU_DEVICES), INVALID_DEVICE);
}
END_TEST

START_TEST(a_primary_context_is_not_destroyed_but_reset)
{
    CUcontext primary, again;
    unsigned long long first, second;
    CUdeviceptr p;
    OK(cuDevicePrimaryCtxRetain(&primary, 1));
    FAILS(cuCtxDestroy(primary), INVALID_CONTEXT);
    OK(cuCtxGetId(primary, &first));
    OK(cuCtxPushCurrent(primary));
    OK(cuMemAlloc(&p, 1 << 20));
    size_t before, after, total;
    OK(cuMemGetInfo(&before, &total));
    OK(cuDevicePrimaryCtxReset(1));
    OK(cuCtxPopCurrent(NULL));
    OK(cuDevicePrimaryCtxRetain(&again, 1));
    OK(cuCtxGetId(again, &second));
    ck_assert(first != second);
    OK(cuCtxPushCurrent(again));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_ge(after, before + (1 << 20));
    OK(cuCtxPopCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease(1));
}
END_TEST

START_TEST(a_destroyed_context_gives_its_memory_back)
{
    CUcontext other;
    CUdeviceptr p;
    size_t before, during, after, total;
    OK(cuMemGetInfo(&before, &total));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuMemAlloc(&p, 1 << 20));
    OK(cuMemGetInfo(&during, &total));
    ck_assert_uint_le(during + (1 << 20), before);
    OK(cuCtxDestroy(other));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(after, before);
}
END_TEST

START_TEST(objects_of_a_destroyed_context_are_refused)
{
    CUcontext other;
    CUstream stream;
    CUevent event;
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuCtxDestroy(other));
    ck_assert_int_ne(cuStreamSynchronize(stream), CUDA_SUCCESS);
    ck_assert_int_ne(cuEventSynchronize(event), CUDA_SUCCESS);
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(contexts_have_distinct_ids)
{
    CUcontext other;
    unsigned long long a, b, c;
    OK(cuCtxGetId(NULL, &a));
    OK(cuCtxGetId(context, &b));
    ck_assert(a == b);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuCtxGetId(NULL, &c));
    ck_assert(a != c);
    OK(cuCtxDestroy(other));
}
END_TEST

START_TEST(limits_and_flags_are_kept)
{
    size_t value;
    unsigned flags;
    int least, greatest;
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_gt(value, 0);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(value, 4096);
    FAILS(cuCtxSetLimit((CUlimit)999, 1), UNSUPPORTED_LIMIT);
    CUcontext other;
    OK(cuCtxCreate(&other, NULL, CU_CTX_SCHED_BLOCKING_SYNC, 0));
    OK(cuCtxGetFlags(&flags));
    ck_assert_uint_eq(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
    OK(cuCtxDestroy(other));
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    ck_assert_int_ge(least, greatest);
}
END_TEST

/* Memory of device 1, with a context there that stays below the test's own one. */
static CUdeviceptr words_on_peer(CUcontext *peer, uint32_t n)
{
    CUdeviceptr p;
    OK(cuCtxCreate(peer, NULL, 0, 1));
    p = words(n);
    OK(cuCtxPopCurrent(NULL));
    return p;
}

START_TEST(peers_are_reached_when_enabled)
{
    CUcontext peer;
    int can;
    CUdeviceptr p = words_on_peer(&peer, 32);
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    ck_assert_int_eq(can, 1);
    FAILS(cuCtxDisablePeerAccess(peer), PEER_ACCESS_NOT_ENABLED);
    OK(cuCtxEnablePeerAccess(peer, 0));
    FAILS(cuCtxEnablePeerAccess(peer, 0), PEER_ACCESS_ALREADY_ENABLED);
    OK(launch(fill, NULL, p, 7, 32));
    OK(cuCtxSynchronize());
    WORD(p, 31, 7);
    OK(cuCtxDisablePeerAccess(peer));
    OK(cuCtxDestroy(peer));
}
END_TEST

START_TEST(peers_are_not_reached_unless_enabled)
{
    CUcontext peer;
    CUdeviceptr p = words_on_peer(&peer, 32);
    OK(launch(fill, NULL, p, 7, 32));
    FAILS(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    OK(cuCtxDestroy(peer));
}
END_TEST

START_TEST(peer_copies_need_no_peer_access)
{
    CUcontext peer;
    uint32_t value = 0;
    CUdeviceptr there = words_on_peer(&peer, 32), here = words(32);
    OK(cuMemsetD32(here, 5, 32));
    OK(cuMemcpyPeer(there, peer, here, context, 128));
    OK(cuCtxSynchronize());
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)&value, there + 124, 4));
    ck_assert_uint_eq(value, 5);
    OK(cuMemcpyPeerAsync(here, context, there, peer, 64, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy(peer));
}
END_TEST

Suite *suite_context(void)
{
    Suite *suite = suite_create("context");
    TCase *bare = tcase_create("devices");
    tcase_add_test(bare, nothing_works_before_init);
    tcase_add_test(bare, devices_are_as_described);
    tcase_add_test(bare, pci_ids_name_devices);
    suite_add_tcase(suite, bare);
    TCase *tests = tcase_create("contexts");
    tcase_add_checked_fixture(tests, driver_setup, driver_teardown);
    tcase_add_test(tests, creation_pushes_and_destruction_pops);
    tcase_add_test(tests, the_stack_is_last_in_first_out);
    tcase_add_test(tests, each_thread_has_its_own_current_context);
    tcase_add_test(tests, work_needs_a_context);
    tcase_add_test(tests, the_primary_context_lives_while_retained);
    tcase_add_test(tests, a_primary_context_is_not_destroyed_but_reset);
    tcase_add_test(tests, a_destroyed_context_gives_its_memory_back);
    tcase_add_test(tests, objects_of_a_destroyed_context_are_refused);
    tcase_add_test(tests, contexts_have_distinct_ids);
    tcase_add_test(tests, limits_and_flags_are_kept);
    tcase_add_test(tests, peers_are_reached_when_enabled);
    tcase_add_test(tests, peers_are_not_reached_unless_enabled);
    tcase_add_test(tests, peer_copies_need_no_peer_access);
    suite_add_tcase(suite, tests);
    return suite;
}
