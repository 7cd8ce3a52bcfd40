/* SPDX-License-Identifier: BSD-3-Clause
 * Copies and fills of every shape: what they move, when, and what they refuse. */
#include "config.h"

#include "driver.h"

START_TEST(copies_go_every_way)
{
    uint32_t from[64], to[64] = {0};
    CUdeviceptr a = words(64), b = words(64);
    for (uint32_t i = 0; i < 64; i++)
        from[i] = i * i;
    OK(cuMemcpyHtoD(a, from, sizeof from));
    OK(cuMemcpyDtoD(b, a, sizeof from));
    OK(cuMemcpyDtoH(to, b, sizeof from));
    ck_assert_mem_eq(to, from, sizeof from);
    memset(to, 0, sizeof to);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)to, a, sizeof to));
    ck_assert_mem_eq(to, from, sizeof from);
    OK(cuMemcpyDtoH(to, a + 4, 4));
    ck_assert_uint_eq(to[0], 1);
}
END_TEST

START_TEST(copies_stay_inside_an_allocation)
{
    uint32_t host[65];
    CUdeviceptr a = words(64), b = words(64);
    memset(host, 0, sizeof host);
    FAILS(cuMemcpyHtoD(a, host, 257), INVALID_VALUE);
    FAILS(cuMemcpyDtoH(host, a + 4, 256), INVALID_VALUE);
    FAILS(cuMemcpyDtoD(b, a - 4, 64), INVALID_VALUE);
    FAILS(cuMemcpyHtoDAsync(a + 256, host, 4, NULL), INVALID_VALUE);
    OK(cuMemFree(b));
    FAILS(cuMemcpyHtoD(b, host, 4), INVALID_VALUE);
    OK(cuMemcpyHtoD(a, host, 0));
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(pageable_sources_are_taken_at_the_call)
{
    enum { N = 4096 };
    static uint32_t host[N];
    CUstream stream;
    CUdeviceptr p = words(N);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t round = 1; round < 10; round++) {
        for (uint32_t i = 0; i < N; i++)
            host[i] = round;
        OK(cuMemcpyHtoDAsync(p, host, sizeof host, stream));
        memset(host, 0, sizeof host);
        OK(cuStreamSynchronize(stream));
        WORD(p, N - 1, round);
    }
    OK(cuStreamDestroy(stream));
}
END_TEST

START_TEST(pageable_targets_are_complete_on_return)
{
    uint32_t host = 0;
    CUstream stream;
    CUdeviceptr p = words(1);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t round = 1; round < 20; round++) {
        OK(launch(fill, stream, p, round, 1));
        OK(cuMemcpyDtoHAsync(&host, p, 4, stream));
        ck_assert_uint_eq(host, round);
    }
    OK(cuStreamDestroy(stream));
}
END_TEST

START_TEST(copies_wait_for_earlier_work_of_their_stream)
{
    uint32_t *pinned;
    CUstream stream;
    CUdeviceptr p = words(256);
    OK(cuMemHostAlloc((void **)&pinned, 1024, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t round = 1; round < 20; round++) {
        OK(launch(fill, stream, p, round, 256));
        OK(cuMemcpyDtoHAsync(pinned, p, 1024, stream));
        OK(launch(fill, stream, p, 0, 256));
        OK(cuStreamSynchronize(stream));
        ck_assert_uint_eq(pinned[255], round);
    }
    OK(cuStreamDestroy(stream));
    OK(cuMemFreeHost(pinned));
}
END_TEST

START_TEST(boxes_are_copied_row_by_row)
{
    enum { WIDTH = 10, ROWS = 5, FROM = 12 };
    uint32_t from[ROWS][FROM], to[ROWS][WIDTH] = {{0}};
    CUdeviceptr p;
    size_t pitch;
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < FROM; x++)
            from[y][x] = 100 * y + x;
    OK(cuMemAllocPitch(&p, &pitch, WIDTH * 4, ROWS, 4));
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = from,
                       .srcPitch = sizeof from[0],
                       .srcXInBytes = 4,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = p,
                       .dstPitch = pitch,
                       .WidthInBytes = WIDTH * 4,
                       .Height = ROWS};
    OK(cuMemcpy2D(&c));
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .srcPitch = pitch,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = sizeof to[0],
                          .WidthInBytes = WIDTH * 4,
                          .Height = ROWS};
    OK(cuMemcpy2DAsync(&back, NULL));
    OK(cuCtxSynchronize());
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            ck_assert_uint_eq(to[y][x], from[y][x + 1]);
    c.dstPitch = WIDTH * 4 - 4;
    FAILS(cuMemcpy2D(&c), INVALID_VALUE);
    c.dstPitch = pitch;
    c.Height = ROWS + 1;
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = p;
    c.srcPitch = pitch;
    c.dstDevice = p + 4 * pitch;
    FAILS(cuMemcpy2D(&c), INVALID_VALUE);
}
END_TEST

