/* SPDX-License-Identifier: BSD-3-Clause
 * Streams: handles, order within one and between them, the default streams, host functions. */
#include "config.h"

#include "driver.h"

#include <stdatomic.h>

START_TEST(ids_are_unique_and_constant)
{
    enum { N = 8 };
    CUstream stream[N];
    unsigned long long id[N], again, standard, legacy, own;
    for (int i = 0; i < N; i++) {
        OK(cuStreamCreate(&stream[i], i % 2 != 0 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
        OK(cuStreamGetId(stream[i], &id[i]));
        for (int j = 0; j < i; j++)
            ck_assert(id[j] != id[i]);
    }
    OK(cuStreamGetId(stream[3], &again));
    ck_assert(again == id[3]);
    OK(cuStreamGetId(NULL, &standard));
    OK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
    ck_assert(standard == legacy);
    ck_assert(own != legacy);
    for (int i = 0; i < N; i++)
        OK(cuStreamDestroy(stream[i]));
    OK(cuStreamCreate(&stream[0], 0));
    OK(cuStreamGetId(stream[0], &again));
    for (int i = 0; i < N; i++)
        ck_assert(again != id[i]);
    OK(cuStreamDestroy(stream[0]));
}
END_TEST

static CUresult own_id(void *arg)
{
    return cuStreamGetId(CU_STREAM_PER_THREAD, arg);
}

START_TEST(each_thread_has_its_own_default_stream)
{
    unsigned long long here, there;
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &here));
    OK(elsewhere(own_id, &there));
    ck_assert(here != there);
}
END_TEST

START_TEST(streams_know_how_they_were_made)
{
    CUstream stream;
    unsigned flags;
    int priority, least, greatest;
    CUcontext owner;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
    OK(cuStreamGetFlags(stream, &flags));
    ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetPriority(stream, &priority));
    ck_assert_int_eq(priority, greatest);
    OK(cuStreamGetCtx(stream, &owner));
    ck_assert_ptr_eq(owner, context);
    OK(cuStreamDestroy(stream));
    OK(cuStreamCreateWithPriority(&stream, 0, greatest - 100));
    OK(cuStreamGetPriority(stream, &priority));
    ck_assert_int_eq(priority, greatest);
    OK(cuStreamDestroy(stream));
    OK(cuStreamGetPriority(NULL, &priority));
    ck_assert_int_eq(priority, 0);
    FAILS(cuStreamCreate(&stream, 0x80), INVALID_VALUE);
    FAILS(cuStreamCreate(NULL, 0), INVALID_VALUE);
}
END_TEST

START_TEST(a_stream_keeps_order)
{
    CUstream stream;
    CUdeviceptr p = words(300);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(launch(fill, stream, p, 1, 300));
    for (uint32_t i = 0; i < 10; i++) {
        OK(launch(add, stream, p, 1, 300));
        OK(cuMemsetD32Async(p, 100 * i, 1, stream));
    }
    OK(cuStreamSynchronize(stream));
    OK(cuStreamQuery(stream));
    WORD(p, 299, 11);
    WORD(p, 0, 900);
    OK(cuStreamDestroy(stream));
}
END_TEST

START_TEST(a_destroyed_stream_finishes_its_work)
{
    CUstream stream;
    CUdeviceptr p = words(64);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t i = 0; i < 5; i++)
        OK(launch(add, stream, p, 2, 64));
    OK(cuStreamDestroy(stream));
    ck_assert_int_ne(cuStreamDestroy(stream), CUDA_SUCCESS);
    WORD(p, 63, 10);
}
END_TEST

/* The legacy stream waits for all blocking streams, and they for it. */
START_TEST(the_legacy_stream_joins_blocking_streams)
{
    CUstream a, b;
    CUdeviceptr p = words(64), q = words(64), sum = words(64);
    OK(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    for (uint32_t round = 1; round < 20; round++) {
        OK(launch(fill, a, p, round, 64));
        OK(launch(fill, b, q, 2 * round, 64));
        OK(launch_copy(NULL, sum, p, 64));
        OK(launch(add, NULL, sum, round, 64));
        OK(launch(fill, a, p, 0, 64));
        OK(launch_copy(b, q, sum, 64));
        OK(cuStreamSynchronize(b));
        WORD(q, 5, 2 * round);
    }
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}
END_TEST

START_TEST(synchronous_calls_wait_for_blocking_streams)
{
    CUstream stream;
    uint32_t value;
    CUdeviceptr p = words(64);
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    for (uint32_t round = 1; round < 20; round++) {
        OK(launch(fill, stream, p, round, 64));
        OK(cuMemcpyDtoH(&value, p, 4));
        ck_assert_uint_eq(value, round);
    }
    OK(cuStreamDestroy(stream));
}
END_TEST

START_TEST(memory_is_freed_after_the_work_that_uses_it)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t round = 0; round < 20; round++) {
        CUdeviceptr p = words(4096);
        OK(launch(fill, stream, p, round, 4096));
        OK(launch(add, stream, p, round, 4096));
        OK(cuMemFree(p));
    }
    OK(cuCtxSynchronize());
    OK(cuStreamDestroy(stream));
}
END_TEST

