/* SPDX-License-Identifier: BSD-3-Clause
 * Allocation of every kind, what pointers are said to be, pools, sizes and limits. */
#include "config.h"

#include "driver.h"

START_TEST(allocation_has_its_rules)
{
    CUdeviceptr p, q;
    OK(cuMemAlloc(&p, 1));
    OK(cuMemAlloc(&q, 1));
    ck_assert(p != q);
    ck_assert_uint_eq(p % 256, 0);
    ck_assert_uint_eq(q % 256, 0);
    FAILS(cuMemAlloc(&q, 0), INVALID_VALUE);
    FAILS(cuMemAlloc(NULL, 4), INVALID_VALUE);
    FAILS(cuMemFree(p + 1), INVALID_VALUE);
    OK(cuMemFree(p));
    FAILS(cuMemFree(p), INVALID_VALUE);
    OK(cuMemFree(0));
}
END_TEST

START_TEST(memory_runs_out)
{
    CUdeviceptr p, q;
    size_t before, after, total;
    OK(cuMemGetInfo(&before, &total));
    ck_assert_uint_eq(total, (size_t)GPU_MEMORY_MIB << 20);
    OK(cuMemAlloc(&p, total / 2));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before - after, total / 2);
    FAILS(cuMemAlloc(&q, total / 2 + 4096), OUT_OF_MEMORY);
    FAILS(cuMemAlloc(&q, (size_t)1 << 60), OUT_OF_MEMORY);
    OK(cuMemFree(p));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(after, before);
    OK(cuMemAlloc(&q, total / 2 + 4096));
    OK(cuMemFree(q));
}
END_TEST

START_TEST(fresh_memory_is_poisoned)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 4096));
    OK(cuMemsetD8(p, 0, 4096));
    OK(cuMemFree(p));
    OK(cuMemAlloc(&p, 4096));
    for (uint32_t i = 0; i < 1024; i += 93)
        WORD(p, i, UINT32_MAX);
}
END_TEST

START_TEST(an_address_leads_to_its_allocation)
{
    CUdeviceptr p = words(1000), base;
    size_t bytes;
    int host;
    OK(cuMemGetAddressRange(&base, &bytes, p + 3999));
    ck_assert_uint_eq(base, p);
    ck_assert_uint_eq(bytes, 4000);
    OK(cuMemGetAddressRange(NULL, &bytes, p));
    OK(cuMemGetAddressRange(&base, NULL, p));
    ck_assert_int_ne(cuMemGetAddressRange(&base, &bytes, p + 4000), CUDA_SUCCESS);
    ck_assert_int_ne(cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)(uintptr_t)&host),
                     CUDA_SUCCESS);
}
END_TEST

START_TEST(device_pointers_are_described)
{
    CUdeviceptr p = words(64), start;
    unsigned type, managed;
    int ordinal;
    size_t bytes;
    CUcontext owner;
    unsigned long long a, b;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 8));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    ck_assert_int_eq(ordinal, 0);
    OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    ck_assert_ptr_eq(owner, context);
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    ck_assert_uint_eq(managed & 0xff, 0);
    OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 8));
    ck_assert_uint_eq(start, p);
    OK(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p));
    ck_assert_uint_eq(bytes, 256);
    OK(cuPointerGetAttribute(&a, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
    OK(cuMemFree(p));
    p = words(64);
    OK(cuPointerGetAttribute(&b, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
    ck_assert(a != b);
}
END_TEST

/* IS_MANAGED and its like are answered as one byte or as four: only the bytes written count. */
START_TEST(boolean_attributes_write_no_more_than_their_size)
{
    CUdeviceptr p = words(64);
    unsigned char flag[8];
    memset(flag, 0xee, sizeof flag);
    OK(cuPointerGetAttribute(flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    ck_assert_uint_eq(flag[0], 0);
    for (int i = 4; i < 8; i++)
        ck_assert_uint_eq(flag[i], 0xee);
}
END_TEST

START_TEST(unknown_pointers_are_described_as_nothing)
{
    unsigned type = 7;
    int ordinal = 7, here;
    CUcontext owner = context;
    CUdeviceptr p = (CUdeviceptr)(uintptr_t)&here;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_CONTEXT};
    void *data[] = {&type, &ordinal, &owner};
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), INVALID_VALUE);
    OK(cuPointerGetAttributes(3, what, data, p));
    ck_assert_uint_eq(type, 0);
    ck_assert_int_eq(ordinal, -2);
    ck_assert_ptr_null(owner);
}
END_TEST

START_TEST(pinned_memory_is_shared_by_host_and_device)
{
    uint32_t *host, *mapped;
    CUdeviceptr device;
    unsigned type;
    OK(cuMemHostAlloc((void **)&host, 256, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&device, host, 0));
    OK(launch(fill, NULL, device, 9, 64));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(host[63], 9);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_HOST);
    OK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_HOST_POINTER, device));
    ck_assert_ptr_eq(mapped, host);
    OK(cuMemFreeHost(host));
    FAILS(cuMemFreeHost(host), INVALID_VALUE);
    OK(cuMemAllocHost((void **)&host, 64));
    OK(cuMemFreeHost(host));
}
END_TEST

