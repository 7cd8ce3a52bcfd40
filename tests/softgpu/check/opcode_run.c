/* SPDX-License-Identifier: BSD-3-Clause
 * Runs the module of one mnemonic on fresh random operands and special values and compares every
 * lane of every variant with what the family's function expects. Owns nothing between calls. */
#include "opcode_ptx.h"
#include "random.h"
#include "tests/softgpu/engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_LANES = 1024, EVERY = 65536 };

struct job {
    const struct family *family;
    struct insn in;
    struct shape shape;
    struct random random;
    uint64_t immediate;
    size_t lanes;
    uint64_t (*source)[OP_SOURCES]; /* what the references see */
    bool *guard;
    struct sg_arena *arena;
    struct sg_module *module;
    uint64_t *in_memory, *out_memory;
    void *scratch;
};

uint64_t opcode_immediate(const struct shape *shape, uint64_t seed)
{
    struct random r = {seed ^ 0x1db37};
    const char *type;

    if (!shape->immediate)
        return 0;
    type = shape->source[shape->nsources - 1];
    return low_bits(shape->kind[shape->nsources - 1] == KIND_COUNT ? random_count(&r)
                                                                   : random_value(&r, type, 0),
                    type_bits(type));
}

/* Operands so small that every value is tried. */
static bool every_value(const struct job *job)
{
    return job->shape.nsources == 1 && !job->family->text &&
           type_bits(job->shape.source[0]) <= 16 && type_bits(job->shape.source[0]) > 1;
}

/* All special values, all pairs of them, or a good part of the triples. */
static size_t special_lanes(const struct job *job)
{
    size_t n = 1;

    for (int k = 0; k < job->shape.nsources; k++)
        n *= job->shape.kind[k] == KIND_TYPE ? special_count(job->shape.source[k]) : 1;
    n = n < 2048 ? n : job->shape.nsources == 2 ? 2048 : 1024;
    if (job->family->text)
        n = n < 256 ? n : 256; /* moved or put together, not computed with */
    return (n + BLOCK_THREADS - 1) / BLOCK_THREADS * BLOCK_THREADS;
}

static uint64_t pick(struct job *job, size_t lane, int k, const uint64_t *others)
{
    const char *type = job->shape.source[k];
    size_t special = lane - RANDOM_LANES, count;

    if (every_value(job))
        return lane;
    if (job->shape.kind[k] == KIND_SEGMENT) /* shfl in parts of 32, 16, ... lanes */
        return (32 - (32u >> random_below(&job->random, 6))) << 8 |
               (random_below(&job->random, 2) ? 31 : random_below(&job->random, 32));
    if (job->shape.kind[k] == KIND_COMMON)
        return lane / OP_WARP % 2 ? lane / OP_WARP : random_below(&job->random, 4);
    if (lane < RANDOM_LANES) {
        if (job->shape.kind[k] == KIND_COUNT)
            return random_count(&job->random);
        return random_value(&job->random, type, k ? others[0] : random_bits(&job->random));
    }
    count = special_count(type);
    if (job->shape.nsources == 1)
        return special_value(type, special % count);
    if (job->shape.nsources == 2)
        return special_value(type, k ? special / special_count(job->shape.source[0]) % count
                                     : special % count);
    if (random_below(&job->random, 4) == 0)
        return random_value(&job->random, type, others[0]);
    return special_value(type, random_below(&job->random, (uint32_t)count));
}

static void fill(struct job *job)
{
    for (size_t lane = 0; lane < job->lanes; lane++) {
        uint64_t *slot = job->in_memory + lane * IN_SLOTS;
        uint64_t *source = job->source[lane];

        for (int k = 0; k < job->shape.nsources; k++) {
            int bits = job->shape.source_bits[k];

            source[k] = low_bits(pick(job, lane, k, source), bits);
            slot[k] = source[k];
            if (bits > 1 && bits < 64) /* must not matter */
                slot[k] |= random_bits(&job->random) << bits;
        }
        job->guard[lane] = random_bits(&job->random) & 1;
        slot[SLOT_GUARD] = job->guard[lane];
        slot[SLOT_ALL] = 0xffffffff;
    }
    for (size_t lane = 0; lane < job->lanes; lane++) {
        size_t first = lane / OP_WARP * OP_WARP;
        uint32_t mask = 0;

        for (int i = 0; i < OP_WARP; i++)
            mask |= (uint32_t)job->guard[first + (size_t)i] << i;
        job->in_memory[lane * IN_SLOTS + SLOT_MASK] = mask;
    }
}

