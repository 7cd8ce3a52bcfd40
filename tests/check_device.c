/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of the parts of device/ that need no GPU: the handle table and how a grid walks over a
 * matrix (each element exactly once, 16-byte accesses only where addresses allow them). */
#include "device/handle.h"
#include "device/kernels.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cublasHandle_t handle_at(uintptr_t address)
{
    return (cublasHandle_t)address;
}

START_TEST(handles_come_and_go)
{
    struct handle_info info = {(const struct real_blas *)0x100, (const struct real_lt *)0x180,
                               (struct context *)0x200},
                       got;
    ck_assert(!handle_find(handle_at(0x1000), &got));
    ck_assert(!handle_find(NULL, &got));
    ck_assert(!handle_find(handle_at(1), &got));
    ck_assert(handle_add(handle_at(0x1000), info));
    ck_assert(handle_find(handle_at(0x1000), &got));
    ck_assert_ptr_eq(got.real, info.real);
    ck_assert_ptr_eq(got.lt, info.lt);
    ck_assert_ptr_eq(got.context, info.context);
    /* The same address again, after a destroy that was not seen. */
    info.context = (struct context *)0x300;
    ck_assert(handle_add(handle_at(0x1000), info));
    ck_assert(handle_find(handle_at(0x1000), &got));
    ck_assert_ptr_eq(got.context, info.context);
    handle_remove(handle_at(0x1000));
    ck_assert(!handle_find(handle_at(0x1000), &got));
    handle_remove(handle_at(0x1000));
}
END_TEST

/* 100,000 handles one after the other, with some alive all the time, need no more room. */
START_TEST(many_handles)
{
    struct handle_info info = {.real = (const struct real_blas *)0x100}, got;
    for (uintptr_t i = 1; i <= 500; i++)
        ck_assert(handle_add(handle_at(i * 4096), info));
    for (uintptr_t i = 1000; i < 101000; i++) {
        ck_assert(handle_add(handle_at(i * 4096), info));
        ck_assert(handle_find(handle_at(i * 4096), &got));
        handle_remove(handle_at(i * 4096));
        ck_assert(!handle_find(handle_at(i * 4096), &got));
    }
    for (uintptr_t i = 1; i <= 500; i++) {
        ck_assert(handle_find(handle_at(i * 4096), &got));
        handle_remove(handle_at(i * 4096));
    }
}
END_TEST

static void *add_and_remove(void *arg)
{
    uintptr_t first = (uintptr_t)arg;
    struct handle_info info = {.real = (const struct real_blas *)first}, got;
    for (uintptr_t i = 0; i < 20000; i++) {
        cublasHandle_t h = handle_at(first + i % 7 * 64);
        if (!handle_add(h, info) || !handle_find(h, &got) || got.real != info.real)
            return arg;
        handle_remove(h);
        if (handle_find(h, &got))
            return arg;
    }
    return NULL;
}

START_TEST(handles_of_threads)
{
    pthread_t thread[4];
    for (uintptr_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, add_and_remove, (void *)((i + 1) << 20)), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

/* Goes over the grid as struct apex_walk describes it and counts visits per element. */
static void count_visits(const struct apex_source *source, uint32_t blocks, int64_t ld,
                         int64_t stride, unsigned char *visits)
{
    const struct apex_walk *w = &source->walk;
    const uint32_t tx = 1u << w->tx_log2, columns_at_once = APEX_BLOCK_THREADS / tx;
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t thread = 0; thread < APEX_BLOCK_THREADS; thread++) {
            int64_t first = (int64_t)(block % w->segments) * w->segment_rows;
            int64_t end = first + w->segment_rows < w->rows ? first + w->segment_rows : w->rows;
            for (int64_t c = (int64_t)(block / w->segments) * columns_at_once + thread / tx;
                 c < w->cols * w->batch; c += (int64_t)w->groups * columns_at_once)
                for (int64_t r = first + (int64_t)(thread % tx) * APEX_VECTOR; r < end;
                     r += (int64_t)tx * APEX_VECTOR)
                    for (int64_t i = r; i < r + APEX_VECTOR && i < end; i++)
                        visits[c / w->cols * stride + c % w->cols * ld + i]++;
        }
}