static atomic_int sequence;

struct note {
    int at;
    CUresult call;
};

static void CUDA_CB take_note(void *arg)
{
    struct note *note = arg;
    note->at = atomic_fetch_add(&sequence, 1) + 1;
}

static void CUDA_CB take_note_of_status(CUstream stream, CUresult status, void *arg)
{
    (void)stream;
    struct note *note = arg;
    note->call = status;
    note->at = atomic_fetch_add(&sequence, 1) + 1;
}

START_TEST(host_functions_run_in_order)
{
    CUstream stream;
    struct note note[6];
    CUdeviceptr p = words(64);
    memset(note, 0, sizeof note);
    atomic_store(&sequence, 0);
    OK(cuStreamCreate(&stream, 0));
    for (int i = 0; i < 5; i++) {
        OK(launch(add, stream, p, 1, 64));
        OK(cuLaunchHostFunc(stream, take_note, &note[i]));
    }
    note[5].call = CUDA_ERROR_UNKNOWN;
    OK(cuStreamAddCallback(stream, take_note_of_status, &note[5], 0));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(note[i].at, i + 1);
    ck_assert_int_eq(note[5].call, CUDA_SUCCESS);
    FAILS(cuLaunchHostFunc(stream, NULL, NULL), INVALID_VALUE);
    OK(cuStreamDestroy(stream));
}
END_TEST

struct pinned_note {
    uint32_t *pinned, seen;
};

static void CUDA_CB read_pinned(void *arg)
{
    struct pinned_note *note = arg;
    note->seen = *note->pinned;
}

START_TEST(host_functions_see_what_came_before)
{
    CUstream stream;
    struct pinned_note note = {NULL, 0};
    CUdeviceptr p = words(64);
    OK(cuMemAllocHost((void **)&note.pinned, 4));
    *note.pinned = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(launch(fill, stream, p, 77, 64));
    OK(cuMemcpyDtoHAsync(note.pinned, p, 4, stream));
    OK(cuLaunchHostFunc(stream, read_pinned, &note));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(note.seen, 77);
    OK(cuStreamDestroy(stream));
    OK(cuMemFreeHost(note.pinned));
}
END_TEST

struct worker {
    CUdeviceptr p;
    uint32_t value;
};

static CUresult work_elsewhere(void *arg)
{
    struct worker *w = arg;
    CUresult r = CUDA_SUCCESS;
    for (uint32_t i = 0; i < 20 && r == CUDA_SUCCESS; i++)
        r = launch(add, CU_STREAM_PER_THREAD, w->p, 1, 64);
    if (r == CUDA_SUCCESS)
        r = cuStreamSynchronize(CU_STREAM_PER_THREAD);
    if (r == CUDA_SUCCESS)
        r = cuMemcpyDtoH(&w->value, w->p, 4);
    return r;
}

START_TEST(threads_use_the_driver_at_once)
{
    struct worker w = {words(64), 0};
    CUdeviceptr mine = words(64);
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int round = 1; round < 4; round++) {
        for (int i = 0; i < 10; i++)
            OK(launch(add, stream, mine, 1, 64));
        OK(elsewhere(work_elsewhere, &w));
        ck_assert_uint_eq(w.value, 20 * (unsigned)round);
    }
    WORD(mine, 0, 30);
    OK(cuStreamDestroy(stream));
}
END_TEST

Suite *suite_stream(void)
{
    Suite *suite = suite_create("stream");
    TCase *tests = tcase_create("streams");
    tcase_add_checked_fixture(tests, driver_setup, driver_teardown);
    tcase_add_test(tests, ids_are_unique_and_constant);
    tcase_add_test(tests, each_thread_has_its_own_default_stream);
    tcase_add_test(tests, streams_know_how_they_were_made);
    tcase_add_test(tests, a_stream_keeps_order);
    tcase_add_test(tests, a_destroyed_stream_finishes_its_work);
    tcase_add_test(tests, the_legacy_stream_joins_blocking_streams);
    tcase_add_test(tests, synchronous_calls_wait_for_blocking_streams);
    tcase_add_test(tests, memory_is_freed_after_the_work_that_uses_it);
    tcase_add_test(tests, host_functions_run_in_order);
    tcase_add_test(tests, host_functions_see_what_came_before);
    tcase_add_test(tests, threads_use_the_driver_at_once);
    suite_add_tcase(suite, tests);
    return suite;
}
