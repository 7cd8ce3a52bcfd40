/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks as processes, buffers, and the judge of reductions. */
#include "tests/softgpu/check/nccl_ranks.h"

#include "tests/softgpu/check/num.h"
#include "tests/softgpu/check/random.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARD = 64, POISON = 0xa5 };

void must(bool ok, const char *what, const char *file, int line)
{
    if (ok)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    _exit(EXIT_FAILURE);
}

void nccl_must(ncclResult_t got, ncclResult_t want, const char *what, const char *file, int line)
{
    if (got == want)
        return;
    fprintf(stderr, "%s:%d: %s: %d (%s), not %d\n", file, line, what, got, ncclGetErrorString(got),
            want);
    _exit(EXIT_FAILURE);
}

void cu_must(CUresult got, const char *what, const char *file, int line)
{
    if (got == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s: CUDA error %d\n", file, line, what, got);
    _exit(EXIT_FAILURE);
}

static void one_rank(struct rank *r, const struct setting *s, void (*fn)(struct rank *r))
{
    char number[16];
    CUcontext context;

    snprintf(number, sizeof number, "%u", s->seed);
    setenv("SOFTGPU_SEED", number, 1);
    if (s->transport)
        setenv("SOFTGPU_NCCL_TRANSPORT", s->transport, 1);
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
    CU(cuStreamCreate(&r->stream, CU_STREAM_NON_BLOCKING));
    if (!s->no_comm)
        NCCL(ncclCommInitRank(&r->comm, r->nranks, r->id, r->rank));
    fn(r);
    if (!s->no_comm) {
        CU(cuCtxSynchronize());
        NCCL(ncclCommDestroy(r->comm));
    }
    _exit(EXIT_SUCCESS);
}

uint64_t *run_ranks(int nranks, struct setting setting, void (*fn)(struct rank *r), const void *arg)
{
    struct rank r = {.nranks = nranks, .arg = arg};
    pid_t pid[MAX_RANKS];
    bool ok = true;

    r.shared =
        mmap(NULL, SHARED_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(r.shared != MAP_FAILED);
    ck_assert_int_eq(ncclGetUniqueId(&r.id), ncclSuccess);
    for (int k = 0; k < nranks; k++) {
        pid[k] = fork();
        ck_assert_int_ge(pid[k], 0);
        if (pid[k] == 0) {
            r.rank = k;
            one_rank(&r, &setting, fn);
        }
    }
    for (int k = 0; k < nranks; k++) {
        int status;

        ck_assert_int_eq(waitpid(pid[k], &status, 0), pid[k]);
        if (setting.may_die || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
            continue;
        /* the others may wait for it for ever */
        for (int m = k + 1; m < nranks && ok; m++)
            kill(pid[m], SIGKILL);
        ok = false;
    }
    ck_assert_msg(ok, "a rank of %d failed", nranks);
    return r.shared;
}

struct buffer buffer_new(size_t bytes)
{
    CUdeviceptr p;
    struct buffer b = {.bytes = bytes};

    CU(cuMemAlloc(&p, bytes + GUARD));
    b.p = (char *)(uintptr_t)p;
    buffer_poison(b);
    return b;
}

void buffer_poison(struct buffer b)
{
    memset(b.p, POISON, b.bytes + GUARD);
}

void buffer_check(struct buffer b)
{
    for (size_t k = 0; k < GUARD; k++)
        MUST((unsigned char)b.p[b.bytes + k] == POISON);
}

void buffer_free(struct buffer b)
{
    CU(cuMemFree((CUdeviceptr)(uintptr_t)b.p));
}

const struct element_type element_types[12] = {
    {ncclInt8, "int", 1},      {ncclUint8, "uint", 1},      {ncclInt32, "int", 4},
    {ncclUint32, "uint", 4},   {ncclInt64, "int", 8},       {ncclUint64, "uint", 8},
    {ncclFloat16, "f16", 2},   {ncclFloat32, "f32", 4},     {ncclFloat64, "f64", 8},
    {ncclBfloat16, "bf16", 2}, {ncclFloat8e4m3, "e4m3", 1}, {ncclFloat8e5m2, "e5m2", 1},
};

static const struct num_format *format_of(const struct element_type *t)
{
    static const struct {
        const char *name;
        const struct num_format *format;
    } all[] = {{"f16", &num_f16}, {"bf16", &num_bf16}, {"f32", &num_f32},
               {"f64", &num_f64}, {"e4m3", &num_e4m3}, {"e5m2", &num_e5m2}};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k].name, t->name) == 0)
            return all[k].format;
    return NULL;
}

