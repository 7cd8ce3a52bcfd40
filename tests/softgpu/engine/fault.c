/* SPDX-License-Identifier: BSD-3-Clause
 * Faults: the first one of a launch is kept, described in one line, and stops the launch. */
#include "machine.h"
#include "sched.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* "16 bytes past allocation #12 of 4096 bytes at 0x7f..." */
static void describe_near(const struct sg_launch *launch, uint64_t address, char *text, size_t room)
{
    struct sg_range best = {0}, r;
    uint64_t best_away = UINT64_MAX;

    for (unsigned k = 0; k < launch->space->n; k++) {
        uint64_t away;

        if (!sg_arena_nearest(launch->space->arena[k], address, &r))
            continue;
        away = address < r.base ? r.base - address
                                : address - r.base < r.bytes ? 0 : address - (r.base + r.bytes);
        if (away < best_away) {
            best_away = away;
            best = r;
        }
    }
    if (best_away == UINT64_MAX)
        snprintf(text, room, "nothing is allocated");
    else if (address < best.base)
        snprintf(text, room, "%llu bytes before allocation #%llu of %zu bytes at 0x%llx",
                 (unsigned long long)best_away, (unsigned long long)best.serial, best.bytes,
                 (unsigned long long)best.base);
    else if (address - best.base < best.bytes)
        snprintf(text, room, "%llu bytes into allocation #%llu of %zu bytes at 0x%llx",
                 (unsigned long long)(address - best.base), (unsigned long long)best.serial,
                 best.bytes, (unsigned long long)best.base);
    else
        snprintf(text, room, "%llu bytes past allocation #%llu of %zu bytes at 0x%llx",
                 (unsigned long long)best_away, (unsigned long long)best.serial, best.bytes,
                 (unsigned long long)best.base);
}

const struct insn *fault(struct warp *w, const struct insn *i, enum sg_fault_kind kind, unsigned lane,
                         uint64_t address, uint32_t bytes, bool write, const char *format, ...)
{
    struct run *run = w->worker->run;
    const struct sg_launch *launch = run->launch;
    const uint32_t *dim = launch->block;
    uint32_t t = w->number * LANES + lane;
    char what[256], near[160] = "";
    struct sg_fault *f = run->fault;
    va_list ap;

    w->event = EVENT_FAULT;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    /* one line, whatever text of the program's is in it */
    for (char *c = what; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    pthread_mutex_lock(&lock);
    if (f->kind == SG_OK) {
        f->kind = kind;
        for (int k = 0; k < 3; k++)
            f->block[k] = w->block->index[k];
        f->thread[0] = t % dim[0];
        f->thread[1] = t / dim[0] % dim[1];
        f->thread[2] = t / dim[0] / dim[1];
        f->address = address;
        f->bytes = bytes;
        f->write = write;
        f->line = i ? i->line : 0;
        if (kind == SG_FAULT_ADDRESS || kind == SG_FAULT_MISALIGNED) {
            near[0] = ',';
            near[1] = ' ';
            describe_near(launch, address, near + 2, sizeof near - 2);
        }
        snprintf(f->message, sizeof f->message,
                 "kernel %s, block (%u,%u,%u), thread (%u,%u,%u), PTX line %u: %s%s",
                 run->program->kernel.name, f->block[0], f->block[1], f->block[2], f->thread[0],
                 f->thread[1], f->thread[2], f->line, what, near);
    }
    run->stop = true;
    pthread_mutex_unlock(&lock);
    return STOP;
}
