/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays: which can be made, what they say of themselves, copies of boxes of all kinds against a
 * plain model of an array on the host, graph nodes, errors. */
#include "config.h"

#include "driver.h"

#include <stdio.h>
#include <time.h>

static CUresult make(CUarray *array, size_t width, size_t height, size_t depth,
                     CUarray_format format, unsigned channels, unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {width, height, depth, format, channels, flags};
    return cuArray3DCreate(array, &d);
}

START_TEST(arrays_of_all_kinds_can_be_made)
{
    static const struct {
        size_t width, height, depth;
        CUarray_format format;
        unsigned channels, flags;
        size_t bytes;
    } kind[] = {
        {100, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0, 400},
        {100, 1, 0, CU_AD_FORMAT_HALF, 4, 0, 800},
        {30, 20, 0, CU_AD_FORMAT_UNSIGNED_INT8, 2, CUDA_ARRAY3D_SURFACE_LDST, 1200},
        {30, 20, 0, CU_AD_FORMAT_SIGNED_INT16, 1, CUDA_ARRAY3D_TEXTURE_GATHER, 1200},
        {8, 7, 6, CU_AD_FORMAT_SIGNED_INT32, 4, 0, 5376},
        {50, 0, 9, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_LAYERED, 1800},
        {5, 6, 9, CU_AD_FORMAT_SIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED, 270},
        {16, 16, 6, CU_AD_FORMAT_UNSIGNED_INT16, 2, CUDA_ARRAY3D_CUBEMAP, 6144},
        {4, 4, 12, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 768},
    };
    enum { KINDS = sizeof kind / sizeof kind[0] };
    size_t before, after, total;
    CUarray array[KINDS];
    size_t bytes = 0;
    OK(cuMemGetInfo(&before, &total));
    for (int i = 0; i < KINDS; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d;
        CUDA_ARRAY_DESCRIPTOR flat;
        OK(make(&array[i], kind[i].width, kind[i].height, kind[i].depth, kind[i].format,
                kind[i].channels, kind[i].flags));
        OK(cuArray3DGetDescriptor(&d, array[i]));
        ck_assert(d.Width == kind[i].width && d.Height == kind[i].height &&
                  d.Depth == kind[i].depth && d.Format == kind[i].format &&
                  d.NumChannels == kind[i].channels && d.Flags == kind[i].flags);
        OK(cuArrayGetDescriptor(&flat, array[i]));
        ck_assert(flat.Width == kind[i].width && flat.Height == kind[i].height &&
                  flat.Format == kind[i].format && flat.NumChannels == kind[i].channels);
        bytes += kind[i].bytes;
    }
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before - after, bytes);
    for (int i = 0; i < KINDS; i++)
        OK(cuArrayDestroy(array[i]));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(after, before);
    FAILS(cuArrayDestroy(array[0]), INVALID_HANDLE);
}
END_TEST

START_TEST(others_cannot)
{
    CUarray a;
    int limit;
    FAILS(make(&a, 0, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0), INVALID_VALUE);
    FAILS(make(&a, 4, 0, 4, CU_AD_FORMAT_FLOAT, 1, 0), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 0, CU_AD_FORMAT_FLOAT, 0, 0), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 0, (CUarray_format)0x77, 1, 0), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0x4000), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED), INVALID_VALUE);
    FAILS(make(&a, 4, 5, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 12, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 8, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
          INVALID_VALUE);
    FAILS(make(&a, 4, 4, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER), INVALID_VALUE);
    FAILS(make(&a, 4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE), NOT_SUPPORTED);
    FAILS(make(NULL, 4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0), INVALID_VALUE);
    FAILS(cuArray3DCreate(&a, NULL), INVALID_VALUE);
    FAILS(cuArrayCreate(&a, NULL), INVALID_VALUE);
    OK(cuDeviceGetAttribute(&limit, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 0));
    ck_assert_int_gt(limit, 0);
    FAILS(make(&a, 1, (size_t)limit + 1, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0), INVALID_VALUE);
    OK(make(&a, 1, (size_t)limit, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
    OK(cuArrayDestroy(a));
    OK(cuDeviceGetAttribute(&limit, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 0));
    FAILS(make(&a, (size_t)limit + 1, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0), INVALID_VALUE);
    FAILS(make(&a, 16384, 16384, 100, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0), OUT_OF_MEMORY);
}
END_TEST

/* ---- copies, against a model that is an array of elements */
enum { W = 9, H = 7, D = 5, ELEMENT = 4, BYTES = W * H * D * ELEMENT };

struct model {
    unsigned char at[D][H][W * ELEMENT];
};

static uint64_t state;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((state >> 33) % n);
}

/* A part of the array that is not empty, in elements. */
struct part {
    size_t x, y, z, width, height, depth;
};

static struct part some_part(void)
{
    struct part p = {below(W), below(H), below(D), 0, 0, 0};
    p.width = 1 + below(W - p.x);
    p.height = 1 + below(H - p.y);
    p.depth = 1 + below(D - p.z);
    return p;
}

static CUarray filled(struct model *m)
{
    CUarray array;
    OK(make(&array, W, H, D, CU_AD_FORMAT_UNSIGNED_INT16, 2, 0));
    for (size_t i = 0; i < sizeof *m; i++)
        ((unsigned char *)m)[i] = (unsigned char)below(256);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = m,
                       .srcPitch = W * ELEMENT,
                       .srcHeight = H,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = array,
                       .WidthInBytes = W * ELEMENT,
                       .Height = H,
                       .Depth = D};
    OK(cuMemcpy3D(&c));
    return array;
}

