/* SPDX-License-Identifier: BSD-3-Clause
 * Virtual memory management: sizes and alignments, mappings, access, aliases, lifetimes, sharing.
 */
#include "config.h"

#include "driver.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 1 << 19 }; /* of one granule */

static const CUmemAllocationProp device_0 = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
};
static size_t granule;

static void setup(void)
{
    driver_setup();
    OK(cuMemGetAllocationGranularity(&granule, &device_0, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ck_assert_uint_eq(granule, 4 * (size_t)WORDS);
}

static CUdeviceptr reserve(size_t granules)
{
    CUdeviceptr p;
    OK(cuMemAddressReserve(&p, granules * granule, 0, 0, 0));
    return p;
}

static CUmemGenericAllocationHandle create(size_t granules)
{
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, granules * granule, &device_0, 0));
    return handle;
}

static CUresult set_access(CUdeviceptr p, size_t granules, int device, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}, flags};
    return cuMemSetAccess(p, granules * granule, &desc, 1);
}

#define OPEN(_p, _granules) OK(set_access(_p, _granules, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE))

/* One granule of memory at p, for device 0; the handle is released. */
static void back(CUdeviceptr p)
{
    CUmemGenericAllocationHandle handle = create(1);
    OK(cuMemMap(p, granule, 0, handle, 0));
    OK(cuMemRelease(handle));
    OPEN(p, 1);
}

static size_t free_bytes(void)
{
    size_t available, total;
    OK(cuMemGetInfo(&available, &total));
    ck_assert_uint_eq(total, (size_t)GPU_MEMORY_MIB << 20);
    return available;
}

START_TEST(mapped_memory_is_memory)
{
    uint32_t fresh;
    const CUdeviceptr p = reserve(4), q = p + granule;
    ck_assert_uint_eq(p % granule, 0);
    back(q);
    OK(cuMemcpyDtoH(&fresh, q + 400, 4));
    ck_assert_uint_eq(fresh, 0xffffffff); /* poison */
    OK(launch(fill, NULL, q, 5, WORDS));
    OK(launch(add, NULL, q + 4 * (WORDS - 10), 2, 10));
    WORD(q, 0, 5);
    WORD(q, WORDS - 11, 5);
    WORD(q, WORDS - 1, 7);
    OK(cuMemsetD32(q, 9, WORDS));
    WORD(q, WORDS - 1, 9);
    OK(cuStreamWriteValue32(NULL, q, 3, 0));
    WORD(q, 0, 3);
    OK(cuMemUnmap(q, granule));
    OK(cuMemAddressFree(p, 4 * granule));
}
END_TEST

