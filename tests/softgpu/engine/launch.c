/* SPDX-License-Identifier: BSD-3-Clause
 * A launch: the rows that hold constants, parameters and dimensions, and blocks handed out to
 * workers. The run owns it all for as long as it lasts. */
#include "lanes.h"
#include "resident.h"
#include "race.h"
#include "sched.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 1024, PATIENCE = 64, MAX_RESIDENT = 4096 };

/* Other CPU threads are woken for work that takes longer than this, judged by the first blocks. */
enum { PROBE_BLOCKS = 8, WORTH_NS = 100000 };

static uint64_t fill_value(const struct run *run, const struct fill *f)
{
    const struct sg_launch *launch = run->launch;
    uint64_t v = 0;

    switch (f->kind) {
    case FILL_CONST: return f->value;
    case FILL_PARAM_ADDRESS: return (uint64_t)(uintptr_t)run->params + f->value;
    case FILL_NTID: return launch->block[f->value];
    case FILL_NCTAID: return launch->grid[f->value];
    case FILL_DYNAMIC_SHARED: return launch->dynamic_shared;
    case FILL_TOTAL_SHARED: return run->shared_bytes;
    case FILL_NWARPID: return run->nwarps;
    case FILL_NSMID: return launch->sms ? launch->sms : 1;
    case FILL_GRID: return run->serial;
    case FILL_GRID_BARRIER:
        v = launch->cooperative ? (uintptr_t)run->workspace : 0;
        return f->value ? v >> 32 : v & 0xffffffffu;
    case FILL_PARAM: break;
    }
    memcpy(&v, run->params + f->value, f->bytes);
    if (f->sign && f->bytes < 8 && v >> (8 * f->bytes - 1))
        v |= ~(uint64_t)0 << 8 * f->bytes;
    return v;
}

static void fill_rows(struct run *run)
{
    for (uint32_t k = 0; k < run->program->nfills; k++) {
        const struct fill *f = &run->program->fill[k];
        uint64_t v = fill_value(run, f);

        if (f->width == 8) {
            uint64_t *row = (uint64_t *)(void *)(run->rows + f->off);

            EACH_LANE row[l] = v;
        } else {
            uint32_t *row = (uint32_t *)(void *)(run->rows + f->off);

            EACH_LANE row[l] = (uint32_t)v;
        }
    }
}

/* Block number n of the launch's order: 0 keeps it, else a seeded permutation. */
static uint64_t permuted(const struct run *run, uint64_t n)
{
    uint64_t seed = run->launch->order_seed, count = run->nblocks, v = n;
    unsigned bits = 1;

    if (!seed)
        return n;
    while (bits < 63 && (uint64_t)1 << bits < count)
        bits++;
    /* steps that are bijective on `bits` bits, repeated until the value is in range */
    do {
        uint64_t ones = ((uint64_t)1 << bits) - 1;

        for (unsigned k = 0; k < 3; k++) {
            v = (v + (seed >> 16 * k)) & ones;
            v = v * (2 * (seed >> 8 * k & 0xffff) + 0x9e3779b1u * 2 + 1) & ones;
            v ^= v >> (bits / 2 + 1);
        }
    } while (v >= count);
    return v;
}

