/* SPDX-License-Identifier: BSD-3-Clause
 * Loading: what must be refused and with which words, what a module says of itself, linking, and
 * texts cut short. No state. */
#include "engine_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.7\n.target sm_90\n.address_size 64\n"

static struct sg_module *load(const char *ptx, struct sg_arena *vars, char **error_p)
{
    size_t length = strlen(ptx);

    *error_p = NULL;
    return sg_module_load(&ptx, &length, 1, "origin.cu", vars, error_p);
}

/* The text and what the message must contain. */
static const struct {
    const char *ptx, *says[3];
} refused[] = {
    {HEAD ".entry k()\n{\n.reg .b32 %r<4>;\nfrobnicate.u32 %r1, %r2;\nret;\n}\n",
     {"frobnicate.u32", "7", "origin.cu"}},
    {HEAD ".entry k()\n{\n.reg .b32 %r<4>;\nadd.u33 %r1, %r2, %r3;\nret;\n}\n", {"add.u33", "7"}},
    {HEAD ".entry k()\n{\n.reg .b32 %r<4>;\nadd.rn.u32 %r1, %r2, %r3;\nret;\n}\n",
     {"add.rn.u32", "7"}},
    {HEAD ".entry k()\n{\n.reg .b32 %r<4>;\nadd.u32 %r1, %r2, %missing;\nret;\n}\n",
     {"%missing", "7"}},
    {HEAD ".entry k()\n{\nbra NOWHERE;\nret;\n}\n", {"NOWHERE", "6"}},
    {HEAD ".entry k()\n{\ncall.uni nobody;\nret;\n}\n", {"nobody", "6"}},
    {HEAD ".entry k()\n{\n.reg .b64 %q;\nld.global.u32 %q, [nothing];\nret;\n}\n",
     {"nothing", "7"}},
    {HEAD ".entry k()\n{\n.reg .b32 %r<4>;\nadd.u32 %r1, %r2;\nret;\n}\n", {"7"}},
    {HEAD ".entry k()\n{\n.reg .b32 %r<4>;\nadd.u32 %r1, %r2, %r3\nret;\n}\n", {"8"}},
    {HEAD ".entry k()\n{\nret;\n", {"origin.cu"}},
    {"this is no PTX", {"origin.cu"}},
};

START_TEST(test_refused)
{
    struct sg_arena *vars = sg_arena_new("vars", 1 << 20);
    char *error;
    struct sg_module *module = load(refused[_i].ptx, vars, &error);

    ck_assert_msg(module == NULL, "loaded: %s", refused[_i].ptx);
    ck_assert_ptr_nonnull(error);
    for (int i = 0; i < 3 && refused[_i].says[i]; i++)
        ck_assert_msg(strstr(error, refused[_i].says[i]), "\"%s\" does not say %s", error,
                      refused[_i].says[i]);
    free(error);
    ck_assert_uint_eq(sg_arena_used(vars), 0);
    sg_arena_delete(vars);
}
END_TEST

/* A text that ends anywhere is refused or loaded, never worse. */
START_TEST(test_cut_short)
{
    struct sg_arena *vars = sg_arena_new("vars", 1 << 20);
    char *text = engine_ptx(engine_source_at((size_t)_i)->name);
    size_t whole = strlen(text);

    for (size_t n = 0; n < whole; n += 1 + n % 7) {
        char *part = malloc(n + 1), *error = NULL;
        const char *ptx = part;
        struct sg_module *module;

        ck_assert_ptr_nonnull(part);
        memcpy(part, text, n);
        part[n] = '\0';
        module = sg_module_load(&ptx, &n, 1, "cut", vars, &error);
        ck_assert_msg(module || error, "neither a module nor a message at %zu", n);
        if (module)
            sg_module_unload(module);
        free(error);
        free(part);
    }
    free(text);
    ck_assert_uint_eq(sg_arena_used(vars), 0);
    sg_arena_delete(vars);
}
END_TEST

