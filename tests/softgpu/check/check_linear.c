/* SPDX-License-Identifier: BSD-3-Clause
 * References for kernels/linear.cu, in double precision. No state. */
#include "kernel_tests.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static float *doubles_to_floats(const double *in, int n)
{
    float *out = malloc((size_t)n * sizeof *out);

    ck_assert_ptr_nonnull(out);
    for (int i = 0; i < n; i++)
        out[i] = (float)in[i];
    return out;
}

static void near_array(const char *what, const float *got, const double *want, int n,
                       double relative, double absolute)
{
    float *rounded = doubles_to_floats(want, n);

    near_floats(what, got, rounded, n, relative, absolute);
    free(rounded);
}

static void sgemm(struct device *dev, struct random *r)
{
    int m = 37, n = 50, k = 45;
    float *a = random_floats(r, m * k, -1, 1), *b = random_floats(r, k * n, -1, 1);
    float *da = device_copy(dev, a, (size_t)(m * k) * 4),
          *db = device_copy(dev, b, (size_t)(k * n) * 4);
    float *dc = device_alloc(dev, (size_t)(m * n) * 4);
    double *want = calloc((size_t)(m * n), sizeof *want);

    device_run(dev, "sgemm", DIM2((n + 15) / 16, (m + 15) / 16), DIM2(16, 16), 0,
               ARGS(&m, &n, &k, &da, &db, &dc));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                want[i * n + j] += (double)a[i * k + l] * b[l * n + j];
    near_array("c", dc, want, m * n, 1e-5, 1e-5);
    free(a);
    free(b);
    free(want);
}

static void matrix_vector(struct device *dev, struct random *r)
{
    int rows = 61, columns = 130;
    float *a = random_floats(r, rows * columns, -1, 1), *x = random_floats(r, columns, -1, 1);
    float *da = device_copy(dev, a, (size_t)(rows * columns) * 4),
          *dx = device_copy(dev, x, (size_t)columns * 4);
    float *dy = device_alloc(dev, (size_t)rows * 4);
    double *want = calloc((size_t)rows, sizeof *want);

    device_run(dev, "matrix_vector", DIM1(16), DIM1(128), 0, ARGS(&rows, &columns, &da, &dx, &dy));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            want[i] += (double)a[i * columns + j] * x[j];
    near_array("y", dy, want, rows, 1e-5, 1e-5);
    free(a);
    free(x);
    free(want);
}

static int clamp(int v, int high)
{
    return v < 0 ? 0 : v > high ? high : v;
}

static void stencil(struct device *dev, struct random *r)
{
    int w = 75, h = 43;
    float *in = random_floats(r, w * h, 0, 1), *d = device_copy(dev, in, (size_t)(w * h) * 4);
    float *out = device_alloc(dev, (size_t)(w * h) * 4);
    double *want = calloc((size_t)(w * h), sizeof *want);

    device_run(dev, "stencil", DIM2((w + 31) / 32, (h + 7) / 8), DIM2(32, 8), 0,
               ARGS(&w, &h, &d, &out));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            want[y * w + x] =
                0.25 * ((double)in[clamp(y - 1, h - 1) * w + x] + in[clamp(y + 1, h - 1) * w + x] +
                        in[y * w + clamp(x - 1, w - 1)] + in[y * w + clamp(x + 1, w - 1)]);
    near_array("out", out, want, w * h, 1e-6, 1e-7);
    free(in);
    free(want);
}

static void convolution(struct device *dev, struct random *r)
{
    int n = 1000;
    float *in = random_floats(r, n, -1, 1), *d = device_copy(dev, in, (size_t)n * 4),
          *filter = random_floats(r, 9, -1, 1);
    float *out = device_alloc(dev, (size_t)n * 4);
    double *want = calloc((size_t)n, sizeof *want);

    memcpy(device_variable(dev, "filter"), filter, 9 * sizeof *filter);
    device_run(dev, "convolution", DIM1(8), DIM1(128), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 9; k++)
            if (i + k - 4 >= 0 && i + k - 4 < n)
                want[i] += (double)filter[k] * in[i + k - 4];
    near_array("out", out, want, n, 1e-5, 1e-6);
    free(in);
    free(filter);
    free(want);
}

