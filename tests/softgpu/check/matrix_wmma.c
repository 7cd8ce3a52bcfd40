/* SPDX-License-Identifier: BSD-3-Clause
 * wmma: fragments are opaque, so load, multiply and store are tested together, for every shape,
 * type and layout. No state. */
#include "matrix_tests.h"

#include <stdio.h>
#include <string.h>

static const struct wmma {
    int m, n, k;
    const char *type, *c, *d;
    int na, nb, nc, nd; /* registers */
} kinds[] = {
    {16, 16, 16, "f16", "f32", "f32", 8, 8, 8, 8},  {16, 16, 16, "f16", "f16", "f16", 8, 8, 4, 4},
    {16, 16, 16, "f16", "f16", "f32", 8, 8, 4, 8},  {16, 16, 16, "f16", "f32", "f16", 8, 8, 8, 4},
    {32, 8, 16, "f16", "f32", "f32", 8, 8, 8, 8},   {32, 8, 16, "f16", "f16", "f16", 8, 8, 4, 4},
    {8, 32, 16, "f16", "f32", "f32", 8, 8, 8, 8},   {8, 32, 16, "f16", "f16", "f16", 8, 8, 4, 4},
    {16, 16, 16, "bf16", "f32", "f32", 4, 4, 8, 8}, {32, 8, 16, "bf16", "f32", "f32", 8, 2, 8, 8},
    {8, 32, 16, "bf16", "f32", "f32", 2, 8, 8, 8},  {16, 16, 8, "tf32", "f32", "f32", 4, 4, 8, 8},
    {8, 8, 4, "f64", "f64", "f64", 1, 1, 2, 2},     {16, 16, 16, "s8", "s32", "s32", 2, 2, 8, 8},
    {16, 16, 16, "u8", "s32", "s32", 2, 2, 8, 8},   {32, 8, 16, "s8", "s32", "s32", 4, 1, 8, 8},
    {32, 8, 16, "u8", "s32", "s32", 4, 1, 8, 8},    {8, 32, 16, "s8", "s32", "s32", 1, 4, 8, 8},
    {8, 32, 16, "u8", "s32", "s32", 1, 4, 8, 8},
};

static const char *const layouts[] = {"row", "col"};

/* where a, b and c are loaded from and d is stored to */
static const struct {
    const char *load, *store;
} spaces[] = {{".global", ".shared"}, {".shared", ".global"}, {"", ""}};

/* loops: kind * 24 + space * 8 + layout of a + 2 * layout of b + 4 * layout of c and d */
enum { KINDS = sizeof kinds / sizeof kinds[0], LOOPS = KINDS * 24, EXTRA = 4, AREA = 8192 };

