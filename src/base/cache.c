/* SPDX-License-Identifier: BSD-3-Clause
 * Names and writes the files under the cache folder. Owns nothing. */
#include "config.h"
#include "base/cache.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends a word as it may stand in a file name; '-' for everything else, never two. */
static size_t append_word(char *path, size_t length, size_t bytes, const char *word)
{
    for (; *word != '\0' && length + 1 < bytes; word++) {
        const unsigned char c = (unsigned char)*word;
        const bool plain = c < 128 && isalnum(c);
        if (plain || path[length - 1] != '-')
            path[length++] = plain ? (char)tolower(c) : '-';
    }
    if (path[length - 1] == '-')
        length--;
    path[length] = '\0';
    return length;
}

bool cache_name(char *path, size_t bytes, const char *directory, const char *kind, const char *a,
                const char *b)
{
    const int n = snprintf(path, bytes, "%s/%s-", directory, kind);
    if (directory[0] == '\0' || n < 0 || (size_t)n >= bytes)
        return false;
    size_t length = append_word(path, (size_t)n, bytes, a);
    if (b != NULL && length + 1 < bytes) {
        path[length++] = '-';
        length = append_word(path, length, bytes, b);
    }
    return length + sizeof ".ini" <= bytes && strcpy(path + length, ".ini") != NULL;
}

static void make_folders(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *p = strchr(folder + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        (void)mkdir(folder, 0777); /* the umask counts; opening the file tells whether it worked */
        *p = '/';
    }
}

static bool write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t n = write(file, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        length -= (size_t)n;
    }
    return true;
}

bool cache_write(const char *path, const char *text, size_t length, char *complaint, size_t bytes)
{
    char temporary[PATH_MAX];
    const int saved = errno;
    if (snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid()) >=
        (int)sizeof temporary) {
        snprintf(complaint, bytes, "%s: %s", path, strerror(ENAMETOOLONG));
        return false;
    }
    make_folders(path);
    (void)unlink(temporary); /* of a process that had this number before */
    const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool done = file >= 0 && write_all(file, text, length);
    if (file >= 0 && close(file) != 0)
        done = false;
    if (!done || rename(temporary, path) != 0) {
        snprintf(complaint, bytes, "%s: %s", path, strerror(errno));
        if (file >= 0)
            (void)unlink(temporary);
        done = false;
    }
    errno = saved;
    return done;
}
