/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of decision files: what is written is what is read, files that are cut off, altered or of
 * another GPU are refused, a reader never sees half a file; and of tuning: the ladder that measured
 * errors climb, and what a later run makes of it. */
#include "base/cache.h"
#include "base/env.h"
#include "device/context.h"
#include "gemm/decision.h"
#include "gemm/site.h"
#include "gemm/tuning.h"

#include <check.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/check_decision.XXXXXX";
static char complaint[1024];
static const char gpu_name[] = "Some GPU (of a test)";
static struct context context = {.gpu = {90, 132, true, "Some GPU (of a test)"}};

static struct env variables(int precision)
{
    struct env env = {.enabled = 1,
                      .opt_level = OPT_O1,
                      .policy = POLICY_COST,
                      .verify = 1,
                      .precision = precision,
                      .tolerance = 1e-3,
                      .decisions = "auto",
                      .tune = "off",
                      .program = "check_decision",
                      .converts = true};
    snprintf(env.cache, sizeof env.cache, "%s/apexshim", folder);
    return env;
}

static const char *default_file(void)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/apexshim/decisions-check-decision-some-gpu-of-a-test.ini",
             folder);
    return path;
}

static struct place some_place(int i)
{
    static const char *const transposes[] = {"NN", "NT", "TN", "TT"};
    static const char *const libraries[] = {"libfoo.so.1", "with space+0x1", "a=b;#c", "[x]"};
    struct place p = {
        .routine = i % 2 == 0 ? "cublasSgemm_v2" : "cublasLtMatmul",
        .m = 1 + i,
        .n = INT64_C(1) << (i % 50),
        .k = 3,
        .batch = 1 + i % 3,
        .object = libraries[i % 4],
        .offset = (uint64_t)i * 0x123456789,
    };
    memcpy(p.transposes, transposes[i % 4], 3);
    return p;
}

static size_t slurp(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    size_t n = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[n] = '\0';
    return n;
}

static void spill(const char *path, const char *text, size_t n)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, n, file), n);
    fclose(file);
}

static void write_some(const struct env *env, int sites)
{
    struct decision_text *text = decision_text_new(gpu_name, env->program, 1e-3);
    for (int i = 0; i < sites; i++) {
        const struct decided site = {some_place(i), (enum path)(i % PATHS),
                                     i % PATHS == 0 ? -1 : 1.25e-4 * i, (uint64_t)i, "fp16 0.1"};
        decision_text_add(text, &site);
    }
    decision_text_write(text, env, gpu_name, 0);
}

START_TEST(round_trip)
{
    enum { SITES = 200 };
    struct env env = variables(PRECISION_AUTO);
    write_some(&env, SITES);
    struct decisions *d = decisions_read(default_file(), gpu_name, complaint, sizeof complaint);
    ck_assert_msg(d != NULL, "%s", complaint);
    ck_assert_uint_eq(decisions_count(d), SITES);
    for (int i = 0; i < SITES; i++) {
        struct place p = some_place(i);
        ck_assert_int_eq(decisions_find(d, &p), i % PATHS);
#define ELSEWHERE(_change)                                                                         \
    p = some_place(i);                                                                             \
    _change;                                                                                       \
    ck_assert_int_eq(decisions_find(d, &p), PATHS)
        ELSEWHERE(p.m += SITES);
        ELSEWHERE(p.n += 3);
        ELSEWHERE(p.k++);
        ELSEWHERE(p.batch += 3);
        ELSEWHERE(p.offset++);
        ELSEWHERE(p.object = "libother.so");
        ELSEWHERE(p.routine = "cublasGemmEx");
        ELSEWHERE(p.transposes[0] ^= 'N' ^ 'T');
    }
    decisions_free(d);
    /* No other file is left behind. */
    char command[600], line[64];
    snprintf(command, sizeof command, "ls %s/apexshim | wc -l", folder);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(fgets(line, sizeof line, pipe));
    pclose(pipe);
    ck_assert_int_eq(atoi(line), 1);
}
END_TEST

