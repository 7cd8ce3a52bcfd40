/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of base/ini and gemm/rules: each condition and action, the first match, and what is said of
 * bad files. */
#include "base/ini.h"
#include "gemm/rules.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/check_rules.XXXXXX";
static char complaint[512];

static struct rules *read_bytes(const char *text, size_t length)
{
    int file = open(path, O_WRONLY | O_TRUNC);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, length), (ssize_t)length);
    close(file);
    snprintf(complaint, sizeof complaint, "untouched");
    return rules_read(path, complaint, sizeof complaint);
}

static struct rules *read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static const struct place here = {
    .routine = "cublasSgemm_v2",
    .m = 512,
    .n = 64,
    .k = 1000,
    .batch = 1,
    .transposes = "TN",
    .object = "libtorch_cuda.so",
    .offset = 0x1a2b,
    .executable = "python3.11",
};

static const struct wish plain = {
    .precision = PRECISION_FP16, .policy = POLICY_COST, .scale = SCALE_DYNAMIC, .path = PATHS};

/* Does a rule with this condition match here? */
static bool condition(const char *line)
{
    char text[256];
    struct wish wish = plain;
    snprintf(text, sizeof text, "[gemm x]\n%s\npath = bf16\n", line);
    struct rules *rules = read_text(text);
    ck_assert_msg(rules != NULL, "%s: %s", line, complaint);
    const char *name = rules_apply(rules, &here, &wish);
    ck_assert_int_eq(name != NULL, wish.path == PATH_BF16);
    ck_assert(name == NULL || strcmp(name, "gemm x") == 0);
    rules_free(rules);
    return name != NULL;
}

