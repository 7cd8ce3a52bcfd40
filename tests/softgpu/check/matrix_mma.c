/* SPDX-License-Identifier: BSD-3-Clause
 * mma.sync: where each lane's registers lie in the matrices, and the product. No state. */
#include "matrix_tests.h"

#include <stdio.h>
#include <string.h>

/* row.col in all */
static const struct mma {
    int m, k;
    const char *a, *b, *c;
    bool saturate;
} kinds[] = {
    {16, 8, "f16", "f16", "f16", false},    {16, 8, "f16", "f16", "f32", false},
    {16, 16, "f16", "f16", "f16", false},   {16, 16, "f16", "f16", "f32", false},
    {16, 8, "bf16", "bf16", "f32", false},  {16, 16, "bf16", "bf16", "f32", false},
    {16, 4, "tf32", "tf32", "f32", false},  {16, 8, "tf32", "tf32", "f32", false},
    {8, 4, "f64", "f64", "f64", false},     {16, 4, "f64", "f64", "f64", false},
    {16, 8, "f64", "f64", "f64", false},    {16, 16, "f64", "f64", "f64", false},
    {16, 16, "e4m3", "e4m3", "f32", false}, {16, 16, "e4m3", "e5m2", "f32", false},
    {16, 16, "e5m2", "e4m3", "f32", false}, {16, 16, "e5m2", "e5m2", "f32", false},
    {16, 32, "e4m3", "e4m3", "f32", false}, {16, 32, "e4m3", "e5m2", "f32", false},
    {16, 32, "e5m2", "e4m3", "f32", false}, {16, 32, "e5m2", "e5m2", "f32", false},
    {8, 16, "s8", "s8", "s32", false},      {8, 16, "s8", "u8", "s32", false},
    {8, 16, "u8", "s8", "s32", false},      {8, 16, "u8", "u8", "s32", false},
    {16, 16, "s8", "s8", "s32", false},     {16, 16, "s8", "u8", "s32", false},
    {16, 16, "u8", "s8", "s32", false},     {16, 16, "u8", "u8", "s32", false},
    {16, 32, "s8", "s8", "s32", false},     {16, 32, "s8", "u8", "s32", false},
    {16, 32, "u8", "s8", "s32", false},     {16, 32, "u8", "u8", "s32", false},
    {16, 32, "s8", "s8", "s32", true},      {8, 16, "u8", "u8", "s32", true},
};

enum { KINDS = sizeof kinds / sizeof kinds[0], LANES = 32, WARPS = 4, MAX_K = 32 };

static void name_of(const struct mma *x, char name[96])
{
    snprintf(name, 96, "mma.sync.aligned.m%dn8k%d.row.col%s.%s.%s.%s.%s", x->m, x->k,
             x->saturate ? ".satfinite" : "", x->c, x->a, x->b, x->c);
}

void mma_list(void)
{
    char name[96];

    for (int i = 0; i < KINDS; i++) {
        name_of(&kinds[i], name);
        printf("%s\n", name);
    }
}

/* Registers of one lane. */
static int register_bits(const char *type)
{
    return cell_bits(type) == 64 ? 64 : 32;
}

static int registers(const char *type, int elements)
{
    return elements * cell_bits(type) / LANES / register_bits(type);
}

static void write_kernel(struct writer *w, const struct mma *x)
{
    const char *types[] = {x->a, x->b, x->c}, *names[] = {"a", "b", "c", "d"};
    int counts[] = {x->m * x->k, x->k * 8, x->m * 8};
    char name[96];

    put(w, ".version 8.7\n.target sm_90\n.address_size 64\n"
           ".visible .entry k(.param .b64 a, .param .b64 b, .param .b64 c, .param .b64 d)\n{\n"
           ".reg .b32 %%t, %%n, %%i;\n.reg .b64 %%p;\n");
    for (int v = 0; v < 4; v++)
        put(w, ".reg .b%d %%%s<8>;\n", register_bits(types[v < 3 ? v : 2]), names[v]);
    put(w, "mov.u32 %%t, %%tid.x; mov.u32 %%n, %%ntid.x; mov.u32 %%i, %%ctaid.x;\n"
           "mad.lo.u32 %%t, %%i, %%n, %%t;\n");
    for (int v = 0; v < 3; v++) {
        int n = registers(types[v], counts[v]), bits = register_bits(types[v]);

        put(w, "ld.param.b64 %%p, [%s]; mad.wide.u32 %%p, %%t, %d, %%p;\n", names[v], n * bits / 8);
        for (int r = 0; r < n; r++)
            put(w, "ld.global.b%d %%%s%d, [%%p+%d];\n", bits, names[v], r, r * bits / 8);
    }
    name_of(x, name);
    put(w, "%s ", name);
    put_list(w, "d", registers(x->c, x->m * 8));
    put(w, ", ");
    for (int v = 0; v < 3; v++) {
        put_list(w, names[v], registers(types[v], counts[v]));
        put(w, v < 2 ? ", " : ";\n");
    }
    put(w, "ld.param.b64 %%p, [d]; mad.wide.u32 %%p, %%t, %d, %%p;\n",
        registers(x->c, x->m * 8) * register_bits(x->c) / 8);
    for (int r = 0; r < registers(x->c, x->m * 8); r++)
        put(w, "st.global.b%d [%%p+%d], %%d%d;\n", register_bits(x->c), r * register_bits(x->c) / 8,
            r);
    put(w, "ret;\n}\n");
}

