/* SPDX-License-Identifier: BSD-3-Clause
 * Counters: one block a thread, in a list that only grows; the block of a thread that ended is
 * given to the next new thread, counts and all. Owns the list. Makes no CUDA call. */
#include "config.h"
#include "base/stats.h"
#include "base/env.h"
#include "base/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNTERS = sizeof(struct stats) / sizeof(uint64_t) };

/* struct stats as atomics, so that another thread may add them up. */
struct block {
    _Atomic uint64_t counter[COUNTERS];
    atomic_bool in_use;
    struct block *next;
};

static struct {
    _Atomic(struct block *) blocks;
    struct block shared; /* when a block can't be had; several threads may add to it */
    pthread_once_t once;
    pthread_key_t key;
    bool key_made;
    _Atomic pid_t engaged_pid;
} state = {.once = PTHREAD_ONCE_INIT};

static _Thread_local struct block *mine __attribute__((tls_model("initial-exec")));

static void give_back(void *arg)
{
    struct block *block = arg;
    mine = NULL;
    atomic_store_explicit(&block->in_use, false, memory_order_release);
}

static void make_key(void)
{
    state.key_made = pthread_key_create(&state.key, give_back) == 0;
}

static struct block *take_block(void)
{
    for (struct block *b = atomic_load(&state.blocks); b != NULL; b = b->next) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&b->in_use, &expected, true))
            return b;
    }
    struct block *b = calloc(1, sizeof *b);
    if (b == NULL)
        return &state.shared;
    atomic_store(&b->in_use, true);
    b->next = atomic_load(&state.blocks);
    while (!atomic_compare_exchange_weak(&state.blocks, &b->next, b))
        ;
    return b;
}

static struct block *my_block(void)
{
    if (mine != NULL)
        return mine;
    pthread_once(&state.once, make_key);
    struct block *b = take_block();
    if (b == &state.shared)
        return b; /* try again next time */
    if (!state.key_made || pthread_setspecific(state.key, b) != 0) {
        /* The block would never come back: leave it to whoever comes next, count in the shared one */
        atomic_store(&b->in_use, false);
        return &state.shared;
    }
    mine = b;
    return b;
}

static void add(size_t index, uint64_t n)
{
    struct block *b = my_block();
    if (b == &state.shared) {
        atomic_fetch_add_explicit(&b->counter[index], n, memory_order_relaxed);
        return;
    }
    uint64_t old = atomic_load_explicit(&b->counter[index], memory_order_relaxed);
    atomic_store_explicit(&b->counter[index], old + n, memory_order_relaxed);
}

static void count(size_t index)
{
    add(index, 1);
}

#define INDEX_OF(_member) (offsetof(struct stats, _member) / sizeof(uint64_t))

void stats_count_seen(void)
{
    count(INDEX_OF(seen));
}

void stats_count_eligible(void)
{
    count(INDEX_OF(eligible));
}

void stats_count_converted(enum stats_path path)
{
    count(INDEX_OF(converted) + (size_t)path);
}

void stats_count_forwarded(enum reason reason)
{
    count(INDEX_OF(forwarded) + (size_t)reason);
}

void stats_count_kind(enum kind kind)
{
    if (stats_is_gemm(kind)) {
        stats_count_seen();
        stats_count_forwarded((enum reason)kind);
    } else if (kind == KIND_STREAM_DESTROY) {
        count(INDEX_OF(other) + OTHER_STREAM);
    } else if (kind == KIND_CAPTURE_ORDER) {
        count(INDEX_OF(other) + OTHER_CAPTURE);
    } else if (kind != KIND_GRAPH_LAUNCH) {
        count(INDEX_OF(other) + (size_t)kind - REASONS);
    }
}

void stats_count_graph_launch(uint64_t gemms, uint64_t converted)
{
    count(INDEX_OF(other) + OTHER_GRAPH);
    if (gemms == 0)
        return;
    add(INDEX_OF(replayed), gemms);
    add(INDEX_OF(replayed_converted), converted);
}

