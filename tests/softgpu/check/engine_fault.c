/* SPDX-License-Identifier: BSD-3-Clause
 * Accesses that must end a launch: kind, address, size, place and message of each. No state. */
#include "engine_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1002 }; /* an end that no word ends at */

/* One access by thread 22 of block 2, at base + offset of an allocation of BYTES. */
struct access {
    const char *source;
    int64_t offset;
    enum sg_fault_kind kind;
    uint32_t bytes;
    bool write;
};

static const struct access accesses[] = {
    {"store_u8", 0, SG_OK, 1, true},
    {"store_u8", BYTES - 1, SG_OK, 1, true},
    {"store_u8", BYTES, SG_FAULT_ADDRESS, 1, true},
    {"store_u8", -1, SG_FAULT_ADDRESS, 1, true},
    {"store_u8", BYTES + 9, SG_FAULT_ADDRESS, 1, true}, /* between allocations */
    {"load_u8", BYTES - 1, SG_OK, 1, false},
    {"load_u8", BYTES, SG_FAULT_ADDRESS, 1, false},
    {"load_u8", -1, SG_FAULT_ADDRESS, 1, false},
    {"load_u16", BYTES - 2, SG_OK, 2, false},
    {"load_u16", BYTES, SG_FAULT_ADDRESS, 2, false},
    {"load_u16", 1, SG_FAULT_MISALIGNED, 2, false},
    {"load_u32", BYTES - 6, SG_OK, 4, false},
    {"load_u32", BYTES - 2, SG_FAULT_ADDRESS, 4, false}, /* the first half is inside */
    {"load_u32", -4, SG_FAULT_ADDRESS, 4, false},
    {"load_u32", 2, SG_FAULT_MISALIGNED, 4, false},
    {"load_u32", 1, SG_FAULT_MISALIGNED, 4, false},
    {"store_u32", BYTES - 2, SG_FAULT_ADDRESS, 4, true},
    {"store_u32", 6, SG_FAULT_MISALIGNED, 4, true},
    {"load_u64", 992, SG_OK, 8, false},
    {"load_u64", 1000, SG_FAULT_ADDRESS, 8, false},
    {"load_u64", 4, SG_FAULT_MISALIGNED, 8, false},
    {"load_v4", 976, SG_OK, 16, false},
    {"load_v4", 992, SG_FAULT_ADDRESS, 16, false},
    {"load_v4", 8, SG_FAULT_MISALIGNED, 16, false},
    {"atom_u32", 996, SG_OK, 4, true},
    {"atom_u32", 1000, SG_FAULT_ADDRESS, 4, true},
    {"atom_u32", 2, SG_FAULT_MISALIGNED, 4, true},
    {"atom_u64", 1000, SG_FAULT_ADDRESS, 8, true},
    {"atom_u64", 4, SG_FAULT_MISALIGNED, 8, true},
    {"async_16", 976, SG_OK, 16, false},
    {"async_16", 992, SG_FAULT_ADDRESS, 16, false},
    {"async_16", 8, SG_FAULT_MISALIGNED, 16, false},
};

static void judge(const struct device *dev, enum sg_fault_kind got, const struct access *access,
                  uint64_t address)
{
    const struct sg_fault *f = &dev->fault;
    char hex[32];

    ck_assert_msg(got == access->kind, "%s at %lld: kind %d, expected %d: %s", access->source,
                  (long long)access->offset, got, access->kind, f->message);
    if (got == SG_OK)
        return;
    snprintf(hex, sizeof hex, "%llx", (unsigned long long)address);
    ck_assert_int_eq(f->kind, got);
    ck_assert_msg(f->address == address, "%s: address %llx, expected %s", access->source,
                  (unsigned long long)f->address, hex);
    ck_assert_uint_eq(f->bytes, access->bytes);
    ck_assert_msg(f->write == access->write, "%s: write %d", access->source, f->write);
    ck_assert_uint_eq(f->block[0], 2);
    ck_assert_uint_eq(f->thread[0], 22);
    ck_assert_uint_eq(f->block[1] + f->block[2] + f->thread[1] + f->thread[2], 0);
    ck_assert_uint_gt(f->line, 10);
    ck_assert_msg(strstr(f->message, hex) && strstr(f->message, "k") && strstr(f->message, "2") &&
                      strstr(f->message, "22") && !strchr(f->message, '\n'),
                  "message: %s", f->message);
}

