// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients whose step is captured into a graph once and then launched again and again:
// all scalars stay on the device, cuBLAS is in device pointer mode.
#include "poisson.h"

// What one step hands to the next.
struct Scalars {
    float rr, old_rr, p_ap, alpha, minus_alpha, beta, one;
};

__global__ void choose_step(Scalars *s)
{
    s->alpha = s->rr / s->p_ap;
    s->minus_alpha = -s->alpha;
    s->old_rr = s->rr;
}

__global__ void choose_direction(Scalars *s)
{
    s->beta = s->rr / s->old_rr;
}

int main()
{
    const int max_rounds = 40, steps_per_round = 5;
    Poisson problem;
    Scalars *s;
    float *r = to_device(problem.b), *p = to_device(problem.b), *x, *ap;
    CUDA(cudaMalloc(&s, sizeof *s));
    CUDA(cudaMalloc(&x, N * sizeof(float)));
    CUDA(cudaMalloc(&ap, N * sizeof(float)));
    CUDA(cudaMemset(x, 0, N * sizeof(float)));
    const Scalars start = {0, 0, 0, 0, 0, 0, 1};
    CUDA(cudaMemcpy(s, &start, sizeof start, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); // the stream below does not wait for the default stream

    cudaStream_t stream;
    cublasHandle_t blas;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    BLAS(cublasCreate(&blas));
    BLAS(cublasSetStream(blas, stream));
    BLAS(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
    BLAS(cublasSdot(blas, N, r, 1, r, 1, &s->rr));
    float first_rr;
    CUDA(cudaMemcpyAsync(&first_rr, &s->rr, sizeof first_rr, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < steps_per_round; i++) {
        multiply_on(problem, p, ap, stream);
        BLAS(cublasSdot(blas, N, p, 1, ap, 1, &s->p_ap));
        choose_step<<<1, 1, 0, stream>>>(s);
        BLAS(cublasSaxpy(blas, N, &s->alpha, p, 1, x, 1));
        BLAS(cublasSaxpy(blas, N, &s->minus_alpha, ap, 1, r, 1));
        BLAS(cublasSdot(blas, N, r, 1, r, 1, &s->rr));
        choose_direction<<<1, 1, 0, stream>>>(s);
        BLAS(cublasSscal(blas, N, &s->beta, p, 1));
        BLAS(cublasSaxpy(blas, N, &s->one, r, 1, p, 1));
    }
    CUDA(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));

    float *rr;
    CUDA(cudaMallocHost(&rr, sizeof *rr));
    *rr = first_rr;
    int rounds = 0;
    for (; rounds<max_rounds && * rr> 1e-10f * first_rr; rounds++) {
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaMemcpyAsync(rr, &s->rr, sizeof *rr, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
    }
    double error = problem.residual(to_host(x, N));
    std::printf("cg_graph: %zu nodes, %d launches, residual %.2g\n", nodes, rounds, error);
    require(nodes >= 9 * steps_per_round, "the number of nodes");
    require(rounds > 2 && rounds < max_rounds, "the number of launches");
    require(error < 1e-4, "the residual");
    CUDA(cudaFreeHost(rr));
    CUDA(cudaGraphExecDestroy(exec));
    BLAS(cublasDestroy(blas));
    CUDA(cudaStreamDestroy(stream));
    return 0;
}