/* With g = lane / 4, t = lane % 4 and e elements in a register. A: register r has row g, or g + 8
 * where r is odd and there are 16 rows; its columns begin at e t, 4 e later with each further
 * register of the row. B likewise with columns g. C: columns 2 t, 2 t + 1 of row g, then of g + 8.
 */
static void place_a(const struct mma *x, int lane, int i, int *row, int *column)
{
    int e = register_bits(x->a) / cell_bits(x->a), r = i / e, rows = x->m / 8;

    *row = lane / 4 + 8 * (r % rows);
    *column = lane % 4 * e + i % e + r / rows * 4 * e;
}

static void place_b(const struct mma *x, int lane, int i, int *row, int *column)
{
    int e = register_bits(x->b) / cell_bits(x->b), r = i / e;

    *row = lane % 4 * e + i % e + r * 4 * e;
    *column = lane / 4;
}

static void place_c(int lane, int i, int *row, int *column)
{
    *row = lane / 4 + 8 * (i / 2);
    *column = lane % 4 * 2 + i % 2;
}

/* One warp: fills the fragments from random matrices and says what C must become. */
static void fill(const struct mma *x, struct random *r, char *a, char *b, char *c, char *want)
{
    int na = x->m * x->k / LANES, nb = x->k * 8 / LANES, nc = x->m * 8 / LANES;
    double ma[16][MAX_K], mb[MAX_K][8];
    int row, column;

    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < na; i++) {
            uint64_t v = cell_random(x->a, r);

            place_a(x, lane, i, &row, &column);
            ma[row][column] = cell_value(x->a, v);
            if (strcmp(x->a, "tf32") == 0)
                v |= random_bits(r) & 0x1fff; /* bits that don't count */
            cell_put(a, (size_t)(lane * na + i), cell_bits(x->a), v);
        }
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < nb; i++) {
            uint64_t v = cell_random(x->b, r);

            place_b(x, lane, i, &row, &column);
            mb[row][column] = cell_value(x->b, v);
            if (strcmp(x->b, "tf32") == 0)
                v |= random_bits(r) & 0x1fff;
            cell_put(b, (size_t)(lane * nb + i), cell_bits(x->b), v);
        }
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < nc; i++) {
            uint64_t v = cell_random(x->c, r);
            double sum;

            if (x->saturate && random_below(r, 2)) /* near the limits */
                v = random_below(r, 2) ? 0x7fffff00 : 0x80000100;
            sum = cell_value(x->c, v);
            place_c(lane, i, &row, &column);
            for (int k = 0; k < x->k; k++)
                sum += ma[row][k] * mb[k][column];
            cell_put(c, (size_t)(lane * nc + i), cell_bits(x->c), v);
            cell_put(want, (size_t)(lane * nc + i), cell_bits(x->c),
                     cell_sum(x->c, sum, x->saturate));
        }
}