static void floyd_warshall(struct device *dev, struct random *r)
{
    int n = 40, *want = random_ints(r, n * n, 1, 1000), *d;

    for (int i = 0; i < n; i++)
        want[i * n + i] = 0;
    d = device_copy(dev, want, (size_t)(n * n) * 4);
    for (int k = 0; k < n; k++)
        device_run(dev, "floyd_warshall", DIM2(1, n), DIM1(64), 0, ARGS(&n, &k, &d));
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (want[i * n + k] + want[k * n + j] < want[i * n + j])
                    want[i * n + j] = want[i * n + k] + want[k * n + j];
    same_ints("distance", d, want, n * n);
    free(want);
}

static void n_body(struct device *dev, struct random *r)
{
    int n = 192;
    float *body = random_floats(r, 4 * n, 0.1f, 1), *d = device_copy(dev, body, (size_t)n * 16);
    float *force = device_alloc(dev, (size_t)n * 16);
    double *want = calloc((size_t)(4 * n), sizeof *want);

    device_run(dev, "n_body", DIM1(n / 64), DIM1(64), 0, ARGS(&n, &d, &force));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double distance[3], square = 0.01;

            for (int c = 0; c < 3; c++) {
                distance[c] = (double)body[4 * k + c] - body[4 * i + c];
                square += distance[c] * distance[c];
            }
            for (int c = 0; c < 3; c++)
                want[4 * i + c] += distance[c] * body[4 * k + 3] / (square * sqrt(square));
        }
    near_array("force", force, want, 4 * n, 1e-4, 1e-2);
    free(body);
    free(want);
}

static void k_means(struct device *dev, struct random *r)
{
    int n = 2000, clusters = 13, sizes[13] = {0};
    float *point = random_floats(r, 2 * n, -5, 5), *center = random_floats(r, 2 * clusters, -5, 5);
    float *dp = device_copy(dev, point, (size_t)n * 8),
          *dc = device_copy(dev, center, (size_t)clusters * 8);
    int *nearest = device_alloc(dev, (size_t)n * 4),
        *d_sizes = device_alloc(dev, (size_t)clusters * 4);

    device_run(dev, "k_means", DIM1(16), DIM1(128), 0,
               ARGS(&n, &clusters, &dp, &dc, &nearest, &d_sizes));
    for (int i = 0; i < n; i++) {
        double got = 0, least = 1e30;

        for (int c = 0; c < clusters; c++) {
            double d = hypot((double)point[2 * i] - center[2 * c],
                             (double)point[2 * i + 1] - center[2 * c + 1]);

            least = d < least ? d : least;
            if (c == nearest[i])
                got = d;
        }
        ck_assert_double_le(got, least * (1 + 1e-6)); /* a near tie may go either way */
        sizes[nearest[i]]++;
    }
    same_ints("sizes", d_sizes, sizes, clusters);
    free(point);
    free(center);
}

static void softmax(struct device *dev, struct random *r)
{
    int rows = 12, columns = 301;
    float *in = random_floats(r, rows * columns, -20, 20),
          *d = device_copy(dev, in, (size_t)(rows * columns) * 4);
    float *out = device_alloc(dev, (size_t)(rows * columns) * 4);
    double *want = calloc((size_t)(rows * columns), sizeof *want);

    device_run(dev, "softmax", DIM1(rows), DIM1(128), 0, ARGS(&columns, &d, &out));
    for (int i = 0; i < rows; i++) {
        double sum = 0;

        for (int j = 0; j < columns; j++)
            sum += exp((double)in[i * columns + j] - 20);
        for (int j = 0; j < columns; j++)
            want[i * columns + j] = exp((double)in[i * columns + j] - 20) / sum;
    }
    near_array("out", out, want, rows * columns, 2e-5, 1e-12);
    free(in);
    free(want);
}