static void check_walk(int64_t rows, int64_t cols, int64_t batch, int64_t ld, int64_t stride,
                       uintptr_t address, bool with_target, int multiprocessors)
{
    struct gpu gpu = {.multiprocessors = multiprocessors};
    struct apex_source source = {.data = (const float *)address, .ld = ld, .stride = stride};
    uint32_t blocks =
        kernels_plan_walk(&gpu, &source, rows, cols, batch, with_target ? rows % 8 == 0 : true);
    ck_assert_uint_ge(blocks, 1);
    ck_assert_uint_le(blocks, (unsigned)multiprocessors * 8);
    ck_assert_int_eq(source.walk.segment_rows % ((int64_t)APEX_VECTOR << source.walk.tx_log2), 0);
    size_t elements = (size_t)((batch - 1) * stride + (cols - 1) * ld + rows);
    unsigned char *visits = calloc(elements, 1);
    count_visits(&source, blocks, ld, stride, visits);
    for (int64_t i = 0; i < batch; i++)
        for (int64_t c = 0; c < cols; c++)
            for (int64_t r = 0; r < rows; r++) {
                size_t at = (size_t)(i * stride + c * ld + r);
                if (visits[at] != 1)
                    ck_abort_msg("%d visits of (%d,%d,%d), rows %d cols %d batch %d", visits[at],
                                 (int)i, (int)c, (int)r, (int)rows, (int)cols, (int)batch);
                visits[at] = 0;
            }
    for (size_t i = 0; i < elements; i++)
        if (visits[i] != 0)
            ck_abort_msg("padding was visited");
    /* A vector access to a misaligned column would fault. */
    if (source.walk.vector)
        for (int64_t i = 0; i < batch; i++)
            for (int64_t c = 0; c < cols; c++)
                if (source.walk.cols * source.walk.batch > 1 &&
                    (address + (uintptr_t)(i * stride + c * ld) * sizeof(float)) % 16 != 0)
                    ck_abort_msg("vector access to a misaligned column");
    free(visits);
}

START_TEST(walk_visits_each_element_once)
{
    unsigned seed = (unsigned)time(NULL);
    fprintf(stderr, "seed %u\n", seed);
    srand(seed);
    for (int i = 0; i < 3000; i++) {
        int64_t rows = 1 + rand() % (i % 3 == 0 ? 3000 : 40), cols = 1 + rand() % 50;
        int64_t batch = 1 + rand() % 3, ld = rows + (rand() % 2 ? 0 : rand() % 9);
        int64_t stride = batch == 1 ? 0 : ld * cols + (rand() % 2 ? 0 : rand() % 9);
        check_walk(rows, cols, batch, ld, stride, 4096 + 4 * (uintptr_t)(rand() % 8), rand() % 2,
                   1 + rand() % 20);
    }
}
END_TEST

START_TEST(aligned_walk_uses_vectors)
{
    struct gpu gpu = {.multiprocessors = 132};
    struct apex_source source = {.data = (const float *)4096, .ld = 512};
    kernels_plan_walk(&gpu, &source, 512, 512, 1, true);
    ck_assert_uint_ne(source.walk.vector, 0);
    ck_assert_int_eq(source.walk.cols, 1); /* dense: one long column */
    source.data = (const float *)4100;
    kernels_plan_walk(&gpu, &source, 512, 512, 1, true);
    ck_assert_uint_eq(source.walk.vector, 0);
    source = (struct apex_source){.data = (const float *)4096, .ld = 516};
    kernels_plan_walk(&gpu, &source, 512, 512, 1, true);
    ck_assert_uint_ne(source.walk.vector, 0);
    source.ld = 514;
    kernels_plan_walk(&gpu, &source, 512, 512, 1, true);
    ck_assert_uint_eq(source.walk.vector, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device");
    TCase *tcase = tcase_create("device");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, handles_come_and_go);
    tcase_add_test(tcase, many_handles);
    tcase_add_test(tcase, handles_of_threads);
    tcase_add_test(tcase, walk_visits_each_element_once);
    tcase_add_test(tcase, aligned_walk_uses_vectors);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
