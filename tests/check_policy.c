/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of gemm/: which calls may be converted, and what the cost model decides. The expected sides
 * of the thresholds are those of the published roofline of this project's design (crossovers for an
 * H200), with room for the model's coarseness. */
#include "device/context.h"
#include "gemm/cost.h"
#include "gemm/gemm.h"
#include "gemm/policy.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct gpu h200 = {90, 132, true, ""}, v100 = {70, 80, true, ""},
                        a100 = {80, 108, true, ""}, pascal = {61, 28, true, ""};

static struct gemm square(int64_t n)
{
    static float alpha = 1, beta = 0;
    return (struct gemm){
        .routine = "test",
        .m = n,
        .n = n,
        .k = n,
        .batch = 1,
        .alpha = &alpha,
        .beta = &beta,
        .a = {(void *)4096, CUDA_R_32F, n, 0},
        .b = {(void *)4096, CUDA_R_32F, n, 0},
        .c = {(void *)4096, CUDA_R_32F, n, 0},
        .compute = CUBLAS_COMPUTE_32F,
    };
}

static enum path choose(const struct gpu *gpu, struct gemm g, int precision, int policy,
                        enum reason *reason)
{
    const struct wish wish = {
        .precision = precision, .policy = policy, .scale = SCALE_DYNAMIC, .path = PATHS};
    const struct cost_model model = cost_model_of(gpu);
    *reason = REASONS;
    return policy_choose(&wish, &model, gpu, &g, reason);
}

static enum path choose_path(const struct gpu *gpu, struct gemm g, enum path path, enum reason *why)
{
    const struct wish wish = {.precision = PRECISION_FP32, .policy = POLICY_COST, .path = path};
    const struct cost_model model = cost_model_of(gpu);
    return policy_choose(&wish, &model, gpu, &g, why);
}