/* Where nothing is mapped, or mapped without access, a kernel faults and a copy is refused. */
START_TEST(without_access_there_is_none)
{
    uint32_t value = 1;
    const CUdeviceptr p = reserve(2);
    CUmemGenericAllocationHandle handle = create(1);
    FAILS(cuMemcpyHtoD(p, &value, 4), INVALID_VALUE);
    FAILS(cuMemcpyDtoH(&value, p, 4), INVALID_VALUE);
    FAILS(cuMemsetD32(p, 0, 1), INVALID_VALUE);
    OK(cuMemMap(p, granule, 0, handle, 0));
    FAILS(cuMemcpyHtoD(p, &value, 4), INVALID_VALUE);
    OPEN(p, 1);
    OK(cuMemcpyHtoD(p, &value, 4));
    FAILS(cuMemsetD32(p + granule - 8, 0, 4), INVALID_VALUE); /* half of it */
    OK(set_access(p, 1, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    FAILS(cuMemcpyHtoD(p, &value, 4), INVALID_VALUE);
    OK(set_access(p, 1, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)); /* the other device */
    OK(launch(fill, NULL, p, 1, 1));
    FAILS(cuCtxSynchronize(), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(neighbours_are_one_array)
{
    const CUdeviceptr p = reserve(4);
    back(p + granule);
    back(p + 2 * granule);
    back(p); /* before the others, which stay accessible */
    OK(launch(fill, NULL, p, 6, 3 * WORDS));
    WORD(p, 0, 6);
    WORD(p, 2 * WORDS, 6);
    WORD(p, 3 * WORDS - 1, 6);
    OK(cuMemsetD32(p + granule - 4, 8, 2)); /* one fill, two mappings */
    WORD(p, WORDS - 2, 6);
    WORD(p, WORDS - 1, 8);
    WORD(p, WORDS, 8);
    OK(cuMemcpyDtoD(p + 2 * granule - 400, p + granule - 400, 800));
    WORD(p, 2 * WORDS - 1, 8);
    WORD(p, 2 * WORDS, 8);
    FAILS(cuMemUnmap(p, granule / 2), INVALID_VALUE);
    FAILS(cuMemUnmap(p + granule / 2, granule), INVALID_VALUE);
    FAILS(cuMemUnmap(p, 4 * granule), INVALID_VALUE);
    OK(cuMemUnmap(p + granule, granule));
    WORD(p, WORDS - 1, 8);
    WORD(p, 2 * WORDS, 8);
    FAILS(cuMemsetD32(p + granule - 4, 8, 2), INVALID_VALUE);
    FAILS(cuMemUnmap(p, 3 * granule), INVALID_VALUE); /* there is a gap */
    back(p + granule);
    WORD(p, WORDS, 0xffffffff);
    OK(cuMemUnmap(p, 3 * granule));
    OK(cuMemAddressFree(p, 4 * granule));
}
END_TEST

START_TEST(one_memory_may_have_two_addresses)
{
    const CUdeviceptr p = reserve(2), q = reserve(1);
    CUmemGenericAllocationHandle handle = create(2);
    OK(cuMemMap(p, 2 * granule, 0, handle, 0));
    OK(cuMemMap(q, granule, 0, handle, 0)); /* the first half */
    OPEN(p, 2);
    OPEN(q, 1);
    OK(launch(fill, NULL, p, 4, 2 * WORDS));
    WORD(q, WORDS - 1, 4);
    OK(launch(add, NULL, q, 3, 10));
    WORD(p, 9, 7);
    WORD(p, 10, 4);
    OK(cuMemUnmap(p, 2 * granule));
    WORD(q, 9, 7);
    OK(cuMemUnmap(q, granule));
    OK(cuMemRelease(handle));
    FAILS(cuMemRelease(handle), INVALID_VALUE);
}
END_TEST

START_TEST(memory_lives_as_long_as_it_is_used)
{
    const size_t before = free_bytes();
    const CUdeviceptr p = reserve(3);
    ck_assert_uint_eq(free_bytes(), before);
    CUmemGenericAllocationHandle handle = create(3), again;
    ck_assert_uint_eq(free_bytes(), before - 3 * granule);
    OK(cuMemMap(p, 3 * granule, 0, handle, 0));
    OPEN(p, 3);
    OK(launch(fill, NULL, p, 2, 3 * WORDS));
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(p + 2 * granule + 17)));
    ck_assert(again == handle);
    OK(cuMemRelease(handle));
    OK(cuMemRelease(handle));
    WORD(p, 3 * WORDS - 1, 2);
    FAILS(cuMemMap(p, granule, 0, handle, 0), INVALID_VALUE); /* the handle is gone */
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)p));
    ck_assert(again == handle);
    ck_assert_uint_eq(free_bytes(), before - 3 * granule);
    OK(cuMemUnmap(p, 3 * granule));
    ck_assert_uint_eq(free_bytes(), before - 3 * granule);
    OK(cuMemMap(p, 3 * granule, 0, again, 0)); /* access begins anew, contents stay */
    FAILS(cuMemsetD32(p, 1, 1), INVALID_VALUE);
    OPEN(p, 3);
    WORD(p, 100, 2);
    OK(cuMemUnmap(p, 3 * granule));
    OK(cuMemRelease(again));
    ck_assert_uint_eq(free_bytes(), before);
    FAILS(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)p), INVALID_VALUE);
}
END_TEST

