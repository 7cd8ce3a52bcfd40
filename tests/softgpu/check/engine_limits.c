/* SPDX-License-Identifier: BSD-3-Clause
 * PTX that asks for more than there is, or that has no end: refused quickly, with one line that
 * names the module, the line and what is wrong, and without taking much memory. No state. */
#include "engine_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define HEAD           ".version 8.7\n.target sm_90\n.address_size 64\n"
#define KERNEL(_lines) HEAD ".entry k()\n{\n" _lines "ret;\n}\n"

enum { LIMIT_MS = 20000, LIMIT_KB = 600 << 10 };

/* The text, the line that is at fault and what the message must contain. */
static const struct {
    const char *ptx;
    unsigned line;
    const char *says;
} refused[] = {
    {KERNEL(".reg .b32 %r<4000000000>;\n"), 6, "%r"},
    {KERNEL(".reg .b32 %r<4294967297>;\nadd.u32 %r0, %r0, %r0;\n"), 6, "%r"},
    {KERNEL(".reg .b32 %r<0>;\n"), 6, "%r"},
    {KERNEL(".reg .b32 %r<99999999999999999999999>;\n"), 6, "99999999999999999999999"},
    {KERNEL(".reg .b64 %a<600000>;\n.reg .b64 %b<600000>;\n"), 7, "%b"},
    {KERNEL(".reg .b32 %r<4>;\nmov.u32 %r4294967297, 1;\n"), 7, "%r4294967297"},
    {KERNEL(".reg .b32 %r<4>;\nmov.u32 %r01, 1;\n"), 7, "%r01"},
    {HEAD ".global .b8 g[4000000000000000000];\n", 4, "g"},
    {HEAD ".global .b64 g[3000000000];\n", 4, "g"},
    {HEAD ".global .b8 g[65536][65536][65536][65536];\n", 4, "g"},
    {HEAD ".global .b32 g[4294967296][4294967296];\n", 4, "g"},
    {HEAD ".global .align 3 .b8 g[8];\n", 4, "alignment of 3"},
    {HEAD ".global .align 0 .b8 g[8];\n", 4, "alignment of 0"},
    {HEAD ".global .align 4294967296 .b8 g[8];\n", 4, "alignment of 4294967296"},
    {HEAD ".global .b32 g[2] = {1, 2, 3};\n", 4, "g"},
    {KERNEL(".shared .b8 s[4000000000];\n"), 6, "shared memory"},
    {KERNEL(".shared .b8 s[200000];\n.shared .b8 t[200000];\n"), 7, "shared memory"},
    {HEAD ".shared .b8 s[300000];\n.entry k()\n{\n.reg .b32 %r;\nmov.u32 %r, s;\nret;\n}\n", 4,
     "shared memory"},
    {KERNEL(".local .b8 l[4294967295];\n"), 6, "local memory"},
    {KERNEL(".local .b8 l[400000];\n.local .b8 m[400000];\n"), 7, "local memory"},
    {KERNEL(".param .b8 p[4000000000];\n"), 6, "parameters"},
    {HEAD ".entry k(.param .b8 p[40000])\n{\nret;\n}\n", 4, "parameters"},
    {HEAD ".entry k(.param .b8 p[4294967296])\n{\nret;\n}\n", 4, "parameters"},
    {HEAD ".entry k(.param .b8 p[30000],\n.param .b8 q[30000])\n{\nret;\n}\n", 5, "parameters"},
    {HEAD ".entry k(.param .b64 p)\n{\n.reg .b32 %r;\nld.param.u32 %r, [p+-1];\nret;\n}\n", 7, "p"},
    {HEAD ".entry k(.param .b64 p)\n{\n.reg .b32 %r;\nld.param.u32 %r, [p+5];\nret;\n}\n", 7, "p"},
    {HEAD ".entry k(.param .b64 p)\n{\n.reg .b32 %r;\nld.param.u32 %r, "
          "[p+18446744073709551615];\nret;\n}\n",
     7, "p"},
    {KERNEL(".param .b32 p;\nst.param.b32 [p+4], 1;\n"), 7, "p"},
    {KERNEL(".param .b32 p;\nst.param.b32 [p+-4], 1;\n"), 7, "p"},
    {KERNEL(".param .b32 p;\n.reg .b64 %q;\nld.param.b64 %q, [p];\n"), 8, "p"},
    {KERNEL(".reg .b64 %q<2>;\nmov.u32 %q0, 5;\nadd.u64 %q1, %q0, %q0;\n"), 7, "mov.u32"},
    {KERNEL(".reg .b32 %r<4>;\nldmatrix.sync.aligned.m8n8.x8.shared.b16 {%r0}, [%r1];\n"), 7,
     "ldmatrix.sync.aligned.m8n8.x8.shared.b16"},
    {KERNEL(".reg .b32 %r<4>;\nldmatrix.sync.aligned.m8n8.shared.b16 {%r0}, [%r1];\n"), 7,
     "ldmatrix"},
    {KERNEL(".reg .b32 %r;\nt: .branchtargets A, B;\nA: mov.u32 %r, 0;\nbrx.idx %r, t;\n"), 9, "B"},
    {KERNEL(".reg .f32 %f;\nmov.f32 %f, 0f3F80;\n"), 7, "0f3F80"},
    {KERNEL(".reg .f64 %d;\nmov.f64 %d, 0d3FF0;\n"), 7, "0d3FF0"},
    {KERNEL("/* a comment\nwithout end\n"), 6, "comment"},
    {KERNEL(".pragma \"no end\n;\n"), 6, "string"},
    {KERNEL("call f, (\n"), 7, "expected"},
    {HEAD ".section .debug {\n.b8 1\n", 6, "end"},
};

