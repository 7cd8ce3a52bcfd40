// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients with cuBLAS level 1 and a sparse product of its own, scalars on the host.
#include "poisson.h"

int main()
{
    const int max_steps = 200;
    const float tolerance = 1e-5f, one = 1, minus_one = -1;
    Poisson problem;
    cublasHandle_t blas;
    BLAS(cublasCreate(&blas));
    float *r = to_device(problem.b), *x, *p, *ap;
    CUDA(cudaMalloc(&x, N * sizeof(float)));
    CUDA(cudaMalloc(&p, N * sizeof(float)));
    CUDA(cudaMalloc(&ap, N * sizeof(float)));
    // Starts from x = 1: r = b - A x.
    std::vector<float> ones(N, 1.0f);
    BLAS(cublasSetVector(N, sizeof(float), ones.data(), 1, x, 1));
    multiply_on(problem, x, ap, nullptr);
    BLAS(cublasSaxpy(blas, N, &minus_one, ap, 1, r, 1));

    float rr, b_norm, old_rr = 0;
    BLAS(cublasSnrm2(blas, N, to_device(problem.b), 1, &b_norm));
    BLAS(cublasSdot(blas, N, r, 1, r, 1, &rr));
    int step = 0;
    for (; step < max_steps && std::sqrt(rr) > tolerance * b_norm; step++) {
        if (step == 0) {
            BLAS(cublasScopy(blas, N, r, 1, p, 1));
        } else {
            const float beta = rr / old_rr;
            BLAS(cublasSscal(blas, N, &beta, p, 1));
            BLAS(cublasSaxpy(blas, N, &one, r, 1, p, 1));
        }
        multiply_on(problem, p, ap, nullptr);
        float p_ap;
        BLAS(cublasSdot(blas, N, p, 1, ap, 1, &p_ap));
        const float alpha = rr / p_ap, minus_alpha = -alpha;
        BLAS(cublasSaxpy(blas, N, &alpha, p, 1, x, 1));
        BLAS(cublasSaxpy(blas, N, &minus_alpha, ap, 1, r, 1));
        old_rr = rr;
        BLAS(cublasSdot(blas, N, r, 1, r, 1, &rr));
    }
    std::vector<float> result(N);
    BLAS(cublasGetVector(N, sizeof(float), x, 1, result.data(), 1));
    BLAS(cublasDestroy(blas));
    double error = problem.residual(result);
    std::printf("cg: %d steps, residual %.2g\n", step, error);
    require(step > 10 && step < max_steps, "the number of steps");
    require(error < 1e-4, "the residual");
    return 0;
}