uint64_t element_of(const struct element_type *t, int numerator, int exponent)
{
    const struct num_format *f = format_of(t);
    struct num n = num_from_int(numerator);

    if (!f)
        return (uint64_t)(int64_t)numerator;
    n.exp += exponent;
    return num_encode(f, n, NUM_RN, NULL);
}

uint64_t element(const struct element_type *t, uint64_t seed, int rank, size_t i)
{
    struct random r = {seed * 1000003 + (uint64_t)rank * 7919 + i};
    uint64_t bits;

    random_bits(&r);
    bits = random_bits(&r);
    /* floating point: up to 2 in size, with all the bits that the type has */
    if (format_of(t))
        return element_of(t, (int)(bits % 8191) - 4095, -11);
    return t->bytes == 8 ? bits : bits & (((uint64_t)1 << 8 * t->bytes) - 1);
}

void elements_fill(void *p, const struct element_type *t, uint64_t seed, int rank, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = element(t, seed, rank, i);

        memcpy((char *)p + i * t->bytes, &bits, t->bytes);
    }
}

uint64_t element_at(const void *p, const struct element_type *t, size_t i)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)p + i * t->bytes, t->bytes);
    return bits;
}

static long double value(const struct element_type *t, uint64_t bits)
{
    return num_value(num_decode(format_of(t), bits));
}

static int64_t extended(const struct element_type *t, uint64_t bits)
{
    int shift = 64 - 8 * (int)t->bytes;

    return (int64_t)(bits << shift) >> shift;
}

static bool integer_right(const struct element_type *t, uint64_t got, uint64_t seed, int nranks,
                          size_t i, int op, uint64_t factor)
{
    uint64_t mask = t->bytes == 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * t->bytes) - 1;
    bool is_signed = strcmp(t->name, "int") == 0;
    uint64_t want = op == ncclProd ? 1 : 0;

    for (int k = 0; k < nranks; k++) {
        uint64_t e = element(t, seed, k, i);
        bool less = is_signed ? extended(t, e) < extended(t, want) : e < want;

        if (op == ncclSum || op == ncclAvg)
            want = (want + e) & mask;
        else if (op == ncclNumOps)
            want = (want + e * factor) & mask;
        else if (op == ncclProd)
            want = want * e & mask;
        else if (k == 0 || (op == ncclMin ? less : !less))
            want = e;
    }
    if (op == ncclAvg)
        want = is_signed ? (uint64_t)(extended(t, want) / nranks) & mask : want / (uint64_t)nranks;
    return got == want;
}

bool element_right(const struct element_type *t, uint64_t got, uint64_t seed, int nranks, size_t i,
                   int op, uint64_t factor)
{
    const struct num_format *f = format_of(t);
    long double sum = 0, size = 0, product = 1, low = INFINITY, high = -INFINITY, want, step,
                scale = 1;

    if (!f)
        return integer_right(t, got, seed, nranks, i, op, factor);
    if (op == ncclNumOps)
        scale = value(t, factor);
    if (op == ncclAvg)
        scale = 1.0L / nranks;
    for (int k = 0; k < nranks; k++) {
        long double v = value(t, element(t, seed, k, i));

        sum += v * scale;
        size += fabsl(v * scale);
        product *= v;
        low = fminl(low, v);
        high = fmaxl(high, v);
    }
    /* each of the steps rounds once, to half a unit of what it has by then */
    step = ldexpl(1, -f->man_bits - 1);
    want = op == ncclProd ? product : op == ncclMin ? low : op == ncclMax ? high : sum;
    if (op == ncclMin || op == ncclMax)
        return value(t, got) == want;
    if (op == ncclProd)
        size = fabsl(product);
    return fabsl(value(t, got) - want) <=
           (2 * nranks + 1) * step * size + nranks * num_value(num_decode(f, 1));
}
