/* SPDX-License-Identifier: BSD-3-Clause
 * Events: what a record and a wait mean, states, and which elapsed times exist. */
#include "config.h"

#include "driver.h"

START_TEST(an_event_orders_two_streams)
{
    CUstream a, b;
    CUevent filled, copied;
    CUdeviceptr p = words(2000), q = words(2000);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
    for (uint32_t round = 1; round < 20; round++) {
        OK(launch(fill, a, p, round, 2000));
        OK(cuEventRecord(filled, a));
        OK(cuStreamWaitEvent(b, filled, 0));
        OK(launch_copy(b, q, p, 2000));
        OK(cuEventRecord(copied, b));
        OK(cuStreamWaitEvent(a, copied, 0));
        OK(launch(fill, a, p, 0, 2000));
        OK(cuStreamSynchronize(b));
        WORD(q, 1999, round);
    }
    OK(cuEventDestroy(filled));
    OK(cuEventDestroy(copied));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}
END_TEST

/* A wait means the record that was the last one when the wait was called. */
START_TEST(a_wait_means_the_record_before_it)
{
    CUstream a, b, c;
    CUevent event;
    CUdeviceptr p = words(64), q = words(64);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&c, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    for (uint32_t round = 1; round < 20; round++) {
        OK(launch(fill, a, p, round, 64));
        OK(cuEventRecord(event, a));
        OK(cuStreamWaitEvent(b, event, 0));
        OK(launch_copy(b, q, p, 64));
        OK(cuEventRecord(event, c)); /* no matter to b */
        OK(cuStreamSynchronize(b));
        WORD(q, 63, round);
    }
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuStreamDestroy(c));
}
END_TEST

START_TEST(an_unrecorded_event_holds_nobody)
{
    CUstream stream;
    CUevent event;
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuEventQuery(event));
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));
    OK(cuEventDestroy(event));
    ck_assert_int_ne(cuEventDestroy(event), CUDA_SUCCESS);
    OK(cuStreamDestroy(stream));
}
END_TEST

START_TEST(synchronising_an_event_completes_its_work)
{
    CUstream stream;
    CUevent event;
    uint32_t *pinned;
    CUdeviceptr p = words(64);
    OK(cuMemAllocHost((void **)&pinned, 4));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC));
    for (uint32_t round = 1; round < 20; round++) {
        OK(launch(fill, stream, p, round, 64));
        OK(cuMemcpyDtoHAsync(pinned, p, 4, stream));
        OK(cuEventRecord(event, stream));
        OK(launch(fill, stream, p, 0, 64));
        OK(cuEventSynchronize(event));
        OK(cuEventQuery(event));
        ck_assert_uint_eq(*pinned, round);
    }
    OK(cuCtxSynchronize());
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
    OK(cuMemFreeHost(pinned));
}
END_TEST

/* A destroyed event still releases those who wait for it. */
START_TEST(a_destroyed_event_keeps_its_promise)
{
    CUstream a, b;
    CUevent event;
    CUdeviceptr p = words(64), q = words(64);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    for (uint32_t round = 1; round < 10; round++) {
        OK(cuEventCreate(&event, 0));
        OK(launch(fill, a, p, round, 64));
        OK(cuEventRecord(event, a));
        OK(cuStreamWaitEvent(b, event, 0));
        OK(cuEventDestroy(event));
        OK(launch_copy(b, q, p, 64));
        OK(cuStreamSynchronize(b));
        WORD(q, 0, round);
    }
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}
END_TEST

START_TEST(only_some_times_can_be_asked)
{
    CUevent timed, timed_too, untimed;
    float ms;
    OK(cuEventCreate(&timed, 0));
    OK(cuEventCreate(&timed_too, 0));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    FAILS(cuEventElapsedTime(&ms, timed, timed_too), INVALID_HANDLE);
    OK(cuEventRecord(timed, NULL));
    FAILS(cuEventElapsedTime(&ms, timed, timed_too), INVALID_HANDLE);
    OK(cuEventRecord(timed_too, NULL));
    OK(cuEventRecord(untimed, NULL));
    OK(cuCtxSynchronize());
    OK(cuEventElapsedTime(&ms, timed, timed_too));
    ck_assert(ms >= 0);
    FAILS(cuEventElapsedTime(&ms, timed, untimed), INVALID_HANDLE);
    FAILS(cuEventElapsedTime(NULL, timed, timed_too), INVALID_VALUE);
    OK(cuEventDestroy(timed));
    OK(cuEventDestroy(timed_too));
    OK(cuEventDestroy(untimed));
}
END_TEST

START_TEST(events_belong_to_one_context)
{
    CUevent event;
    CUcontext other;
    CUstream there;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuStreamCreate(&there, 0));
    FAILS(cuEventRecord(event, there), INVALID_HANDLE);
    OK(cuStreamWaitEvent(there, event, 0));
    OK(cuStreamSynchronize(there));
    OK(cuCtxDestroy(other));
    OK(cuEventDestroy(event));
}
END_TEST

/* An event of one device holds a stream of the other. */
START_TEST(events_order_devices)
{
    CUevent event;
    CUcontext other;
    CUstream here, there;
    CUdeviceptr p = words(64), q;
    OK(cuStreamCreate(&here, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    q = words(64);
    for (uint32_t round = 1; round < 20; round++) {
        OK(cuCtxPushCurrent(context));
        OK(launch(fill, here, p, round, 64));
        OK(cuEventRecord(event, here));
        OK(cuCtxPopCurrent(NULL));
        OK(cuStreamWaitEvent(there, event, 0));
        OK(cuMemcpyPeerAsync(q, other, p, context, 256, there));
        OK(cuStreamSynchronize(there));
        WORD(q, 63, round);
    }
    OK(cuCtxDestroy(other));
    OK(cuStreamDestroy(here));
    OK(cuEventDestroy(event));
}
END_TEST

Suite *suite_event(void)
{
    Suite *suite = suite_create("event");
    TCase *tests = tcase_create("events");
    tcase_add_checked_fixture(tests, driver_setup, driver_teardown);
    tcase_add_test(tests, an_event_orders_two_streams);
    tcase_add_test(tests, a_wait_means_the_record_before_it);
    tcase_add_test(tests, an_unrecorded_event_holds_nobody);
    tcase_add_test(tests, synchronising_an_event_completes_its_work);
    tcase_add_test(tests, a_destroyed_event_keeps_its_promise);
    tcase_add_test(tests, only_some_times_can_be_asked);
    tcase_add_test(tests, events_belong_to_one_context);
    tcase_add_test(tests, events_order_devices);
    suite_add_tcase(suite, tests);
    return suite;
}