static long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes may be busy */
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static long peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Loads the text; a message must be one line from origin:line. NULL: it was refused, as it must. */
static struct sg_module *load(const char *ptx, size_t length, struct sg_arena *vars, char **error_p)
{
    long start = now_ms(), took;
    struct sg_module *module;

    *error_p = NULL;
    module = sg_module_load(&ptx, &length, 1, "origin.cu", vars, error_p);
    took = now_ms() - start;
    ck_assert_msg(took < LIMIT_MS, "took %ld ms", took);
    ck_assert_msg(peak_kb() < LIMIT_KB, "took %ld KB", peak_kb());
    ck_assert_msg(!module == !!*error_p, "a module and a message, or neither");
    if (*error_p) {
        ck_assert_msg(strncmp(*error_p, "origin.cu:", 10) == 0, "\"%s\" names no module", *error_p);
        ck_assert_msg(!strchr(*error_p, '\n'), "\"%s\" has several lines", *error_p);
    }
    return module;
}

START_TEST(test_refused)
{
    struct sg_arena *vars = sg_arena_new("vars", (uint64_t)64 << 30);
    char *error, line[32];
    struct sg_module *module = load(refused[_i].ptx, strlen(refused[_i].ptx), vars, &error);

    ck_assert_msg(module == NULL, "loaded: %s", refused[_i].ptx);
    snprintf(line, sizeof line, "origin.cu:%u: ", refused[_i].line);
    ck_assert_msg(strncmp(error, line, strlen(line)) == 0, "\"%s\" is not from %s", error, line);
    ck_assert_msg(strstr(error + strlen(line), refused[_i].says), "\"%s\" does not say %s", error,
                  refused[_i].says);
    free(error);
    ck_assert_uint_eq(sg_arena_used(vars), 0);
    sg_arena_delete(vars);
}
END_TEST

/* A text made of one part many times: before, n times part, after. */
static const struct {
    const char *what, *before, *part, *after;
    unsigned n;
    bool loads;
} repeated[] = {
    {"blocks in blocks", HEAD ".entry k()\n{\n", "{ ", "\nret;\n}\n", 1000000, false},
    {"blocks side by side", HEAD ".entry k()\n{\n", "{ .reg .b32 %x; mov.u32 %x, 1; }\n",
     "ret;\n}\n", 20000, true},
    {"lists in an initialiser", HEAD ".global .b32 g[1] = ", "{", ";\n", 1000000, false},
    {"lists in an operand", HEAD ".entry k()\n{\nmov.u32 ", "{", ";\n}\n", 1000000, false},
    {"brackets in an operand", HEAD ".entry k()\n{\nld.u32 ", "[", ";\n}\n", 1000000, false},
    {"parentheses in an operand", HEAD ".entry k()\n{\ncall ", "(", ";\n}\n", 1000000, false},
    {"pairs in an operand", HEAD ".entry k()\n{\n.reg .b32 %r;\nmov.u32 ", "%r|", "%r;\n}\n",
     1000000, false},
    {"dimensions", HEAD ".global .b32 g", "[1]", ";\n", 100000, true},
    {"huge dimensions", HEAD ".global .b32 g", "[1000000]", ";\n", 100000, false},
    {"registers of many functions", HEAD, ".func f(); .func f() { .reg .b32 %r<1000000>; ret; }\n",
     "", 2, false},
    {"modifiers", HEAD ".entry k()\n{\nadd", ".u32", " 1;\n}\n", 1000000, false},
    {"guards", HEAD ".entry k()\n{\n.reg .pred %p;\n", "@%p ", "ret;\n}\n", 100000, false},
    {"labels", HEAD ".entry k()\n{\n", "L: ", "ret;\n}\n", 100000, false},
    {"kernels", HEAD, "", "", 20000, true},
    {"registers", HEAD, "", "", 2000, false},
    {"variables", HEAD, "", "", 64, false},
    {"calls in a row", HEAD, "", ".func f50000(){ret;}\n", 50000, true},
    {"calls twice each", HEAD, "", ".func f200(){ret;}\n", 200, true},
};

