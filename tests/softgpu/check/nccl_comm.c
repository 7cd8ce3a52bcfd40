/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators: arguments, ways to make them, splits, failures, aborts, and names. */
#include "tests/softgpu/check/nccl_ranks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const struct element_type *const f32 = &element_types[7];

/* Sums the rank numbers over a communicator: says who its members are. */
static uint32_t sum_of(ncclComm_t comm, CUstream stream, uint32_t own)
{
    struct buffer b = buffer_new(4);
    uint32_t sum;

    memcpy(b.p, &own, 4);
    NCCL(ncclAllReduce(b.p, b.p, 1, ncclUint32, ncclSum, comm, stream));
    CU(cuStreamSynchronize(stream));
    memcpy(&sum, b.p, 4);
    buffer_free(b);
    return sum;
}

static void arguments(struct rank *r)
{
    struct buffer b = buffer_new(64);
    ncclRedOp_t op = ncclSum;
    ncclComm_t none = NULL;
    float factor = 2;
    int n = -1;

    NCCL(ncclCommCount(r->comm, &n));
    MUST(n == r->nranks);
    NCCL(ncclCommUserRank(r->comm, &n));
    MUST(n == r->rank);
    NCCL(ncclCommCuDevice(r->comm, &n));
    MUST(n == 0);
    NCCL(ncclGetVersion(&n));
    MUST(n == NCCL_VERSION_CODE);
    NCCL_IS(ncclGetVersion(NULL), ncclInvalidArgument);
    NCCL_IS(ncclCommCount(none, &n), ncclInvalidArgument);
    NCCL_IS(ncclAllReduce(b.p, b.p, 4, ncclFloat32, ncclSum, NULL, r->stream), ncclInvalidArgument);
    NCCL_IS(ncclAllReduce(NULL, b.p, 4, ncclFloat32, ncclSum, r->comm, r->stream),
            ncclInvalidArgument);
    NCCL_IS(ncclAllReduce(b.p, NULL, 4, ncclFloat32, ncclSum, r->comm, r->stream),
            ncclInvalidArgument);
    NCCL_IS(ncclAllReduce(b.p, b.p, 4, ncclNumTypes, ncclSum, r->comm, r->stream),
            ncclInvalidArgument);
    NCCL_IS(ncclAllReduce(b.p, b.p, 4, ncclFloat32, ncclNumOps, r->comm, r->stream),
            ncclInvalidArgument);
    NCCL_IS(ncclBroadcast(b.p, b.p, 4, ncclFloat32, 2, r->comm, r->stream), ncclInvalidArgument);
    NCCL_IS(ncclBroadcast(b.p, b.p, 4, ncclFloat32, -1, r->comm, r->stream), ncclInvalidArgument);
    NCCL_IS(ncclSend(b.p, 4, ncclFloat32, 2, r->comm, r->stream), ncclInvalidArgument);
    NCCL_IS(ncclCommInitRank(&none, 2, r->id, 2), ncclInvalidArgument);
    NCCL_IS(ncclCommInitRank(&none, 0, r->id, 0), ncclInvalidArgument);
    NCCL_IS(GROUP_END(), ncclInvalidUsage);
    /* an error inside a group: nothing of it starts, and its end says so */
    GROUP_START();
    NCCL(ncclAllReduce(b.p, b.p, 4, ncclFloat32, ncclSum, r->comm, r->stream));
    NCCL_IS(ncclSend(b.p, 4, ncclFloat32, 7, r->comm, r->stream), ncclInvalidArgument);
    NCCL_IS(GROUP_END(), ncclInvalidArgument);
    /* no elements: nothing happens, whatever the others do */
    if (r->rank == 0)
        NCCL(ncclAllReduce(NULL, NULL, 0, ncclFloat32, ncclSum, r->comm, r->stream));
    /* operations belong to a type, and end */
    NCCL(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, ncclScalarHostImmediate, r->comm));
    MUST(op >= ncclNumOps);
    NCCL_IS(ncclAllReduce(b.p, b.p, 4, ncclFloat64, op, r->comm, r->stream), ncclInvalidArgument);
    NCCL(ncclRedOpDestroy(op, r->comm));
    NCCL_IS(ncclRedOpDestroy(op, r->comm), ncclInvalidArgument);
    NCCL_IS(ncclRedOpDestroy(ncclSum, r->comm), ncclInvalidArgument);
    NCCL_IS(ncclAllReduce(b.p, b.p, 4, ncclFloat32, op, r->comm, r->stream), ncclInvalidArgument);
    MUST(sum_of(r->comm, r->stream, (uint32_t)r->rank + 1) == 3);
}

