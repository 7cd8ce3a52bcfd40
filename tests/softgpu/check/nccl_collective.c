/* SPDX-License-Identifier: BSD-3-Clause
 * Every collective, operation and type between processes, over shared memory and over TCP: against
 * a reference on the host, out of place and in place, with the same bits on all ranks. */
#include "tests/softgpu/check/nccl_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const size_t counts[] = {1, 2, 7, 64, 1000, 40009};
enum { COUNTS = sizeof counts / sizeof *counts, OPS = ncclNumOps + 1 };

struct plan {
    uint64_t seed;
};

static void wait_for(struct rank *r)
{
    CU(cuStreamSynchronize(r->stream));
}

static uint64_t hash(uint64_t h, const void *p, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        h = (h ^ ((const unsigned char *)p)[k]) * 0x100000001b3;
    return h;
}

static void check_reduced(struct rank *r, const struct element_type *t, const char *p, size_t first,
                          size_t n, uint64_t seed, int op, uint64_t factor)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t got = element_at(p, t, i);

        if (element_right(t, got, seed, r->nranks, first + i, op, factor))
            continue;
        fprintf(stderr, "rank %d of %d, %s of %u bytes, op %d, element %zu: got %llx\n", r->rank,
                r->nranks, t->name, t->bytes, op, first + i, (unsigned long long)got);
        MUST(!"the right element");
    }
}

static ncclRedOp_t make_op(struct rank *r, const struct element_type *t, int op, uint64_t *factor_p)
{
    ncclRedOp_t made = (ncclRedOp_t)op;

    *factor_p = element_of(t, 3, -2);
    if (op == ncclNumOps)
        NCCL(ncclRedOpCreatePreMulSum(&made, factor_p, t->type, ncclScalarHostImmediate, r->comm));
    return made;
}

static void reductions(struct rank *r, const struct element_type *t, int op, size_t n,
                       uint64_t seed)
{
    size_t bytes = n * t->bytes;
    struct buffer in = buffer_new(bytes * (size_t)r->nranks),
                  out = buffer_new(bytes * (size_t)r->nranks);
    uint64_t factor;
    ncclRedOp_t made = make_op(r, t, op, &factor);
    int root = (int)(n % (size_t)r->nranks);

    elements_fill(in.p, t, seed, r->rank, n * (size_t)r->nranks);
    NCCL(ncclAllReduce(in.p, out.p, n, t->type, made, r->comm, r->stream));
    wait_for(r);
    check_reduced(r, t, out.p, 0, n, seed, op, factor);
    r->shared[r->rank] = hash(r->shared[r->rank], out.p, bytes);
    buffer_check(out);
    for (size_t i = 0; i < n * (size_t)r->nranks; i++)
        MUST(element_at(in.p, t, i) == element(t, seed, r->rank, i));

    buffer_poison(out);
    NCCL(ncclReduceScatter(in.p, out.p, n, t->type, made, r->comm, r->stream));
    wait_for(r);
    check_reduced(r, t, out.p, n * (size_t)r->rank, n, seed, op, factor);

    buffer_poison(out);
    NCCL(ncclReduce(in.p, out.p, n, t->type, made, root, r->comm, r->stream));
    wait_for(r);
    if (r->rank == root)
        check_reduced(r, t, out.p, 0, n, seed, op, factor);
    else
        MUST((unsigned char)out.p[0] == 0xa5 && (unsigned char)out.p[bytes - 1] == 0xa5);

    /* in place */
    elements_fill(out.p, t, seed, r->rank, n * (size_t)r->nranks);
    NCCL(ncclReduceScatter(out.p, out.p + (size_t)r->rank * bytes, n, t->type, made, r->comm,
                           r->stream));
    wait_for(r);
    check_reduced(r, t, out.p + (size_t)r->rank * bytes, n * (size_t)r->rank, n, seed, op, factor);
    elements_fill(out.p, t, seed, r->rank, n);
    NCCL(ncclAllReduce(out.p, out.p, n, t->type, made, r->comm, r->stream));
    wait_for(r);
    check_reduced(r, t, out.p, 0, n, seed, op, factor);
    buffer_check(out);
    if (op == ncclNumOps)
        NCCL(ncclRedOpDestroy(made, r->comm));
    buffer_free(in);
    buffer_free(out);
}