/* Parts with a number of their own, for the rows that need one. */
static int numbered(char *out, size_t room, const char *what, unsigned k)
{
    if (strcmp(what, "kernels") == 0)
        return snprintf(out, room, ".entry k%u(){ret;}\n", k);
    if (strcmp(what, "registers") == 0)
        return snprintf(out, room, ".func f%u(){.reg .b32 %%r<1000000>; ret;}\n", k);
    if (strcmp(what, "variables") == 0)
        return snprintf(out, room, ".global .b8 g%u[1000000000];\n", k);
    if (strcmp(what, "calls in a row") == 0)
        return snprintf(out, room, "%s%u(){call f%u; ret;}\n", k ? ".func f" : ".entry f", k,
                        k + 1);
    if (strcmp(what, "calls twice each") == 0)
        return snprintf(out, room, "%s%u(){call f%u; call f%u; ret;}\n", k ? ".func f" : ".entry f",
                        k, k + 1, k + 1);
    return -1;
}

static char *repeat(int i, size_t *length_p)
{
    size_t room = strlen(repeated[i].before) + strlen(repeated[i].after) + 200 +
                  repeated[i].n * (strlen(repeated[i].part) + 100);
    char *text = malloc(room), *at = text;

    ck_assert_ptr_nonnull(text);
    at += sprintf(at, "%s", repeated[i].before);
    for (unsigned k = 0; k < repeated[i].n; k++) {
        int n = numbered(at, 200, repeated[i].what, k);

        at += n < 0 ? sprintf(at, "%s", repeated[i].part) : n;
    }
    at += sprintf(at, "%s", repeated[i].after);
    *length_p = (size_t)(at - text);
    return text;
}

START_TEST(test_repeated)
{
    struct sg_arena *vars = sg_arena_new("vars", (uint64_t)64 << 30);
    size_t length;
    char *error, *text = repeat(_i, &length);
    struct sg_module *module = load(text, length, vars, &error);

    ck_assert_msg(!module == !repeated[_i].loads, "%s: %s", repeated[_i].what,
                  error ? error : "loaded");
    if (module)
        sg_module_unload(module);
    free(error);
    free(text);
    ck_assert_uint_eq(sg_arena_used(vars), 0);
    sg_arena_delete(vars);
}
END_TEST

/* A large variable is zero and takes memory only where it is used. */
START_TEST(test_large_variable)
{
    static const char ptx[] = HEAD ".global .b8 g[4000000001];\n";
    struct sg_arena *vars = sg_arena_new("vars", (uint64_t)8 << 30);
    char *error, *p;
    size_t bytes;
    void *address;
    struct sg_module *module = load(ptx, sizeof ptx - 1, vars, &error);

    ck_assert_msg(module != NULL, "%s", error ? error : "");
    ck_assert(sg_module_global(module, "g", &address, &bytes));
    ck_assert_uint_eq(bytes, 4000000001u);
    p = address;
    for (size_t k = 0; k < 1000; k++)
        ck_assert_int_eq(p[k * 4000000], 0);
    ck_assert_int_eq(p[4000000000], 0);
    sg_module_unload(module);
    sg_arena_delete(vars);
}
END_TEST