START_TEST(cut_off)
{
    static char text[65536];
    struct env env = variables(PRECISION_AUTO);
    write_some(&env, 10);
    const size_t n = slurp(default_file(), text, sizeof text);
    char path[512];
    snprintf(path, sizeof path, "%s/cut", folder);
    for (size_t length = 0; length + 1 < n;
         length += 1 + length % 7) { /* the last newline may go */
        spill(path, text, length);
        struct decisions *d = decisions_read(path, gpu_name, complaint, sizeof complaint);
        ck_assert_msg(d == NULL, "%zu of %zu bytes were taken", length, n);
        ck_assert_ptr_nonnull(strstr(complaint, path));
    }
}
END_TEST

START_TEST(altered)
{
    static const struct {
        const char *old, *new, *expected;
    } table[] = {
        {"format = 1", "format = 2", ":3: expected format = 1"},
        {"gpu = Some", "gpu = Other", ":4: expected decisions for Some GPU (of a test)"},
        {"sites = 2", "sites = 3", "expected sites = the number"},
        {"path = forward", "path = fp17", "expected forward or a path"},
        {"path = forward\n", "", "expected all keys"},
        {"transposes = NN", "transposes = NC", "expected NN, NT"},
        {"m = 1\n", "m = 0\n", "expected a size"},
        {"m = 1\n", "m = 1\nm = 1\n", "each once"},
        {"site = libfoo.so.1+0x0", "site = libfoo.so.1", "expected LIBRARY+0xOFFSET"},
        {"[run]", "[gemm]", ":2: expected [run]"},
        {"[end]", "[run]", "expected [run], then"},
        {"calls = 0", "call = 0", "expected routine"},
    };
    static char text[65536], changed[65536];
    struct env env = variables(PRECISION_AUTO);
    write_some(&env, 2);
    (void)slurp(default_file(), text, sizeof text);
    char path[512];
    snprintf(path, sizeof path, "%s/altered", folder);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char *at = strstr(text, table[i].old);
        ck_assert_msg(at != NULL, "%s", table[i].old);
        int n = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, table[i].new,
                         at + strlen(table[i].old));
        spill(path, changed, (size_t)n);
        ck_assert_msg(decisions_read(path, gpu_name, complaint, sizeof complaint) == NULL, "%s",
                      table[i].new);
        ck_assert_msg(strstr(complaint, table[i].expected) != NULL, "%s: %s", table[i].new,
                      complaint);
    }
}
END_TEST

START_TEST(random_bytes)
{
    static char text[65536];
    struct env env = variables(PRECISION_AUTO);
    write_some(&env, 3);
    const size_t n = slurp(default_file(), text, sizeof text);
    char path[512];
    snprintf(path, sizeof path, "%s/random", folder);
    srand(3);
    for (int i = 0; i < 500; i++) {
        const size_t at = (size_t)rand() % n;
        const char old = text[at];
        text[at] = (char)rand();
        spill(path, text, n);
        decisions_free(decisions_read(path, gpu_name, complaint, sizeof complaint));
        text[at] = old;
    }
}
END_TEST

/* While one process writes again and again, what another reads is always whole. */
START_TEST(no_half_files)
{
    static char text[1 << 16], seen[1 << 16];
    char path[512];
    snprintf(path, sizeof path, "%s/deep/er/file", folder);
    memset(text, 'a', sizeof text);
    ck_assert(cache_write(path, text, sizeof text, complaint, sizeof complaint));
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 300; i++) {
            memset(text, 'a' + i % 26, sizeof text);
            if (!cache_write(path, text, sizeof text, complaint, sizeof complaint))
                _exit(1);
        }
        _exit(0);
    }
    int status = 0, reads = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        int file = open(path, O_RDONLY);
        ck_assert_int_ge(file, 0);
        ck_assert_int_eq(read(file, seen, sizeof seen), sizeof seen);
        close(file);
        ck_assert(memcmp(seen, seen + 1, sizeof seen - 1) == 0);
        reads++;
    }
    ck_assert_int_eq(status, 0);
    ck_assert_int_gt(reads, 0);
}
END_TEST

