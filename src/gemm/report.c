/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the name of the report and when it was last written. One thread writes at a time; the others
 * go on. */
#include "config.h"
#include "gemm/report.h"
#include "base/caller.h"
#include "base/env.h"
#include "base/json.h"
#include "base/log.h"
#include "base/stats.h"
#include "device/context.h"
#include "gemm/site.h"
#include "gemm/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, TICK_SECONDS = 1, LAST_SECONDS = 1, COMMAND_BYTES = 4096 };

static struct {
    pthread_once_t once;
    pthread_mutex_t writing;
    char path[PATH_BYTES];
    pid_t pid;
    time_t started; /* wall clock */
    /* The environment as it was: the program may change it while another thread reads. */
    char **given; /* by env_variables; NULL: not set */
    char rank[16];
    _Atomic int wanted; /* 0: not known yet, 1: no, 2: yes */
    _Atomic time_t next;
    atomic_bool complained;
} report = {.once = PTHREAD_ONCE_INIT, .writing = PTHREAD_MUTEX_INITIALIZER};

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec;
}

/* The rank as the usual launchers tell it. */
static void read_rank(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    strcpy(report.rank, "0");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = env_given(names[i]);
        const size_t length = value != NULL ? strlen(value) : 0;
        if (length > 0 && length < sizeof report.rank && strspn(value, "0123456789") == length) {
            memcpy(report.rank, value, length + 1);
            return;
        }
    }
}

static void read_settings(void)
{
    report.given = calloc(env_variables_n, sizeof *report.given);
    for (size_t i = 0; report.given != NULL && i < env_variables_n; i++) {
        const char *value = env_given(env_variables[i].name);
        report.given[i] = value != NULL ? strdup(value) : NULL;
    }
}

/* %p: process, %h: host, %r: rank, %%: %. False: it does not fit, or another letter. */
static bool expand(const char *form, char path[PATH_BYTES])
{
    size_t n = 0;
    char pid[16], host[256] = "localhost";
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    (void)gethostname(host, sizeof host - 1);
    for (; *form != '\0' && n < PATH_BYTES; form++) {
        const char *text = NULL;
        if (*form != '%') {
            path[n++] = *form;
            continue;
        }
        switch (*++form) {
        case 'p':
            text = pid;
            break;
        case 'h':
            text = host;
            break;
        case 'r':
            text = report.rank;
            break;
        case '%':
            text = "%";
            break;
        default:
            return false;
        }
        const size_t length = strlen(text);
        if (n + length >= PATH_BYTES)
            return false;
        memcpy(path + n, text, length);
        n += length;
    }
    if (n >= PATH_BYTES - sizeof ".12345678.new")
        return false;
    path[n] = '\0';
    return true;
}

static bool start_report(void)
{
    const struct env *env = env_get();
    if (!env->enabled || env->report[0] == '\0')
        return false;
    report.pid = getpid();
    report.started = time(NULL);
    read_rank();
    read_settings();
    const bool ok = expand(env->report, report.path);
    if (!ok)
        LOG_WARN("APEXSHIM_REPORT=%.80s: too long, or a letter after %% that is not p, h, r or %%",
                 env->report);
    return ok;
}

static void start(void)
{
    atomic_store_explicit(&report.wanted, start_report() ? 2 : 1, memory_order_release);
}

bool report_on(void)
{
    const int wanted = atomic_load_explicit(&report.wanted, memory_order_acquire);
    if (wanted != 0)
        return wanted == 2;
    pthread_once(&report.once, start);
    return atomic_load(&report.wanted) == 2;
}

static void put_command(struct json *j)
{
    char text[COMMAND_BYTES];
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    text[n] = '\0';
    json_open(j, "command", '[');
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(text + i) + 1)
        json_text(j, NULL, text + i);
    json_close(j, ']');
}

static void put_counts(struct json *j)
{
    const struct stats s = stats_total();
    json_open(j, "gemms", '{');
    json_unsigned(j, "seen", s.seen);
    json_open(j, "converted", '{');
    for (int i = 0; i < STATS_PATHS; i++)
        if (s.converted[i] != 0)
            json_unsigned(j, stats_path_word((enum stats_path)i), s.converted[i]);
    json_close(j, '}');
    json_open(j, "forwarded", '{');
    for (int i = 0; i < REASONS; i++)
        if (s.forwarded[i] != 0)
            json_unsigned(j, reason_word((enum reason)i), s.forwarded[i]);
    json_close(j, '}');
    json_unsigned(j, "convertible", s.eligible);
    json_unsigned(j, "replayed", s.replayed);
    json_unsigned(j, "replayed_converted", s.replayed_converted);
    json_close(j, '}');
    json_open(j, "flop", '{');
    json_number(j, "converted", 1024 * (double)s.kiloflop[STATS_FLOP_CONVERTED]);
    json_number(j, "forwarded", 1024 * (double)s.kiloflop[STATS_FLOP_FORWARDED]);
    json_number(j, "level3", 1024 * (double)s.kiloflop[STATS_FLOP_LEVEL3]);
    json_close(j, '}');
    json_open(j, "others", '{');
    for (int i = 0; i < OTHERS; i++)
        if (s.other[i] != 0)
            json_unsigned(j, stats_other_word((enum other)i), s.other[i]);
    json_close(j, '}');
}

