/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of gemm/site: one record for each site whatever the threads do, no other site's record, a
 * decision for each call when the table is full, and what a look-up costs. */
#include "gemm/site.h"
#include "base/caller.h"
#include "device/context.h"
#include "gemm/rules.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct context context = {.gpu = {90, 132, true, "H"}};
static struct context other_context = {.gpu = {61, 28, true, "P"}};

static struct gemm call(int64_t m, int64_t n, int64_t k)
{
    return (struct gemm){.routine = "routine",
                         .caller = (const void *)4096,
                         .m = m,
                         .n = n,
                         .k = k,
                         .batch = 1,
                         .context = &context};
}

static const struct env *variables(void)
{
    static struct env env = {.enabled = 1,
                             .precision = PRECISION_FP16,
                             .opt_level = OPT_O1,
                             .policy = POLICY_COST,
                             .decisions = "off",
                             .tune = "off",
                             .converts = true};
    return &env;
}

START_TEST(key)
{
    struct gemm g = call(4096, 4096, 4096), base = g;
    struct site *s = site_decide(variables(), &g);
    ck_assert_ptr_eq(g.site, s);
    ck_assert_uint_eq(s->index, 0);
    ck_assert_int_eq(s->path, PATH_FP16);
    ck_assert_int_eq(s->scale, SCALE_DYNAMIC);
    ck_assert_ptr_eq(site_decide(variables(), &g), s);
    ck_assert_uint_eq(s->calls, 2);
    static const char other_routine[] = "routine of others";
#define OTHER(_change)                                                                             \
    do {                                                                                           \
        g = base;                                                                                  \
        _change;                                                                                   \
        struct site *t = site_decide(variables(), &g);                                             \
        ck_assert_ptr_ne(t, s);                                                                    \
        ck_assert_uint_eq(t->calls, 1);                                                            \
        ck_assert_ptr_eq(site_decide(variables(), &g), t);                                         \
    } while (0)
    OTHER(g.m++);
    OTHER(g.n++);
    OTHER(g.k++);
    OTHER(g.batch++);
    OTHER(g.transa = CUBLAS_OP_T);
    OTHER(g.transb = CUBLAS_OP_T);
    OTHER((g.transa = CUBLAS_OP_T, g.transb = CUBLAS_OP_T));
    OTHER(g.routine = other_routine);
    OTHER(g.caller = (const void *)8192);
    OTHER(g.tf32 = true);
    OTHER(g.m = 4096 + (INT64_C(1) << 32)); /* no part of a size is dropped */
    OTHER(g.context = &other_context);
    ck_assert_int_eq(g.site->path, PATH_FORWARD);
    ck_assert_int_eq(g.site->reason, REASON_GPU);
    /* For real matrices the conjugate is the transpose. */
    g = base;
    g.transa = CUBLAS_OP_C;
    struct gemm t = base;
    t.transa = CUBLAS_OP_T;
    ck_assert_ptr_eq(site_decide(variables(), &g), site_decide(variables(), &t));
    ck_assert_uint_eq(s->calls, 2);
    site_count_converted(s, PATH_FP16);
    site_count_converted(s, PATH_BF16);
    ck_assert_uint_eq(s->converted, 2);
    ck_assert_uint_eq(stats_total().converted[STATS_FP16], 1);
    ck_assert_uint_eq(stats_total().converted[STATS_BF16], 1);
}
END_TEST

/* Far more sites than there is room for: always the right decision, indices within bounds. */
START_TEST(more_sites_than_room)
{
    uint32_t largest = 0;
    for (int round = 0; round < 2; round++)
        for (int64_t i = 0; i < 20000; i++) {
            const bool large = i % 2 == 0;
            struct gemm g =
                call(large ? 8192 + i : 8, large ? 8192 : 8 + i % 64, large ? 8192 : 8 + i / 64);
            struct site *s = site_decide(variables(), &g);
            ck_assert_int_eq(s->path, large ? PATH_FP16 : PATH_FORWARD);
            ck_assert(s->m == g.m && s->n == g.n && s->k == g.k);
            ck_assert_uint_lt(s->index, SITES_MAX);
            if (i == 1000 && round == 0)
                ck_assert_uint_eq(s->index, 1000);
            if (s->index > largest)
                largest = s->index;
        }
    ck_assert_uint_eq(largest, SITES_MAX - 1);
}
END_TEST

enum { THREADS = 8, SHAPES = 300, CALLS = 40 };

static void *many_calls(void *argument)
{
    struct site **seen = argument;
    for (int i = 0; i < CALLS; i++)
        for (int shape = 0; shape < SHAPES; shape++) {
            struct gemm g = call(1000 + shape, 4096, 4096);
            struct site *s = site_decide(variables(), &g);
            if (seen[shape] == NULL)
                seen[shape] = s;
            if (seen[shape] != s || s->m != g.m)
                abort();
        }
    return NULL;
}