START_TEST(registered_memory_is_shared_too)
{
    uint32_t *host = calloc(4096, 4);
    CUdeviceptr device;
    ck_assert_ptr_nonnull(host);
    OK(cuMemHostRegister(host, 4096 * 4, 0));
    FAILS(cuMemHostRegister(host, 4096 * 4, 0), HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostGetDevicePointer(&device, host, 0));
    OK(launch(fill, NULL, device, 11, 4096));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(host[4095], 11);
    OK(cuMemHostUnregister(host));
    FAILS(cuMemHostUnregister(host), HOST_MEMORY_NOT_REGISTERED);
    free(host);
}
END_TEST

START_TEST(managed_memory_is_read_and_written_by_both)
{
    CUdeviceptr p;
    unsigned managed = 0, type;
    OK(cuMemAllocManaged(&p, 256, CU_MEM_ATTACH_GLOBAL));
    uint32_t *host = (uint32_t *)(uintptr_t)p;
    for (uint32_t i = 0; i < 64; i++)
        host[i] = i;
    OK(launch(add, NULL, p, 100, 64));
    OK(cuCtxSynchronize());
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(host[i], i + 100);
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    ck_assert_uint_eq(managed, 1);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    FAILS(cuMemAllocManaged(&p, 256, 0), INVALID_VALUE);
    OK(cuMemFree(p));
}
END_TEST

/* Prefetched memory keeps its contents, discarded memory does not. */
START_TEST(hints_come_in_batches)
{
    enum { WORDS = 64, BYTES = 4 * WORDS };
    CUstream stream;
    CUdeviceptr p[3];
    size_t bytes[3] = {BYTES, BYTES / 2, BYTES}, first[2] = {0, 2};
    CUmemLocation places[2] = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                               {.type = CU_MEM_LOCATION_TYPE_HOST}};
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; i++) {
        OK(cuMemAllocManaged(&p[i], BYTES, CU_MEM_ATTACH_GLOBAL));
        OK(launch(fill, stream, p[i], 5, WORDS));
    }
    OK(cuMemPrefetchBatchAsync(p, bytes, 3, places, first, 2, 0, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p[0], 0, 5);
    OK(cuMemDiscardBatchAsync(p, bytes, 2, 0, stream));
    OK(launch(fill, stream, p[0], 6, 1)); /* after it */
    OK(cuStreamSynchronize(stream));
    WORD(p[0], 0, 6);
    WORD(p[0], 1, 0xffffffff);
    WORD(p[1], WORDS / 2 - 1, 0xffffffff);
    WORD(p[1], WORDS / 2, 5);
    WORD(p[2], 0, 5);
    OK(cuMemDiscardAndPrefetchBatchAsync(p, bytes, 3, places, first, 1, 0, stream));
    OK(cuStreamSynchronize(stream));
    WORD(p[2], WORDS - 1, 0xffffffff);
    FAILS(cuMemDiscardBatchAsync(p, bytes, 0, 0, stream), INVALID_VALUE);
    FAILS(cuMemDiscardBatchAsync(p, bytes, 3, 1, stream), INVALID_VALUE);
    FAILS(cuMemDiscardBatchAsync(p, bytes, 3, 0, CU_STREAM_LEGACY), INVALID_HANDLE);
    first[0] = 1;
    FAILS(cuMemPrefetchBatchAsync(p, bytes, 3, places, first, 2, 0, stream), INVALID_VALUE);
    first[0] = 0;
    first[1] = 3;
    FAILS(cuMemPrefetchBatchAsync(p, bytes, 3, places, first, 2, 0, stream), INVALID_VALUE);
    first[1] = 0;
    FAILS(cuMemPrefetchBatchAsync(p, bytes, 3, places, first, 2, 0, stream), INVALID_VALUE);
    bytes[1] = BYTES + 1;
    FAILS(cuMemDiscardBatchAsync(p, bytes, 3, 0, stream), INVALID_VALUE);
    bytes[1] = BYTES;
    p[1] = words(WORDS);
    FAILS(cuMemDiscardBatchAsync(p, bytes, 3, 0, stream), INVALID_VALUE);
}
END_TEST

START_TEST(pitched_memory_has_aligned_rows)
{
    CUdeviceptr p;
    size_t pitch, bytes;
    OK(cuMemAllocPitch(&p, &pitch, 100, 7, 4));
    ck_assert_uint_ge(pitch, 100);
    ck_assert_uint_eq(pitch % 128, 0);
    OK(cuMemGetAddressRange(NULL, &bytes, p));
    ck_assert_uint_ge(bytes, pitch * 7);
    FAILS(cuMemAllocPitch(&p, &pitch, 100, 7, 3), INVALID_VALUE);
}
END_TEST