START_TEST(test_arguments)
{
    run_ranks(2, (struct setting){0}, arguments, NULL);
}
END_TEST

/* A scalar in device memory is read when the reduction runs. */
static void device_scalar(struct rank *r)
{
    struct buffer b = buffer_new(4), scalar = buffer_new(4);
    float one = 1, half = 0.5f, got;
    ncclRedOp_t op;

    NCCL(ncclRedOpCreatePreMulSum(&op, scalar.p, ncclFloat32, ncclScalarDevice, r->comm));
    memcpy(b.p, &one, 4);
    CU(cuMemcpyHtoDAsync((CUdeviceptr)(uintptr_t)scalar.p, &half, 4, r->stream));
    NCCL(ncclAllReduce(b.p, b.p, 1, ncclFloat32, op, r->comm, r->stream));
    CU(cuStreamSynchronize(r->stream));
    memcpy(&got, b.p, 4);
    MUST(got == 0.5f * (float)r->nranks);
}

START_TEST(test_device_scalar)
{
    run_ranks(2, (struct setting){.seed = (unsigned)_i}, device_scalar, NULL);
}
END_TEST

static void splits(struct rank *r)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t part, pair[2], left;
    int n, own, out = 0;

    /* even and odd ones, in reverse order */
    NCCL(ncclCommSplit(r->comm, r->rank % 2, -r->rank, &part, NULL));
    NCCL(ncclCommCount(part, &n));
    NCCL(ncclCommUserRank(part, &own));
    MUST(n == (r->nranks + 1 - r->rank % 2) / 2);
    MUST(own == n - 1 - r->rank / 2);
    MUST(sum_of(part, r->stream, (uint32_t)r->rank) == (r->rank % 2 ? 1 + 3 : 0 + 2 + 4));
    NCCL(ncclCommDestroy(part));
    /* rank 2 stays out */
    NCCL(ncclCommSplit(r->comm, r->rank == 2 ? NCCL_SPLIT_NOCOLOR : 5, 0, &part, &config));
    MUST((part == NULL) == (r->rank == 2));
    if (part) {
        MUST(sum_of(part, r->stream, (uint32_t)r->rank) == 0 + 1 + 3 + 4);
        NCCL(ncclCommDestroy(part));
    }
    /* two in one group */
    GROUP_START();
    NCCL(ncclCommSplit(r->comm, r->rank < 2, r->rank, &pair[0], NULL));
    NCCL(ncclCommSplit(r->comm, 0, r->rank, &pair[1], NULL));
    NCCL(GROUP_END());
    MUST(sum_of(pair[0], r->stream, (uint32_t)r->rank) == (r->rank < 2 ? 1 : 9));
    MUST(sum_of(pair[1], r->stream, (uint32_t)r->rank) == 10);
    NCCL(ncclCommDestroy(pair[0]));
    NCCL(ncclCommDestroy(pair[1]));
    /* the others go on without rank 0 */
    if (r->rank != 0) {
        NCCL(ncclCommShrink(r->comm, &out, 1, &left, NULL, NCCL_SHRINK_DEFAULT));
        NCCL(ncclCommUserRank(left, &own));
        MUST(own == r->rank - 1);
        MUST(sum_of(left, r->stream, (uint32_t)r->rank) == 10);
        NCCL(ncclCommDestroy(left));
    }
    MUST(sum_of(r->comm, r->stream, (uint32_t)r->rank) == 10);
}

START_TEST(test_splits)
{
    run_ranks(5, (struct setting){.seed = (unsigned)_i}, splits, NULL);
}
END_TEST