static void check(CUarray array, const struct model *m)
{
    struct model got;
    memset(&got, 0x33, sizeof got);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = array,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = &got,
                       .dstPitch = W * ELEMENT,
                       .dstHeight = H,
                       .WidthInBytes = W * ELEMENT,
                       .Height = H,
                       .Depth = D};
    OK(cuMemcpy3DAsync(&c, NULL));
    OK(cuCtxSynchronize());
    ck_assert_mem_eq(&got, m, sizeof got);
}

static void set_source(CUDA_MEMCPY3D *c, CUmemorytype type, CUarray array, CUdeviceptr p,
                       const void *host, const struct part *at)
{
    c->srcMemoryType = type;
    c->srcArray = array;
    c->srcDevice = p;
    c->srcHost = host;
    c->srcPitch = type == CU_MEMORYTYPE_ARRAY ? 0 : W * ELEMENT;
    c->srcHeight = type == CU_MEMORYTYPE_ARRAY ? 0 : H;
    c->srcXInBytes = at->x * ELEMENT;
    c->srcY = at->y;
    c->srcZ = at->z;
}

/* From an array, device memory or the host into a part of an array. */
START_TEST(boxes_are_copied)
{
    static struct model to, from;
    CUdeviceptr p;
    state = (uint64_t)time(NULL);
    CUarray target = filled(&to), source = filled(&from);
    OK(cuMemAlloc(&p, BYTES));
    OK(cuMemcpyHtoD(p, &from, BYTES));
    for (int round = 0; round < 60; round++) {
        static const CUmemorytype types[] = {CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE,
                                             CU_MEMORYTYPE_HOST};
        const struct part part = some_part();
        struct part at = part; /* where the source of it lies */
        at.x = below(W - part.width + 1);
        at.y = below(H - part.height + 1);
        at.z = below(D - part.depth + 1);
        CUDA_MEMCPY3D c = {.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = target,
                           .dstXInBytes = part.x * ELEMENT,
                           .dstY = part.y,
                           .dstZ = part.z,
                           .WidthInBytes = part.width * ELEMENT,
                           .Height = part.height,
                           .Depth = part.depth};
        set_source(&c, types[round % 3], source, p, &from, &at);
        OK(round % 2 == 0 ? cuMemcpy3D(&c) : cuMemcpy3DAsync(&c, NULL));
        for (size_t z = 0; z < part.depth; z++)
            for (size_t y = 0; y < part.height; y++)
                memcpy(&to.at[part.z + z][part.y + y][part.x * ELEMENT],
                       &from.at[at.z + z][at.y + y][at.x * ELEMENT], part.width * ELEMENT);
        check(target, &to);
    }
    check(source, &from);
    OK(cuArrayDestroy(target));
    OK(cuArrayDestroy(source));
}
END_TEST