START_TEST(where_nothing_can_be_written)
{
    char path[512];
    snprintf(path, sizeof path, "%s/plain", folder);
    spill(path, "x", 1);
    snprintf(path, sizeof path, "%s/plain/file", folder);
    ck_assert(!cache_write(path, "y", 1, complaint, sizeof complaint));
    ck_assert_ptr_nonnull(strstr(complaint, "Not a directory"));
    ck_assert(!cache_name(path, sizeof path, "", "tune", "a", NULL));
    ck_assert(!cache_name(path, 12, "/tmp", "tune", "abcdef", NULL));
    ck_assert(cache_name(path, sizeof path, "/tmp", "tune", "NVIDIA  H100 (80GB)/../x", NULL));
    ck_assert_str_eq(path, "/tmp/tune-nvidia-h100-80gb-x.ini");
    ck_assert(cache_name(path, sizeof path, "/c", "decisions", "../a.out", "G_1"));
    ck_assert_str_eq(path, "/c/decisions-a-out-g-1.ini");
}
END_TEST

static struct gemm call(int64_t n)
{
    return (struct gemm){.routine = "cublasSgemm_v2",
                         .caller = (const void *)(uintptr_t)&variables,
                         .m = n,
                         .n = n,
                         .k = n,
                         .batch = 1,
                         .context = &context};
}

/* One call whose comparison is seen before the next. */
static enum path measured_call(const struct env *env, int64_t n, double error_of[PATHS])
{
    struct gemm g = call(n);
    struct site *s = site_decide(env, &g);
    const enum path path = s->path;
    if (path != PATH_FORWARD) {
        atomic_fetch_add(&s->verified, 1);
        site_error(s, path, (float)error_of[path]);
    }
    return path;
}

START_TEST(ladder)
{
    static struct env env;
    env = variables(PRECISION_AUTO);
    double errors[PATHS] = {[PATH_TF32] = 3e-4,   [PATH_FP16] = 3e-4,   [PATH_BF16] = 2e-3,
                            [PATH_FP16X2] = 1e-7, [PATH_BF16X3] = 5e-6, [PATH_BF16X6] = 1e-7};
    /* bf16 is quickest at this size, and not exact enough. */
    ck_assert_int_eq(measured_call(&env, 8192, errors), PATH_BF16);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(measured_call(&env, 8192, errors), PATH_FP16);
    /* Data that nothing cheaper than FP32 serves. */
    double hard[PATHS];
    for (int path = 0; path < PATHS; path++)
        hard[path] = path % 2 == 0 ? NAN : 1;
    for (int i = 0; i < 8; i++)
        (void)measured_call(&env, 8193, hard);
    ck_assert_int_eq(measured_call(&env, 8193, hard), PATH_FORWARD);
    ck_assert_int_eq(measured_call(&env, 16, errors), PATH_FORWARD); /* small */
    struct gemm unmeasured = call(8200);
    (void)site_decide(&env, &unmeasured);
    tuning_write(&env);

    static char text[65536];
    (void)slurp(default_file(), text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "tolerance = 0.001\n"));
    ck_assert_ptr_nonnull(strstr(text, "path = fp16\nerror = 0.0003\ncalls = 6\n"
                                       "why = error of bf16 0.002, fp16 0.0003\n"));
    ck_assert_ptr_nonnull(strstr(text, "sites = 3\n"));
    ck_assert_ptr_null(strstr(text, "8200"));
}
END_TEST

