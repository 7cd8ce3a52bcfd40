// SPDX-License-Identifier: BSD-3-Clause
// A linear layer by cuBLASLt: asks for several algorithms, times each that the workspace allows,
// keeps the quickest and adds bias and GELU in the same call. C and D are different buffers.
#include "common.h"

#include <cublasLt.h>

// The formula by tanh and the one by erf differ by less than this.
constexpr double GELU_FORMS = 5e-4;

static double gelu(double x)
{
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

// Creates a column-major matrix of FP32.
static cublasLtMatrixLayout_t layout(int rows, int columns, int ld)
{
    cublasLtMatrixLayout_t made;
    BLAS(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, rows, columns, ld));
    return made;
}

int main()
{
    const int m = 96, n = 64, k = 80, lda = k + 4, ldb = k, ldc = m + 8, ldd = m;
    const int wanted = 8, repeats = 2;
    const size_t workspace_bytes = 1 << 20;
    const float alpha = 0.125f, beta = 0.5f;
    std::vector<float> a = random_values((size_t)lda * m, 1), b = random_values((size_t)ldb * n, 2),
                       c = random_values((size_t)ldc * n, 3), bias = random_values(m, 4);
    float *d_a = to_device(a), *d_b = to_device(b), *d_c = to_device(c), *d_bias = to_device(bias);
    float *d_d;
    void *workspace;
    CUDA(cudaMalloc(&d_d, sizeof(float) * ldd * n));
    CUDA(cudaMalloc(&workspace, workspace_bytes));

    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t matmul;
    cublasLtMatmulPreference_t preference;
    BLAS(cublasLtCreate(&lt));
    BLAS(cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    BLAS(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                        sizeof transposed));
    BLAS(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                        sizeof epilogue));
    BLAS(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &d_bias,
                                        sizeof d_bias));
    cublasLtMatrixLayout_t of_a = layout(k, m, lda), of_b = layout(k, n, ldb),
                           of_c = layout(m, n, ldc), of_d = layout(m, n, ldd);
    BLAS(cublasLtMatmulPreferenceCreate(&preference));
    BLAS(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace_bytes, sizeof workspace_bytes));

    cublasLtMatmulHeuristicResult_t results[wanted];
    int found = 0;
    BLAS(cublasLtMatmulAlgoGetHeuristic(lt, matmul, of_a, of_b, of_c, of_d, preference, wanted,
                                        results, &found));
    require(found >= 1 && found <= wanted, "the number of algorithms");

    cudaStream_t stream;
    cudaEvent_t start, stop;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    int best = -1;
    float best_ms = 0;
    for (int i = 0; i < found; i++) {
        if (results[i].state != CUBLAS_STATUS_SUCCESS || results[i].workspaceSize > workspace_bytes)
            continue;
        CUDA(cudaEventRecord(start, stream));
        for (int repeat = 0; repeat < repeats; repeat++)
            BLAS(cublasLtMatmul(lt, matmul, &alpha, d_a, of_a, d_b, of_b, &beta, d_c, of_c, d_d,
                                of_d, &results[i].algo, workspace, workspace_bytes, stream));
        CUDA(cudaEventRecord(stop, stream));
        CUDA(cudaEventSynchronize(stop));
        float ms;
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        if (best < 0 || ms < best_ms) {
            best = i;
            best_ms = ms;
        }
    }
    require(best >= 0, "no algorithm runs");

    CUDA(cudaMemset(d_d, 0xff, sizeof(float) * ldd * n));
    CUDA(cudaDeviceSynchronize());
    BLAS(cublasLtMatmul(lt, matmul, &alpha, d_a, of_a, d_b, of_b, &beta, d_c, of_c, d_d, of_d,
                        &results[best].algo, workspace, results[best].workspaceSize, stream));
    CUDA(cudaStreamSynchronize(stream));
    std::vector<float> got = to_host(d_d, (size_t)ldd * n);
    double worst = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) {
            double x = alpha * element(a.data(), b.data(), i, j, k, lda, ldb, true, false) +
                       beta * (double)c[i + (size_t)j * ldc] + bias[i];
            worst = std::fmax(worst, std::fabs(got[i + (size_t)j * ldd] - gelu(x)));
        }
    }
    std::printf("lt: %d algorithms, error %.2g\n", found, worst);
    require(worst < GELU_FORMS, "the layer");
    for (float value : got)
        require(!std::isnan(value), "an element was not written");
    require(to_host(d_c, c.size()) == c, "C was written to");

    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    CUDA(cudaStreamDestroy(stream));
    BLAS(cublasLtMatmulPreferenceDestroy(preference));
    for (cublasLtMatrixLayout_t made : {of_a, of_b, of_c, of_d})
        BLAS(cublasLtMatrixLayoutDestroy(made));
    BLAS(cublasLtMatmulDescDestroy(matmul));
    BLAS(cublasLtDestroy(lt));
    return 0;
}
