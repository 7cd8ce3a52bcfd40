/* SPDX-License-Identifier: BSD-3-Clause
 * The logger. Owns the level. Uses no stdio stream and no lock, so that it may be called from any
 * hook, at any time. */
#include "config.h"
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static _Atomic enum log_level current = LOG_LEVEL_WARN;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&current, level, memory_order_relaxed);
}

bool log_wants(enum log_level level)
{
    return level <= atomic_load_explicit(&current, memory_order_relaxed);
}

/* Copies text to line as printable characters; returns the new length. */
static size_t append_escaped(char *line, size_t len, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    for (; *text != '\0' && len < LINE_BYTES - 6; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c != 0x7f) {
            line[len++] = (char)c;
            continue;
        }
        line[len++] = '\\';
        line[len++] = 'x';
        line[len++] = hex[c >> 4];
        line[len++] = hex[c & 15];
    }
    return len;
}

void log_write(const char *format, ...)
{
    int saved = errno;
    char text[LINE_BYTES], line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t len = (size_t)snprintf(line, sizeof line, "apexshim[%d]: ", (int)getpid());
    len = append_escaped(line, len, text);
    line[len++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written; /* nowhere to report it */
    errno = saved;
}
