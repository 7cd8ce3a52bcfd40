/* SPDX-License-Identifier: BSD-3-Clause
 * What the calls for other processes' memory and events refuse; that they work is checked by
 * programs/ipc.cu with two processes. */
#include "config.h"

#include "driver.h"

START_TEST(only_whole_device_allocations_are_exported)
{
    CUipcMemHandle handle, again;
    CUdeviceptr p = words(100), managed, pooled;
    void *pinned;
    unsigned capable;
    OK(cuIpcGetMemHandle(&handle, p));
    OK(cuIpcGetMemHandle(&again, p));
    ck_assert_mem_eq(&handle, &again, sizeof handle);
    OK(cuMemsetD32(p, 7, 100));
    WORD(p, 99, 7);
    FAILS(cuIpcGetMemHandle(&handle, p + 4), INVALID_VALUE);
    FAILS(cuIpcGetMemHandle(NULL, p), INVALID_VALUE);
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    FAILS(cuIpcGetMemHandle(&handle, managed), INVALID_VALUE);
    OK(cuMemHostAlloc(&pinned, 64, 0));
    FAILS(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)pinned), INVALID_VALUE);
    OK(cuMemAllocAsync(&pooled, 64, NULL));
    FAILS(cuIpcGetMemHandle(&handle, pooled), INVALID_VALUE);
    OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
    ck_assert_uint_eq(capable, 1);
    OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, pooled));
    ck_assert_uint_eq(capable, 0);
}
END_TEST

START_TEST(handles_are_for_other_processes)
{
    CUipcMemHandle handle;
    CUdeviceptr p = words(100), opened;
    int supported;
    OK(cuIpcGetMemHandle(&handle, p));
    FAILS(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), INVALID_CONTEXT);
    FAILS(cuIpcOpenMemHandle(&opened, handle, 0), INVALID_VALUE);
    FAILS(cuIpcCloseMemHandle(p), INVALID_VALUE);
    memset(&handle, 0x5a, sizeof handle);
    FAILS(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), INVALID_HANDLE);
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0));
    ck_assert_int_eq(supported, 1);
}
END_TEST

/* A freed allocation and the next at its place have different handles. */
START_TEST(handles_are_unique)
{
    CUipcMemHandle first, second;
    CUdeviceptr p = words(100), q;
    OK(cuIpcGetMemHandle(&first, p));
    OK(cuMemFree(p));
    OK(cuMemAlloc(&q, 400));
    OK(cuIpcGetMemHandle(&second, q));
    ck_assert_int_ne(memcmp(&first, &second, sizeof first), 0);
}
END_TEST

START_TEST(events_must_be_made_for_it)
{
    CUevent event, opened;
    CUipcEventHandle handle;
    FAILS(cuEventCreate(&event, CU_EVENT_INTERPROCESS), INVALID_VALUE);
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    FAILS(cuIpcGetEventHandle(&handle, event), INVALID_HANDLE);
    OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    OK(cuIpcGetEventHandle(&handle, event));
    FAILS(cuIpcGetEventHandle(NULL, event), INVALID_VALUE);
    FAILS(cuIpcOpenEventHandle(&opened, handle), INVALID_CONTEXT);
    memset(&handle, 0, sizeof handle);
    FAILS(cuIpcOpenEventHandle(&opened, handle), INVALID_HANDLE);
}
END_TEST

/* One that could be shared still is an event. */
START_TEST(an_exported_event_orders_work)
{
    enum { N = 2000 };
    CUevent event;
    CUipcEventHandle handle;
    CUstream a, b;
    CUdeviceptr p = words(N), q = words(N);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(event, a));
    OK(cuIpcGetEventHandle(&handle, event));
    OK(cuEventQuery(event));
    for (uint32_t i = 1; i <= 20; i++) {
        OK(launch(fill, a, p, i, N));
        OK(cuEventRecord(event, a));
        OK(cuStreamWaitEvent(b, event, 0));
        OK(launch_copy(b, q, p, N));
        OK(cuStreamSynchronize(b));
        WORD(q, N - 1, i);
    }
    OK(launch(fill, a, p, 100, N));
    OK(cuEventRecord(event, a));
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    WORD(p, N - 1, 100);
    OK(cuEventDestroy(event));
}
END_TEST

Suite *suite_ipc(void)
{
    Suite *suite = suite_create("ipc");
    TCase *tcase = tcase_create("ipc");
    tcase_add_checked_fixture(tcase, driver_setup, driver_teardown);
    tcase_add_test(tcase, only_whole_device_allocations_are_exported);
    tcase_add_test(tcase, handles_are_for_other_processes);
    tcase_add_test(tcase, handles_are_unique);
    tcase_add_test(tcase, events_must_be_made_for_it);
    tcase_add_test(tcase, an_exported_event_orders_work);
    suite_add_tcase(suite, tcase);
    return suite;
}
