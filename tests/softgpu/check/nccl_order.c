/* SPDX-License-Identifier: BSD-3-Clause
 * Operations take their place in the order of their streams, in orders that the adversarial
 * scheduler chooses, and in graphs that are launched again and again. */
#include "tests/softgpu/check/nccl_ranks.h"

enum { N = 3000, STEPS = 5, SEEDS = 8 };

static CUdeviceptr at(struct buffer b)
{
    return (CUdeviceptr)(uintptr_t)b.p;
}

/* Fill, sum, copy out, again and again without a look in between; two streams meet by events. */
static void steps(struct rank *r)
{
    struct buffer b = buffer_new(4 * N), copy[STEPS];
    CUstream second;
    CUevent filled, summed;

    CU(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
    CU(cuEventCreate(&summed, CU_EVENT_DISABLE_TIMING));
    for (unsigned k = 0; k < STEPS; k++) {
        copy[k] = buffer_new(4 * N);
        CU(cuMemsetD32Async(at(b), 10 * k + (unsigned)r->rank, N, r->stream));
        CU(cuEventRecord(filled, r->stream));
        CU(cuStreamWaitEvent(second, filled, 0));
        NCCL(ncclAllReduce(b.p, b.p, N, ncclUint32, ncclSum, r->comm, second));
        CU(cuEventRecord(summed, second));
        CU(cuStreamWaitEvent(r->stream, summed, 0));
        CU(cuMemcpyDtoDAsync(at(copy[k]), at(b), 4 * N, r->stream));
    }
    CU(cuStreamSynchronize(r->stream));
    for (unsigned k = 0; k < STEPS; k++) {
        for (size_t i = 0; i < N; i++) {
            uint32_t want =
                         10 * k * (unsigned)r->nranks + (unsigned)(r->nranks * (r->nranks - 1) / 2),
                     got;

            memcpy(&got, copy[k].p + 4 * i, 4);
            MUST(got == want);
        }
        buffer_check(copy[k]);
    }
}

START_TEST(test_steps)
{
    run_ranks(3, (struct setting){.seed = (unsigned)_i}, steps, NULL);
}
END_TEST

/* One communicator on two streams that know nothing of each other: launch order holds. */
static void two_streams(struct rank *r)
{
    struct buffer a = buffer_new(4 * N), b = buffer_new(4 * N);
    CUstream second;
    uint32_t got;

    CU(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    for (unsigned k = 0; k < STEPS; k++) {
        CU(cuMemsetD32Async(at(a), k + 1, N, r->stream));
        CU(cuMemsetD32Async(at(b), k + 2, N, second));
        NCCL(ncclAllReduce(a.p, a.p, N, ncclUint32, ncclSum, r->comm, r->stream));
        NCCL(ncclAllReduce(b.p, b.p, N, ncclUint32, ncclProd, r->comm, second));
        GROUP_START();
        NCCL(ncclAllReduce(a.p, a.p, N, ncclUint32, ncclMax, r->comm, r->stream));
        NCCL(ncclAllReduce(b.p, b.p, N, ncclUint32, ncclMin, r->comm, second));
        NCCL(GROUP_END());
    }
    CU(cuCtxSynchronize());
    memcpy(&got, a.p + 4 * (N - 1), 4);
    MUST(got == 2 * STEPS);
    memcpy(&got, b.p, 4);
    MUST(got == (STEPS + 1) * (STEPS + 1));
}

START_TEST(test_two_streams)
{
    run_ranks(2, (struct setting){.seed = (unsigned)_i}, two_streams, NULL);
}
END_TEST

/* Captured once, launched often: each time with what is in the buffers then. */
static void graphs(struct rank *r)
{
    struct buffer b = buffer_new(4 * N), sum = buffer_new(4 * N);
    CUgraph graph;
    CUgraphExec exec;

    CU(cuStreamBeginCapture(r->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NCCL(ncclAllReduce(b.p, sum.p, N, ncclUint32, ncclSum, r->comm, r->stream));
    CU(cuMemcpyDtoDAsync(at(b), at(sum), 4 * N, r->stream));
    CU(cuStreamEndCapture(r->stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    /* nothing has run yet */
    MUST((unsigned char)sum.p[0] == 0xa5);
    CU(cuMemsetD32Async(at(b), 1 + (unsigned)r->rank, N, r->stream));
    for (int k = 0; k < STEPS; k++)
        CU(cuGraphLaunch(exec, r->stream));
    CU(cuStreamSynchronize(r->stream));
    for (size_t i = 0; i < N; i++) {
        uint32_t got;

        memcpy(&got, b.p + 4 * i, 4);
        /* 1 + 2, then doubled four times */
        MUST(got == 3 << (STEPS - 1));
    }
    buffer_check(sum);
}

START_TEST(test_graphs)
{
    run_ranks(2, (struct setting){.seed = (unsigned)_i}, graphs, NULL);
}
END_TEST

Suite *suite_order(void)
{
    Suite *suite = suite_create("order");
    TCase *tc = tcase_create("order");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_steps, 0, SEEDS);
    tcase_add_loop_test(tc, test_two_streams, 0, SEEDS);
    tcase_add_loop_test(tc, test_graphs, 0, 3);
    suite_add_tcase(suite, tc);
    return suite;
}
