/* SPDX-License-Identifier: BSD-3-Clause
 * Every full mnemonic alone: random and special operands, each result compared with one computed
 * here by other means. One test per family of mnemonics. SOFTGPU_SEED sets the operands' seed.
 * --list prints the mnemonics, --ptx the generated modules, --only PREFIX runs without Check. */
#include "opcode.h"
#include "random.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct table *const tables[] = {
    &table_int,     &table_logic, &table_float,  &table_half,   &table_approx, &table_cvt,
    &table_compare, &table_move,  &table_memory, &table_atomic, &table_warp};

enum { TABLES = sizeof tables / sizeof tables[0] };

/* Distinct mnemonics of all families. */
static struct {
    char **name;
    size_t n, room;
} all;

static int order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void collect(const char *mnemonic, void *arg)
{
    (void)arg;
    if (all.n == all.room) {
        all.room = all.room ? 2 * all.room : 1024;
        all.name = realloc(all.name, all.room * sizeof *all.name);
        if (!all.name)
            abort();
    }
    all.name[all.n++] = strdup(mnemonic);
}

static void collect_all(void)
{
    size_t n = 0;

    for (int t = 0; t < TABLES; t++)
        for (size_t i = 0; i < tables[t]->n; i++)
            pattern_expand(tables[t]->family[i].pattern, collect, NULL);
    qsort(all.name, all.n, sizeof *all.name, order);
    for (size_t i = 0; i < all.n; i++) {
        if (n && strcmp(all.name[n - 1], all.name[i]) == 0)
            free(all.name[i]);
        else
            all.name[n++] = all.name[i];
    }
    all.n = n;
}

struct run {
    const struct family *family;
    const char *prefix;
    int failures, runs;
};

static void run_one(const char *mnemonic, void *arg)
{
    struct run *run = arg;
    char *message;

    if (run->prefix && strncmp(mnemonic, run->prefix, strlen(run->prefix)) != 0)
        return;
    run->runs++;
    message = opcode_run(run->family, mnemonic, random_seed());
    if (!message)
        return;
    run->failures++;
    printf("%s\n", message);
    free(message);
}

static void one_family(const struct table *table, int i)
{
    struct run run = {.family = &table->family[i]};

    pattern_expand(run.family->pattern, run_one, &run);
    fflush(stdout);
    ck_assert_msg(run.failures == 0, "%d of %d mnemonics of %s are wrong", run.failures, run.runs,
                  run.family->pattern);
}

#define FAMILY_TEST(_table)                                                                        \
    START_TEST(test_##_table)                                                                      \
    {                                                                                              \
        one_family(&table_##_table, _i);                                                           \
    }                                                                                              \
    END_TEST

FAMILY_TEST(int)
FAMILY_TEST(logic)
FAMILY_TEST(float)
FAMILY_TEST(half)
FAMILY_TEST(approx)
FAMILY_TEST(cvt)
FAMILY_TEST(compare)
FAMILY_TEST(move)
FAMILY_TEST(memory)
FAMILY_TEST(atomic)
FAMILY_TEST(warp)

static void print_ptx(const char *mnemonic, void *arg)
{
    struct insn in;
    char *ptx;

    insn_parse(&in, mnemonic);
    ptx = opcode_ptx(arg, &in, random_seed());
    printf("// module %s\n%s", mnemonic, ptx);
    free(ptx);
}

static int run_only(const char *prefix)
{
    struct run run = {.prefix = prefix};

    for (int t = 0; t < TABLES; t++)
        for (size_t i = 0; i < tables[t]->n; i++) {
            run.family = &tables[t]->family[i];
            pattern_expand(run.family->pattern, run_one, &run);
        }
    printf("%d runs, %d wrong\n", run.runs, run.failures);
    return run.failures != 0;
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("opcodes");
    SRunner *runner;
    int failed;
    const TTest *const tests[] = {test_int,    test_logic,  test_float,   test_half,
                                  test_approx, test_cvt,    test_compare, test_move,
                                  test_memory, test_atomic, test_warp};

    collect_all();
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < all.n; i++)
            printf("%s\n", all.name[i]);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--ptx") == 0) {
        for (int t = 0; t < TABLES; t++)
            for (size_t i = 0; i < tables[t]->n; i++)
                pattern_expand(tables[t]->family[i].pattern, print_ptx,
                               (void *)&tables[t]->family[i]);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--only") == 0)
        return run_only(argv[2]);
    for (int t = 0; t < TABLES; t++) {
        TCase *tc = tcase_create(tables[t]->name);

        tcase_set_timeout(tc, 60);
        tcase_add_loop_test(tc, tests[t], 0, (int)tables[t]->n);
        suite_add_tcase(suite, tc);
    }
    printf("seed: %llu\n", (unsigned long long)random_seed());
    printf("mnemonics tested: %zu\n", all.n);
    fflush(stdout);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
