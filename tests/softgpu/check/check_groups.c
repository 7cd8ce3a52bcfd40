/* SPDX-License-Identifier: BSD-3-Clause
 * References for kernels/groups.cu. No state. */
#include "kernel_tests.h"

#include <check.h>
#include <stdlib.h>

enum { N = 5000, BLOCK = 256, BLOCKS = (N + BLOCK - 1) / BLOCK };

static void reduce_groups(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, -1000, 1000), *d = device_copy(dev, in, N * sizeof *in), n = N;
    int *out = device_alloc(dev, 2 * BLOCKS * 16 * sizeof *out);

    device_run(dev, "reduce_groups", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int g = 0; g < BLOCKS * 16; g++) {
        int sum = 0, most = INT32_MIN;

        for (int i = 16 * g; i < 16 * g + 16; i++) {
            int v = i < N ? in[i] : 0;

            sum += v;
            most = v > most ? v : most;
        }
        ck_assert_int_eq(out[2 * g], sum);
        ck_assert_int_eq(out[2 * g + 1], most);
    }
    free(in);
}

static void coalesced(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, 0, 1000), *d = device_copy(dev, in, N * sizeof *in), n = N,
        want = 0;
    int *total = device_alloc(dev, sizeof *total), *leaders = device_alloc(dev, sizeof *leaders);

    device_run(dev, "coalesced", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &total, &leaders));
    for (int i = 0; i < N; i++)
        want += in[i] % 3 == 0;
    ck_assert_int_eq(*total, want);
    ck_assert_int_ge(*leaders, 1);
    ck_assert_int_le(*leaders, want);
    free(in);
}

static void grid_sync(struct device *dev, struct random *r)
{
    int n = 1000, *a = device_alloc(dev, 1000 * sizeof *a),
        *b = device_alloc(dev, 1000 * sizeof *b);

    (void)r;
    dev->cooperative = true;
    dev->workers = 2;
    device_run(dev, "grid_sync", DIM1(8), DIM1(128), 0, ARGS(&n, &a, &b));
    for (int i = 0; i < n; i++) {
        int k = (i + 1) % n;

        ck_assert_int_eq(b[i], (n - 1 - i) * (n - 1 - i) - i * i);
        ck_assert_int_eq(a[i], (n - 1 - k) * (n - 1 - k) - k * k);
    }
}

static void wide_tiles(struct device *dev, struct random *r)
{
    int *in = random_ints(r, N, -1000, 1000), *d = device_copy(dev, in, N * sizeof *in), n = N;
    int *out = device_alloc(dev, BLOCKS * BLOCK * sizeof *out);

    device_run(dev, "wide_tiles", DIM1(BLOCKS), DIM1(BLOCK), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < BLOCKS * BLOCK; i++) {
        int first = i / 64 * 64, want = first + 40 < N ? in[first + 40] : 0;

        for (int k = first; k < first + 64; k++)
            want += k < N ? in[k] : 0;
        ck_assert_msg(out[i] == want, "element %d: %d, not %d", i, out[i], want);
    }
    free(in);
}

static const struct kernel_test tests[] = {
    {"reduce_groups", reduce_groups},
    {"coalesced", coalesced},
    {"grid_sync", grid_sync},
    {"wide_tiles", wide_tiles},
};

GROUP(group_groups, "groups", tests);