/* In short runs one combination in 17, others each time; all ranks draw the same. */
static bool drawn(uint64_t seed)
{
    const char *length = getenv("TEST_LENGTH");

    return length == NULL || strcmp(length, "fast") != 0 || seed % 17 == 0;
}

static void all_reductions(struct rank *r)
{
    const struct plan *plan = r->arg;
    uint64_t seed = plan->seed;

    for (int op = 0; op < OPS; op++)
        for (size_t k = 0; k < 12; k++)
            for (size_t c = 0; c < COUNTS - 1; c++)
                if (drawn(++seed))
                    reductions(r, &element_types[k], op, counts[c], seed);
    /* more than the rings and sockets hold */
    reductions(r, &element_types[7], ncclSum, counts[COUNTS - 1], ++seed);
    reductions(r, &element_types[9], ncclAvg, counts[COUNTS - 1], ++seed);
}

static void check_moved(struct rank *r, const struct element_type *t, const char *p, int from,
                        size_t first, size_t n, uint64_t seed)
{
    (void)r;
    for (size_t i = 0; i < n; i++)
        MUST(element_at(p, t, i) == element(t, seed, from, first + i));
}

static void moves(struct rank *r, const struct element_type *t, size_t n, uint64_t seed)
{
    size_t bytes = n * t->bytes, all = (size_t)r->nranks, own = (size_t)r->rank;
    struct buffer in = buffer_new(bytes * all), out = buffer_new(bytes * all);
    int root = (int)(n % all);

    elements_fill(in.p, t, seed, r->rank, n * all);
    NCCL(ncclAllGather(in.p, out.p, n, t->type, r->comm, r->stream));
    wait_for(r);
    for (int k = 0; k < r->nranks; k++)
        check_moved(r, t, out.p + (size_t)k * bytes, k, 0, n, seed);
    buffer_check(out);

    buffer_poison(out);
    NCCL(ncclBroadcast(in.p, out.p, n, t->type, root, r->comm, r->stream));
    wait_for(r);
    check_moved(r, t, out.p, root, 0, n, seed);
    MUST(all == 1 || (unsigned char)out.p[bytes] == 0xa5);

    buffer_poison(out);
    NCCL(ncclAlltoAll(in.p, out.p, n, t->type, r->comm, r->stream));
    wait_for(r);
    for (int k = 0; k < r->nranks; k++)
        check_moved(r, t, out.p + (size_t)k * bytes, k, n * own, n, seed);

    buffer_poison(out);
    NCCL(ncclGather(in.p, out.p, n, t->type, root, r->comm, r->stream));
    wait_for(r);
    for (int k = 0; k < r->nranks && r->rank == root; k++)
        check_moved(r, t, out.p + (size_t)k * bytes, k, 0, n, seed);
    MUST(r->rank == root || (unsigned char)out.p[0] == 0xa5);

    buffer_poison(out);
    NCCL(ncclScatter(in.p, out.p, n, t->type, root, r->comm, r->stream));
    wait_for(r);
    check_moved(r, t, out.p, root, n * own, n, seed);

    /* in place */
    elements_fill(out.p + own * bytes, t, seed, r->rank, n);
    NCCL(ncclAllGather(out.p + own * bytes, out.p, n, t->type, r->comm, r->stream));
    wait_for(r);
    for (int k = 0; k < r->nranks; k++)
        check_moved(r, t, out.p + (size_t)k * bytes, k, 0, n, seed);
    elements_fill(out.p, t, seed, r->rank, n);
    NCCL(ncclBcast(out.p, n, t->type, root, r->comm, r->stream));
    wait_for(r);
    check_moved(r, t, out.p, root, 0, n, seed);
    buffer_check(out);
    buffer_free(in);
    buffer_free(out);
}

static void all_moves(struct rank *r)
{
    const struct plan *plan = r->arg;
    uint64_t seed = plan->seed;

    for (size_t k = 0; k < 12; k += 3)
        for (size_t c = 0; c < COUNTS; c++)
            if (drawn(++seed))
                moves(r, &element_types[k], counts[c], seed);
}