void stats_count_flop(enum stats_flop whose, double flop)
{
    if (flop > 0)
        add(INDEX_OF(kiloflop) + (size_t)whose, (uint64_t)(flop / 1024 + 0.5));
}

void stats_engage(void)
{
    if (atomic_load_explicit(&state.engaged_pid, memory_order_relaxed) == 0)
        atomic_store(&state.engaged_pid, getpid());
}

bool stats_engaged(void)
{
    return atomic_load_explicit(&state.engaged_pid, memory_order_relaxed) != 0;
}

static struct {
    _Atomic uint64_t bytes, budget;
} scratch;

void stats_note_scratch(uint64_t bytes, uint64_t budget)
{
    uint64_t most = atomic_load_explicit(&scratch.bytes, memory_order_relaxed);
    while (bytes > most && !atomic_compare_exchange_weak(&scratch.bytes, &most, bytes))
        ;
    atomic_store_explicit(&scratch.budget, budget, memory_order_relaxed);
}

struct stats stats_total(void)
{
    union {
        struct stats stats;
        uint64_t counter[COUNTERS];
    } total = {.counter = {0}};
    for (size_t i = 0; i < COUNTERS; i++) {
        total.counter[i] = atomic_load_explicit(&state.shared.counter[i], memory_order_relaxed);
        for (struct block *b = atomic_load(&state.blocks); b != NULL; b = b->next)
            total.counter[i] += atomic_load_explicit(&b->counter[i], memory_order_relaxed);
    }
    return total.stats;
}

static const struct {
    const char *word, *text;
} reasons[REASONS] = {
#define REASON(_enum, _word, _text) {_word, _text},
#include "gemm/reason.def"
#undef REASON
};

const char *reason_word(enum reason reason)
{
    return reasons[reason].word;
}

const char *reason_text(enum reason reason)
{
    return reasons[reason].text;
}

static const char *const path_words[STATS_PATHS] = {
#define PATH(_enum, _word) _word,
#include "gemm/path.def"
#undef PATH
};

const char *stats_path_word(enum stats_path path)
{
    return path_words[path];
}

/* " bf16=3 fp8=1": the paths that are not always shown. */
static void rare_paths(const struct stats *s, char *text, size_t bytes)
{
    size_t len = 0;
    text[0] = '\0';
    for (int i = 0; i < STATS_PATHS; i++)
        if (i != STATS_FP16 && i != STATS_TF32 && s->converted[i] != 0 && len < bytes)
            len += (size_t)snprintf(text + len, bytes - len, " %s=%" PRIu64, path_words[i],
                                    s->converted[i]);
}

static const char *const other_words[OTHERS] = {
    [OTHER_LEVEL3] = "level3",
    [OTHER_GEMV] = "gemv",
    [OTHER_TRANSFORM] = "transforms",
    [OTHER_CUDNN] = "cudnn",
    [OTHER_LAUNCH] = "launches",
    [OTHER_GRAPH] = "graphs",
    [OTHER_ALLOCATION] = "allocations",
    [OTHER_FREE] = "frees",
    [OTHER_COPY] = "copies",
    [OTHER_MEMSET] = "memsets",
    [OTHER_STREAM] = "streams",
    [OTHER_CONTEXT] = "contexts",
    [OTHER_CAPTURE] = "captures",
    [OTHER_GRAPH_CHANGE] = "graph_changes",
};

const char *stats_other_word(enum other other)
{
    return other_words[other];
}

/* " level3=2 launches=7": those counted, from first to before end. */
static void list_others(const struct stats *s, int first, int end, char *text, size_t bytes)
{
    size_t len = 0;
    text[0] = '\0';
    for (int i = first; i < end; i++)
        if (s->other[i] != 0 && i != OTHER_GRAPH && len < bytes)
            len += (size_t)snprintf(text + len, bytes - len, " %s=%" PRIu64, other_words[i],
                                    s->other[i]);
}