START_TEST(test_facts)
{
    static const char ptx[] = HEAD
        ".global .align 4 .b8 g[12];\n.const .align 2 .u16 c = 7;\n"
        ".visible .entry first(.param .b8 a, .param .b32 b, .param .align 16 .b8 s[20], .param "
        ".b64 d)\n"
        ".maxntid 64, 2, 1\n.reqntid 64, 2, 1\n{\n.shared .align 8 .b8 s1[100];\n.shared .b32 s2;\n"
        ".local .align 8 .b8 frame[40];\n.reg .b32 %r<3>;\nmov.u32 %r1, 1;\nadd.u32 %r2, %r1, "
        "%r1;\nret;\n}\n"
        ".entry second()\n{\nret;\n}\n";
    static const uint32_t offset[] = {0, 4, 16, 40}, size[] = {1, 4, 20, 8};
    struct sg_arena *vars = sg_arena_new("vars", 1 << 20);
    char *error;
    struct sg_module *module = load(ptx, vars, &error);
    const struct sg_kernel *k;
    void *address;
    size_t bytes;

    ck_assert_msg(module != NULL, "%s", error);
    ck_assert_uint_eq(sg_module_kernels(module), 2);
    k = sg_module_kernel(module, "first");
    ck_assert_ptr_nonnull(k);
    ck_assert_str_eq(k->name, "first");
    ck_assert_ptr_eq(k->module, module);
    ck_assert_uint_eq(k->nparams, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(k->params[i].offset, offset[i]);
        ck_assert_uint_eq(k->params[i].size, size[i]);
    }
    ck_assert_uint_ge(k->param_bytes, 48);
    ck_assert_uint_eq(k->static_shared, 104);
    ck_assert_uint_ge(k->local_bytes, 40);
    ck_assert_uint_eq(k->max_threads, 128);
    k = sg_module_kernel(module, "second");
    ck_assert_ptr_nonnull(k);
    ck_assert_uint_eq(k->nparams + k->param_bytes + k->static_shared, 0);
    ck_assert_uint_eq(k->max_threads, 1024);
    ck_assert_ptr_null(sg_module_kernel(module, "third"));
    ck_assert_ptr_eq(sg_module_kernel_at(module, 1), k);
    ck_assert(sg_module_global(module, "g", &address, &bytes));
    ck_assert_uint_eq(bytes, 12);
    ck_assert(sg_arena_owns(vars, (uintptr_t)address));
    ck_assert(sg_module_global(module, "c", &address, &bytes));
    ck_assert_uint_eq(bytes, 2);
    ck_assert_uint_eq(*(uint16_t *)address, 7);
    ck_assert(!sg_module_global(module, "h", &address, &bytes));
    ck_assert_uint_eq(sg_module_mnemonics(module), 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(sg_mnemonic_known(sg_module_mnemonic(module, i)));
    ck_assert(!sg_mnemonic_known("frobnicate.u32"));
    ck_assert(!sg_mnemonic_known("add"));
    ck_assert(!sg_mnemonic_known("add.rn.u32"));
    ck_assert(!sg_mnemonic_known(""));
    sg_module_unload(module);
    ck_assert_uint_eq(sg_arena_used(vars), 0);
    sg_arena_delete(vars);
}
END_TEST

/* One declaration of several variables. */
START_TEST(test_lists)
{
    static const char ptx[] =
        HEAD ".global .align 8 .u32 a = 3, b[3] = {4, 5, 6}, c;\n.const .v2 .f32 d[2], e;\n"
             ".entry k(.param .b64 out)\n{\n.reg .b32 %r<3>; .reg .b64 %q;\n"
             ".shared .align 16 .b32 s, t[2], u;\n.local .b32 x, y;\n.param .b32 in, other;\n"
             "ld.param.b64 %q, [out];\nst.shared.b32 [u], 1;\nst.shared.b32 [s], 2;\n"
             "st.local.b32 [x], 4;\nst.local.b32 [y], 8;\n"
             "ld.shared.b32 %r0, [u];\nld.shared.b32 %r1, [s];\nadd.u32 %r0, %r0, %r1;\n"
             "ld.local.b32 %r1, [x];\nld.local.b32 %r2, [y];\nadd.u32 %r0, %r0, %r1;\n"
             "add.u32 %r0, %r0, %r2;\nld.global.b32 %r1, [b+8];\nadd.u32 %r0, %r0, %r1;\n"
             "st.global.b32 [%q], %r0;\nret;\n}\n";
    static const struct {
        const char *name;
        size_t bytes;
    } variables[] = {{"a", 4}, {"b", 12}, {"c", 4}, {"d", 16}, {"e", 8}};
    struct device dev;
    uint32_t *out;

    device_open(&dev, ptx);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        void *address;
        size_t bytes;

        ck_assert(sg_module_global(dev.module, variables[i].name, &address, &bytes));
        ck_assert_msg(bytes == variables[i].bytes, "%s: %zu bytes", variables[i].name, bytes);
    }
    ck_assert_uint_eq(*(uint32_t *)device_variable(&dev, "a"), 3);
    ck_assert_uint_eq(sg_module_kernel(dev.module, "k")->static_shared, 36);
    out = device_alloc(&dev, 4);
    device_run(&dev, "k", DIM1(1), DIM1(1), 0, ARGS(&out));
    ck_assert_uint_eq(*out, 1 + 2 + 4 + 8 + 6);
    device_close(&dev);
}
END_TEST

