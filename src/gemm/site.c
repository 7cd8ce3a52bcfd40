/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the table of sites: open addressing, only ever filled. Look-ups take no lock; a decision is
 * made before the lock is taken, since it may ask the dynamic linker who the caller is. */
#include "config.h"
#include "gemm/site.h"
#include "base/caller.h"
#include "base/log.h"
#include "device/context.h"
#include "device/kernels.h"
#include "gemm/decision.h"
#include "gemm/model.h"
#include "gemm/report.h"
#include "gemm/rules.h"
#include "gemm/timing.h"
#include "gemm/tuning.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { SLOTS = 8192, ROOM = SLOTS / 2 };

struct decision {
    enum path path;
    enum reason reason;
    int scale, scale_exponent;
    struct tuned *tuned;
};

static struct {
    _Atomic(struct site *) slots[SLOTS];
    struct site sites[ROOM];
    pthread_mutex_t lock;
    uint32_t n;         /* under the lock */
    atomic_bool placed; /* decisions depend on the library that calls */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct site spare __attribute__((tls_model("initial-exec")));

static uint32_t form_of(const struct gemm *g)
{
    return (uint32_t)(g->transa != CUBLAS_OP_N) | (uint32_t)(g->transb != CUBLAS_OP_N) << 1 |
           (uint32_t)g->tf32 << 2;
}

/* A library that was unloaded may have left its addresses to another. */
static uint32_t epoch(void)
{
    return atomic_load_explicit(&table.placed, memory_order_relaxed) ? caller_epoch() : 0;
}

static uint32_t hash(const struct gemm *g)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = (uint64_t)g->m;
    h = h * odd + (uint64_t)g->n;
    h = h * odd + (uint64_t)g->k;
    h = h * odd + (uint64_t)g->batch;
    h = h * odd + (uint64_t)(uintptr_t)g->caller;
    h = h * odd + (uint64_t)(uintptr_t)g->routine;
    h = h * odd + (uint64_t)(uintptr_t)g->context;
    h = h * odd + form_of(g);
    h = h * odd + epoch();
    h ^= h >> 32;
    return (uint32_t)((h * odd) >> 51); /* 13 bits: SLOTS */
}

static bool is_of(const struct site *s, const struct gemm *g)
{
    return s->m == g->m && s->n == g->n && s->k == g->k && s->caller == g->caller &&
           s->routine == g->routine && s->batch == g->batch && s->context == g->context &&
           s->form == form_of(g) && s->epoch == epoch();
}

/* The site, or NULL and in *slot_p the slot where it belongs. The table is never full. */
static struct site *find(const struct gemm *g, uint32_t *slot_p)
{
    for (uint32_t i = hash(g);; i = (i + 1) % SLOTS) {
        struct site *s = atomic_load_explicit(&table.slots[i], memory_order_acquire);
        *slot_p = i;
        if (s == NULL || is_of(s, g))
            return s;
    }
}

static void fill(struct site *s, const struct gemm *g, const struct decision *d, uint32_t index)
{
    s->routine = g->routine;
    s->caller = g->caller;
    s->context = g->context;
    s->m = g->m;
    s->n = g->n;
    s->k = g->k;
    s->batch = g->batch;
    s->form = form_of(g);
    s->epoch = epoch();
    s->reason = d->reason;
    s->scale = d->scale;
    s->scale_exponent = d->scale_exponent;
    s->path = d->path;
    s->index = index < SITES_MAX ? index : SITES_MAX - 1;
}

static struct site *insert(const struct gemm *g, const struct decision *d)
{
    uint32_t slot;
    pthread_mutex_lock(&table.lock);
    struct site *s = find(g, &slot); /* another thread may have been quicker */
    if (s == NULL && table.n < ROOM) {
        s = &table.sites[table.n];
        fill(s, g, d, table.n++);
        if (d->tuned != NULL)
            tuning_adopt(s, d->tuned);
        atomic_store_explicit(&table.slots[slot], s, memory_order_release);
    }
    pthread_mutex_unlock(&table.lock);
    if (s != NULL) {
        if (s->tuned != d->tuned)
            tuning_free(d->tuned);
        return s;
    }
    tuning_free(d->tuned);
    fill(&spare, g, d, SITES_MAX);
    return &spare;
}

static atomic_flag said[PRECISIONS];

static void say_lacking(const struct gpu *gpu, int wanted, int given)
{
    if (given != wanted && !atomic_flag_test_and_set(&said[wanted]))
        LOG_WARN("this GPU (compute capability %d.%d) has no arithmetic for %s: %s is taken",
                 gpu->compute_capability / 10, gpu->compute_capability % 10, precision_word(wanted),
                 precision_word(given));
}

static void describe(const struct env *env, const struct gemm *g, struct place *p, char *library,
                     unsigned bytes)
{
    *p = (struct place){
        .routine = g->routine,
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .batch = g->batch,
        .transposes = {g->transa == CUBLAS_OP_N ? 'N' : 'T', g->transb == CUBLAS_OP_N ? 'N' : 'T'},
        .executable = env->program,
    };
    p->object = caller_place(g->caller, library, bytes, &p->offset);
}

