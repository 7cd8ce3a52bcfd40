/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of hook/sizes: for each cuBLAS function whose sizes are arguments, the operations of random
 * calls by BLAS's own definitions, with rubbish in the halves of words that an int leaves. */
#include "hook/sizes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 50, WORDS = 20 };

static const struct {
    int index;
    const char *name;
} names[] = {
#define HOOK(_lib, _name)
#define SEEN(_lib, _name, _kind) {REAL_SEEN_##_name, #_name},
#include "symbols.def"
};

static uintptr_t word(int64_t x, int wide)
{
    const uint64_t rubbish = (uint64_t)rand() << 33;
    return wide ? (uintptr_t)x : (uintptr_t)(rubbish | (uint32_t)(int32_t)x);
}

static int ends(const char *s, const char *end)
{
    const size_t n = strlen(s), e = strlen(end);
    return n >= e && strcmp(s + n - e, end) == 0;
}

/* Fills the words for a random call, and returns its operations. */
static double expect(const char *name, uintptr_t *w, int wide)
{
    char op[64];
    const int64_t big = wide ? INT64_C(5000000000) : 100;
    const int64_t m = 1 + rand() % big, n = 1 + rand() % 90, k = 1 + rand() % 80,
                  batch = 1 + rand() % 7;
    const int left = rand() % 2;
    const char type = name[6];
    const double one = type == 'C' || type == 'Z' ? 4 : 1; /* complex: 4 products of real numbers */
    snprintf(op, sizeof op, "%s", name + 7);
    if (wide)
        op[strlen(op) - 3] = '\0';
    const int second = ends(op, "_v2");
    if (second)
        op[strlen(op) - 3] = '\0';
    for (int i = 0; i < WORDS; i++)
        w[i] = word(rand(), 0);
    if (strncmp(op, "gemm", 4) == 0) {
        /* (handle, transa, transb, m, n, k, ...); without a handle one less */
        const int no_handle = strcmp(op, "gemm") == 0 && !second && type != 'H';
        const int at = no_handle ? 2 : 3;
        w[at] = word(m, wide);
        w[at + 1] = word(n, wide);
        w[at + 2] = word(k, wide);
        w[17] = w[14] = word(batch, wide);
        return 2 * one * (double)m * (double)n * (double)k *
               (strstr(op, "Batched") != NULL ? (double)batch : 1);
    }
    const int triangular = strncmp(op, "tr", 2) == 0;
    if (triangular || strcmp(op, "symm") == 0 || strcmp(op, "hemm") == 0) {
        /* (handle, side, uplo, m, n, ...), (handle, side, uplo, trans, diag, m, n, ...) */
        const int at = triangular ? 5 : 3;
        w[1] = word(left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, 0);
        w[at] = word(m, wide);
        w[at + 1] = word(n, wide);
        w[12] = triangular ? word(batch, wide) : w[12];
        return (triangular ? 1 : 2) * one * (double)m * (double)n * (double)(left ? m : n) *
               (strstr(op, "Batched") != NULL ? (double)batch : 1);
    }
    /* (handle, uplo, trans, n, k, ...): half of n n k products; two of them in a rank-2k update */
    w[3] = word(m, wide);
    w[4] = word(k, wide);
    return (strstr(op, "2k") != NULL ? 2 : 1) * one * (double)m * (double)m * (double)k;
}

/* Those whose sizes are in arrays, or that the API without a handle has beside GEMMs. */
static int left_out(const char *name, enum real_seen index)
{
    static const char *const level3[] = {"syrk", "syr2k", "symm", "trmm", "trsm",
                                         "herk", "her2k", "hemm"};
    (void)index;
    if (strstr(name, "Grouped") != NULL || strstr(name, "gemv") != NULL ||
        strncmp(name, "cublasLt", 8) == 0 || strncmp(name, "cublas", 6) != 0)
        return 1;
    for (size_t i = 0; i < sizeof level3 / sizeof level3[0]; i++)
        if (strcmp(name + 7, level3[i]) == 0)
            return 1;
    return 0;
}

START_TEST(operations)
{
    const unsigned seed = (unsigned)time(NULL);
    int tested = 0;
    srand(seed);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = names[i].name;
        const enum real_seen index = (enum real_seen)names[i].index;
        uintptr_t w[WORDS];
        const struct arguments arguments = {w, w + REGISTER_ARGUMENTS};
        tested += !left_out(name, index);
        for (int round = 0; round < ROUNDS; round++) {
            const int out = left_out(name, index);
            const double expected = out ? 0 : expect(name, w, ends(name, "_64"));
            if (out)
                memset(w, 1, sizeof w);
            const double got = sizes_flop(index, &arguments);
            ck_assert_msg(got == expected, "seed %u, %s: %g, not %g", seed, name, got, expected);
        }
    }
    ck_assert_int_gt(tested, 100);
}
END_TEST

/* An empty or invalid call does no work. */
START_TEST(nothing)
{
    uintptr_t w[WORDS] = {0, 0, 0, 4, 4, 4};
    const struct arguments arguments = {w, w + REGISTER_ARGUMENTS};
    ck_assert(sizes_flop(REAL_SEEN_cublasHgemm, &arguments) == 128);
    w[4] = (uint32_t)-4;
    ck_assert(sizes_flop(REAL_SEEN_cublasHgemm, &arguments) == 0);
    w[4] = 0;
    ck_assert(sizes_flop(REAL_SEEN_cublasHgemm, &arguments) == 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sizes");
    TCase *tests = tcase_create("sizes");
    tcase_add_test(tests, operations);
    tcase_add_test(tests, nothing);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