static void nap(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static ncclResult_t settle(ncclComm_t comm, long limit_ms)
{
    ncclResult_t state = ncclInProgress;

    for (long ms = 0; ms < limit_ms; ms += 5) {
        NCCL(ncclCommGetAsyncError(comm, &state));
        if (state != ncclInProgress)
            break;
        nap(5);
    }
    return state;
}

static void not_blocking(struct rank *r)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t comm = NULL;

    config.blocking = 0;
    if (r->rank == 1)
        nap(200);
    NCCL_IS(ncclCommInitRankConfig(&comm, r->nranks, r->id, r->rank, &config), ncclInProgress);
    MUST(comm != NULL);
    if (r->rank == 0) {
        ncclResult_t state;

        NCCL(ncclCommGetAsyncError(comm, &state));
        MUST(state == ncclInProgress);
    }
    MUST(settle(comm, 20000) == ncclSuccess);
    MUST(sum_of(comm, r->stream, (uint32_t)r->rank + 1) == 3);
    NCCL(ncclCommFinalize(comm));
    NCCL(ncclCommDestroy(comm));
}

START_TEST(test_not_blocking)
{
    run_ranks(2, (struct setting){.no_comm = true}, not_blocking, NULL);
}
END_TEST

/* Waits for a failure that somebody else causes. */
static ncclResult_t failure_of(ncclComm_t comm)
{
    ncclResult_t state = ncclSuccess;

    for (long ms = 0; ms < 10000 && state == ncclSuccess; ms += 5) {
        NCCL(ncclCommGetAsyncError(comm, &state));
        nap(5);
    }
    return state;
}

/* Rank 1 dies in the middle; the others are told, abort, and their streams go on. */
static void one_dies(struct rank *r)
{
    struct buffer b = buffer_new(4 << 20);

    memset(b.p, 0, b.bytes);
    NCCL(ncclAllReduce(b.p, b.p, 1 << 20, ncclFloat32, ncclSum, r->comm, r->stream));
    CU(cuStreamSynchronize(r->stream));
    if (r->rank == 1)
        raise(SIGKILL);
    NCCL(ncclAllReduce(b.p, b.p, 1 << 20, ncclFloat32, ncclSum, r->comm, r->stream));
    MUST(failure_of(r->comm) == ncclRemoteError);
    MUST(strstr(ncclGetLastError(r->comm), "gone") != NULL);
    NCCL_IS(ncclAllReduce(b.p, b.p, 4, ncclFloat32, ncclSum, r->comm, r->stream), ncclRemoteError);
    NCCL(ncclCommAbort(r->comm));
    CU(cuStreamSynchronize(r->stream));
    r->shared[r->rank] = 1;
    _exit(EXIT_SUCCESS);
}

START_TEST(test_one_dies)
{
    uint64_t *shared = run_ranks(
        3, (struct setting){.transport = _i ? "tcp" : NULL, .may_die = true}, one_dies, NULL);

    ck_assert_uint_eq(shared[0], 1);
    ck_assert_uint_eq(shared[2], 1);
}
END_TEST

/* Rank 1 never calls: the other one aborts and goes on. */
static void aborts(struct rank *r)
{
    struct buffer b = buffer_new(4);

    if (r->rank == 0) {
        NCCL(ncclAllReduce(b.p, b.p, 1, ncclFloat32, ncclSum, r->comm, r->stream));
        nap(50);
        MUST(cuStreamQuery(r->stream) == CUDA_ERROR_NOT_READY);
        NCCL(ncclCommAbort(r->comm));
        CU(cuStreamSynchronize(r->stream));
        r->shared[0] = 1;
    } else {
        for (int k = 0; k < 1000 && !r->shared[0]; k++)
            nap(10);
        NCCL(ncclCommAbort(r->comm));
    }
    _exit(EXIT_SUCCESS);
}

START_TEST(test_aborts)
{
    uint64_t *shared = run_ranks(2, (struct setting){0}, aborts, NULL);

    ck_assert_uint_eq(shared[0], 1);
}
END_TEST

