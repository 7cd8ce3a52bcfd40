/* SPDX-License-Identifier: BSD-3-Clause
 * Messages to standard error: one write(2) a line, prefixed "apexshim[PID]: ". Control characters
 * are shown as \xNN. errno is kept. */
#ifndef APEXSHIM_LOG_H
#define APEXSHIM_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_QUIET, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
bool log_wants(enum log_level level);
void log_write(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The level is checked before the arguments are evaluated. */
#define LOG_AT(_level, ...)                                                                        \
    do {                                                                                           \
        if (log_wants(_level))                                                                     \
            log_write(__VA_ARGS__);                                                                \
    } while (0)
#define LOG_WARN(...)  LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__)
#define LOG_INFO(...)  LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_DEBUG(...) LOG_AT(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
