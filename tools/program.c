/* SPDX-License-Identifier: BSD-3-Clause
 * Runs one program to its end, or stops it with all that it started in its process group. Owns the
 * signal mask of the command: signals wait there until a run asks for them. */
#include "config.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a program gets to end by itself. */
static const double grace = 2;

static sigset_t awaited, before;

void program_signals(void)
{
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGHUP);
    sigprocmask(SIG_BLOCK, &awaited, &before);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A signal that asks us to end has come within so many seconds. */
static bool asked_to_end(double seconds)
{
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    const int number = sigtimedwait(&awaited, NULL, &t);
    return number > 0 && number != SIGCHLD;
}

bool program_interrupted(void)
{
    for (int i = 0; i < 4; i++) /* a child's end may wait in front */
        if (asked_to_end(0))
            return true;
    return false;
}

static bool put_file(const char *path, int flags, int fd)
{
    const int file = open(path, flags, 0600);
    return file >= 0 && dup2(file, fd) >= 0 && close(file) == 0;
}

/* In the child. Returns only on failure. */
static void become(char *const *command, const char *const *settings, const char *out,
                   const char *err)
{
    struct stat input;
    const bool has_file = fstat(0, &input) == 0 && S_ISREG(input.st_mode);
    setpgid(0, 0);
    if (!put_file(has_file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY, 0) ||
        !put_file(out, O_WRONLY | O_CREAT | O_TRUNC, 1) ||
        !put_file(err, O_WRONLY | O_CREAT | O_TRUNC, 2))
        return;
    for (; *settings != NULL; settings++)
        if (strchr(*settings, '=') == NULL)
            unsetenv(*settings);
        else if (putenv((char *)*settings) != 0)
            return;
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(command[0], command);
}

static void wait_for(pid_t pid, double until, struct outcome *o)
{
    const double began = now();
    double kill_at = 0;
    for (;;) {
        const pid_t ended = waitpid(pid, &o->status, WNOHANG);
        const double passed = now() - began;
        if (ended == pid || (ended < 0 && errno != EINTR)) {
            o->wall = passed;
            return;
        }
        if (kill_at == 0 && (o->interrupted || (until > 0 && passed >= until))) {
            o->stopped = true;
            kill_at = passed + grace;
            kill(-pid, SIGTERM);
        } else if (kill_at != 0 && passed >= kill_at) {
            kill(-pid, SIGKILL);
            kill_at = passed + grace;
        }
        double rest = kill_at != 0 ? kill_at - passed : until > 0 ? until - passed : 3600;
        if (asked_to_end(rest > 0 ? rest : 0))
            o->interrupted = true;
    }
}

struct outcome program_run(char *const *command, const char *const *settings, const char *out,
                           const char *err, double until)
{
    struct outcome o = {.error = 0};
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        o.error = errno;
        return o;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        become(command, settings, out, err);
        const int error = errno;
        _exit(write(report[1], &error, sizeof error) == sizeof error ? 127 : 126);
    }
    o.error = pid < 0 ? errno : 0;
    close(report[1]);
    if (pid > 0) {
        setpgid(pid, pid);
        /* Empty as soon as the program has started. */
        while (read(report[0], &o.error, sizeof o.error) < 0 && errno == EINTR)
            ;
        wait_for(pid, until, &o);
    }
    close(report[0]);
    return o;
}