/* Ranks that don't do the same are told so. */
static void mismatch(struct rank *r)
{
    struct buffer b = buffer_new(4096);
    size_t count = r->rank == 0 ? 100 : 101;
    ncclResult_t state;
    int what = *(const int *)r->arg;

    if (what == 0)
        NCCL(ncclAllReduce(b.p, b.p, count, ncclFloat32, ncclSum, r->comm, r->stream));
    else if (what == 1)
        NCCL(ncclAllReduce(b.p, b.p, 100, ncclFloat32, r->rank ? ncclMax : ncclSum, r->comm,
                           r->stream));
    else if (what == 2 && r->rank == 0)
        NCCL(ncclAllGather(b.p, b.p + 2048, 100, ncclFloat32, r->comm, r->stream));
    else if (what == 2)
        NCCL(ncclBroadcast(b.p, b.p, 100, ncclFloat32, 0, r->comm, r->stream));
    else if (r->rank == 0)
        NCCL(ncclSend(b.p, 100, ncclFloat32, 1, r->comm, r->stream));
    else
        NCCL(ncclRecv(b.p, 50, ncclFloat32, 0, r->comm, r->stream));
    /* who only sends may have sent all */
    if (r->rank == 1) {
        state = failure_of(r->comm);
        MUST(state == ncclInvalidUsage);
    }
    r->shared[r->rank] = 1;
    for (int k = 0; k < 500 && !(r->shared[0] && r->shared[1]); k++)
        nap(10);
    NCCL(ncclCommAbort(r->comm));
    CU(cuStreamSynchronize(r->stream));
    _exit(EXIT_SUCCESS);
}

START_TEST(test_mismatch)
{
    uint64_t *shared = run_ranks(2, (struct setting){0}, mismatch, &_i);

    ck_assert_uint_eq(shared[1], 1);
}
END_TEST

/* All devices of one process, from one thread and from several. */
enum { DEVICES = 4 };

static struct {
    ncclComm_t comm[DEVICES];
    CUcontext context[DEVICES];
    CUstream stream[DEVICES];
    struct buffer buffer[DEVICES];
} all;

static void check_all(uint64_t seed, size_t n)
{
    for (int d = 0; d < DEVICES; d++) {
        CU(cuCtxSetCurrent(all.context[d]));
        CU(cuStreamSynchronize(all.stream[d]));
        for (size_t i = 0; i < n; i++)
            MUST(element_right(f32, element_at(all.buffer[d].p, f32, i), seed, DEVICES, i, ncclSum,
                               0));
    }
}

static void *one_device(void *arg)
{
    int d = *(int *)arg;

    CU(cuCtxSetCurrent(all.context[d]));
    NCCL(ncclAllReduce(all.buffer[d].p, all.buffer[d].p, 1000, ncclFloat32, ncclSum, all.comm[d],
                       all.stream[d]));
    CU(cuStreamSynchronize(all.stream[d]));
    return NULL;
}

static void all_devices(struct rank *r)
{
    static const int devices[DEVICES] = {3, 1, 0, 2}, same[] = {1, 1};
    pthread_t thread[DEVICES];
    int number[DEVICES], n;

    (void)r;
    NCCL_IS(ncclCommInitAll(all.comm, DEVICES + 1, NULL), ncclInvalidUsage);
    NCCL_IS(ncclCommInitAll(all.comm, 2, same), ncclInvalidUsage);
    NCCL(ncclCommInitAll(all.comm, DEVICES, devices));
    for (int d = 0; d < DEVICES; d++) {
        NCCL(ncclCommCuDevice(all.comm[d], &n));
        MUST(n == devices[d]);
        CU(cuDevicePrimaryCtxRetain(&all.context[d], n));
        CU(cuCtxSetCurrent(all.context[d]));
        CU(cuStreamCreate(&all.stream[d], CU_STREAM_NON_BLOCKING));
        all.buffer[d] = buffer_new(4000);
        elements_fill(all.buffer[d].p, f32, 11, d, 1000);
    }
    GROUP_START();
    for (int d = 0; d < DEVICES; d++)
        NCCL(ncclAllReduce(all.buffer[d].p, all.buffer[d].p, 1000, ncclFloat32, ncclSum,
                           all.comm[d], all.stream[d]));
    NCCL(GROUP_END());
    check_all(11, 1000);
    for (int d = 0; d < DEVICES; d++) {
        elements_fill(all.buffer[d].p, f32, 12, d, 1000);
        number[d] = d;
        MUST(pthread_create(&thread[d], NULL, one_device, &number[d]) == 0);
    }
    for (int d = 0; d < DEVICES; d++)
        pthread_join(thread[d], NULL);
    check_all(12, 1000);
    for (int d = 0; d < DEVICES; d++)
        NCCL(ncclCommDestroy(all.comm[d]));
}