static void put_context(struct context *context, void *arg)
{
    struct json *j = arg;
    json_open(j, NULL, '{');
    json_text(j, "name", context->gpu.name);
    json_number(j, "compute_capability", context->gpu.compute_capability / 10.0);
    json_unsigned(j, "multiprocessors", (uint64_t)context->gpu.multiprocessors);
    json_unsigned(j, "scratch_bytes", atomic_load(&context->scratch_bytes));
    json_unsigned(j, "scratch_budget_bytes", atomic_load(&context->scratch_budget));
    json_close(j, '}');
}

static void put_shown(struct json *j, const struct site *site)
{
    struct apex_site shown;
    if (!site_shown(site, &shown))
        return;
    json_unsigned(j, "scaled_calls", shown.calls);
    json_unsigned(j, "recast_operands", shown.misses);
    json_open(j, "lost_share", '[');
    for (int i = 0; i < 2; i++)
        json_number(j, NULL, shown.elements[i] != 0
                                 ? (double)shown.lost[i] / (double)shown.elements[i]
                                 : 0);
    json_close(j, ']');
    json_unsigned(j, "verified", shown.verified);
    if (shown.verified != 0)
        json_number(j, "worst_error", (double)site_error_of(shown.worst_error_bits));
}

static void put_site(struct site *site, void *arg)
{
    struct json *j = arg;
    char object[256];
    uint64_t offset = 0;
    const char *place = caller_place(site->caller, object, sizeof object, &offset);
    const enum path path = site->path;
    json_open(j, NULL, '{');
    json_text(j, "routine", site->routine);
    json_text(j, "caller", place);
    json_unsigned(j, "offset", offset);
    json_text(j, "transposes", (const char[3]){site->form & 1 ? 'T' : 'N',
                                                 site->form & 2 ? 'T' : 'N', '\0'});
    json_unsigned(j, "m", (uint64_t)site->m);
    json_unsigned(j, "n", (uint64_t)site->n);
    json_unsigned(j, "k", (uint64_t)site->k);
    json_unsigned(j, "batch", (uint64_t)site->batch);
    json_text(j, "path", path_word(path));
    if (path == PATH_FORWARD)
        json_text(j, "reason", reason_word(site->reason));
    json_unsigned(j, "calls", atomic_load(&site->calls));
    json_unsigned(j, "converted", atomic_load(&site->converted));
    json_unsigned(j, "timed", atomic_load(&site->timed));
    json_number(j, "gpu_seconds", 1e-9 * (double)atomic_load(&site->nanoseconds));
    put_shown(j, site);
    json_close(j, '}');
}

static void put_settings(struct json *j)
{
    json_open(j, "settings", '{');
    for (size_t i = 0; report.given != NULL && i < env_variables_n; i++)
        if (report.given[i] != NULL)
            json_text(j, env_variables[i].name, report.given[i]);
    json_close(j, '}');
}

static void compose(struct json *j, bool complete)
{
    char host[256] = "localhost";
    (void)gethostname(host, sizeof host - 1);
    json_open(j, NULL, '{');
    json_text(j, "schema", "apexshim-report-1");
    json_text(j, "version", PACKAGE_VERSION);
    json_bool(j, "complete", complete);
    json_unsigned(j, "process", (uint64_t)report.pid);
    json_text(j, "host", host);
    json_text(j, "rank", report.rank);
    json_unsigned(j, "started", (uint64_t)report.started);
    json_unsigned(j, "written", (uint64_t)time(NULL));
    put_command(j);
    put_settings(j);
    json_open(j, "gpus", '[');
    context_each(put_context, j);
    json_close(j, ']');
    put_counts(j);
    json_open(j, "sites", '[');
    site_each(put_site, j);
    json_close(j, ']');
    json_close(j, '}');
}

static bool write_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, text, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        n -= (size_t)written;
    }
    return true;
}

/* To a new file that then takes the name: nobody ever reads half a report. */
static bool replace(const struct json *j)
{
    char fresh[PATH_BYTES + 32];
    snprintf(fresh, sizeof fresh, "%s.%d.new", report.path, (int)report.pid);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, j->text, j->length) && write_all(fd, "\n", 1);
    ok = close(fd) == 0 && ok;
    ok = ok && rename(fresh, report.path) == 0;
    if (!ok) {
        const int saved = errno;
        unlink(fresh);
        errno = saved;
    }
    return ok;
}

/* Another thread may be writing just now: the last report waits for it, for a moment. */
static bool may_write(bool complete)
{
    struct timespec limit;
    if (!complete)
        return pthread_mutex_trylock(&report.writing) == 0;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += LAST_SECONDS;
    return pthread_mutex_timedlock(&report.writing, &limit) == 0;
}

static void write_report(bool complete)
{
    const int saved = errno;
    if (!may_write(complete))
        return;
    struct json j = {.text = NULL};
    compose(&j, complete);
    if ((j.failed || !replace(&j)) && !atomic_exchange(&report.complained, true))
        LOG_WARN("APEXSHIM_REPORT: %.200s can't be written: %s", report.path,
                 j.failed ? "out of memory" : strerror(errno));
    free(j.text);
    pthread_mutex_unlock(&report.writing);
    errno = saved;
}

void report_tick(void)
{
    const time_t at = now();
    time_t next = atomic_load_explicit(&report.next, memory_order_relaxed);
    if (at < next || getpid() != report.pid ||
        !atomic_compare_exchange_strong(&report.next, &next, at + TICK_SECONDS))
        return;
    timing_collect();
    write_report(false);
}

void report_flush(void)
{
    if (!report_on() || getpid() != report.pid)
        return;
    timing_collect();
    write_report(false);
}

void report_at_exit(void)
{
    if (stats_engaged() && report_on() && getpid() == report.pid)
        write_report(true);
}