static void say_decision(const struct place *p, const struct decision *d, const char *source)
{
    LOG_DEBUG("%s %s m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " batch=%" PRId64 " of %s+0x%" PRIx64
              ": %s%s%s%s%s",
              p->routine, p->transposes, p->m, p->n, p->k, p->batch, p->object, p->offset,
              path_word(d->path), d->path == PATH_FORWARD ? ", " : "",
              d->path == PATH_FORWARD ? reason_text(d->reason) : "", source != NULL ? ", by " : "",
              source != NULL ? source : "");
}

/* What the user's rules or the decision file say of the place, put into the wish; returns what to
 * call it, or NULL. The file never makes a result less exact than the class allows. */
static const char *look_up(const struct env *env, const struct gpu *gpu, const struct place *place,
                           struct wish *wish)
{
    const struct rules *rules = rules_get(env);
    const struct decisions *decisions =
        env->precision == PRECISION_AUTO ? NULL : decisions_get(env, gpu);
    if (rules != NULL || decisions != NULL)
        atomic_store_explicit(&table.placed, true, memory_order_relaxed);
    const char *rule = rules != NULL ? rules_apply(rules, place, wish) : NULL;
    if (rule != NULL || decisions == NULL)
        return rule;
    const enum path path = decisions_find(decisions, place);
    if (path == PATHS || !policy_within(wish->precision, path))
        return NULL;
    wish->path = path;
    return "decision";
}

/* A site of a tuning run starts with the quickest path; the errors that are measured decide. */
static void start_tuning(const struct env *env, const struct wish *wish,
                         const struct cost_model *model, const struct gemm *g,
                         const struct place *place, struct decision *d)
{
    enum path ladder[PATHS];
    const struct gpu *gpu = &g->context->gpu;
    const int n = policy_ladder(wish, model, gpu, g, ladder);
    d->reason = REASON_TOLERANCE;
    d->tuned = tuning_new(env, gpu, place, ladder, n);
    d->path = d->tuned != NULL ? ladder[0] : PATH_FORWARD;
}

static struct decision decide(const struct env *env, const struct gemm *g)
{
    const struct gpu *gpu = &g->context->gpu;
    const struct cost_model model = model_of(env, gpu);
    struct wish wish = policy_wish(env);
    struct place place;
    char library[256];
    describe(env, g, &place, library, sizeof library);
    const char *source = look_up(env, gpu, &place, &wish);
    struct decision d = {.scale = wish.scale, .scale_exponent = wish.scale_exponent};
    if (wish.precision == PRECISION_AUTO && wish.path == PATHS) {
        start_tuning(env, &wish, &model, g, &place, &d);
    } else {
        say_lacking(gpu, wish.precision, policy_class(gpu, wish.precision));
        d.path = policy_choose(&wish, &model, gpu, g, &d.reason);
    }
    say_decision(&place, &d, source);
    return d;
}

static void count_call(struct site *s)
{
    atomic_fetch_add_explicit(&s->calls, 1, memory_order_relaxed);
    timing_note(s != &spare ? s : NULL);
}

struct site *site_decide(const struct env *env, struct gemm *g)
{
    uint32_t slot;
    struct site *s = find(g, &slot);
    if (s == NULL) {
        const struct decision d = decide(env, g);
        s = insert(g, &d);
    }
    count_call(s);
    g->site = s;
    return s;
}

enum reason site_observe(struct gemm *g, enum reason reason)
{
    uint32_t slot;
    if (!report_on())
        return reason;
    struct site *s = find(g, &slot);
    if (s == NULL) {
        const struct decision d = {.path = PATH_FORWARD, .reason = reason};
        s = insert(g, &d);
    }
    count_call(s);
    return reason;
}

void site_count_converted(struct site *site, enum path path)
{
    atomic_fetch_add_explicit(&site->converted, 1, memory_order_relaxed);
    stats_count_converted(path_stats(path));
}

void site_error(struct site *site, enum path path, float error)
{
    tuning_error(site, path, (double)error);
    float worst = atomic_load(&site->worst_error);
    while (error > worst && !atomic_compare_exchange_weak(&site->worst_error, &worst, error))
        ;
}

bool site_shown(const struct site *site, struct apex_site *totals)
{
    const struct kernels *kernels = site->context != NULL ? kernels_of(site->context) : NULL;
    if (kernels == NULL || kernels->shown == NULL || site->index >= SITES_MAX - 1)
        return false;
    *totals = kernels->shown[site->index];
    return true;
}

float site_error_of(uint32_t bits)
{
    float error;
    memcpy(&error, &bits, sizeof error);
    return error;
}

void site_each(void (*visit)(struct site *site, void *arg), void *arg)
{
    pthread_mutex_lock(&table.lock);
    const uint32_t n = table.n;
    pthread_mutex_unlock(&table.lock);
    for (uint32_t i = 0; i < n; i++)
        visit(&table.sites[i], arg);
}
