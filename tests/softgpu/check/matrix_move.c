/* SPDX-License-Identifier: BSD-3-Clause
 * ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements between shared memory and the
 * registers of a warp. No state. */
#include "matrix_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const spaces[] = {".shared", ".shared::cta", ""};

/* index: 0-17 ldmatrix, 18-35 stmatrix: count, trans, space */
enum { FORMS = 18 };

static void name_of(int index, char name[96])
{
    snprintf(name, 96, "%s.sync.aligned.m8n8.x%d%s%s.b16", index < FORMS ? "ldmatrix" : "stmatrix",
             1 << index % 3, index / 3 % 2 ? ".trans" : "", spaces[index % FORMS / 6]);
}

static const char movmatrix[] = "movmatrix.sync.aligned.m8n8.trans.b16";

void move_list(void)
{
    char name[96];

    for (int i = 0; i < 2 * FORMS; i++) {
        name_of(i, name);
        printf("%s\n", name);
    }
    printf("%s\n", movmatrix);
}

/* Memory a (2 KB of rows, 16 bytes each) goes through shared memory; row numbers from b. */
static void write_kernel(struct writer *w, int index)
{
    int n = 1 << index % 3;
    bool generic = index % FORMS / 6 == 2;
    char name[96];

    name_of(index, name);
    put(w,
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .b64 a, .param .b64 b, .param .b64 c)\n{\n"
        ".shared .align 16 .b8 s[2048];\n.reg .b32 %%t, %%u, %%v, %%r<4>;\n.reg .b64 %%p, %%q, "
        "%%at;\n"
        "mov.u32 %%t, %%tid.x; mov.u32 %%v, s;\n"
        "ld.param.b64 %%p, [a]; mad.wide.u32 %%p, %%t, 64, %%p; mad.lo.u32 %%u, %%t, 64, %%v;\n");
    for (int i = 0; i < 64; i += 4)
        put(w, "ld.global.b32 %%r0, [%%p+%d]; st.shared.b32 [%%u+%d], %%r0;\n", i, i);
    put(w, "bar.warp.sync 0xffffffff;\n"
           "ld.param.b64 %%p, [b]; mad.wide.u32 %%p, %%t, 4, %%p; ld.global.u32 %%u, [%%p];\n"
           "mad.lo.u32 %%u, %%u, 16, %%v; cvt.u64.u32 %%at, %%u; cvta.shared.u64 %%at, %%at;\n"
           "ld.param.b64 %%q, [c]; mad.wide.u32 %%q, %%t, 16, %%q;\n");
    if (index < FORMS) {
        put(w, "%s ", name);
        put_list(w, "r", n);
        put(w, ", [%s];\n", generic ? "%at" : "%u");
        for (int i = 0; i < n; i++)
            put(w, "st.global.b32 [%%q+%d], %%r%d;\n", 4 * i, i);
    } else {
        for (int i = 0; i < n; i++)
            put(w, "ld.global.b32 %%r%d, [%%q+%d];\n", i, 4 * i);
        put(w, "%s [%s], ", name, generic ? "%at" : "%u");
        put_list(w, "r", n);
        put(w, ";\nbar.warp.sync 0xffffffff;\n"
               "ld.param.b64 %%p, [a]; mad.wide.u32 %%p, %%t, 64, %%p; mad.lo.u32 %%u, %%t, 64, "
               "%%v;\n");
        for (int i = 0; i < 64; i += 4)
            put(w, "ld.shared.b32 %%r0, [%%u+%d]; st.global.b32 [%%p+%d], %%r0;\n", i, i);
    }
    put(w, "ret;\n}\n");
}

START_TEST(test_move)
{
    enum { ROWS = 128 };
    int n = 1 << _i % 3;
    bool trans = _i / 3 % 2, store = _i >= FORMS;
    struct random r = {random_seed() + (uint64_t)_i};
    struct writer w = {.n = 0};
    struct device dev;
    uint16_t(*memory)[8], want[ROWS][8], (*fragment)[4][2];
    uint32_t *row;
    char name[96];

    name_of(_i, name);
    write_kernel(&w, _i);
    device_open(&dev, w.text);
    ck_assert_msg(sg_mnemonic_known(name), "%s: the engine does not know it", name);
    memory = device_alloc(&dev, sizeof want);
    row = device_alloc(&dev, 32 * sizeof *row);
    fragment = device_alloc(&dev, 32 * sizeof *fragment);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 8; k++)
            memory[i][k] = (uint16_t)random_bits(&r);
    for (uint32_t i = 0; i < 32; i++) { /* rows in any order, none twice */
        row[i] = (i * 37 + 11) % ROWS;
        for (int k = 0; k < 8; k++)
            fragment[i][k / 2][k % 2] = (uint16_t)random_bits(&r);
    }
    memcpy(want, memory, sizeof want);
    /* lane 8 j + i names row i of matrix j; lane l holds two elements of row l / 4 */
    for (int j = 0; j < n && store; j++)
        for (int l = 0; l < 32; l++)
            for (int e = 0; e < 2; e++) {
                int i = trans ? l % 4 * 2 + e : l / 4, k = trans ? l / 4 : l % 4 * 2 + e;

                want[row[8 * j + i]][k] = fragment[l][j][e];
            }
    device_run(&dev, "k", DIM1(1), DIM1(32), 0, ARGS(&memory, &row, &fragment));
    ck_assert_msg(memcmp(memory, want, sizeof want) == 0, "%s: wrong memory", name);
    for (int j = 0; j < n && !store; j++)
        for (int l = 0; l < 32; l++)
            for (int e = 0; e < 2; e++) {
                int i = trans ? l % 4 * 2 + e : l / 4, k = trans ? l / 4 : l % 4 * 2 + e;

                ck_assert_msg(fragment[l][j][e] == memory[row[8 * j + i]][k],
                              "%s: lane %d, register %d: %04x, expected %04x", name, l, j,
                              fragment[l][j][e], memory[row[8 * j + i]][k]);
            }
    device_close(&dev);
}
END_TEST

START_TEST(test_movmatrix)
{
    struct writer w = {.n = 0};
    struct random r = {random_seed()};
    struct device dev;
    uint16_t(*in)[2], (*out)[2];

    put(&w,
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .b64 a, .param .b64 b)\n{\n.reg .b32 %%t, %%v;\n.reg .b64 %%p;\n"
        "mov.u32 %%t, %%tid.x; ld.param.b64 %%p, [a]; mad.wide.u32 %%p, %%t, 4, %%p;\n"
        "ld.global.b32 %%v, [%%p];\n%s %%v, %%v;\n"
        "ld.param.b64 %%p, [b]; mad.wide.u32 %%p, %%t, 4, %%p; st.global.b32 [%%p], "
        "%%v;\nret;\n}\n",
        movmatrix);
    device_open(&dev, w.text);
    in = device_alloc(&dev, 32 * sizeof *in);
    out = device_alloc(&dev, 32 * sizeof *out);
    for (int i = 0; i < 64; i++)
        in[i / 2][i % 2] = (uint16_t)random_bits(&r);
    device_run(&dev, "k", DIM1(1), DIM1(32), 0, ARGS(&in, &out));
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++)
            ck_assert_uint_eq(out[4 * row + column / 2][column % 2],
                              in[4 * column + row / 2][row % 2]);
    device_close(&dev);
}
END_TEST

TCase *tcase_move(void)
{
    TCase *tc = tcase_create("move");

    tcase_add_loop_test(tc, test_move, 0, 2 * FORMS);
    tcase_add_test(tc, test_movmatrix);
    return tc;
}