START_TEST(test_all_devices)
{
    run_ranks(1, (struct setting){.no_comm = true, .seed = (unsigned)_i}, all_devices, NULL);
}
END_TEST

/* A buffer that is none is an error of the context, as a kernel's bad access is. */
static void bad_address(struct rank *r)
{
    struct buffer b = buffer_new(4096);
    ncclResult_t result =
        ncclAllReduce(b.p, b.p, 1 << 20, ncclFloat32, ncclSum, r->comm, r->stream);

    /* work that runs when it is put fails in the call itself */
    MUST(result == ncclSuccess || result == ncclUnhandledCudaError);
    MUST(cuStreamSynchronize(r->stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    _exit(EXIT_SUCCESS);
}

START_TEST(test_bad_address)
{
    run_ranks(1, (struct setting){.seed = (unsigned)_i}, bad_address, NULL);
}
END_TEST

/* ncclX is a weak name of pncclX. */
START_TEST(test_twins)
{
    static const char *const names[] = {
        "AllGather",
        "AllReduce",
        "AlltoAll",
        "Bcast",
        "Broadcast",
        "CommAbort",
        "CommCount",
        "CommCuDevice",
        "CommDeregister",
        "CommDestroy",
        "CommFinalize",
        "CommGetAsyncError",
        "CommInitAll",
        "CommInitRank",
        "CommInitRankConfig",
        "CommInitRankScalable",
        "CommRegister",
        "CommRevoke",
        "CommShrink",
        "CommSplit",
        "CommUserRank",
        "CommWindowDeregister",
        "CommWindowRegister",
        "Gather",
        "GetErrorString",
        "GetLastError",
        "GetUniqueId",
        "GetVersion",
        "GroupEnd",
        "GroupStart",
        "MemAlloc",
        "MemFree",
        "Recv",
        "RedOpCreatePreMulSum",
        "RedOpDestroy",
        "Reduce",
        "ReduceScatter",
        "Scatter",
        "Send",
    };
    void *lib = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);

    ck_assert_ptr_nonnull(lib);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char name[64], twin[64];

        snprintf(name, sizeof name, "nccl%s", names[k]);
        snprintf(twin, sizeof twin, "pnccl%s", names[k]);
        ck_assert_msg(dlsym(lib, name) != NULL, "no %s", name);
        ck_assert_msg(dlsym(lib, name) == dlsym(lib, twin), "%s is not %s", name, twin);
    }
    ck_assert_str_ne(ncclGetErrorString(ncclRemoteError), ncclGetErrorString(ncclSuccess));
}
END_TEST

/* Rank numbers that don't fit: nobody gets a communicator. */
static void wrong_world(struct rank *r)
{
    ncclComm_t comm = NULL;

    MUST(ncclCommInitRank(&comm, r->rank == 0 ? 2 : 3, r->id, r->rank) != ncclSuccess);
    MUST(comm == NULL);
}

START_TEST(test_wrong_world)
{
    run_ranks(2, (struct setting){.no_comm = true}, wrong_world, NULL);
}
END_TEST

Suite *suite_comm(void)
{
    Suite *suite = suite_create("comm");
    TCase *tc = tcase_create("comm");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_arguments);
    tcase_add_loop_test(tc, test_device_scalar, 0, 3);
    tcase_add_loop_test(tc, test_splits, 0, 2);
    tcase_add_test(tc, test_not_blocking);
    tcase_add_loop_test(tc, test_one_dies, 0, 2);
    tcase_add_test(tc, test_aborts);
    tcase_add_loop_test(tc, test_mismatch, 0, 4);
    tcase_add_loop_test(tc, test_all_devices, 0, 2);
    tcase_add_loop_test(tc, test_bad_address, 0, 2);
    tcase_add_test(tc, test_twins);
    tcase_add_test(tc, test_wrong_world);
    suite_add_tcase(suite, tc);
    return suite;
}