START_TEST(test_access)
{
    const struct access *access = &accesses[_i];
    struct device dev;
    unsigned char *before, *p;

    engine_open(&dev, access->source);
    before = device_alloc(&dev, 512);
    p = device_alloc(&dev, BYTES);
    device_alloc(&dev, 512);
    ck_assert_ptr_ne(before, p);
    judge(&dev, engine_try(&dev, DIM1(4), DIM1(64), 0, p + access->offset, p, p, 150), access,
          (uintptr_t)p + (uint64_t)access->offset);
    /* the engine goes on after a fault */
    engine_run(&dev, DIM1(4), DIM1(64), 0, p, p, p, 150);
    device_close(&dev);
}
END_TEST

START_TEST(test_null)
{
    static const struct access null = {"load_u32", 0, SG_FAULT_ADDRESS, 4, false};
    struct device dev;

    engine_open(&dev, "load_u32");
    judge(&dev, engine_try(&dev, DIM1(4), DIM1(64), 0, NULL, NULL, NULL, 150), &null, 0);
    device_close(&dev);
}
END_TEST

START_TEST(test_freed)
{
    static const struct access freed = {"store_u32", 0, SG_FAULT_ADDRESS, 4, true};
    struct device dev;
    void *p;

    engine_open(&dev, "store_u32");
    p = device_alloc(&dev, BYTES);
    engine_run(&dev, DIM1(4), DIM1(64), 0, p, p, p, 150);
    ck_assert_int_eq(sg_arena_free(dev.memory, p), 0);
    judge(&dev, engine_try(&dev, DIM1(4), DIM1(64), 0, p, p, p, 150), &freed, (uintptr_t)p);
    device_close(&dev);
}
END_TEST

/* Memory of a device that this launch may not touch. */
START_TEST(test_foreign)
{
    static const struct access foreign = {"load_u32", 0, SG_FAULT_ADDRESS, 4, false};
    struct sg_arena *other = sg_arena_new("other", 1 << 20);
    struct device dev;
    void *p = sg_arena_alloc(other, 64);

    engine_open(&dev, "load_u32");
    judge(&dev, engine_try(&dev, DIM1(4), DIM1(64), 0, p, p, p, 150), &foreign, (uintptr_t)p);
    dev.space.arena[dev.space.n++] = other;
    engine_run(&dev, DIM1(4), DIM1(64), 0, p, p, p, 150);
    device_close(&dev);
    sg_arena_delete(other);
}
END_TEST

/* Scattered accesses: one lane's is wrong among many that are right, in a later block. */
static const struct {
    const char *source;
    int size, wrong;
    enum sg_fault_kind kind;
    bool write;
} gathers[] = {
    {"gather_u8", 1, BYTES, SG_FAULT_ADDRESS, false},
    {"gather_u8", 1, -1, SG_FAULT_ADDRESS, false},
    {"gather_u8", 1, BYTES + SG_ALIGN, SG_FAULT_ADDRESS, false},
    {"gather_u32", 4, BYTES - 2, SG_FAULT_ADDRESS, false},
    {"gather_u32", 4, -4, SG_FAULT_ADDRESS, false},
    {"gather_u32", 4, 18, SG_FAULT_MISALIGNED, false},
    {"scatter_u16", 2, BYTES, SG_FAULT_ADDRESS, true},
    {"scatter_u16", 2, -2, SG_FAULT_ADDRESS, true},
    {"scatter_u16", 2, 7, SG_FAULT_MISALIGNED, true},
};

START_TEST(test_gather)
{
    enum { BLOCK = 96, N = 4 * BLOCK, LANE = 2 * BLOCK + 77 };
    struct device dev;
    unsigned char *p;
    int32_t *offset;
    uint32_t *out;

    engine_open(&dev, gathers[_i].source);
    p = device_alloc(&dev, BYTES);
    offset = device_alloc(&dev, N * sizeof *offset);
    out = device_alloc(&dev, N * sizeof *out);
    for (int i = 0; i < BYTES; i++)
        p[i] = (unsigned char)(i * 7);
    for (int i = 0; i < N; i++) /* the last whole element first */
        offset[i] = (BYTES / gathers[_i].size - 1 - i * 5 % 250) * gathers[_i].size;
    engine_run(&dev, DIM1(4), DIM1(BLOCK), 0, p, offset, out, 0);
    for (int i = 0; i < N && !gathers[_i].write; i++)
        ck_assert_int_eq(memcmp(&out[i], p + offset[i], (size_t)gathers[_i].size), 0);
    offset[LANE] = gathers[_i].wrong;
    ck_assert_int_eq(engine_try(&dev, DIM1(4), DIM1(BLOCK), 0, p, offset, out, 0),
                     gathers[_i].kind);
    ck_assert_uint_eq(dev.fault.block[0], 2);
    ck_assert_uint_eq(dev.fault.thread[0], 77);
    ck_assert_uint_eq(dev.fault.address, (uintptr_t)p + (uint64_t)(int64_t)gathers[_i].wrong);
    ck_assert_int_eq(dev.fault.write, gathers[_i].write);
    device_close(&dev);
}
END_TEST

