/* SPDX-License-Identifier: BSD-3-Clause
 * Arenas: poison, alignment, reuse, capacity, look-up, wrong frees. No state. */
#include "engine_tests.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

START_TEST(test_fresh)
{
    struct sg_arena *arena = sg_arena_new("arena", 1 << 20);
    unsigned char *p = sg_arena_alloc(arena, 1000);

    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq((uintptr_t)p % SG_ALIGN, 0);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(p[i], 0xff);
    memset(p, 0, 1000);
    ck_assert_int_eq(sg_arena_free(arena, p), 0);
    p = sg_arena_alloc(arena, 1000); /* poisoned again, even if reused */
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(p[i], 0xff);
    sg_arena_delete(arena);
}
END_TEST

START_TEST(test_capacity)
{
    struct sg_arena *arena = sg_arena_new("arena", 10000);
    void *a = sg_arena_alloc(arena, 6000), *b;

    ck_assert_ptr_nonnull(a);
    ck_assert_uint_eq(sg_arena_capacity(arena), 10000);
    ck_assert_uint_ge(sg_arena_used(arena), 6000);
    ck_assert_ptr_null(sg_arena_alloc(arena, 6000));
    ck_assert_ptr_null(sg_arena_alloc(arena, 0));
    ck_assert_ptr_null(sg_arena_alloc(arena, SIZE_MAX));
    ck_assert_ptr_null(sg_arena_alloc(arena, SIZE_MAX / 2));
    sg_arena_set_capacity(arena, 20000);
    b = sg_arena_alloc(arena, 6000);
    ck_assert_ptr_nonnull(b);
    sg_arena_set_capacity(arena, 100); /* below what is live: nothing more */
    ck_assert_ptr_null(sg_arena_alloc(arena, 1));
    ck_assert_int_eq(sg_arena_free(arena, a), 0);
    ck_assert_int_eq(sg_arena_free(arena, b), 0);
    ck_assert_uint_eq(sg_arena_used(arena), 0);
    ck_assert_ptr_nonnull(sg_arena_alloc(arena, 50));
    sg_arena_delete(arena);
}
END_TEST

START_TEST(test_wrong_frees)
{
    struct sg_arena *arena = sg_arena_new("arena", 1 << 20);
    char *p = sg_arena_alloc(arena, 100);
    int on_stack;

    ck_assert_int_eq(sg_arena_free(arena, p + 1), -1);
    ck_assert_int_eq(sg_arena_free(arena, p + SG_ALIGN), -1);
    ck_assert_int_eq(sg_arena_free(arena, NULL), -1);
    ck_assert_int_eq(sg_arena_free(arena, &on_stack), -1);
    ck_assert_int_eq(sg_arena_free(arena, p), 0);
    ck_assert_int_eq(sg_arena_free(arena, p), -1);
    ck_assert_uint_eq(sg_arena_used(arena), 0);
    sg_arena_delete(arena);
}
END_TEST

START_TEST(test_find)
{
    struct sg_arena *arena = sg_arena_new("arena", 1 << 20);
    uintptr_t a = (uintptr_t)sg_arena_alloc(arena, 1000), b = (uintptr_t)sg_arena_alloc(arena, 513);
    struct sg_space space = {.n = 1, .arena = {arena}};
    struct sg_range range;
    uint64_t serial;

    ck_assert(sg_arena_owns(arena, a) && sg_arena_owns(arena, b + 512) &&
              !sg_arena_owns(arena, 16));
    ck_assert(sg_arena_find(arena, a, &range));
    ck_assert_uint_eq(range.base, a);
    ck_assert_uint_eq(range.bytes, 1000);
    serial = range.serial;
    ck_assert(sg_arena_find(arena, a + 999, &range));
    ck_assert_uint_eq(range.serial, serial);
    ck_assert(!sg_arena_find(arena, a + 1000, &range));
    ck_assert(!sg_arena_find(arena, a - 1, &range));
    ck_assert(sg_arena_find(arena, b + 512, &range) && range.base == b);
    ck_assert(!sg_arena_find(arena, b + 513, &range));
    ck_assert(sg_arena_nearest(arena, a + 1003, &range) && range.base == a);
    ck_assert(sg_arena_nearest(arena, b + 600, &range) && range.base == b);
    ck_assert(sg_arena_nearest(arena, b + 600000, &range) && range.base == b);
    ck_assert(sg_space_check(&space, a, 1000));
    ck_assert(!sg_space_check(&space, a, 1001));
    ck_assert(!sg_space_check(&space, a - 1, 2));
    ck_assert(sg_space_check(&space, a + 999, 1));
    ck_assert(!sg_space_check(&space, a, SIZE_MAX));
    ck_assert(!sg_space_check(&space, b, b - a));
    ck_assert_int_eq(sg_arena_free(arena, (void *)a), 0);
    ck_assert(!sg_arena_find(arena, a, &range));
    ck_assert(!sg_space_check(&space, a, 1));
    a = (uintptr_t)sg_arena_alloc(arena, 1000);
    ck_assert(sg_arena_find(arena, a, &range));
    ck_assert_uint_gt(range.serial, serial);
    sg_arena_delete(arena);
}
END_TEST