static void block_start(struct block *b, uint64_t number)
{
    const struct run *run = b->worker->run;
    const uint32_t *grid = run->launch->grid;
    uint32_t *row = (uint32_t *)(void *)b->rows, sms = run->launch->sms ? run->launch->sms : 1;

    b->linear = number;
    b->index[0] = (uint32_t)(number % grid[0]);
    b->index[1] = (uint32_t)(number / grid[0] % grid[1]);
    b->index[2] = (uint32_t)(number / grid[0] / grid[1]);
    EACH_LANE {
        row[BLOCK_CTAID_X * LANES + l] = b->index[0];
        row[BLOCK_CTAID_Y * LANES + l] = b->index[1];
        row[BLOCK_CTAID_Z * LANES + l] = b->index[2];
        row[BLOCK_SMID * LANES + l] = (uint32_t)(number % sms);
    }
    b->alive = b->nthreads;
    b->turns = 0;
    race_block_begins(b);
    memset(b->barrier, 0, sizeof b->barrier);
    memset(b->shared, 0xff, b->shared_bytes);
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct warp *w = &b->warp[k];
        uint32_t left = b->nthreads - k * LANES;

        w->alive = left >= LANES ? ALL_LANES : (1u << left) - 1;
        w->mask = w->blocked = w->syncing = w->carry = w->turn = 0;
        w->budget = SLICE;
        if (run->program->has_alloca)
            EACH_LANE w->stack[l] = run->program->local_bytes;
        w->ahead = false;
        w->whole = true;
        w->base[BASE_FRAME] = w->frames;
        w->pc = w->run = run->program->entry;
        memset(w->blocked_at, 0, sizeof w->blocked_at);
    }
    b->worker->counts.threads += b->nthreads;
}

/* Makes one more block resident. False: there are none left, or no memory. */
static bool block_add(struct worker *wk)
{
    struct run *run = wk->run;
    struct block *b = wk->spare;
    uint64_t n;

    if (run->stop)
        return false;
    if (!b) {
        b = block_new(wk);
        if (!b)
            return false;
        b->next = NULL;
        wk->spare = b;
    }
    n = run->next++;
    if (n >= run->nblocks)
        return false;
    block_start(b, permuted(run, n));
    wk->spare = b->next;
    b->next = wk->blocks;
    wk->blocks = b;
    wk->nresident++;
    return true;
}

/* Blocks run one after the other. One that takes many turns may be waiting for a later block, so
 * then another joins it; a cooperative launch has all of them resident from the start. */
static void worker_run(struct worker *wk)
{
    struct run *run = wk->run;
    unsigned idle = 0;

    if (run->launch->cooperative) {
        uint64_t share = (run->nblocks + run->nworkers - 1) / run->nworkers;

        while (wk->nresident < share && block_add(wk))
            ;
    }
    while (!run->stop) {
        if (!wk->blocks && (!wk->quota-- || !block_add(wk)))
            break;
        for (struct block **link = &wk->blocks; *link && !run->stop;) {
            struct block *b = *link;

            if (block_run(b)) {
                link = &b->next;
                idle++;
                continue;
            }
            *link = b->next;
            b->next = wk->spare;
            wk->spare = b;
            wk->nresident--;
            idle = 0;
        }
        if (idle > PATIENCE && wk->nresident < MAX_RESIDENT) {
            block_add(wk);
            idle = 0;
        }
    }
}

static void worker_free(struct worker *wk)
{
    struct block *lists[2] = {wk->blocks, wk->spare};

    for (int k = 0; k < 2; k++) {
        for (struct block *b = lists[k], *next; b; b = next) {
            next = b->next;
            block_free(b);
        }
    }
    free(wk->range);
}

static void add_counts(struct sg_counts *sum, const struct sg_counts *c)
{
    sum->threads += c->threads;
    sum->warp_instructions += c->warp_instructions;
    sum->thread_instructions += c->thread_instructions;
    sum->global_read_bytes += c->global_read_bytes;
    sum->global_write_bytes += c->global_write_bytes;
    sum->shared_bytes += c->shared_bytes;
    sum->atomics += c->atomics;
    sum->flop_f16 += c->flop_f16;
    sum->flop_bf16 += c->flop_bf16;
    sum->flop_f32 += c->flop_f32;
    sum->flop_f64 += c->flop_f64;
}

static enum sg_fault_kind refuse(struct sg_fault *f, const struct sg_launch *launch, const char *what)
{
    f->kind = SG_FAULT_RESOURCES;
    snprintf(f->message, sizeof f->message, "kernel %s: %s", launch->kernel->name, what);
    return f->kind;
}

static void run_part(void *arg)
{
    worker_run(arg);
}