/* Which allocation is near, and how far the access went. */
START_TEST(test_nearest)
{
    struct device dev;
    unsigned char *p;
    char base[32];

    engine_open(&dev, "store_u8");
    p = device_alloc(&dev, BYTES);
    snprintf(base, sizeof base, "%llx", (unsigned long long)(uintptr_t)p);
    ck_assert_int_eq(engine_try(&dev, DIM1(1), DIM1(32), 0, p + BYTES + 4, p, p, 3),
                     SG_FAULT_ADDRESS);
    ck_assert_msg(strstr(dev.fault.message, base) && strstr(dev.fault.message, "1002"),
                  "message: %s", dev.fault.message);
    device_close(&dev);
}
END_TEST

static const struct {
    const char *source;
    uint32_t offset;
    enum sg_fault_kind kind;
} windows[] = {
    {"store_shared", 60, SG_OK},
    {"store_shared", 64, SG_FAULT_ADDRESS_SPACE},
    {"store_shared", 0xfffffffc, SG_FAULT_ADDRESS_SPACE},
    {"store_shared", 1 << 20, SG_FAULT_ADDRESS_SPACE},
    {"store_shared", 2, SG_FAULT_MISALIGNED},
    {"load_shared_generic", 60, SG_OK},
    {"load_shared_generic", 64, SG_FAULT_ADDRESS_SPACE},
    {"store_local", 60, SG_OK},
    {"store_local", 1 << 24, SG_FAULT_ADDRESS_SPACE},
    {"store_local", 6, SG_FAULT_MISALIGNED},
    {"load_const", 12, SG_OK},
    {"load_const", 1 << 27, SG_FAULT_ADDRESS},
    {"load_const", 6, SG_FAULT_MISALIGNED},
};

START_TEST(test_window)
{
    struct device dev;
    void *p;
    enum sg_fault_kind kind;

    engine_open(&dev, windows[_i].source);
    p = device_alloc(&dev, 64);
    kind = engine_try(&dev, DIM1(1), DIM1(32), 0, p, p, p, windows[_i].offset);
    ck_assert_msg(kind == windows[_i].kind, "%s + %u: kind %d, expected %d: %s", windows[_i].source,
                  windows[_i].offset, kind, windows[_i].kind, dev.fault.message);
    ck_assert_uint_eq(dev.fault.block[0], 0);
    ck_assert_uint_eq(dev.fault.thread[0], 0);
    /* dynamic shared memory follows the static */
    if (strcmp(windows[_i].source, "store_shared") == 0 && windows[_i].offset == 64)
        engine_run(&dev, DIM1(1), DIM1(32), 64, p, p, p, 64);
    device_close(&dev);
}
END_TEST

/* A fault in one of many blocks, on several threads of the host. */
START_TEST(test_workers)
{
    struct device dev;
    unsigned char *p;

    engine_open(&dev, "store_u32");
    p = device_alloc(&dev, 64);
    dev.workers = 4;
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(engine_try(&dev, DIM1(500), DIM1(64), 0, p + 64, p, p, 64 * 300 + 5),
                         SG_FAULT_ADDRESS);
        ck_assert_uint_eq(dev.fault.block[0], 300);
        ck_assert_uint_eq(dev.fault.thread[0], 5);
    }
    device_close(&dev);
}
END_TEST

TCase *tcase_fault(void)
{
    TCase *tc = tcase_create("fault");

    tcase_add_loop_test(tc, test_access, 0, sizeof accesses / sizeof accesses[0]);
    tcase_add_test(tc, test_null);
    tcase_add_test(tc, test_freed);
    tcase_add_test(tc, test_foreign);
    tcase_add_loop_test(tc, test_gather, 0, sizeof gathers / sizeof gathers[0]);
    tcase_add_test(tc, test_nearest);
    tcase_add_loop_test(tc, test_window, 0, sizeof windows / sizeof windows[0]);
    tcase_add_test(tc, test_workers);
    return tc;
}