static void layer_norm(struct device *dev, struct random *r)
{
    int rows = 9, columns = 200;
    float *in = random_floats(r, rows * columns, -3, 5), *gain = random_floats(r, columns, 0.5f, 2);
    float *bias = random_floats(r, columns, -1, 1),
          *d = device_copy(dev, in, (size_t)(rows * columns) * 4);
    float *dg = device_copy(dev, gain, (size_t)columns * 4),
          *db = device_copy(dev, bias, (size_t)columns * 4);
    float *out = device_alloc(dev, (size_t)(rows * columns) * 4);
    double *want = calloc((size_t)(rows * columns), sizeof *want);

    device_run(dev, "layer_norm", DIM1(rows), DIM1(32), 0, ARGS(&columns, &d, &dg, &db, &out));
    for (int i = 0; i < rows; i++) {
        double mean = 0, variance = 0;

        for (int j = 0; j < columns; j++)
            mean += (double)in[i * columns + j] / columns;
        for (int j = 0; j < columns; j++)
            variance += (in[i * columns + j] - mean) * (in[i * columns + j] - mean) / columns;
        for (int j = 0; j < columns; j++)
            want[i * columns + j] =
                (in[i * columns + j] - mean) / sqrt(variance + 1e-5) * gain[j] + bias[j];
    }
    near_array("out", out, want, rows * columns, 1e-5, 1e-5);
    free(in);
    free(gain);
    free(bias);
    free(want);
}

static void gelu(struct device *dev, struct random *r)
{
    int n = 3000;
    float *in = random_floats(r, n, -6, 6), *d = device_copy(dev, in, (size_t)n * 4);
    float *out = device_alloc(dev, (size_t)n * 4);
    double *want = calloc((size_t)n, sizeof *want);

    device_run(dev, "gelu", DIM1(12), DIM1(256), 0, ARGS(&n, &d, &out));
    for (int i = 0; i < n; i++) {
        double x = in[i];

        want[i] = 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    }
    near_array("out", out, want, n, 1e-5, 2e-6);
    free(in);
    free(want);
}

static void adam(struct device *dev, struct random *r)
{
    int n = 1500;
    float rate = 0.01f, step = 3;
    float *p = random_floats(r, n, -1, 1), *g = random_floats(r, n, -1, 1),
          *m = random_floats(r, n, -1, 1);
    float *v = random_floats(r, n, 0, 1), *dp = device_copy(dev, p, (size_t)n * 4),
          *dg = device_copy(dev, g, (size_t)n * 4);
    float *dm = device_copy(dev, m, (size_t)n * 4), *dv = device_copy(dev, v, (size_t)n * 4);
    double *want = calloc((size_t)n, sizeof *want);

    device_run(dev, "adam", DIM1(12), DIM1(128), 0, ARGS(&n, &dp, &dg, &dm, &dv, &rate, &step));
    for (int i = 0; i < n; i++) {
        double mean = 0.9 * m[i] + 0.1 * g[i], variance = 0.999 * v[i] + 0.001 * g[i] * g[i];

        mean /= 1 - pow(0.9, 3);
        variance /= 1 - pow(0.999, 3);
        want[i] = p[i] - 0.01 * (mean / (sqrt(variance) + 1e-8) + 0.01 * p[i]);
    }
    /* 1 - 0.999^3 in single precision is good to 5 digits */
    near_array("param", dp, want, n, 1e-3, 1e-3);
    free(p);
    free(g);
    free(m);
    free(v);
    free(want);
}

static const struct kernel_test tests[] = {
    {"sgemm", sgemm},
    {"matrix_vector", matrix_vector},
    {"stencil", stencil},
    {"convolution", convolution},
    {"floyd_warshall", floyd_warshall},
    {"n_body", n_body},
    {"k_means", k_means},
    {"softmax", softmax},
    {"layer_norm", layer_norm},
    {"gelu", gelu},
    {"adam", adam},
};

GROUP(group_linear, "linear", tests);
