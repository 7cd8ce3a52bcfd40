// SPDX-License-Identifier: BSD-3-Clause
// Many small products in one call, in the three ways that cuBLAS has: arrays of pointers on the
// device, a fixed stride, and groups of products that differ in shape.
#include "common.h"

struct Shape {
    int m, n, k;
    bool transposed_a, transposed_b;
    float alpha, beta;
    int lda() const
    {
        return (transposed_a ? k : m) + 1;
    }
    int ldb() const
    {
        return (transposed_b ? n : k) + 2;
    }
    int ldc() const
    {
        return m + 3;
    }
    size_t size_a() const
    {
        return (size_t)lda() * (transposed_a ? m : k);
    }
    size_t size_b() const
    {
        return (size_t)ldb() * (transposed_b ? k : n);
    }
    size_t size_c() const
    {
        return (size_t)ldc() * n;
    }
    cublasOperation_t op_a() const
    {
        return transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    }
    cublasOperation_t op_b() const
    {
        return transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    }
};

// Operands of `count` products one after the other, on both sides.
struct Batch {
    Shape shape;
    int count;
    std::vector<float> a, b, c;
    float *d_a, *d_b, *d_c;

    Batch(const Shape &of, int n, unsigned seed)
        : shape(of), count(n), a(random_values(of.size_a() * n, seed)),
          b(random_values(of.size_b() * n, seed + 1)), c(random_values(of.size_c() * n, seed + 2)),
          d_a(to_device(a)), d_b(to_device(b)), d_c(to_device(c))
    {
    }

    void add_pointers(std::vector<float *> &as, std::vector<float *> &bs,
                      std::vector<float *> &cs) const
    {
        for (int i = 0; i < count; i++) {
            as.push_back(d_a + i * shape.size_a());
            bs.push_back(d_b + i * shape.size_b());
            cs.push_back(d_c + i * shape.size_c());
        }
    }

    // Largest error over the bound of FP32 arithmetic; what lies between the columns must be as it
    // was.
    double error() const
    {
        double worst = 0;
        std::vector<float> got = to_host(d_c, c.size());
        for (int e = 0; e < count; e++) {
            for (int j = 0; j < shape.n; j++) {
                for (int i = 0; i < shape.ldc(); i++) {
                    size_t at = e * shape.size_c() + i + (size_t)j * shape.ldc();
                    double want = c[at];
                    if (i < shape.m)
                        want = shape.beta * want +
                               shape.alpha * element(&a[e * shape.size_a()], &b[e * shape.size_b()],
                                                     i, j, shape.k, shape.lda(), shape.ldb(),
                                                     shape.transposed_a, shape.transposed_b);
                    else
                        require(got[at] == c[at], "what lies between columns");
                    worst = std::fmax(worst, std::fabs(got[at] - want) / (1e-6 * shape.k));
                }
            }
        }
        return worst;
    }
};

static void by_pointers(cublasHandle_t blas)
{
    Batch batch({24, 17, 33, false, true, 1.25f, 0.5f}, 6, 10);
    std::vector<float *> as, bs, cs;
    batch.add_pointers(as, bs, cs);
    const Shape &s = batch.shape;
    BLAS(cublasSgemmBatched(blas, s.op_a(), s.op_b(), s.m, s.n, s.k, &s.alpha, to_device(as),
                            s.lda(), to_device(bs), s.ldb(), &s.beta, to_device(cs), s.ldc(),
                            batch.count));
    double error = batch.error();
    std::printf("batched: pointers %.2f\n", error);
    require(error < 1, "products by pointers");
}

static void by_stride(cublasHandle_t blas)
{
    Batch batch({16, 40, 20, true, false, -1, 0}, 5, 20);
    const Shape &s = batch.shape;
    BLAS(cublasSgemmStridedBatched(blas, s.op_a(), s.op_b(), s.m, s.n, s.k, &s.alpha, batch.d_a,
                                   s.lda(), (long long)s.size_a(), batch.d_b, s.ldb(),
                                   (long long)s.size_b(), &s.beta, batch.d_c, s.ldc(),
                                   (long long)s.size_c(), batch.count));
    double error = batch.error();
    std::printf("batched: stride %.2f\n", error);
    require(error < 1, "products by stride");
}

static void by_groups(cublasHandle_t blas)
{
    std::vector<Batch> batches;
    batches.emplace_back(Shape{8, 8, 8, false, false, 1, 0}, 3, 30);
    batches.emplace_back(Shape{30, 5, 12, true, false, 2, 1}, 1, 40);
    batches.emplace_back(Shape{7, 19, 25, false, true, 0.5f, -1}, 4, 50);
    std::vector<float *> as, bs, cs;
    std::vector<cublasOperation_t> op_a, op_b;
    std::vector<int> m, n, k, lda, ldb, ldc, counts;
    std::vector<float> alpha, beta;
    for (const Batch &batch : batches) {
        const Shape &s = batch.shape;
        batch.add_pointers(as, bs, cs);
        op_a.push_back(s.op_a());
        op_b.push_back(s.op_b());
        m.push_back(s.m);
        n.push_back(s.n);
        k.push_back(s.k);
        lda.push_back(s.lda());
        ldb.push_back(s.ldb());
        ldc.push_back(s.ldc());
        alpha.push_back(s.alpha);
        beta.push_back(s.beta);
        counts.push_back(batch.count);
    }
    BLAS(cublasSgemmGroupedBatched(blas, op_a.data(), op_b.data(), m.data(), n.data(), k.data(),
                                   alpha.data(), to_device(as), lda.data(), to_device(bs),
                                   ldb.data(), beta.data(), to_device(cs), ldc.data(),
                                   (int)batches.size(), counts.data()));
    for (const Batch &batch : batches) {
        double error = batch.error();
        std::printf("batched: group of %d %.2f\n", batch.count, error);
        require(error < 1, "products by groups");
    }
}

int main()
{
    cublasHandle_t blas;
    BLAS(cublasCreate(&blas));
    by_pointers(blas);
    by_stride(blas);
    by_groups(blas);
    BLAS(cublasDestroy(blas));
    return 0;
}
