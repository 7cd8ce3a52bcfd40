/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of gemm/model: the file that holds a GPU's figures comes back as it was written, is refused
 * when anything is wrong with it, and changes what is decided. */
#include "base/env.h"
#include "device/context.h"
#include "gemm/model.h"
#include "gemm/policy.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/check_model.XXXXXX";
static char complaint[1024];
static const struct gpu gpu = {90, 132, true, "A GPU"};

static size_t slurp(char *text, size_t bytes)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    const size_t n = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[n] = '\0';
    return n;
}

static void spill(const char *text, size_t n)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, n, file), n);
    fclose(file);
}

static struct cost_model some_model(void)
{
    struct cost_model model = cost_model_of(&gpu);
    model.flops[COST_FP32] = 4.25e13;
    model.flops[COST_TF32] = 0; /* as a GPU without it */
    model.bandwidth = 2.5e12;
    model.launch = 3.5e-6;
    return model;
}

static bool read_it(struct cost_model *model)
{
    snprintf(complaint, sizeof complaint, "untouched");
    return model_read(path, &gpu, model, complaint, sizeof complaint);
}

START_TEST(round_trip)
{
    const struct cost_model model = some_model();
    struct cost_model back = cost_model_of(&gpu);
    ck_assert(!back.measured);
    ck_assert(model_write(path, &gpu, &model, false, complaint, sizeof complaint));
    ck_assert_msg(read_it(&back), "%s", complaint);
    ck_assert(back.measured);
    ck_assert_int_eq(back.multiprocessors, 132);
    for (int a = 0; a < COST_ARITHMETICS; a++)
        ck_assert_double_le(fabs(back.flops[a] - model.flops[a]), 0.005 * model.flops[a]);
    ck_assert_double_eq(back.bandwidth, model.bandwidth);
    ck_assert_double_eq(back.launch, model.launch);
    char text[2048];
    (void)slurp(text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "times = measured\n"));
    ck_assert(model_write(path, &gpu, &model, true, complaint, sizeof complaint));
    (void)slurp(text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "times = modelled"));
}
END_TEST

START_TEST(cut_off_or_altered)
{
    static const struct {
        const char *old, *new, *expected;
    } table[] = {
        {"gpu = A GPU", "gpu = B GPU", "figures of A GPU"},
        {"format = 1", "format = 3", "format = 1"},
        {"fp32 = ", "fp32 = -", "a number a second"},
        {"fp32 = 4", "fp32 = x", "a number a second"},
        {"fp32 = 4.25e+13", "fp32 = 0", "a number a second"},
        {"fp32 = 4.25e+13", "fp32 = 1e30", "a number a second"},
        {"fp32 = 4.25e+13", "fp32 = nan", "a number a second"},
        {"launch = 3.5e-06", "launch = 3.5", "seconds"},
        {"bandwidth = 2.5e+12", "bandwidth = 1", "a number a second"},
        {"tf32 = 0\n", "", "all figures"},
        {"tf32 = 0\n", "tf32 = 0\ntf32 = 0\n", "once"},
        {"tf32 = 0\n", "tf64 = 0\n", "once"},
        {"[end]", "[tune]", "[end]"},
        {"[tune]", "[gemm]", "[tune]"},
    };
    char text[2048], changed[2200];
    const struct cost_model written = some_model();
    ck_assert(model_write(path, &gpu, &written, false, complaint, sizeof complaint));
    const size_t n = slurp(text, sizeof text);
    struct cost_model model = cost_model_of(&gpu);
    const struct cost_model before = model;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char *at = strstr(text, table[i].old);
        ck_assert_msg(at != NULL, "%s", table[i].old);
        spill(changed, (size_t)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text,
                                        table[i].new, at + strlen(table[i].old)));
        ck_assert_msg(!read_it(&model), "%s", table[i].new);
        ck_assert_msg(strstr(complaint, table[i].expected) != NULL, "%s: %s", table[i].new,
                      complaint);
        ck_assert_mem_eq(&model, &before, sizeof model);
    }
    for (size_t length = 0; length + 1 < n; length++) {
        spill(text, length);
        ck_assert_msg(!read_it(&model), "%zu of %zu bytes were taken", length, n);
        ck_assert_str_ne(complaint, "untouched");
    }
    ck_assert_mem_eq(&model, &before, sizeof model);
}
END_TEST

static enum path choose(const struct cost_model *model, int64_t n)
{
    static float scalar;
    const struct wish wish = {.precision = PRECISION_FP16, .scale = SCALE_DYNAMIC, .path = PATHS};
    const struct gemm g = {.m = n, .n = n, .k = n, .batch = 1, .alpha = &scalar, .beta = &scalar};
    enum reason reason;
    return policy_choose(&wish, model, &gpu, &g, &reason);
}

START_TEST(figures_decide)
{
    struct env env = {.tune = "auto", .cache = ""};
    struct cost_model model = model_of(&env, &gpu); /* no folder, no file, no complaint */
    ck_assert(!model.measured);
    ck_assert_int_eq(choose(&model, 4096), PATH_FP16);
    struct gpu slow = gpu;
    snprintf(slow.name, sizeof slow.name, "Slow in FP16");
    model.flops[COST_FP16] = 1e12;
    ck_assert(model_write(path, &slow, &model, false, complaint, sizeof complaint));
    snprintf(env.tune, sizeof env.tune, "%s", path);
    model = model_of(&env, &slow);
    ck_assert(model.measured);
    ck_assert_int_eq(choose(&model, 4096), PATH_TF32);
    unlink(path); /* read once */
    model = model_of(&env, &slow);
    ck_assert_double_eq(model.flops[COST_FP16], 1e12);
    /* A GPU of the same name and another size is another one; the file is gone by now. */
    slow.multiprocessors = 66;
    ck_assert(!model_of(&env, &slow).measured);
    /* What was measured is trusted with a smaller gain. */
    model = cost_model_of(&gpu);
    struct cost_model trusted = model;
    trusted.measured = true;
    model.flops[COST_TF32] = trusted.flops[COST_TF32] = 1.1 * model.flops[COST_FP32];
    model.flops[COST_FP16] = trusted.flops[COST_FP16] = 1e12;
    ck_assert_int_eq(choose(&model, 8192), PATH_FORWARD);
    ck_assert_int_eq(choose(&trusted, 8192), PATH_TF32);
}
END_TEST

int main(void)
{
    int file = mkstemp(path);
    if (file < 0)
        return 99;
    close(file);
    Suite *suite = suite_create("model");
    TCase *tcase = tcase_create("model");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, round_trip);
    tcase_add_test(tcase, cut_off_or_altered);
    tcase_add_test(tcase, figures_decide);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    unlink(path);
    return failed != 0;
}