START_TEST(a_device_has_so_much_memory)
{
    CUmemGenericAllocationHandle handle, rest;
    CUdeviceptr p, q;
    const size_t most = free_bytes() / granule;
    FAILS(cuMemCreate(&handle, (most + 1) * granule, &device_0, 0), OUT_OF_MEMORY);
    OK(cuMemAlloc(&p, (most - 4) * granule));
    FAILS(cuMemCreate(&handle, 5 * granule, &device_0, 0), OUT_OF_MEMORY);
    rest = create(4);
    FAILS(cuMemCreate(&handle, granule, &device_0, 0), OUT_OF_MEMORY);
    FAILS(cuMemAlloc(&q, 1 << 20), OUT_OF_MEMORY);
    OK(cuMemRelease(rest));
    OK(cuMemAlloc(&q, 1 << 20));
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    CUmemGenericAllocationHandle handle = create(2), other;
    CUmemAllocationProp prop = device_0;
    CUdeviceptr p = reserve(3), q;
    CUmemAccessDesc desc = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                            CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    FAILS(cuMemAddressReserve(&q, 0, 0, 0, 0), INVALID_VALUE);
    FAILS(cuMemAddressReserve(&q, 1000, 0, 0, 0), INVALID_VALUE);
    FAILS(cuMemAddressReserve(&q, granule, 3 * granule, 0, 0), INVALID_VALUE);
    FAILS(cuMemAddressReserve(&q, granule, 0, 0, 1), INVALID_VALUE);
    FAILS(cuMemAddressReserve(NULL, granule, 0, 0, 0), INVALID_VALUE);
    FAILS(cuMemCreate(&other, granule + 4096, &prop, 0), INVALID_VALUE);
    FAILS(cuMemCreate(&other, 0, &prop, 0), INVALID_VALUE);
    FAILS(cuMemCreate(&other, granule, &prop, 1), INVALID_VALUE);
    FAILS(cuMemCreate(&other, granule, NULL, 0), INVALID_VALUE);
    prop.location.id = GPU_DEVICES;
    FAILS(cuMemCreate(&other, granule, &prop, 0), INVALID_DEVICE);
    prop = device_0;
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    FAILS(cuMemCreate(&other, granule, &prop, 0), INVALID_VALUE);
    prop = device_0;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    FAILS(cuMemCreate(&other, granule, &prop, 0), NOT_SUPPORTED);
    FAILS(cuMemMap(p, granule, granule, handle, 0), INVALID_VALUE); /* "must be zero" */
    FAILS(cuMemMap(p, granule, 0, handle, 1), INVALID_VALUE);
    FAILS(cuMemMap(p, 3 * granule, 0, handle, 0), INVALID_VALUE);
    FAILS(cuMemMap(p, granule / 2, 0, handle, 0), INVALID_VALUE);
    FAILS(cuMemMap(p + 4096, granule, 0, handle, 0), INVALID_VALUE);
    FAILS(cuMemMap(p + 2 * granule, 2 * granule, 0, handle, 0), INVALID_VALUE); /* sticks out */
    FAILS(cuMemMap(words(1) & ~(granule - 1), granule, 0, handle, 0), INVALID_VALUE);
    FAILS(cuMemSetAccess(p, granule, &desc, 1), INVALID_VALUE); /* nothing there */
    OK(cuMemMap(p, 2 * granule, 0, handle, 0));
    FAILS(cuMemMap(p + granule, granule, 0, handle, 0), INVALID_VALUE); /* taken */
    FAILS(cuMemSetAccess(p, granule, &desc, 1), INVALID_VALUE);         /* not all of it */
    FAILS(cuMemSetAccess(p, 3 * granule, &desc, 1), INVALID_VALUE);
    FAILS(cuMemSetAccess(p, 2 * granule, NULL, 1), INVALID_VALUE);
    desc.location.id = GPU_DEVICES;
    FAILS(cuMemSetAccess(p, 2 * granule, &desc, 1), INVALID_DEVICE);
    desc.location.id = 0;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    FAILS(cuMemSetAccess(p, 2 * granule, &desc, 1), NOT_SUPPORTED);
    FAILS(cuMemAddressFree(p, 3 * granule), INVALID_VALUE); /* in use */
    OK(cuMemUnmap(p, 2 * granule));
    FAILS(cuMemUnmap(p, 2 * granule), INVALID_VALUE);
    FAILS(cuMemAddressFree(p, granule), INVALID_VALUE);
    FAILS(cuMemAddressFree(p + granule, 2 * granule), INVALID_VALUE);
    OK(cuMemAddressFree(p, 3 * granule));
    FAILS(cuMemAddressFree(p, 3 * granule), INVALID_VALUE);
    OK(cuMemRelease(handle));
    FAILS(cuMemFree(reserve(1)), INVALID_VALUE);
}
END_TEST