START_TEST(test_reuse)
{
    struct sg_arena *arena = sg_arena_new("arena", 1 << 20);
    void *a, *b, *c;

    sg_arena_set_reuse(arena, false);
    a = sg_arena_alloc(arena, 100);
    ck_assert_int_eq(sg_arena_free(arena, a), 0);
    b = sg_arena_alloc(arena, 100);
    ck_assert_ptr_ne(a, b);
    ck_assert_int_eq(sg_arena_free(arena, b), 0);
    sg_arena_set_reuse(arena, true);
    c = sg_arena_alloc(arena, 100);
    ck_assert_ptr_eq(c, a); /* the lowest free address */
    sg_arena_delete(arena);
}
END_TEST

struct walk {
    uintptr_t last;
    size_t n, bytes;
};

static void visit(const struct sg_range *range, void *arg)
{
    struct walk *walk = arg;

    ck_assert_uint_gt(range->base, walk->last);
    walk->last = range->base + range->bytes - 1;
    walk->n++;
    walk->bytes += range->bytes;
}

/* Many allocations and frees in random order: none overlaps another, none is lost. */
START_TEST(test_churn)
{
    enum { SLOTS = 200 };
    struct sg_arena *arena = sg_arena_new("arena", 1 << 24);
    struct random r = {random_seed()};
    struct walk walk = {0};
    unsigned char *p[SLOTS] = {0};
    size_t bytes[SLOTS], live = 0, n = 0;

    sg_arena_set_reuse(arena, _i == 0);
    for (int i = 0; i < 5000; i++) {
        uint32_t k = random_below(&r, SLOTS);

        if (p[k]) {
            for (size_t b = 0; b < bytes[k]; b += 97)
                ck_assert_int_eq(p[k][b], (unsigned char)k);
            ck_assert_int_eq(sg_arena_free(arena, p[k]), 0);
            p[k] = NULL;
        } else {
            bytes[k] = 1 + random_below(&r, random_below(&r, 4) ? 300 : 20000);
            p[k] = sg_arena_alloc(arena, bytes[k]);
            ck_assert_ptr_nonnull(p[k]);
            memset(p[k], (int)k, bytes[k]);
        }
    }
    for (int k = 0; k < SLOTS; k++) {
        live += p[k] ? bytes[k] : 0;
        n += p[k] != NULL;
    }
    sg_arena_each(arena, visit, &walk);
    ck_assert_uint_eq(walk.n, n);
    ck_assert_uint_eq(walk.bytes, live);
    sg_arena_delete(arena);
}
END_TEST

START_TEST(test_empty)
{
    struct sg_arena *arena = sg_arena_new("arena", 1 << 20);
    struct sg_range range;

    ck_assert(!sg_arena_nearest(arena, 1234, &range));
    ck_assert_uint_eq(sg_arena_used(arena), 0);
    sg_arena_delete(arena);
}
END_TEST

TCase *tcase_arena(void)
{
    TCase *tc = tcase_create("arena");

    tcase_add_test(tc, test_fresh);
    tcase_add_test(tc, test_capacity);
    tcase_add_test(tc, test_wrong_frees);
    tcase_add_test(tc, test_find);
    tcase_add_test(tc, test_reuse);
    tcase_add_loop_test(tc, test_churn, 0, 2);
    tcase_add_test(tc, test_empty);
    return tc;
}