START_TEST(slices_are_copied_one_by_one)
{
    enum { W = 3, H = 4, D = 2 };
    uint32_t from[D][H][W], to[D][H][W] = {{{0}}};
    CUdeviceptr p = words(W * (H + 1) * D);
    for (uint32_t i = 0; i < W * H * D; i++)
        (&from[0][0][0])[i] = i;
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = from,
                       .srcPitch = W * 4,
                       .srcHeight = H,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = p,
                       .dstPitch = W * 4,
                       .dstHeight = H + 1,
                       .WidthInBytes = W * 4,
                       .Height = H,
                       .Depth = D};
    OK(cuMemcpy3D(&c));
    WORD(p, W * (H + 1), W * H);
    WORD(p, W * H, 0);
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .srcPitch = W * 4,
                          .srcHeight = H + 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = W * 4,
                          .dstHeight = H,
                          .WidthInBytes = W * 4,
                          .Height = H,
                          .Depth = D};
    OK(cuMemcpy3D(&back));
    ck_assert_mem_eq(to, from, sizeof from);
}
END_TEST

START_TEST(fills_have_three_widths)
{
    CUdeviceptr p = words(16);
    OK(cuMemsetD8(p, 0xab, 8));
    WORD(p, 1, 0xabababab);
    WORD(p, 2, 0);
    OK(cuMemsetD16(p, 0x1234, 3));
    WORD(p, 0, 0x12341234);
    WORD(p, 1, 0xabab1234);
    OK(cuMemsetD32(p + 4, 0xdeadbeef, 1));
    WORD(p, 1, 0xdeadbeef);
    FAILS(cuMemsetD16(p + 1, 0, 1), INVALID_VALUE);
    FAILS(cuMemsetD32(p + 2, 0, 1), INVALID_VALUE);
    FAILS(cuMemsetD32(p, 0, 17), INVALID_VALUE);
    OK(cuMemsetD8(p + 3, 0x11, 1));
    WORD(p, 0, 0x11341234);
}
END_TEST

START_TEST(fills_have_rows_and_streams)
{
    CUdeviceptr p = words(40);
    CUstream stream;
    OK(cuMemsetD2D32(p, 40, 6, 8, 4));
    WORD(p, 7, 6);
    WORD(p, 8, 0);
    WORD(p, 37, 6);
    WORD(p, 39, 0);
    OK(cuMemsetD2D8(p, 40, 0x22, 1, 4));
    WORD(p, 30, 0x00000022);
    OK(cuMemsetD2D16(p, 40, 0x3333, 1, 2));
    WORD(p, 10, 0x00003333);
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemsetD32Async(p, 1, 40, stream));
    OK(launch(add, stream, p, 5, 40));
    OK(cuMemsetD8Async(p, 0, 4, stream));
    WORD(p, 39, 6);
    WORD(p, 0, 0);
    OK(cuStreamDestroy(stream));
}
END_TEST

Suite *suite_copy(void)
{
    Suite *suite = suite_create("copy");
    TCase *tests = tcase_create("copies and fills");
    tcase_add_checked_fixture(tests, driver_setup, driver_teardown);
    tcase_add_test(tests, copies_go_every_way);
    tcase_add_test(tests, copies_stay_inside_an_allocation);
    tcase_add_test(tests, pageable_sources_are_taken_at_the_call);
    tcase_add_test(tests, pageable_targets_are_complete_on_return);
    tcase_add_test(tests, copies_wait_for_earlier_work_of_their_stream);
    tcase_add_test(tests, boxes_are_copied_row_by_row);
    tcase_add_test(tests, slices_are_copied_one_by_one);
    tcase_add_test(tests, fills_have_three_widths);
    tcase_add_test(tests, fills_have_rows_and_streams);
    suite_add_tcase(suite, tests);
    return suite;
}