/* A run that does not tune takes what the file says, but nothing less exact than its class. */
START_TEST(normal_runs)
{
    /* The place as the site will be described: this program, and the offset in it. */
    static struct env env;
    env = variables(PRECISION_AUTO);
    double errors[PATHS] = {[PATH_TF32] = 3e-4, [PATH_FP16] = 3e-4, [PATH_BF16] = 5e-4};
    static const struct {
        int64_t n;
        enum path fails; /* up to this one */
    } sites[] = {{8192, PATH_FORWARD}, {4096, PATH_BF16}, {2048, PATHS}};
    for (int i = 0; i < 3; i++) {
        double these[PATHS];
        for (int path = 0; path < PATHS; path++)
            these[path] =
                sites[i].fails == PATHS || (sites[i].fails == (enum path)path) ? 1 : errors[path];
        for (int j = 0; j < 8; j++)
            (void)measured_call(&env, sites[i].n, these);
    }
    tuning_write(&env);
    static const struct {
        int precision;
        enum path expected[3];
    } runs[] = {
        {PRECISION_BF16, {PATH_BF16, PATH_FP16, PATH_FORWARD}},
        {PRECISION_FP16, {PATH_FP16, PATH_FP16, PATH_FORWARD}}, /* bf16 is refused: cost decides */
        {PRECISION_TF32, {PATH_TF32, PATH_TF32, PATH_FORWARD}},
        {PRECISION_FP16X2, {PATH_FP16X2, PATH_FP16X2, PATH_FORWARD}},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        static struct context contexts[4]; /* another context is another site */
        for (int j = 0; j < 3; j++) {
            contexts[i] = context;
            struct env normal = variables(runs[i].precision);
            struct gemm g = call(sites[j].n);
            g.context = &contexts[i];
            struct site *s = site_decide(&normal, &g);
            ck_assert_msg(s->path == runs[i].expected[j], "run %zu site %d: %s", i, j,
                          path_word(s->path));
            ck_assert(s->path != PATH_FORWARD || s->reason == REASON_RULE);
        }
    }
    /* A file of another GPU is not for this one. */
    static struct context other = {.gpu = {90, 132, true, "Some other GPU"}};
    struct env normal = variables(PRECISION_FP16);
    snprintf(normal.decisions, sizeof normal.decisions, "%s", default_file());
    struct gemm g = call(2048);
    g.context = &other;
    ck_assert_int_eq(site_decide(&normal, &g)->path, PATH_FP16);
}
END_TEST

/* Comparisons that were under way when a site moved on say nothing of its new path. */
START_TEST(late_comparisons)
{
    static struct env env;
    env = variables(PRECISION_AUTO);
    struct gemm g = call(8192);
    struct site *s = NULL;
    for (int i = 0; i < 10; i++)
        s = site_decide(&env, &g); /* ten calls, none compared yet */
    ck_assert_int_eq(s->path, PATH_BF16);
    atomic_store(&s->verified, 1);
    site_error(s, PATH_BF16, 1);
    ck_assert_int_eq(s->path, PATH_FP16);
    for (uint64_t i = 2; i <= 10; i++) {
        atomic_store(&s->verified, i);
        site_error(s, s->path, 1);
        ck_assert_int_eq(s->path, PATH_FP16);
    }
    (void)site_decide(&env, &g);
    atomic_store(&s->verified, 11);
    site_error(s, s->path, 1);
    ck_assert_int_eq(s->path, PATH_BF16X3);
}
END_TEST

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 99;
    Suite *suite = suite_create("decision");
    TCase *tcase = tcase_create("decision");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, round_trip);
    tcase_add_test(tcase, cut_off);
    tcase_add_test(tcase, altered);
    tcase_add_test(tcase, random_bytes);
    tcase_add_test(tcase, no_half_files);
    tcase_add_test(tcase, where_nothing_can_be_written);
    tcase_add_test(tcase, ladder);
    tcase_add_test(tcase, normal_runs);
    tcase_add_test(tcase, late_comparisons);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed != 0;
}