/* Names: 0-2 loads of a, b, c; 3 mma; 4 store. */
static void name_of(int loop, int which, char name[96])
{
    static const char *const verbs[] = {"load.a", "load.b", "load.c", "mma", "store.d"};
    const struct wmma *x = &kinds[loop / 24];
    const char *a = layouts[loop & 1], *b = layouts[loop >> 1 & 1], *c = layouts[loop >> 2 & 1];
    char shape[24];

    snprintf(shape, sizeof shape, "m%dn%dk%d", x->m, x->n, x->k);
    if (which == 3 && strcmp(x->type, "f16") == 0)
        snprintf(name, 96, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s", a, b, shape, x->d, x->c);
    else if (which == 3 && strcmp(x->type, "f64") == 0)
        /* the rounding stands before the types or behind them, or nowhere */
        snprintf(name, 96, "wmma.mma.sync.aligned.%s.%s.%s%s.f64.f64.f64.f64%s", a, b, shape,
                 loop / 4 % 3 == 0 ? ".rn" : "", loop / 4 % 3 == 1 ? ".rn" : "");
    else if (which == 3)
        snprintf(name, 96, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s", a, b, shape, x->d, x->type,
                 x->type, x->c);
    else
        snprintf(name, 96, "wmma.%s.sync.aligned.%s.%s%s.%s", verbs[which],
                 which == 0   ? a
                 : which == 1 ? b
                              : c,
                 shape, which == 4 ? spaces[loop / 8 % 3].store : spaces[loop / 8 % 3].load,
                 which < 2    ? x->type
                 : which == 2 ? x->c
                              : x->d);
}

void wmma_list(void)
{
    char name[96];

    for (int loop = 0; loop < LOOPS; loop++)
        for (int which = 0; which < 5; which++) {
            name_of(loop, which, name);
            printf("%s\n", name);
        }
}

/* Rows or columns lie EXTRA elements farther apart than needed. */
static int stride(int rows, int columns, bool by_column)
{
    int n = (by_column ? rows : columns) + EXTRA;

    return (n + 15) / 16 * 16; /* 16-byte alignment of each in the smallest type */
}

/* Each lane moves its part of an area from memory to shared memory or back. */
static void write_copy(struct writer *w, const char *name, int area, bool back)
{
    put(w, "ld.param.b64 %%p, [%s]; mad.wide.u32 %%p, %%t, 256, %%p; add.u32 %%u, %%v, %d;\n", name,
        area * AREA);
    for (int i = 0; i < 256; i += 4)
        put(w,
            back ? "ld.shared.b32 %%x, [%%u+%d]; st.global.b32 [%%p+%d], %%x;\n"
                 : "ld.global.b32 %%x, [%%p+%d]; st.shared.b32 [%%u+%d], %%x;\n",
            i, i);
}

/* The address of an area as an operand: %p for the parameter's memory, %u for shared memory. */
static const char *write_address(struct writer *w, const char *name, int area, const char *space)
{
    if (strcmp(space, ".shared") == 0) {
        put(w, "add.u32 %%u, %%s, %d;\n", area * AREA);
        return "%u";
    }
    put(w, "ld.param.b64 %%p, [%s];\n", name);
    return "%p";
}

static void write_kernel(struct writer *w, int loop)
{
    const struct wmma *x = &kinds[loop / 24];
    bool wide = strcmp(x->type, "f64") == 0;
    int strides[] = {stride(x->m, x->k, loop & 1), stride(x->k, x->n, loop & 2),
                     stride(x->m, x->n, loop & 4)};
    int counts[] = {x->na, x->nb, x->nc};
    static const char *const names[] = {"a", "b", "c"};
    const char *load = spaces[loop / 8 % 3].load, *store = spaces[loop / 8 % 3].store, *at;
    char name[96];

    put(w,
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .b64 a, .param .b64 b, .param .b64 c, .param .b64 d)\n{\n"
        ".shared .align 16 .b8 s[%d];\n"
        ".reg .b32 %%t, %%s, %%u, %%v, %%x;\n.reg .b64 %%p;\n"
        ".reg .%s %%a<8>, %%b<8>, %%c<8>, %%d<8>;\n"
        "mov.u32 %%s, s; mov.u32 %%t, %%tid.x; mad.lo.u32 %%v, %%t, 256, %%s;\n",
        4 * AREA, wide ? "f64" : "b32");
    for (int v = 0; v < 3; v++)
        write_copy(w, names[v], v, false);
    write_copy(w, "d", 3, false);
    put(w, "bar.warp.sync 0xffffffff;\n");
    for (int v = 0; v < 3; v++) {
        at = write_address(w, names[v], v, load);
        name_of(loop, v, name);
        put(w, "%s ", name);
        put_list(w, names[v], counts[v]);
        put(w, ", [%s], %d;\n", at, strides[v]);
    }
    name_of(loop, 3, name);
    put(w, "%s ", name);
    put_list(w, "d", x->nd);
    for (int v = 0; v < 3; v++) {
        put(w, ", ");
        put_list(w, names[v], counts[v]);
    }
    put(w, ";\n");
    at = write_address(w, "d", 3, store);
    name_of(loop, 4, name);
    put(w, "%s [%s], ", name, at);
    put_list(w, "d", x->nd);
    put(w, ", %d;\nbar.warp.sync 0xffffffff;\n", strides[2]);
    if (strcmp(store, ".shared") == 0)
        write_copy(w, "d", 3, true);
    put(w, "ret;\n}\n");
}

static size_t place(int row, int column, int rows, int columns, bool by_column)
{
    int n = stride(rows, columns, by_column);

    return (size_t)(by_column ? column * n + row : row * n + column);
}

/* A matrix of random elements with garbage between its rows. */
static char *matrix(struct device *dev, struct random *r, const char *type, int rows, int columns,
                    bool by_column)
{
    char *p = device_alloc(dev, AREA);
    int bits = cell_bits(type);

    for (size_t i = 0; i < AREA * 8 / (size_t)bits; i++)
        cell_put(p, i, bits, random_bits(r) & (bits == 64 ? ~0ull : (1ull << bits) - 1));
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            cell_put(p, place(i, k, rows, columns, by_column), bits, cell_random(type, r));
    return p;
}

static double at(const char *type, const char *p, int row, int column, int rows, int columns,
                 bool by_column)
{
    return cell_value(type,
                      cell_get(p, place(row, column, rows, columns, by_column), cell_bits(type)));
}

START_TEST(test_wmma)
{
    const struct wmma *x = &kinds[_i / 24];
    bool ca = _i & 1, cb = _i & 2, cc = _i & 4;
    struct random r = {random_seed() + (uint64_t)_i};
    struct writer w = {.n = 0};
    struct device dev;
    char *a, *b, *c, *d, name[96];
    int bits = cell_bits(x->d);

    write_kernel(&w, _i);
    device_open(&dev, w.text);
    name_of(_i, 3, name);
    a = matrix(&dev, &r, x->type, x->m, x->k, ca);
    b = matrix(&dev, &r, x->type, x->k, x->n, cb);
    c = matrix(&dev, &r, x->c, x->m, x->n, cc);
    d = device_alloc(&dev, AREA);
    device_run(&dev, "k", DIM1(1), DIM1(32), 0, ARGS(&a, &b, &c, &d));
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->n; j++) {
            double sum = at(x->c, c, i, j, x->m, x->n, cc);
            uint64_t got = cell_get(d, place(i, j, x->m, x->n, cc), bits), want;

            for (int k = 0; k < x->k; k++)
                sum += at(x->type, a, i, k, x->m, x->k, ca) * at(x->type, b, k, j, x->k, x->n, cb);
            want = cell_sum(x->d, sum, false);
            ck_assert_msg(got == want || (!cell_is_int(x->d) && (got | want) << (65 - bits) == 0),
                          "%s: row %d, column %d: 0x%llx, expected 0x%llx", name, i, j,
                          (unsigned long long)got, (unsigned long long)want);
        }
    for (int which = 0; which < 5; which++) {
        name_of(_i, which, name);
        ck_assert_msg(sg_mnemonic_known(name), "%s: the engine does not know it", name);
    }
    device_close(&dev);
}
END_TEST

TCase *tcase_wmma(void)
{
    TCase *tc = tcase_create("wmma");

    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, test_wmma, 0, LOOPS);
    return tc;
}