static uint64_t nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Runs the first blocks on this thread. True: the rest isn't worth waking others. */
static bool small_enough(struct worker *wk)
{
    struct run *run = wk->run;
    uint64_t start = nanoseconds(), left;

    if (run->launch->workers || run->launch->cooperative)
        return false;
    wk->quota = PROBE_BLOCKS;
    worker_run(wk);
    wk->quota = UINT64_MAX;
    left = run->next < run->nblocks ? run->nblocks - run->next : 0;
    return run->stop || (nanoseconds() - start) / PROBE_BLOCKS * left < WORTH_NS;
}

/* The blocks, on as many threads as the launch wants and there is work for. */
static enum sg_fault_kind run_blocks(struct run *run, struct sg_counts *counts_p)
{
    unsigned n = run->launch->workers ? run->launch->workers : team_size();
    struct worker *worker;
    bool ready;

    if (n > run->nblocks)
        n = (unsigned)run->nblocks;
    if (run->shadow)
        n = 1;
    run->nworkers = n;
    worker = calloc(n, sizeof *worker);
    ready = worker;
    for (unsigned k = 0; worker && k < n; k++) {
        worker[k].run = run;
        worker[k].quota = UINT64_MAX;
        worker[k].range = calloc(run->program->nslots + 1, sizeof *worker[k].range);
        ready = ready && worker[k].range;
    }
    if (ready)
        team_run(n > 1 && small_enough(worker) ? 1 : n, run_part, worker, sizeof *worker);
    if (run->next < run->nblocks && run->fault->kind == SG_OK)
        refuse(run->fault, run->launch, "no memory to run it");
    for (unsigned k = 0; worker && k < n; k++) {
        add_counts(counts_p, &worker[k].counts);
        worker_free(&worker[k]);
    }
    free(worker);
    return run->fault->kind;
}

enum sg_fault_kind sg_launch_run(const struct sg_launch *launch, struct sg_counts *counts_p,
                                 struct sg_fault *fault_p)
{
    static _Atomic uint64_t serial;
    const struct program *p = (const struct program *)(const void *)launch->kernel;
    uint64_t shared, threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    struct run run = {.launch = launch, .program = p, .fault = fault_p};
    struct sg_counts counts = {0};
    size_t rows = (p->launch_bytes + 63) / 64 * 64;
    size_t params = (p->kernel.param_bytes + 15) / 16 * 16;
    char *memory;

    *fault_p = (struct sg_fault){0};
    run.nblocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    shared = (uint64_t)p->dynamic_offset + launch->dynamic_shared;
    if (threads == 0 || run.nblocks == 0 || threads > MAX_THREADS || launch->block[2] > 64)
        return refuse(fault_p, launch, "a grid or block dimension out of bounds");
    if (threads > launch->kernel->max_threads)
        return refuse(fault_p, launch, "more threads per block than it was compiled for");
    if (shared > MAX_SHARED + p->reserved_shared)
        return refuse(fault_p, launch, "too much shared memory");
    run.shared_bytes = (uint32_t)shared;
    run.nthreads = (uint32_t)threads;
    run.nwarps = (run.nthreads + LANES - 1) / LANES;
    run.serial = ++serial;
    memory = aligned_alloc(64, rows + (params + WORKSPACE_BYTES + 63) / 64 * 64);
    if (!memory)
        return refuse(fault_p, launch, "no memory to run it");
    run.rows = memory;
    run.params = memory + rows;
    run.workspace = run.params + params;
    memset(run.params, 0, params + WORKSPACE_BYTES);
    if (p->kernel.param_bytes)
        memcpy(run.params, launch->params, p->kernel.param_bytes);
    fill_rows(&run);
    if (launch->check_races)
        run.shadow = shadow_new(run.nblocks);
    if (launch->check_races && !run.shadow)
        refuse(fault_p, launch, "no memory to check it for races");
    else
        run_blocks(&run, &counts);
    shadow_delete(run.shadow);
    free(memory);
    if (counts_p)
        *counts_p = counts;
    return fault_p->kind;
}