static bool judge(const struct num_format *f, const struct want *w, uint64_t got)
{
    struct num x;
    long double v;

    if (w->rule == RULE_ANY)
        return true;
    if (w->rule == RULE_BITS)
        return got == w->bits;
    if (!f)
        return false;
    x = num_decode(f, got);
    if (w->rule == RULE_NAN)
        return x.kind == NUM_NAN;
    v = num_value(x);
    if (x.kind == NUM_NAN)
        return false;
    if (isinf(w->value) || isinf(v))
        return v == w->value;
    return fabsl(v - w->value) <= w->tolerance;
}

static bool judge_dest(const struct job *job, int j, const struct want *w, uint64_t got)
{
    const struct num_format *f = job->shape.dest_format[j];
    int half = job->shape.dest_bits[j] / 2;

    if (!(job->family->flags & OP_HALVES) || !job->shape.dest_pair[j])
        return judge(f, &w[j], low_bits(got, job->shape.dest_bits[j]));
    return judge(f, &w[0], low_bits(got, half)) && judge(f, &w[1], low_bits(got >> half, half));
}

/* Expected results of one lane. */
static void expect(const struct job *job, const uint64_t *source, struct want *w)
{
    const struct shape *shape = &job->shape;
    uint64_t half_source[OP_SOURCES];
    int halves = 1;

    memset(w, 0, OP_DESTS * sizeof *w);
    if (job->family->flags & OP_HALVES)
        for (int k = 0; k < shape->nsources; k++)
            if (shape->source_pair[k])
                halves = 2;
    if (halves == 1) {
        job->family->ref(&job->in, source, w);
        return;
    }
    for (int h = 0; h < 2; h++) {
        for (int k = 0; k < shape->nsources; k++) {
            int bits = shape->source_bits[k] / 2;

            half_source[k] =
                shape->source_pair[k] ? low_bits(source[k] >> h * bits, bits) : source[k];
        }
        job->family->ref(&job->in, half_source, &w[h]);
    }
}

static uint64_t idle_bits(const struct job *job, int j, const uint64_t *source)
{
    char idle = job->family->idle ? job->family->idle[j] : '-';

    if (idle != '-')
        return source[strchr("abcxy", idle) - "abcxy"];
    if (strcmp(job->shape.dest[j], "pred") == 0)
        return 0;
    return low_bits(0x5a5a5a5a5a5a5a5a, job->shape.dest_bits[j]);
}

static char *complain(const struct job *job, enum variant v, size_t lane, int j,
                      const uint64_t *source, const struct want *w, uint64_t got)
{
    char *message = malloc(640);
    int n;

    if (!message)
        abort();
    n = snprintf(message, 640, "%s: %s, lane %zu, destination %d: sources", job->in.name,
                 variant_names[v], lane, j);
    for (int k = 0; k < job->shape.nsources; k++)
        n += snprintf(message + n, 640 - (size_t)n, " 0x%llx", (unsigned long long)source[k]);
    for (int i = 0; i < (job->family->flags & OP_HALVES ? 2 : 1); i++) {
        const struct want *x = &w[i ? 1 : job->family->flags & OP_HALVES ? 0 : j];

        if (x->rule == RULE_NEAR)
            n += snprintf(message + n, 640 - (size_t)n, ", expected %.12Lg +- %.3Lg", x->value,
                          x->tolerance);
        else if (x->rule == RULE_BITS)
            n += snprintf(message + n, 640 - (size_t)n, ", expected 0x%llx",
                          (unsigned long long)x->bits);
        else
            n += snprintf(message + n, 640 - (size_t)n, ", expected %s",
                          x->rule == RULE_NAN ? "a NaN" : "any");
    }
    snprintf(message + n, 640 - (size_t)n, ", got 0x%llx", (unsigned long long)got);
    return message;
}