START_TEST(alignment_and_place_are_as_asked)
{
    CUdeviceptr p, q;
    OK(cuMemAddressReserve(&p, 3 * granule, 64 * granule, 0, 0));
    ck_assert_uint_eq(p % (64 * granule), 0);
    OK(cuMemAddressFree(p, 3 * granule));
    OK(cuMemAddressReserve(&q, granule, 0, p, 0)); /* a hint to a free place */
    ck_assert(q == p);
    OK(cuMemAddressReserve(&p, granule, 0, q, 0)); /* and to one that is taken */
    ck_assert(p != q);
}
END_TEST

START_TEST(pointers_say_what_they_are)
{
    const CUdeviceptr p = reserve(2);
    CUdeviceptr base;
    size_t bytes;
    int device;
    CUmemorytype type = 0;
    unsigned long long flags, id, other;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), INVALID_VALUE);
    FAILS(cuMemGetAccess(&flags, &location, p), INVALID_VALUE);
    back(p);
    back(p + granule);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + granule + 5));
    ck_assert_int_eq(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    ck_assert_int_eq(device, 0);
    OK(cuMemGetAddressRange(&base, &bytes, p + granule + 5));
    ck_assert(base == p + granule && bytes == granule);
    OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
    OK(cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_BUFFER_ID, p + granule));
    ck_assert(id != other);
    OK(cuMemGetAccess(&flags, &location, p));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    location.id = 1;
    OK(cuMemGetAccess(&flags, &location, p));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    OK(cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)p));
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    ck_assert_int_eq(prop.type, CU_MEM_ALLOCATION_TYPE_PINNED);
    ck_assert_int_eq(prop.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    ck_assert_int_eq(prop.location.id, 0);
    OK(cuMemRelease(handle));
    int supported;
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                            0));
    ck_assert_int_eq(supported, 1);
}
END_TEST

/* Another process that gets the file descriptor writes; this one reads. */
START_TEST(memory_can_be_shared_by_a_file_descriptor)
{
    CUmemAllocationProp prop = device_0;
    CUmemGenericAllocationHandle handle, import;
    int fd, status;
    FAILS(cuMemExportToShareableHandle(&fd, create(1), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          INVALID_VALUE); /* it was not asked for */
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cuMemCreate(&handle, granule, &prop, 0));
    FAILS(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0), NOT_SUPPORTED);
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    const CUdeviceptr p = reserve(1);
    OK(cuMemMap(p, granule, 0, handle, 0));
    OPEN(p, 1);
    OK(cuMemsetD32(p, 1, WORDS));
    OK(cuCtxSynchronize());
    const size_t available = free_bytes();
    pid_t child = fork();
    if (child == 0) {
        const CUdeviceptr q = reserve(1);
        OK(cuMemImportFromShareableHandle(&import, (void *)(intptr_t)fd,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        ck_assert_uint_eq(free_bytes(), available);
        OK(cuMemMap(q, granule, 0, import, 0));
        OPEN(q, 1);
        OK(launch(add, NULL, q, 41, WORDS));
        WORD(q, 7, 42);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    WORD(p, WORDS - 1, 42);
    close(fd);
    fd = open("/dev/null", O_RDWR);
    FAILS(cuMemImportFromShareableHandle(&import, (void *)(intptr_t)fd,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          INVALID_VALUE);
    close(fd);
}
END_TEST

Suite *suite_virtual(void)
{
    Suite *suite = suite_create("virtual");
    TCase *tcase = tcase_create("virtual");
    tcase_add_checked_fixture(tcase, setup, driver_teardown);
    tcase_add_test(tcase, mapped_memory_is_memory);
    tcase_add_test(tcase, without_access_there_is_none);
    tcase_add_test(tcase, neighbours_are_one_array);
    tcase_add_test(tcase, one_memory_may_have_two_addresses);
    tcase_add_test(tcase, memory_lives_as_long_as_it_is_used);
    tcase_add_test(tcase, a_device_has_so_much_memory);
    tcase_add_test(tcase, bad_arguments_are_refused);
    tcase_add_test(tcase, alignment_and_place_are_as_asked);
    tcase_add_test(tcase, pointers_say_what_they_are);
    tcase_add_test(tcase, memory_can_be_shared_by_a_file_descriptor);
    suite_add_tcase(suite, tcase);
    return suite;
}