START_TEST(threads_share_sites)
{
    static struct site *seen[THREADS][SHAPES];
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(pthread_create(&threads[t], NULL, many_calls, seen[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    static bool used[SITES_MAX];
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int t = 1; t < THREADS; t++)
            ck_assert_ptr_eq(seen[t][shape], seen[0][shape]);
        ck_assert_uint_eq(seen[0][shape]->calls, THREADS * CALLS);
        ck_assert(!used[seen[0][shape]->index]); /* no index twice while there are others */
        used[seen[0][shape]->index] = true;
    }
}
END_TEST

enum { RACERS = 6, RACES = 300, RULES = 3000 };

static _Atomic int arrived;
static struct env slow; /* so many rules that a decision takes its time */

/* The threads meet each new site at the same time, as nearly as spinning can do it. */
static void *race(void *argument)
{
    struct site **seen = argument;
    for (int shape = 0; shape < RACES; shape++) {
        struct gemm g = call(1000 + shape, 2048, 2048);
        atomic_fetch_add(&arrived, 1);
        for (int spins = 0; atomic_load(&arrived) < RACERS * (shape + 1); spins++)
            if (spins > 2000) /* some have no processor */
                sched_yield();
        seen[shape] = site_decide(&slow, &g);
    }
    return NULL;
}

START_TEST(one_record_a_site)
{
    static struct site *seen[RACERS][RACES];
    static char path[] = "/tmp/check_site.XXXXXX";
    pthread_t others[RACERS];
    FILE *file = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < RULES; i++)
        fprintf(file, "[gemm]\nroutine = cublas*gemm*%d\npath = off\n", i);
    fclose(file);
    slow = *variables();
    snprintf(slow.rules, sizeof slow.rules, "%s", path);
    ck_assert_ptr_nonnull(rules_get(&slow));
    unlink(path);
    for (int i = 1; i < RACERS; i++)
        ck_assert_int_eq(pthread_create(&others[i], NULL, race, seen[i]), 0);
    race(seen[0]);
    for (int i = 1; i < RACERS; i++)
        pthread_join(others[i], NULL);
    for (int shape = 0; shape < RACES; shape++) {
        for (int i = 1; i < RACERS; i++)
            ck_assert_ptr_eq(seen[0][shape], seen[i][shape]);
        ck_assert_uint_eq(seen[0][shape]->calls, RACERS);
    }
}
END_TEST

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A bound that holds under load and sanitizers; what it is on a quiet core is printed. */
START_TEST(a_hit_is_cheap)
{
    enum { N = 200000, REPEATS = 9, SITES = 64 };
    struct gemm g[SITES];
    for (int i = 0; i < SITES; i++) {
        g[i] = call(100 + i, 512, 512);
        (void)site_decide(variables(), &g[i]);
    }
    double best = 1;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = seconds();
        for (int i = 0; i < N; i++)
            (void)site_decide(variables(), &g[i % SITES]);
        const double each = (seconds() - start) / N;
        best = each < best ? each : best;
    }
    printf("a hit takes %.1f ns\n", best * 1e9);
    ck_assert_double_lt(best, 500e-9);
}
END_TEST

/* Rules that look at the caller must not be answered for a library that is gone. */
START_TEST(unloaded_libraries)
{
    static char path[] = "/tmp/check_site.XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "[gemm]\ncaller = check_site*\npath = off\n");
    fclose(file);
    struct env env = *variables();
    snprintf(env.rules, sizeof env.rules, "%s", path);
    struct gemm g = call(4096, 4096, 4096);
    struct site *s = site_decide(&env, &g);
    unlink(path);
    ck_assert_int_eq(s->path, PATH_FP16);
    ck_assert_ptr_eq(site_decide(&env, &g), s);
    caller_forget();
    ck_assert_ptr_ne(site_decide(&env, &g), s);
    g.caller = (const void *)(uintptr_t)&variables; /* an address in this program */
    s = site_decide(&env, &g);
    ck_assert_int_eq(s->path, PATH_FORWARD);
    ck_assert_int_eq(s->reason, REASON_RULE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("site");
    TCase *tcase = tcase_create("site"); /* each test in a process of its own: the table is one */
    tcase_add_test(tcase, key);
    tcase_add_test(tcase, more_sites_than_room);
    tcase_add_test(tcase, threads_share_sites);
    tcase_add_test(tcase, one_record_a_site);
    tcase_add_test(tcase, a_hit_is_cheap);
    tcase_add_test(tcase, unloaded_libraries);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