START_TEST(ordered_memory_follows_its_stream)
{
    CUstream stream;
    CUdeviceptr p, q, kept = words(64);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t round = 0; round < 20; round++) {
        OK(cuMemAllocAsync(&p, 256, stream));
        OK(launch(fill, stream, p, round, 64));
        OK(cuMemAllocAsync(&q, 256, stream));
        OK(launch(fill, stream, q, 1000, 64));
        OK(launch_copy(stream, kept, p, 64));
        OK(cuMemFreeAsync(p, stream));
        OK(cuMemFreeAsync(q, stream));
        OK(cuStreamSynchronize(stream));
        WORD(kept, 63, round);
    }
    FAILS(cuMemFreeAsync(p, stream), INVALID_VALUE);
    OK(cuMemAllocAsync(&p, 256, stream));
    OK(cuMemFreeAsync(p, stream));
    FAILS(cuMemFreeAsync(p, stream), INVALID_VALUE);
    OK(cuMemAllocAsync(&p, 256, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree(p));
    OK(cuStreamDestroy(stream));
}
END_TEST

START_TEST(pools_are_found_by_place)
{
    CUmemoryPool standard, now, own;
    CUmemLocation place = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    CUmemPoolProps props;
    OK(cuDeviceGetDefaultMemPool(&standard, 1));
    OK(cuMemGetDefaultMemPool(&now, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
    ck_assert_ptr_eq(now, standard);
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = place;
    OK(cuMemPoolCreate(&own, &props));
    OK(cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, own));
    OK(cuMemGetMemPool(&now, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
    ck_assert_ptr_eq(now, own);
    OK(cuDeviceGetMemPool(&now, 1));
    ck_assert_ptr_eq(now, own);
    place.id = 0;
    FAILS(cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, own), INVALID_VALUE);
    FAILS(cuMemGetMemPool(&now, &place, CU_MEM_ALLOCATION_TYPE_MANAGED), NOT_SUPPORTED);
    place.id = GPU_DEVICES;
    FAILS(cuMemGetMemPool(&now, &place, CU_MEM_ALLOCATION_TYPE_PINNED), INVALID_DEVICE);
    OK(cuMemPoolDestroy(own));
    OK(cuDeviceGetMemPool(&now, 1));
    ck_assert_ptr_eq(now, standard);
}
END_TEST

START_TEST(pools_are_made_and_asked)
{
    CUmemoryPool standard, now, own;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    cuuint64_t threshold = 12345, value = 0, used = 99;
    CUdeviceptr p;
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    OK(cuDeviceGetMemPool(&now, 0));
    ck_assert_ptr_eq(now, standard);
    OK(cuMemPoolCreate(&own, &props));
    OK(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    ck_assert(value == threshold);
    OK(cuDeviceSetMemPool(0, own));
    OK(cuDeviceGetMemPool(&now, 0));
    ck_assert_ptr_eq(now, own);
    OK(cuDeviceSetMemPool(0, standard));
    OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    ck_assert(used == 0);
    OK(cuMemAllocFromPoolAsync(&p, 4096, own, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    ck_assert(used == 4096);
    OK(cuMemPoolGetAttribute(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    ck_assert(used == 0);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    ck_assert(used == 0);
    OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
    ck_assert(used == 4096);
    OK(cuMemPoolTrimTo(own, 0));
    OK(cuMemPoolDestroy(own));
}
END_TEST

Suite *suite_memory(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("allocation");
    tcase_add_checked_fixture(tests, driver_setup, driver_teardown);
    tcase_add_test(tests, allocation_has_its_rules);
    tcase_add_test(tests, memory_runs_out);
    tcase_add_test(tests, fresh_memory_is_poisoned);
    tcase_add_test(tests, an_address_leads_to_its_allocation);
    tcase_add_test(tests, device_pointers_are_described);
    tcase_add_test(tests, boolean_attributes_write_no_more_than_their_size);
    tcase_add_test(tests, unknown_pointers_are_described_as_nothing);
    tcase_add_test(tests, pinned_memory_is_shared_by_host_and_device);
    tcase_add_test(tests, registered_memory_is_shared_too);
    tcase_add_test(tests, managed_memory_is_read_and_written_by_both);
    tcase_add_test(tests, hints_come_in_batches);
    tcase_add_test(tests, pools_are_found_by_place);
    tcase_add_test(tests, pitched_memory_has_aligned_rows);
    tcase_add_test(tests, ordered_memory_follows_its_stream);
    tcase_add_test(tests, pools_are_made_and_asked);
    suite_add_tcase(suite, tests);
    return suite;
}