/* Each to the next but one and to itself, all in one group, in an order that would lock up one by
 * one; several messages between the same two stay in order. */
static void messages(struct rank *r)
{
    const struct element_type *t = &element_types[7];
    const struct plan *plan = r->arg;
    int to = (r->rank + 2) % r->nranks, from = (r->rank + r->nranks - 2) % r->nranks;
    enum { N = 50000 };
    struct buffer in = buffer_new(3 * N * 4), out = buffer_new(3 * N * 4);

    elements_fill(in.p, t, plan->seed, r->rank, 3 * N);
    GROUP_START();
    NCCL(ncclSend(in.p, N, ncclFloat32, to, r->comm, r->stream));
    NCCL(ncclSend(in.p + 4 * N, N, ncclFloat32, to, r->comm, r->stream));
    NCCL(ncclSend(in.p + 8 * N, N, ncclFloat32, r->rank, r->comm, r->stream));
    NCCL(ncclRecv(out.p, N, ncclFloat32, from, r->comm, r->stream));
    NCCL(ncclRecv(out.p + 4 * N, N, ncclFloat32, from, r->comm, r->stream));
    NCCL(ncclRecv(out.p + 8 * N, N, ncclFloat32, r->rank, r->comm, r->stream));
    NCCL(GROUP_END());
    wait_for(r);
    if (to == r->rank) {
        /* all three are its own then */
        check_moved(r, t, out.p, r->rank, 0, 3 * N, plan->seed);
    } else {
        check_moved(r, t, out.p, from, 0, 2 * N, plan->seed);
        check_moved(r, t, out.p + 8 * N, r->rank, 2 * N, N, plan->seed);
    }
    /* a collective and messages in one group */
    GROUP_START();
    NCCL(ncclAllReduce(in.p, out.p, N, ncclFloat32, ncclMax, r->comm, r->stream));
    NCCL(ncclSend(in.p, 7, ncclFloat32, to, r->comm, r->stream));
    NCCL(ncclRecv(out.p + 4 * N, 7, ncclFloat32, from, r->comm, r->stream));
    NCCL(GROUP_END());
    wait_for(r);
    check_reduced(r, t, out.p, 0, N, plan->seed, ncclMax, 0);
    check_moved(r, t, out.p + 4 * N, from, 0, 7, plan->seed);
    buffer_check(out);
}

static const struct {
    int nranks;
    struct setting setting;
} worlds[] = {{1, {0}}, {2, {0}}, {3, {.transport = "tcp"}}, {4, {0}}, {5, {.seed = 3}}};
enum { WORLDS = sizeof worlds / sizeof *worlds };

static struct plan make_plan(void)
{
    struct plan plan = {.seed = (uint64_t)time(NULL) * 100000};

    printf("seed of the data: %llu\n", (unsigned long long)plan.seed);
    fflush(stdout);
    return plan;
}

START_TEST(test_reductions)
{
    struct plan plan = make_plan();
    uint64_t *shared = run_ranks(worlds[_i].nranks, worlds[_i].setting, all_reductions, &plan);

    for (int k = 1; k < worlds[_i].nranks; k++)
        ck_assert_msg(shared[k] == shared[0], "ranks 0 and %d have other bits", k);
}
END_TEST

START_TEST(test_moves)
{
    struct plan plan = make_plan();

    run_ranks(worlds[_i].nranks, worlds[_i].setting, all_moves, &plan);
}
END_TEST

START_TEST(test_messages)
{
    struct plan plan = make_plan();

    run_ranks(worlds[_i].nranks, worlds[_i].setting, messages, &plan);
}
END_TEST

Suite *suite_collective(void)
{
    Suite *suite = suite_create("collective");
    TCase *tc = tcase_create("collective");

    tcase_set_timeout(tc, 200);
    tcase_add_loop_test(tc, test_reductions, 0, WORLDS);
    tcase_add_loop_test(tc, test_moves, 0, WORLDS);
    tcase_add_loop_test(tc, test_messages, 0, WORLDS);
    suite_add_tcase(suite, tc);
    return suite;
}
