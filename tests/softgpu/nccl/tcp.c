/* SPDX-License-Identifier: BSD-3-Clause
 * Links over TCP: one connection for each pair of ranks, made by the higher rank; and the sockets
 * of the bootstrap. */
#include "tests/softgpu/nccl/link.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAIT_MS = 20, LIMIT_S = 60 };

struct tcp {
    struct link link;
    int poke;    /* eventfd */
    int *fd;     /* by peer; -1: none */
    bool *ended; /* by peer */
};

/* What a connection begins with. */
struct hello {
    uint64_t token;
    int32_t rank;
};

static void set_options(int fd)
{
    struct timeval limit = {LIMIT_S, 0};
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

int tcp_listen(uint32_t address, uint16_t *port_p)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = address};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (bind(fd, (struct sockaddr *)&a, n) != 0 || listen(fd, 128) != 0 ||
                    getsockname(fd, (struct sockaddr *)&a, &n) != 0)) {
        close(fd);
        return -1;
    }
    *port_p = ntohs(a.sin_port);
    return fd;
}

int tcp_connect(uint32_t address, uint16_t port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_addr.s_addr = address, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    set_options(fd);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    close(fd);
    return -1;
}

int tcp_accept(int listener, int limit_ms)
{
    struct pollfd one = {.fd = listener, .events = POLLIN};
    int fd;

    if (poll(&one, 1, limit_ms) != 1)
        return -1;
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        set_options(fd);
    return fd;
}

bool tcp_write(int fd, const void *p, size_t bytes)
{
    const char *at = p;

    while (bytes > 0) {
        ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool tcp_read(int fd, void *p, size_t bytes)
{
    char *at = p;

    while (bytes > 0) {
        ssize_t n = recv(fd, at, bytes, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static struct tcp *tcp_of(struct link *link)
{
    return (struct tcp *)link;
}

static long outcome(struct tcp *t, int peer, ssize_t n)
{
    if (n > 0)
        return (long)n;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    t->ended[peer] = true;
    return -1;
}

static long tcp_send(struct link *link, int peer, const void *p, size_t bytes)
{
    return outcome(tcp_of(link), peer,
                   send(tcp_of(link)->fd[peer], p, bytes, MSG_NOSIGNAL | MSG_DONTWAIT));
}

static long tcp_receive(struct link *link, int peer, void *p, size_t bytes)
{
    return outcome(tcp_of(link), peer, recv(tcp_of(link)->fd[peer], p, bytes, MSG_DONTWAIT));
}

static void tcp_wait(struct link *link, const uint8_t *want)
{
    struct tcp *t = tcp_of(link);
    struct pollfd all[1 + MAX_RANKS];
    nfds_t n = 1;
    uint64_t pokes;

    all[0] = (struct pollfd){.fd = t->poke, .events = POLLIN};
    for (int k = 0; k < link->nranks; k++) {
        if (want[k] == 0 || t->fd[k] < 0)
            continue;
        all[n++] = (struct pollfd){.fd = t->fd[k],
                                   .events = (short)((want[k] & WANT_RECEIVE ? POLLIN : 0) |
                                                     (want[k] & WANT_SEND ? POLLOUT : 0))};
    }
    if (poll(all, n, WAIT_MS) > 0 && all[0].revents & POLLIN)
        (void)!read(t->poke, &pokes, sizeof pokes);
}

static void tcp_poke(struct link *link)
{
    uint64_t one = 1;

    (void)!write(tcp_of(link)->poke, &one, sizeof one);
}

static bool tcp_lost(struct link *link, int peer)
{
    return tcp_of(link)->ended[peer];
}

static void tcp_close(struct link *link)
{
    struct tcp *t = tcp_of(link);

    for (int k = 0; t->fd != NULL && k < link->nranks; k++)
        if (t->fd[k] >= 0)
            close(t->fd[k]);
    if (t->poke >= 0)
        close(t->poke);
    free(t->fd);
    free(t->ended);
    free(t);
}

static bool connect_all(struct tcp *t, int listener, const struct peer *peers, uint64_t token)
{
    struct link *link = &t->link;

    for (int k = 0; k < link->rank; k++) {
        struct hello hello = {token, link->rank};

        t->fd[k] = tcp_connect(peers[k].address, peers[k].port);
        if (t->fd[k] < 0 || !tcp_write(t->fd[k], &hello, sizeof hello))
            return false;
    }
    for (int left = link->nranks - link->rank - 1; left > 0;) {
        struct hello hello;
        int fd = tcp_accept(listener, LIMIT_S * 1000);

        if (fd < 0)
            return false;
        if (!tcp_read(fd, &hello, sizeof hello) || hello.token != token ||
            hello.rank <= link->rank || hello.rank >= link->nranks || t->fd[hello.rank] >= 0) {
            close(fd); /* a stranger */
            continue;
        }
        t->fd[hello.rank] = fd;
        left--;
    }
    return true;
}

struct link *tcp_open_link(int listener, const struct peer *peers, int nranks, int rank,
                           uint64_t token)
{
    static const struct link_ops ops = {tcp_send, tcp_receive, tcp_wait,
                                        tcp_poke, tcp_lost,    tcp_close};
    struct tcp *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->link = (struct link){&ops, rank, nranks};
    t->poke = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->fd = malloc((size_t)nranks * sizeof *t->fd);
    t->ended = calloc((size_t)nranks, sizeof *t->ended);
    for (int k = 0; t->fd != NULL && k < nranks; k++)
        t->fd[k] = -1;
    if (t->poke < 0 || t->fd == NULL || t->ended == NULL ||
        !connect_all(t, listener, peers, token)) {
        tcp_close(&t->link);
        return NULL;
    }
    return &t->link;
}