START_TEST(test_mma)
{
    const struct mma *x = &kinds[_i];
    size_t bytes_a = (size_t)(x->m * x->k * cell_bits(x->a) / 8);
    size_t bytes_b = (size_t)(x->k * 8 * cell_bits(x->b) / 8);
    size_t bytes_c = (size_t)(x->m * 8 * cell_bits(x->c) / 8);
    struct random r = {random_seed() + (uint64_t)_i};
    struct writer w = {.n = 0};
    struct device dev;
    char *a, *b, *c, *d, want[16 * 8 * 8], name[96];

    name_of(x, name);
    write_kernel(&w, x);
    device_open(&dev, w.text);
    ck_assert_msg(sg_mnemonic_known(name), "%s: the engine does not know it", name);
    a = device_alloc(&dev, WARPS * bytes_a);
    b = device_alloc(&dev, WARPS * bytes_b);
    c = device_alloc(&dev, WARPS * bytes_c);
    d = device_alloc(&dev, WARPS * bytes_c);
    for (int round = 0; round < 16; round++) {
        struct random again = r;

        for (size_t warp = 0; warp < WARPS; warp++)
            fill(x, &r, a + warp * bytes_a, b + warp * bytes_b, c + warp * bytes_c, want);
        device_run(&dev, "k", DIM1(2), DIM1(WARPS / 2 * LANES), 0, ARGS(&a, &b, &c, &d));
        for (size_t warp = 0; warp < WARPS; warp++) {
            fill(x, &again, a, b, c, want);
            for (size_t i = 0; i < (size_t)x->m * 8; i++) {
                int bits = cell_bits(x->c);
                uint64_t got = cell_get(d + warp * bytes_c, i, bits);

                ck_assert_msg(got == cell_get(want, i, bits) ||
                                  (got << (64 - bits + 1) == 0 &&
                                   cell_get(want, i, bits) << (64 - bits + 1) == 0 &&
                                   !cell_is_int(x->c)), /* a zero's sign depends on the order */
                              "%s: element %zu: 0x%llx, expected 0x%llx", name, i,
                              (unsigned long long)got, (unsigned long long)cell_get(want, i, bits));
            }
        }
    }
    device_close(&dev);
}
END_TEST

/* Random numbers of any size: within what FP32 sums lose. A NaN stays in its row. */
START_TEST(test_inexact)
{
    static const struct mma x = {16, 16, "f16", "f16", "f32", false};
    struct random r = {random_seed()};
    struct writer w = {.n = 0};
    struct device dev;
    uint16_t *a, *b;
    float *c, *d;
    int row, column;
    double ma[16][16], mb[16][8];

    write_kernel(&w, &x);
    device_open(&dev, w.text);
    a = device_alloc(&dev, 16 * 16 * 2);
    b = device_alloc(&dev, 16 * 8 * 2);
    c = device_alloc(&dev, 16 * 8 * 4);
    d = device_alloc(&dev, 16 * 8 * 4);
    for (int i = 0; i < 256; i++) {
        double v = ((double)random_below(&r, 1 << 20) / (1 << 19) - 1) * 4;
        struct num n = num_from_int((int64_t)(v * (1 << 20)));

        n.exp -= 20;
        a[i] = (uint16_t)num_encode(&num_f16, n, NUM_RN, NULL);
        place_a(&x, i / 8, i % 8, &row, &column);
        if (row == 5 && column == 3)
            a[i] = 0x7e00;
        ma[row][column] = cell_value("f16", a[i]);
    }
    for (int i = 0; i < 128; i++) {
        b[i] = (uint16_t)(0x3800 + random_below(&r, 0x800)); /* 0.5 to 2 */
        place_b(&x, i / 4, i % 4, &row, &column);
        mb[row][column] = cell_value("f16", b[i]);
        c[i] = (float)random_below(&r, 1000) / 100;
    }
    device_run(&dev, "k", DIM1(1), DIM1(32), 0, ARGS(&a, &b, &c, &d));
    for (int i = 0; i < 128; i++) {
        double sum = c[i], size = c[i];

        place_c(i / 4, i % 4, &row, &column);
        for (int k = 0; k < 16; k++) {
            sum += ma[row][k] * mb[k][column];
            size += ma[row][k] * mb[k][column] < 0 ? -ma[row][k] * mb[k][column]
                                                   : ma[row][k] * mb[k][column];
        }
        if (row == 5)
            ck_assert(d[i] != d[i]);
        else
            ck_assert_double_eq_tol((double)d[i], sum, size * 0x1p-18);
    }
    device_close(&dev);
}
END_TEST

TCase *tcase_mma(void)
{
    TCase *tc = tcase_create("mma");

    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, test_mma, 0, KINDS);
    tcase_add_test(tc, test_inexact);
    return tc;
}