/* Not even where the next row or slice of the array would take it up. */
START_TEST(no_box_reaches_out)
{
    static struct model to, from;
    state = (uint64_t)time(NULL);
    CUarray target = filled(&to), source = filled(&from);
    static const struct part out[] = {
        {W - 1, 2, 1, 2, 1, 1}, {2, H - 1, 1, 1, 2, 1}, {2, 2, D - 1, 1, 1, 2}, {W, 2, 1, 1, 1, 1},
        {2, H, 1, 1, 1, 1},     {2, 2, D, 1, 1, 1},     {0, 2, 1, W + 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof out / sizeof out[0]; i++) {
        const struct part inside = {0, 0, 0, out[i].width, out[i].height, out[i].depth};
        for (int reading = 0; reading < 2; reading++) {
            const struct part *at = reading ? &out[i] : &inside,
                              *to_at = reading ? &inside : &out[i];
            CUDA_MEMCPY3D c = {.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                               .dstArray = target,
                               .dstXInBytes = to_at->x * ELEMENT,
                               .dstY = to_at->y,
                               .dstZ = to_at->z,
                               .WidthInBytes = out[i].width * ELEMENT,
                               .Height = out[i].height,
                               .Depth = out[i].depth};
            set_source(&c, CU_MEMORYTYPE_ARRAY, source, 0, NULL, at);
            FAILS(cuMemcpy3D(&c), INVALID_VALUE);
        }
    }
    check(target, &to);
}
END_TEST

START_TEST(rows_are_copied)
{
    unsigned char line[40], other[40], got[40];
    CUarray a, b;
    CUdeviceptr p;
    void *pinned;
    CUDA_ARRAY_DESCRIPTOR d = {10, 0, CU_AD_FORMAT_FLOAT, 1};
    for (unsigned i = 0; i < 40; i++) {
        line[i] = (unsigned char)(i + 1);
        other[i] = (unsigned char)(200 - i);
    }
    OK(cuArrayCreate(&a, &d));
    OK(cuArrayCreate(&b, &d));
    OK(cuMemAlloc(&p, 40));
    OK(cuMemHostAlloc(&pinned, 40, 0));
    OK(cuMemcpyHtoA(a, 0, line, 40));
    OK(cuMemcpyHtoA(b, 0, other, 40));
    OK(cuMemcpyAtoA(a, 8, b, 4, 12));
    memcpy(line + 8, other + 4, 12);
    OK(cuMemcpyAtoH(got, a, 0, 40));
    ck_assert_mem_eq(got, line, 40);
    OK(cuMemcpyAtoD(p, a, 4, 36));
    OK(cuMemcpyDtoA(b, 0, p + 8, 28));
    memcpy(other, line + 12, 28);
    memcpy(pinned, line, 40);
    OK(cuMemcpyHtoAAsync(a, 20, pinned, 20, NULL));
    memcpy(line + 20, line, 20);
    OK(cuMemcpyAtoHAsync(pinned, b, 0, 40, NULL));
    OK(cuStreamSynchronize(NULL));
    ck_assert_mem_eq(pinned, other, 40);
    OK(cuMemcpyAtoH(got, a, 0, 40));
    ck_assert_mem_eq(got, line, 40);
    FAILS(cuMemcpyHtoA(a, 24, line, 20), INVALID_VALUE);
    FAILS(cuMemcpyHtoA(a, 2, line, 4), INVALID_VALUE);
    FAILS(cuMemcpyAtoH(got, a, 0, 6), INVALID_VALUE);
    OK(cuArrayDestroy(a));
    FAILS(cuMemcpyAtoH(got, a, 0, 40), INVALID_VALUE);
    FAILS(cuMemcpyAtoA(a, 0, b, 0, 4), INVALID_VALUE);
    OK(cuArrayDestroy(b));
}
END_TEST

START_TEST(two_dimensions_leave_the_rest_alone)
{
    enum { ROWS = 6, COLUMNS = 8 };
    uint16_t from[ROWS][COLUMNS], got[ROWS][COLUMNS];
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR d = {COLUMNS, ROWS, CU_AD_FORMAT_HALF, 1};
    OK(cuArrayCreate(&array, &d));
    memset(got, 0, sizeof got);
    for (unsigned i = 0; i < ROWS * COLUMNS; i++)
        ((uint16_t *)from)[i] = (uint16_t)(i + 1);
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = from,
                        .srcPitch = sizeof from[0],
                        .srcXInBytes = 4,
                        .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .dstXInBytes = 6,
                        .dstY = 2,
                        .WidthInBytes = 8,
                        .Height = 3};
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                         .srcArray = array,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = got,
                         .dstPitch = sizeof got[0],
                         .WidthInBytes = sizeof got[0],
                         .Height = ROWS};
    OK(cuMemcpy2D(&in));
    OK(cuMemcpy2DUnaligned(&out));
    for (unsigned y = 0; y < ROWS; y++)
        for (unsigned x = 0; x < COLUMNS; x++) {
            const bool inside = y >= 2 && y < 5 && x >= 3 && x < 7;
            ck_assert_uint_eq(got[y][x], inside ? from[y - 1][x - 1] : 0xffff); /* poison */
        }
    in.dstY = 4;
    FAILS(cuMemcpy2D(&in), INVALID_VALUE);
    in.dstY = 2;
    in.dstXInBytes = 10;
    FAILS(cuMemcpy2D(&in), INVALID_VALUE);
    in.dstXInBytes = 5;
    FAILS(cuMemcpy2DAsync(&in, NULL), INVALID_VALUE);
    OK(cuArrayDestroy(array));
}
END_TEST