/* A register as the address of a parameter: anything in it is a fault at most. */
START_TEST(test_parameter_address)
{
    static const uint32_t address[] = {0,   1,          4,          8,          12,
                                       100, 0x7ffffffc, 0x80000000, 0xfffffffc, 0xffffffff};
    struct device dev;
    uint32_t n;

    device_open(
        &dev,
        HEAD ".func f(.param .b32 a)\n{\n.reg .b32 %r<3>; .reg .b64 %q;\nld.param.b32 %r0, [a];\n"
             "cvt.u64.u32 %q, %r0;\nst.param.b64 [%q], -1;\nld.param.b64 %q, [%r0];\nret;\n}\n"
             ".entry k(.param .b32 n)\n{\n.reg .b32 %r;\n.param .b32 a;\nld.param.b32 %r, [n];\n"
             "st.param.b32 [a], %r;\ncall f, (a);\nret;\n}\n");
    for (size_t k = 0; k < sizeof address / sizeof *address; k++) {
        n = address[k];
        ck_assert_int_ne(device_try(&dev, "k", DIM1(1), DIM1(32), 0, ARGS(&n)), SG_OK);
    }
    device_close(&dev);
}
END_TEST

START_TEST(test_dynamic_shared)
{
    struct device dev;

    device_open(&dev, HEAD ".shared .b8 s[64];\n.entry k()\n{\n.reg .b32 %r;\nmov.u32 %r, s;\n"
                           "st.shared.u32 [%r], 1;\nret;\n}\n");
    ck_assert_int_eq(device_try(&dev, "k", DIM1(1), DIM1(32), UINT32_MAX - 31, ARGS(NULL)),
                     SG_FAULT_RESOURCES);
    device_run(&dev, "k", DIM1(1), DIM1(32), 1024, ARGS(NULL));
    device_close(&dev);
}
END_TEST

/* Messages name functions although the text is gone. */
START_TEST(test_names_stay)
{
    struct device dev;
    void *blocks[64];

    device_open(&dev, HEAD ".func recurses()\n{\ncall recurses;\nret;\n}\n"
                           ".entry k()\n{\ncall recurses;\nret;\n}\n");
    /* what the load has freed gets other contents */
    for (int k = 0; k < 64; k++) {
        blocks[k] = malloc((size_t)64 << 10);
        ck_assert_ptr_nonnull(blocks[k]);
        memset(blocks[k], 'x', (size_t)64 << 10);
    }
    ck_assert_int_eq(device_try(&dev, "k", DIM1(1), DIM1(32), 0, ARGS(NULL)), SG_FAULT_RESOURCES);
    ck_assert_msg(strstr(dev.fault.message, "stack overflow in recurses"), "%s", dev.fault.message);
    for (int k = 0; k < 64; k++)
        free(blocks[k]);
    device_close(&dev);
}
END_TEST

/* A text of the program's in a message does not break its line. */
START_TEST(test_one_line)
{
    struct device dev;

    device_open(&dev,
                HEAD ".global .b8 m[5] = {97, 10, 98, 9, 0};\n"
                     ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, "
                     ".param .b64 d, .param .b64 e);\n"
                     ".entry k()\n{\n.reg .b64 %q;\n.param .b64 a, b, d, e;\n.param .b32 c;\n"
                     "mov.u64 %q, m;\nst.param.b64 [a], %q;\nst.param.b64 [b], %q;\n"
                     "st.param.b32 [c], 7;\nst.param.b64 [d], %q;\nst.param.b64 [e], 1;\n"
                     "call __assertfail, (a, b, c, d, e);\nret;\n}\n");
    ck_assert_int_eq(device_try(&dev, "k", DIM1(1), DIM1(32), 0, ARGS(NULL)), SG_FAULT_ASSERT);
    ck_assert_msg(strstr(dev.fault.message, "`a b ' failed"), "%s", dev.fault.message);
    ck_assert_ptr_null(strchr(dev.fault.message, '\n'));
    device_close(&dev);
}
END_TEST

TCase *tcase_limits(void)
{
    TCase *tc = tcase_create("limits");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_loop_test(tc, test_repeated, 0, sizeof repeated / sizeof repeated[0]);
    tcase_add_test(tc, test_large_variable);
    tcase_add_test(tc, test_parameter_address);
    tcase_add_test(tc, test_dynamic_shared);
    tcase_add_test(tc, test_names_stay);
    tcase_add_test(tc, test_one_line);
    return tc;
}