static void show_shares(const struct stats *s, char *text, size_t bytes)
{
    static const char *const units[] = {"GFLOP", "TFLOP", "PFLOP", "EFLOP"};
    double all = 0;
    for (int i = 0; i < STATS_FLOPS; i++)
        all += (double)s->kiloflop[i] * 1024;
    double shown = all / 1e9;
    size_t unit = 0;
    for (; shown >= 1000 && unit < 3; unit++)
        shown /= 1000;
    text[0] = '\0';
    if (all > 0)
        snprintf(text, bytes, " %.3g %s (converted %.1f%%, forwarded %.1f%%, level3 %.1f%%)", shown,
                 units[unit], 100 * 1024 * (double)s->kiloflop[STATS_FLOP_CONVERTED] / all,
                 100 * 1024 * (double)s->kiloflop[STATS_FLOP_FORWARDED] / all,
                 100 * 1024 * (double)s->kiloflop[STATS_FLOP_LEVEL3] / all);
}

/* What the program's work was made of, so that nobody wonders why nothing got faster. */
static void say_work(const struct stats *s)
{
    char shares[128], others[256];
    show_shares(s, shares, sizeof shares);
    list_others(s, 0, OTHERS_SHOWN, others, sizeof others);
    if (shares[0] != '\0' || others[0] != '\0')
        LOG_WARN("work seen:%s%s%s%s", shares, shares[0] != '\0' && others[0] != '\0' ? ";" : "",
                 others[0] != '\0' ? " not GEMMs:" : "", others);
    list_others(s, OTHERS_SHOWN, OTHERS, others, sizeof others);
    if (others[0] != '\0')
        LOG_INFO("driver calls:%s", others);
}

static void say_gemms(const struct stats *s)
{
    uint64_t converted = 0, forwarded = 0;
    for (int i = 0; i < STATS_PATHS; i++)
        converted += s->converted[i];
    char why[512] = "";
    size_t len = 0;
    for (int i = 0; i < REASONS; i++) {
        forwarded += s->forwarded[i];
        if (s->forwarded[i] != 0 && len < sizeof why)
            len += (size_t)snprintf(why + len, sizeof why - len, "%s%s=%" PRIu64,
                                    len == 0 ? " (" : " ", reason_word((enum reason)i),
                                    s->forwarded[i]);
    }
    char rare[256], eligible[64] = "", graphs[128] = "", memory[64] = "";
    const uint64_t most = atomic_load(&scratch.bytes), budget = atomic_load(&scratch.budget);
    if (most != 0)
        snprintf(memory, sizeof memory, " scratch=%" PRIu64 " of %" PRIu64 " MiB",
                 (most + (1 << 20) - 1) >> 20, budget >> 20);
    rare_paths(s, rare, sizeof rare);
    if (s->eligible != 0)
        snprintf(eligible, sizeof eligible, " convertible=%" PRIu64, s->eligible);
    if (s->other[OTHER_GRAPH] != 0)
        snprintf(graphs, sizeof graphs,
                 " graphs=%" PRIu64 " launches (GEMMs in graphs=%" PRIu64 " converted=%" PRIu64 ")",
                 s->other[OTHER_GRAPH], s->replayed, s->replayed_converted);
    LOG_WARN("GEMMs seen=%" PRIu64 " converted=%" PRIu64 " (fp16=%" PRIu64 " tf32=%" PRIu64
             "%s) forwarded=%" PRIu64 "%s%s%s%s%s",
             s->seen, converted, s->converted[STATS_FP16], s->converted[STATS_TF32], rare,
             forwarded, why, len > 0 ? ")" : "", eligible, graphs, memory);
}

void stats_at_exit(void)
{
    /* A forked child that did not create a handle itself has nothing to say. */
    if (atomic_load(&state.engaged_pid) != getpid() || !env_get()->enabled)
        return;
    struct stats s = stats_total();
    if (s.seen == 0)
        LOG_WARN("WARNING: a cuBLAS handle was created, but no GEMM call reached this library: "
                 "nothing was converted. Matrix products of cuDNN or of kernels of the program's "
                 "own are not calls of cuBLAS");
    else
        say_gemms(&s);
    say_work(&s);
}