/* Two texts: a function and a variable of one used by the other. */
START_TEST(test_link)
{
    static const char *const texts[] = {
        HEAD
        ".extern .func (.param .b32 r) other(.param .b32 x);\n.extern .global .align 4 .u32 "
        "shared_value;\n"
        ".visible .entry k(.param .b64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %q<2>;\n"
        "ld.param.b64 %q0, [out];\n{\n.param .b32 in; .param .b32 back;\nst.param.b32 [in], 20;\n"
        "call.uni (back), other, (in);\nld.param.b32 %r0, [back];\n}\n"
        "ld.global.u32 %r1, [shared_value];\nadd.u32 %r0, %r0, %r1;\nst.global.u32 [%q0], "
        "%r0;\nret;\n}\n",
        HEAD ".visible .global .align 4 .u32 shared_value = 5;\n"
             ".visible .func (.param .b32 r) other(.param .b32 x)\n{\n.reg .b32 %r;\nld.param.b32 "
             "%r, [x];\n"
             "mul.lo.u32 %r, %r, 3;\nst.param.b32 [r], %r;\nret;\n}\n",
    };
    const size_t lengths[] = {strlen(texts[0]), strlen(texts[1])};
    struct device dev;
    char *error = NULL;
    uint32_t *out;

    device_open(&dev, HEAD ".entry none()\n{\nret;\n}\n");
    sg_module_unload(dev.module);
    dev.module = sg_module_load(texts, lengths, 1, "one", dev.memory, &error);
    ck_assert_msg(dev.module == NULL && error &&
                      (strstr(error, "other") || strstr(error, "shared_value")),
                  "linked without the other text: %s", error ? error : "");
    free(error);
    error = NULL;
    dev.module = sg_module_load(texts, lengths, 2, "two", dev.memory, &error);
    ck_assert_msg(dev.module != NULL, "%s", error);
    out = device_alloc(&dev, 4);
    device_run(&dev, "k", DIM1(1), DIM1(1), 0, ARGS(&out));
    ck_assert_uint_eq(*out, 65);
    device_close(&dev);
}
END_TEST

/* Loading the same text again and again leaves nothing behind, and copies have their own variables.
 */
START_TEST(test_twice)
{
    static const char ptx[] =
        HEAD ".global .align 4 .u32 counter = 3;\n.entry k()\n{\n.reg .b32 %r;\n"
             "atom.global.add.u32 %r, [counter], 1;\nret;\n}\n";
    struct device one, two;
    uint32_t *a, *b;

    device_open(&one, ptx);
    device_open(&two, ptx);
    a = device_variable(&one, "counter");
    b = device_variable(&two, "counter");
    ck_assert_ptr_ne(a, b);
    device_run(&one, "k", DIM1(2), DIM1(4), 0, ARGS(NULL));
    ck_assert_uint_eq(*a, 11);
    ck_assert_uint_eq(*b, 3);
    device_close(&one);
    device_close(&two);
}
END_TEST

TCase *tcase_load(void)
{
    TCase *tc = tcase_create("load");

    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, test_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_loop_test(tc, test_cut_short, 0,
                        (int)(engine_flow_source_count + engine_memory_source_count));
    tcase_add_test(tc, test_facts);
    tcase_add_test(tc, test_lists);
    tcase_add_test(tc, test_link);
    tcase_add_test(tc, test_twice);
    return tc;
}