START_TEST(elements_must_be_of_one_size)
{
    CUarray floats, bytes, halves;
    OK(make(&floats, 8, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0));
    OK(make(&bytes, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0));
    OK(make(&halves, 8, 0, 0, CU_AD_FORMAT_HALF, 1, 0));
    OK(cuMemcpyAtoA(floats, 0, bytes, 0, 8));
    FAILS(cuMemcpyAtoA(floats, 0, halves, 0, 8), INVALID_VALUE);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = floats,
                       .srcLOD = 1,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = bytes,
                       .WidthInBytes = 4,
                       .Height = 1,
                       .Depth = 1};
    FAILS(cuMemcpy3D(&c), INVALID_VALUE);
}
END_TEST

/* A copy node replays, and says what it copies. */
START_TEST(graphs_copy_arrays)
{
    struct model a, b;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    state = 7;
    CUarray from = filled(&a), to = filled(&b);
    CUDA_MEMCPY3D got, c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                            .srcArray = from,
                            .srcXInBytes = 8,
                            .srcY = 1,
                            .srcZ = 2,
                            .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                            .dstArray = to,
                            .dstXInBytes = 4,
                            .dstY = 3,
                            .dstZ = 1,
                            .WidthInBytes = 12,
                            .Height = 2,
                            .Depth = 3};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &c, context));
    OK(cuGraphMemcpyNodeGetParams(node, &got));
    ck_assert(got.srcMemoryType == CU_MEMORYTYPE_ARRAY && got.srcArray == from &&
              got.srcXInBytes == 8 && got.srcY == 1 && got.srcZ == 2);
    ck_assert(got.dstMemoryType == CU_MEMORYTYPE_ARRAY && got.dstArray == to &&
              got.dstXInBytes == 4 && got.dstY == 3 && got.dstZ == 1);
    ck_assert(got.WidthInBytes == 12 && got.Height == 2 && got.Depth == 3);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    for (unsigned z = 0; z < 3; z++)
        for (unsigned y = 0; y < 2; y++)
            memcpy(&b.at[1 + z][3 + y][4], &a.at[2 + z][1 + y][8], 12);
    check(to, &b);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}
END_TEST

START_TEST(no_array_is_made_during_a_capture)
{
    CUstream stream;
    CUgraph graph;
    CUarray array;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(make(&array, 4, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0), STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cuStreamEndCapture(stream, &graph), STREAM_CAPTURE_INVALIDATED);
}
END_TEST

Suite *suite_array(void)
{
    Suite *suite = suite_create("array");
    TCase *tcase = tcase_create("array");
    tcase_add_checked_fixture(tcase, driver_setup, driver_teardown);
    tcase_add_test(tcase, arrays_of_all_kinds_can_be_made);
    tcase_add_test(tcase, others_cannot);
    tcase_add_test(tcase, boxes_are_copied);
    tcase_add_test(tcase, no_box_reaches_out);
    tcase_add_test(tcase, rows_are_copied);
    tcase_add_test(tcase, two_dimensions_leave_the_rest_alone);
    tcase_add_test(tcase, elements_must_be_of_one_size);
    tcase_add_test(tcase, graphs_copy_arrays);
    tcase_add_test(tcase, no_array_is_made_during_a_capture);
    suite_add_tcase(suite, tcase);
    return suite;
}