START_TEST(conditions)
{
    static const char *const yes[] = {"routine = cublasSgemm_v2",
                                      "routine=cublasS*",
                                      "routine = foo,cublas*_v2",
                                      "m = 512",
                                      "m = 512..",
                                      "m = ..512",
                                      "m = 64..512",
                                      "m = 0..999999999999999",
                                      "n = 64..64",
                                      "k = ..1000",
                                      "batch = 1",
                                      "transposes = TN",
                                      "transposes = NN,T?",
                                      "transposes = ?N",
                                      "caller = libtorch*",
                                      "caller = libtorch_cuda.so",
                                      "executable = python*",
                                      "site = libtorch_cuda.so+0x1a2b",
                                      "site = lib*+0x1A2B",
                                      "# nothing",
                                      "  m   =  512  ",
                                      "M = 512",
                                      "m = 512\nn = 64"};
    static const char *const no[] = {"routine = cublasSgemm",
                                     "routine = cublasD*",
                                     "m = 511",
                                     "m = 513..",
                                     "m = ..511",
                                     "m = 64..511",
                                     "n = 65..",
                                     "k = ..999",
                                     "batch = 2..",
                                     "transposes = NT",
                                     "transposes = ?T",
                                     "caller = libcublas*",
                                     "executable = python3",
                                     "site = libtorch_cuda.so+0x1a2c",
                                     "site = libfoo.so+0x1a2b",
                                     "m = 512\nn = 65"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        ck_assert_msg(condition(yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        ck_assert_msg(!condition(no[i]), "%s", no[i]);
}
END_TEST

START_TEST(actions)
{
    static const struct {
        const char *line;
        struct wish wish;
    } table[] = {
        {"path = off", {PRECISION_FP16, POLICY_COST, SCALE_DYNAMIC, 0, PATH_FORWARD}},
        {"path = FP8", {PRECISION_FP16, POLICY_COST, SCALE_DYNAMIC, 0, PATH_FP8}},
        {"class = fp16x2", {PRECISION_FP16X2, POLICY_COST, SCALE_DYNAMIC, 0, PATHS}},
        {"class = fp32", {PRECISION_FP32, POLICY_COST, SCALE_DYNAMIC, 0, PATHS}},
        {"scale = exact", {PRECISION_FP16, POLICY_COST, SCALE_EXACT, 0, PATHS}},
        {"scale = 2^-3", {PRECISION_FP16, POLICY_COST, SCALE_FIXED, -3, PATHS}},
        {"path = fp16\nclass = bf16\nscale = 8",
         {PRECISION_BF16, POLICY_COST, SCALE_FIXED, 3, PATH_FP16}},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[128];
        struct wish wish = plain;
        snprintf(text, sizeof text, "[gemm]\n%s", table[i].line); /* no end of the last line */
        struct rules *rules = read_text(text);
        ck_assert_msg(rules != NULL, "%s: %s", table[i].line, complaint);
        ck_assert_ptr_nonnull(rules_apply(rules, &here, &wish));
        ck_assert_int_eq(wish.precision, table[i].wish.precision);
        ck_assert_int_eq(wish.policy, POLICY_COST);
        ck_assert_int_eq(wish.scale, table[i].wish.scale);
        ck_assert_int_eq(wish.scale_exponent, table[i].wish.scale_exponent);
        ck_assert_int_eq(wish.path, table[i].wish.path);
        rules_free(rules);
    }
}
END_TEST

START_TEST(first_match_wins)
{
    struct wish wish = plain;
    struct rules *rules = read_text("; two of one name are two\r\n[gemm]\r\nm = 1\r\npath = off\r\n"
                                    "[gemm]\r\nn = 64\r\npath = tf32\r\n"
                                    "[gemm third]\r\npath = fp16\r\n");
    ck_assert_ptr_nonnull(rules);
    ck_assert_uint_eq(rules_count(rules), 3);
    ck_assert_str_eq(rules_apply(rules, &here, &wish), "gemm");
    ck_assert_int_eq(wish.path, PATH_TF32);
    struct place other = here;
    other.n = 65;
    wish = plain;
    ck_assert_str_eq(rules_apply(rules, &other, &wish), "gemm third");
    ck_assert_int_eq(wish.path, PATH_FP16);
    rules_free(rules);
    rules = read_text("");
    ck_assert_ptr_nonnull(rules);
    ck_assert_ptr_null(rules_apply(rules, &here, &wish));
    rules_free(rules);
}
END_TEST

START_TEST(bad_files)
{
    static const struct {
        const char *text;
        int line;
        const char *expected;
    } table[] = {
        {"path = tf32\n", 1, "[SECTION]"},
        {"[gemm]\npath tf32\n", 2, "KEY = VALUE"},
        {"[gemm]\n= tf32\n", 2, "KEY = VALUE"},
        {"[gemm\npath = tf32\n", 1, "']'"},
        {"[gemm] x\n", 1, "']'"},
        {"# comment\n\n[gem]\n", 3, "[gemm NAME]"},
        {"[gemmx]\n", 1, "[gemm NAME]"},
        {"[gemm]\npath = tf33\n", 2, "off, tf32"},
        {"[gemm]\npath =\n", 2, "off, tf32"},
        {"[gemm]\nclass = auto\n", 2, "fp32, tf32"},
        {"[gemm]\nscale = 3\n", 2, "power of two"},
        {"[gemm]\ntranspose = NN\n", 2, "transposes"},
        {"[gemm]\ntransposes = nn\n", 2, "NN, NT"},
        {"[gemm]\nm = 5..4\npath = off\n", 2, "range"},
        {"[gemm]\nm = -1\n", 2, "range"},
        {"[gemm]\nm = ..\n", 2, "range"},
        {"[gemm]\nm = 64...128\n", 2, "range"},
        {"[gemm]\nm = 99999999999999999999\n", 2, "range"},
        {"[gemm]\nm = 0x10\n", 2, "range"},
        {"[gemm]\nsite = libfoo.so\n", 2, "LIBRARY+0xOFFSET"},
        {"[gemm]\nsite = +0x12\n", 2, "LIBRARY+0xOFFSET"},
        {"[gemm]\nsite = libfoo.so+0x\n", 2, "LIBRARY+0xOFFSET"},
        {"[gemm]\nsite = libfoo.so+0x12345678123456789\n", 2, "LIBRARY+0xOFFSET"},
        {"[gemm]\nroutine =\n", 2, "pattern"},
        {"[gemm]\nm = 1\nm = 2\n", 3, "once"},
        {"[gemm]\npath = off\npath = off\n", 3, "once"},
        {"[gemm]\nm = 1\n[gemm b]\npath = off\n", 3, "path, class or scale in the section [gemm]"},
        {"[gemm last]\nm = 1\n", 0, "path, class or scale in the section [gemm last]"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char where[64] = "";
        ck_assert_msg(read_text(table[i].text) == NULL, "%s", table[i].text);
        if (table[i].line > 0)
            snprintf(where, sizeof where, "%s:%d: expected ", path, table[i].line);
        ck_assert_msg(strncmp(complaint, where, strlen(where)) == 0, "%s: %s", table[i].text,
                      complaint);
        ck_assert_msg(strstr(complaint, table[i].expected) != NULL, "%s: %s", table[i].text,
                      complaint);
        ck_assert_ptr_null(strchr(complaint, '\n'));
    }
    ck_assert_ptr_null(read_bytes("[gemm]\npath = o\0f\n", 18));
    ck_assert_ptr_nonnull(strstr(complaint, ":2: expected text"));
}
END_TEST

START_TEST(files_that_are_none)
{
    char text[64];
    errno = 77;
    ck_assert_ptr_null(rules_read("/nonexistent/rules", complaint, sizeof complaint));
    ck_assert_int_eq(errno, 77);
    ck_assert_ptr_nonnull(strstr(complaint, "No such file"));
    ck_assert_ptr_null(rules_read("/", complaint, sizeof complaint));
    ck_assert_ptr_nonnull(strstr(complaint, "/: "));
    snprintf(text, sizeof text, "%s.fifo", path); /* must not wait for a writer */
    ck_assert_int_eq(mkfifo(text, 0600), 0);
    ck_assert_ptr_null(rules_read(text, complaint, sizeof complaint));
    unlink(text);
    ck_assert_int_eq(truncate(path, (off_t)1 << 40), 0);
    ck_assert_ptr_null(rules_read(path, complaint, sizeof complaint));
    ck_assert_ptr_nonnull(strstr(complaint, "large"));
    ck_assert_int_eq(truncate(path, 0), 0);
}
END_TEST

/* Broken copies of a good file are taken or refused, and nothing else happens. */
START_TEST(mutated_files)
{
    static const char good[] = "[gemm a]\nroutine = cublas*\nm = 64..1024\ntransposes = ?T\n"
                               "site = libx.so+0x10\npath = fp16\n# text\n[gemm b]\nclass = tf32\n"
                               "scale = 2^4\nexecutable = *\n";
    srand(9);
    int taken = 0, refused = 0;
    for (int i = 0; i < 1000; i++) {
        char text[sizeof good];
        size_t n = sizeof good - 1;
        memcpy(text, good, n);
        for (int change = rand() % 4; change >= 0; change--)
            text[(size_t)rand() % n] = (char)(rand() % 3 == 0 ? rand() : "=[]\n.+x#0"[rand() % 9]);
        n -= (size_t)rand() % 20;
        struct wish wish = plain;
        struct rules *rules = read_bytes(text, n);
        if (rules != NULL) {
            (void)rules_apply(rules, &here, &wish);
            ck_assert(wish.path >= 0 && wish.path <= PATHS);
            taken++;
        } else {
            ck_assert_str_ne(complaint, "untouched");
            refused++;
        }
        rules_free(rules);
    }
    ck_assert_int_gt(taken, 10);
    ck_assert_int_gt(refused, 10);
}
END_TEST

int main(void)
{
    int file = mkstemp(path);
    if (file < 0)
        return 99;
    close(file);
    Suite *suite = suite_create("rules");
    TCase *tcase = tcase_create("rules");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, conditions);
    tcase_add_test(tcase, actions);
    tcase_add_test(tcase, first_match_wins);
    tcase_add_test(tcase, bad_files);
    tcase_add_test(tcase, files_that_are_none);
    tcase_add_test(tcase, mutated_files);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    unlink(path);
    return failed != 0;
}