static char *compare_warp(const struct job *job, enum variant v, size_t first)
{
    uint64_t source[OP_WARP][OP_SOURCES];
    struct want want[OP_WARP][OP_DESTS];
    uint32_t mask = 0;

    for (int i = 0; i < OP_WARP; i++) {
        memcpy(source[i], job->source[first + (size_t)i], sizeof source[i]);
        if (v == VARIANT_IMMEDIATE)
            source[i][job->shape.nsources - 1] = job->immediate;
        if (v != VARIANT_GUARDED || job->guard[first + (size_t)i])
            mask |= 1u << i;
    }
    memset(want, 0, sizeof want);
    if (job->family->warp)
        job->family->warp(&job->in, source, want, mask);
    for (int i = 0; i < OP_WARP; i++) {
        size_t lane = first + (size_t)i;
        const uint64_t *out = job->out_memory + lane * OUT_SLOTS + v * OP_DESTS;
        bool runs = mask >> i & 1;

        if (runs && !job->family->warp)
            expect(job, source[i], want[i]);
        for (int j = 0; j < job->shape.ndests; j++) {
            uint64_t got = low_bits(out[j], job->shape.dest_bits[j]);

            if (runs ? !judge_dest(job, j, want[i], got) : got != idle_bits(job, j, source[i])) {
                if (!runs) {
                    want[i][j] =
                        (struct want){.rule = RULE_BITS, .bits = idle_bits(job, j, source[i])};
                    want[i][0] = want[i][1] = want[i][j];
                }
                return complain(job, v, lane, j, source[i], want[i], got);
            }
        }
    }
    return NULL;
}

static char *compare(const struct job *job)
{
    for (int v = 0; v < VARIANTS; v++) {
        if ((v == VARIANT_ALIAS && job->shape.alias < 0) ||
            (v == VARIANT_IMMEDIATE && !job->shape.immediate) ||
            (v == VARIANT_GUARDED && job->family->flags & OP_NO_GUARD))
            continue;
        for (size_t first = 0; first < job->lanes; first += OP_WARP) {
            char *message = compare_warp(job, (enum variant)v, first);

            if (message)
                return message;
        }
    }
    return NULL;
}

static char *launch(struct job *job)
{
    struct sg_space space = {.n = 1, .arena = {job->arena}};
    struct opcode_params params = {
        (uintptr_t)job->in_memory, (uintptr_t)job->out_memory, (uintptr_t)job->scratch, 0, {0}};
    struct sg_launch launch = {
        .kernel = sg_module_kernel(job->module, "k"),
        .grid = {(uint32_t)(job->lanes / BLOCK_THREADS), 1, 1},
        .block = {BLOCK_THREADS, 1, 1},
        .params = &params,
        .space = &space,
        .workers = 1,
    };
    struct sg_fault fault = {.kind = SG_OK};
    char *message;

    for (int i = 0; i < FIXED_BYTES; i++)
        params.fixed[i] = fixed_byte(i);
    if (!launch.kernel)
        return strdup("the module has no kernel k");
    if (sg_launch_run(&launch, NULL, &fault) == SG_OK)
        return NULL;
    message = malloc(sizeof fault.message + 128);
    if (!message)
        abort();
    sprintf(message, "%s: fault: %s", job->in.name, fault.message);
    return message;
}

char *opcode_run(const struct family *family, const char *mnemonic, uint64_t seed)
{
    struct job job = {.family = family, .random = {seed}};
    char *ptx, *message = NULL;
    size_t length;

    for (const char *at = mnemonic; *at; at++)
        job.random.state = job.random.state * 31 + (unsigned char)*at;
    seed = job.random.state;
    insn_parse(&job.in, mnemonic);
    shape_of(&job.shape, family, &job.in);
    job.immediate = opcode_immediate(&job.shape, seed);
    job.lanes = every_value(&job) ? EVERY : RANDOM_LANES + special_lanes(&job);
    ptx = opcode_ptx(family, &job.in, seed);
    length = strlen(ptx);
    job.arena = sg_arena_new("opcode", 64 << 20);
    job.source = calloc(job.lanes, sizeof *job.source);
    job.guard = calloc(job.lanes, sizeof *job.guard);
    job.in_memory = sg_arena_alloc(job.arena, job.lanes * IN_SLOTS * 8);
    job.out_memory = sg_arena_alloc(job.arena, job.lanes * OUT_SLOTS * 8);
    job.scratch = sg_arena_alloc(job.arena, job.lanes * SCRATCH_BYTES);
    if (!job.arena || !job.source || !job.guard || !job.in_memory || !job.out_memory ||
        !job.scratch)
        abort();
    fill(&job);
    if (!sg_mnemonic_known(mnemonic)) {
        message = malloc(160);
        if (!message)
            abort();
        snprintf(message, 160, "%s: the engine does not know it", mnemonic);
    }
    if (!message)
        job.module =
            sg_module_load((const char *const *)&ptx, &length, 1, mnemonic, job.arena, &message);
    if (!message)
        message = launch(&job);
    if (!message)
        message = compare(&job);
    if (job.module)
        sg_module_unload(job.module);
    free(job.source);
    free(job.guard);
    sg_arena_delete(job.arena);
    free(ptx);
    return message;
}
