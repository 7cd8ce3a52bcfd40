/* SPDX-License-Identifier: BSD-3-Clause
 * Device printf. Arguments lie in a block of memory as a C variadic call would promote them: int and
 * unsigned 4 bytes, everything else 8, each aligned to its size. A call's text goes out as a whole. */
#include "print.h"
#include "memory.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* the formats are the kernels', taken apart to one conversion with an argument of the right type */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where a lane's generic address is on the host, and how many bytes may be read there. */
static const char *host_bytes(const struct warp *w, uint32_t lane, uint64_t address, size_t *bytes_p)
{
    uint64_t off = address - windows_at;
    const char *base;
    uint64_t limit;
    struct range r;

    if (off < 2 * (uint64_t)WINDOW_BYTES) {
        bool shared = off < WINDOW_BYTES;

        off &= WINDOW_BYTES - 1;
        base = shared ? w->block->shared : w->local + (size_t)lane * w->program->local_bytes;
        limit = shared ? w->block->shared_bytes : w->program->local_bytes;
        if (off >= limit)
            return NULL;
        *bytes_p = limit - off;
        return base + off;
    }
    if (!space_find(w, address, &r))
        return NULL;
    *bytes_p = r.hi - address;
    return (const char *)(uintptr_t)address;
}

void device_text(struct warp *w, const struct insn *i, uint32_t lane, uint64_t address, char *text,
                 size_t room)
{
    size_t bytes = 0, n = 0;
    const char *p = host_bytes(w, lane, address, &bytes);

    (void)i;
    while (p && n < bytes && n + 1 < room && p[n]) {
        text[n] = p[n];
        n++;
    }
    text[n] = 0;
}

struct printer {
    struct warp *w;
    const struct insn *i;
    uint32_t lane;
    const char *args;
    size_t args_bytes, used;
    char text[4096];
    size_t n;
    int count;
};

static uint64_t next_argument(struct printer *p, size_t bytes)
{
    uint64_t v = 0;

    p->used = (p->used + bytes - 1) & ~(bytes - 1);
    if (p->args && p->used + bytes <= p->args_bytes)
        memcpy(&v, p->args + p->used, bytes);
    p->used += bytes;
    p->count++;
    return v;
}

static void put(struct printer *p, const char *text, size_t n)
{
    size_t left = sizeof p->text - 1 - p->n;

    n = n < left ? n : left;
    memcpy(p->text + p->n, text, n);
    p->n += n;
}

/* One conversion: spec is its text from % on, without length modifiers and the letter. */
static void convert(struct printer *p, char *spec, size_t n, bool wide, char letter)
{
    char out[512], string[400];
    int len = 0;

    if (strchr("di", letter)) {
        memcpy(spec + n, "lld", 4);
        len = snprintf(out, sizeof out, spec,
                       wide ? (long long)next_argument(p, 8)
                            : (long long)(int32_t)next_argument(p, 4));
    } else if (strchr("ouxX", letter)) {
        memcpy(spec + n, "ll", 2);
        spec[n + 2] = letter;
        spec[n + 3] = 0;
        len = snprintf(out, sizeof out, spec, (unsigned long long)next_argument(p, wide ? 8 : 4));
    } else if (strchr("eEfFgGaA", letter)) {
        uint64_t bits = next_argument(p, 8);
        double d;

        memcpy(&d, &bits, sizeof d);
        spec[n] = letter;
        spec[n + 1] = 0;
        len = snprintf(out, sizeof out, spec, d);
    } else if (letter == 'c') {
        spec[n] = 'c';
        spec[n + 1] = 0;
        len = snprintf(out, sizeof out, spec, (int)next_argument(p, 4));
    } else if (letter == 's') {
        device_text(p->w, p->i, p->lane, next_argument(p, 8), string, sizeof string);
        spec[n] = 's';
        spec[n + 1] = 0;
        len = snprintf(out, sizeof out, spec, string);
    } else if (letter == 'p') {
        spec[n] = 'p';
        spec[n + 1] = 0;
        len = snprintf(out, sizeof out, spec, (void *)(uintptr_t)next_argument(p, 8));
    }
    if (len > 0)
        put(p, out, (size_t)len < sizeof out ? (size_t)len : sizeof out - 1);
}

static void format_text(struct printer *p, const char *f, size_t bytes)
{
    size_t k = 0;

    while (k < bytes && f[k]) {
        char spec[48];
        size_t n = 0;
        bool wide = false;

        if (f[k] != '%') {
            put(p, &f[k++], 1);
            continue;
        }
        if (k + 1 < bytes && f[k + 1] == '%') {
            put(p, "%", 1);
            k += 2;
            continue;
        }
        spec[n++] = f[k++];
        while (k < bytes && f[k] && (isdigit((unsigned char)f[k]) || strchr("-+ #.*", f[k]))) {
            if (f[k] == '*')
                n += n < 24 ? (size_t)snprintf(spec + n, 12, "%d", (int)next_argument(p, 4)) : 0;
            else if (n < 24)
                spec[n++] = f[k];
            k++;
        }
        while (k < bytes && f[k] && strchr("hljztL", f[k])) {
            wide |= strchr("ljzt", f[k]) != NULL;
            k++;
        }
        if (k < bytes && f[k])
            convert(p, spec, n, wide, f[k++]);
    }
}

int device_print(struct warp *w, const struct insn *i, uint32_t lane, uint64_t format, uint64_t args)
{
    const struct sg_launch *launch = w->worker->run->launch;
    struct printer p = {.w = w, .i = i, .lane = lane};
    size_t bytes = 0;
    const char *f = host_bytes(w, lane, format, &bytes);

    if (!f) {
        fault(w, i, SG_FAULT_ADDRESS, lane, format, 1, false, "printf format at 0x%llx",
              (unsigned long long)format);
        return -1;
    }
    p.args = args ? host_bytes(w, lane, args, &p.args_bytes) : NULL;
    format_text(&p, f, bytes);
    if (launch->print) {
        pthread_mutex_lock(&lock);
        launch->print(launch->print_arg, p.text, p.n);
        pthread_mutex_unlock(&lock);
    }
    return p.count;
}