START_TEST(cost_on_h200)
{
    enum reason why;
    ck_assert_int_eq(choose(&h200, square(32), PRECISION_FP16, POLICY_COST, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_SMALL);
    ck_assert_int_eq(choose(&h200, square(128), PRECISION_FP16, POLICY_COST, &why), PATH_FORWARD);
    ck_assert_int_eq(choose(&h200, square(768), PRECISION_FP16, POLICY_COST, &why), PATH_TF32);
    ck_assert_int_eq(choose(&h200, square(8192), PRECISION_FP16, POLICY_COST, &why), PATH_FP16);
    ck_assert_int_eq(choose(&h200, square(8192), PRECISION_TF32, POLICY_COST, &why), PATH_TF32);
    /* Thin: the cast moves more than the GEMM reads. */
    struct gemm decode = square(4096);
    decode.m = 16;
    ck_assert_int_ne(choose(&h200, decode, PRECISION_FP16, POLICY_COST, &why), PATH_FP16);
    struct gemm batch = square(2048);
    batch.batch = 8;
    ck_assert_int_eq(choose(&h200, batch, PRECISION_FP16, POLICY_COST, &why), PATH_TF32);
    ck_assert_int_eq(choose(&h200, batch, PRECISION_FP16, POLICY_ALWAYS, &why), PATH_FP16);
    ck_assert_int_eq(choose(&h200, square(1), PRECISION_FP16, POLICY_ALWAYS, &why), PATH_FP16);
    ck_assert_int_eq(choose(&h200, square(1), PRECISION_TF32, POLICY_ALWAYS, &why), PATH_TF32);
    batch.pointer_array = true;
    /* k is a multiple of 4: the entries would have to be aligned, and can't be seen. */
    ck_assert_int_eq(choose(&h200, batch, PRECISION_FP16, POLICY_ALWAYS, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_POINTERS);
    ck_assert_int_eq(choose_path(&h200, batch, PATH_TF32, &why), PATH_TF32);
    batch.k = 2047;
    ck_assert_int_eq(choose(&h200, batch, PRECISION_FP16, POLICY_ALWAYS, &why), PATH_TF32);
    ck_assert_int_eq(choose(&h200, batch, PRECISION_FP16X2, POLICY_ALWAYS, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_ENGINE);
}
END_TEST

START_TEST(classes_on_h200)
{
    enum reason why;
    static const struct {
        int precision;
        enum path large, batched;
    } expected[] = {
        {PRECISION_FP32, PATH_FORWARD, PATH_FORWARD},
        {PRECISION_TF32, PATH_TF32, PATH_TF32},
        {PRECISION_FP16, PATH_FP16, PATH_TF32},
        {PRECISION_BF16, PATH_BF16, PATH_BF16},
        /* A batch has no common exponent, so that the range of BF16 is needed. */
        {PRECISION_FP16X2, PATH_FP16X2, PATH_BF16X6},
        {PRECISION_BF16X3, PATH_BF16X3, PATH_BF16X3},
        {PRECISION_BF16X6, PATH_BF16X6, PATH_BF16X6},
        {PRECISION_FP8, PATH_FP8, PATH_BF16},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct gemm batch = square(4096);
        batch.batch = 4;
        ck_assert_int_eq(choose(&h200, square(8192), expected[i].precision, POLICY_COST, &why),
                         expected[i].large);
        ck_assert_int_eq(choose(&h200, batch, expected[i].precision, POLICY_COST, &why),
                         expected[i].batched);
    }
    ck_assert_int_eq(choose(&h200, square(4096), PRECISION_FP32, POLICY_ALWAYS, &why),
                     PATH_FORWARD);
    ck_assert_int_eq(why, REASON_OFF);
}
END_TEST

/* Whatever the shape and the class, what cost chooses is within the class. */
START_TEST(choices_stay_within_the_class)
{
    enum reason why;
    srand(5);
    for (int i = 0; i < 20000; i++) {
        struct gemm g = square(1);
        g.m = 1 + rand() % 9000;
        g.n = 1 + rand() % 9000;
        g.k = 1 + rand() % 9000;
        g.batch = rand() % 4 == 0 ? 1 + rand() % 9 : 1;
        g.pointer_array = rand() % 9 == 0;
        g.tf32 = rand() % 5 == 0;
        const struct gpu gpu = {.compute_capability =
                                    (const int[]){61, 70, 75, 80, 86, 89, 90, 120}[rand() % 8],
                                .multiprocessors = 1 + rand() % 160};
        const int precision = rand() % (PRECISION_BF16X6 + 1);
        const enum path path = choose(&gpu, g, precision, rand() % 2, &why);
        ck_assert(policy_within(precision, path));
        ck_assert(policy_has(&gpu, path));
        ck_assert(policy_fits(&g, path));
        ck_assert_int_lt(path, PATH_FP8);
        ck_assert(path != PATH_FORWARD || why != REASONS);
        ck_assert(!g.tf32 || path != PATH_TF32 || precision != PRECISION_BF16X6);
    }
}
END_TEST

/* Units in the last place that the formats have: 2^-11, 2^-8, ... of DESIGN's table. */
START_TEST(what_is_within_a_class)
{
    static const struct {
        int precision;
        bool within[PATHS]; /* forward tf32 fp16 bf16 fp16x2 bf16x3 bf16x6 fp8 and with E5M2 */
    } table[] = {
        {PRECISION_FP32, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {PRECISION_TF32, {1, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
        {PRECISION_FP16, {1, 1, 1, 0, 1, 1, 1, 0, 0, 0}},
        {PRECISION_BF16, {1, 1, 1, 1, 1, 1, 1, 0, 0, 0}},
        {PRECISION_FP16X2, {1, 0, 0, 0, 1, 0, 1, 0, 0, 0}},
        {PRECISION_BF16X3, {1, 0, 0, 0, 1, 1, 1, 0, 0, 0}},
        {PRECISION_BF16X6, {1, 0, 0, 0, 1, 0, 1, 0, 0, 0}},
        {PRECISION_FP8, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        for (int path = 0; path < PATHS; path++)
            ck_assert_int_eq(policy_within(table[i].precision, (enum path)path),
                             table[i].within[path]);
}
END_TEST

START_TEST(gpus_without_the_arithmetic)
{
    enum reason why;
    ck_assert_int_eq(choose(&v100, square(4096), PRECISION_TF32, POLICY_ALWAYS, &why),
                     PATH_FORWARD);
    ck_assert_int_eq(why, REASON_GPU);
    ck_assert_int_eq(choose(&v100, square(4096), PRECISION_FP16, POLICY_COST, &why), PATH_FP16);
    struct gemm batch = square(2048);
    batch.batch = 8; /* below 8.0 batches are forwarded */
    ck_assert_int_eq(choose(&v100, batch, PRECISION_FP16, POLICY_COST, &why), PATH_FORWARD);
    ck_assert_int_eq(choose(&pascal, square(4096), PRECISION_FP16, POLICY_ALWAYS, &why),
                     PATH_FORWARD);
    ck_assert_int_eq(why, REASON_GPU);
    ck_assert_int_eq(choose(&a100, square(4096), PRECISION_TF32, POLICY_COST, &why), PATH_TF32);
    /* The next more exact class: BF16 becomes FP16, three BF16 products two FP16 pieces. */
    ck_assert_int_eq(policy_class(&v100, PRECISION_BF16), PRECISION_FP16);
    ck_assert_int_eq(policy_class(&v100, PRECISION_BF16X3), PRECISION_FP16X2);
    ck_assert_int_eq(policy_class(&v100, PRECISION_BF16X6), PRECISION_FP32);
    ck_assert_int_eq(policy_class(&a100, PRECISION_FP8), PRECISION_BF16);
    ck_assert_int_eq(policy_class(&v100, PRECISION_FP8), PRECISION_FP16);
    ck_assert_int_eq(policy_class(&pascal, PRECISION_FP8), PRECISION_FP32);
    for (int p = 0; p < PRECISIONS; p++) {
        ck_assert_int_eq(policy_class(&h200, p), p);
        ck_assert_int_eq(policy_class(&pascal, p), PRECISION_FP32);
    }
    ck_assert_int_eq(choose(&v100, square(8192), PRECISION_BF16, POLICY_COST, &why), PATH_FP16);
    ck_assert_int_eq(choose(&v100, square(8192), PRECISION_BF16X3, POLICY_COST, &why), PATH_FP16X2);
    ck_assert_int_eq(choose(&v100, square(8192), PRECISION_BF16X6, POLICY_ALWAYS, &why),
                     PATH_FORWARD);
    ck_assert_int_eq(why, REASON_GPU);
}
END_TEST

/* The smallest square that leaves the plain call. */
static int64_t first_converted(const struct gpu *gpu, int precision)
{
    enum reason why;
    for (int64_t n = 64; n <= 32768; n += 64)
        if (choose(gpu, square(n), precision, POLICY_COST, &why) != PATH_FORWARD)
            return n;
    return INT64_MAX;
}

/* Parts for games have FP16 with FP32 sums at twice FP32, and TF32 at the same rate: less to gain,
 * and later. */
START_TEST(geforce_gains_little)
{
    enum reason why;
    const struct gpu rtx3090 = {86, 82, true, ""}, rtx4090 = {89, 128, true, ""};
    ck_assert_int_eq(choose(&rtx3090, square(4096), PRECISION_TF32, POLICY_COST, &why),
                     PATH_FORWARD);
    ck_assert_int_eq(choose(&rtx4090, square(4096), PRECISION_FP16X2, POLICY_COST, &why),
                     PATH_FORWARD);
    ck_assert_int_gt(first_converted(&rtx4090, PRECISION_FP16),
                     first_converted(&h200, PRECISION_FP16));
    ck_assert_int_gt(first_converted(&rtx3090, PRECISION_FP16),
                     first_converted(&a100, PRECISION_FP16));
    ck_assert_int_eq(choose(&rtx4090, square(8192), PRECISION_FP16, POLICY_COST, &why), PATH_FP16);
}
END_TEST

/* A program that uses TF32 itself gets nothing slower, and nothing that it has already. */
START_TEST(program_uses_tf32)
{
    enum reason why;
    struct gemm g = square(1024);
    g.tf32 = true;
    ck_assert_int_eq(choose(&h200, g, PRECISION_FP16, POLICY_COST, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_ALREADY);
    g = square(8192);
    g.tf32 = true;
    ck_assert_int_eq(choose(&h200, g, PRECISION_FP16, POLICY_COST, &why), PATH_FP16);
    ck_assert_int_eq(choose(&h200, g, PRECISION_FP16X2, POLICY_COST, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_ALREADY);
    ck_assert_int_eq(choose(&h200, g, PRECISION_FP16X2, POLICY_ALWAYS, &why), PATH_FORWARD);
}
END_TEST

START_TEST(paths_by_name)
{
    enum reason why;
    for (int path = 1; path < PATHS; path++)
        ck_assert_int_eq(choose_path(&h200, square(8), (enum path)path, &why), path);
    ck_assert_int_eq(choose_path(&h200, square(8192), PATH_FORWARD, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_RULE);
    ck_assert_int_eq(choose_path(&a100, square(8192), PATH_FP8, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_GPU);
    struct gemm array = square(64);
    array.pointer_array = true;
    ck_assert_int_eq(choose_path(&h200, array, PATH_FP16, &why), PATH_FORWARD);
    ck_assert_int_eq(why, REASON_ENGINE);
    for (int path = 0; path < PATHS; path++)
        ck_assert_int_eq(path_of_word(path_word((enum path)path)), path);
    ck_assert_int_eq(path_of_word("OFF"), PATH_FORWARD);
    ck_assert_int_eq(path_of_word("fp17"), PATHS);
    ck_assert_int_eq(precision_of_word("FP8"), PRECISION_FP8);
    ck_assert_int_eq(precision_of_word("auto"), -1);
    for (int p = 0; p < PRECISIONS; p++)
        ck_assert(p == PRECISION_AUTO || precision_of_word(precision_word(p)) == p);
}
END_TEST

START_TEST(ladders)
{
    enum path ladder[PATHS];
    const struct wish wish = {.scale = SCALE_DYNAMIC, .path = PATHS};
    struct cost_model model = cost_model_of(&h200);
    struct gemm g = square(8192);
    int n = policy_ladder(&wish, &model, &h200, &g, ladder);
    const enum path expected[] = {PATH_BF16, PATH_FP16, PATH_BF16X3, PATH_FP16X2, PATH_FORWARD};
    ck_assert_int_eq(n, 5);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(ladder[i], expected[i]);
    g = square(16); /* a tiny one: nothing is quicker than the plain call */
    n = policy_ladder(&wish, &model, &h200, &g, ladder);
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(ladder[0], PATH_FORWARD);
    /* Where cost does not count, from the least to the most exact. */
    const struct wish always = {.policy = POLICY_ALWAYS, .path = PATHS};
    n = policy_ladder(&always, &model, &h200, &g, ladder);
    ck_assert_int_eq(n, 5);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(ladder[i], expected[i]);
    n = policy_ladder(&always, &model, &v100, &g, ladder);
    ck_assert_int_eq(n, 3);
    ck_assert(ladder[0] == PATH_FP16 && ladder[1] == PATH_FP16X2 && ladder[2] == PATH_FORWARD);
    g = square(8192);
    g.pointer_array = true;
    ck_assert_int_eq(policy_ladder(&wish, &model, &h200, &g, ladder), 1);
    ck_assert_int_eq(ladder[0], PATH_FORWARD);
    g.k = 8191;
    n = policy_ladder(&wish, &model, &h200, &g, ladder);
    ck_assert_int_eq(n, 2);
    ck_assert_int_eq(ladder[0], PATH_TF32);
    n = policy_ladder(&wish, &model, &pascal, &g, ladder);
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(ladder[0], PATH_FORWARD);
    g = square(8192);
    g.tf32 = true;
    model = cost_model_of(&h200);
    n = policy_ladder(&wish, &model, &h200, &g, ladder);
    for (int i = 0; i < n; i++)
        ck_assert(ladder[i] != PATH_TF32 && ladder[i] != PATH_FP8 && ladder[i] != PATH_FP16X2);
    ck_assert_int_eq(ladder[n - 1], PATH_FORWARD);
}
END_TEST

/* The model of a large square against the datasheet: H200 67 / 494.7 / 989.4 TFLOP/s; measured
 * GEMMs reach 70 to 85 % of that. */
START_TEST(model_is_near_the_datasheet)
{
    struct cost_model model = cost_model_of(&h200);
    struct cost_shape shape = {8192, 8192, 8192, 1};
    const double flop = 2 * pow(8192, 3);
    const double peak[] = {67e12, 494.7e12};
    for (int path = PATH_FORWARD; path <= PATH_TF32; path++) {
        double rate = flop / cost_seconds(&model, &shape, (enum path)path, SCALE_EXACT);
        ck_assert_double_lt(rate, 0.9 * peak[path]);
        ck_assert_double_gt(rate, 0.6 * peak[path]);
    }
    /* Casting costs 10 bytes an element at 4.8 TB/s at best. */
    double cast = cost_seconds(&model, &shape, PATH_FP16, SCALE_EXACT);
    ck_assert_double_gt(cast, flop / 989.4e12 + 10 * 2 * pow(8192, 2) / 4.8e12);
    ck_assert_double_lt(cast, 2 * (flop / 989.4e12 + 10 * 2 * pow(8192, 2) / 4.8e12));
}
END_TEST

START_TEST(closed_forms)
{
    /* Bytes an element: read once, or twice for the exact exponent; written for each piece. */
    static const struct {
        enum path path;
        int dynamic, exact, fixed, dynamic_kernels, fixed_kernels;
    } table[] = {{PATH_FORWARD, 0, 0, 0, 1, 1},   {PATH_TF32, 0, 0, 0, 1, 1},
                 {PATH_FP16, 6, 10, 6, 3, 2},     {PATH_BF16, 6, 6, 6, 2, 2},
                 {PATH_FP16X2, 10, 14, 10, 4, 3}, {PATH_BF16X3, 10, 10, 10, 2, 2},
                 {PATH_BF16X6, 16, 16, 16, 3, 3}, {PATH_FP8, 5, 9, 5, 3, 2}};
    const struct cost_shape shape = {512, 512, 1024, 1}; /* two chunks of 512 */
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const enum path path = table[i].path;
        ck_assert_int_eq(cost_bytes_per_element(path, SCALE_DYNAMIC), table[i].dynamic);
        ck_assert_int_eq(cost_bytes_per_element(path, SCALE_EXACT), table[i].exact);
        ck_assert_int_eq(cost_bytes_per_element(path, SCALE_FIXED), table[i].fixed);
        ck_assert_double_eq(cost_launches(&shape, path, SCALE_DYNAMIC), table[i].dynamic_kernels);
        ck_assert_double_eq(cost_launches(&shape, path, SCALE_EXACT), table[i].dynamic_kernels);
        ck_assert_double_eq(cost_launches(&shape, path, SCALE_FIXED), table[i].fixed_kernels);
    }
    /* K cancels: from h = MN/(M+N) on, with large K, the cast pays whatever K is. */
    struct cost_model model = cost_model_of(&h200);
    for (int64_t k = 4096; k <= 65536; k *= 4) {
        struct cost_shape thin = {600, 4096, k, 1}, thick = {2048, 4096, k, 1};
        ck_assert_double_gt(cost_seconds(&model, &thin, PATH_FP16, SCALE_EXACT),
                            cost_seconds(&model, &thin, PATH_TF32, SCALE_EXACT));
        ck_assert_double_lt(cost_seconds(&model, &thick, PATH_FP16, SCALE_EXACT),
                            cost_seconds(&model, &thick, PATH_TF32, SCALE_EXACT));
    }
}
END_TEST

START_TEST(time_grows_with_size)
{
    struct cost_model model = cost_model_of(&h200);
    for (int path = 0; path < PATHS; path++)
        for (int64_t n = 16; n <= 16384; n *= 2) {
            struct cost_shape small = {n, n, n, 1}, large = {2 * n, 2 * n, 2 * n, 1};
            ck_assert_double_le(cost_seconds(&model, &small, (enum path)path, SCALE_DYNAMIC),
                                cost_seconds(&model, &large, (enum path)path, SCALE_DYNAMIC));
        }
    /* Sizes that no memory holds must not wrap around. */
    struct cost_shape huge = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    for (int path = 0; path < PATHS; path++) {
        double s = cost_seconds(&model, &huge, (enum path)path, SCALE_DYNAMIC);
        ck_assert(s > 1e20);
    }
}
END_TEST

START_TEST(arguments)
{
    struct gemm g = square(64);
    ck_assert_int_eq(gemm_check_arguments(&g), REASONS);
#define EXPECT(_change, _reason)                                                                   \
    do {                                                                                           \
        g = square(64);                                                                            \
        _change;                                                                                   \
        ck_assert_int_eq(gemm_check_arguments(&g), _reason);                                       \
    } while (0)
    EXPECT(g.m = 0, REASON_ARGUMENT);
    EXPECT(g.n = 0, REASON_ARGUMENT);
    EXPECT(g.k = 0, REASON_ARGUMENT);
    EXPECT(g.m = -1, REASON_ARGUMENT);
    EXPECT(g.batch = 0, REASON_ARGUMENT);
    EXPECT(g.a.ld = 63, REASON_ARGUMENT);
    EXPECT(g.b.ld = 63, REASON_ARGUMENT);
    EXPECT(g.c.ld = 63, REASON_ARGUMENT);
    EXPECT(g.alpha = NULL, REASON_ARGUMENT);
    EXPECT(g.beta = NULL, REASON_ARGUMENT);
    EXPECT(g.a.data = NULL, REASON_ARGUMENT);
    EXPECT(g.b.data = NULL, REASON_ARGUMENT);
    EXPECT(g.c.data = NULL, REASON_ARGUMENT);
    EXPECT(g.a.data = (void *)4097, REASON_ARGUMENT);
    EXPECT(g.transa = (cublasOperation_t)3, REASON_ARGUMENT);
    EXPECT(g.transb = (cublasOperation_t)-1, REASON_ARGUMENT);
    EXPECT(g.a.type = CUDA_R_16F, REASON_TYPE);
    EXPECT(g.b.type = CUDA_R_64F, REASON_TYPE);
    EXPECT(g.c.type = CUDA_R_16F, REASON_TYPE);
    EXPECT(g.compute = CUBLAS_COMPUTE_32F_PEDANTIC, REASON_PEDANTIC);
    EXPECT(g.compute = CUBLAS_COMPUTE_16F, REASON_COMPUTE);
    EXPECT(g.compute = CUDA_R_32F, REASON_COMPUTE); /* an old C program's data type */
    EXPECT((g.batch = 2, g.a.stride = g.b.stride = 0, g.c.stride = 64 * 64), REASONS);
    EXPECT((g.batch = 2, g.c.stride = 0), REASON_ARGUMENT);
    EXPECT((g.batch = 2, g.c.stride = 64 * 64, g.a.stride = -1), REASON_ARGUMENT);
    EXPECT((g.m = 32, g.transa = CUBLAS_OP_T, g.a.ld = 63), REASON_ARGUMENT); /* ld counts k */
    EXPECT((g.m = 32, g.transa = CUBLAS_OP_N, g.a.ld = 32, g.c.ld = 32), REASONS);
    EXPECT((g.n = 32, g.transb = CUBLAS_OP_T, g.b.ld = 32), REASONS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policy");
    TCase *tcase = tcase_create("policy");
    tcase_add_test(tcase, cost_on_h200);
    tcase_add_test(tcase, classes_on_h200);
    tcase_add_test(tcase, choices_stay_within_the_class);
    tcase_add_test(tcase, what_is_within_a_class);
    tcase_add_test(tcase, gpus_without_the_arithmetic);
    tcase_add_test(tcase, geforce_gains_little);
    tcase_add_test(tcase, program_uses_tf32);
    tcase_add_test(tcase, paths_by_name);
    tcase_add_test(tcase, ladders);
    tcase_add_test(tcase, closed_forms);
    tcase_add_test(tcase, model_is_near_the_datasheet);
    tcase_add_test(tcase, time_grows_with_size);
    tcase_add_test(tcase, arguments);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
